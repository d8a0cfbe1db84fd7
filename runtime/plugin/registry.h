/* registry.h: finds, opens and checks plugins; answers by name.
 *
 * Search order: the folders given with --plugin-path, SLUICE_PLUGIN_PATH (colon-separated), then <folder of libsluice>/
 * plugins and <folder of libsluice>/sluice/plugins (build tree and installation). In each folder, files NAME.TARGET.so
 * in ascending order. The first match of (name, target) wins; later ones are recorded as hidden.
 *
 * Beside libsluice there may be a plugin for cpu twice: NAME.cpu.so, and the same for a processor with AVX-512 as
 * x86-64-v4/NAME.cpu.so (SLUICE_X86_64_V4 in CMakeLists.txt). Such a processor takes the latter in the place of the
 * former. Folders that a person names are taken as they are: PREFIX/lib/sluice/plugins named so is without.
 *
 * A file is opened only when its plugin is asked for, by its name, since that also maps and initialises the libraries
 * that it links. So a run opens what its graph names; only what shows or searches all plugins opens all.
 *
 * To open a plugin runs the constructors of whatever it is. One that is foreign, not from beside libsluice, is
 * therefore opened in a process of its own first (try.h), unless it was asked for by name; with `tries_named` also
 * then.
 */
#ifndef SL_REGISTRY_H
#define SL_REGISTRY_H

#include "base/diagnostics.h"

#include <sluice/plugin.h>

enum { SL_PLUGIN_LOADED, SL_PLUGIN_HIDDEN, SL_PLUGIN_REFUSED, SL_PLUGIN_UNOPENED };
enum {
  SL_PLUGIN_IS_FOREIGN = 1, /* from a folder that a person named, not from beside libsluice */
  SL_PLUGIN_IS_NAMED = 2    /* somebody asked for just this plugin */
};

struct sl_plugin_entry {
  char *path;
  char *file_name;   /* velo */
  char *file_target; /* cpu */
  uint32_t status;   /* SL_PLUGIN_... */
  uint32_t flags;    /* SL_PLUGIN_IS_... */
  char *reason;      /* REFUSED: why; HIDDEN: path of the winner */
  void *handle;
  const struct sl_plugin *plugin; /* LOADED only; its open ports are expanded (expand.h) */
  void *expanded;                 /* owns that copy, or NULL */
};

struct sl_registry {
  struct sl_plugin_entry *entries;
  size_t entry_count;
  char **folders; /* in search order */
  size_t folder_count;
  size_t foreign_count; /* of them, those that a person named, which come first */
  uint32_t tries_named, reserved;
  char **missing; /* places beside libsluice where there is no folder */
  size_t missing_count;
};

/* Finds the files of plugins for `targets` (NULL-terminated, e.g. {"cpu", NULL}), and opens none. extra_folders:
 * NULL-terminated or NULL. Entries stay where they are from now on. Returns an error only when memory is out. */
int sl_registry_scan(const char *const *extra_folders, const char *const *targets, struct sl_registry *registry);
/* Opens the plugins of that name, of all targets; NULL: all that are there. What was opened before stays as it is.
 * Refused plugins are entries, not errors: these return an error only when memory is out. */
int sl_registry_load(struct sl_registry *registry, const char *name);
int sl_registry_load_entry(struct sl_registry *registry, size_t index);
/* Gives the open ports of what is loaded the collections of what is loaded (expand.h). Once, before algorithms are
 * taken from the registry for use: later calls leave what was expanded as it is. */
int sl_registry_expand(struct sl_registry *registry);
/* Finds the files, opens them all, and expands their open ports. */
int sl_registry_open(const char *const *extra_folders, const char *const *targets, struct sl_registry *registry);
void sl_registry_close(struct sl_registry *registry);

/* Is there no file of a plugin at all? Then sl_registry_places writes where they were looked for, and returns `text`.
 */
int sl_registry_is_empty(const struct sl_registry *registry);
const char *sl_registry_places(const struct sl_registry *registry, char *text, size_t size);

/* Checks one descriptor (`sluice test` does too): 0, or an error with `reason` filled. */
int sl_plugin_check(const struct sl_plugin *plugin, char *reason, size_t reason_size);

/* Finds "plugin.algorithm" among the loaded plugins. Kernels come from the plugin for `target`, all others from the one
 * for cpu. NULL if there is none. `entry` may be NULL. */
const struct sl_algorithm *sl_registry_find(const struct sl_registry *registry, const char *name, const char *target,
                                            const struct sl_plugin_entry **entry);
/* The present name of an algorithm that was called `name` before; else the nearest name, or NULL. */
const char *sl_registry_suggest(const struct sl_registry *registry, const char *name, char *buffer, size_t size);
/* The same, or the nearest name of a plugin or a collection. */
const char *sl_registry_suggest_any(const struct sl_registry *registry, const char *name, char *buffer, size_t size);

/* A collection's definition by name, from the loaded plugins; and two definitions compared: 0 if equal, else the first
 * difference as text. */
const struct sl_collection *sl_registry_collection(const struct sl_registry *registry, const char *name,
                                                   const struct sl_plugin_entry **entry);
int sl_collection_compare(const struct sl_collection *a, const struct sl_collection *b, char *difference, size_t size);
uint64_t sl_collection_hash(const struct sl_collection *c);

#endif
