/* new.h: what the files of `sluice new` share. Functions return CLI_OK, or CLI_FAILED after an error on stderr; text is
 * NULL after an error.
 */
#ifndef SL_CLI_NEW_H
#define SL_CLI_NEW_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

enum { NEW_NAME_MAX = 40 };
struct new_names {
  char plugin[NEW_NAME_MAX + 1], algorithm[NEW_NAME_MAX + 1];
  char folder[16 + NEW_NAME_MAX]; /* of the plugin: its name, or "." */
};

/* An example of an algorithm of some kind. Paths and texts of its files have names to fill in. */
enum { NEW_FILES_MAX = 4, NEW_FIELDS_MAX = 2 };
struct new_file {
  const char *path, *text;
};
struct new_form {
  const char *kind;
  const char *option;                   /* "--plain" or "--hits"; NULL if the kind has one example only */
  const char *name;                     /* in a new plugin, and in the examples that read it; or NULL */
  const char *macro;                    /* defines a host algorithm in NAME.c; NULL: kernels, in NAME.cu */
  const struct new_form *reads;         /* the example that makes its input; or NULL */
  const char *fields[NEW_FIELDS_MAX];   /* what it reads: in the header of `reads` */
  struct new_file files[NEW_FILES_MAX]; /* unused ones have path NULL */
};
#define NEW_HEADER    "include/%plugin%/%algorithm%.h"
#define NEW_KERNELS   "%algorithm%.cu"
#define NEW_HOST_CODE "%algorithm%.c"
#define NEW_TEST      "%algorithm%_test.c"
#define NEW_GRAPH     "%algorithm%.yaml"
extern const struct new_form *const new_forms[];
extern const size_t new_form_count;

/* Reads "PLUGIN.NAME", and finds the folder. CLI_WRONG after an error. `word`: of the command, for the hint. */
int new_parse_names(const char *word, const char *text, struct new_names *n);
/* `text` with the names filled in, allocated; the same as "FOLDER/PATH". */
char *new_expand(const struct new_names *n, const char *text);
char *new_path(const struct new_names *n, const char *path);
/* Reads the file with this path, as new_edit_read. */
struct new_edit;
int new_read(struct new_edit *e, const struct new_names *n, const char *path);
/* The path without "./". */
const char *new_shown(const char *path);

/* new_remove.c: `sluice new remove PLUGIN.NAME`. Returns an exit status. */
int new_remove(const char *name, int is_forced, FILE *report);

/* new_edit.c: changes to the files of a plugin that list its algorithms. A text is changed in memory, and written after
 * all checks. */
struct new_edit {
  char path[PATH_MAX];
  char *text; /* allocated */
};

/* Reads a regular file that is not empty. */
int new_edit_read(struct new_edit *e, const char *path);
/* Writes plugin.c and CMakeLists.txt: whole files, and both or none. */
int new_edit_write(const struct new_edit *plugin, const struct new_edit *cmake, FILE *report);

/* plugin.c: the table `algorithms` and the declarations before it. */
int new_edit_has_algorithm(const struct new_edit *plugin, const char *algorithm);
int new_edit_add_entry(struct new_edit *plugin, const char *algorithm, int is_host);
void new_edit_remove_entry(struct new_edit *plugin, const char *algorithm);
/* Prints the hint "did you mean X?" if an algorithm of the table has a similar name. */
void new_edit_suggest(const struct new_edit *plugin, const char *algorithm);

/* CMakeLists.txt: the names in `set(algorithms ...)` and `set(host_algorithms ...)`, or the files of sluice_add_plugin.
 * *has_tests: whether the file builds tests of the names in its lists. */
int new_edit_add_source(struct new_edit *cmake, const char *algorithm, int is_host, int *has_tests);
int new_edit_remove_source(struct new_edit *cmake, const char *algorithm, int is_host);

#endif
