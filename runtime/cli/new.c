/* new.c: `sluice new`: writes a small plugin, adds an algorithm, source, sink or constant to a plugin, or removes one,
 * from the texts in templates/. All checks are made before anything is changed, and no file is overwritten: the folder
 * of a new plugin and the files of a new algorithm must not exist. plugin.c and CMakeLists.txt of the plugin get the
 * new names.
 *
 * The plain examples are a chain: the sink `tally` reads the pulses of the algorithm `pulses`, which reads the numbers
 * of the source `numbers`. A new plugin has all three; a new algorithm or sink brings what the plugin lacks of the
 * chain. The examples of hits read the hits of the plugin `velo`.
 *
 * In a template %plugin% and %algorithm% are replaced by the names, %PLUGIN% and %ALGORITHM% by the names in capitals.
 */
#include "cli/new.h"

#include "base/text_file.h"
#include "cli/cli.h"
#include "template_CMakeLists_txt.h"
#include "template_README_md.h"
#include "template_algorithm_cu.h"
#include "template_algorithm_h.h"
#include "template_algorithm_test_c.h"
#include "template_algorithm_yaml.h"
#include "template_constant_c.h"
#include "template_constant_h.h"
#include "template_constant_test_c.h"
#include "template_hits_algorithm_cu.h"
#include "template_hits_algorithm_h.h"
#include "template_hits_algorithm_test_c.h"
#include "template_hits_algorithm_yaml.h"
#include "template_hits_sink_c.h"
#include "template_hits_sink_test_c.h"
#include "template_hits_sink_yaml.h"
#include "template_plugin_c.h"
#include "template_sink_c.h"
#include "template_sink_test_c.h"
#include "template_sink_yaml.h"
#include "template_source_c.h"
#include "template_source_h.h"
#include "template_source_yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Examples. */
static const struct new_form source = {
    .kind = "source",
    .name = "numbers",
    .macro = "SL_SOURCE(",
    .files = {{NEW_HEADER, template_source_h}, {NEW_HOST_CODE, template_source_c}, {NEW_GRAPH, template_source_yaml}}};
static const struct new_form constant = {
    .kind = "constant",
    .macro = "SL_CONSTANT(",
    .files = {
        {NEW_HEADER, template_constant_h}, {NEW_HOST_CODE, template_constant_c}, {NEW_TEST, template_constant_test_c}}};
static const struct new_form plain_algorithm = {.kind = "algorithm",
                                                .option = "--plain",
                                                .name = "pulses",
                                                .reads = &source,
                                                .fields = {"F(offsets, u32, OFFSETS,", "F(value, f32, PER_ITEM,"},
                                                .files = {{NEW_HEADER, template_algorithm_h},
                                                          {NEW_KERNELS, template_algorithm_cu},
                                                          {NEW_TEST, template_algorithm_test_c},
                                                          {NEW_GRAPH, template_algorithm_yaml}}};
static const struct new_form plain_sink = {
    .kind = "sink",
    .option = "--plain",
    .name = "tally",
    .macro = "SL_SINK(",
    .reads = &plain_algorithm,
    .fields = {"F(offsets, u32, OFFSETS,", "F(value_offsets, u32, ITEM_OFFSETS,"},
    .files = {{NEW_HOST_CODE, template_sink_c}, {NEW_TEST, template_sink_test_c}, {NEW_GRAPH, template_sink_yaml}}};
static const struct new_form hits_algorithm = {.kind = "algorithm",
                                               .option = "--hits",
                                               .name = "near_hits",
                                               .files = {{NEW_HEADER, template_hits_algorithm_h},
                                                         {NEW_KERNELS, template_hits_algorithm_cu},
                                                         {NEW_TEST, template_hits_algorithm_test_c},
                                                         {NEW_GRAPH, template_hits_algorithm_yaml}}};
static const struct new_form hits_sink = {.kind = "sink",
                                          .option = "--hits",
                                          .macro = "SL_SINK(",
                                          .files = {{NEW_HOST_CODE, template_hits_sink_c},
                                                    {NEW_TEST, template_hits_sink_test_c},
                                                    {NEW_GRAPH, template_hits_sink_yaml}}};
const struct new_form *const new_forms[] = {&plain_algorithm, &hits_algorithm, &plain_sink,
                                            &hits_sink,       &source,         &constant};
const size_t new_form_count = COUNT(new_forms);

static size_t file_count(const struct new_form *form) {
  size_t count = 0;
  while (count < NEW_FILES_MAX && form->files[count].path) count++;
  return count;
}

/* -------------------------------------------------------------------------------------------------- names */

static int parse_name(const char *what, const char *text, size_t length, char *name) {
  int is_good = length > 0 && length <= NEW_NAME_MAX && islower((unsigned char)text[0]);
  for (size_t i = 0; i < length && is_good; i++)
    is_good = islower((unsigned char)text[i]) || isdigit((unsigned char)text[i]) || text[i] == '_';
  if (is_good && length == 6 && memcmp(text, "sluice", length) == 0)
    is_good = 0; /* include/sluice has the headers of the runtime */
  if (!is_good) {
    fprintf(stderr, "error: '%.*s' cannot be the name of %s\n", (int)length, text, what);
    fprintf(
        stderr,
        "  hint: a name has small letters, digits and _, begins with a letter, is at most %d long, and not sluice\n",
        NEW_NAME_MAX);
    return CLI_WRONG;
  }
  snprintf(name, NEW_NAME_MAX + 1, "%.*s", (int)length, text);
  return CLI_OK;
}

/* "PLUGIN.NAME", and the folder: the current one if it is the folder of the plugin, or the folder of that name. */
int new_parse_names(const char *word, const char *text, struct new_names *n) {
  const char *dot = strchr(text, '.');
  if (!dot) {
    fprintf(stderr, "error: '%s' is not of the form PLUGIN.NAME\n  hint: sluice new %s mine.%s\n", text, word, text);
    return CLI_WRONG;
  }
  if (parse_name("a plugin", text, (size_t)(dot - text), n->plugin) != CLI_OK ||
      parse_name("an algorithm", dot + 1, strlen(dot + 1), n->algorithm) != CLI_OK)
    return CLI_WRONG;
  char here[PATH_MAX];
  const char *slash = getcwd(here, sizeof here) ? strrchr(here, '/') : NULL;
  const int is_here = slash && strcmp(slash + 1, n->plugin) == 0 && access("plugin.c", F_OK) == 0;
  snprintf(n->folder, sizeof n->folder, "%s", is_here ? "." : n->plugin);
  return CLI_OK;
}

/* Writes the name for a placeholder at `at`. Returns the bytes of the placeholder; 0 if there is none. */
static size_t expand(const struct new_names *n, const char *at, FILE *file) {
  static const char *const words[] = {"%plugin%", "%algorithm%", "%PLUGIN%", "%ALGORITHM%"};
  for (size_t w = 0; w < COUNT(words); w++) {
    if (strncmp(at, words[w], strlen(words[w])) != 0) continue;
    for (const char *c = w % 2 ? n->algorithm : n->plugin; *c; c++)
      fputc(w < 2 ? *c : toupper((unsigned char)*c), file);
    return strlen(words[w]);
  }
  return 0;
}

static void write_expanded(const struct new_names *n, const char *text, FILE *file) {
  while (*text) {
    const size_t taken = *text == '%' ? expand(n, text, file) : 0;
    if (taken == 0) fputc(*text++, file);
    text += taken;
  }
}

static char *expand_after(const char *folder, const struct new_names *n, const char *text) {
  struct sl_text_file result;
  if (sl_text_open(&result)) {
    fprintf(result.file, "%s%s", folder, *folder ? "/" : "");
    write_expanded(n, text, result.file);
  }
  sl_text_close(&result);
  if (!result.text) cli_no_memory();
  return result.text;
}

char *new_expand(const struct new_names *n, const char *text) { return expand_after("", n, text); }
char *new_path(const struct new_names *n, const char *path) { return expand_after(n->folder, n, path); }

int new_read(struct new_edit *e, const struct new_names *n, const char *path) {
  char *whole = new_path(n, path);
  const int status = whole ? new_edit_read(e, whole) : CLI_FAILED;
  free(whole);
  return status;
}

const char *new_shown(const char *path) { return strncmp(path, "./", 2) == 0 ? path + 2 : path; }

/* --------------------------------------------------------------------------------------------------- files */

/* Makes the folders of a file. */
static int make_folders(const char *path) {
  char folder[PATH_MAX];
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST) return cli_file_error(folder, strerror(errno));
  }
  return CLI_OK;
}

static int write_new(const char *path, const char *text, FILE *report) {
  int status = make_folders(path);
  FILE *file = status == CLI_OK ? fopen(path, "wx") : NULL;
  if (status == CLI_OK && !file) status = cli_file_error(path, strerror(errno));
  char buffer[BUFSIZ]; /* a buffer that cannot be allocated would lose text silently */
  if (file) {
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    fputs(text, file);
    const int failed = ferror(file);
    if (fclose(file) != 0 || failed) {
      status = cli_file_error(path, strerror(errno));
      unlink(path); /* an incomplete file would look complete */
    }
  }
  if (status == CLI_OK) fprintf(report, "%s\n", new_shown(path));
  return status;
}

static int write_file(const struct new_names *n, const struct new_file *f, FILE *report) {
  char *path = new_path(n, f->path), *text = path ? new_expand(n, f->text) : NULL;
  const int status = text ? write_new(path, text, report) : CLI_FAILED;
  free(text);
  free(path);
  return status;
}

static int check_absent(const struct new_names *n, const struct new_form *form) {
  int status = CLI_OK;
  for (size_t i = 0; i < file_count(form); i++) {
    char *path = new_path(n, form->files[i].path);
    if (!path) return CLI_FAILED;
    if (access(path, F_OK) == 0) status = cli_file_error(path, "is there already; nothing was written");
    free(path);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------- new algorithms */

/* Algorithms to add to a plugin, and its files that list them. */
enum { ADDED_MAX = 3 };
struct addition {
  const struct new_form *forms[ADDED_MAX];
  struct new_names names[ADDED_MAX];
  size_t count;
  struct new_edit plugin, cmake;
  int has_tests; /* cmake builds tests of its algorithms */
};

static void free_addition(struct addition *a) {
  free(a->plugin.text);
  free(a->cmake.text);
}

/* CLI_FAILED after an error if an algorithm of the plugin that has the name of an example has another output. */
static int check_output(const struct new_form *form, const struct new_names *read) {
  struct new_edit header = {.text = NULL};
  char *collection = new_expand(read, "SL_COLLECTION(%plugin%_%algorithm%,");
  int status = collection ? new_read(&header, read, NEW_HEADER) : CLI_FAILED;
  const char *missing = status == CLI_OK && !strstr(header.text, collection) ? collection : NULL;
  for (size_t i = 0; i < NEW_FIELDS_MAX && status == CLI_OK && !missing; i++)
    if (!strstr(header.text, form->fields[i])) missing = form->fields[i];
  if (missing) {
    status = CLI_FAILED;
    fprintf(stderr, "error: %s: there is no `%s ...)`, which the example reads; nothing was written\n",
            new_shown(header.path), missing);
    fprintf(stderr, "  hint: rename %s.%s and its header; then the example of that name is added too\n", read->plugin,
            read->algorithm);
  }
  free(header.text);
  free(collection);
  return status;
}

/* Appends an algorithm, after the examples that it reads and that the plugin lacks. */
static int collect(struct addition *a, const struct new_form *form, const struct new_names *n) {
  if (form->reads) {
    struct new_names read = *n;
    snprintf(read.algorithm, sizeof read.algorithm, "%s", form->reads->name);
    const int is_there = new_edit_has_algorithm(&a->plugin, read.algorithm);
    if ((is_there ? check_output(form, &read) : collect(a, form->reads, &read)) != CLI_OK) return CLI_FAILED;
  }
  for (size_t i = 0; i < a->count; i++) {
    if (strcmp(a->names[i].algorithm, n->algorithm) != 0) continue;
    fprintf(stderr, "error: the example reads another algorithm of the name %s; nothing was written\n", n->algorithm);
    fprintf(stderr, "  hint: choose another name\n");
    return CLI_FAILED;
  }
  a->forms[a->count] = form;
  a->names[a->count++] = *n;
  return CLI_OK;
}

/* Adds the names to the texts of plugin.c and CMakeLists.txt. */
static int edit_files(struct addition *a) {
  for (size_t i = 0; i < a->count; i++) {
    const int is_host = a->forms[i]->macro != NULL;
    if (new_edit_add_entry(&a->plugin, a->names[i].algorithm, is_host) != CLI_OK ||
        new_edit_add_source(&a->cmake, a->names[i].algorithm, is_host, &a->has_tests) != CLI_OK)
      return CLI_FAILED;
  }
  return CLI_OK;
}

static int write_files(const struct addition *a, FILE *report) {
  for (size_t i = 0; i < a->count; i++)
    for (size_t f = 0; f < file_count(a->forms[i]); f++)
      if (write_file(&a->names[i], &a->forms[i]->files[f], report) != CLI_OK) return CLI_FAILED;
  return CLI_OK;
}

static int add_to_plugin(struct addition *a, const struct new_form *form, const struct new_names *n, FILE *report) {
  if (new_read(&a->plugin, n, "plugin.c") != CLI_OK || new_read(&a->cmake, n, "CMakeLists.txt") != CLI_OK ||
      collect(a, form, n) != CLI_OK)
    return CLI_FAILED;
  int status = CLI_OK;
  for (size_t i = 0; i < a->count; i++)
    if (check_absent(&a->names[i], a->forms[i]) != CLI_OK) status = CLI_FAILED;
  if (status != CLI_OK || edit_files(a) != CLI_OK || write_files(a, report) != CLI_OK ||
      new_edit_write(&a->plugin, &a->cmake, report) != CLI_OK)
    return CLI_FAILED;
  const char *before = "\n";
  for (size_t i = 0; i < a->count && !a->has_tests; i++) {
    for (size_t f = 0; f < file_count(a->forms[i]); f++) {
      if (strcmp(a->forms[i]->files[f].path, NEW_TEST) != 0) continue;
      fprintf(report, "%s%s_test.c is not built yet: add it where this plugin's tests are\n", before,
              a->names[i].algorithm);
      before = "";
    }
  }
  return CLI_OK;
}

static int new_algorithm(const struct new_form *form, const char *name, FILE *report) {
  struct new_names n;
  if (new_parse_names(form->kind, name, &n) != CLI_OK) return CLI_WRONG;
  struct addition a = {.count = 0};
  const int status = add_to_plugin(&a, form, &n, report);
  free_addition(&a);
  return status;
}

static int write_plugin(struct addition *a, const struct new_form *form, const struct new_names *n, FILE *report) {
  static const struct new_file readme = {"README.md", template_README_md};
  snprintf(a->plugin.path, sizeof a->plugin.path, "%s/plugin.c", n->folder);
  snprintf(a->cmake.path, sizeof a->cmake.path, "%s/CMakeLists.txt", n->folder);
  a->plugin.text = new_expand(n, template_plugin_c);
  a->cmake.text = a->plugin.text ? new_expand(n, template_CMakeLists_txt) : NULL;
  if (!a->cmake.text || collect(a, form, n) != CLI_OK || edit_files(a) != CLI_OK) return CLI_FAILED;
  if (mkdir(n->folder, 0777) < 0)
    return cli_file_error(n->folder, errno == EEXIST ? "is there already; nothing was written" : strerror(errno));
  if (write_new(a->cmake.path, a->cmake.text, report) != CLI_OK ||
      write_new(a->plugin.path, a->plugin.text, report) != CLI_OK || write_file(n, &readme, report) != CLI_OK ||
      write_files(a, report) != CLI_OK)
    return CLI_FAILED;
  fprintf(
      report,
      "\nbuild and test it: cmake -G Ninja -S %s -B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
      n->plugin, n->plugin, n->plugin, n->plugin);
  return CLI_OK;
}

static int new_plugin(const struct new_form *form, const char *name, FILE *report) {
  struct new_names n;
  if (parse_name("a plugin", name, strlen(name), n.plugin) != CLI_OK) return CLI_WRONG;
  snprintf(n.algorithm, sizeof n.algorithm, "%s", form->name);
  snprintf(n.folder, sizeof n.folder, "%s", n.plugin);
  struct addition a = {.count = 0};
  const int status = write_plugin(&a, form, &n, report);
  free_addition(&a);
  return status;
}

/* -------------------------------------------------------------------------------------------------- command */

static int refuse_option(const char *option, const char *what, const char *reason) {
  fprintf(stderr, "error: `sluice new %s` takes no %s: %s\n", what, option, reason);
  return CLI_WRONG;
}

static int make(const struct cli_arguments *a, const char *what, const char *name, FILE *report) {
  const char *option = a->new_hits ? "--hits" : a->new_plain ? "--plain" : NULL;
  const int is_plugin = strcmp(what, "plugin") == 0, is_remove = strcmp(what, "remove") == 0;
  if (a->new_hits && a->new_plain) {
    fprintf(stderr, "error: --plain and --hits are two examples: give one of them\n");
    return CLI_WRONG;
  }
  if (a->force && !is_remove) return refuse_option("--force", what, "no file is overwritten");
  if (is_remove && option) return refuse_option(option, what, "the files of both examples are found by their names");
  if (is_remove) return new_remove(name, (int)a->force, report);
  if (is_plugin) return new_plugin(a->new_hits ? &hits_algorithm : &plain_sink, name, report);
  for (size_t k = 0; k < new_form_count; k++) {
    if (strcmp(what, new_forms[k]->kind) != 0) continue;
    if (!new_forms[k]->option && option) return refuse_option(option, what, "there is one example of it");
    if (!new_forms[k]->option || strcmp(new_forms[k]->option, option ? option : "--plain") == 0)
      return new_algorithm(new_forms[k], name, report);
  }
  fprintf(stderr,
          "error: there is no `sluice new %s`: the word is plugin, algorithm, source, sink, constant or remove\n",
          what);
  return CLI_WRONG;
}

/* Print only after all files are written: a write to a pipe without a reader ends the process. */
int cli_new(const struct cli_arguments *a) {
  struct sl_text_file report;
  if (!sl_text_open(&report)) return cli_no_memory();
  const int status = make(a, a->operands.items[0], a->operands.items[1], report.file);
  sl_text_close(&report);
  if (!report.text) return cli_no_memory();
  fputs(report.text, stdout);
  free(report.text);
  return status;
}
