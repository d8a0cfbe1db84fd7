/* cuda.cu: the backend of the targets cuda and hip, in a library of its own (backends/cuda.so), so that nothing else
 * meets the vendor's runtime. Shapes of work that are the executor's and not an algorithm's: scans of counts,
 * unions and intersections of event lists, packing of results.
 *
 * A slot has two streams: kernels, and copies up. An event a flight lets kernels wait for their input, another lets the
 * host wait for the flight's end. Kernels of a slice are captured once a flight and replayed as one launch. Results are
 * packed straight into pinned host memory, which the device writes over the bus while later slices compute.
 */
#include "backend/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(SL_TARGET_HIP)
#include <hip/hip_runtime.h>
#define GPU(name)                hip##name
#define GPU_HOST_ALLOC           hipHostMalloc
#define GPU_HOST_FREE            hipHostFree
#define GPU_TARGET               "hip"
#define DEVICE_PROPERTIES        hipDeviceProp_t
#define PROCESSORS_OF            hipDeviceAttributeMultiprocessorCount
#define THREADS_OF               hipDeviceAttributeMaxThreadsPerMultiProcessor
#define SHUFFLE_UP(value, delta) __shfl_up(value, delta)
#define SYNC_WARP()              ((void)0) /* warps run in step, and there is none */
#else
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#define GPU(name)                cuda##name
#define GPU_HOST_ALLOC           cudaHostAlloc
#define GPU_HOST_FREE            cudaFreeHost
#define GPU_TARGET               "cuda"
#define DEVICE_PROPERTIES        cudaDeviceProp
#define PROCESSORS_OF            cudaDevAttrMultiProcessorCount
#define THREADS_OF               cudaDevAttrMaxThreadsPerMultiProcessor
#define SHUFFLE_UP(value, delta) __shfl_up_sync(0xFFFFFFFFu, value, delta)
#define SYNC_WARP()              __syncwarp()
#endif

enum {
  FLIGHTS = 2,
  SCAN_THREADS = 1024,
  SCAN_ITEMS = 8,   /* consecutive counts a thread: one tile holds the events of most slices */
  SCAN_CHUNKS = 64, /* blocks of a scan over items */
  CLEAR_THREADS = 256,
  CLEAR_BLOCKS = 256,
  CLEAR_ROWS = 65535, /* of a grid */
  PACK_BLOCKS = 64,
  PACK_THREADS = 256,
  PACK_FIELDS = 256, /* whose places a block computes at a time */
};

struct sl_device {
  int index;
  char error[256];
};

struct gpu_stream {
  struct sl_stream base;
  GPU(Stream_t) kernels, copies;
  GPU(Event_t) uploaded[FLIGHTS], finished[FLIGHTS];
  GPU(GraphExec_t) graph[FLIGHTS];
  GPU(Event_t) * marks; /* made when first asked for, which only --profile and --trace do */
  uint32_t mark_count, mark_capacity;
  uint64_t *chunk_sums; /* of a scan over items, on the device */
};

static int check(struct sl_device *device, GPU(Error_t) error, const char *what) {
  if (error == GPU(Success)) return SL_OK;
  if (device && !device->error[0])
    snprintf(device->error, sizeof device->error, "%s: %s", what, GPU(GetErrorString)(error));
  return SL_EDEVICE;
}
#define CHECK(device, call) check(device, call, #call)

/* Of the calling thread, for the device. */
static thread_local uint64_t waits;

static uint64_t gpu_waits(void) { return waits; }

/* What the calling thread does from here on goes to the stream's device; otherwise the first use of the first GPU would
 * take memory there, and launches to another would fail. */
static struct gpu_stream *gpu(struct sl_stream *stream) {
  (void)GPU(SetDevice)(stream->device->index);
  return (struct gpu_stream *)stream;
}

/* ------------------------------------------------------------------------------------------------- device */

static int gpu_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size) {
  int count = 0;
  const GPU(Error_t) error = GPU(GetDeviceCount)(&count);
  if (error != GPU(Success) || count == 0) {
    snprintf(reason, reason_size, "no usable GPU: %s",
             error != GPU(Success) ? GPU(GetErrorString)(error) : "none found");
    return SL_EDEVICE;
  }
  if (index >= (uint32_t)count) {
    snprintf(reason, reason_size, "there is no GPU number %u; there are %d", index, count);
    return SL_EDEVICE;
  }
  struct sl_device *d = (struct sl_device *)calloc(1, sizeof *d);
  if (!d) return SL_ENOMEM;
  d->index = (int)index;
  if (CHECK(d, GPU(SetDevice)(d->index)) < 0 || CHECK(d, GPU(Free)(NULL)) < 0) {
    snprintf(reason, reason_size, "%s", d->error);
    free(d);
    return SL_EDEVICE;
  }
  *device = d;
  return SL_OK;
}

static void gpu_close(struct sl_device *device) { free(device); }

static void *gpu_allocate(struct sl_device *device, uint64_t bytes) {
  void *memory = NULL;
  (void)GPU(SetDevice)(device->index);
  return CHECK(device, GPU(Malloc)(&memory, bytes ? bytes : 1)) < 0 ? NULL : memory;
}

static void gpu_release(struct sl_device *device, void *memory, uint64_t bytes) {
  (void)device, (void)bytes;
  (void)GPU(Free)(memory);
}

static void *gpu_allocate_host(struct sl_device *device, uint64_t bytes) {
  void *memory = NULL;
  (void)GPU(SetDevice)(device->index);
  if (CHECK(device, GPU_HOST_ALLOC(&memory, bytes ? bytes : 1, 0)) < 0) return NULL;
  return memory;
}

static void gpu_release_host(struct sl_device *device, void *memory, uint64_t bytes) {
  (void)device, (void)bytes;
  (void)GPU_HOST_FREE(memory);
}

static int gpu_free_memory(struct sl_device *device, uint64_t *bytes) {
  size_t free_bytes = 0, all_bytes = 0;
  (void)GPU(SetDevice)(device->index);
  if (CHECK(device, GPU(MemGetInfo)(&free_bytes, &all_bytes)) < 0) return SL_EDEVICE;
  *bytes = free_bytes;
  return SL_OK;
}

/* On a stream of the default kind the copy would wait for everything else. */
static int copy_now(struct sl_device *device, void *to, const void *from, uint64_t bytes, GPU(MemcpyKind) kind) {
  GPU(Stream_t) stream;
  waits++;
  (void)GPU(SetDevice)(device->index);
  int status = CHECK(device, GPU(StreamCreateWithFlags)(&stream, GPU(StreamNonBlocking)));
  if (status < 0) return status;
  status = CHECK(device, GPU(MemcpyAsync)(to, from, bytes, kind, stream));
  if (status == SL_OK) status = CHECK(device, GPU(StreamSynchronize)(stream));
  (void)GPU(StreamDestroy)(stream);
  return status;
}

static int gpu_upload_now(struct sl_device *device, void *to, const void *from, uint64_t bytes) {
  return copy_now(device, to, from, bytes, GPU(MemcpyHostToDevice));
}

static int gpu_download_now(struct sl_device *device, void *to, const void *from, uint64_t bytes) {
  return copy_now(device, to, from, bytes, GPU(MemcpyDeviceToHost));
}

static const char *gpu_error(struct sl_device *device) { return device->error[0] ? device->error : "no error"; }

static void gpu_describe(struct sl_device *device, char *text, size_t size) {
  DEVICE_PROPERTIES properties;
  if (GPU(GetDeviceProperties)(&properties, device->index) != GPU(Success)) return;
  snprintf(text, size, "%s, %d multiprocessors", properties.name, properties.multiProcessorCount);
}

static uint32_t gpu_threads(struct sl_device *device) {
  int processors = 0, threads = 0;
  if (GPU(DeviceGetAttribute)(&processors, PROCESSORS_OF, device->index) != GPU(Success) ||
      GPU(DeviceGetAttribute)(&threads, THREADS_OF, device->index) != GPU(Success))
    return 0;
  return (uint32_t)(processors * threads);
}

#if !defined(SL_TARGET_HIP)
static void gpu_range_begin(const char *name) { nvtxRangePushA(name); }
static void gpu_range_end(void) { nvtxRangePop(); }
#endif

/* ------------------------------------------------------------------------------------------------- stream */

static void gpu_stream_close(struct sl_stream *stream) {
  struct gpu_stream *s = gpu(stream);
  if (s->kernels) (void)GPU(StreamSynchronize)(s->kernels);
  if (s->copies) (void)GPU(StreamSynchronize)(s->copies);
  for (uint32_t f = 0; f < FLIGHTS; f++) {
    if (s->graph[f]) (void)GPU(GraphExecDestroy)(s->graph[f]);
    if (s->uploaded[f]) (void)GPU(EventDestroy)(s->uploaded[f]);
    if (s->finished[f]) (void)GPU(EventDestroy)(s->finished[f]);
  }
  for (uint32_t m = 0; m < s->mark_count; m++) (void)GPU(EventDestroy)(s->marks[m]);
  (void)GPU(Free)(s->chunk_sums);
  free(s->marks);
  if (s->kernels) (void)GPU(StreamDestroy)(s->kernels);
  if (s->copies) (void)GPU(StreamDestroy)(s->copies);
  free(s);
}

static struct sl_stream *gpu_stream_open(struct sl_device *device) {
  struct gpu_stream *s = (struct gpu_stream *)calloc(1, sizeof *s);
  if (!s) return NULL;
  (void)GPU(SetDevice)(device->index);
  s->base.device = device;
  int status = CHECK(device, GPU(StreamCreateWithFlags)(&s->kernels, GPU(StreamNonBlocking)));
  if (status == SL_OK) status = CHECK(device, GPU(StreamCreateWithFlags)(&s->copies, GPU(StreamNonBlocking)));
  if (status == SL_OK)
    status = CHECK(device, GPU(Malloc)((void **)&s->chunk_sums, SCAN_CHUNKS * sizeof *s->chunk_sums));
  for (uint32_t f = 0; f < FLIGHTS && status == SL_OK; f++) {
    status = CHECK(device, GPU(EventCreateWithFlags)(&s->uploaded[f], GPU(EventDisableTiming)));
    if (status == SL_OK)
      status =
          CHECK(device, GPU(EventCreateWithFlags)(&s->finished[f], GPU(EventDisableTiming) | GPU(EventBlockingSync)));
  }
  s->base.handle = s->kernels;
  if (status == SL_OK) return &s->base;
  gpu_stream_close(&s->base);
  return NULL;
}

static int gpu_zero(struct sl_stream *stream, void *memory, uint64_t bytes) {
  return bytes ? CHECK(stream->device, GPU(MemsetAsync)(memory, 0, bytes, gpu(stream)->kernels)) : SL_OK;
}

static int gpu_upload(struct sl_stream *stream, void *to, const void *from, uint64_t bytes) {
  if (!bytes) return SL_OK;
  return CHECK(stream->device, GPU(MemcpyAsync)(to, from, bytes, GPU(MemcpyHostToDevice), gpu(stream)->copies));
}

static int gpu_uploaded(struct sl_stream *stream, uint32_t flight) {
  struct gpu_stream *s = gpu(stream);
  const int status = CHECK(stream->device, GPU(EventRecord)(s->uploaded[flight], s->copies));
  return status < 0 ? status : CHECK(stream->device, GPU(StreamWaitEvent)(s->kernels, s->uploaded[flight], 0));
}

static int gpu_capture_begin(struct sl_stream *stream) {
  return CHECK(stream->device, GPU(StreamBeginCapture)(gpu(stream)->kernels, GPU(StreamCaptureModeThreadLocal)));
}

static int gpu_capture_end(struct sl_stream *stream, uint32_t flight) {
  struct gpu_stream *s = gpu(stream);
  GPU(Graph_t) graph = NULL;
  int status = CHECK(stream->device, GPU(StreamEndCapture)(s->kernels, &graph));
#if defined(SL_TARGET_HIP)
  if (status == SL_OK) status = CHECK(stream->device, hipGraphInstantiate(&s->graph[flight], graph, NULL, NULL, 0));
#else
  if (status == SL_OK) status = CHECK(stream->device, cudaGraphInstantiate(&s->graph[flight], graph, 0));
#endif
  if (graph) (void)GPU(GraphDestroy)(graph);
  return status;
}

static int gpu_replay(struct sl_stream *stream, uint32_t flight) {
  return CHECK(stream->device, GPU(GraphLaunch)(gpu(stream)->graph[flight], gpu(stream)->kernels));
}

static int gpu_finished(struct sl_stream *stream, uint32_t flight) {
  return CHECK(stream->device, GPU(EventRecord)(gpu(stream)->finished[flight], gpu(stream)->kernels));
}

static int gpu_wait(struct sl_stream *stream, uint32_t flight) {
  waits++;
  return CHECK(stream->device, GPU(EventSynchronize)(gpu(stream)->finished[flight]));
}

static __global__ void note(uint8_t *byte, uint8_t value) {
  *(volatile uint8_t *)byte = value;
  __threadfence_system(); /* it is there before what follows can fail */
}

/* By a kernel, since a captured graph goes from kernel to kernel faster than from one to a memset. */
static int gpu_note(struct sl_stream *stream, uint8_t *byte, uint8_t value) {
  note<<<1, 1, 0, gpu(stream)->kernels>>>(byte, value);
  return CHECK(stream->device, GPU(GetLastError)());
}

static int gpu_settle(struct sl_stream *stream) {
  waits++;
  return CHECK(stream->device, GPU(StreamSynchronize)(gpu(stream)->kernels));
}

/* Makes the marks up to `index`. */
static int make_marks(struct gpu_stream *s, uint32_t index) {
  if (index >= s->mark_capacity) {
    const uint32_t capacity = 2 * index + 64;
    GPU(Event_t) *marks = (GPU(Event_t) *)realloc(s->marks, capacity * sizeof *marks);
    if (!marks) return CHECK(s->base.device, GPU(ErrorMemoryAllocation));
    s->marks = marks;
    s->mark_capacity = capacity;
  }
  for (; s->mark_count <= index; s->mark_count++) {
    const int status = CHECK(s->base.device, GPU(EventCreate)(&s->marks[s->mark_count]));
    if (status < 0) return status;
  }
  return SL_OK;
}

static int gpu_mark(struct sl_stream *stream, uint32_t index, uint32_t among) {
  struct gpu_stream *s = gpu(stream);
  const int status = make_marks(s, index);
  if (status < 0) return status;
  return CHECK(stream->device, GPU(EventRecord)(s->marks[index], among == SL_MARK_COPIES ? s->copies : s->kernels));
}

static int gpu_marked_us(struct sl_stream *stream, uint32_t from, uint32_t to, double *microseconds) {
  struct gpu_stream *s = gpu(stream);
  float milliseconds = 0;
  const int status = CHECK(stream->device, GPU(EventElapsedTime)(&milliseconds, s->marks[from], s->marks[to]));
  *microseconds = 1000.0 * milliseconds;
  return status;
}

/* Row y of the grid clears a range, in words of 16 bytes, and its first threads the bytes after them. The byte to note
 * is the host's, if there is one. */
static __global__ void clear_ranges(const struct sl_range *ranges, uint8_t *byte, uint8_t value) {
  const struct sl_range range = ranges[blockIdx.y];
  const uint64_t words = range.bytes / 16, stride = (uint64_t)gridDim.x * blockDim.x;
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t w = thread; w < words; w += stride) ((uint4 *)range.memory)[w] = make_uint4(0, 0, 0, 0);
  if (thread < range.bytes % 16) ((uint8_t *)range.memory)[16 * words + thread] = 0;
  if (byte && thread == 0 && blockIdx.y == 0) {
    *(volatile uint8_t *)byte = value;
    __threadfence_system(); /* it is there before what follows can fail */
  }
}

static int gpu_clear(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
                     uint8_t *byte, uint8_t value) {
  const uint64_t blocks = bytes_max / (16 * CLEAR_THREADS) + 1;
  for (uint32_t first = 0; first < count; first += CLEAR_ROWS) {
    const uint32_t rows = count - first < CLEAR_ROWS ? count - first : CLEAR_ROWS;
    const dim3 grid(blocks < CLEAR_BLOCKS ? (uint32_t)blocks : CLEAR_BLOCKS, rows);
    clear_ranges<<<grid, CLEAR_THREADS, 0, gpu(stream)->kernels>>>(ranges + first, first == 0 ? byte : NULL, value);
  }
  return CHECK(stream->device, GPU(GetLastError)());
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

/* Sum of the values of the threads before this one; *total gets the sum over the block. Ends with a barrier. */
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

/* What scans write down: the total, and which events want more than one may have. */
struct scan_bound {
  uint32_t *used, capacity, event_limit;
  uint64_t limit_error, *errors;
};

static struct scan_bound scan_bound_of(const struct gpu_stream *s, const struct sl_bound *bound) {
  const struct scan_bound none = {NULL, 0, UINT32_MAX, 0, NULL};
  const struct scan_bound some = {bound ? bound->used : NULL, bound ? bound->capacity : 0,
                                  bound ? bound->event_limit : 0, bound ? bound->limit_error : 0, s->base.errors};
  return bound ? some : none;
}

/* Each event is one thread's. */
static __device__ void refuse_above_limit(const struct scan_bound *b, uint32_t event, uint64_t count) {
  if (count <= b->event_limit) return;
  const uint64_t error = b->limit_error | (count < UINT32_MAX ? count : UINT32_MAX);
  if (error > b->errors[event]) b->errors[event] = error;
}

static __device__ void note_used(const struct scan_bound *b, uint64_t total) {
  const uint32_t wanted = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
  if (b->used && wanted > *b->used) *b->used = wanted;
}

/* One block. Reads and writes each count once, and again where the total overflows. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_counts(uint32_t *counts, const uint32_t *event_count, const struct scan_bound bound) {
  const uint32_t n = *event_count;
  uint64_t total = 0;
  for (uint32_t first = 0; first < n; first += SCAN_THREADS * SCAN_ITEMS) {
    const uint32_t begin = first + threadIdx.x * SCAN_ITEMS;
    uint32_t mine[SCAN_ITEMS];
    uint64_t sum = 0, tile;
    for (uint32_t i = 0; i < SCAN_ITEMS; i++) {
      mine[i] = begin + i < n ? counts[begin + i] : 0;
      sum += mine[i];
    }
    uint64_t before = total + scan_block(sum, &tile);
    for (uint32_t i = 0; i < SCAN_ITEMS; i++) {
      if (begin + i < n) {
        counts[begin + i] = (uint32_t)before;
        refuse_above_limit(&bound, begin + i, mine[i]);
      }
      before += mine[i];
    }
    total += tile;
  }
  if (threadIdx.x == 0) counts[n] = (uint32_t)total;
  if (!bound.used) return;
  if (threadIdx.x == 0) note_used(&bound, total);
  __syncthreads();
  if (total <= bound.capacity) return;
  for (uint32_t i = threadIdx.x; i <= n; i += blockDim.x) counts[i] = 0;
}

static int gpu_scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  struct gpu_stream *s = (struct gpu_stream *)l->backend;
  scan_counts<<<1, SCAN_THREADS, 0, s->kernels>>>(counts, s->base.event_count, scan_bound_of(s, bound));
  return CHECK(s->base.device, GPU(GetLastError)());
}

/* The same over items: each block has a chunk of the counts. The first kernel sums it, the second begins where the
 * chunks before end. */
struct item_scan {
  uint32_t *counts;
  const uint32_t *offsets, *event_count;
  uint64_t *sums; /* of each chunk */
  struct scan_bound bound;
};

struct scan_range {
  uint32_t first, begin, end; /* of the slice's items, of this block's chunk */
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
  uint64_t mine = 0, total;
  for (uint32_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) mine += s.counts[i];
  (void)scan_block(mine, &total);
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
    note_used(&s.bound, total);
    if (*s.event_count == 1) refuse_above_limit(&s.bound, 0, total);
  }
  for (uint32_t first = range.begin; first < range.end; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    uint64_t sum;
    const uint32_t count = i < range.end ? s.counts[i] : 0;
    const uint64_t place = before + scan_block(count, &sum);
    if (i < range.end) s.counts[i] = fits ? (uint32_t)place : 0;
    before += sum;
  }
}

/* Of a slice of one event, scan_chunks knows better: its counts may be gone. */
static __global__ void __launch_bounds__(SCAN_THREADS) find_above_limit(const struct item_scan s) {
  if (*s.event_count == 1) return;
  for (uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < *s.event_count; e += gridDim.x * blockDim.x)
    refuse_above_limit(&s.bound, e, s.counts[s.offsets[e + 1]] - s.counts[s.offsets[e]]);
}

static int gpu_scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                          const struct sl_bound *bound) {
  struct gpu_stream *s = (struct gpu_stream *)l->backend;
  struct item_scan scan;
  scan.counts = counts;
  scan.offsets = offsets;
  scan.event_count = s->base.event_count;
  scan.sums = s->chunk_sums;
  scan.bound = scan_bound_of(s, bound);
  sum_chunks<<<SCAN_CHUNKS, SCAN_THREADS, 0, s->kernels>>>(scan);
  scan_chunks<<<SCAN_CHUNKS, SCAN_THREADS, 0, s->kernels>>>(scan);
  if (bound) find_above_limit<<<SCAN_CHUNKS, SCAN_THREADS, 0, s->kernels>>>(scan);
  return CHECK(s->base.device, GPU(GetLastError)());
}

/* -------------------------------------------------------------------------------------------------- lists */

/* One block: counts on how many lists each event is, a warp a list, then keeps the events with enough, in order. */
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
  uint32_t kept = 0;
  for (uint32_t first = 0; first < events; first += blockDim.x) {
    const uint32_t event = first + threadIdx.x;
    const int wanted = event < events && c.tally[event] >= c.wanted;
    uint64_t sum;
    const uint64_t before = scan_block((uint64_t)wanted, &sum);
    if (wanted) c.numbers[kept + before] = event;
    kept += (uint32_t)sum;
  }
  if (threadIdx.x == 0) *c.count = kept;
}

static int gpu_combine(struct sl_stream *stream, const struct sl_combination *combination) {
  combine_lists<<<1, SCAN_THREADS, 0, gpu(stream)->kernels>>>(*combination, stream->event_count);
  return CHECK(stream->device, GPU(GetLastError)());
}

/* ------------------------------------------------------------------------------------------------- packing */

static __device__ uint64_t packed_bytes(const struct sl_pack_field *f, uint32_t events) {
  const uint64_t items = f->offsets ? f->offsets[events] : 0;
  switch (f->shape) {
    case SL_SHAPE_CODE_PER_SLICE:
      return f->entry_bytes;
    case SL_SHAPE_CODE_PER_EVENT:
      return (uint64_t)events * f->entry_bytes;
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

static __device__ uint64_t round_up(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/* Copies 16-byte words, for which both sides are aligned; the first threads of all copy the last bytes. */
static __device__ void copy_words(void *to, const void *from, uint64_t bytes) {
  const uint64_t words = bytes / 16, stride = (uint64_t)gridDim.x * blockDim.x;
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t w = thread; w < words; w += stride) ((uint4 *)to)[w] = ((const uint4 *)from)[w];
  if (thread < bytes % 16) ((uint8_t *)to)[16 * words + thread] = ((const uint8_t *)from)[16 * words + thread];
}

/* Every block computes where the fields go, so many at a time, and copies its share of each; the first one writes the
 * header. */
static __global__ void pack_results(const struct sl_pack p) {
  __shared__ uint64_t bytes[PACK_FIELDS], offsets[PACK_FIELDS + 1];
  __shared__ uint32_t refused;
  const uint32_t events = *p.event_count;
  struct sl_pack_header *header = (struct sl_pack_header *)p.output;
  uint64_t *header_offsets = (uint64_t *)(header + 1);
  uint32_t *header_used = (uint32_t *)(header_offsets + p.field_count);
  if (threadIdx.x == 0) refused = 0;
  uint64_t errors_offset =
      round_up(sizeof *header + p.field_count * sizeof(uint64_t) + p.used_count * sizeof(uint32_t));
  for (uint32_t first = 0; first < p.field_count; first += PACK_FIELDS) {
    const struct sl_pack_field *fields = p.fields + first;
    const uint32_t count = p.field_count - first < PACK_FIELDS ? p.field_count - first : PACK_FIELDS;
    for (uint32_t f = threadIdx.x; f < count; f += blockDim.x) bytes[f] = packed_bytes(&fields[f], events);
    __syncthreads();
    if (threadIdx.x == 0) {
      offsets[0] = errors_offset;
      for (uint32_t f = 0; f < count; f++) offsets[f + 1] = offsets[f] + round_up(bytes[f]);
    }
    __syncthreads();
    for (uint32_t f = 0; f < count; f++) copy_words((char *)p.output + offsets[f], fields[f].source, bytes[f]);
    for (uint32_t f = threadIdx.x; blockIdx.x == 0 && f < count; f += blockDim.x)
      header_offsets[first + f] = offsets[f];
    errors_offset = offsets[count];
    __syncthreads(); /* before the next fields' places are written */
  }
  if (blockIdx.x != 0) return;
  __syncthreads(); /* where there are no fields, `refused` must be 0 first */
  for (uint32_t e = threadIdx.x; e < events; e += blockDim.x)
    if (p.errors[e]) atomicOr(&refused, 1u);
  __syncthreads();
  for (uint32_t e = threadIdx.x; refused && e < events; e += blockDim.x)
    ((uint64_t *)((char *)p.output + errors_offset))[e] = p.errors[e];
  for (uint32_t u = threadIdx.x; u < p.used_count; u += blockDim.x) header_used[u] = p.used[u];
  if (threadIdx.x == 0) {
    header->refused = refused;
    header->field_count = p.field_count;
    header->errors_offset = errors_offset;
    header->bytes = errors_offset + (refused ? events * sizeof(uint64_t) : 0);
  }
}

static int gpu_pack(struct sl_stream *stream, const struct sl_pack *pack) {
  pack_results<<<PACK_BLOCKS, PACK_THREADS, 0, gpu(stream)->kernels>>>(*pack);
  return CHECK(stream->device, GPU(GetLastError)());
}

/* --------------------------------------------------------------------------------------------------------- */

/* hipcc would copy a constant table into device code, where these functions are not. */
#if defined(SL_TARGET_HIP)
#define TABLE
#else
#define TABLE const
#endif
extern "C" __attribute__((visibility("default"))) TABLE struct sl_backend sluice_backend;
TABLE struct sl_backend sluice_backend = {
    .size = sizeof(struct sl_backend),
    .default_slice_events = 1000,
    .target = GPU_TARGET,
    .block_threads = 0,
    .flights = FLIGHTS,
    .is_device = 1,
    .open = gpu_open,
    .close = gpu_close,
    .allocate = gpu_allocate,
    .release = gpu_release,
    .allocate_host = gpu_allocate_host,
    .release_host = gpu_release_host,
    .free_memory = gpu_free_memory,
    .upload_now = gpu_upload_now,
    .download_now = gpu_download_now,
    .stream_open = gpu_stream_open,
    .stream_close = gpu_stream_close,
    .error = gpu_error,
    .describe = gpu_describe,
    .threads = gpu_threads,
#if !defined(SL_TARGET_HIP)
    .range_begin = gpu_range_begin,
    .range_end = gpu_range_end,
#endif
    .zero = gpu_zero,
    .clear = gpu_clear,
    .combine = gpu_combine,
    .scan = gpu_scan,
    .scan_items = gpu_scan_items,
    .upload = gpu_upload,
    .uploaded = gpu_uploaded,
    .pack = gpu_pack,
    .capture_begin = gpu_capture_begin,
    .capture_end = gpu_capture_end,
    .replay = gpu_replay,
    .finished = gpu_finished,
    .wait = gpu_wait,
    .note = gpu_note,
    .waits = gpu_waits,
    .settle = gpu_settle,
    .mark = gpu_mark,
    .marked_us = gpu_marked_us,
};
