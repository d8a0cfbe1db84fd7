/* sorted_x.h: bisection of ascending numbers: x of the hits of a zone, x of UT sector groups, y of the hits of a group.
 */
#ifndef SEEDING_SORTED_X_H
#define SEEDING_SORTED_X_H

#include <sluice/kernel.h>

/* The first index of [begin, end) with x >= limit, or end. */
static SL_DEVICE uint32_t seeding_first_from(const float *x, uint32_t begin, uint32_t end, float limit) {
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (x[middle] < limit)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/* The first index of [begin, end) with x > limit, or end. */
static SL_DEVICE uint32_t seeding_first_above(const float *x, uint32_t begin, uint32_t end, float limit) {
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (x[middle] <= limit)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

#endif
