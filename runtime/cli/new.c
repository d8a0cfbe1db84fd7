/* new.c: `sluice new`: writes a small plugin, or adds an algorithm, source, sink or constant to a plugin, from the
 * texts in templates/. All checks are made before anything is written, and no file is overwritten: the folder of a new
 * plugin and the files of a new algorithm must not exist. plugin.c and CMakeLists.txt of the plugin get the new names.
 *
 * In a template %plugin% and %algorithm% are replaced by the names, %PLUGIN% and %ALGORITHM% by the names in capitals.
 */
#define _GNU_SOURCE
#include "base/input.h"
#include "base/text_file.h"
#include "cli/cli.h"
#include "template_CMakeLists_txt.h"
#include "template_README_md.h"
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
#include "template_source_c.h"
#include "template_source_h.h"
#include "template_source_yaml.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_LENGTH = 40 };
static const char first_algorithm[] = "near_hits";

struct names {
  char plugin[NAME_MAX_LENGTH + 1], algorithm[NAME_MAX_LENGTH + 1];
  char folder[16 + NAME_MAX_LENGTH]; /* of the plugin: its name, or "." */
  FILE *report;                      /* text that is printed at the end */
};

/* A file to write: path and text with names to fill in. */
struct new_file {
  const char *path, *text;
};
static const struct new_file plugin_files[] = {
    {"CMakeLists.txt", template_CMakeLists_txt}, {"plugin.c", template_plugin_c}, {"README.md", template_README_md}};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Kinds of algorithms. */
enum { KIND_FILES = 4 };
struct new_kind {
  const char *word;
  int is_host;                       /* built for the cpu only, from NAME.c; else from NAME.cu */
  struct new_file files[KIND_FILES]; /* unused ones have path NULL */
};
static const struct new_kind kinds[] = {{"algorithm",
                                         0,
                                         {{"include/%plugin%/%algorithm%.h", template_hits_algorithm_h},
                                          {"%algorithm%.cu", template_hits_algorithm_cu},
                                          {"%algorithm%_test.c", template_hits_algorithm_test_c},
                                          {"%algorithm%.yaml", template_hits_algorithm_yaml}}},
                                        {"source",
                                         1,
                                         {{"include/%plugin%/%algorithm%.h", template_source_h},
                                          {"%algorithm%.c", template_source_c},
                                          {"%algorithm%.yaml", template_source_yaml}}},
                                        {"sink",
                                         1,
                                         {{"%algorithm%.c", template_hits_sink_c},
                                          {"%algorithm%_test.c", template_hits_sink_test_c},
                                          {"%algorithm%.yaml", template_hits_sink_yaml}}},
                                        {"constant",
                                         1,
                                         {{"include/%plugin%/%algorithm%.h", template_constant_h},
                                          {"%algorithm%.c", template_constant_c},
                                          {"%algorithm%_test.c", template_constant_test_c}}}};

static size_t file_count(const struct new_kind *kind) {
  size_t count = 0;
  while (count < KIND_FILES && kind->files[count].path) count++;
  return count;
}

/* -------------------------------------------------------------------------------------------------- names */

static int parse_name(const char *what, const char *text, size_t length, char *name) {
  int is_good = length > 0 && length <= NAME_MAX_LENGTH && islower((unsigned char)text[0]);
  for (size_t i = 0; i < length && is_good; i++)
    is_good = islower((unsigned char)text[i]) || isdigit((unsigned char)text[i]) || text[i] == '_';
  if (is_good && length == 6 && memcmp(text, "sluice", length) == 0)
    is_good = 0; /* include/sluice has the headers of the runtime */
  if (!is_good) {
    fprintf(stderr, "error: '%.*s' cannot be the name of %s\n", (int)length, text, what);
    fprintf(
        stderr,
        "  hint: a name has small letters, digits and _, begins with a letter, is at most %d long, and not sluice\n",
        NAME_MAX_LENGTH);
    return CLI_WRONG;
  }
  snprintf(name, NAME_MAX_LENGTH + 1, "%.*s", (int)length, text);
  return CLI_OK;
}

/* Writes the name for a placeholder at `at`. Returns the bytes of the placeholder; 0 if there is none. */
static size_t expand(const struct names *n, const char *at, FILE *file) {
  static const char *const words[] = {"%plugin%", "%algorithm%", "%PLUGIN%", "%ALGORITHM%"};
  for (size_t w = 0; w < COUNT(words); w++) {
    if (strncmp(at, words[w], strlen(words[w])) != 0) continue;
    for (const char *c = w % 2 ? n->algorithm : n->plugin; *c; c++)
      fputc(w < 2 ? *c : toupper((unsigned char)*c), file);
    return strlen(words[w]);
  }
  return 0;
}

static void write_expanded(const struct names *n, const char *text, FILE *file) {
  while (*text) {
    const size_t taken = *text == '%' ? expand(n, text, file) : 0;
    if (taken == 0) fputc(*text++, file);
    text += taken;
  }
}

/* "FOLDER/PATH" with the names filled in, allocated; NULL when memory is out. */
static char *path_of(const struct names *n, const char *path) {
  struct sl_text_file result;
  if (sl_text_open(&result)) {
    fprintf(result.file, "%s/", n->folder);
    write_expanded(n, path, result.file);
  }
  sl_text_close(&result);
  return result.text;
}

/* -------------------------------------------------------------------------------------------------- files */

/* Makes the folders of a file. */
static int make_folders(const char *path) {
  char folder[PATH_MAX];
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST) return cli_file_error(folder, strerror(errno));
  }
  return CLI_OK;
}

static int write_file(const struct names *n, const struct new_file *f) {
  char *path = path_of(n, f->path);
  if (!path) return cli_file_error(f->path, "out of memory");
  int status = make_folders(path);
  FILE *file = status == CLI_OK ? fopen(path, "wx") : NULL;
  if (status == CLI_OK && !file) status = cli_file_error(path, strerror(errno));
  char buffer[BUFSIZ]; /* a buffer that cannot be allocated would lose text silently */
  if (file) {
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    write_expanded(n, f->text, file);
    const int failed = ferror(file);
    if (fclose(file) != 0 || failed) {
      status = cli_file_error(path, strerror(errno));
      unlink(path); /* an incomplete file would look complete */
    }
  }
  if (status == CLI_OK) fprintf(n->report, "%s\n", strncmp(path, "./", 2) == 0 ? path + 2 : path);
  free(path);
  return status;
}

static int write_files(const struct names *n, const struct new_file *files, size_t count) {
  int status = CLI_OK;
  for (size_t i = 0; i < count && status == CLI_OK; i++) status = write_file(n, &files[i]);
  return status;
}

static int check_absent(const struct names *n, const struct new_file *files, size_t count) {
  int status = CLI_OK;
  for (size_t i = 0; i < count; i++) {
    char *path = path_of(n, files[i].path);
    if (!path) return cli_file_error(files[i].path, "out of memory");
    if (access(path, F_OK) == 0) status = cli_file_error(path, "is there already; nothing was written");
    free(path);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------- editing */

/* A file of the plugin to which text is added; text NULL: not read. */
struct edit {
  char path[PATH_MAX];
  char *text;
};

static int read_text(const struct names *n, const char *name, struct edit *e) {
  size_t allocated = 0;
  snprintf(e->path, sizeof e->path, "%s/%s", n->folder, name);
  char reason[128];
  const int descriptor = sl_open_regular(e->path, reason, sizeof reason);
  if (descriptor < 0) return cli_file_error(e->path, reason);
  FILE *file = fdopen(descriptor, "r");
  if (!file) {
    close(descriptor);
    return cli_file_error(e->path, "out of memory");
  }
  const ssize_t length = getdelim(&e->text, &allocated, '\0', file);
  fclose(file);
  return length > 0 ? CLI_OK : cli_file_error(e->path, "is empty");
}

/* Inserts a piece at `at`, which points into the text. */
static int insert(struct edit *e, const char *at, const char *piece) {
  char *longer = NULL;
  if (asprintf(&longer, "%.*s%s%s", (int)(at - e->text), e->text, piece, at) < 0)
    return cli_file_error(e->path, "out of memory");
  free(e->text);
  e->text = longer;
  return CLI_OK;
}

static int cannot_insert(const struct edit *e, const char *what, const char *to_do) {
  fprintf(stderr, "error: %s: %s; nothing was written\n  hint: %s\n", e->path, what, to_do);
  return CLI_FAILED;
}

/* Inserts `SL_DECLARE(name);` before the table `algorithms`, and `SL_ENTRY(name)` as its first entry, within `#ifdef
 * SL_TARGET_CPU` if it is built for the cpu only. */
static int edit_plugin(const struct names *n, int is_host, struct edit *e) {
  char piece[3 * NAME_MAX_LENGTH];
  const char *table = strstr(e->text, "algorithms[]"), *brace = table ? strchr(table, '{') : NULL;
  if (!brace)
    return cannot_insert(e, "there is no table `algorithms[] = {...}`", "write the table as in docs/plugins.md");
  snprintf(piece, sizeof piece, "SL_ENTRY(%s)", n->algorithm);
  if (strstr(e->text, piece)) return cannot_insert(e, "it has an algorithm of that name", "choose another name");
  const int is_alone = brace[1] == '\n'; /* in its own line */
  const char *form = is_alone ? "\n    SL_ENTRY(%s)," : "SL_ENTRY(%s), ";
  if (is_host)
    form = is_alone ? "\n#ifdef SL_TARGET_CPU\n    SL_ENTRY(%s),\n#endif"
                    : "\n#ifdef SL_TARGET_CPU\n    SL_ENTRY(%s),\n#endif\n    ";
  snprintf(piece, sizeof piece, form, n->algorithm);
  if (insert(e, brace + 1, piece) != CLI_OK) return CLI_FAILED;
  const char *line = strstr(e->text, "algorithms[]");
  while (line > e->text && line[-1] != '\n') line--;
  if (line - 1 > e->text && line[-2] == '\n') line--; /* before the empty line */
  snprintf(piece, sizeof piece, "SL_DECLARE(%s);\n", n->algorithm);
  return insert(e, line, piece);
}

/* Adds the name to `set(algorithms ...)` or `set(host_algorithms ...)` of `sluice new plugin`; else the file to
 * SOURCES, after plugin.c, or to HOST_SOURCES. */
static int edit_cmake(const struct names *n, int is_host, struct edit *e, int *has_tests) {
  const char *list = is_host ? "set(host_algorithms" : "set(algorithms";
  char piece[NAME_MAX_LENGTH + 32];
  const char *at = strstr(e->text, list), *end = at ? strchr(at, ')') : NULL;
  *has_tests = end != NULL;
  snprintf(piece, sizeof piece, " %s", n->algorithm);
  if (end) return insert(e, end, piece);
  static const char sources[] = "SOURCES plugin.c", host_sources[] = "HOST_SOURCES";
  const char *host = is_host ? strstr(e->text, host_sources) : NULL;
  at = strstr(e->text, sources);
  snprintf(piece, sizeof piece, !is_host ? " %s.cu" : host ? " %s.c" : "HOST_SOURCES %s.c ", n->algorithm);
  if (host) return insert(e, host + strlen(host_sources), piece);
  if (at) return insert(e, is_host ? at : at + strlen(sources), piece);
  return cannot_insert(e,
                       is_host ? "there is no `set(host_algorithms ...)` and no `SOURCES plugin.c`"
                               : "there is no `set(algorithms ...)` and no `SOURCES plugin.c`",
                       "write sluice_add_plugin(NAME SOURCES plugin.c ...)");
}

static int write_text(const void *text, FILE *file) { return fputs(text, file); }

/* Replaces the whole file, so it is never incomplete. */
static int write_edit(const struct names *n, const struct edit *e) {
  if (cli_write_file(e->path, write_text, e->text) != CLI_OK) return CLI_FAILED;
  fprintf(n->report, "%s (changed)\n", strncmp(e->path, "./", 2) == 0 ? e->path + 2 : e->path);
  return CLI_OK;
}

/* ------------------------------------------------------------------------------------------------ commands */

static int new_plugin(const char *name, FILE *report) {
  struct names n = {.report = report};
  if (parse_name("a plugin", name, strlen(name), n.plugin) != CLI_OK) return CLI_WRONG;
  snprintf(n.algorithm, sizeof n.algorithm, "%s", first_algorithm);
  snprintf(n.folder, sizeof n.folder, "%s", n.plugin);
  if (mkdir(n.folder, 0777) < 0)
    return cli_file_error(n.folder, errno == EEXIST ? "is there already; nothing was written" : strerror(errno));
  if (write_files(&n, plugin_files, COUNT(plugin_files)) != CLI_OK ||
      write_files(&n, kinds[0].files, file_count(&kinds[0])) != CLI_OK)
    return CLI_FAILED;
  fprintf(
      report,
      "\nbuild and test it: cmake -G Ninja -S %s -B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
      name, name, name, name);
  return CLI_OK;
}

/* The current folder, if it is the folder of the plugin, or the folder of that name. */
static void find_folder(struct names *n) {
  char here[PATH_MAX];
  const char *slash = getcwd(here, sizeof here) ? strrchr(here, '/') : NULL;
  const int is_here = slash && strcmp(slash + 1, n->plugin) == 0 && access("plugin.c", F_OK) == 0;
  snprintf(n->folder, sizeof n->folder, "%s", is_here ? "." : n->plugin);
}

static int add_algorithm(const struct new_kind *kind, const struct names *n, struct edit *plugin, struct edit *cmake) {
  const size_t count = file_count(kind);
  int has_tests = 0;
  if (read_text(n, "plugin.c", plugin) != CLI_OK || read_text(n, "CMakeLists.txt", cmake) != CLI_OK ||
      check_absent(n, kind->files, count) != CLI_OK || edit_plugin(n, kind->is_host, plugin) != CLI_OK ||
      edit_cmake(n, kind->is_host, cmake, &has_tests) != CLI_OK || write_files(n, kind->files, count) != CLI_OK ||
      write_edit(n, plugin) != CLI_OK || write_edit(n, cmake) != CLI_OK)
    return CLI_FAILED;
  int tests = 0;
  for (size_t i = 0; i < count; i++) tests += strstr(kind->files[i].path, "_test.c") != NULL;
  if (tests && !has_tests)
    fprintf(n->report, "\n%s_test.c is not built yet: add it where this plugin's tests are\n", n->algorithm);
  return CLI_OK;
}

static int new_algorithm(const struct new_kind *kind, const char *name, FILE *report) {
  struct names n = {.report = report};
  const char *dot = strchr(name, '.');
  if (!dot) {
    fprintf(stderr, "error: '%s' is not of the form PLUGIN.NAME\n  hint: sluice new %s mine.%s\n", name, kind->word,
            name);
    return CLI_WRONG;
  }
  if (parse_name("a plugin", name, (size_t)(dot - name), n.plugin) != CLI_OK ||
      parse_name("an algorithm", dot + 1, strlen(dot + 1), n.algorithm) != CLI_OK)
    return CLI_WRONG;
  find_folder(&n);
  struct edit plugin = {.text = NULL}, cmake = {.text = NULL};
  const int status = add_algorithm(kind, &n, &plugin, &cmake);
  free(plugin.text);
  free(cmake.text);
  return status;
}

static int make(const char *what, const char *name, FILE *report) {
  if (strcmp(what, "plugin") == 0) return new_plugin(name, report);
  for (size_t k = 0; k < COUNT(kinds); k++)
    if (strcmp(what, kinds[k].word) == 0) return new_algorithm(&kinds[k], name, report);
  fprintf(stderr, "error: there is no new '%s': it is plugin, algorithm, source, sink or constant\n", what);
  return CLI_WRONG;
}

/* Print only after all files are written: a write to a pipe without a reader ends the process. */
int cli_new(const struct cli_arguments *a) {
  struct sl_text_file report;
  if (!sl_text_open(&report)) return cli_no_memory();
  const int status = make(a->operands.items[0], a->operands.items[1], report.file);
  sl_text_close(&report);
  if (!report.text) return cli_no_memory();
  fputs(report.text, stdout);
  free(report.text);
  return status;
}
