/* relations.h: how algorithms hang together by what they make and take: for descriptions and completion. */
#ifndef SL_RELATIONS_H
#define SL_RELATIONS_H

#include "plugin/registry.h"

/* All algorithms of a registry, each once, as they are for cpu. Begin with zeros. */
struct sl_walk {
  size_t entry;
  uint32_t next; /* algorithm of that entry */
  const struct sl_plugin *plugin;
  const struct sl_algorithm *algorithm;
};
int sl_walk_next(const struct sl_registry *registry, struct sl_walk *walk); /* 0: there are no more */

/* Has the algorithm a port of that kind, SL_MEMBER_IN or SL_MEMBER_OUT, with the collection? */
int sl_has_port(const struct sl_algorithm *a, uint32_t kind, const struct sl_collection *collection);

/* Does `other` offer all that `a` does, so that `--use` can put it in its place? That the graph has what `other` needs
 * is another question: then sl_next_need, from *member 0 on, gives the required inputs that `a` does without; NULL:
 * there are no more. */
int sl_can_replace(const struct sl_algorithm *other, const struct sl_algorithm *a);
const struct sl_member *sl_next_need(const struct sl_algorithm *other, const struct sl_algorithm *a, uint32_t *member);

/* The collections of all algorithms, sorted by name, each once; allocated. NULL when memory is out. */
const struct sl_collection **sl_all_collections(const struct sl_registry *registry, size_t *count);

#endif
