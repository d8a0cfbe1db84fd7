/* new_edit.c: `sluice new`: adds names to plugin.c and CMakeLists.txt of a plugin, and removes them. To remove what was
 * added gives the former text, if the plugin was made by `sluice new`.
 */
#define _GNU_SOURCE
#include "base/input.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/new.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char host_begin[] = "#ifdef SL_TARGET_CPU\n", host_end[] = "#endif\n";

int new_edit_read(struct new_edit *e, const char *path) {
  size_t allocated = 0;
  char reason[128];
  snprintf(e->path, sizeof e->path, "%s", path);
  const int descriptor = sl_open_regular(e->path, reason, sizeof reason);
  if (descriptor < 0) return cli_file_error(e->path, reason);
  FILE *file = fdopen(descriptor, "r");
  if (!file) {
    close(descriptor);
    return cli_file_error(e->path, "out of memory");
  }
  errno = 0;
  const ssize_t length = getdelim(&e->text, &allocated, '\0', file);
  const int failed = ferror(file) || errno ? errno : 0;
  fclose(file);
  if (failed) return cli_file_error(e->path, strerror(failed));
  return length > 0 ? CLI_OK : cli_file_error(e->path, "is empty");
}

static int write_text(const void *text, FILE *file) { return fputs(text, file); }

int new_edit_write(const struct new_edit *plugin, const struct new_edit *cmake, FILE *report) {
  const struct new_edit *edits[] = {plugin, cmake};
  struct new_edit former[] = {{.text = NULL}, {.text = NULL}};
  int status = CLI_OK, written = 0;
  for (int i = 0; i < 2 && status == CLI_OK; i++) status = new_edit_read(&former[i], edits[i]->path);
  for (; written < 2 && status == CLI_OK; written++)
    status = cli_write_file(edits[written]->path, write_text, edits[written]->text);
  if (status != CLI_OK) /* also the one that failed: it may have its new text */
    while (written-- > 0) cli_write_file(former[written].path, write_text, former[written].text);
  for (int i = 0; i < 2; i++) {
    if (status == CLI_OK) fprintf(report, "%s (changed)\n", new_shown(edits[i]->path));
    free(former[i].text);
  }
  return status;
}

/* Inserts a piece at `at`, which points into the text. */
static int insert(struct new_edit *e, const char *at, const char *piece) {
  char *longer = NULL;
  if (asprintf(&longer, "%.*s%s%s", (int)(at - e->text), e->text, piece, at) < 0)
    return cli_file_error(e->path, "out of memory");
  free(e->text);
  e->text = longer;
  return CLI_OK;
}

/* Removes the text from `at` to `end`, and the line if nothing else is in it. Returns the text after it. */
static char *cut(struct new_edit *e, char *at, char *end) {
  char *line = at, *next = end;
  while (line > e->text && (line[-1] == ' ' || line[-1] == '\t')) line--;
  while (*next == ' ' || *next == '\t') next++;
  if ((line == e->text || line[-1] == '\n') && *next == '\n') {
    at = line;
    end = next + 1;
  }
  memmove(at, end, strlen(end) + 1);
  return at;
}

static int cannot_edit(const struct new_edit *e, const char *what, const char *to_do) {
  fprintf(stderr, "error: %s: %s; nothing was written\n  hint: %s\n", e->path, what, to_do);
  return CLI_FAILED;
}

/* ------------------------------------------------------------------------------------------------ plugin.c */

/* The brace that begins the table `algorithms`, or NULL. */
static char *table_of(const struct new_edit *plugin) {
  char *table = strstr(plugin->text, "algorithms[]");
  return table ? strchr(table, '{') : NULL;
}

static char *find_entry(const struct new_edit *plugin, const char *algorithm) {
  char entry[NEW_NAME_MAX + 16];
  snprintf(entry, sizeof entry, "SL_ENTRY(%s)", algorithm);
  return strstr(plugin->text, entry);
}

int new_edit_has_algorithm(const struct new_edit *plugin, const char *algorithm) {
  return find_entry(plugin, algorithm) != NULL;
}

/* Inserts `SL_DECLARE(name);` before the table. */
static int add_declaration(struct new_edit *plugin, const char *algorithm) {
  char piece[NEW_NAME_MAX + 24];
  const int is_first = strstr(plugin->text, "SL_DECLARE(") == NULL;
  const char *line = strstr(plugin->text, "algorithms[]");
  while (line > plugin->text && line[-1] != '\n') line--;
  if (!is_first && line - 1 > plugin->text && line[-2] == '\n') line--; /* before the empty line */
  snprintf(piece, sizeof piece, "SL_DECLARE(%s);\n%s", algorithm, is_first ? "\n" : "");
  return insert(plugin, line, piece);
}

/* Inserts `SL_ENTRY(name)` as the first entry, or as the first one of `#ifdef SL_TARGET_CPU` if it is built for the cpu
 * only. */
int new_edit_add_entry(struct new_edit *plugin, const char *algorithm, int is_host) {
  char piece[NEW_NAME_MAX + 64];
  const char *brace = table_of(plugin), *end = brace ? strchr(brace, '}') : NULL;
  if (!end)
    return cannot_edit(plugin, "there is no table `algorithms[] = {...}`", "write the table as in docs/plugins.md");
  if (find_entry(plugin, algorithm))
    return cannot_edit(plugin, "it has an algorithm of that name", "choose another name");
  const char *host = is_host ? strstr(brace, host_begin) : NULL, *at = brace + 1;
  const int is_alone = *at == '\n'; /* in its own line */
  const char *form = is_alone ? "\n    SL_ENTRY(%s)," : end == at ? "SL_ENTRY(%s)" : "SL_ENTRY(%s), ";
  if (is_host)
    form = is_alone ? "\n#ifdef SL_TARGET_CPU\n    SL_ENTRY(%s),\n#endif"
                    : "\n#ifdef SL_TARGET_CPU\n    SL_ENTRY(%s),\n#endif\n    ";
  if (host && host < end) {
    form = "    SL_ENTRY(%s),\n";
    at = host + strlen(host_begin);
  }
  snprintf(piece, sizeof piece, form, algorithm);
  return insert(plugin, at, piece) == CLI_OK ? add_declaration(plugin, algorithm) : CLI_FAILED;
}

void new_edit_remove_entry(struct new_edit *plugin, const char *algorithm) {
  char declaration[NEW_NAME_MAX + 16];
  char *entry = find_entry(plugin, algorithm), *end = entry ? strchr(entry, ')') + 1 : NULL;
  if (!entry) return;
  if (*end == ',') {
    end += end[1] == ' ' ? 2 : 1;
  } else { /* the last one: its comma is before it */
    char *comma = entry;
    while (comma > plugin->text && isspace((unsigned char)comma[-1])) comma--;
    if (comma[-1] == ',') entry = comma - 1;
  }
  char *rest = cut(plugin, entry, end);
  const size_t begin_length = strlen(host_begin), end_length = strlen(host_end);
  if ((size_t)(rest - plugin->text) >= begin_length && strncmp(rest - begin_length, host_begin, begin_length) == 0 &&
      strncmp(rest, host_end, end_length) == 0)
    cut(plugin, rest - begin_length, rest + end_length);
  snprintf(declaration, sizeof declaration, "SL_DECLARE(%s);", algorithm);
  char *declared = strstr(plugin->text, declaration);
  if (!declared) return;
  rest = cut(plugin, declared, declared + strlen(declaration));
  if (*rest == '\n' && rest - 2 >= plugin->text && rest[-1] == '\n' && rest[-2] == '\n') cut(plugin, rest, rest + 1);
}

void new_edit_suggest(const struct new_edit *plugin, const char *algorithm) {
  static const char entry[] = "SL_ENTRY(";
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, algorithm);
  char *text = strdup(plugin->text); /* its names become strings */
  for (char *at = text; at && (at = strstr(at, entry)) != NULL;) {
    at += strlen(entry);
    char *end = strchr(at, ')');
    if (!end) break;
    *end = '\0';
    sl_nearest_offer(&nearest, at);
    at = end + 1;
  }
  cli_suggest(&nearest);
  free(text);
}

/* ------------------------------------------------------------------------------------------- CMakeLists.txt */

static const char sources[] = "SOURCES plugin.c", host_sources[] = "HOST_SOURCES";

static const char *list_of(int is_host) { return is_host ? "set(host_algorithms" : "set(algorithms"; }

/* Adds the name to the list of `sluice new plugin`; else the file to SOURCES, after plugin.c, or to HOST_SOURCES. */
int new_edit_add_source(struct new_edit *cmake, const char *algorithm, int is_host, int *has_tests) {
  char piece[NEW_NAME_MAX + 32];
  const char *at = strstr(cmake->text, list_of(is_host)), *end = at ? strchr(at, ')') : NULL;
  *has_tests = end != NULL;
  snprintf(piece, sizeof piece, " %s", algorithm);
  if (end) return insert(cmake, end, piece);
  const char *host = is_host ? strstr(cmake->text, host_sources) : NULL;
  at = strstr(cmake->text, sources);
  snprintf(piece, sizeof piece, !is_host ? " %s.cu" : host ? " %s.c" : "HOST_SOURCES %s.c ", algorithm);
  if (host) return insert(cmake, host + strlen(host_sources), piece);
  if (at) return insert(cmake, is_host ? at : at + strlen(sources), piece);
  return cannot_edit(cmake,
                     is_host ? "there is no `set(host_algorithms ...)` and no `SOURCES plugin.c`"
                             : "there is no `set(algorithms ...)` and no `SOURCES plugin.c`",
                     "write sluice_add_plugin(NAME SOURCES plugin.c ...)");
}

/* The whole word between `at` and `end`, or NULL. */
static char *find_word(char *at, const char *end, const char *word) {
  const size_t length = strlen(word);
  for (; (at = strstr(at, word)) != NULL && at < end; at++) {
    const char after = at[length];
    if (isspace((unsigned char)at[-1]) && (isspace((unsigned char)after) || after == ')')) return at;
  }
  return NULL;
}

int new_edit_remove_source(struct new_edit *cmake, const char *algorithm, int is_host) {
  char file[NEW_NAME_MAX + 8], what[NEW_NAME_MAX + 48];
  snprintf(file, sizeof file, "%s%s", algorithm, is_host ? ".c" : ".cu");
  const char *word = algorithm;
  char *list = strstr(cmake->text, list_of(is_host)), *end = list ? strchr(list, ')') : NULL;
  char *at = end ? find_word(list, end + 1, word) : NULL;
  char *call = strstr(cmake->text, "sluice_add_plugin(");
  if (!at && call) {
    word = file;
    at = find_word(call, call + strlen(call), word);
  }
  if (!at) {
    snprintf(what, sizeof what, "it does not name %s", file);
    return cannot_edit(cmake, what, "remove the files of the algorithm, and its lines in plugin.c, by hand");
  }
  char *before = at; /* the blanks before it belong to it */
  while (isspace((unsigned char)before[-1])) before--;
  memmove(before, at + strlen(word), strlen(at + strlen(word)) + 1);
  char *empty = strstr(cmake->text, "HOST_SOURCES SOURCES"); /* as `add` begins the list */
  if (empty) memmove(empty, empty + strlen("HOST_SOURCES "), strlen(empty + strlen("HOST_SOURCES ")) + 1);
  return CLI_OK;
}
