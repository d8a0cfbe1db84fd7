/* sums.cu: sums the parts of each item. */
#include "lists.h"

#include <sluice/kernel.h>

#define SL_ARGS sums_args
#define SUMS(M)                                                      \
  M(IN, lists, lists, "", "items")                                   \
  M(OUT, sums, lists_sums, "of all items", SL_SHARES_OFFSETS(lists)) \
  M(U32, times, 1, 0, 1000000, "", "factor of all sums")
SL_ARGUMENTS(sums, SUMS);

SL_KERNEL(sums_add, struct sums_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.lists.offsets[event + 1];
    for (uint32_t i = a.lists.offsets[event] + threadIdx.x; i < end; i += blockDim.x) {
      float sum = 0;
      for (uint32_t p = a.lists.part_offsets[i]; p < a.lists.part_offsets[i + 1]; p++) sum += a.lists.part[p];
      a.sums.sum[i] = sum * a.lists.weight[i] * (float)a.times;
    }
    if (threadIdx.x == 0) a.sums.id[event] = a.lists.id[event];
  }
}

static int run(const struct sl_launch *l, const struct sums_args *a) {
  return SL_LAUNCH(l, sums_add, SL_PER_EVENT, *a);
}
SL_ALGORITHM(sums, "sums of parts", 64, run);
