/* resolve.c: finds the plugin file to run a case with, and sets properties of a case. */
#include "base/nearest.h"
#include "plugin/open.h"
#include "plugin/property.h"
#include "replay/replay.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------- plugins */

static int is_file(const char *use) {
  const size_t length = strlen(use);
  return strchr(use, '/') || (length > 3 && strcmp(use + length - 3, ".so") == 0);
}

/* A file NAME.cpu.so stands for NAME.TARGET.so of the same folder. */
static int resolve_file(const char *use, const char *target, struct sl_diagnostics *d, struct replay_side *side) {
  char folder[PATH_MAX], name[PATH_MAX];
  struct sl_plugin_file parts;
  snprintf(folder, sizeof folder, "%s", use);
  snprintf(name, sizeof name, "%s", use);
  if (sl_plugin_file_parse(basename(name), &parts) < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "a plugin's file is named NAME.TARGET.so, as in velo.cpu.so",
                "%s is not a plugin file", use);
    return SL_EINVAL;
  }
  const int length = snprintf(side->path, sizeof side->path, "%s/%.*s.%s.so", dirname(folder), (int)parts.name_length,
                              parts.name, target);
  if (length < (int)sizeof side->path && access(side->path, R_OK) == 0) return SL_OK;
  sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s: %s", side->path, strerror(errno));
  return SL_EINVAL;
}

static int no_such_plugin(const struct sl_registry *registry, const char *plugin, const char *target,
                          struct sl_diagnostics *d) {
  struct sl_nearest nearest;
  char hint[256];
  sl_nearest_begin(&nearest, plugin);
  for (size_t i = 0; i < registry->entry_count; i++) sl_nearest_offer(&nearest, registry->entries[i].file_name);
  const char *best = sl_nearest_result(&nearest), *reason = sl_registry_reason(registry, plugin, SL_PLUGIN_ABSENT);
  snprintf(hint, sizeof hint, "did you mean %s?", best ? best : "");
  sl_diagnose(d, SL_ERROR, NULL, NULL,
              reason                              ? reason
              : best && strcmp(best, plugin) != 0 ? hint
                                                  : NULL,
              "there is no plugin %s for %s: name its folder with --plugin-path, or its file with --use", plugin,
              target);
  return SL_EINVAL;
}

static int resolve_name(const char *plugin, const char *target, const char *const *plugin_paths,
                        struct sl_diagnostics *d, struct replay_side *side) {
  const char *const targets[] = {target, NULL};
  struct sl_registry registry;
  const struct sl_plugin_entry *found = NULL;
  int status = sl_registry_scan(plugin_paths, targets, &registry);
  for (size_t i = 0; status == SL_OK && i < registry.entry_count && !found; i++) {
    const struct sl_plugin_entry *e = &registry.entries[i];
    if (e->status != SL_PLUGIN_HIDDEN && e->status != SL_PLUGIN_ABSENT && strcmp(e->file_name, plugin) == 0 &&
        strcmp(e->file_target, target) == 0)
      found = e;
  }
  if (found)
    snprintf(side->path, sizeof side->path, "%s", found->path);
  else if (status == SL_OK)
    status = no_such_plugin(&registry, plugin, target, d);
  sl_registry_close(&registry);
  return status;
}

int replay_resolve(const struct sl_case *c, const char *use, const char *target, const char *const *plugin_paths,
                   struct sl_diagnostics *d, struct replay_side *side) {
  const char *name = use && !is_file(use) ? use : c->algorithm;
  const char *dot = strchr(name, '.');
  char plugin[128];
  if (!dot) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "'%s' is neither a plugin file nor PLUGIN.ALGORITHM", use);
    return SL_EINVAL;
  }
  snprintf(plugin, sizeof plugin, "%.*s", (int)(dot - name), name);
  snprintf(side->algorithm, sizeof side->algorithm, "%s", dot + 1);
  snprintf(side->target, sizeof side->target, "%s", target);
  snprintf(side->name, sizeof side->name, "%s", use ? use : target);
  return use && is_file(use) ? resolve_file(use, target, d, side) : resolve_name(plugin, target, plugin_paths, d, side);
}

/* ------------------------------------------------------------------------------------------------ properties */

static int is_number(const char *text) {
  char *end = NULL;
  const double value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(value);
}

static int wrong_value(const struct sl_case_property *p, const char *value, const char *expected,
                       struct sl_diagnostics *d) {
  sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "--set: property %s is %s, not '%s'", p->name, expected, value);
  return SL_EINVAL;
}

static int set_array(struct sl_case *c, struct sl_case_property *p, const char *value, struct sl_diagnostics *d) {
  const char **items = sl_case_get(c, p->count, sizeof *items);
  const char *item, *rest = value;
  size_t length;
  uint32_t count = 0;
  if (!items) return SL_ENOMEM;
  for (rest = sl_next_item(value, &item, &length); rest; rest = sl_next_item(rest, &item, &length)) {
    char *copy = sl_case_get(c, length + 1, 1);
    if (!copy) return SL_ENOMEM;
    memcpy(copy, item, length);
    if (count == p->count || !is_number(copy)) return wrong_value(p, value, "an array of as many numbers", d);
    items[count++] = copy;
    if (*rest == ']') break;
  }
  if (count != p->count) return wrong_value(p, value, "an array of as many numbers", d);
  p->items = items;
  return SL_OK;
}

static int set_property(struct sl_case *c, struct sl_case_property *p, const char *value, struct sl_diagnostics *d) {
  if (p->text) {
    p->text = value;
    return SL_OK;
  }
  if (p->is_array) return set_array(c, p, value, d);
  const char **item = sl_case_get(c, 1, sizeof *item);
  if (!item) return SL_ENOMEM;
  const int is_true = strcmp(value, "true") == 0, is_bool = is_true || strcmp(value, "false") == 0;
  if (!is_bool && !is_number(value)) return wrong_value(p, value, "a number", d);
  *item = is_bool ? (is_true ? "1" : "0") : value;
  p->items = item;
  return SL_OK;
}

static int set_emulator(const char *key, const char *value, struct replay_settings *settings,
                        struct sl_diagnostics *d) {
  uint32_t *target = strncmp(key, "seed=", 5) == 0   ? &settings->seed
                     : strncmp(key, "warp=", 5) == 0 ? &settings->warp
                                                     : NULL;
  char *end = NULL;
  errno = 0;
  const unsigned long long number = strtoull(value, &end, 10);
  const int is_warp = target == &settings->warp;
  if (target && errno == 0 && end != value && !*end && number > 0 && number <= UINT32_MAX &&
      (!is_warp || number == 32 || number == 64)) {
    *target = (uint32_t)number;
    return SL_OK;
  }
  sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "--set simt.%s: it is simt.seed=N, or simt.warp=32 or 64", key);
  return SL_EINVAL;
}

static int no_such_property(const struct sl_case *c, const char *key, size_t length, struct sl_diagnostics *d) {
  struct sl_nearest nearest;
  char name[128], hint[256];
  snprintf(name, sizeof name, "%.*s", (int)length, key);
  sl_nearest_begin(&nearest, name);
  for (uint32_t i = 0; i < c->property_count; i++) sl_nearest_offer(&nearest, c->properties[i].name);
  const char *best = sl_nearest_result(&nearest);
  snprintf(hint, sizeof hint, "did you mean %s?", best ? best : "");
  sl_diagnose(d, SL_ERROR, NULL, NULL, best ? hint : NULL, "--set: the case has no property %s", name);
  return SL_EINVAL;
}

static int set_one(struct sl_case *c, const char *text, struct replay_settings *settings, struct sl_diagnostics *d) {
  const char *equals = strchr(text, '='), *key = text;
  const size_t node_length = strlen(c->node);
  if (!equals) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "--set needs PROPERTY=VALUE, not '%s'", text);
    return SL_EINVAL;
  }
  if (strncmp(text, "simt.", 5) == 0) return set_emulator(text + 5, equals + 1, settings, d);
  if (strncmp(text, c->node, node_length) == 0 && text[node_length] == '.') key = text + node_length + 1;
  const size_t length = (size_t)(equals - key);
  for (uint32_t i = 0; i < c->property_count; i++)
    if (strlen(c->properties[i].name) == length && strncmp(c->properties[i].name, key, length) == 0)
      return set_property(c, &c->properties[i], equals + 1, d);
  return no_such_property(c, key, length, d);
}

int replay_set(struct sl_case *c, const char *const *sets, struct replay_settings *settings, struct sl_diagnostics *d) {
  int status = SL_OK;
  for (; sets && *sets && status == SL_OK; sets++) status = set_one(c, *sets, settings, d);
  return status;
}
