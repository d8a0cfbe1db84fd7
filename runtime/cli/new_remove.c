/* new_remove.c: `sluice new remove`: deletes the files of an algorithm that `sluice new` wrote, and takes its name out
 * of plugin.c and CMakeLists.txt. Files that were changed, and a header that another file includes, are errors.
 */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/new.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct removal {
  struct new_names names;
  const struct new_form *form;
  char *paths[NEW_FILES_MAX]; /* of its files; NULL if there is none */
  struct new_edit plugin, cmake;
};

/* Finds the form by the file that defines the algorithm. */
static int find_form(struct removal *r) {
  for (size_t k = 0; k < new_form_count && !r->form; k++) {
    const char *macro = new_forms[k]->macro;
    struct new_edit file = {.text = NULL};
    char *path = new_path(&r->names, macro ? NEW_HOST_CODE : NEW_KERNELS);
    if (!path) return CLI_FAILED;
    const int is_there = access(path, F_OK) == 0;
    const int status = is_there ? new_edit_read(&file, path) : CLI_OK;
    if (file.text && (!macro || strstr(file.text, macro))) r->form = new_forms[k];
    free(file.text);
    free(path);
    if (status != CLI_OK) return CLI_FAILED;
  }
  if (r->form) return CLI_OK;
  const char *name = r->names.algorithm;
  fprintf(stderr,
          "error: %s: there is no %s.cu, and no %s.c with SL_SOURCE, SL_SINK or SL_CONSTANT; nothing was removed\n",
          r->names.folder, name, name);
  return CLI_FAILED;
}

/* Sets *is_changed if file f differs from what this version of the command writes. */
static int compare_file(const struct removal *r, size_t f, int *is_changed) {
  struct new_edit file = {.text = NULL};
  int status = new_edit_read(&file, r->paths[f]);
  *is_changed = status == CLI_OK;
  for (size_t k = 0; k < new_form_count && *is_changed; k++) {
    if (strcmp(new_forms[k]->kind, r->form->kind) != 0) continue;
    char *text = new_expand(&r->names, new_forms[k]->files[f].text);
    if (!text) status = CLI_FAILED;
    *is_changed = text && strcmp(text, file.text) != 0;
    free(text);
  }
  free(file.text);
  return status;
}

/* Finds the files that exist. Changed files are errors without --force. */
static int check_files(struct removal *r, int is_forced) {
  int any_changed = 0;
  for (size_t f = 0; f < NEW_FILES_MAX && r->form->files[f].path; f++) {
    int is_changed = 0;
    r->paths[f] = new_path(&r->names, r->form->files[f].path);
    if (!r->paths[f]) return CLI_FAILED;
    if (access(r->paths[f], F_OK) < 0) {
      if (errno != ENOENT) return cli_file_error(new_shown(r->paths[f]), strerror(errno));
      free(r->paths[f]);
      r->paths[f] = NULL;
    } else if (!is_forced && compare_file(r, f, &is_changed) != CLI_OK) {
      return CLI_FAILED;
    }
    if (is_changed)
      cli_file_error(new_shown(r->paths[f]), "differs from what `sluice new` writes; nothing was removed");
    any_changed |= is_changed;
  }
  if (any_changed)
    fprintf(stderr, "  hint: `sluice new remove %s.%s --force` deletes changed files too\n", r->names.plugin,
            r->names.algorithm);
  return any_changed ? CLI_FAILED : CLI_OK;
}

/* CLI_FAILED after an error if a file, which is not removed itself, includes the header. */
static int check_file_includes(const struct removal *r, const char *path) {
  static const char *const forms[] = {"%plugin%/%algorithm%.h>", "%plugin%/%algorithm%.h\"", "\"%algorithm%.h\""};
  struct new_edit file = {.text = NULL};
  for (size_t f = 0; f < NEW_FILES_MAX; f++)
    if (r->paths[f] && strcmp(r->paths[f], path) == 0) return CLI_OK;
  int status = new_edit_read(&file, path);
  for (size_t i = 0; i < COUNT(forms) && status == CLI_OK; i++) {
    char *form = new_expand(&r->names, forms[i]);
    if (!form || strstr(file.text, form)) status = CLI_FAILED;
    if (form && status != CLI_OK)
      fprintf(stderr, "error: %s: includes %s/%s.h; nothing was removed\n", new_shown(path), r->names.plugin,
              r->names.algorithm);
    free(form);
  }
  free(file.text);
  return status;
}

static int is_source_file(const char *path) {
  static const char *const suffixes[] = {".c", ".cu", ".h", ".cuh", ".cpp", ".hpp"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; i < COUNT(suffixes); i++)
    if (strcmp(dot ? dot : "", suffixes[i]) == 0) return 1;
  return 0;
}

static int is_build_folder(const char *path) {
  char cache[PATH_MAX + 16];
  snprintf(cache, sizeof cache, "%s/CMakeCache.txt", path);
  return access(cache, F_OK) == 0;
}

/* CLI_FAILED after an error if a file in this folder or below includes the header. Builds and hidden folders do not
 * count. */
static int check_folder(const struct removal *r, const char *folder) {
  struct dirent **entries = NULL;
  const int count = scandir(folder, &entries, NULL, alphasort);
  int status = count < 0 ? cli_file_error(new_shown(folder), strerror(errno)) : CLI_OK;
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX];
    struct stat info;
    const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    const int is_hidden = entries[i]->d_name[0] == '.';
    free(entries[i]);
    if (is_hidden || length >= (int)sizeof path || lstat(path, &info) < 0) continue;
    if (S_ISDIR(info.st_mode) && !is_build_folder(path) && check_folder(r, path) != CLI_OK) status = CLI_FAILED;
    if (S_ISREG(info.st_mode) && info.st_size > 0 && is_source_file(path) && check_file_includes(r, path) != CLI_OK)
      status = CLI_FAILED;
  }
  free(entries);
  return status;
}

static int check_includes(const struct removal *r) {
  if (strcmp(r->form->files[0].path, NEW_HEADER) != 0 || !r->paths[0]) return CLI_OK;
  const int status = check_folder(r, r->names.folder);
  if (status != CLI_OK)
    fprintf(stderr, "  hint: first remove or change the code that reads %s.%s\n", r->names.plugin, r->names.algorithm);
  return status;
}

/* plugin.c and CMakeLists.txt are written first: if a file cannot be deleted, the plugin can be built all the same. */
static int remove_all(struct removal *r, int is_forced, FILE *report) {
  const char *name = r->names.algorithm;
  if (new_read(&r->plugin, &r->names, "plugin.c") != CLI_OK ||
      new_read(&r->cmake, &r->names, "CMakeLists.txt") != CLI_OK)
    return CLI_FAILED;
  if (!new_edit_has_algorithm(&r->plugin, name)) {
    fprintf(stderr, "error: %s: there is no algorithm '%s' in it\n", new_shown(r->plugin.path), name);
    new_edit_suggest(&r->plugin, name);
    return CLI_FAILED;
  }
  if (find_form(r) != CLI_OK || check_files(r, is_forced) != CLI_OK || check_includes(r) != CLI_OK ||
      new_edit_remove_source(&r->cmake, name, r->form->macro != NULL) != CLI_OK)
    return CLI_FAILED;
  new_edit_remove_entry(&r->plugin, name);
  if (new_edit_write(&r->plugin, &r->cmake, report) != CLI_OK) return CLI_FAILED;
  int status = CLI_OK;
  for (size_t f = 0; f < NEW_FILES_MAX; f++) {
    if (!r->paths[f]) continue;
    if (unlink(r->paths[f]) < 0)
      status = cli_file_error(new_shown(r->paths[f]), strerror(errno));
    else
      fprintf(report, "%s (removed)\n", new_shown(r->paths[f]));
  }
  return status;
}

int new_remove(const char *name, int is_forced, FILE *report) {
  struct removal r = {.form = NULL};
  if (new_parse_names("remove", name, &r.names) != CLI_OK) return CLI_WRONG;
  const int status = remove_all(&r, is_forced, report);
  for (size_t f = 0; f < NEW_FILES_MAX; f++) free(r.paths[f]);
  free(r.plugin.text);
  free(r.cmake.text);
  return status;
}
