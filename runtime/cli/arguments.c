/* arguments.c: the command line, from a table of options. */
#include "cli/cli.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { FLAG, COUNT, TEXT, LIST, FILES, DIGEST };

enum { RUN = 1, GRAPH = 2, PLUGINS = 4 }; /* the commands that take an option: run; run, check, plan; all */

struct option {
  const char *name, *alias, *value, *doc;
  enum option_kind kind;
  unsigned commands;
  size_t offset; /* in struct cli_arguments */
  uint64_t maximum;
};

#define AT(member) offsetof(struct cli_arguments, member)

static const struct option options[] = {
    {"-i", "--input", "FILE...", "input files or patterns, in this order", FILES, RUN, AT(inputs), 0},
    {"-n", "--events", "EVENTS", "take the first EVENTS events (default: all of a file, 1000 simulated ones)", COUNT,
     RUN, AT(options.events), UINT64_MAX},
    {"--repeat", NULL, "R", "keep the slices and run the graph over them R times", COUNT, RUN, AT(options.repeat),
     UINT32_MAX},
    {"--device", NULL, "DEVICE", "cpu", TEXT, GRAPH, AT(options.device), 0},
    {"--slots", NULL, "N", "slices in flight (default 1)", COUNT, GRAPH, AT(options.slots), UINT32_MAX},
    {"--slice-events", NULL, "N", "most events in a slice", COUNT, GRAPH, AT(options.slice_events), UINT32_MAX},
    {"--set", NULL, "NODE.PROPERTY=VALUE", "set a property, or PARAMETER=VALUE", LIST, GRAPH, AT(sets), 0},
    {"--use", NULL, "NODE=PLUGIN.ALGORITHM", "swap a node's algorithm", LIST, GRAPH, AT(uses), 0},
    {"--plugin-path", NULL, "DIR", "look for plugins here first", LIST, PLUGINS, AT(plugin_paths), 0},
    {"-o", "--output", "FILE", "where a sink writes its file", TEXT, RUN, AT(options.output_path), 0},
    {"--json", NULL, "FILE", "write the summary as JSON ('-': to standard output)", TEXT, RUN, AT(json_path), 0},
    {"--digest", NULL, NULL, "print digests of the outputs; --digest=events: of each event too", DIGEST, RUN,
     AT(options.digest), 0},
    {"--profile", NULL, NULL, "print time per node and the fill of budgets", FLAG, RUN, AT(options.profile), 0},
    {"--resident", NULL, NULL, "repeats without uploads, on a GPU: kernels and downloads alone", FLAG, RUN,
     AT(options.resident), 0},
    {"--guard", NULL, NULL, "every field in an allocation of its own, with canaries and poison", FLAG, GRAPH,
     AT(options.guard), 0},
    {"--quiet", "-q", NULL, "print nothing but errors", FLAG, RUN, AT(quiet), 0},
};

void cli_write_options(FILE *file) {
  fprintf(file, "options of run (those of check and plan are among them):\n");
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].value ? " " : "",
             options[i].value ? options[i].value : "");
    fprintf(file, "  %-30s %s\n", left, options[i].doc);
  }
}

static int append(struct cli_list *list, const char *item) {
  const char **larger = realloc((void *)list->items, (list->count + 2) * sizeof *larger);
  if (!larger) return CLI_FAILED;
  larger[list->count++] = item;
  larger[list->count] = NULL;
  list->items = larger;
  return CLI_OK;
}

/* A pattern stands for the files that it matches, in ascending order; what matches nothing stands for itself, so that
 * the source says what is wrong with it. */
static int append_files(struct cli_arguments *a, const char *pattern) {
  glob_t found;
  if (!strpbrk(pattern, "*?[") || glob(pattern, 0, NULL, &found) != 0) return append(&a->inputs, pattern);
  int status = CLI_OK;
  for (size_t i = 0; i < found.gl_pathc && status == CLI_OK; i++) {
    char *copy = strdup(found.gl_pathv[i]);
    status = copy ? append(&a->owned, copy) : CLI_FAILED;
    if (status != CLI_OK)
      free(copy);
    else
      status = append(&a->inputs, copy);
  }
  globfree(&found);
  return status;
}

static int parse_count(const struct option *o, const char *text, void *target) {
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || value == 0 || value > o->maximum) {
    fprintf(stderr, "error: %s wants a number from 1 to %llu, not '%s'\n", o->name, (unsigned long long)o->maximum,
            text);
    return CLI_WRONG;
  }
  if (o->maximum > UINT32_MAX)
    *(uint64_t *)target = value;
  else
    *(uint32_t *)target = (uint32_t)value;
  return CLI_OK;
}

static const struct option *find_option(const char *argument, const char **inline_value) {
  const char *equals = strchr(argument, '=');
  const size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  *inline_value = equals ? equals + 1 : NULL;
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    const struct option *o = &options[i];
    const int is_name = strlen(o->name) == length && strncmp(o->name, argument, length) == 0;
    const int is_alias = o->alias && strlen(o->alias) == length && strncmp(o->alias, argument, length) == 0;
    if (is_name || is_alias) return o;
  }
  return NULL;
}

static int take_flag(const struct option *o, const char *inline_value, void *target) {
  if (o->kind == DIGEST && inline_value && strcmp(inline_value, "events") == 0) {
    *(uint32_t *)target = 2;
  } else if (inline_value) {
    fprintf(stderr, "error: %s takes no value '%s'\n", o->name, inline_value);
    return CLI_WRONG;
  } else {
    *(uint32_t *)target = 1;
  }
  return CLI_OK;
}

/* Takes an option and its values; *used counts the arguments consumed. */
static int take_option(struct cli_arguments *a, const struct option *o, const char *inline_value, int argc, char **argv,
                       int *used) {
  void *target = (char *)a + o->offset;
  *used = 1;
  if (o->kind == FLAG || o->kind == DIGEST) return take_flag(o, inline_value, target);
  const char *value = inline_value;
  if (!value) {
    if (argc < 2) {
      fprintf(stderr, "error: %s wants %s\n", o->name, o->value);
      return CLI_WRONG;
    }
    value = argv[1];
    *used = 2;
  }
  switch (o->kind) {
    case COUNT:
      return parse_count(o, value, target);
    case TEXT:
      *(const char **)target = value;
      return CLI_OK;
    case LIST:
      return append(target, value);
    default:
      break;
  }
  int status = append_files(a, value);
  while (status == CLI_OK && !inline_value && *used < argc && argv[*used][0] != '-')
    status = append_files(a, argv[(*used)++]);
  return status;
}

static unsigned groups_of(const char *command) {
  if (strcmp(command, "run") == 0) return RUN | GRAPH | PLUGINS;
  if (strcmp(command, "check") == 0 || strcmp(command, "plan") == 0) return GRAPH | PLUGINS;
  return PLUGINS;
}

static int take_operand(struct cli_arguments *a, const char *command, const char *argument) {
  if (strcmp(command, "list") == 0 || a->operand) {
    fprintf(stderr, "error: '%s' is one argument too many for `sluice %s`\n", argument, command);
    return CLI_WRONG;
  }
  a->operand = argument;
  return CLI_OK;
}

int cli_parse(struct cli_arguments *a, const char *command, int argc, char **argv) {
  *a = (struct cli_arguments){.options = sl_options_default()};
  const unsigned groups = groups_of(command);
  for (int i = 0; i < argc;) {
    const char *argument = argv[i], *inline_value = NULL;
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) return CLI_HELP;
    int used = 1, status;
    if (argument[0] != '-' || argument[1] == '\0') {
      status = take_operand(a, command, argument);
    } else {
      const struct option *o = find_option(argument, &inline_value);
      if (!o || !(o->commands & groups)) {
        fprintf(stderr, "error: `sluice %s` has no option '%s'; see sluice --help\n", command, argument);
        return CLI_WRONG;
      }
      status = take_option(a, o, inline_value, argc - i, argv + i, &used);
    }
    if (status != CLI_OK) return status;
    i += used;
  }
  if (!a->operand && strcmp(command, "list") != 0) {
    fprintf(stderr, "error: `sluice %s` wants a %s\n", command, strcmp(command, "describe") == 0 ? "name" : "graph");
    return CLI_WRONG;
  }
  a->options.graph_path = a->operand;
  a->options.input_paths = a->inputs.items;
  a->options.sets = a->sets.items;
  a->options.uses = a->uses.items;
  a->options.plugin_paths = a->plugin_paths.items;
  return CLI_OK;
}

void cli_free(struct cli_arguments *a) {
  for (size_t i = 0; i < a->owned.count; i++) free((char *)a->owned.items[i]);
  free((void *)a->owned.items);
  free((void *)a->inputs.items);
  free((void *)a->sets.items);
  free((void *)a->uses.items);
  free((void *)a->plugin_paths.items);
}
