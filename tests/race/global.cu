/* global.cu: kernels with races of threads or blocks in fields. */
#include "zoo.h"

#define GLOBAL_KERNELS(F) \
  F(field_increment)      \
  F(blocks_one_item)      \
  F(neighbour_item)       \
  F(written_twice)        \
  F(neighbour_event)      \
  F(last_block)           \
  F(common_scratch)       \
  F(atomic_and_plain)     \
  F(overlapping_events)

#define global_args zoo_args
ZOO_MEMBERS(global, GLOBAL_KERNELS);

#if !defined(SL_TARGET_CPU)
/* Each thread adds without an atomic. */
ZOO_KERNEL(field_increment) {
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) a.sums.total[event] = 0;
    __syncthreads();
    a.sums.total[event]++; /* RACE */
    __syncthreads();
  }
}

/* Every block writes the first item. */
ZOO_KERNEL(blocks_one_item) {
  if (threadIdx.x == 0) a.sums.total[0] = blockIdx.x + 1; /* RACE */
}

/* Reads the copy that another thread writes. */
ZOO_KERNEL(neighbour_item) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = ZOO_BEGIN(event), i = begin + threadIdx.x % 40;
    uint32_t sum = 0;
    if (threadIdx.x < 40) a.copies.value[i] = a.numbers.value[i];         /* RACE */
    if (threadIdx.x < 40 && threadIdx.x > 0) sum = a.copies.value[i - 1]; /* RACE */
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Two threads write different values to one item. */
ZOO_KERNEL(written_twice) {
  SL_FOR_EVENTS (event, a.events) a.copies.value[ZOO_BEGIN(event) + threadIdx.x / 2] = threadIdx.x; /* RACE */
}

/* Reads what another block may not have written yet. */
ZOO_KERNEL(neighbour_event) {
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) a.sums.total[event] = ZOO_COUNT(event);                                  /* RACE */
    if (threadIdx.x == 0 && event > 0) a.copies.value[ZOO_BEGIN(event)] = a.sums.total[event - 1]; /* RACE */
  }
}

/* The last block reads values of other blocks. The atomic finds the last block, but orders no other memory access. */
ZOO_KERNEL(last_block) {
  if (threadIdx.x != 0) return;
  SL_FOR_EVENTS (event, a.events) a.sums.total[event] = ZOO_COUNT(event); /* RACE */
  const uint32_t before = (uint32_t)atomicAdd((sl_atomic_u64 *)&a.events.errors[0], (sl_atomic_u64)0);
  uint32_t sum = before;
  if (blockIdx.x == gridDim.x - 1)
    for (uint32_t e = 0; e < *a.events.count; e++) sum += a.sums.total[e]; /* RACE */
  if (sum == 12345678) a.copies.value[0] = sum;
}

/* Scratch exists once per launch, not once per block. */
ZOO_KERNEL(common_scratch) {
  SL_FOR_EVENTS (event, a.events) {
    a.scratch[threadIdx.x] = event; /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = a.scratch[1]; /* RACE */
    __syncthreads();
  }
}

/* One thread adds without an atomic, the others with one. */
ZOO_KERNEL(atomic_and_plain) {
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) a.sums.total[event] = 0;
    __syncthreads();
    if (threadIdx.x == 63)
      a.sums.total[event] += 2; /* RACE */
    else
      atomicAdd(&a.sums.total[event], 1u); /* RACE */
    __syncthreads();
  }
}

/* The block of each event also writes the first item of the next event. */
ZOO_KERNEL(overlapping_events) {
  SL_FOR_EVENTS (event, a.events)
    for (uint32_t k = threadIdx.x; k <= ZOO_COUNT(event) && event + 1 < *a.events.count; k += blockDim.x)
      a.copies.value[ZOO_BEGIN(event) + k] = event; /* RACE */
}
#endif
ZOO_RUN(global, GLOBAL_KERNELS);
