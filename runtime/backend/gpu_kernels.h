/* gpu_kernels.h: kernels of the backends cuda and hip; launched by cuda.cu. */
#ifndef SL_GPU_KERNELS_H
#define SL_GPU_KERNELS_H

#include "backend/backend.h"
#include "backend/gpu_vendor.h"

#include <sluice/kernel_cuda_scan.h>

enum {
  SCAN_THREADS = 1024,
  SCAN_CHUNKS = 64, /* most blocks of a scan over items */
  PACK_FIELDS = 256 /* fields that a block lays out at a time, and its threads */
};

/* -------------------------------------------------------------------------------------------- notes, clearing */

/* Sets a byte in host memory; the host sees it before any later operation can fail. */
static __device__ void set_host_byte(uint8_t *byte, uint8_t value) {
  *(volatile uint8_t *)byte = value;
  __threadfence_system();
}

static __global__ void note(uint8_t *byte, uint8_t value) {
  sl_cuda_begin();
  set_host_byte(byte, value);
}

/* Row y of the grid clears one range in words of 16 bytes; its first threads clear the remaining bytes. `byte`, in host
 * memory, is set if it is not NULL. */
static __global__ void clear_ranges(const struct sl_range *ranges, uint8_t *byte, uint8_t value) {
  sl_cuda_begin();
  const struct sl_range range = ranges[blockIdx.y];
  const uint64_t words = range.bytes / 16, stride = (uint64_t)gridDim.x * blockDim.x;
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t w = thread; w < words; w += stride) ((uint4 *)range.memory)[w] = make_uint4(0, 0, 0, 0);
  if (thread < range.bytes % 16) ((uint8_t *)range.memory)[16 * words + thread] = 0;
  if (byte && thread == 0 && blockIdx.y == 0) set_host_byte(byte, value);
}

/* -------------------------------------------------------------------------------------------------- scans */

static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_counts(uint32_t *counts, const uint32_t *event_count, const struct sl_cuda_bound bound) {
  sl_cuda_begin();
  sl_cuda_scan_counts(counts, event_count, &bound);
}

/* Scan over items: each block handles a chunk of the counts, in the order in which blocks begin, and adds the sums of
 * the chunks before its own as soon as they are known. The last block to end checks the total. */
struct item_scan_state {
  uint32_t blocks;              /* of kernels that end with a scan */
  uint32_t begun, ended, round; /* blocks of this scan; number of scans before it */
  uint32_t known[SCAN_CHUNKS];  /* number of the scan that set the sum in `sums` */
  uint64_t sums[SCAN_CHUNKS];   /* sum of each chunk */
};

struct item_scan {
  uint32_t *counts;
  const uint32_t *offsets, *event_count;
  struct item_scan_state *state;
  struct sl_cuda_bound bound;
};

struct scan_range {
  uint32_t first, begin, end; /* first item of the slice; items [begin, end) of the chunk */
};

static __device__ struct scan_range chunk_of(const struct item_scan *s, uint32_t chunk) {
  struct scan_range range;
  const uint32_t first = s->offsets[0], end = s->offsets[*s->event_count];
  const uint32_t size = (end - first + gridDim.x - 1) / gridDim.x;
  range.first = first;
  range.begin = end - first > size * chunk ? first + size * chunk : end;
  range.end = end - range.begin < size ? end : range.begin + size;
  return range;
}

/* Returns the sum of the first `chunks` chunks, and waits until all of them are known. */
static __device__ uint64_t sum_of_chunks(struct item_scan_state *state, uint32_t chunks, uint32_t round) {
  uint64_t sum = 0, total;
  if (threadIdx.x < chunks) {
    while (*(volatile uint32_t *)&state->known[threadIdx.x] != round) {
    }
    __threadfence();
    sum = *(volatile uint64_t *)&state->sums[threadIdx.x];
  }
  (void)sl_cuda_scan_block(sum, &total);
  return total;
}

/* Counts that other blocks wrote: not from a cache of this processor. */
static __device__ uint32_t latest(const uint32_t *count) { return *(const volatile uint32_t *)count; }

static __device__ void finish_item_scan(const struct item_scan *s, uint64_t total) {
  const uint32_t events = *s->event_count, end = s->offsets[events];
  const uint32_t fits = !s->bound.used || total <= s->bound.capacity;
  if (threadIdx.x == 0) {
    s->counts[end] = fits ? (uint32_t)total : 0;
    sl_cuda_record_used(&s->bound, total);
    if (events == 1) sl_cuda_refuse_above_limit(&s->bound, 0, total); /* an overflow zeroes the counts */
  }
  if (!fits)
    for (uint32_t i = threadIdx.x; i < end; i += blockDim.x) s->counts[i] = 0;
  if (!fits || events == 1) return;
  for (uint32_t e = threadIdx.x; e < events; e += blockDim.x) {
    const uint32_t next = s->offsets[e + 1], after = next == end ? (uint32_t)total : latest(&s->counts[next]);
    const uint32_t first = s->offsets[e], before = first == end ? (uint32_t)total : latest(&s->counts[first]);
    sl_cuda_refuse_above_limit(&s->bound, e, after - before);
  }
}

static __global__ void __launch_bounds__(SCAN_THREADS) scan_items(const struct item_scan s) {
  __shared__ uint32_t chunk, is_last;
  struct item_scan_state *state = s.state;
  sl_cuda_begin();
  const uint32_t round = latest(&state->round) + 1;
  if (threadIdx.x == 0) chunk = atomicAdd(&state->begun, 1u);
  __syncthreads();
  const struct scan_range range = chunk_of(&s, chunk);
  uint64_t own = 0, sum;
  for (uint32_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) own += s.counts[i];
  (void)sl_cuda_scan_block(own, &sum);
  if (threadIdx.x == 0) {
    state->sums[chunk] = sum;
    __threadfence();
    *(volatile uint32_t *)&state->known[chunk] = round;
  }
  uint64_t before = sum_of_chunks(state, chunk, round);
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (uint32_t i = thread; i < range.first; i += threads) s.counts[i] = 0;
  for (uint32_t first = range.begin; first < range.end; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    const uint32_t count = i < range.end ? s.counts[i] : 0;
    const uint64_t offset = before + sl_cuda_scan_block(count, &sum);
    if (i < range.end) s.counts[i] = (uint32_t)offset;
    before += sum;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&state->ended, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  finish_item_scan(&s, sum_of_chunks(state, gridDim.x, round));
  if (threadIdx.x == 0) {
    state->begun = state->ended = 0;
    state->round = round;
  }
}

/* -------------------------------------------------------------------------------------------------- lists */

/* One block: counts the lists of each event, one warp per list, then selects the events on enough lists, in order. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    combine_lists(const struct sl_combination c, const uint32_t *event_count) {
  sl_cuda_begin();
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
    const uint64_t before = sl_cuda_scan_block((uint64_t)is_selected, &sum);
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

/* Copies the 16-byte word at `byte` of a field of `bytes` bytes, or what is left of it. Both addresses are aligned. */
static __device__ void copy_word(void *to, const void *from, uint64_t byte, uint64_t bytes) {
  if (byte + 16 <= bytes)
    *(uint4 *)((char *)to + byte) = *(const uint4 *)((const char *)from + byte);
  else
    for (uint64_t i = byte; i < bytes; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

/* Returns the number of entries of `ends`, in ascending order, that are at most `byte`. */
static __device__ uint32_t ends_up_to(const uint64_t *ends, uint32_t count, uint64_t byte) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (ends[middle] <= byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The error words and the rest of the header; by one block. */
static __device__ void pack_header(const struct sl_pack *p, uint32_t events, uint64_t end) {
  __shared__ uint32_t refused;
  struct sl_pack_header *header = (struct sl_pack_header *)p->output;
  uint32_t *header_used = (uint32_t *)((uint64_t *)(header + 1) + p->field_count);
  if (threadIdx.x == 0) refused = 0;
  for (uint32_t u = threadIdx.x; u < p->used_count; u += blockDim.x) header_used[u] = p->used[u];
  __syncthreads();
  for (uint32_t e = threadIdx.x; e < events; e += blockDim.x)
    if (p->errors[e]) atomicOr(&refused, 1u);
  __syncthreads();
  for (uint32_t e = threadIdx.x; refused && e < events; e += blockDim.x)
    ((uint64_t *)((char *)p->output + p->errors_offset))[e] = p->errors[e];
  if (threadIdx.x == 0) {
    header->refused = refused;
    header->field_count = p->field_count;
    header->end = end;
  }
}

/* Every block lays out PACK_FIELDS fields at a time, one per thread, and copies its share of the words of the fields
 * that fit; the last block also writes the header. */
static __global__ void pack_results(const struct sl_pack p) {
  __shared__ uint64_t sizes[PACK_FIELDS], ends[PACK_FIELDS];
  sl_cuda_begin();
  const uint32_t events = *p.event_count;
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t step = 16ull * gridDim.x * blockDim.x;
  uint64_t *header_offsets = (uint64_t *)((struct sl_pack_header *)p.output + 1);
  char *output = (char *)(p.target ? *p.target : p.output);
  uint64_t begin = p.target ? 0 : p.fields_offset;
  for (uint32_t first = 0; first < p.field_count; first += PACK_FIELDS) {
    const uint32_t count = p.field_count - first < PACK_FIELDS ? p.field_count - first : PACK_FIELDS;
    const struct sl_pack_field *fields = p.fields + first;
    const uint64_t size = threadIdx.x < count ? packed_bytes(&fields[threadIdx.x], events) : 0;
    uint64_t all;
    const uint64_t offset = begin + sl_cuda_scan_block(round_up(size), &all);
    sizes[threadIdx.x] = size;
    ends[threadIdx.x] = offset + round_up(size);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < count) header_offsets[first + threadIdx.x] = offset;
    __syncthreads();
    for (uint64_t byte = begin + 16 * thread; byte < begin + all; byte += step) {
      const uint32_t f = ends_up_to(ends, count, byte);
      const uint64_t field_begin = ends[f] - round_up(sizes[f]);
      if (ends[f] > p.output_bytes) break;
      copy_word(output + field_begin, fields[f].source, byte - field_begin, sizes[f]);
    }
    begin += all;
    __syncthreads(); /* before the next sizes are written */
  }
  if (blockIdx.x == gridDim.x - 1) pack_header(&p, events, begin);
}

#endif
