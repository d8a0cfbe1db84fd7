/* registry.c: the plugins of a run. Folders are collected once, in search order, without duplicates; the files of each
 * folder are taken in ascending order. Each file becomes an entry, which is opened when its plugin is needed: it is
 * then loaded, hidden by an earlier plugin of that name and target, or refused with a reason. Functions fail only if
 * out of memory.
 */
#define _GNU_SOURCE
#include "plugin/registry.h"

#include "base/library_folder.h"
#include "plugin/expand.h"
#include "plugin/open.h"
#include "plugin/tables.h"
#include "plugin/try.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------- entries */

static void entry_free(struct sl_plugin_entry *entry) {
  if (entry->handle) dlclose(entry->handle);
  free(entry->path);
  free(entry->file_name);
  free(entry->file_target);
  free(entry->reason);
  free(entry->expanded);
}

/* Appends an entry and returns it, NULL if out of memory. The pointer is valid until the next entry is added. */
static struct sl_plugin_entry *entry_add(struct sl_registry *r, const char *path, const struct sl_plugin_file *parts) {
  struct sl_plugin_entry *entries = realloc(r->entries, (r->entry_count + 1) * sizeof(*entries));
  if (!entries) return NULL;
  r->entries = entries;
  struct sl_plugin_entry *entry = &entries[r->entry_count];
  *entry = (struct sl_plugin_entry){.status = SL_PLUGIN_UNOPENED};
  entry->path = strdup(path);
  entry->file_name = strndup(parts->name, parts->name_length);
  entry->file_target = strndup(parts->target, parts->target_length);
  if (!entry->path || !entry->file_name || !entry->file_target) {
    entry_free(entry);
    return NULL;
  }
  r->entry_count++;
  return entry;
}

static int entry_refuse(struct sl_plugin_entry *entry, const char *reason) {
  entry->status = SL_PLUGIN_REFUSED;
  entry->reason = strdup(reason);
  return entry->reason ? SL_OK : SL_ENOMEM;
}

static const struct sl_plugin_entry *find_loaded(const struct sl_registry *r, const char *name, const char *target) {
  for (size_t i = 0; i < r->entry_count; i++) {
    const struct sl_plugin_entry *e = &r->entries[i];
    if (e->status == SL_PLUGIN_LOADED && strcmp(e->file_name, name) == 0 && strcmp(e->file_target, target) == 0)
      return e;
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------------- collections */

static const struct sl_collection *plugin_collection(const struct sl_plugin *plugin, const char *name) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    for (uint32_t j = 0; j < plugin->algorithms[i]->member_count; j++) {
      const struct sl_collection *c = plugin->algorithms[i]->members[j].collection;
      if (c && strcmp(c->name, name) == 0) return c;
    }
  return NULL;
}

const struct sl_collection *sl_registry_collection(const struct sl_registry *registry, const char *name,
                                                   const struct sl_plugin_entry **entry) {
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *e = &registry->entries[i];
    const struct sl_collection *c = e->status == SL_PLUGIN_LOADED ? plugin_collection(e->plugin, name) : NULL;
    if (!c) continue;
    if (entry) *entry = e;
    return c;
  }
  return NULL;
}

/* Checks that each collection of a new plugin agrees with loaded collections of that name. Loaded ones agree with
 * each other, so the first match is enough. */
static int check_collections(const struct sl_registry *r, const struct sl_plugin *plugin, char *reason, size_t size) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    for (uint32_t j = 0; j < plugin->algorithms[i]->member_count; j++) {
      const struct sl_collection *c = plugin->algorithms[i]->members[j].collection;
      const struct sl_plugin_entry *owner = NULL;
      const struct sl_collection *known = c ? sl_registry_collection(r, c->name, &owner) : NULL;
      char difference[256];
      if (!known || !sl_collection_compare(c, known, difference, sizeof(difference))) continue;
      snprintf(reason, size, "collection %s differs between %s.%s and %s.%s: %s", c->name, plugin->name, plugin->target,
               owner->file_name, owner->file_target, difference);
      return SL_EPLUGIN;
    }
  return SL_OK;
}

/* Checks the collections of the new plugin against the open ports of loaded ones, and the reverse. */
static int check_open_ports(const struct sl_registry *r, const struct sl_plugin *plugin, char *reason, size_t size) {
  int status = sl_open_ports_check(plugin, plugin, reason, size);
  for (size_t i = 0; i < r->entry_count && status == SL_OK; i++) {
    if (r->entries[i].status != SL_PLUGIN_LOADED) continue;
    status = sl_open_ports_check(plugin, r->entries[i].plugin, reason, size);
    if (status == SL_OK) status = sl_open_ports_check(r->entries[i].plugin, plugin, reason, size);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------ folders */

/* Appends a copy of a text to a list. */
static int list_add(char ***list, size_t *count, const char *text) {
  char **longer = realloc(*list, (*count + 1) * sizeof(*longer));
  if (!longer) return SL_ENOMEM;
  *list = longer;
  longer[*count] = strdup(text);
  if (!longer[*count]) return SL_ENOMEM;
  (*count)++;
  return SL_OK;
}

/* Appends a folder unless the list contains it, also under another name. `real` is absolute. */
static int folder_add(struct sl_registry *r, const char *real) {
  for (size_t i = 0; i < r->folder_count; i++)
    if (strcmp(r->folders[i], real) == 0) return SL_OK;
  return list_add(&r->folders, &r->folder_count, real);
}

static int folder_refuse(struct sl_registry *r, const char *folder, const char *reason) {
  const struct sl_plugin_file nothing = {"", "", 0, 0};
  struct sl_plugin_entry *entry = entry_add(r, folder, &nothing);
  return entry ? entry_refuse(entry, reason) : SL_ENOMEM;
}

/* Adds a folder given by the user; a folder that cannot be read becomes a refused entry. */
static int folder_add_named(struct sl_registry *r, const char *folder) {
  char real[PATH_MAX];
  if (!realpath(folder, real)) return folder_refuse(r, folder, errno == ENOENT ? "no such folder" : strerror(errno));
  DIR *opened = opendir(real);
  if (!opened) return folder_refuse(r, folder, errno == ENOTDIR ? "not a folder" : strerror(errno));
  closedir(opened);
  return folder_add(r, real);
}

static int folders_add_environment(struct sl_registry *r) {
  const char *list = getenv("SLUICE_PLUGIN_PATH");
  if (!list) return SL_OK;
  char *copy = strdup(list), *rest = copy;
  int status = copy ? SL_OK : SL_ENOMEM;
  for (char *folder; status == SL_OK && (folder = strsep(&rest, ":"));)
    if (*folder) status = folder_add_named(r, folder);
  free(copy);
  return status;
}

/* Adds FOLDER/plugins of the build tree and FOLDER/sluice/plugins of an installation; absent ones are recorded. */
static int folders_add_sibling(struct sl_registry *r, const char *folder) {
  static const char *const places[] = {"plugins", "sluice/plugins"};
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
    char *path = NULL, real[PATH_MAX];
    if (asprintf(&path, "%s/%s", folder, places[i]) < 0) return SL_ENOMEM;
    const int status = realpath(path, real) ? folder_add(r, real) : list_add(&r->missing, &r->missing_count, path);
    free(path);
    if (status) return status;
  }
  return SL_OK;
}

static int folders_add_own(struct sl_registry *r) {
  char places[SL_LIBRARY_FOLDERS_MAX][PATH_MAX];
  const size_t count = sl_library_folders(places);
  int status = SL_OK;
  for (size_t i = 0; i < count && status == SL_OK; i++) status = folders_add_sibling(r, places[i]);
  return status;
}

/* ------------------------------------------------------------------------------------------------- files */

static int has_target(const struct sl_plugin_file *parts, const char *const *targets) {
  for (; *targets; targets++)
    if (strlen(*targets) == parts->target_length && memcmp(*targets, parts->target, parts->target_length) == 0)
      return 1;
  return 0;
}

static int entry_load(struct sl_registry *r, struct sl_plugin_entry *entry) {
  char reason[1024];
  const struct sl_plugin_entry *winner = find_loaded(r, entry->file_name, entry->file_target);
  if (winner) {
    entry->status = SL_PLUGIN_HIDDEN;
    entry->reason = strdup(winner->path);
    return entry->reason ? SL_OK : SL_ENOMEM;
  }
  const struct sl_plugin *plugin = NULL;
  const int is_tried = entry->flags & SL_PLUGIN_IS_FOREIGN && (!(entry->flags & SL_PLUGIN_IS_NAMED) || r->tries_named);
  const int status = is_tried ? sl_plugin_try(entry->path, reason, sizeof(reason)) : SL_OK;
  if (status == SL_ENOMEM) return status;
  if (status) return entry_refuse(entry, reason);
  if (sl_plugin_open(entry->path, &entry->handle, &plugin, reason, sizeof(reason))) return entry_refuse(entry, reason);
  if (check_collections(r, plugin, reason, sizeof(reason)) || check_open_ports(r, plugin, reason, sizeof(reason))) {
    dlclose(entry->handle);
    entry->handle = NULL;
    return entry_refuse(entry, reason);
  }
  entry->status = SL_PLUGIN_LOADED;
  entry->plugin = plugin;
  return SL_OK;
}

/* Compares bytes, independent of the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int has_x86_64_v4(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return 0;
#endif
}

/* Path of a file in a folder of Sluice, or of its variant for this processor. */
static void choose_file(const char *folder, const char *file, char *path, size_t size) {
  snprintf(path, size, "%s/x86-64-v4/%s", folder, file);
  if (!has_x86_64_v4() || access(path, F_OK) != 0) snprintf(path, size, "%s/%s", folder, file);
}

/* Adds an entry for NAME.TARGET.absent, with the first line of the file as the reason; ignores other files. */
static int absent_add(struct sl_registry *r, const char *folder, const char *file, const char *const *targets) {
  static const char suffix[] = ".absent";
  struct sl_plugin_file parts;
  char path[PATH_MAX + 256], name[NAME_MAX + 4], reason[512] = "";
  const size_t bytes = strlen(file);
  if (bytes <= strlen(suffix) || bytes > NAME_MAX || strcmp(file + bytes - strlen(suffix), suffix) != 0) return SL_OK;
  snprintf(name, sizeof(name), "%.*s.so", (int)(bytes - strlen(suffix)), file);
  if (sl_plugin_file_parse(name, &parts) != SL_OK || !has_target(&parts, targets)) return SL_OK;
  snprintf(path, sizeof(path), "%s/%s", folder, file);
  FILE *text = fopen(path, "re");
  if (!text || !fgets(reason, sizeof(reason), text)) snprintf(reason, sizeof(reason), "not part of this installation");
  if (text) fclose(text);
  reason[strcspn(reason, "\n")] = '\0';
  struct sl_plugin_entry *entry = entry_add(r, path, &parts);
  if (!entry || entry_refuse(entry, reason)) return SL_ENOMEM;
  entry->status = SL_PLUGIN_ABSENT;
  return SL_OK;
}

/* Adds the files of a folder without opening them. */
static int folder_scan(struct sl_registry *r, size_t index, const char *const *targets) {
  const char *folder = r->folders[index];
  struct dirent **files = NULL;
  const int count = scandir(folder, &files, NULL, compare_names);
  if (count < 0) return errno == ENOMEM ? SL_ENOMEM : folder_refuse(r, folder, strerror(errno));
  int status = SL_OK;
  for (int i = 0; i < count; i++) {
    struct sl_plugin_file parts;
    char path[PATH_MAX + 256];
    if (status == SL_OK && sl_plugin_file_parse(files[i]->d_name, &parts) == SL_OK && has_target(&parts, targets)) {
      const int is_foreign = index < r->foreign_count;
      if (is_foreign)
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
      else
        choose_file(folder, files[i]->d_name, path, sizeof(path));
      struct sl_plugin_entry *entry = entry_add(r, path, &parts);
      if (entry && is_foreign) entry->flags = SL_PLUGIN_IS_FOREIGN;
      status = entry ? SL_OK : SL_ENOMEM;
    } else if (status == SL_OK) {
      status = absent_add(r, folder, files[i]->d_name, targets);
    }
    free(files[i]);
  }
  free(files);
  return status;
}

int sl_registry_scan(const char *const *extra_folders, const char *const *targets, struct sl_registry *registry) {
  memset(registry, 0, sizeof(*registry));
  int status = SL_OK;
  for (size_t i = 0; status == SL_OK && extra_folders && extra_folders[i]; i++)
    status = folder_add_named(registry, extra_folders[i]);
  if (status == SL_OK) status = folders_add_environment(registry);
  registry->foreign_count = registry->folder_count;
  if (status == SL_OK) status = folders_add_own(registry);
  for (size_t i = 0; status == SL_OK && i < registry->folder_count; i++) status = folder_scan(registry, i, targets);
  if (status) sl_registry_close(registry);
  return status;
}

int sl_registry_load_entry(struct sl_registry *registry, size_t index) {
  struct sl_plugin_entry *entry = &registry->entries[index];
  return entry->status == SL_PLUGIN_UNOPENED ? entry_load(registry, entry) : SL_OK;
}

int sl_registry_load(struct sl_registry *registry, const char *name) {
  int status = SL_OK;
  for (size_t i = 0; status == SL_OK && i < registry->entry_count; i++)
    if (!name || strcmp(registry->entries[i].file_name, name) == 0) status = sl_registry_load_entry(registry, i);
  return status;
}

int sl_registry_expand(struct sl_registry *r) {
  struct sl_traits traits = {0};
  int status = SL_OK;
  for (size_t i = 0; i < r->entry_count && status == SL_OK; i++)
    if (r->entries[i].status == SL_PLUGIN_LOADED) status = sl_traits_add(&traits, r->entries[i].plugin);
  for (size_t i = 0; i < r->entry_count && status == SL_OK; i++) {
    struct sl_plugin_entry *e = &r->entries[i];
    if (e->status != SL_PLUGIN_LOADED || e->expanded || !sl_has_open_ports(e->plugin)) continue;
    struct sl_plugin *expanded = sl_plugin_expand(e->plugin, &traits);
    if (expanded)
      e->plugin = e->expanded = expanded;
    else
      status = SL_ENOMEM;
  }
  sl_traits_free(&traits);
  return status;
}

int sl_registry_open(const char *const *extra_folders, const char *const *targets, struct sl_registry *registry) {
  int status = sl_registry_scan(extra_folders, targets, registry);
  if (status == SL_OK) status = sl_registry_load(registry, NULL);
  if (status == SL_OK) status = sl_registry_expand(registry);
  if (status) sl_registry_close(registry);
  return status;
}

void sl_registry_close(struct sl_registry *registry) {
  for (size_t i = 0; i < registry->entry_count; i++) entry_free(&registry->entries[i]);
  for (size_t i = 0; i < registry->folder_count; i++) free(registry->folders[i]);
  for (size_t i = 0; i < registry->missing_count; i++) free(registry->missing[i]);
  free(registry->entries);
  free(registry->folders);
  free(registry->missing);
  memset(registry, 0, sizeof(*registry));
}

int sl_registry_is_empty(const struct sl_registry *registry) {
  for (size_t i = 0; i < registry->entry_count; i++)
    if (*registry->entries[i].file_name && registry->entries[i].status != SL_PLUGIN_ABSENT) return 0;
  return 1;
}

int sl_registry_has_target(const struct sl_registry *registry, const char *target) {
  for (size_t i = 0; i < registry->entry_count; i++)
    if (registry->entries[i].status != SL_PLUGIN_ABSENT && strcmp(registry->entries[i].file_target, target) == 0)
      return 1;
  return 0;
}

const char *sl_registry_reason(const struct sl_registry *registry, const char *name, uint32_t status) {
  const size_t bytes = strcspn(name, ".");
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *entry = &registry->entries[i];
    if (entry->status == status && strlen(entry->file_name) == bytes && memcmp(entry->file_name, name, bytes) == 0)
      return entry->reason;
  }
  return NULL;
}

/* Appends "PATH (remark)" to a list, truncated to the buffer. */
static void place_add(char *text, size_t size, const char *path, const char *remark) {
  const size_t length = strlen(text);
  snprintf(text + length, size - length, remark ? "%s%s (%s)" : "%s%s", length ? ", " : "", path, remark);
}

const char *sl_registry_folders(const struct sl_registry *registry, char *text, size_t size) {
  *text = '\0';
  for (size_t i = 0; i < registry->entry_count; i++)
    if (!*registry->entries[i].file_name) place_add(text, size, registry->entries[i].path, registry->entries[i].reason);
  for (size_t i = 0; i < registry->folder_count; i++) place_add(text, size, registry->folders[i], NULL);
  for (size_t i = 0; i < registry->missing_count; i++) place_add(text, size, registry->missing[i], "no such folder");
  return text;
}

/* ------------------------------------------------------------------------------------------------- names */

static const struct sl_algorithm *find_in(const struct sl_plugin_entry *entry, const char *algorithm, int kernel) {
  const int index = entry ? sl_algorithm_index(entry->plugin, algorithm) : -1;
  if (index < 0) return NULL;
  const struct sl_algorithm *a = entry->plugin->algorithms[index];
  return (a->kind == SL_KIND_KERNEL) == kernel ? a : NULL;
}

const struct sl_algorithm *sl_registry_find(const struct sl_registry *registry, const char *name, const char *target,
                                            const struct sl_plugin_entry **entry) {
  const char *dot = strchr(name, '.');
  char plugin[128];
  if (!dot || (size_t)(dot - name) >= sizeof(plugin)) return NULL;
  snprintf(plugin, sizeof(plugin), "%.*s", (int)(dot - name), name);
  const struct sl_plugin_entry *found = find_loaded(registry, plugin, target);
  const struct sl_algorithm *a = find_in(found, dot + 1, 1);
  if (!a) {
    found = find_loaded(registry, plugin, "cpu");
    a = find_in(found, dot + 1, 0);
  }
  if (a && entry) *entry = found;
  return a;
}

/* Compares a name without a plugin with the names of all algorithms. */
static void offer_algorithms(const struct sl_registry *registry, struct sl_nearest *nearest, char *buffer,
                             size_t size) {
  const int has_plugin = strchr(nearest->word, '.') != NULL;
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *e = &registry->entries[i];
    for (uint32_t j = 0; e->status == SL_PLUGIN_LOADED && j < e->plugin->algorithm_count; j++) {
      const char *algorithm = e->plugin->algorithms[j]->name;
      char full[256];
      snprintf(full, sizeof(full), "%s.%s", e->plugin->name, algorithm);
      const char *candidate = has_plugin ? full : algorithm, *before = nearest->best;
      sl_nearest_offer(nearest, candidate);
      if (nearest->best == before) continue;
      snprintf(buffer, size, "%s", full);
      nearest->best = buffer;
    }
  }
}

static void offer_collections(const struct sl_plugin *plugin, struct sl_nearest *nearest) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    for (uint32_t j = 0; j < plugin->algorithms[i]->member_count; j++) {
      const struct sl_collection *c = plugin->algorithms[i]->members[j].collection;
      if (c) sl_nearest_offer(nearest, c->name);
    }
}

/* Present name of an algorithm with the former name `name`, or NULL. */
static const char *present_name(const struct sl_registry *registry, const char *name, char *buffer, size_t size) {
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin *p = registry->entries[i].plugin;
    for (uint32_t k = 0; registry->entries[i].status == SL_PLUGIN_LOADED && k < p->former_count; k++) {
      if (strcmp(p->former_names[k].former, name) != 0) continue;
      snprintf(buffer, size, "%s.%s", p->name, p->former_names[k].algorithm);
      return buffer;
    }
  }
  return NULL;
}

const char *sl_registry_suggest(const struct sl_registry *registry, const char *name, char *buffer, size_t size) {
  if (present_name(registry, name, buffer, size)) return buffer;
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  offer_algorithms(registry, &nearest, buffer, size);
  return sl_nearest_result(&nearest);
}

const char *sl_registry_suggest_any(const struct sl_registry *registry, const char *name, char *buffer, size_t size) {
  if (present_name(registry, name, buffer, size)) return buffer;
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  offer_algorithms(registry, &nearest, buffer, size);
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *e = &registry->entries[i];
    if (e->status != SL_PLUGIN_LOADED) continue;
    sl_nearest_offer(&nearest, e->plugin->name);
    offer_collections(e->plugin, &nearest);
  }
  return sl_nearest_result(&nearest);
}
