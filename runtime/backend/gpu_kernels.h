/* gpu_kernels.h: kernels of the backends cuda and hip; launched by cuda.cu. */
#ifndef SL_GPU_KERNELS_H
#define SL_GPU_KERNELS_H

#include "backend/backend.h"
#include "backend/gpu_vendor.h"

enum {
  SCAN_THREADS = 1024,
  SCAN_ITEMS = 8,   /* consecutive counts per thread, so that one tile covers the events of most slices */
  PACK_FIELDS = 256 /* fields laid out by a block at a time */
};

/* -------------------------------------------------------------------------------------------- notes, clearing */

/* Sets a byte in host memory; the host sees it before any later operation can fail. */
static __device__ void set_host_byte(uint8_t *byte, uint8_t value) {
  *(volatile uint8_t *)byte = value;
  __threadfence_system();
}

static __global__ void note(uint8_t *byte, uint8_t value) { set_host_byte(byte, value); }

/* Row y of the grid clears one range in words of 16 bytes; its first threads clear the remaining bytes. `byte`, in host
 * memory, is set if it is not NULL. */
static __global__ void clear_ranges(const struct sl_range *ranges, uint8_t *byte, uint8_t value) {
  const struct sl_range range = ranges[blockIdx.y];
  const uint64_t words = range.bytes / 16, stride = (uint64_t)gridDim.x * blockDim.x;
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t w = thread; w < words; w += stride) ((uint4 *)range.memory)[w] = make_uint4(0, 0, 0, 0);
  if (thread < range.bytes % 16) ((uint8_t *)range.memory)[16 * words + thread] = 0;
  if (byte && thread == 0 && blockIdx.y == 0) set_host_byte(byte, value);
}

/* -------------------------------------------------------------------------------------------------- scans */

static __device__ uint64_t warp_inclusive_scan(uint64_t value) {
  const uint32_t lane = threadIdx.x % warpSize;
  for (uint32_t delta = 1; delta < warpSize; delta *= 2) {
    const uint64_t other = SHUFFLE_UP((unsigned long long)value, delta);
    if (lane >= delta) value += other;
  }
  return value;
}

/* Returns the sum of the values of the threads before this one; *total gets the sum over the block. Ends with a
 * barrier. */
static __device__ uint64_t scan_block(uint64_t value, uint64_t *total) {
  __shared__ uint64_t sums[SCAN_THREADS / 32 + 1];
  const uint32_t warp = threadIdx.x / warpSize, warps = blockDim.x / warpSize;
  const uint64_t up_to = warp_inclusive_scan(value);
  if (threadIdx.x % warpSize == warpSize - 1) sums[warp] = up_to;
  __syncthreads();
  if (warp == 0) {
    const uint64_t of_warp = threadIdx.x < warps ? sums[threadIdx.x] : 0;
    const uint64_t scanned = warp_inclusive_scan(of_warp);
    SYNC_WARP();
    if (threadIdx.x < warps) sums[threadIdx.x] = scanned - of_warp;
    if (threadIdx.x == warps - 1) sums[SCAN_THREADS / 32] = scanned;
  }
  __syncthreads();
  *total = sums[SCAN_THREADS / 32];
  const uint64_t before = sums[warp] + up_to - value;
  __syncthreads();
  return before;
}

/* Results of scans besides the sums: the total, and errors of events above the limit. */
struct scan_bound {
  uint32_t *used, capacity, event_limit;
  uint64_t limit_error, *errors;
};

/* Exactly one thread handles each event. */
static __device__ void refuse_above_limit(const struct scan_bound *b, uint32_t event, uint64_t count) {
  if (count <= b->event_limit) return;
  const uint64_t error = b->limit_error | (count < UINT32_MAX ? count : UINT32_MAX);
  if (error > b->errors[event]) b->errors[event] = error;
}

static __device__ void record_used(const struct scan_bound *b, uint64_t total) {
  const uint32_t needed = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
  if (b->used && needed > *b->used) *b->used = needed;
}

/* One block. Reads and writes each count once, and writes it again if the total overflows. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_counts(uint32_t *counts, const uint32_t *event_count, const struct scan_bound bound) {
  const uint32_t n = *event_count;
  uint64_t total = 0;
  for (uint32_t first = 0; first < n; first += SCAN_THREADS * SCAN_ITEMS) {
    const uint32_t begin = first + threadIdx.x * SCAN_ITEMS;
    uint32_t own[SCAN_ITEMS];
    uint64_t sum = 0, tile;
    for (uint32_t i = 0; i < SCAN_ITEMS; i++) {
      own[i] = begin + i < n ? counts[begin + i] : 0;
      sum += own[i];
    }
    uint64_t before = total + scan_block(sum, &tile);
    for (uint32_t i = 0; i < SCAN_ITEMS; i++) {
      if (begin + i < n) {
        counts[begin + i] = (uint32_t)before;
        refuse_above_limit(&bound, begin + i, own[i]);
      }
      before += own[i];
    }
    total += tile;
  }
  if (threadIdx.x == 0) counts[n] = (uint32_t)total;
  if (!bound.used) return;
  if (threadIdx.x == 0) record_used(&bound, total);
  __syncthreads();
  if (total <= bound.capacity) return;
  for (uint32_t i = threadIdx.x; i <= n; i += blockDim.x) counts[i] = 0;
}

/* Scan over items: each block handles a chunk of the counts. The first kernel sums the chunks; the second starts at the
 * sum of the chunks before its own. */
struct item_scan {
  uint32_t *counts;
  const uint32_t *offsets, *event_count;
  uint64_t *sums; /* sum of each chunk */
  struct scan_bound bound;
};

struct scan_range {
  uint32_t first, begin, end; /* first item of the slice; items [begin, end) of this block's chunk */
};

static __device__ struct scan_range chunk_of(const struct item_scan *s) {
  struct scan_range range;
  const uint32_t first = s->offsets[0], end = s->offsets[*s->event_count];
  const uint32_t size = (end - first + gridDim.x - 1) / gridDim.x;
  range.first = first;
  range.begin = first + size * blockIdx.x < end ? first + size * blockIdx.x : end;
  range.end = end - range.begin < size ? end : range.begin + size;
  return range;
}

static __global__ void __launch_bounds__(SCAN_THREADS) sum_chunks(const struct item_scan s) {
  const struct scan_range range = chunk_of(&s);
  uint64_t own = 0, total;
  for (uint32_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) own += s.counts[i];
  (void)scan_block(own, &total);
  if (threadIdx.x == 0) s.sums[blockIdx.x] = total;
}

static __global__ void __launch_bounds__(SCAN_THREADS) scan_chunks(const struct item_scan s) {
  const struct scan_range range = chunk_of(&s);
  uint64_t before = 0, total = 0;
  for (uint32_t c = 0; c < gridDim.x; c++) {
    if (c < blockIdx.x) before += s.sums[c];
    total += s.sums[c];
  }
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (uint32_t i = thread; i < range.first; i += threads) s.counts[i] = 0;
  const uint32_t fits = !s.bound.used || total <= s.bound.capacity;
  if (thread == 0) {
    s.counts[s.offsets[*s.event_count]] = fits ? (uint32_t)total : 0;
    record_used(&s.bound, total);
    if (*s.event_count == 1) refuse_above_limit(&s.bound, 0, total);
  }
  for (uint32_t first = range.begin; first < range.end; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    uint64_t sum;
    const uint32_t count = i < range.end ? s.counts[i] : 0;
    const uint64_t offset = before + scan_block(count, &sum);
    if (i < range.end) s.counts[i] = fits ? (uint32_t)offset : 0;
    before += sum;
  }
}

/* For slices of several events. For one event scan_chunks uses the total instead, because an overflow zeroes the
 * counts. */
static __global__ void __launch_bounds__(SCAN_THREADS) find_above_limit(const struct item_scan s) {
  if (*s.event_count == 1) return;
  for (uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < *s.event_count; e += gridDim.x * blockDim.x)
    refuse_above_limit(&s.bound, e, s.counts[s.offsets[e + 1]] - s.counts[s.offsets[e]]);
}

/* -------------------------------------------------------------------------------------------------- lists */

/* One block: counts the lists of each event, one warp per list, then selects the events on enough lists, in order. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    combine_lists(const struct sl_combination c, const uint32_t *event_count) {
  const uint32_t events = *event_count;
  const uint32_t warp = threadIdx.x / warpSize, warps = blockDim.x / warpSize, lane = threadIdx.x % warpSize;
  for (uint32_t e = threadIdx.x; e < events; e += blockDim.x) c.tally[e] = 0;
  __syncthreads();
  for (uint32_t l = warp; l < c.list_count; l += warps) {
    const struct sl_list_pointers list = c.lists[l];
    const uint32_t length = *list.count;
    for (uint32_t i = lane; i < length; i += warpSize)
      if (list.numbers[i] < events) atomicAdd(&c.tally[list.numbers[i]], 1u);
  }
  __syncthreads();
  uint32_t selected_count = 0;
  for (uint32_t first = 0; first < events; first += blockDim.x) {
    const uint32_t event = first + threadIdx.x;
    const int is_selected = event < events && c.tally[event] >= c.min_lists;
    uint64_t sum;
    const uint64_t before = scan_block((uint64_t)is_selected, &sum);
    if (is_selected) c.numbers[selected_count + before] = event;
    selected_count += (uint32_t)sum;
  }
  if (threadIdx.x == 0) *c.count = selected_count;
}

/* ------------------------------------------------------------------------------------------------- packing */

static __device__ uint64_t packed_bytes(const struct sl_pack_field *f, uint32_t events) {
  const uint64_t items = f->offsets ? f->offsets[events] : 0;
  switch (f->shape) {
    case SL_SHAPE_CODE_PER_SLICE:
      return f->entry_bytes;
    case SL_SHAPE_CODE_PER_EVENT:
      return (uint64_t)(f->count ? *f->count : events) * f->entry_bytes;
    case SL_SHAPE_CODE_OFFSETS:
      return (events + 1ull) * f->entry_bytes;
    case SL_SHAPE_CODE_PER_ITEM:
      return items * f->entry_bytes;
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      return (items + 1) * f->entry_bytes;
    case SL_SHAPE_CODE_PER_SUBITEM:
      return f->item_offsets ? f->item_offsets[items] * (uint64_t)f->entry_bytes : 0;
    default:
      return 0;
  }
}

static __device__ uint64_t round_up(uint64_t bytes) {
  return (bytes + SL_PACK_ALIGNMENT - 1) / SL_PACK_ALIGNMENT * SL_PACK_ALIGNMENT;
}

/* Copies 16-byte words; both addresses are aligned. The first threads of the grid copy the remaining bytes. */
static __device__ void copy_words(void *to, const void *from, uint64_t bytes) {
  const uint64_t words = bytes / 16, stride = (uint64_t)gridDim.x * blockDim.x;
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t w = thread; w < words; w += stride) ((uint4 *)to)[w] = ((const uint4 *)from)[w];
  if (thread < bytes % 16) ((uint8_t *)to)[16 * words + thread] = ((const uint8_t *)from)[16 * words + thread];
}

/* Every block computes the offsets of PACK_FIELDS fields at a time and copies its share of each field that fits; block
 * 0 writes the header and the error words. */
static __global__ void pack_results(const struct sl_pack p) {
  __shared__ uint64_t bytes[PACK_FIELDS], offsets[PACK_FIELDS + 1];
  __shared__ uint32_t refused;
  const uint32_t events = *p.event_count;
  struct sl_pack_header *header = (struct sl_pack_header *)p.output;
  uint64_t *header_offsets = (uint64_t *)(header + 1);
  uint32_t *header_used = (uint32_t *)(header_offsets + p.field_count);
  if (threadIdx.x == 0) refused = 0;
  uint64_t end = p.fields_offset;
  for (uint32_t first = 0; first < p.field_count; first += PACK_FIELDS) {
    const struct sl_pack_field *fields = p.fields + first;
    const uint32_t count = p.field_count - first < PACK_FIELDS ? p.field_count - first : PACK_FIELDS;
    for (uint32_t f = threadIdx.x; f < count; f += blockDim.x) bytes[f] = packed_bytes(&fields[f], events);
    __syncthreads();
    if (threadIdx.x == 0) {
      offsets[0] = end;
      for (uint32_t f = 0; f < count; f++) offsets[f + 1] = offsets[f] + round_up(bytes[f]);
    }
    __syncthreads();
    for (uint32_t f = 0; f < count && offsets[f + 1] <= p.output_bytes; f++)
      copy_words((char *)p.output + offsets[f], fields[f].source, bytes[f]);
    for (uint32_t f = threadIdx.x; blockIdx.x == 0 && f < count; f += blockDim.x)
      header_offsets[first + f] = offsets[f];
    end = offsets[count];
    __syncthreads(); /* before the next offsets are written */
  }
  if (blockIdx.x != 0) return;
  __syncthreads(); /* without fields, `refused` = 0 must be visible first */
  for (uint32_t e = threadIdx.x; e < events; e += blockDim.x)
    if (p.errors[e]) atomicOr(&refused, 1u);
  __syncthreads();
  for (uint32_t e = threadIdx.x; refused && e < events; e += blockDim.x)
    ((uint64_t *)((char *)p.output + p.errors_offset))[e] = p.errors[e];
  for (uint32_t u = threadIdx.x; u < p.used_count; u += blockDim.x) header_used[u] = p.used[u];
  if (threadIdx.x == 0) {
    header->refused = refused;
    header->field_count = p.field_count;
    header->end = end;
  }
}

#endif
