/* relations.c: see relations.h. Collections are compared by name: the registry refuses plugins that define one
 * differently. */
#include "report/relations.h"

#include <stdlib.h>
#include <string.h>

int sl_walk_next(const struct sl_registry *registry, struct sl_walk *walk) {
  for (; walk->entry < registry->entry_count; walk->entry++, walk->next = 0) {
    const struct sl_plugin_entry *e = &registry->entries[walk->entry];
    if (e->status != SL_PLUGIN_LOADED || strcmp(e->file_target, "cpu") != 0) continue;
    if (walk->next == e->plugin->algorithm_count) continue;
    walk->plugin = e->plugin;
    walk->algorithm = e->plugin->algorithms[walk->next++];
    return 1;
  }
  return 0;
}

static int is_port(const struct sl_member *m, uint32_t kind, const struct sl_collection *collection) {
  return m->kind == kind && strcmp(m->collection->name, collection->name) == 0;
}

int sl_has_port(const struct sl_algorithm *a, uint32_t kind, const struct sl_collection *collection) {
  for (uint32_t m = 0; m < a->member_count; m++)
    if (is_port(&a->members[m], kind, collection)) return 1;
  return 0;
}

/* Has it a port with the same collection and name? Graphs refer to NODE.PORT. */
static int has_same_port(const struct sl_algorithm *a, const struct sl_member *port) {
  for (uint32_t m = 0; m < a->member_count; m++)
    if (is_port(&a->members[m], port->kind, port->collection) && strcmp(a->members[m].name, port->name) == 0) return 1;
  return 0;
}

static int has_same_ports(const struct sl_algorithm *a, const struct sl_algorithm *of, uint32_t kind) {
  for (uint32_t m = 0; m < of->member_count; m++)
    if (of->members[m].kind == kind && !has_same_port(a, &of->members[m])) return 0;
  return 1;
}

static uint32_t port_count(const struct sl_algorithm *a, uint32_t kind) {
  uint32_t count = 0;
  for (uint32_t m = 0; m < a->member_count; m++) count += a->members[m].kind == kind;
  return count;
}

/* Do two sinks, which have no outputs, take the same inputs? */
static int takes_same_inputs(const struct sl_algorithm *a, const struct sl_algorithm *b) {
  if (a->kind != SL_KIND_SINK || a->sink->takes_outputs != b->sink->takes_outputs) return 0;
  return has_same_ports(a, b, SL_MEMBER_IN) && has_same_ports(b, a, SL_MEMBER_IN);
}

/* A source that takes a feed cannot run in the command, and the runtime chooses it if there is a feed. */
int sl_can_replace(const struct sl_algorithm *other, const struct sl_algorithm *a) {
  if (other == a || other->kind != a->kind || other->takes_feed) return 0;
  return port_count(a, SL_MEMBER_OUT) > 0 ? has_same_ports(other, a, SL_MEMBER_OUT) : takes_same_inputs(other, a);
}

const struct sl_member *sl_next_need(const struct sl_algorithm *other, const struct sl_algorithm *a, uint32_t *member) {
  while (*member < other->member_count) {
    const struct sl_member *m = &other->members[(*member)++];
    const uint32_t may_be_absent = SL_FLAG_OPTIONAL | SL_FLAG_AUTO | SL_FLAG_LIST | SL_FLAG_OPENED;
    if (m->kind == SL_MEMBER_IN && !(m->flags & may_be_absent) && !sl_has_port(a, SL_MEMBER_IN, m->collection))
      return m;
  }
  return NULL;
}

static int by_name(const void *a, const void *b) {
  const struct sl_collection *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

const struct sl_collection **sl_all_collections(const struct sl_registry *registry, size_t *count) {
  size_t members = 0, found = 0, kept = 0;
  for (struct sl_walk walk = {0}; sl_walk_next(registry, &walk);) members += walk.algorithm->member_count;
  const struct sl_collection **all = calloc(members + 1, sizeof *all);
  if (!all) return NULL;
  for (struct sl_walk walk = {0}; sl_walk_next(registry, &walk);)
    for (uint32_t m = 0; m < walk.algorithm->member_count; m++) {
      const struct sl_member *port = &walk.algorithm->members[m];
      if (port->kind == SL_MEMBER_IN || port->kind == SL_MEMBER_OUT) all[found++] = port->collection;
    }
  qsort(all, found, sizeof *all, by_name);
  for (size_t i = 0; i < found; i++)
    if (kept == 0 || by_name(&all[kept - 1], &all[i]) != 0) all[kept++] = all[i];
  *count = kept;
  return all;
}
