/* sort_pair.h: what sorted_hits.h has of its own for a CPU. */
#ifndef VELO_SORT_PAIR_H
#define VELO_SORT_PAIR_H

#include "velo/event_model.h"

#ifdef SL_TARGET_CPU
enum {
  SORT_PAIR_MAX = 1024,                /* hits of a pair, which sort_pair_cpu takes */
  SORT_PAIR_ROOM = SORT_PAIR_MAX + 16, /* what comes after the last one may be anything, and is read and written */
};

/* Hits that are to be sorted, as they come. */
struct velo_places {
  uint32_t id[SORT_PAIR_ROOM], order[SORT_PAIR_ROOM];
  int16_t phi[SORT_PAIR_ROOM];
  float x[SORT_PAIR_ROOM], y[SORT_PAIR_ROOM], z[SORT_PAIR_ROOM];
};

/* Sorts `count` hits to those of the slice from `to` on. May write anything to the hits from there to `end`. */
void sort_pair_cpu(const struct velo_places *places, uint32_t count, const struct velo_hits *hits, uint32_t to,
                   uint32_t end);
#endif

#endif
