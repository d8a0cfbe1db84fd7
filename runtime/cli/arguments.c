/* arguments.c: the command line, from the table of options. */
#include "base/event_id.h"
#include "base/nearest.h"
#include "cli/cli.h"

#include <sluice/text.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int cli_append(struct cli_list *list, const char *item) {
  const char **larger = realloc((void *)list->items, (list->count + 2) * sizeof *larger);
  if (!larger) return cli_no_memory();
  larger[list->count++] = item;
  larger[list->count] = NULL;
  list->items = larger;
  return CLI_OK;
}

static int append_matches(struct cli_arguments *a, struct cli_list *files, const char *pattern) {
  char reason[PATH_MAX + 64];
  const size_t first = a->owned.count;
  int status = sl_paths_add(&a->owned, pattern, reason, sizeof reason);
  if (status == SL_ENOMEM) return cli_no_memory();
  if (status < 0) {
    fprintf(stderr, "error: %s\n", reason);
    return CLI_FAILED;
  }
  for (size_t i = first; i < a->owned.count && status == CLI_OK; i++) status = cli_append(files, a->owned.at[i]);
  return status;
}

static int append_files(struct cli_arguments *a, enum cli_kind kind, struct cli_list *files, const char *path) {
  if (strcmp(path, "-") == 0) return cli_append(files, "/dev/stdin");
  return kind == CLI_INPUTS ? cli_append(files, path) : append_matches(a, files, path);
}

static int parse_count(const struct cli_option *o, const char *text, void *target) {
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || value == 0 || value > o->maximum) {
    fprintf(stderr, "error: %s needs a number from 1 to %llu, not '%s'\n", o->name, (unsigned long long)o->maximum,
            text);
    return CLI_WRONG;
  }
  if (o->maximum > UINT32_MAX)
    *(uint64_t *)target = value;
  else
    *(uint32_t *)target = (uint32_t)value;
  return CLI_OK;
}

static int parse_seconds(const struct cli_option *o, const char *text, double *target) {
  char *end = NULL;
  *target = strtod(text, &end);
  if (end != text && !*end && *target > 0 && *target <= (double)o->maximum) return CLI_OK;
  fprintf(stderr, "error: %s needs seconds, more than 0 and at most %llu, not '%s'\n", o->name,
          (unsigned long long)o->maximum, text);
  return CLI_WRONG;
}

/* The option of that name or alias in one of the groups. */
static const struct cli_option *find_option(const char *argument, unsigned groups, const char **inline_value) {
  const char *equals = strchr(argument, '=');
  const size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  *inline_value = equals ? equals + 1 : NULL;
  for (size_t i = 0; i < cli_option_count; i++) {
    const struct cli_option *o = &cli_options[i];
    if (!(o->groups & groups)) continue;
    const int is_name = strlen(o->name) == length && strncmp(o->name, argument, length) == 0;
    const int is_alias = o->alias && strlen(o->alias) == length && strncmp(o->alias, argument, length) == 0;
    if (is_name || is_alias) return o;
  }
  return NULL;
}

static int no_such_option(const struct cli_command *command, const char *argument) {
  char name[64];
  struct sl_nearest nearest;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
  sl_nearest_begin(&nearest, name);
  for (size_t i = 0; i < cli_option_count; i++) {
    if (!(cli_options[i].groups & command->groups)) continue;
    sl_nearest_offer(&nearest, cli_options[i].name);
    sl_nearest_offer(&nearest, cli_options[i].alias);
  }
  fprintf(stderr, "error: `sluice %s` has no option '%s'; see sluice %s --help\n", command->name, argument,
          command->name);
  cli_suggest(&nearest);
  return CLI_WRONG;
}

static int take_flag(const struct cli_option *o, const char *inline_value, void *target) {
  if (o->kind == CLI_DIGEST && inline_value && strcmp(inline_value, "events") == 0) {
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
static int take_option(struct cli_arguments *a, const struct cli_option *o, const char *inline_value, int argc,
                       char **argv, int *used) {
  void *target = (char *)a + o->offset;
  const int takes_one = o->kind == CLI_COUNT || o->kind == CLI_SECONDS || o->kind == CLI_TEXT;
  *used = 1;
  if (a->given[o - cli_options]++ && takes_one) {
    const int may_be = o->kind != CLI_TEXT; /* scripts append a number to the arguments that they pass on */
    fprintf(stderr, "%s: %s is given twice%s\n", may_be ? "warning" : "error", o->name,
            may_be ? "; the last one counts" : "");
    if (!may_be) return CLI_WRONG;
  }
  if (o->kind == CLI_FLAG || o->kind == CLI_DIGEST) return take_flag(o, inline_value, target);
  const char *value = inline_value;
  if (!value) {
    if (argc < 2) {
      fprintf(stderr, "error: %s needs %s\n", o->name, o->value);
      return CLI_WRONG;
    }
    value = argv[1];
    *used = 2;
  }
  switch (o->kind) {
    case CLI_COUNT:
      return parse_count(o, value, target);
    case CLI_SECONDS:
      return parse_seconds(o, value, target);
    case CLI_TEXT:
      *(const char **)target = value;
      return CLI_OK;
    case CLI_LIST:
      return cli_append(target, value);
    default:
      break;
  }
  int status = append_files(a, o->kind, target, value);
  while (status == CLI_OK && !inline_value && *used < argc && (argv[*used][0] != '-' || argv[*used][1] == '\0'))
    status = append_files(a, o->kind, target, argv[(*used)++]);
  return status;
}

static int take_operand(struct cli_arguments *a, const struct cli_command *command, const char *argument) {
  if (a->operands.count >= command->operands_max) {
    fprintf(stderr, "error: '%s' is one argument too many for `sluice %s`\n", argument, command->name);
    return CLI_WRONG;
  }
  if (!a->operand) a->operand = argument;
  return cli_append(&a->operands, argument);
}

static int take_arguments(struct cli_arguments *a, const struct cli_command *command, int argc, char **argv) {
  for (int i = 0; i < argc;) {
    const char *argument = argv[i], *inline_value = NULL;
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) return CLI_HELP;
    int used = 1, status;
    if (argument[0] != '-' || argument[1] == '\0') {
      status = take_operand(a, command, argument);
    } else {
      const struct cli_option *o = find_option(argument, command->groups, &inline_value);
      if (!o) return no_such_option(command, argument);
      status = take_option(a, o, inline_value, argc - i, argv + i, &used);
    }
    if (status != CLI_OK) return status;
    i += used;
  }
  return CLI_OK;
}

const char *cli_given_of(const struct cli_arguments *a, unsigned groups) {
  for (size_t i = 0; i < cli_option_count; i++)
    if (a->given[i] && cli_options[i].groups & groups) return cli_options[i].name;
  return NULL;
}

int cli_is_given(const struct cli_arguments *a, const char *name) {
  for (size_t i = 0; i < cli_option_count; i++)
    if (a->given[i] && strcmp(cli_options[i].name, name) == 0) return 1;
  return 0;
}

/* CLI_WRONG after an error if a folder of --plugin-path does not exist: it would be ignored silently. */
static int check_plugin_paths(const struct cli_arguments *a) {
  for (size_t i = 0; i < a->plugin_paths.count; i++) {
    const char *path = a->plugin_paths.items[i];
    DIR *folder = opendir(path);
    if (!folder) {
      fprintf(stderr, "error: --plugin-path %s: %s\n", path, strerror(errno));
      return CLI_WRONG;
    }
    int found = 0;
    for (const struct dirent *entry = readdir(folder); entry && !found; entry = readdir(folder)) {
      const size_t length = strlen(entry->d_name);
      found = length > strlen(".so") && strcmp(entry->d_name + length - strlen(".so"), ".so") == 0;
    }
    closedir(folder);
    if (!found && !a->quiet) fprintf(stderr, "warning: --plugin-path %s: there is no plugin in it\n", path);
  }
  return CLI_OK;
}

/* Reads the number at the beginning of *rest. CLI_WRONG: there is none; CLI_FAILED: it is out of range. */
static int take_number(const char **rest, uint64_t *number) {
  if (**rest < '0' || **rest > '9') return CLI_WRONG;
  return sl_take_number(rest, UINT64_MAX, number) ? CLI_OK : CLI_FAILED;
}

/* "FIRST+BYTES" or "FIRST+" (to the end), with "@RECORD" if the number of records before is known. Fails as
 * take_number does. */
static int parse_range(const char *text, struct sl_input_range *range) {
  const char *rest = text;
  *range = (struct sl_input_range){.first_record = SL_RECORD_UNKNOWN};
  int status = take_number(&rest, &range->first_byte);
  if (status != CLI_OK) return status;
  if (*rest++ != '+') return CLI_WRONG;
  if (*rest != '\0' && *rest != '@') {
    status = take_number(&rest, &range->bytes);
    if (status != CLI_OK) return status;
    if (range->bytes == 0) return CLI_WRONG;
  }
  if (*rest == '@') {
    rest++;
    status = take_number(&rest, &range->first_record);
    if (status != CLI_OK) return status;
  }
  return *rest == '\0' ? CLI_OK : CLI_WRONG;
}

static int parse_ranges(struct cli_arguments *a) {
  if (a->range_texts.count == 0) return CLI_OK;
  if (a->range_texts.count != a->inputs.count) {
    fprintf(stderr, "error: %zu --range for %zu input %s: give one for each file of -i, in the same order\n",
            a->range_texts.count, a->inputs.count, sl_plural(a->inputs.count, "file", "files"));
    return CLI_WRONG;
  }
  a->ranges = calloc(a->range_texts.count, sizeof *a->ranges);
  if (!a->ranges) return cli_no_memory();
  for (size_t i = 0; i < a->range_texts.count; i++) {
    const char *text = a->range_texts.items[i];
    const int status = parse_range(text, &a->ranges[i]);
    if (status == CLI_OK) continue;
    if (status == CLI_FAILED)
      fprintf(stderr, "error: --range %s: a number is out of range: it must be from 0 to %llu\n", text,
              (unsigned long long)UINT64_MAX);
    else
      fprintf(stderr,
              "error: --range needs FIRST+BYTES, such as 0+1048576, not '%s'; FIRST+ reads to the end, and `sluice "
              "index` lists ranges\n",
              text);
    return CLI_WRONG;
  }
  a->options.input_ranges = a->ranges;
  return CLI_OK;
}

static int parse_replan(struct cli_arguments *a) {
  static const char *const modes[] = {[SL_REPLAN_ON] = "on", [SL_REPLAN_GROW] = "grow", [SL_REPLAN_OFF] = "off"};
  if (!a->replan) return CLI_OK;
  for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(a->replan, modes[i]) == 0) {
      a->options.replan = i;
      return CLI_OK;
    }
  fprintf(stderr, "error: --replan is on, grow or off, not '%s'\n", a->replan);
  return CLI_WRONG;
}

static int parse_follow(struct cli_arguments *a) {
  static const char *const choices[] = {[SL_COMPLETE_RENAME] = "rename", [SL_COMPLETE_CLOSE] = "close"};
  const char *option = a->follow.folder ? NULL : cli_given_of(a, CLI_FOLLOW);
  if (option) {
    fprintf(stderr, "error: %s has no effect without --follow\n", option);
    return CLI_WRONG;
  }
  if (a->follow.folder) {
    a->follow.until_idle_seconds = a->options.until_idle;
    a->options.until_idle = 0;
  }
  for (uint32_t i = 0; a->complete && i < sizeof choices / sizeof *choices; i++)
    if (strcmp(a->complete, choices[i]) == 0) {
      a->follow.complete = i;
      return CLI_OK;
    }
  if (!a->complete) return CLI_OK;
  fprintf(stderr, "error: --complete is rename or close, not '%s'\n", a->complete);
  return CLI_WRONG;
}

static int parse_serve(struct cli_arguments *a) {
  const char *option = a->server.address ? NULL : cli_given_of(a, CLI_SERVE);
  if (option) fprintf(stderr, "error: %s has no effect without --serve\n", option);
  a->server.reference_paths = a->references.items;
  a->server.alarms = a->alarms.items;
  return option ? CLI_WRONG : CLI_OK;
}

int cli_parse(struct cli_arguments *a, const struct cli_command *command, int argc, char **argv) {
  *a = (struct cli_arguments){.options = sl_options_default(),
                              .trial = sl_trial_options_default(),
                              .replay = sl_replay_options_default(),
                              .follow = {.size = sizeof(struct sl_follow_options)},
                              .server = {.size = sizeof(struct sl_server_options)}};
  const int status = take_arguments(a, command, argc, argv);
  if (status != CLI_OK) return status;
  if (a->operands.count < command->operands_min) {
    fprintf(stderr, "error: `sluice %s` needs %s\n", command->name, command->wants);
    return CLI_WRONG;
  }
  a->options.graph_path = a->operand;
  a->options.input_paths = a->inputs.items;
  a->options.sets = a->sets.items;
  a->options.uses = a->uses.items;
  a->options.with_paths = a->withs.items;
  a->options.plugin_paths = a->plugin_paths.items;
  if (parse_replan(a) != CLI_OK || parse_ranges(a) != CLI_OK) return CLI_WRONG;
  if (parse_follow(a) != CLI_OK || parse_serve(a) != CLI_OK) return CLI_WRONG;
  if (cli_choose_diagnostics(a->diagnostics) != CLI_OK) return CLI_WRONG;
  return check_plugin_paths(a);
}

void cli_free(struct cli_arguments *a) {
  sl_paths_free(&a->owned);
  free((void *)a->operands.items);
  free((void *)a->inputs.items);
  free((void *)a->range_texts.items);
  free(a->ranges);
  free((void *)a->csv_paths.items);
  free((void *)a->nodes.items);
  free((void *)a->events.items);
  free((void *)a->lines.items);
  free((void *)a->from_nodes.items);
  free((void *)a->to_nodes.items);
  free((void *)a->graphs.items);
  free((void *)a->references.items);
  free((void *)a->alarms.items);
  free((void *)a->sets.items);
  free((void *)a->uses.items);
  free((void *)a->withs.items);
  free((void *)a->plugin_paths.items);
}
