/* race.c: the backend of `--device simt --race`, a library: the emulator of simt.c with checks of each memory access of
 * instrumented kernels (simt/race.h). Memory that the host writes for a node is marked as written. */
#include "simt/race.h"

#include "backend/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct race_device *device_of(struct sl_device *device) { return (struct race_device *)(void *)device; }

static struct race *race_of(const struct sl_stream *stream) {
  return ((const struct simt_machine *)(const void *)stream)->race;
}

/* -------------------------------------------------------------------------------------------------- device */

static void race_close(struct sl_device *device) {
  struct race_device *d = device_of(device);
  if (!d) return;
  while (d->shadows && d->shadows->is_static) race_release(d, d->shadows->memory, 0);
  pthread_mutex_destroy(&d->lock);
  race_lines_close(d->lines);
  if (d->bytes) munmap(d->bytes, RACE_BYTES_MAX * sizeof *d->bytes);
  free(d->findings);
  free(d->locations);
  free(d);
}

static int race_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size) {
  struct sl_device *simt;
  const int status = sl_simt_device_open(index, &simt, reason, reason_size);
  *device = NULL;
  if (status < 0) return status;
  struct race_device *d = calloc(1, sizeof *d);
  if (d) {
    d->device = *simt;
    pthread_mutex_init(&d->lock, NULL);
    d->locations = calloc(RACE_LOCATIONS, sizeof *d->locations);
    d->findings = calloc(RACE_FINDINGS, sizeof *d->findings);
    d->lines = race_lines_open();
    d->bytes = mmap(NULL, RACE_BYTES_MAX * sizeof *d->bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (d->bytes == MAP_FAILED) d->bytes = NULL;
  }
  sl_simt_device_close(simt);
  if (d && d->locations && d->findings && d->lines && d->bytes) {
    *device = &d->device;
    return SL_OK;
  }
  race_close(d ? &d->device : NULL);
  snprintf(reason, reason_size, "out of memory");
  return SL_ENOMEM;
}

static void *allocate(struct sl_device *device, uint64_t bytes) { return race_allocate(device_of(device), bytes); }

static void release(struct sl_device *device, void *memory, uint64_t bytes) {
  if (memory) race_release(device_of(device), memory, bytes);
}

static const char *race_error(struct sl_device *device) { return sl_cpu_backend.error(device); }

static struct sl_stream *stream_open(struct sl_device *device, uint32_t slots) {
  (void)slots;
  struct sl_stream *stream = sl_simt_stream_open(device);
  struct race *r = calloc(1, sizeof *r);
  if (!stream || !r) {
    sl_simt_stream_close(stream);
    free(r);
    return NULL;
  }
  struct simt_machine *m = (struct simt_machine *)(void *)stream;
  *r = (struct race){
      .api = {sizeof r->api, SL_SIMT_VERSION, race_access, race_copy}, .machine = m, .device = device_of(device)};
  m->race = r;
  m->watch = &race_watch;
  return stream;
}

static void stream_close(struct sl_stream *stream) {
  if (!stream) return;
  struct race *r = race_of(stream);
  free(r->ranges);
  free(r);
  sl_simt_stream_close(stream);
}

/* ----------------------------------------------------------------------------- what the host does for a node */

static void mark(struct sl_device *device, const void *memory, uint64_t bytes, int is_written) {
  struct race_shadow *s = race_shadow_of(device_of(device), memory);
  if (s && bytes > 0) race_mark(s, (uint64_t)((const char *)memory - s->memory), bytes, is_written);
}

static int zero(struct sl_stream *stream, void *memory, uint64_t bytes) {
  mark(stream->device, memory, bytes, 1);
  return sl_cpu_backend.zero(stream, memory, bytes);
}

static int clear(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
                 uint8_t *byte, uint8_t value) {
  for (uint32_t i = 0; i < count; i++) mark(stream->device, ranges[i].memory, ranges[i].bytes, 1);
  return sl_cpu_backend.clear(stream, ranges, count, bytes_max, byte, value);
}

static int combine(struct sl_stream *stream, const struct sl_combination *c) {
  const int status = sl_cpu_backend.combine(stream, c);
  mark(stream->device, c->tally, *stream->event_count * sizeof *c->tally, 1);
  mark(stream->device, c->count, sizeof *c->count, 1);
  mark(stream->device, c->numbers, *c->count * sizeof *c->numbers, 1);
  return status;
}

/* A scan reads counts like a kernel. Only the first unwritten count is reported; then all counts are marked as
 * written. */
static void check_counts(const struct sl_launch *l, const uint32_t *counts, uint32_t count) {
  struct sl_stream *stream = (struct sl_stream *)(uintptr_t)l->backend;
  struct race_shadow *s = race_shadow_of(race_of(stream)->device, counts);
  for (uint32_t i = 0; s && i < count; i++)
    if (!race_is_written(s, (uint64_t)((const char *)(counts + i) - s->memory), sizeof *counts)) {
      race_scan_found(race_of(stream), counts + i);
      break;
    }
  mark(stream->device, counts, ((uint64_t)count + 1) * sizeof *counts, 1);
}

static int scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  check_counts(l, counts, *((const struct sl_stream *)l->backend)->event_count);
  return sl_cpu_backend.scan(l, counts, bound);
}

static int scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                      const struct sl_bound *bound) {
  struct sl_stream *stream = (struct sl_stream *)(uintptr_t)l->backend;
  mark(stream->device, counts, offsets[0] * sizeof *counts, 1); /* the scan zeroes the counts before the first event */
  check_counts(l, counts, offsets[*stream->event_count]);
  return sl_cpu_backend.scan_items(l, counts, offsets, bound);
}

/* ------------------------------------------------------------------------------------------------- findings */

static int begin(struct sl_stream *stream, const struct sl_race_node *node) {
  return race_begin(race_of(stream), node);
}

static int finding(struct sl_device *device, uint32_t index, struct sl_race_finding *finding, uint64_t *omitted) {
  const struct race_device *d = device_of(device);
  *omitted = d->omitted;
  uint32_t i = 0;
  while (i < d->finding_count && (d->findings[i].same_as || index-- > 0)) i++;
  if (i == d->finding_count) return 0;
  const struct race_finding *f = &d->findings[i];
  *finding = (struct sl_race_finding){f->node, f->text, f->count};
  return 1;
}

static const struct sl_race_calls race_calls = {begin, mark, finding};

__attribute__((visibility("default"))) const struct sl_backend sluice_backend = {.size = sizeof(struct sl_backend),
                                                                                 .target = "race",
                                                                                 .settings = "simt",
                                                                                 .races = &race_calls,
                                                                                 .default_slice_events = 8,
                                                                                 .block_threads = 0,
                                                                                 .slices_in_flight = 1,
                                                                                 .open = race_open,
                                                                                 .close = race_close,
                                                                                 .set = sl_simt_device_set,
                                                                                 .allocate = allocate,
                                                                                 .release = release,
                                                                                 .allocate_host = allocate,
                                                                                 .release_host = release,
                                                                                 .stream_open = stream_open,
                                                                                 .stream_close = stream_close,
                                                                                 .error = race_error,
                                                                                 .describe = sl_simt_device_describe,
                                                                                 .shared_bytes = sl_simt_shared_bytes,
                                                                                 .zero = zero,
                                                                                 .clear = clear,
                                                                                 .combine = combine,
                                                                                 .scan = scan,
                                                                                 .scan_items = scan_items};
