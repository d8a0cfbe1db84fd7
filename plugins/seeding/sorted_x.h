/* sorted_x.h: places among numbers that ascend: the x of hits in a zone and in each of its windows, of groups of the
 * UT, and the y of the hits of a group. */
#ifndef SEEDING_SORTED_X_H
#define SEEDING_SORTED_X_H

#include <sluice/kernel.h>

/* The first place of [begin, end) whose x is not below the limit, or end. */
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

/* The first whose x is above it, or end. */
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
