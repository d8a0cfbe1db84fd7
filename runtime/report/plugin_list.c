/* plugin_list.c: the plugins found, their algorithms and their collections, as lists of one line each. A plugin is one
 * line, with the targets that it has a file for. Everything is read from the plugins' tables.
 */
#include "base/locale.h"
#include "base/nearest.h"
#include "base/processor.h"
#include "report/describe.h"
#include "report/relations.h"

#include <sluice/sluice.h>
#include <sluice/text.h>

#include <stdlib.h>
#include <string.h>

enum { TARGETS_BYTES = 64 };

/* The entries of a registry, sorted. */
struct entries {
  const struct sl_plugin_entry **at;
  size_t count;
};

static int is_loaded(const struct sl_plugin_entry *e) { return e->status == SL_PLUGIN_LOADED; }

static int target_index(const char *target) {
  int i = 0;
  while (sl_all_targets[i] && strcmp(sl_all_targets[i], target) != 0) i++;
  return i;
}

/* By status; loaded plugins by name and version, then in the order of sl_all_targets; other files by path. */
static int by_plugin(const void *a, const void *b) {
  const struct sl_plugin_entry *x = *(const struct sl_plugin_entry *const *)a;
  const struct sl_plugin_entry *y = *(const struct sl_plugin_entry *const *)b;
  if (x->status != y->status) return x->status < y->status ? -1 : 1;
  if (!is_loaded(x)) return strcmp(x->path, y->path);
  int order = strcmp(x->plugin->name, y->plugin->name);
  if (order == 0) order = strcmp(x->plugin->version, y->plugin->version);
  return order ? order : target_index(x->plugin->target) - target_index(y->plugin->target);
}

/* Opens the plugins of all targets and sorts them. After an error there is nothing to close. */
static int open_sorted(const char *const *plugin_paths, struct sl_registry *r, struct entries *sorted) {
  *r = (struct sl_registry){0};
  const int status = sl_registry_open(plugin_paths, sl_all_targets, r);
  if (status < 0) return status;
  *sorted = (struct entries){calloc(r->entry_count + 1, sizeof *sorted->at), r->entry_count};
  if (!sorted->at) {
    sl_registry_close(r);
    return SL_ENOMEM;
  }
  for (size_t i = 0; i < r->entry_count; i++) sorted->at[i] = &r->entries[i];
  qsort(sorted->at, sorted->count, sizeof *sorted->at, by_plugin);
  return SL_OK;
}

static void close_sorted(struct sl_registry *r, struct entries *sorted) {
  free(sorted->at);
  sl_registry_close(r);
}

/* The end of the entries, from `first` on, that are one plugin with different targets. */
static size_t end_of_plugin(const struct entries *sorted, size_t first) {
  const struct sl_plugin *plugin = sorted->at[first]->plugin;
  size_t end = first;
  while (end < sorted->count && is_loaded(sorted->at[end]) &&
         strcmp(sorted->at[end]->plugin->name, plugin->name) == 0 &&
         strcmp(sorted->at[end]->plugin->version, plugin->version) == 0)
    end++;
  return end;
}

static int has_algorithm(const struct sl_plugin *plugin, const char *name) {
  for (uint32_t a = 0; a < plugin->algorithm_count; a++)
    if (strcmp(plugin->algorithms[a]->name, name) == 0) return 1;
  return 0;
}

/* "cpu simt": the targets of these entries; with `algorithm`, only targets with this algorithm. */
static const char *targets_of(const struct entries *sorted, size_t first, size_t end, const char *algorithm,
                              char text[TARGETS_BYTES]) {
  size_t used = 0;
  *text = '\0';
  for (size_t i = first; i < end && used < TARGETS_BYTES; i++)
    if (!algorithm || has_algorithm(sorted->at[i]->plugin, algorithm))
      used +=
          (size_t)snprintf(text + used, TARGETS_BYTES - used, "%s%s", used ? " " : "", sorted->at[i]->plugin->target);
  return text;
}

static void write_plugin(const struct entries *sorted, size_t first, size_t end, FILE *file) {
  char targets[TARGETS_BYTES];
  const struct sl_plugin *plugin = sorted->at[first]->plugin;
  uint32_t count = plugin->algorithm_count;
  for (size_t i = first; i < end; i++)
    if (sorted->at[i]->plugin->algorithm_count > count) count = sorted->at[i]->plugin->algorithm_count;
  fprintf(file, "%-12s %-7s %-13s %3u %-10s  %s\n", plugin->name, plugin->version,
          targets_of(sorted, first, end, NULL, targets), count, sl_plural(count, "algorithm", "algorithms"),
          plugin->doc);
}

static void write_searched(const struct sl_registry *r, FILE *file) {
  char folders[4096];
  if (sl_registry_is_empty(r)) {
    fprintf(file, "no plugins found; looked for in %s\n", sl_registry_folders(r, folders, sizeof folders));
    return;
  }
  fprintf(file, "searched:");
  for (size_t i = 0; i < r->folder_count; i++) fprintf(file, " %s", r->folders[i]);
  fprintf(file, "\n");
}

int sl_write_plugin_list(const char *const *plugin_paths, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_registry r;
  struct entries sorted;
  const int status = open_sorted(plugin_paths, &r, &sorted);
  if (status < 0) return status;
  for (size_t i = 0, end; i < sorted.count; i = end) {
    const struct sl_plugin_entry *e = sorted.at[i];
    end = is_loaded(e) ? end_of_plugin(&sorted, i) : i + 1;
    if (is_loaded(e))
      write_plugin(&sorted, i, end, file);
    else if (e->status == SL_PLUGIN_HIDDEN)
      fprintf(file, "hidden: %s\n    by %s\n", e->path, e->reason ? e->reason : "");
    else if (e->status == SL_PLUGIN_ABSENT)
      fprintf(file, "%-12s absent: %s\n", e->file_name, e->reason);
    else
      fprintf(file, "refused: %s\n    %s\n", e->path, e->reason ? e->reason : "");
  }
  write_searched(&r, file);
  close_sorted(&r, &sorted);
  return SL_OK;
}

/* The algorithms of one plugin; one that only the file of a later target has stands after the others. */
static void write_algorithms(const struct entries *sorted, size_t first, size_t end, FILE *file) {
  for (size_t i = first; i < end; i++) {
    const struct sl_plugin *plugin = sorted->at[i]->plugin;
    for (uint32_t a = 0; a < plugin->algorithm_count; a++) {
      const struct sl_algorithm *algorithm = plugin->algorithms[a];
      char name[256], targets[TARGETS_BYTES];
      int is_listed = 0;
      for (size_t k = first; k < i; k++) is_listed |= has_algorithm(sorted->at[k]->plugin, algorithm->name);
      if (is_listed) continue;
      snprintf(name, sizeof name, "%s.%s", plugin->name, algorithm->name);
      fprintf(file, "%-32s %-8s  %-13s  %s\n", name, sl_kind_name(algorithm->kind),
              targets_of(sorted, first, end, algorithm->name, targets), algorithm->doc);
    }
  }
}

/* Name, version and description, then the file of each target. */
static void write_files(const struct entries *sorted, size_t first, size_t end, FILE *file) {
  const struct sl_plugin *plugin = sorted->at[first]->plugin;
  fprintf(file, "%s %s: %s\n", plugin->name, plugin->version, plugin->doc);
  for (size_t i = first; i < end; i++)
    fprintf(file, "  %-4s  %s\n", sorted->at[i]->plugin->target, sorted->at[i]->path);
}

/* Of "PLUGIN.ALGORITHM" the nearest plugin is that of the name before the point. */
static int refuse_plugin(const struct sl_registry *r, const struct entries *sorted, const char *name,
                         struct sl_diagnostics *d) {
  const char *absence = sl_registry_reason(r, name, SL_PLUGIN_ABSENT);
  if (absence) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "there is no '%s': the plugin is absent: %s", name, absence);
    return SL_EINVAL;
  }
  char plugin[128], hint[192];
  struct sl_nearest nearest;
  snprintf(plugin, sizeof plugin, "%.*s", (int)strcspn(name, "."), name);
  sl_nearest_begin(&nearest, plugin);
  for (size_t i = 0; i < sorted->count; i++)
    if (is_loaded(sorted->at[i])) sl_nearest_offer(&nearest, sorted->at[i]->plugin->name);
  const char *best = sl_nearest_result(&nearest);
  snprintf(hint, sizeof hint, best ? "did you mean %s?" : "`sluice list` shows the plugins found", best);
  sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "there is no plugin '%s'", name);
  return SL_EINVAL;
}

SL_ANY_PROCESSOR int sl_write_algorithm_list(const char *const *plugin_paths, const char *plugin,
                                             struct sl_diagnostics *d, FILE *file) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_registry r;
  struct entries sorted;
  int status = open_sorted(plugin_paths, &r, &sorted);
  if (status < 0) return status;
  int is_found = !plugin;
  for (size_t i = 0, end; i < sorted.count && is_loaded(sorted.at[i]); i = end) {
    end = end_of_plugin(&sorted, i);
    if (plugin && strcmp(sorted.at[i]->plugin->name, plugin) != 0) continue;
    is_found = 1;
    if (plugin) write_files(&sorted, i, end, file);
    write_algorithms(&sorted, i, end, file);
  }
  if (!is_found) status = refuse_plugin(&r, &sorted, plugin, d);
  close_sorted(&r, &sorted);
  return status;
}

int sl_write_collection_list(const char *const *plugin_paths, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_registry r = {0};
  size_t count;
  const int status = sl_registry_open(plugin_paths, sl_all_targets, &r);
  if (status < 0) return status;
  const struct sl_collection **all = sl_all_collections(&r, &count);
  for (size_t i = 0; all && i < count; i++) fprintf(file, "%-32s %s\n", all[i]->name, all[i]->doc);
  free(all);
  sl_registry_close(&r);
  return all ? SL_OK : SL_ENOMEM;
}
