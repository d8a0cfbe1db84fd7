/* walk.h: enumerates the pairs of n items in order, (0, 1), (0, 2) ... (1, 2) ..., or all combinations of two lists,
 * (0, 0), (0, 1) ..., one per lane of a warp at a time. */
#ifndef SELECTIONS_WALK_H
#define SELECTIONS_WALK_H

#include <sluice/kernel.h>

struct walk {
  uint32_t items, first, second; /* items: of the second list */
};

/* Number of pairs. `items` is at most 65536, which limits the VELO hits and the vertices of an event. */
static SL_DEVICE uint32_t walk_pairs(uint32_t items) { return items > 0 ? items * (items - 1) / 2 : 0; }

/* Advances by `step` pairs. After the last pair `first` and `second` are undefined. */
static SL_DEVICE void walk_on(struct walk *at, uint32_t step) {
  at->second += step;
  while (at->second >= at->items && at->first + 1 < at->items) {
    at->second = at->second - at->items + at->first + 2;
    at->first++;
  }
}

/* The first pair of this lane. */
static SL_DEVICE struct walk walk_begin(uint32_t items) {
  struct walk at = {items, 0, 1};
  walk_on(&at, sl_warp_lane());
  return at;
}

/* Combinations of two lists. After the last combination `first` and `second` are undefined. */
static SL_DEVICE SL_UNUSED void walk_on_all(struct walk *at, uint32_t step) {
  at->second += step;
  while (at->second >= at->items && at->items > 0) {
    at->second -= at->items;
    at->first++;
  }
}

static SL_DEVICE SL_UNUSED struct walk walk_begin_all(uint32_t items) {
  struct walk at = {items, 0, 0};
  walk_on_all(&at, sl_warp_lane());
  return at;
}

#endif
