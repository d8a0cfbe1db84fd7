/* faulty.cu: kernels that are correct on cpu, as a block of one thread, and wrong on a GPU. One has no fault, for
 * comparison. Each makes a number of an event and its items 0..FAULTY_ITEMS-1. */
#include "faults.h"

#include <sluice/kernel.h>

#define SL_ARGS faulty_args
static const struct sl_member faulty_members[] = {
    SL_EVENTS(),
    SL_OUT(sums, faulty_sums, "sums"),
    SL_SCRATCH(list, u32, "items in some order", SL_ONE(SL_EVENTS_TERM(FAULTY_ITEMS, 0))),
    SL_U32(fault, 0, 0, SIMT_FAULT_COUNT - 1, "", "which kernel"),
};
#undef SL_ARGS

static SL_DEVICE uint32_t item_value(uint32_t event, uint32_t item) { return event * 1000003u + item * item; }

SL_KERNEL(correct, struct faulty_args) {
  __shared__ uint32_t sum;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) atomicAdd(&sum, item_value(event, i));
    __syncthreads();
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* A thread reads a value that another thread may not have written yet. */
SL_KERNEL(missing_barrier, struct faulty_args) {
  __shared__ uint32_t staged[FAULTY_ITEMS];
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) staged[i] = item_value(event, i);
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) sum += staged[FAULTY_ITEMS - 1 - i];
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* Thread 0 may begin the next event before the last thread has read the sum of this one. */
SL_KERNEL(missing_last_barrier, struct faulty_args) {
  __shared__ uint32_t sum;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) atomicAdd(&sum, item_value(event, i));
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) a.sums.value[event] = sum;
  }
}

/* Two barriers where there must be one. */
SL_KERNEL(divergent_barrier, struct faulty_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) sum += item_value(event, i);
    if (threadIdx.x < 32)
      __syncthreads();
    else
      __syncthreads();
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* Threads without an item do not reach the barrier. */
SL_KERNEL(early_return, struct faulty_args) {
  __shared__ uint32_t sum;
  if (threadIdx.x >= FAULTY_ITEMS) return;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) atomicAdd(&sum, item_value(event, i));
    __syncthreads();
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* A barrier in a loop with different numbers of iterations. */
SL_KERNEL(uneven_loop, struct faulty_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) {
      sum += item_value(event, i);
      __syncthreads();
    }
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* Threads meet in one collective that is called from two lines. */
SL_KERNEL(divergent_collective, struct faulty_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) sum += item_value(event, i);
    if (threadIdx.x % 2 == 0)
      sum = sl_block_sum_u32(sum);
    else
      sum = sl_block_sum_u32(sum + 0);
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* Half of a warp calls a warp operation, the other half continues to the barrier. */
SL_KERNEL(partial_warp, struct faulty_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) sum += item_value(event, i);
#ifndef SL_TARGET_CPU
    if (threadIdx.x % 32 < 16) sl_warp_sync();
#endif
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* The order of the list is the order in which threads run. */
SL_KERNEL(order_dependent, struct faulty_args) {
  __shared__ uint32_t count;
  SL_FOR_EVENTS (event, a.events) {
    uint32_t *list = a.list + FAULTY_ITEMS * event;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) list[atomicAdd(&count, 1u)] = i;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) sum += item_value(event, i) * (list[i] + 1);
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.value[event] = sum;
  }
}

/* The sum is never set to 0. (On cpu the compiler would warn.) */
SL_KERNEL(uninitialised_shared, struct faulty_args) {
  SL_FOR_EVENTS (event, a.events) {
#ifdef SL_TARGET_CPU
    uint32_t sum = 0;
#else
    __shared__ uint32_t sum;
#endif
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) atomicAdd(&sum, item_value(event, i));
    __syncthreads();
    if (threadIdx.x == 0) a.sums.value[event] = sum;
    __syncthreads();
  }
}

/* The sum is in the shared memory of the launch, and never set to 0. */
SL_KERNEL(uninitialised_launch, struct faulty_args) {
  uint32_t *sum = (uint32_t *)sl_shared_memory() + FAULTY_ITEMS - 1;
  SL_FOR_EVENTS (event, a.events) {
#ifdef SL_TARGET_CPU
    *sum = 0;
#endif
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) atomicAdd(sum, item_value(event, i));
    __syncthreads();
    if (threadIdx.x == 0) a.sums.value[event] = *sum;
    __syncthreads();
  }
}

/* The sum is `offset` values from the beginning of the shared memory of the launch. */
static SL_DEVICE void sum_at(const struct faulty_args *a, int32_t offset) {
#ifdef SL_TARGET_CPU
  offset = 0;
#endif
  uint32_t *sum = (uint32_t *)sl_shared_memory() + offset;
  SL_FOR_EVENTS (event, a->events) {
    if (threadIdx.x == 0) *sum = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FAULTY_ITEMS; i += blockDim.x) atomicAdd(sum, item_value(event, i));
    __syncthreads();
    if (threadIdx.x == 0) a->sums.value[event] = *sum;
    __syncthreads();
  }
}
SL_KERNEL(past_shared, struct faulty_args) { sum_at(&a, FAULTY_ITEMS); }
SL_KERNEL(before_shared, struct faulty_args) { sum_at(&a, -1); }

/* Counts the items of a warp's lanes by a vote, in 32 bits. */
SL_KERNEL(warp_assumed, struct faulty_args) {
  __shared__ uint32_t count;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    SL_FOR_BLOCK (i, FAULTY_ITEMS) {
      const uint32_t wanted = i < FAULTY_ITEMS && item_value(event, i) % 3 == 0 ? 1u : 0u;
#ifdef SL_TARGET_CPU
      count += wanted;
#else
      const uint32_t mask = (uint32_t)sl_warp_ballot(wanted);
      if (threadIdx.x % 32 == 0) atomicAdd(&count, sl_count_bits(mask));
#endif
    }
    __syncthreads();
    if (threadIdx.x == 0) a.sums.value[event] = count;
    __syncthreads();
  }
}

#define LAUNCH_IF(name) \
  if (a->fault == SIMT_FAULT_##name) return SL_LAUNCH(l, name, grid, *a);

static int run(const struct sl_launch *l, const struct faulty_args *a) {
  const struct sl_grid grid = sl_grid_with_shared(SL_PER_EVENT, FAULTY_ITEMS * sizeof(uint32_t));
  SIMT_FAULTS(LAUNCH_IF)
  return SL_EINVAL;
}
SL_ALGORITHM(faulty, "kernels with faults", 64, run);
