/* walk.h: the pairs of n things in order, (0, 1), (0, 2) ... (1, 2) ..., dealt out to the threads of a warp. */
#ifndef SELECTIONS_WALK_H
#define SELECTIONS_WALK_H

#include <sluice/kernel.h>

struct walk {
  uint32_t things, first, second;
};

/* How many pairs there are. `things` is 65536 at most: an event has fewer hits in the VELO, and no more vertices. */
static SL_DEVICE uint32_t walk_pairs(uint32_t things) { return things > 0 ? things * (things - 1) / 2 : 0; }

/* To the pair that comes `step` after it; past the last one `first` and `second` mean nothing. */
static SL_DEVICE void walk_on(struct walk *at, uint32_t step) {
  at->second += step;
  while (at->second >= at->things && at->first + 1 < at->things) {
    at->second = at->second - at->things + at->first + 2;
    at->first++;
  }
}

/* The first pair of this thread. */
static SL_DEVICE struct walk walk_begin(uint32_t things) {
  struct walk at = {things, 0, 1};
  walk_on(&at, sl_warp_lane());
  return at;
}

#endif
