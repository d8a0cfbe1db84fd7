/* find_range.h: which of some ranges, which follow one another, a number is in. */
#ifndef UT_FIND_RANGE_H
#define UT_FIND_RANGE_H

#include <sluice/kernel.h>

/* The last of `count` ranges that does not begin after i, which is below first[count]. A thread alone asks for numbers
 * in ascending order: it goes on from the range of the one before, `last`. */
static SL_DEVICE uint32_t ut_find_range(const uint32_t *first, uint32_t count, uint32_t i, uint32_t last) {
  if (blockDim.x == 1) {
    while (first[last + 1] <= i) last++;
    return last;
  }
  uint32_t begin = 0, end = count;
  while (end - begin > 1) {
    const uint32_t middle = (begin + end) / 2;
    if (first[middle] <= i)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

#endif
