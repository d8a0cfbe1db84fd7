/* cpu.c: the backend of target cpu. Device memory is host memory; a stream is the slot's thread. */
#include "backend/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Mapped instead of malloc'ed: pages that are never used cost nothing, however large the capacities are. */
static void *cpu_allocate(struct sl_device *device, uint64_t bytes) {
  (void)device;
  void *memory =
      mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void cpu_release(struct sl_device *device, void *memory, uint64_t bytes) {
  (void)device;
  if (memory) munmap(memory, bytes ? bytes : 1);
}

static int cpu_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size) {
  *device = NULL;
  if (index == 0) return SL_OK;
  snprintf(reason, reason_size, "there is one cpu, number 0");
  return SL_EDEVICE;
}

static void cpu_close(struct sl_device *device) { (void)device; }

static struct sl_stream *cpu_stream_open(struct sl_device *device, uint32_t slots) {
  (void)slots;
  struct sl_stream *stream = calloc(1, sizeof *stream);
  if (stream) stream->device = device;
  return stream;
}

static void cpu_stream_close(struct sl_stream *stream) { free(stream); }

static const char *cpu_error(struct sl_device *device) {
  (void)device;
  return "unknown reason";
}

static int cpu_zero(struct sl_stream *stream, void *memory, uint64_t bytes) {
  (void)stream;
  memset(memory, 0, bytes);
  return SL_OK;
}

static int cpu_clear(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
                     uint8_t *byte, uint8_t value) {
  (void)stream, (void)bytes_max, (void)byte, (void)value;
  for (uint32_t i = 0; i < count; i++) memset(ranges[i].memory, 0, ranges[i].bytes);
  return SL_OK;
}

static int cpu_combine(struct sl_stream *stream, const struct sl_combination *c) {
  const uint32_t events = *stream->event_count;
  memset(c->tally, 0, events * sizeof *c->tally);
  for (uint32_t l = 0; l < c->list_count; l++)
    for (uint32_t i = 0; i < *c->lists[l].count; i++)
      if (c->lists[l].numbers[i] < events) c->tally[c->lists[l].numbers[i]]++;
  uint32_t length = 0;
  for (uint32_t e = 0; e < events; e++)
    if (c->tally[e] >= c->min_lists) c->numbers[length++] = e;
  *c->count = length;
  return SL_OK;
}

static void refuse_above_limit(const struct sl_stream *stream, uint32_t event, uint64_t count,
                               const struct sl_bound *bound) {
  if (count <= bound->event_limit) return;
  const uint64_t error = bound->limit_error | (count < UINT32_MAX ? count : UINT32_MAX);
  if (error > stream->errors[event]) stream->errors[event] = error;
}

static int scan_counts(uint32_t *counts, uint32_t n, const struct sl_bound *bound) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t value = counts[i];
    counts[i] = (uint32_t)total;
    total += value;
  }
  counts[n] = (uint32_t)total;
  if (bound && bound->used) {
    const uint32_t used = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
    if (used > *bound->used) *bound->used = used;
    if (used > bound->capacity) memset(counts, 0, ((size_t)n + 1) * sizeof *counts);
  }
  return SL_OK;
}

static int cpu_scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  const struct sl_stream *stream = (const struct sl_stream *)l->backend;
  for (uint32_t e = 0; bound && e < *stream->event_count; e++) refuse_above_limit(stream, e, counts[e], bound);
  return scan_counts(counts, *stream->event_count, bound);
}

static int cpu_scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                          const struct sl_bound *bound) {
  const struct sl_stream *stream = (const struct sl_stream *)l->backend;
  memset(counts, 0, offsets[0] * sizeof *counts);
  for (uint32_t e = 0; bound && e < *stream->event_count; e++) {
    uint64_t of_event = 0;
    for (uint32_t i = offsets[e]; i < offsets[e + 1]; i++) of_event += counts[i];
    refuse_above_limit(stream, e, of_event, bound);
  }
  return scan_counts(counts, offsets[*stream->event_count], bound);
}

const struct sl_backend sl_cpu_backend = {.size = sizeof(struct sl_backend),
                                          .target = "cpu",
                                          .default_slice_events = 16,
                                          .block_threads = 1,
                                          .slices_in_flight = 1,
                                          .no_families = 1,
                                          .open = cpu_open,
                                          .close = cpu_close,
                                          .allocate = cpu_allocate,
                                          .release = cpu_release,
                                          .allocate_host = cpu_allocate,
                                          .release_host = cpu_release,
                                          .stream_open = cpu_stream_open,
                                          .stream_close = cpu_stream_close,
                                          .error = cpu_error,
                                          .zero = cpu_zero,
                                          .clear = cpu_clear,
                                          .combine = cpu_combine,
                                          .scan = cpu_scan,
                                          .scan_items = cpu_scan_items};
