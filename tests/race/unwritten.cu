/* unwritten.cu: kernels that read memory that was not written. */
#include "zoo.h"

#define UNWRITTEN_KERNELS(F) \
  F(unwritten_shared)        \
  F(unwritten_launch)        \
  F(unwritten_scratch)       \
  F(unwritten_output)        \
  F(unwritten_tail)          \
  F(unwritten_item)

#define unwritten_args       zoo_args
#define UNWRITTEN_CHOICES(F) UNWRITTEN_KERNELS(F) F(unwritten_half) F(unwritten_count)
ZOO_MEMBERS(unwritten, UNWRITTEN_CHOICES);

#if !defined(SL_TARGET_CPU)
/* The bins are never set to 0. */
ZOO_KERNEL(unwritten_shared) {
  __shared__ uint32_t bins[16];
  SL_FOR_EVENTS (event, a.events) {
    atomicAdd(&bins[threadIdx.x % 16], 1u); /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = bins[3];
    __syncthreads();
  }
}

/* As above, in the shared memory of the launch. */
ZOO_KERNEL(unwritten_launch) {
  uint32_t *bins = (uint32_t *)sl_shared_memory();
  SL_FOR_EVENTS (event, a.events) {
    atomicAdd(&bins[threadIdx.x % 16], 1u); /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = bins[3];
    __syncthreads();
  }
}

ZOO_KERNEL(unwritten_scratch) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = a.scratch[event * ZOO_SCRATCH]; /* RACE */
}

/* Adds to an output that was not set to 0. */
ZOO_KERNEL(unwritten_output) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] += ZOO_COUNT(event); /* RACE */
}

/* Reads past the numbers of the last event: the capacity includes these items, but they are not written. */
ZOO_KERNEL(unwritten_tail) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t k = threadIdx.x; k < 96; k += blockDim.x) sum += a.numbers.value[ZOO_BEGIN(event) + k]; /* RACE */
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Writes every second item, and reads all of them. */
ZOO_KERNEL(unwritten_item) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t i = ZOO_BEGIN(event) + threadIdx.x / 2;
    if (threadIdx.x % 4 == 0) a.copies.tag[i] = a.numbers.tag[i];
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(a.copies.tag[i]); /* RACE */
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Writes half of the counts; another kernel, or the scan, reads all of them. */
ZOO_KERNEL(write_half) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0 && event % 2 == 0) a.scratch[event] = ZOO_COUNT(event);
}
ZOO_KERNEL(read_all) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = a.scratch[event]; /* RACE unwritten_half */
}

static int run_half(const struct sl_launch *l, const struct zoo_args *a) {
  int status = SL_LAUNCH(l, write_half, SL_PER_EVENT, *a);
  if (status == SL_OK && a->kernel == ZOO_unwritten_half) status = SL_LAUNCH(l, read_all, SL_PER_EVENT, *a);
  if (status == SL_OK && a->kernel == ZOO_unwritten_count) status = l->scan(l, a->scratch, NULL);
  return status;
}
#endif

ZOO_RUN_THEN(unwritten, UNWRITTEN_KERNELS, run_half(l, a));
