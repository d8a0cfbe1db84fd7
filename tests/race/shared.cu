/* shared.cu: kernels with races in shared memory. */
#include "zoo.h"

#define SHARED_KERNELS(F)  \
  F(missing_barrier)       \
  F(missing_barrier_after) \
  F(plain_increment)       \
  F(missing_warp_sync)     \
  F(vote_as_sync)          \
  F(warp_sync_for_block)   \
  F(barrier_missed_once)   \
  F(reduction_unsynced)    \
  F(atomic_then_read)      \
  F(reset_among_atomics)   \
  F(two_values)            \
  F(one_buffer)            \
  F(early_flag)            \
  F(word_over_bytes)       \
  F(half_reduction)        \
  F(missing_barrier_launch)

#define shared_args zoo_args
ZOO_MEMBERS(shared, SHARED_KERNELS);

#if !defined(SL_TARGET_CPU)
/* A thread reads a value that its neighbour may not have written yet. */
ZOO_KERNEL(missing_barrier) {
  __shared__ uint32_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x] = a.numbers.value[ZOO_BEGIN(event)] + threadIdx.x;        /* RACE */
    const uint32_t other = staged[(threadIdx.x + ZOO_THREADS - 1) % ZOO_THREADS]; /* RACE */
    const uint32_t sum = sl_block_sum_u32(other);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* missing_barrier in the shared memory of the launch. */
ZOO_KERNEL(missing_barrier_launch) {
  uint32_t *staged = (uint32_t *)sl_shared_memory();
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x] = a.numbers.value[ZOO_BEGIN(event)] + threadIdx.x;        /* RACE */
    const uint32_t other = staged[(threadIdx.x + ZOO_THREADS - 1) % ZOO_THREADS]; /* RACE */
    const uint32_t sum = sl_block_sum_u32(other);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Thread 0 may begin the next event before the last thread has read the sum of this one. */
ZOO_KERNEL(missing_barrier_after) {
  __shared__ uint32_t sum;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) sum = 0; /* RACE */
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < ZOO_COUNT(event); k += blockDim.x) atomicAdd(&sum, k);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) a.sums.total[event] = sum; /* RACE */
  }
}

/* Each thread adds without an atomic. */
ZOO_KERNEL(plain_increment) {
  __shared__ uint32_t count;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    count++; /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = count;
    __syncthreads();
  }
}

/* The lanes of a warp need not run in lockstep. */
ZOO_KERNEL(missing_warp_sync) {
  __shared__ uint32_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    __syncthreads();
    staged[threadIdx.x] = threadIdx.x + event;       /* RACE */
    const uint32_t other = staged[threadIdx.x ^ 1u]; /* RACE */
    const uint32_t sum = sl_block_sum_u32(other);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* All lanes take part in a vote, but a vote does not order memory accesses. */
ZOO_KERNEL(vote_as_sync) {
  __shared__ uint32_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    __syncthreads();
    staged[threadIdx.x] = threadIdx.x + event; /* RACE */
    const uint32_t is_any = sl_warp_any(threadIdx.x == 5);
    const uint32_t other = staged[threadIdx.x ^ 1u]; /* RACE */
    const uint32_t sum = sl_block_sum_u32(other + is_any);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Synchronises its own warp only, and reads values of another warp. */
ZOO_KERNEL(warp_sync_for_block) {
  __shared__ uint32_t staged[2 * ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    __syncthreads();
    staged[threadIdx.x] = threadIdx.x + event; /* RACE */
    sl_warp_sync();
    const uint32_t other = staged[blockDim.x - 1 - threadIdx.x]; /* RACE */
    const uint32_t sum = sl_block_sum_u32(other);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* A barrier in each iteration of the loop except the third. */
ZOO_KERNEL(barrier_missed_once) {
  __shared__ uint32_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t turn = 0; turn < 5; turn++) {
      staged[threadIdx.x] = threadIdx.x * turn; /* RACE */
      if (turn != 2) __syncthreads();
      sum += staged[ZOO_THREADS - 1 - threadIdx.x]; /* RACE */
      __syncthreads();
    }
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* A tree of sums without barriers between the steps. */
ZOO_KERNEL(reduction_unsynced) {
  __shared__ uint32_t sums[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    sums[threadIdx.x] = threadIdx.x < ZOO_COUNT(event) ? a.numbers.value[ZOO_BEGIN(event) + threadIdx.x] : 0;
    __syncthreads();
    for (uint32_t stride = ZOO_THREADS / 2; stride > 0; stride /= 2) {
      if (threadIdx.x < stride) {
        const uint32_t other = sums[threadIdx.x + stride]; /* RACE */
        sums[threadIdx.x] += other;                        /* RACE */
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = sums[0];
    __syncthreads();
  }
}

/* Reads the count while other threads still add to it. */
ZOO_KERNEL(atomic_then_read) {
  __shared__ uint32_t count;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1u);                              /* RACE */
    if (threadIdx.x == 40) a.sums.total[event] = count; /* RACE */
    __syncthreads();
  }
}

/* Sets the count to 0 after other threads may have added to it. */
ZOO_KERNEL(reset_among_atomics) {
  __shared__ uint32_t count;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) count = 0;                     /* RACE */
    if (threadIdx.x != 0) sl_total_add(&count, 1u - 1u); /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = count;
    __syncthreads();
  }
}

/* Each thread writes its own number to one variable. */
ZOO_KERNEL(two_values) {
  __shared__ uint32_t last;
  SL_FOR_EVENTS (event, a.events) {
    last = threadIdx.x; /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = last;
    __syncthreads();
  }
}

/* Reads and writes the same buffer in one iteration; two buffers are needed. */
ZOO_KERNEL(one_buffer) {
  __shared__ uint32_t row[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    row[threadIdx.x] = threadIdx.x + event;
    __syncthreads();
    for (uint32_t turn = 0; turn < 3; turn++) {
      const uint32_t left = row[threadIdx.x > 0 ? threadIdx.x - 1 : 0]; /* RACE */
      row[threadIdx.x] = left + turn;                                   /* RACE */
      __syncthreads();
    }
    const uint32_t sum = sl_block_sum_u32(row[threadIdx.x]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* One thread decides, and the others do not wait for the decision. */
ZOO_KERNEL(early_flag) {
  __shared__ uint32_t is_long;
  SL_FOR_EVENTS (event, a.events) {
    __syncthreads();
    if (threadIdx.x == 0) is_long = ZOO_COUNT(event) > 60 ? 1u : 0u;             /* RACE */
    const uint32_t sum = sl_block_sum_u32(threadIdx.x == 0 || !is_long ? 1 : 2); /* RACE */
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Three threads write one byte of a word each, and a fourth writes the whole word. */
ZOO_KERNEL(word_over_bytes) {
  __shared__ uint32_t word[1];
  SL_FOR_EVENTS (event, a.events) {
    uint8_t *bytes = (uint8_t *)word;
    if (threadIdx.x == 0) word[0] = 0xFFFFFFFFu;                                       /* RACE */
    if (threadIdx.x > 0 && threadIdx.x < 4) bytes[threadIdx.x] = (uint8_t)threadIdx.x; /* RACE */
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = word[0];
    __syncthreads();
  }
}

/* The last steps of the reduction assume that a warp runs in lockstep. */
ZOO_KERNEL(half_reduction) {
  __shared__ uint32_t sums[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 32) sums[threadIdx.x] += sums[threadIdx.x + 32];
    __syncthreads();
    if (threadIdx.x < 16) {
      for (uint32_t stride = 16; stride > 0; stride /= 2) {
        const uint32_t other = sums[threadIdx.x + stride]; /* RACE */
        sums[threadIdx.x] += other;                        /* RACE */
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = sums[0];
    __syncthreads();
  }
}
#endif
ZOO_RUN(shared, SHARED_KERNELS);
