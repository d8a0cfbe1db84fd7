/* right.cu: correct kernels that are similar to the faulty ones. */
#include "zoo.h"

#define RIGHT_KERNELS(F) \
  F(barrier)             \
  F(barrier_launch)      \
  F(barrier_after)       \
  F(atomic_increment)    \
  F(warp_sync)           \
  F(bytes_of_a_word)     \
  F(same_value)          \
  F(reduction)           \
  F(two_buffers)         \
  F(atomics_of_blocks)   \
  F(struct_with_padding) \
  F(copied_struct)       \
  F(own_scratch)         \
  F(own_value)           \
  F(warps_apart)         \
  F(collectives)         \
  F(read_by_all)         \
  F(last_item)           \
  F(returned_threads)

#define right_args       zoo_args
#define RIGHT_CHOICES(F) RIGHT_KERNELS(F) F(two_kernels) F(whole_scan)
ZOO_MEMBERS(right, RIGHT_CHOICES);

#if !defined(SL_TARGET_CPU)
ZOO_KERNEL(barrier) {
  __shared__ uint32_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(staged[ZOO_THREADS - 1 - threadIdx.x]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

ZOO_KERNEL(barrier_launch) {
  uint32_t *staged = (uint32_t *)sl_shared_memory();
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(staged[ZOO_THREADS - 1 - threadIdx.x]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

ZOO_KERNEL(barrier_after) {
  __shared__ uint32_t sum;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < ZOO_COUNT(event); k += blockDim.x) atomicAdd(&sum, k);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) a.sums.total[event] = sum;
    __syncthreads();
  }
}

ZOO_KERNEL(atomic_increment) {
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) a.sums.total[event] = 0;
    __syncthreads();
    atomicAdd(&a.sums.total[event], 1u);
    __syncthreads();
    if (threadIdx.x == 3) a.sums.total[event] += 1;
  }
}

ZOO_KERNEL(warp_sync) {
  __shared__ uint32_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x] = threadIdx.x + event;
    sl_warp_sync();
    const uint32_t other = staged[threadIdx.x ^ 1u];
    const uint32_t sum = sl_block_sum_u32(other);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Each thread has its own byte; four of them share a word. */
ZOO_KERNEL(bytes_of_a_word) {
  __shared__ uint8_t staged[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x] = (uint8_t)threadIdx.x;
    staged[threadIdx.x] = (uint8_t)(staged[threadIdx.x] + 1);
    for (uint32_t k = threadIdx.x; k < ZOO_COUNT(event); k += blockDim.x)
      a.copies.tag[ZOO_BEGIN(event) + k] = a.numbers.tag[ZOO_BEGIN(event) + k];
    const uint32_t sum = sl_block_sum_u32(staged[threadIdx.x]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Many threads write the same value to one item. */
ZOO_KERNEL(same_value) {
  __shared__ uint32_t found;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) a.sums.total[event] = found;
    __syncthreads();
  }
}

ZOO_KERNEL(reduction) {
  __shared__ uint32_t sums[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (uint32_t stride = ZOO_THREADS / 2; stride > 0; stride /= 2) {
      if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
      __syncthreads();
    }
    if (threadIdx.x == 0) a.sums.total[event] = sums[0];
    __syncthreads();
  }
}

ZOO_KERNEL(two_buffers) {
  __shared__ uint32_t rows[2][ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    rows[0][threadIdx.x] = threadIdx.x + event;
    __syncthreads();
    for (uint32_t turn = 0; turn < 3; turn++) {
      rows[(turn + 1) % 2][threadIdx.x] = rows[turn % 2][threadIdx.x > 0 ? threadIdx.x - 1 : 0] + turn;
      __syncthreads();
    }
    const uint32_t sum = sl_block_sum_u32(rows[1][threadIdx.x]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* Atomics of all blocks on one word do not change it; the sum of each event has been zeroed before. */
ZOO_KERNEL(atomics_of_blocks) {
  SL_FOR_EVENTS (event, a.events) {
    atomicMax((sl_atomic_u64 *)&a.events.errors[0], (sl_atomic_u64)0);
    if (threadIdx.x == 0) a.sums.total[event] = event;
  }
}

struct zoo_padded {
  uint32_t number;
  uint8_t tag;
};

/* Structs are copied with their padding, which is never written. */
ZOO_KERNEL(struct_with_padding) {
  __shared__ struct zoo_padded staged[ZOO_THREADS], copies[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    staged[threadIdx.x].number = threadIdx.x;
    staged[threadIdx.x].tag = (uint8_t)event;
    __syncthreads();
    copies[threadIdx.x] = staged[ZOO_THREADS - 1 - threadIdx.x];
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(copies[threadIdx.x ^ 1u].number + copies[threadIdx.x ^ 1u].tag);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

struct zoo_large {
  uint32_t numbers[12], count;
};

/* Structs are copied with array elements that are never written. */
ZOO_KERNEL(copied_struct) {
  __shared__ struct zoo_large staged[2], copies[2];
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x < 2) {
      staged[threadIdx.x].count = 2;
      staged[threadIdx.x].numbers[0] = staged[threadIdx.x].numbers[1] = event;
      memcpy(&copies[threadIdx.x], &staged[threadIdx.x], sizeof copies[0]);
    }
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(copies[threadIdx.x % 2].numbers[copies[threadIdx.x % 2].count - 1]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

ZOO_KERNEL(own_scratch) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t *scratch = a.scratch + event * ZOO_SCRATCH;
    for (uint32_t k = threadIdx.x; k < ZOO_SCRATCH; k += blockDim.x) scratch[k] = k;
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(scratch[ZOO_SCRATCH - 1 - threadIdx.x]);
    if (threadIdx.x == 0) a.sums.total[event] = sum;
  }
}

/* A thread that reads only its own values needs no barrier. */
ZOO_KERNEL(own_value) {
  __shared__ uint32_t values[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    values[threadIdx.x] = event;
    for (uint32_t k = 0; k < 5; k++) values[threadIdx.x] += k * values[threadIdx.x];
    if (threadIdx.x == 0) a.sums.total[event] = values[0];
  }
}

/* Each warp has its own part of the memory and its own barriers. */
ZOO_KERNEL(warps_apart) {
  __shared__ uint32_t rows[ZOO_THREADS];
  SL_FOR_EVENTS (event, a.events) {
    uint32_t *row = rows + sl_warp_index() * sl_warp_lanes();
    for (uint32_t turn = 0; turn < 3; turn++) {
      row[sl_warp_lane()] = turn + event;
      sl_warp_sync();
      const uint32_t other = row[sl_warp_lanes() - 1 - sl_warp_lane()];
      sl_warp_sync();
      row[sl_warp_lane()] += other;
    }
    if (threadIdx.x == 0) a.sums.total[event] = rows[0];
  }
}

/* Collectives directly after each other, each on its own shared memory. */
ZOO_KERNEL(collectives) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t length = 0, total;
    SL_FOR_BLOCK (k, ZOO_COUNT(event)) {
      const uint32_t is_one = k < ZOO_COUNT(event) && k % 3 == 0;
      const uint32_t place = sl_block_append(is_one, &length);
      if (is_one) a.copies.value[ZOO_BEGIN(event) + place] = k;
    }
    const uint32_t before = sl_block_exclusive_scan(threadIdx.x, &total);
    const uint32_t largest = (uint32_t)sl_block_min_u64(1000 - before);
    const uint32_t sum = sl_block_sum_u32(largest) + sl_block_sum_u32(total);
    if (threadIdx.x == 0) a.sums.total[event] = sum + length;
  }
}

/* One thread writes and all read, then another one writes. */
ZOO_KERNEL(read_by_all) {
  __shared__ uint32_t value;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) value = event;
    __syncthreads();
    const uint32_t sum = sl_block_sum_u32(value);
    if (threadIdx.x == 40) value = sum;
    __syncthreads();
    if (threadIdx.x == 20) a.sums.total[event] = value;
    __syncthreads();
  }
}

/* Writes the last item of the capacity. */
ZOO_KERNEL(last_item) {
  if (blockIdx.x == 0 && threadIdx.x == 0) a.copies.value[a.copies.bound.capacity - 1] = 1;
}

/* Threads without work return, and the others need no barrier. */
ZOO_KERNEL(returned_threads) {
  if (threadIdx.x >= 32) return;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 7) a.sums.total[event] = event;
    for (uint32_t k = threadIdx.x; k < ZOO_COUNT(event); k += 32) a.copies.value[ZOO_BEGIN(event) + k] = k;
  }
}

/* One kernel writes, and another thread reads in the next kernel. */
ZOO_KERNEL(first_of_two) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.scratch[event] = ZOO_COUNT(event);
}
ZOO_KERNEL(second_of_two) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 9) a.sums.total[event] = a.scratch[*a.events.count - 1 - event];
}

static int run_two(const struct sl_launch *l, const struct zoo_args *a) {
  int status = SL_LAUNCH(l, first_of_two, SL_PER_EVENT, *a);
  if (status == SL_OK && a->kernel == ZOO_whole_scan) status = l->scan(l, a->scratch, NULL);
  return status == SL_OK ? SL_LAUNCH(l, second_of_two, SL_PER_EVENT, *a) : status;
}
#endif

ZOO_RUN_THEN(right, RIGHT_KERNELS, run_two(l, a));
