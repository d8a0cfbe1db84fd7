/* device.c: the test harness on a device with memory of its own. All memory that the arguments of a run point to is
 * copied to the device with its canaries, the pointers are translated, and everything is copied back after the kernels,
 * so that run.c can check it. The target `race`, the emulator with race detection, is such a device too: it is also
 * given the names and rights of the memory.
 */
#include "backend/backend.h"
#include "layout/bind.h"
#include "plugin/field_ref.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN_BYTES = 64 }; /* size of the canaries of struct sl_guarded */

/* Name and rights of memory, for the race detector. */
struct test_label {
  const char *port, *field; /* "" if the port has no fields */
  uint32_t rights;          /* SL_RACE_MAY_... */
  uint32_t value_bytes;
  int is_empty; /* 1: its bytes may not be read before a kernel has written them */
};

struct test_mirror {
  struct sl_guarded host;
  unsigned char *device; /* device address of the margin before the memory */
  struct test_label label;
};

struct test_device {
  const struct sl_backend *backend;
  struct sl_device *device;
  struct sl_stream *stream;
  struct test_mirror *mirrors;
  size_t mirror_count, mirror_capacity;
  struct sl_race_memory *memory; /* with race detection: per mirror */
  struct sl_race_node node;
};

/* A test for a missing device is skipped. */
void test_device_open(struct sl_test *t) {
  char reason[512] = "";
  struct test_device *d = t->device = test_allocate(1, sizeof(*d));
  d->backend = sl_backend_load(t->plugin->target, reason, sizeof(reason));
  if (!d->backend || d->backend->open(0, &d->device, reason, sizeof(reason)) < 0) {
    printf("skipped: no device for %s: %s\n", t->plugin->target, reason);
    exit(77);
  }
  d->stream = d->backend->stream_open(d->device, 1);
  if (!d->stream) test_die(t, "no stream: %s", d->backend->error(d->device));
}

void test_device_close(struct sl_test *t) {
  if (!t->device) return;
  t->device->backend->stream_close(t->device->stream);
  t->device->backend->close(t->device->device);
  free(t->device->mirrors);
  free(t->device->memory);
  free(t->device);
}

int test_device_set(struct sl_test *t, const char *key, const char *value) {
  struct test_device *d = t->device;
  char reason[256];
  if (!d || !d->backend->settings) return 0; /* a GPU has no such settings */
  d->backend->stream_close(d->stream);
  if (d->backend->set(d->device, key, value, reason, sizeof reason) < 0) test_die(t, "%s", reason);
  d->stream = d->backend->stream_open(d->device, 1);
  if (!d->stream) test_die(t, "no stream: %s", d->backend->error(d->device));
  return 1;
}

/* Without functions for copies, the device has host memory. */
static void upload(const struct sl_test *t, void *to, const void *from, uint64_t bytes) {
  const struct test_device *d = t->device;
  if (!d->backend->upload_now) {
    memcpy(to, from, bytes);
    if (d->backend->races) d->backend->races->mark(d->device, to, bytes, 1);
  } else if (d->backend->upload_now(d->device, to, from, bytes) < 0) {
    test_die(t, "upload: %s", d->backend->error(d->device));
  }
}

static void mirror(struct sl_test *t, const struct sl_guarded *g, struct test_label label) {
  struct test_device *d = t->device;
  if (!g->values) return;
  if (d->mirror_count == d->mirror_capacity) {
    d->mirror_capacity = d->mirror_capacity ? 2 * d->mirror_capacity : 64;
    d->mirrors = realloc(d->mirrors, d->mirror_capacity * sizeof(*d->mirrors));
    d->memory = realloc(d->memory, d->mirror_capacity * sizeof(*d->memory));
    if (!d->mirrors || !d->memory) test_die(t, "no memory");
  }
  const uint64_t bytes = g->bytes + 2u * MARGIN_BYTES;
  unsigned char *device = d->backend->allocate(d->device, bytes);
  if (!device) test_die(t, "no device memory: %s", d->backend->error(d->device));
  upload(t, device, (const unsigned char *)g->values - MARGIN_BYTES, bytes);
  d->mirrors[d->mirror_count++] = (struct test_mirror){*g, device, label};
}

static void *translated(const struct sl_test *t, const void *host) {
  const unsigned char *at = host;
  if (!host) return NULL;
  for (size_t i = 0; i < t->device->mirror_count; i++) {
    const struct test_mirror *m = &t->device->mirrors[i];
    const unsigned char *values = m->host.values;
    if (at >= values && at <= values + m->host.bytes) return m->device + MARGIN_BYTES + (at - values);
  }
  test_die(t, "an argument points to memory outside of the test");
}

enum { READS = SL_RACE_MAY_READ, WRITES = SL_RACE_MAY_READ | SL_RACE_MAY_WRITE };

static struct test_label label_of(const struct sl_test *t, uint32_t member, uint32_t f) {
  const struct sl_member *m = &t->algorithm->members[member];
  const int is_output = m->kind == SL_MEMBER_OUT || m->kind == SL_MEMBER_SCRATCH;
  const struct sl_field *field = m->collection ? &m->collection->fields[f] : NULL;
  return (struct test_label){.port = m->name,
                             .field = field ? field->name : "",
                             .rights = is_output ? WRITES : READS,
                             .value_bytes = sl_type_bytes(field ? field->type : m->type),
                             .is_empty = is_output && !(field && test_is_zeroed(t, field))};
}

static void mirror_all(struct sl_test *t) {
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const struct sl_member *m = &t->algorithm->members[i];
    mirror(t, &t->members[i].used, (struct test_label){m->name, "bound.used", WRITES, sizeof(uint32_t), 0});
    for (uint32_t f = 0; f < t->members[i].field_count; f++)
      mirror(t, &t->members[i].fields[f].memory, label_of(t, i, f));
    for (uint32_t k = 0; k < t->members[i].entry_count; k++)
      for (uint32_t f = 0; f < t->members[i].field_count; f++)
        mirror(t, &t->members[i].entries[k].fields[f].memory, label_of(t, i, f));
    mirror(t, &t->members[i].views, (struct test_label){m->name, "at", READS, 1, 0});
  }
  mirror(t, &t->count, (struct test_label){"events", "count", READS, sizeof(uint32_t), 0});
  mirror(t, &t->numbers, (struct test_label){"events", "numbers", READS, sizeof(uint32_t), 0});
  mirror(t, &t->errors, (struct test_label){"events", "errors", WRITES, sizeof(uint64_t), 0});
}

/* ---------------------------------------------------------------------------------------------------- races */

static void describe(void *context, uint32_t tag, int64_t byte, char *text, size_t size) {
  const struct sl_test *t = context;
  const struct test_mirror *m = &t->device->mirrors[tag];
  const char *dot = *m->label.field ? "." : "", *port = m->label.port, *field = m->label.field;
  if (byte < 0)
    snprintf(text, size, "memory %lld bytes before %s%s%s", -(long long)byte, port, dot, field);
  else if ((uint64_t)byte >= m->host.bytes)
    snprintf(text, size, "memory %llu bytes past the end of %s%s%s",
             (unsigned long long)((uint64_t)byte - m->host.bytes), port, dot, field);
  else
    snprintf(text, size, "%s%s%s[%llu]", port, dot, field, (unsigned long long)byte / m->label.value_bytes);
}

static void begin_races(struct sl_test *t) {
  struct test_device *d = t->device;
  if (!d->backend->races) return;
  for (size_t i = 0; i < d->mirror_count; i++) {
    const struct test_mirror *m = &d->mirrors[i];
    unsigned char *values = m->device + MARGIN_BYTES;
    if (m->label.is_empty) d->backend->races->mark(d->device, values, m->host.bytes, 0);
    d->backend->races->mark(d->device, m->device, MARGIN_BYTES, 0);
    d->backend->races->mark(d->device, values + m->host.bytes, MARGIN_BYTES, 0);
    d->memory[i] = (struct sl_race_memory){values, m->host.bytes, m->label.rights, (uint32_t)i};
  }
  d->node = (struct sl_race_node){t->node_name, d->memory, (uint32_t)d->mirror_count, describe, t, 0};
  if (d->backend->races->begin(d->stream, &d->node) < 0) test_die(t, "no memory for the race detector");
}

static void end_races(struct sl_test *t) {
  const struct test_device *d = t->device;
  struct sl_race_finding finding;
  uint64_t omitted;
  if (!d->backend->races) return;
  if (d->backend->races->finding(d->device, 0, &finding, &omitted)) test_die(t, "%s", finding.text);
  d->backend->races->begin(d->stream, NULL);
}

int test_detects_races(const struct sl_test *t) { return t->device && t->device->backend->races; }

/* Translates the pointers of a port. */
static void translate_port(const struct sl_test *t, const struct sl_collection *c, void *port) {
  for (uint32_t f = 0; f < c->field_count; f++) *sl_port_pointer(port, f) = translated(t, *sl_port_pointer(port, f));
  for (uint32_t b = 0; b < sl_bound_count(c); b++)
    sl_port_bound(port, c, b)->used = translated(t, sl_port_bound(port, c, b)->used);
}

/* The views of a list port point to device memory only on the device; the host views are restored. */
static void translate_views(const struct sl_test *t, uint32_t member, unsigned char *args) {
  const struct sl_member *m = &t->algorithm->members[member];
  const struct test_member *own = &t->members[member];
  struct sl_views *port = sl_args_views(args, m);
  unsigned char *views = test_allocate(own->views.bytes, 1);
  memcpy(views, own->views.values, own->views.bytes);
  for (uint32_t k = 0; k < own->entry_count; k++)
    translate_port(t, m->collection, views + k * sl_collection_bytes(m->collection));
  port->at = translated(t, port->at);
  upload(t, (void *)(uintptr_t)port->at, views, own->views.bytes);
  free(views);
}

static void translate_arguments(const struct sl_test *t, unsigned char *args) {
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const struct sl_member *m = &t->algorithm->members[i];
    if (m->kind == SL_MEMBER_EVENTS) {
      struct sl_events *e = (struct sl_events *)(void *)(args + m->args_offset);
      e->count = translated(t, e->count);
      e->numbers = translated(t, e->numbers);
      e->errors = translated(t, e->errors);
    } else if (m->kind == SL_MEMBER_SCRATCH || m->kind == SL_MEMBER_TABLE) {
      void **pointer = (void **)(void *)(args + m->args_offset);
      *pointer = translated(t, *pointer);
    } else if (m->flags & SL_FLAG_FIELD) {
      void **pointers = (void **)(void *)(args + m->args_offset);
      for (int p = 0; p < SL_FIELD_REF_POINTERS; p++) pointers[p] = translated(t, pointers[p]);
    } else if (m->flags & SL_FLAG_LIST) {
      translate_views(t, i, args);
    } else if (m->kind == SL_MEMBER_IN || m->kind == SL_MEMBER_OUT) {
      translate_port(t, m->collection, args + m->args_offset);
    }
  }
}

/* Copies everything back, including canaries. */
static void fetch_all(struct sl_test *t) {
  struct test_device *d = t->device;
  for (size_t i = 0; i < d->mirror_count; i++) {
    const struct test_mirror *m = &d->mirrors[i];
    const uint64_t bytes = m->host.bytes + 2u * MARGIN_BYTES;
    unsigned char *to = (unsigned char *)m->host.values - MARGIN_BYTES;
    if (!d->backend->download_now)
      memcpy(to, m->device, bytes);
    else if (d->backend->download_now(d->device, to, m->device, bytes) < 0)
      test_die(t, "download: %s", d->backend->error(d->device));
    d->backend->release(d->device, m->device, bytes);
  }
  d->mirror_count = 0;
}

/* Copies all memory that the arguments of the test, or of the present node, point to, and the arguments as kernels
 * get them. */
static void mirror_node(struct sl_test *t, unsigned char *args) {
  memcpy(args, t->args, t->algorithm->args_size);
  mirror_all(t);
  translate_arguments(t, args);
}

static int run_family(struct sl_test *t, const struct sl_launch *launch, const unsigned char *args, uint32_t count) {
  struct test_device *d = t->device;
  const uint64_t bytes = (uint64_t)count * t->algorithm->args_size;
  void *device_args = d->backend->allocate(d->device, bytes);
  if (!device_args) test_die(t, "no device memory: %s", d->backend->error(d->device));
  upload(t, device_args, args, bytes);
  const int status = t->algorithm->run_family(launch, args, device_args, count);
  if (d->backend->settle && d->backend->settle(d->stream) < 0)
    test_die(t, "a kernel failed: %s", d->backend->error(d->device));
  d->backend->release(d->device, device_args, bytes);
  return status;
}

static int run_one(struct sl_test *t, const struct sl_launch *launch, const unsigned char *args) {
  struct test_device *d = t->device;
  const int tuned = t->algorithm->run_tuned && !t->shared;
  const int status = tuned ? t->algorithm->run_tuned(launch, args) : t->algorithm->run(launch, args);
  if (d->backend->settle && d->backend->settle(d->stream) < 0)
    test_die(t, "a kernel failed: %s", d->backend->error(d->device));
  return status;
}

int test_device_run(struct sl_test *t, struct sl_launch *launch, struct test_node *nodes, uint32_t count) {
  struct test_device *d = t->device;
  struct sl_guarded event_count = test_guarded(sizeof(uint32_t), 0, t->poison);
  *(uint32_t *)event_count.values = t->event_count;
  unsigned char *args = test_allocate(count + 1u, t->algorithm->args_size);
  mirror(t, &event_count, (struct test_label){"the number of events", "", READS, sizeof(uint32_t), 0});
  for (uint32_t i = 0; i < count; i++) {
    test_exchange(t, &nodes[i]);
    mirror_node(t, args + i * t->algorithm->args_size);
    test_exchange(t, &nodes[i]);
  }
  if (count == 0) mirror_node(t, args);
  d->stream->event_count = translated(t, event_count.values);
  launch->backend = d->stream;
  launch->scan = d->backend->scan;
  launch->scan_items = d->backend->scan_items;
  launch->device_threads = d->backend->threads ? d->backend->threads(d->device) : 0;
  if (d->backend->shared_bytes) launch->shared_bytes_max = d->backend->shared_bytes(d->device);
  begin_races(t);
  const int status = count > 0 ? run_family(t, launch, args, count) : run_one(t, launch, args);
  end_races(t);
  fetch_all(t);
  free(args);
  sl_guarded_free(&event_count);
  return status;
}
