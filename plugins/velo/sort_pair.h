/* sort_pair.h: sort of the hits of a module pair on a CPU. */
#ifndef VELO_SORT_PAIR_H
#define VELO_SORT_PAIR_H

#include "velo/event_model.h"

#ifdef SL_TARGET_CPU
enum {
  SORT_PAIR_MAX = 1024,                /* most hits of a pair for sort_pair_cpu */
  SORT_PAIR_ROOM = SORT_PAIR_MAX + 16, /* vectors also read and write entries after the last hit */
};

/* Decoded hits of a pair, in input order. */
struct velo_unsorted_hits {
  uint32_t id[SORT_PAIR_ROOM], order[SORT_PAIR_ROOM];
  int16_t phi[SORT_PAIR_ROOM];
  float x[SORT_PAIR_ROOM], y[SORT_PAIR_ROOM], z[SORT_PAIR_ROOM];
};

/* Writes `count` hits, sorted, to the hits of the slice from index `to` on. The rest up to `end` may be overwritten. */
void sort_pair_cpu(const struct velo_unsorted_hits *unsorted, uint32_t count, const struct velo_hits *hits, uint32_t to,
                   uint32_t end);
#endif

#endif
