/* sort_by_phi.h: what velo.sort_by_phi has of its own for a CPU. */
#ifndef VELO_SORT_BY_PHI_H
#define VELO_SORT_BY_PHI_H

#include "velo/event_model.h"

#ifdef SL_TARGET_CPU
enum { SORT_PAIR_MAX = 1024 }; /* clusters of a pair, which sort_pair_cpu takes */

/* Sorts clusters [from, from + count) of the slice to the hits from `to` on. May write anything to the hits from there
 * to `end`. */
void sort_pair_cpu(const struct velo_clusters_view *clusters, uint32_t from, uint32_t count,
                   const struct velo_hits *hits, uint32_t to, uint32_t end);
#endif

#endif
