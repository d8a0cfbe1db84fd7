/* relations.h: relations between algorithms by their input and output collections, for descriptions and completion. */
#ifndef SL_RELATIONS_H
#define SL_RELATIONS_H

#include "plugin/registry.h"

/* Iterates over the algorithms of a registry for cpu. Start with a zeroed struct. */
struct sl_walk {
  size_t entry;
  uint32_t next; /* algorithm of this entry */
  const struct sl_plugin *plugin;
  const struct sl_algorithm *algorithm;
};
int sl_walk_next(const struct sl_registry *registry, struct sl_walk *walk); /* 0 after the last one */

/* Has the algorithm a port of that kind, SL_MEMBER_IN or SL_MEMBER_OUT, with the collection? */
int sl_has_port(const struct sl_algorithm *a, uint32_t kind, const struct sl_collection *collection);

/* Does `other` have all outputs of `a`, so that `--use` can replace `a` by it? sl_next_need gives the required inputs
 * of `other` that `a` has not, one per call from *member 0 on; NULL after the last one. */
int sl_can_replace(const struct sl_algorithm *other, const struct sl_algorithm *a);
const struct sl_member *sl_next_need(const struct sl_algorithm *other, const struct sl_algorithm *a, uint32_t *member);

/* The collections of all algorithms, sorted by name, without duplicates; allocated. NULL when memory is out. */
const struct sl_collection **sl_all_collections(const struct sl_registry *registry, size_t *count);

#endif
