/* registry.h: finds, opens and checks plugins, and looks them up by name.
 *
 * Search order: folders of --plugin-path, SLUICE_PLUGIN_PATH (colon-separated), FOLDER/plugins and
 * FOLDER/sluice/plugins with FOLDER of libsluice. In each folder: files NAME.TARGET.so, ascending. The first (name,
 * target) wins; later ones are recorded as hidden. In the folders of libsluice, x86-64-v4/NAME.cpu.so replaces
 * NAME.cpu.so on processors with AVX-512 (SLUICE_X86_64_V4 in CMakeLists.txt); folders given by the user have no
 * variants. A text file NAME.TARGET.absent has the reason why this plugin is not part of the installation.
 *
 * A file is opened when its plugin is needed by name, because opening also maps and initialises linked libraries.
 * Opening runs constructors; a foreign plugin, from a folder given by the user, is therefore opened in a child process
 * first (try.h), unless it was requested by name; with `tries_named` also then.
 */
#ifndef SL_REGISTRY_H
#define SL_REGISTRY_H

#include "base/diagnostics.h"

#include <sluice/plugin.h>

enum { SL_PLUGIN_LOADED, SL_PLUGIN_HIDDEN, SL_PLUGIN_REFUSED, SL_PLUGIN_UNOPENED, SL_PLUGIN_ABSENT };
enum {
  SL_PLUGIN_IS_FOREIGN = 1, /* from a folder given by the user, not of libsluice */
  SL_PLUGIN_IS_NAMED = 2    /* the plugin was requested by name */
};

struct sl_plugin_entry {
  char *path;
  char *file_name;   /* NAME of the file name, as in velo */
  char *file_target; /* TARGET of the file name, as in cpu */
  uint32_t status;   /* SL_PLUGIN_... */
  uint32_t flags;    /* SL_PLUGIN_IS_... */
  char *reason;      /* REFUSED, ABSENT: reason; HIDDEN: path of the winner */
  void *handle;
  const struct sl_plugin *plugin; /* LOADED only; with expanded open ports (expand.h) */
  void *expanded;                 /* owner of the expanded copy, or NULL */
};

struct sl_registry {
  struct sl_plugin_entry *entries;
  size_t entry_count;
  char **folders; /* in search order */
  size_t folder_count;
  size_t foreign_count; /* number of leading folders that the user gave */
  uint32_t tries_named, reserved;
  char **missing; /* folders of libsluice that do not exist */
  size_t missing_count;
};

/* Finds the plugin files for `targets` (NULL-terminated, e.g. {"cpu", NULL}) without opening them. extra_folders:
 * NULL-terminated or NULL. Entries keep their index from now on. Fails only if out of memory. */
int sl_registry_scan(const char *const *extra_folders, const char *const *targets, struct sl_registry *registry);
/* Opens the plugins of that name for all targets; NULL: all plugins. Opened plugins stay unchanged. Refused plugins
 * are entries, not errors: fails only if out of memory. */
int sl_registry_load(struct sl_registry *registry, const char *name);
int sl_registry_load_entry(struct sl_registry *registry, size_t index);
/* Expands the open ports of loaded plugins with the collections of loaded plugins (expand.h). Call once, before
 * algorithms are used; later calls do not change expanded plugins. */
int sl_registry_expand(struct sl_registry *registry);
/* Finds and opens all files, and expands their open ports. */
int sl_registry_open(const char *const *extra_folders, const char *const *targets, struct sl_registry *registry);
void sl_registry_close(struct sl_registry *registry);

/* 1 if there is no plugin file at all. sl_registry_folders then writes the searched folders, and returns `text`. */
int sl_registry_is_empty(const struct sl_registry *registry);
/* 1 if there is a plugin file for the target. */
int sl_registry_has_target(const struct sl_registry *registry, const char *target);
const char *sl_registry_folders(const struct sl_registry *registry, char *text, size_t size);

/* Checks one descriptor (`sluice test` does too): 0, or an error with `reason` filled. */
int sl_plugin_check(const struct sl_plugin *plugin, char *reason, size_t reason_size);

/* Finds "plugin.algorithm" among the loaded plugins: kernels in the plugin for `target`, other kinds in the plugin
 * for cpu. NULL if there is none. `entry` may be NULL. */
const struct sl_algorithm *sl_registry_find(const struct sl_registry *registry, const char *name, const char *target,
                                            const struct sl_plugin_entry **entry);
/* The reason of the first file with this status (REFUSED, ABSENT) for the plugin of "plugin" or "plugin.algorithm", or
 * NULL if there is none. */
const char *sl_registry_reason(const struct sl_registry *registry, const char *name, uint32_t status);
/* The present name of an algorithm with the former name `name`; else the most similar name, or NULL. */
const char *sl_registry_suggest(const struct sl_registry *registry, const char *name, char *buffer, size_t size);
/* Like sl_registry_suggest, with names of plugins and collections too. */
const char *sl_registry_suggest_any(const struct sl_registry *registry, const char *name, char *buffer, size_t size);

/* Definition of a collection by name, from loaded plugins; and comparison of two definitions: 0 if equal, else the
 * first difference as text. */
const struct sl_collection *sl_registry_collection(const struct sl_registry *registry, const char *name,
                                                   const struct sl_plugin_entry **entry);
int sl_collection_compare(const struct sl_collection *a, const struct sl_collection *b, char *difference, size_t size);
uint64_t sl_collection_hash(const struct sl_collection *c);
/* Checks a definition as the loader does: 0, or an error with `reason` filled. */
int sl_collection_check(const struct sl_collection *c, char *reason, size_t reason_size);

#endif
