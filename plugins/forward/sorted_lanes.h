/* sorted_lanes.h: places among the x of hits, as in sorted_x.h, for eight at a time. For versions shaped for the CPU.
 */
#ifndef FORWARD_SORTED_LANES_H
#define FORWARD_SORTED_LANES_H

#include <sluice/vectors.h>

/* In each lane `count` hits from `first` on, and a place that is looked for. Where there are none, `first` is still one
 * that can be read. */
struct sorted_lanes {
  i32x8 first, count;
  f32x8 place;
};

/* For each of the searches where the first hit is that is not before the place, or, where its bit in `beyond` is set,
 * the first one behind the place. They are done side by side, so that loads of one do not wait for those of another,
 * and all lanes make the same steps. `most`: the largest count. */
VECTOR_INLINE void forward_bisect_lanes(const float *x, const struct sorted_lanes *searches, uint32_t count,
                                        uint32_t beyond, uint32_t most, i32x8 *found) {
  i32x8 size[16];
#pragma GCC unroll 16
  for (uint32_t k = 0; k < count; k++) {
    found[k] = searches[k].first;
    size[k] = searches[k].count;
  }
  for (; most > 1; most -= most / 2) {
#pragma GCC unroll 16
    for (uint32_t k = 0; k < count; k++) {
      const i32x8 half = size[k] >> 1;
      const f32x8 tried = f32x8_gather(x, found[k] + half);
      found[k] += (beyond >> k & 1 ? tried <= searches[k].place : tried < searches[k].place) & half;
      size[k] -= half;
    }
  }
#pragma GCC unroll 16
  for (uint32_t k = 0; k < count; k++) {
    const f32x8 tried = f32x8_gather(x, found[k]);
    const i32x8 is_before = beyond >> k & 1 ? tried <= searches[k].place : tried < searches[k].place;
    found[k] -= is_before & (searches[k].count > 0);
  }
}

#endif
