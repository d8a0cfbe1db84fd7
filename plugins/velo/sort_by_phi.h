/* sort_by_phi.h: what the versions of velo.sort_by_phi share. */
#ifndef VELO_SORT_BY_PHI_H
#define VELO_SORT_BY_PHI_H

#include "velo/event_model.h"

#include <sluice/plugin.h>

struct sort_by_phi_args {
  struct sl_events events;
  struct velo_clusters_view clusters;
  struct velo_hits hits;
};

#ifdef SL_TARGET_CPU
/* Sorts the `count` clusters of a module pair, from `from` on in the slice, to the hits from `to` on. */
void sort_by_phi_pair_cpu(const struct sort_by_phi_args *a, uint32_t from, uint32_t to, uint32_t count);
#endif

#endif
