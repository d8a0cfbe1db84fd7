/* kernel_cuda_scan.h: scans of counts per event on NVIDIA and AMD GPUs, for kernel_cuda.h and the backend. */
#ifndef SLUICE_KERNEL_CUDA_SCAN_H
#define SLUICE_KERNEL_CUDA_SCAN_H

#include <sluice/kernel_cuda_launch.h>
#include <sluice/plugin.h>

#if defined(SL_TARGET_HIP)
#define SL_SHUFFLE_UP_(value, delta) __shfl_up(value, delta)
#define SL_SYNC_WARP_()              ((void)0) /* not needed: warps run in lockstep */
#else
#define SL_SHUFFLE_UP_(value, delta) __shfl_up_sync(0xFFFFFFFFu, value, delta)
#define SL_SYNC_WARP_()              __syncwarp()
#endif

/* Results of a scan besides the sums: the total, and errors of events above the limit. `used` may be NULL. */
struct sl_cuda_bound {
  uint32_t *used, capacity, event_limit;
  uint64_t limit_error, *errors;
};

/* A scan by the last block of the kernel that writes the counts. */
struct sl_cuda_scan {
  uint32_t *counts;
  const uint32_t *event_count;
  uint32_t *ended; /* number of blocks that have ended; 0 before and after */
  struct sl_cuda_bound bound;
};

static inline struct sl_cuda_bound sl_cuda_bound_of(const struct sl_bound *bound, uint64_t *errors) {
  struct sl_cuda_bound b = {NULL, 0, UINT32_MAX, 0, NULL};
  if (!bound) return b;
  b.used = bound->used;
  b.capacity = bound->capacity;
  b.event_limit = bound->event_limit;
  b.limit_error = bound->limit_error;
  b.errors = errors;
  return b;
}

static __device__ inline uint64_t sl_cuda_scan_warp(uint64_t value) {
  const uint32_t lane = threadIdx.x % warpSize;
  for (uint32_t delta = 1; delta < warpSize; delta *= 2) {
    const uint64_t other = SL_SHUFFLE_UP_((unsigned long long)value, delta);
    if (lane >= delta) value += other;
  }
  return value;
}

/* Returns the sum of the values of the threads before this one; *total gets the sum over the block. Ends with a
 * barrier. */
static __device__ inline uint64_t sl_cuda_scan_block(uint64_t value, uint64_t *total) {
  __shared__ uint64_t sums[33]; /* of up to 32 warps, and the total */
  const uint32_t warp = threadIdx.x / warpSize, warps = blockDim.x / warpSize;
  const uint64_t up_to = sl_cuda_scan_warp(value);
  if (threadIdx.x % warpSize == warpSize - 1) sums[warp] = up_to;
  __syncthreads();
  if (warp == 0) {
    const uint64_t of_warp = threadIdx.x < warps ? sums[threadIdx.x] : 0;
    const uint64_t scanned = sl_cuda_scan_warp(of_warp);
    SL_SYNC_WARP_();
    if (threadIdx.x < warps) sums[threadIdx.x] = scanned - of_warp;
    if (threadIdx.x == warps - 1) sums[32] = scanned;
  }
  __syncthreads();
  *total = sums[32];
  const uint64_t before = sums[warp] + up_to - value;
  __syncthreads();
  return before;
}

/* Exactly one thread handles each event. */
static __device__ inline void sl_cuda_refuse_above_limit(const struct sl_cuda_bound *b, uint32_t event,
                                                         uint64_t count) {
  if (count <= b->event_limit) return;
  const uint64_t error = b->limit_error | (count < UINT32_MAX ? count : UINT32_MAX);
  if (error > b->errors[event]) b->errors[event] = error;
}

static __device__ inline void sl_cuda_record_used(const struct sl_cuda_bound *b, uint64_t total) {
  const uint32_t needed = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
  if (b->used && needed > *b->used) *b->used = needed;
}

/* Scans the counts of the slice's events, by one block. Reads counts that other blocks wrote, and writes each count
 * once, and again if the total overflows. */
static __device__ inline void sl_cuda_scan_counts(uint32_t *counts, const uint32_t *event_count,
                                                  const struct sl_cuda_bound *bound) {
  enum { ITEMS = 4 }; /* consecutive counts per thread */
  const uint32_t n = *event_count;
  uint64_t total = 0;
  for (uint32_t first = 0; first < n; first += blockDim.x * ITEMS) {
    const uint32_t begin = first + threadIdx.x * ITEMS;
    uint32_t own[ITEMS];
    uint64_t sum = 0, tile;
    for (uint32_t i = 0; i < ITEMS; i++) {
      own[i] = begin + i < n ? *(const volatile uint32_t *)&counts[begin + i] : 0;
      sum += own[i];
    }
    uint64_t before = total + sl_cuda_scan_block(sum, &tile);
    for (uint32_t i = 0; i < ITEMS; i++) {
      if (begin + i < n) {
        counts[begin + i] = (uint32_t)before;
        sl_cuda_refuse_above_limit(bound, begin + i, own[i]);
      }
      before += own[i];
    }
    total += tile;
  }
  if (threadIdx.x == 0) counts[n] = (uint32_t)total;
  if (!bound->used) return;
  if (threadIdx.x == 0) sl_cuda_record_used(bound, total);
  __syncthreads();
  if (total <= bound->capacity) return;
  for (uint32_t i = threadIdx.x; i <= n; i += blockDim.x) counts[i] = 0;
}

/* Last statement of a kernel that writes counts: the last of its blocks scans them. */
static __device__ inline void sl_cuda_scan_when_last(const struct sl_cuda_scan *scan) {
  __shared__ uint32_t is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(scan->ended, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  sl_cuda_scan_counts(scan->counts, scan->event_count, &scan->bound);
  if (threadIdx.x == 0) *scan->ended = 0;
}

#endif
