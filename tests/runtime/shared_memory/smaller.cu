/* smaller.cu: selects the numbers that are smaller than the number at the mirrored index of the event. The numbers of
 * an event are at the end of the shared memory that the launch requests. */
#include "shared_memory.h"

#include <sluice/kernel.h>

#define SL_ARGS smaller_args
#define SMALLER(M)                                                                              \
  M(IN, numbers, smaller_numbers, "", "any")                                                    \
  M(OUT, selected, smaller_numbers, "in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(numbers)))) \
  M(U32, shared_bytes, 4096, 0, 4294967292.0, "bytes", "shared memory of a block, a multiple of 4")
SL_ARGUMENTS(smaller, SMALLER);

static SL_DEVICE const uint32_t *stage(const struct smaller_args *a, uint32_t first, uint32_t count) {
  uint32_t *staged = (uint32_t *)sl_shared_memory() + a->shared_bytes / sizeof(uint32_t) - count;
  __syncthreads(); /* after the last reads of the event before */
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) staged[i] = a->numbers.value[first + i];
  __syncthreads();
  return staged;
}

SL_KERNEL_ANY_BLOCK(smaller_count, struct smaller_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.numbers.offsets[event], count = a.numbers.offsets[event + 1] - first;
    const uint32_t *staged = stage(&a, first, count);
    uint32_t selected = 0;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) selected += staged[i] < staged[count - 1 - i] ? 1u : 0u;
    selected = sl_block_sum_u32(selected);
    if (threadIdx.x == 0) a.selected.offsets[event] = selected;
  }
}

SL_KERNEL_ANY_BLOCK(smaller_write, struct smaller_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.numbers.offsets[event], count = a.numbers.offsets[event + 1] - first;
    const uint32_t *staged = stage(&a, first, count);
    uint32_t *values = a.selected.value + a.selected.offsets[event];
    uint32_t length = 0;
    SL_FOR_BLOCK (i, count) {
      const uint32_t is_smaller = i < count && staged[i] < staged[count - 1 - i] ? 1u : 0u;
      const uint32_t at = sl_block_append(is_smaller, &length);
      if (is_smaller) values[at] = staged[i];
    }
  }
}

static int run(const struct sl_launch *l, const struct smaller_args *a) {
  const struct sl_grid grid = sl_grid_with_shared(SL_PER_EVENT, a->shared_bytes);
  const int status = SL_COUNT_SCAN(l, smaller_count, grid, a->selected.offsets, &a->selected.bound, *a);
  return status == SL_OK ? SL_LAUNCH(l, smaller_write, grid, *a) : status;
}
SL_ALGORITHM(smaller, "numbers smaller than their mirror image", 64, run);
