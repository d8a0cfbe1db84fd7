/* mock_backend.c: a device with its own memory, simulated in host memory, to test what the executor does for a GPU:
 * uploads, two slices in flight per slot, capture and replay of kernels, packed results, one wait per slice. Work is
 * done when the host waits for it, in an order that the streams allow (mock_queue.h); if a wait fails, no work was
 * done. Memory starts with a poison value, so that missing uploads are noticed. Environment variables:
 *   SLUICE_MOCK_DEVICES=N: number of devices, default 1
 *   SLUICE_MOCK_FAIL="[D@][FUNCTION:]N[+] ...": the Nth call (on device D, of FUNCTION) fails; +: and all later ones
 *   SLUICE_MOCK_MEET=N: the first wait of each device blocks until N devices have waited or failed
 *   SLUICE_MOCK_SLOW=D@US: device D takes US microseconds longer for each wait, of a slice or a part of one
 *   SLUICE_MOCK_WAITS=1: each combined list counts as a wait
 *   SLUICE_MOCK_MEMORY=BYTES[,BYTES...]: memory of all devices, or of each
 *   SLUICE_MOCK_LOG=FILE: appends a line per captured kernel or call, with the number of cleared ranges
 * sluice_mock_faults counts the calls that failed on request, sluice_mock_settled the waits for a whole device. */
#include "backend/backend.h"
#include "layout/bind.h"
#include "toy/mock_queue.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES_MAX = 8, FAULTS_MAX = 4 };

struct sl_device {
  uint32_t index;
  int has_arrived; /* its first wait has begun, or a call has failed */
  uint64_t taken_bytes;
};
static struct sl_device devices[DEVICES_MAX];

/* -------------------------------------------------------------------------------------------------- faults */

struct fault {
  char function[32]; /* "" for any function */
  int device;        /* -1: any device */
  int stays;
  uint64_t calls_left; /* 0: it has failed */
};
static struct fault faults[FAULTS_MAX];
static uint32_t fault_count;
static char failure[DEVICES_MAX][64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables above, and the devices */
static pthread_cond_t has_changed = PTHREAD_COND_INITIALIZER;
static uint32_t arrived_count; /* number of devices with has_arrived */

__attribute__((visibility("default"))) extern atomic_uint sluice_mock_faults;
atomic_uint sluice_mock_faults;
__attribute__((visibility("default"))) extern atomic_uint sluice_mock_settled;
atomic_uint sluice_mock_settled;

static int is_hit(struct fault *f, const struct sl_device *device, const char *function) {
  if (f->device >= 0 && (uint32_t)f->device != device->index) return 0;
  if (f->function[0] && strcmp(f->function, function) != 0) return 0;
  if (f->calls_left == 0) return f->stays;
  return --f->calls_left == 0;
}

/* Requires the lock. */
static void arrive_locked(uint32_t index) {
  arrived_count += !devices[index].has_arrived;
  devices[index].has_arrived = 1;
  pthread_cond_broadcast(&has_changed);
}

/* Waits at most 200 ms, so that a test with fewer devices continues. */
static void wait_for_devices(const struct sl_device *device) {
  const char *text = getenv("SLUICE_MOCK_MEET");
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += 200000000;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  pthread_mutex_lock(&lock);
  const int is_first = !device->has_arrived;
  arrive_locked(device->index);
  while (is_first && text && arrived_count < (uint32_t)atoi(text))
    if (pthread_cond_timedwait(&has_changed, &lock, &end)) break;
  pthread_mutex_unlock(&lock);
}

/* Keeps the first text, because other threads may be reading it. */
static void record_failure_locked(const struct sl_device *device, const char *text) {
  if (!failure[device->index][0]) snprintf(failure[device->index], sizeof *failure, "%s", text);
}
static void record_failure(const struct sl_device *device, const char *text) {
  pthread_mutex_lock(&lock);
  record_failure_locked(device, text);
  pthread_mutex_unlock(&lock);
}

/* Returns 1 if this call must fail. */
static int fails(const struct sl_device *device, const char *function) {
  int is_failing = 0;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < fault_count; i++) is_failing |= is_hit(&faults[i], device, function);
  if (is_failing) arrive_locked(device->index);
  char text[64];
  snprintf(text, sizeof text, "%s failed as it was asked to", function);
  if (is_failing) record_failure_locked(device, text);
  pthread_mutex_unlock(&lock);
  if (is_failing) atomic_fetch_add(&sluice_mock_faults, 1);
  return is_failing;
}
static int result(const struct sl_stream *stream, const char *function) {
  return fails(stream->device, function) ? SL_EDEVICE : SL_OK;
}

/* Form: "1@FUNCTION:12+" */
static struct fault read_fault(const char *text) {
  struct fault f = {"", -1, 0, 0};
  const char *at = strchr(text, '@'), *colon = strchr(text, ':');
  char *end = NULL;
  if (at) f.device = atoi(text), text = at + 1;
  snprintf(f.function, sizeof f.function, "%.*s", colon ? (int)(colon - text) : 0, text);
  f.calls_left = strtoull(colon ? colon + 1 : text, &end, 10);
  f.stays = *end == '+';
  return f;
}

static void read_faults(void) {
  char text[256], *rest = text, *word;
  const char *all = getenv("SLUICE_MOCK_FAIL");
  snprintf(text, sizeof text, "%s", all ? all : "");
  for (fault_count = 0; (word = strsep(&rest, " ")) && fault_count < FAULTS_MAX;)
    if (read_fault(word).calls_left > 0) faults[fault_count++] = read_fault(word);
  memset(failure, 0, sizeof failure);
  arrived_count = 0;
}

static void be_slow(const struct sl_device *device) {
  const char *text = getenv("SLUICE_MOCK_SLOW"), *at = text ? strchr(text, '@') : NULL;
  if (at && (uint32_t)atoi(text) == device->index) usleep((useconds_t)atoi(at + 1));
}

static _Thread_local uint64_t waits;
static uint64_t mock_waits(void) { return waits; }

static _Thread_local int is_capturing;
static void log_captured(const char *format, ...) {
  const char *path = getenv("SLUICE_MOCK_LOG");
  FILE *file = path && is_capturing ? fopen(path, "a") : NULL;
  if (!file) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fclose(file);
}

static uint32_t mock_count(void) {
  const char *text = getenv("SLUICE_MOCK_DEVICES");
  const int count = text ? atoi(text) : 1;
  return count > DEVICES_MAX ? DEVICES_MAX : (uint32_t)count;
}

static uint32_t open_count;
static int mock_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size) {
  if (index >= mock_count()) {
    snprintf(reason, reason_size, "there is no mock device number %u; there are %u", index, mock_count());
    return SL_EDEVICE;
  }
  if (open_count == 0) read_faults();
  devices[index].has_arrived = 0;
  devices[index].index = index;
  if (fails(&devices[index], "open")) {
    snprintf(reason, reason_size, "%s", failure[index]);
    return SL_EDEVICE;
  }
  open_count++;
  *device = &devices[index];
  return SL_OK;
}
static void mock_close(struct sl_device *device) {
  (void)device;
  open_count--;
}

static void *mock_allocate_host(struct sl_device *device, uint64_t bytes) {
  if (fails(device, "allocate")) return NULL;
  void *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (memory) memset(memory, 0xA5, bytes);
  return memory;
}
static void mock_release_host(struct sl_device *device, void *memory, uint64_t bytes) {
  (void)device, (void)bytes;
  free(memory);
}

/* Memory of the device; UINT64_MAX if unlimited. */
static uint64_t all_memory(const struct sl_device *device) {
  const char *text = getenv("SLUICE_MOCK_MEMORY");
  for (uint32_t i = 0; text && i < device->index && strchr(text, ','); i++) text = strchr(text, ',') + 1;
  return text ? strtoull(text, NULL, 10) : UINT64_MAX;
}

static int mock_free_memory(struct sl_device *device, uint64_t *bytes) {
  const uint64_t all = all_memory(device);
  pthread_mutex_lock(&lock);
  const uint64_t taken = device->taken_bytes;
  pthread_mutex_unlock(&lock);
  *bytes = all > taken ? all - taken : 0;
  /* Reporting free memory fails only if the fault names the function, because this failure ends no run. */
  const int is_named = fault_count > 0 && strcmp(faults[0].function, "free_memory") == 0;
  return is_named && fails(device, "free_memory") ? SL_EDEVICE : SL_OK;
}
static void *mock_allocate(struct sl_device *device, uint64_t bytes) {
  pthread_mutex_lock(&lock);
  const int is_room = all_memory(device) - device->taken_bytes >= bytes;
  pthread_mutex_unlock(&lock);
  void *memory = is_room ? mock_allocate_host(device, bytes) : NULL;
  pthread_mutex_lock(&lock);
  if (memory) device->taken_bytes += bytes;
  pthread_mutex_unlock(&lock);
  return memory;
}
static void mock_release(struct sl_device *device, void *memory, uint64_t bytes) {
  pthread_mutex_lock(&lock);
  if (memory) device->taken_bytes -= bytes;
  pthread_mutex_unlock(&lock);
  mock_release_host(device, memory, bytes);
}

/* Arenas move when they change, and are full of poison again. */
struct sl_arena {
  struct sl_device *device;
  void *memory;
  uint64_t bytes, bytes_max;
};
static struct sl_arena *mock_arena_open(struct sl_device *device, uint64_t bytes_max) {
  struct sl_arena *a = fails(device, "arena_open") ? NULL : calloc(1, sizeof *a);
  if (a) *a = (struct sl_arena){device, NULL, 0, bytes_max};
  return a;
}
static void *mock_arena_resize(struct sl_arena *a, uint64_t bytes) {
  if (bytes > a->bytes_max || fails(a->device, "arena_resize")) return NULL;
  void *memory = mock_allocate(a->device, bytes);
  if (!memory) return NULL;
  mock_release(a->device, a->memory, a->bytes);
  a->memory = memory;
  a->bytes = bytes;
  return memory;
}
static void mock_arena_close(struct sl_arena *a) {
  mock_release(a->device, a->memory, a->bytes);
  free(a);
}

/* The test harness also copies its canaries, which AddressSanitizer would report; on a GPU it does not see the copies.
 */
__attribute__((no_sanitize("address"))) static void copy_unseen(void *to, const void *from, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i++) ((volatile unsigned char *)to)[i] = ((const volatile unsigned char *)from)[i];
}

static int mock_upload_now(struct sl_device *device, void *to, const void *from, uint64_t bytes) {
  waits++;
  if (fails(device, "copy_now")) return SL_EDEVICE;
  copy_unseen(to, from, bytes);
  return SL_OK;
}

static int launch_kernel(struct sl_stream *stream, mock_job *job, const void *args, size_t bytes) {
  log_captured("kernel\n");
  return mock_queue_add(stream, job, args, bytes);
}

static struct sl_stream *mock_stream_open(struct sl_device *device, uint32_t slots) {
  (void)slots;
  struct sl_stream *stream = fails(device, "stream_open") ? NULL : mock_queue_open(launch_kernel);
  if (stream) stream->device = device;
  return stream;
}

/* Enqueues a job with its arguments; returns an error if the call must fail. */
#define ENQUEUE(stream, function, ...)                                    \
  __extension__({                                                         \
    const __typeof__(__VA_ARGS__) sl_args = __VA_ARGS__;                  \
    enqueue(stream, #function, function##_job, &sl_args, sizeof sl_args); \
  })
static int enqueue(struct sl_stream *stream, const char *function, mock_job *job, const void *args, size_t bytes) {
  const int status = mock_queue_add(stream, job, args, bytes);
  return status == SL_OK ? result(stream, function) : status;
}

static const char *mock_error(struct sl_device *device) {
  return failure[device->index][0] ? failure[device->index] : "it does not say why";
}

struct zero_args {
  void *memory;
  uint64_t bytes;
};
static int zero_job(const void *args) {
  const struct zero_args *a = args;
  memset(a->memory, 0, a->bytes);
  return SL_OK;
}
static int mock_zero(struct sl_stream *stream, void *memory, uint64_t bytes) {
  log_captured("zero\n");
  return ENQUEUE(stream, zero, (struct zero_args){memory, bytes});
}

struct note_args {
  uint8_t *byte, value;
};
static int note_job(const void *args) {
  const struct note_args *a = args;
  *a->byte = a->value;
  return SL_OK;
}
static int mock_note(struct sl_stream *stream, uint8_t *byte, uint8_t value) {
  log_captured("note %u\n", value);
  return ENQUEUE(stream, note, (struct note_args){byte, value});
}

struct clear_args {
  const struct sl_range *ranges;
  uint32_t count;
  uint64_t bytes_max;
  struct note_args note;
};
static int clear_job(const void *args) {
  const struct clear_args *a = args;
  if (a->note.byte) note_job(&a->note);
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->ranges[i].bytes > a->bytes_max) return SL_EDEVICE;
    memset(a->ranges[i].memory, 0, a->ranges[i].bytes);
  }
  return SL_OK;
}
static int mock_clear(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
                      uint8_t *byte, uint8_t value) {
  log_captured(byte ? "clear %u note %u\n" : "clear %u\n", count, value);
  return ENQUEUE(stream, clear, (struct clear_args){ranges, count, bytes_max, {byte, value}});
}

static int mock_upload(struct sl_stream *stream, void *to, const void *from, uint64_t bytes) {
  memcpy(to, from, bytes);
  return result(stream, "upload");
}

static int mock_uploaded(struct sl_stream *stream, uint32_t slice_index) {
  (void)slice_index; /* the upload was done at once */
  return result(stream, "uploaded");
}
static int mock_capture_begin(struct sl_stream *stream) {
  const int status = mock_queue_capture_begin(stream);
  is_capturing = 1;
  return status == SL_OK ? result(stream, "capture_begin") : status;
}
static int mock_capture_end(struct sl_stream *stream, uint32_t slice_index) {
  const int status = mock_queue_capture_end(stream, slice_index);
  is_capturing = 0;
  if (status < 0) record_failure(stream->device, "a branch was not joined");
  return status == SL_OK ? result(stream, "capture_end") : status;
}
static int mock_replay(struct sl_stream *stream, uint32_t slice_index) {
  const int status = mock_queue_replay(stream, slice_index);
  return status == SL_OK ? result(stream, "replay") : status;
}
static int mock_reached(struct sl_stream *stream, uint32_t index) {
  const int status = mock_queue_reached(stream, index);
  return status == SL_OK ? result(stream, "reached") : status;
}
static int mock_wait_for(struct sl_stream *stream, struct sl_stream *other, uint32_t index) {
  const int status = mock_queue_await(stream, other, index);
  return status == SL_OK ? result(stream, "await") : status;
}

static int mock_finished(struct sl_stream *stream, uint32_t slice_index) {
  mock_queue_finished(stream, slice_index);
  return result(stream, "finished");
}
static int done(struct sl_stream *stream, int status) {
  if (status < 0) record_failure(stream->device, "the streams cannot go on, or a job failed");
  return status;
}
static int mock_wait(struct sl_stream *stream, uint32_t slice_index) {
  waits++;
  wait_for_devices(stream->device);
  be_slow(stream->device);
  return fails(stream->device, "wait") ? SL_EDEVICE : done(stream, mock_queue_wait(stream, slice_index));
}
static int mock_settle_device(struct sl_device *device) {
  waits++;
  atomic_fetch_add(&sluice_mock_settled, 1);
  return fails(device, "settle_device") ? SL_EDEVICE : SL_OK; /* the program has no streams on this device */
}
static int mock_settle(struct sl_stream *stream) {
  waits++;
  return fails(stream->device, "settle") ? SL_EDEVICE : done(stream, mock_queue_settle(stream));
}
static int mock_mark(struct sl_stream *stream, uint32_t index, uint32_t among) {
  (void)index, (void)among;
  return result(stream, "mark");
}
static int mock_marked_us(struct sl_stream *stream, uint32_t from, uint32_t to, double *microseconds) {
  *microseconds = to - from;
  return result(stream, "marked_us");
}

static uint64_t packed_bytes(const struct sl_pack_field *f, uint32_t events) {
  const uint32_t items = f->offsets ? f->offsets[events] : 0;
  const struct sl_field field = {.shape = f->shape, .width = 1};
  if (f->count) return *f->count * f->entry_bytes;
  return f->entry_bytes * sl_field_values(&field, events, items, f->item_offsets ? f->item_offsets[items] : 0);
}

static int pack_job(const void *args) {
  const struct sl_pack *p = args;
  struct sl_pack_header *header = p->output;
  uint64_t *offsets = (uint64_t *)(header + 1);
  char *output = p->target ? *p->target : p->output;
  uint64_t next = p->target ? 0 : p->fields_offset;
  for (uint32_t f = 0; f < p->field_count; f++) {
    const uint64_t bytes = packed_bytes(&p->fields[f], *p->event_count);
    offsets[f] = next;
    if (next + bytes <= p->output_bytes) memcpy(output + next, p->fields[f].source, bytes);
    next = sl_aligned(next + bytes, SL_PACK_ALIGNMENT);
  }
  memcpy(offsets + p->field_count, p->used, p->used_count * sizeof *p->used);
  *header = (struct sl_pack_header){0, p->field_count, next};
  for (uint32_t e = 0; e < *p->event_count; e++) header->refused |= p->errors[e] != 0;
  if (header->refused) memcpy((char *)p->output + p->errors_offset, p->errors, *p->event_count * sizeof *p->errors);
  return SL_OK;
}
static int mock_pack(struct sl_stream *stream, const struct sl_pack *p) {
  log_captured("pack\n");
  return ENQUEUE(stream, pack, *p);
}

struct combine_args {
  struct sl_combination combination;
  const uint32_t *event_count;
};
static int combine_job(const void *args) {
  const struct combine_args *a = args;
  const struct sl_combination *c = &a->combination;
  *c->count = 0;
  for (uint32_t e = 0; e < *a->event_count; e++) {
    uint32_t on = 0;
    for (uint32_t l = 0; l < c->list_count; l++) {
      uint32_t found = 0;
      for (uint32_t i = 0; i < *c->lists[l].count; i++) found |= c->lists[l].numbers[i] == e;
      on += found;
    }
    if (on >= c->min_lists) c->numbers[(*c->count)++] = e;
  }
  return SL_OK;
}
static int mock_combine(struct sl_stream *stream, const struct sl_combination *c) {
  if (getenv("SLUICE_MOCK_WAITS")) waits++;
  log_captured("combine\n");
  return ENQUEUE(stream, combine, (struct combine_args){*c, stream->event_count});
}

/* Arguments of a scan over events or items. */
struct scan_args {
  uint32_t *counts;
  const uint32_t *offsets, *event_count;
  uint64_t *errors;
  struct sl_bound bound;
  int is_bounded;
};

static void scan_counts(const struct scan_args *a, uint32_t n) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t value = a->counts[i];
    a->counts[i] = total;
    total += value;
  }
  a->counts[n] = total;
  if (a->is_bounded && total > *a->bound.used) *a->bound.used = total;
  if (a->is_bounded && total > a->bound.capacity) memset(a->counts, 0, (n + 1) * sizeof *a->counts);
}

static void refuse_above_limit(const struct scan_args *a, uint32_t event, uint32_t count) {
  if (a->is_bounded && count > a->bound.event_limit && a->errors[event] < (a->bound.limit_error | count))
    a->errors[event] = a->bound.limit_error | count;
}

static int scan_job(const void *args) {
  const struct scan_args *a = args;
  for (uint32_t e = 0; e < *a->event_count; e++) refuse_above_limit(a, e, a->counts[e]);
  scan_counts(a, *a->event_count);
  return SL_OK;
}

static int scan_items_job(const void *args) {
  const struct scan_args *a = args;
  memset(a->counts, 0, a->offsets[0] * sizeof *a->counts);
  for (uint32_t e = 0; e < *a->event_count; e++) {
    uint32_t count = 0;
    for (uint32_t i = a->offsets[e]; i < a->offsets[e + 1]; i++) count += a->counts[i];
    refuse_above_limit(a, e, count);
  }
  scan_counts(a, a->offsets[*a->event_count]);
  return SL_OK;
}

static struct scan_args scan_of(const struct sl_stream *stream, uint32_t *counts, const uint32_t *offsets,
                                const struct sl_bound *bound) {
  const struct sl_bound none = {0};
  return (struct scan_args){counts, offsets, stream->event_count, stream->errors, bound ? *bound : none, bound != NULL};
}

static int mock_scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  struct sl_stream *stream = l->backend;
  return ENQUEUE(stream, scan, scan_of(stream, counts, NULL, bound));
}

static int mock_scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                           const struct sl_bound *bound) {
  struct sl_stream *stream = l->backend;
  return ENQUEUE(stream, scan_items, scan_of(stream, counts, offsets, bound));
}

__attribute__((visibility("default"))) extern const struct sl_backend sluice_backend;
const struct sl_backend sluice_backend = {.size = sizeof(struct sl_backend),
                                          .default_slice_events = 16,
                                          .target = "mock",
                                          .block_threads = 1,
                                          .slices_in_flight = 2,
                                          .is_device = 1,
                                          .open = mock_open,
                                          .count = mock_count,
                                          .close = mock_close,
                                          .allocate = mock_allocate,
                                          .release = mock_release,
                                          .allocate_host = mock_allocate_host,
                                          .release_host = mock_release_host,
                                          .arena_open = mock_arena_open,
                                          .arena_resize = mock_arena_resize,
                                          .arena_close = mock_arena_close,
                                          .free_memory = mock_free_memory,
                                          .upload_now = mock_upload_now,
                                          .download_now = mock_upload_now,
                                          .stream_open = mock_stream_open,
                                          .stream_close = mock_queue_close,
                                          .error = mock_error,
                                          .zero = mock_zero,
                                          .clear = mock_clear,
                                          .combine = mock_combine,
                                          .scan = mock_scan,
                                          .scan_items = mock_scan_items,
                                          .upload = mock_upload,
                                          .uploaded = mock_uploaded,
                                          .pack = mock_pack,
                                          .capture_begin = mock_capture_begin,
                                          .capture_end = mock_capture_end,
                                          .replay = mock_replay,
                                          .reached = mock_reached,
                                          .wait_for = mock_wait_for,
                                          .finished = mock_finished,
                                          .wait = mock_wait,
                                          .note = mock_note,
                                          .waits = mock_waits,
                                          .settle = mock_settle,
                                          .settle_device = mock_settle_device,
                                          .mark = mock_mark,
                                          .marked_us = mock_marked_us};
