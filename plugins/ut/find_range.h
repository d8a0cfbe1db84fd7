/* find_range.h: search for the range that contains a number, among adjacent ranges. */
#ifndef UT_FIND_RANGE_H
#define UT_FIND_RANGE_H

#include <sluice/kernel.h>

/* Index of the last of `count` ranges with first[index] <= i; i < first[count]. If the block is one thread, its calls
 * have ascending i and the search starts from `last`, the result of the previous call. */
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
