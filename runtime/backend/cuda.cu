/* cuda.cu: the backend of targets cuda and hip, in a library of its own (backends/cuda.so), so that the rest of Sluice
 * does not depend on the vendor's runtime.
 *
 * A slot has two streams, for kernels and for uploads. One GPU event per slice in flight makes kernels wait for their
 * input, another one makes the host wait for the end of the slice. The kernels of a slice are captured once per slice
 * index and replayed in one launch; the kernels of further branches are enqueued on additional streams, which the
 * capture includes. Results are packed directly into pinned host memory, which the device writes over the bus while it
 * computes later slices. Also launches the kernels of the executor: scans of counts, unions and intersections of event
 * lists, packing of results.
 */
#include "backend/backend.h"
#include "backend/gpu_arena.h"
#include "backend/gpu_energy.h"
#include "backend/gpu_kernels.h"

#include <sluice/kept.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SLICES_IN_FLIGHT = 2,
  SCAN_EVENTS = 16, /* events per block of a scan over items */
  CLEAR_THREADS = 256,
  CLEAR_BLOCKS = 256,
  CLEAR_ROWS = 65535, /* rows of a grid */
  PACK_BLOCKS = 64,
};

struct sl_device {
  int index;
  pthread_mutex_t lock;      /* for `error`, which the first failure in any slot sets */
  pthread_mutex_t capturing; /* held during a capture: the device must not be waited for meanwhile */
  char error[256];
};

/* GPU events by index, created on first use. Kernels run once before they are captured, so that no event is created
 * during a capture. */
struct gpu_events {
  GPU(Event_t) * at; /* NULL: not created yet */
  uint32_t capacity;
};

struct gpu_stream {
  struct sl_stream base;
  uint32_t overlaps, is_joined, *scan_blocks, is_shared, reserved; /* as in sluice/kernel_cuda_launch.h */
  GPU(Stream_t) kernels, copies;
  GPU(Event_t) uploaded[SLICES_IN_FLIGHT], finished[SLICES_IN_FLIGHT];
  GPU(GraphExec_t) graph[SLICES_IN_FLIGHT];
  struct gpu_events marks;           /* for --profile and --trace */
  struct gpu_events reached;         /* for branches */
  struct item_scan_state *item_scan; /* on the device */
};

static_assert(sizeof(struct sl_stream) == offsetof(struct sl_cuda_stream, overlaps) &&
                  offsetof(struct gpu_stream, overlaps) == offsetof(struct sl_cuda_stream, overlaps) &&
                  offsetof(struct gpu_stream, is_shared) == offsetof(struct sl_cuda_stream, is_shared),
              "a gpu_stream begins like the plugins' view of it");

static int check(struct sl_device *device, GPU(Error_t) error, const char *what) {
  if (error == GPU(Success)) return SL_OK;
  pthread_mutex_lock(&device->lock);
  if (!device->error[0]) snprintf(device->error, sizeof device->error, "%s: %s", what, GPU(GetErrorString)(error));
  pthread_mutex_unlock(&device->lock);
  return SL_EDEVICE;
}
#define CHECK(device, call) check(device, call, #call)

/* Launches a kernel of the executor on the kernels' stream of a gpu_stream. */
#define LAUNCH(s, kernel, grid, threads, ...)                                           \
  (sl_cuda_launch((struct sl_cuda_stream *)(s), kernel, grid, threads, 0, __VA_ARGS__), \
   CHECK((s)->base.device, GPU(GetLastError)()))

/* Waits of the calling thread for the device. */
static thread_local uint64_t waits;

static uint64_t gpu_waits(void) { return waits; }

/* Makes the stream's device current for the calling thread. Otherwise the first call would allocate memory on the first
 * GPU, and launches on another GPU would fail. */
static struct gpu_stream *gpu(struct sl_stream *stream) {
  (void)GPU(SetDevice)(stream->device->index);
  return (struct gpu_stream *)stream;
}

/* ------------------------------------------------------------------------------------------------- device */

static uint32_t gpu_count(void) {
  int count = 0;
  return GPU(GetDeviceCount)(&count) == GPU(Success) && count > 0 ? (uint32_t)count : 0;
}

static void gpu_close(struct sl_device *device) {
  pthread_mutex_destroy(&device->lock);
  pthread_mutex_destroy(&device->capturing);
  free(device);
}

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
  pthread_mutex_init(&d->lock, NULL);
  pthread_mutex_init(&d->capturing, NULL);
  if (CHECK(d, GPU(SetDevice)(d->index)) < 0 || CHECK(d, GPU(Free)(NULL)) < 0) {
    snprintf(reason, reason_size, "%s", d->error);
    gpu_close(d);
    return SL_EDEVICE;
  }
  *device = d;
  return SL_OK;
}

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
  if (CHECK(device, GPU_HOST_ALLOC(&memory, bytes ? bytes : 1, GPU_HOST_PORTABLE)) < 0) return NULL;
  return memory;
}

static void gpu_release_host(struct sl_device *device, void *memory, uint64_t bytes) {
  (void)device, (void)bytes;
  (void)GPU_HOST_FREE(memory);
}

static struct sl_arena *gpu_arena_open(struct sl_device *device, uint64_t bytes_max) {
  return arena_open(device->index, bytes_max);
}

static int gpu_free_memory(struct sl_device *device, uint64_t *bytes) {
  size_t free_bytes = 0, all_bytes = 0;
  (void)GPU(SetDevice)(device->index);
  if (CHECK(device, GPU(MemGetInfo)(&free_bytes, &all_bytes)) < 0) return SL_EDEVICE;
  *bytes = free_bytes;
  return SL_OK;
}

/* Uses a stream of its own: on the default stream the copy would wait for all other work. */
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

static int gpu_device_of(const void *memory, uint32_t *index) {
  POINTER_ATTRIBUTES attributes;
  if (GPU(PointerGetAttributes)(&attributes, memory) != GPU(Success)) return SL_EDEVICE;
  if (!IS_DEVICE_MEMORY(attributes)) return SL_EDEVICE;
  *index = (uint32_t)attributes.device;
  return SL_OK;
}

static const char *gpu_error(struct sl_device *device) { return device->error[0] ? device->error : "unknown reason"; }

static void gpu_describe(struct sl_device *device, char *text, size_t size) {
  DEVICE_PROPERTIES properties;
  if (GPU(GetDeviceProperties)(&properties, device->index) != GPU(Success)) return;
  snprintf(text, size, "%s, %d multiprocessors", properties.name, properties.multiProcessorCount);
}

/* Returns the NUMA node near the device according to Linux; -1: all nodes, or unknown. */
static int gpu_numa_node(struct sl_device *device) {
  char bus[32] = "", path[96];
  int node = -1;
  if (GPU(DeviceGetPCIBusId)(bus, sizeof bus, device->index) != GPU(Success)) return -1;
  for (char *c = bus; *c; c++)
    if (*c >= 'A' && *c <= 'F') *c = (char)(*c - 'A' + 'a'); /* the folder name is in lower case */
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", bus);
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  if (fscanf(file, "%d", &node) != 1) node = -1;
  fclose(file);
  return node;
}

#if !defined(SL_TARGET_HIP)
static int gpu_energy(struct sl_device *device, double *joules, char *reason, size_t reason_size) {
  char bus[32] = "";
  if (CHECK(device, GPU(DeviceGetPCIBusId)(bus, sizeof bus, device->index)) < 0) {
    snprintf(reason, reason_size, "%s", device->error);
    return SL_EDEVICE;
  }
  return nvml_energy(bus, joules, reason, reason_size) < 0 ? SL_EDEVICE : SL_OK;
}
#endif

static uint32_t gpu_threads(struct sl_device *device) {
  int processors = 0, threads = 0;
  if (GPU(DeviceGetAttribute)(&processors, PROCESSORS_OF, device->index) != GPU(Success) ||
      GPU(DeviceGetAttribute)(&threads, THREADS_OF, device->index) != GPU(Success))
    return 0;
  return (uint32_t)(processors * threads);
}

static uint32_t gpu_shared_bytes(struct sl_device *device) {
  int bytes = 0;
  if (GPU(DeviceGetAttribute)(&bytes, SHARED_BYTES_OF, device->index) != GPU(Success)) return 0;
  return bytes > SL_SHARED_RESERVED ? (uint32_t)(bytes - SL_SHARED_RESERVED) : 0;
}

#if !defined(SL_TARGET_HIP)
static void gpu_range_begin(const char *name) { nvtxRangePushA(name); }
static void gpu_range_end(void) { nvtxRangePop(); }
#endif

/* ------------------------------------------------------------------------------------------------- stream */

static GPU(Event_t) event_at(struct gpu_stream *s, struct gpu_events *events, uint32_t index, unsigned flags) {
  if (index >= events->capacity) {
    const uint32_t capacity = 2 * index + 64;
    GPU(Event_t) *at = (GPU(Event_t) *)realloc(events->at, capacity * sizeof *at);
    if (!at) return (void)CHECK(s->base.device, GPU(ErrorMemoryAllocation)), (GPU(Event_t))NULL;
    memset(at + events->capacity, 0, (capacity - events->capacity) * sizeof *at);
    events->at = at;
    events->capacity = capacity;
  }
  if (!events->at[index] && CHECK(s->base.device, GPU(EventCreateWithFlags)(&events->at[index], flags)) < 0)
    events->at[index] = NULL;
  return events->at[index];
}

static void close_events(struct gpu_events *events) {
  for (uint32_t i = 0; i < events->capacity; i++)
    if (events->at[i]) (void)GPU(EventDestroy)(events->at[i]);
  free(events->at);
}

static void gpu_stream_close(struct sl_stream *stream) {
  struct gpu_stream *s = gpu(stream);
  if (s->kernels) (void)GPU(StreamSynchronize)(s->kernels);
  if (s->copies) (void)GPU(StreamSynchronize)(s->copies);
  for (uint32_t f = 0; f < SLICES_IN_FLIGHT; f++) {
    if (s->graph[f]) (void)GPU(GraphExecDestroy)(s->graph[f]);
    if (s->uploaded[f]) (void)GPU(EventDestroy)(s->uploaded[f]);
    if (s->finished[f]) (void)GPU(EventDestroy)(s->finished[f]);
  }
  close_events(&s->marks);
  close_events(&s->reached);
  (void)GPU(Free)(s->item_scan);
  if (s->kernels) (void)GPU(StreamDestroy)(s->kernels);
  if (s->copies) (void)GPU(StreamDestroy)(s->copies);
  free(s);
}

/* Programmatic dependent launch needs compute capability 9.0, and in captured graphs a driver of CUDA 12.3. */
static uint32_t can_overlap(int device) {
#if defined(SL_TARGET_HIP)
  (void)device;
  return 0;
#else
  enum { MAJOR_MIN = 9, DRIVER_MIN = 12030 };
  int major = 0, driver = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         cudaDriverGetVersion(&driver) == cudaSuccess && major >= MAJOR_MIN && driver >= DRIVER_MIN;
#endif
}

static struct sl_stream *gpu_stream_open(struct sl_device *device, uint32_t slots) {
  enum { SHARING = 3 }; /* slots; two run side by side too rarely (docs/lab/rates-gpu.md) */
  struct gpu_stream *s = (struct gpu_stream *)calloc(1, sizeof *s);
  if (!s) return NULL;
  (void)GPU(SetDevice)(device->index);
  s->base.device = device;
  int status = CHECK(device, GPU(StreamCreateWithFlags)(&s->kernels, GPU(StreamNonBlocking)));
  if (status == SL_OK) status = CHECK(device, GPU(StreamCreateWithFlags)(&s->copies, GPU(StreamNonBlocking)));
  if (status == SL_OK) status = CHECK(device, GPU(Malloc)((void **)&s->item_scan, sizeof *s->item_scan));
  if (status == SL_OK) status = CHECK(device, GPU(MemsetAsync)(s->item_scan, 0, sizeof *s->item_scan, s->kernels));
  for (uint32_t f = 0; f < SLICES_IN_FLIGHT && status == SL_OK; f++) {
    status = CHECK(device, GPU(EventCreateWithFlags)(&s->uploaded[f], GPU(EventDisableTiming)));
    if (status == SL_OK)
      status =
          CHECK(device, GPU(EventCreateWithFlags)(&s->finished[f], GPU(EventDisableTiming) | GPU(EventBlockingSync)));
  }
  s->base.handle = s->kernels;
  s->overlaps = can_overlap(device->index);
  s->scan_blocks = &s->item_scan->blocks;
  s->is_shared = slots >= SHARING;
  if (status == SL_OK) return &s->base;
  gpu_stream_close(&s->base);
  return NULL;
}

static int gpu_zero(struct sl_stream *stream, void *memory, uint64_t bytes) {
  gpu(stream)->is_joined = 1;
  return bytes ? CHECK(stream->device, GPU(MemsetAsync)(memory, 0, bytes, gpu(stream)->kernels)) : SL_OK;
}

static int gpu_upload(struct sl_stream *stream, void *to, const void *from, uint64_t bytes) {
  if (!bytes) return SL_OK;
  return CHECK(stream->device, GPU(MemcpyAsync)(to, from, bytes, GPU(MemcpyHostToDevice), gpu(stream)->copies));
}

static int gpu_uploaded(struct sl_stream *stream, uint32_t slice_index) {
  struct gpu_stream *s = gpu(stream);
  s->is_joined = 1;
  const int status = CHECK(stream->device, GPU(EventRecord)(s->uploaded[slice_index], s->copies));
  return status < 0 ? status : CHECK(stream->device, GPU(StreamWaitEvent)(s->kernels, s->uploaded[slice_index], 0));
}

static int gpu_capture_begin(struct sl_stream *stream) {
  gpu(stream)->is_joined = 1;
  pthread_mutex_lock(&stream->device->capturing);
  const int status =
      CHECK(stream->device, GPU(StreamBeginCapture)(gpu(stream)->kernels, GPU(StreamCaptureModeThreadLocal)));
  if (status < 0) pthread_mutex_unlock(&stream->device->capturing);
  return status;
}

static int gpu_capture_end(struct sl_stream *stream, uint32_t slice_index) {
  struct gpu_stream *s = gpu(stream);
  GPU(Graph_t) graph = NULL;
  int status = CHECK(stream->device, GPU(StreamEndCapture)(s->kernels, &graph));
  pthread_mutex_unlock(&stream->device->capturing);
  if (s->graph[slice_index]) (void)GPU(GraphExecDestroy)(s->graph[slice_index]);
  s->graph[slice_index] = NULL;
#if defined(SL_TARGET_HIP)
  if (status == SL_OK)
    status = CHECK(stream->device, hipGraphInstantiate(&s->graph[slice_index], graph, NULL, NULL, 0));
#else
  if (status == SL_OK) status = CHECK(stream->device, cudaGraphInstantiate(&s->graph[slice_index], graph, 0));
#endif
  if (graph) (void)GPU(GraphDestroy)(graph);
  return status;
}

static int gpu_replay(struct sl_stream *stream, uint32_t slice_index) {
  return CHECK(stream->device, GPU(GraphLaunch)(gpu(stream)->graph[slice_index], gpu(stream)->kernels));
}

static int gpu_finished(struct sl_stream *stream, uint32_t slice_index) {
  return CHECK(stream->device, GPU(EventRecord)(gpu(stream)->finished[slice_index], gpu(stream)->kernels));
}

static int gpu_wait(struct sl_stream *stream, uint32_t slice_index) {
  waits++;
  return CHECK(stream->device, GPU(EventSynchronize)(gpu(stream)->finished[slice_index]));
}

/* A kernel, because in a captured graph a kernel follows a kernel faster than a memset does. */
static int gpu_note(struct sl_stream *stream, uint8_t *byte, uint8_t value) {
  return LAUNCH(gpu(stream), note, 1, 1, byte, value);
}

static int gpu_settle(struct sl_stream *stream) {
  waits++;
  return CHECK(stream->device, GPU(StreamSynchronize)(gpu(stream)->kernels));
}

static int gpu_settle_device(struct sl_device *device) {
  waits++;
  (void)GPU(SetDevice)(device->index);
  pthread_mutex_lock(&device->capturing);
  const int status = CHECK(device, GPU(DeviceSynchronize)());
  pthread_mutex_unlock(&device->capturing);
  return status;
}

static int gpu_mark(struct sl_stream *stream, uint32_t index, uint32_t among) {
  struct gpu_stream *s = gpu(stream);
  const GPU(Event_t) event = event_at(s, &s->marks, index, GPU(EventDefault));
  if (!event) return SL_EDEVICE;
  return CHECK(stream->device, GPU(EventRecord)(event, among == SL_MARK_COPIES ? s->copies : s->kernels));
}

static int gpu_marked_us(struct sl_stream *stream, uint32_t from, uint32_t to, double *microseconds) {
  struct gpu_stream *s = gpu(stream);
  float milliseconds = 0;
  const int status = CHECK(stream->device, GPU(EventElapsedTime)(&milliseconds, s->marks.at[from], s->marks.at[to]));
  *microseconds = 1000.0 * milliseconds;
  return status;
}

static int gpu_reached(struct sl_stream *stream, uint32_t index) {
  struct gpu_stream *s = gpu(stream);
  const GPU(Event_t) event = event_at(s, &s->reached, index, GPU(EventDisableTiming));
  return event ? CHECK(stream->device, GPU(EventRecord)(event, s->kernels)) : SL_EDEVICE;
}

static int gpu_wait_for(struct sl_stream *stream, struct sl_stream *other, uint32_t index) {
  const GPU(Event_t) event = gpu(other)->reached.at[index];
  gpu(stream)->is_joined = 1;
  return CHECK(stream->device, GPU(StreamWaitEvent)(gpu(stream)->kernels, event, 0));
}

static int gpu_clear(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
                     uint8_t *byte, uint8_t value) {
  const uint64_t blocks = bytes_max / (16 * CLEAR_THREADS) + 1;
  int status = SL_OK;
  for (uint32_t first = 0; first < count && status == SL_OK; first += CLEAR_ROWS) {
    const uint32_t rows = count - first < CLEAR_ROWS ? count - first : CLEAR_ROWS;
    const dim3 grid(blocks < CLEAR_BLOCKS ? (uint32_t)blocks : CLEAR_BLOCKS, rows);
    status = LAUNCH(gpu(stream), clear_ranges, grid, CLEAR_THREADS, ranges + first, first == 0 ? byte : NULL, value);
  }
  return status;
}

/* ------------------------------------------------------------------------------------- scans, lists, packing */

static int gpu_scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  struct gpu_stream *s = (struct gpu_stream *)l->backend;
  return LAUNCH(s, scan_counts, 1, SCAN_THREADS, counts, s->base.event_count, sl_cuda_bound_of(bound, s->base.errors));
}

static int gpu_scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                          const struct sl_bound *bound) {
  struct gpu_stream *s = (struct gpu_stream *)l->backend;
  struct item_scan scan;
  scan.counts = counts;
  scan.offsets = offsets;
  scan.event_count = s->base.event_count;
  scan.state = s->item_scan;
  scan.bound = sl_cuda_bound_of(bound, s->base.errors);
  const uint32_t chunks = l->events_max / SCAN_EVENTS + 1;
  return LAUNCH(s, scan_items, chunks < SCAN_CHUNKS ? chunks : SCAN_CHUNKS, SCAN_THREADS, scan);
}

static int gpu_combine(struct sl_stream *stream, const struct sl_combination *combination) {
  return LAUNCH(gpu(stream), combine_lists, 1, SCAN_THREADS, *combination, stream->event_count);
}

static int gpu_pack(struct sl_stream *stream, const struct sl_pack *pack) {
  return LAUNCH(gpu(stream), pack_results, PACK_BLOCKS, PACK_FIELDS, *pack);
}

/* --------------------------------------------------------------------------------------------------------- */

/* hipcc would copy a constant table into device code, where these functions do not exist. */
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
    .slices_in_flight = SLICES_IN_FLIGHT,
    .is_device = 1,
    .memory_kind = GPU_MEMORY,
    .open = gpu_open,
    .count = gpu_count,
    .close = gpu_close,
    .allocate = gpu_allocate,
    .release = gpu_release,
    .allocate_host = gpu_allocate_host,
    .release_host = gpu_release_host,
    .arena_open = gpu_arena_open,
    .arena_resize = arena_resize,
    .arena_close = arena_close,
    .free_memory = gpu_free_memory,
    .upload_now = gpu_upload_now,
    .download_now = gpu_download_now,
    .stream_open = gpu_stream_open,
    .stream_close = gpu_stream_close,
    .error = gpu_error,
    .describe = gpu_describe,
    .device_of = gpu_device_of,
    .numa_node = gpu_numa_node,
#if !defined(SL_TARGET_HIP)
    .energy = gpu_energy,
#endif
    .threads = gpu_threads,
    .shared_bytes = gpu_shared_bytes,
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
    .reached = gpu_reached,
    .wait_for = gpu_wait_for,
    .finished = gpu_finished,
    .wait = gpu_wait,
    .note = gpu_note,
    .waits = gpu_waits,
    .settle = gpu_settle,
    .settle_device = gpu_settle_device,
    .mark = gpu_mark,
    .marked_us = gpu_marked_us,
};
