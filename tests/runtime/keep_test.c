/* keep_test.c: batches that a program keeps on the device (sluice/kept.h): their memory holds the results of the batch
 * until the last holder releases it, whatever runs meanwhile; too many kept batches end the run with their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "session.h"

#include <sluice/sluice.h>

#include <dlfcn.h>
#include <stdatomic.h>

#include <cmocka.h>

#define GRAPH                                                 \
  "sluice: 1\n"                                               \
  "nodes:\n"                                                  \
  "  raw: { use: toy.source, set: { events: 200 } }\n"        \
  "  even: { use: toy.select, set: { modulus: 2 } }\n"        \
  "  scaled: { use: toy.scale }\n"                            \
  "  expanded: { use: toy.expand, in: { scaled: scaled } }\n" \
  "  all: { use: toy.sum }\n"                                 \
  "  partial: { use: toy.scale, events: even.passed }\n"      \
  "  split: { use: toy.split, in: { numbers: raw } }\n"       \
  "  tally: { use: toy.totals, in: { numbers: raw } }\n"      \
  "outputs: [expanded, all, even, partial, split, scaled, tally]\n"

enum { EVENTS = 200, BATCHES_MAX = 256, OUTPUTS = 7, FIELDS_MAX = 8 };

static const char *device = "cpu";
static atomic_uint *mock_settled; /* of the mock device, else NULL */

/* A copy of a batch in host memory. */
struct copy {
  uint64_t first, bytes[OUTPUTS][FIELDS_MAX];
  uint32_t event_count;
  void *fields[OUTPUTS][FIELDS_MAX];
};

struct program {
  struct sl_session *session;
  uint32_t keeps; /* the most batches that are kept, the oldest one is released first; 0: none */
  uint32_t stop_after, reads;
  struct sl_kept_batch *kept[BATCHES_MAX];
  struct copy copies[BATCHES_MAX];
  uint32_t batches, released, null_fields, set_fields;
  int keep_status;
};

static uint64_t values_of(const struct sl_field *field, const void *const *fields, const struct sl_collection *c,
                          uint32_t events) {
  const uint32_t *offsets = NULL, *of_items = NULL;
  for (uint32_t f = 0; f < c->field_count; f++) {
    if (c->fields[f].shape == SL_SHAPE_CODE_OFFSETS) offsets = fields[f];
    if (c->fields[f].shape == SL_SHAPE_CODE_ITEM_OFFSETS && &c->fields[f] <= field) of_items = fields[f];
  }
  const uint32_t items = offsets ? offsets[events] : 0;
  if (strcmp(c->name, "sl_event_list") == 0)
    return field->shape == SL_SHAPE_CODE_PER_SLICE ? 1 : *(const uint32_t *)fields[0];
  switch (field->shape) {
    case SL_SHAPE_CODE_PER_EVENT:
      return (uint64_t)events * field->width;
    case SL_SHAPE_CODE_OFFSETS:
      return events + 1u;
    case SL_SHAPE_CODE_PER_ITEM:
      return (uint64_t)items * field->width;
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      return items + 1u;
    case SL_SHAPE_CODE_PER_SUBITEM:
      return (uint64_t)of_items[items] * field->width;
    default:
      return field->width;
  }
}

static const uint32_t type_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

/* Copies a batch from its memory on the device; the sizes come from the offsets in host memory. */
static struct copy copy_of(struct sl_kept_batch *kept, const struct sl_batch *batch) {
  const struct sl_kept_memory *m = sl_kept_batch_memory(kept);
  struct copy copy = {.first = m->first_event, .event_count = m->event_count};
  assert_int_equal(m->size, sizeof *m);
  assert_int_equal(m->output_count, batch->output_count);
  assert_int_equal(m->event_count, batch->event_count);
  assert_memory_equal(m->events, batch->events, m->event_count * sizeof *m->events);
  for (uint32_t o = 0; o < m->output_count; o++) {
    const struct sl_collection *c = m->outputs[o].collection;
    for (uint32_t f = 0; f < c->field_count; f++) {
      const int is_total = c->fields[f].shape == SL_SHAPE_CODE_TOTAL;
      assert_int_equal(m->outputs[o].fields[f] == NULL, is_total);
      if (is_total) continue;
      const uint64_t bytes =
          values_of(&c->fields[f], batch->outputs[o].fields, c, batch->event_count) * type_bytes[c->fields[f].type];
      copy.bytes[o][f] = bytes;
      copy.fields[o][f] = malloc(bytes + 1);
      assert_int_equal(sl_kept_batch_download(kept, copy.fields[o][f], m->outputs[o].fields[f], bytes), SL_OK);
    }
  }
  return copy;
}

/* Compares the memory of a kept batch with the copy that was made when the batch was delivered. */
static void expect_unchanged(struct sl_kept_batch *kept, const struct copy *copy) {
  const struct sl_kept_memory *m = sl_kept_batch_memory(kept);
  assert_int_equal(m->first_event, copy->first);
  for (uint32_t o = 0; o < m->output_count; o++)
    for (uint32_t f = 0; f < FIELDS_MAX; f++) {
      if (!copy->fields[o][f]) continue;
      unsigned char *now = malloc(copy->bytes[o][f] + 1);
      assert_int_equal(sl_kept_batch_download(kept, now, m->outputs[o].fields[f], copy->bytes[o][f]), SL_OK);
      assert_memory_equal(now, copy->fields[o][f], copy->bytes[o][f]);
      free(now);
    }
}

static void free_copy(struct copy *copy) {
  for (uint32_t o = 0; o < OUTPUTS; o++)
    for (uint32_t f = 0; f < FIELDS_MAX; f++) free(copy->fields[o][f]);
}

static int on_batch(void *context, const struct sl_batch *batch) {
  struct program *p = context;
  const uint32_t i = p->batches++;
  for (uint32_t o = 0; o < batch->output_count; o++)
    for (uint32_t f = 0; f < batch->outputs[o].collection->field_count; f++)
      *(batch->outputs[o].fields[f] ? &p->set_fields : &p->null_fields) += 1;
  if (p->stop_after == p->batches) sl_session_stop(p->session);
  if (p->keeps == 0) return 0;
  p->keep_status = sl_session_keep_batch(p->session, &p->kept[i]);
  if (p->keep_status < 0) return 0;
  if (p->reads) p->copies[i] = copy_of(p->kept[i], batch);
  if (p->batches - p->released < p->keeps) return 0;
  if (p->reads) expect_unchanged(p->kept[p->released], &p->copies[p->released]);
  sl_kept_batch_release(p->kept[p->released]);
  p->kept[p->released++] = NULL;
  return 0;
}

struct outcome {
  int status;
  uint64_t digests[OUTPUTS], events, retries, error_events, bytes_down;
  char *messages;
};

static struct outcome run_graph(struct program *p, struct sl_options *o) {
  struct outcome r = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  o->on_batch = on_batch;
  o->context = p;
  r.status = sl_session_open(o, d, &p->session);
  if (r.status == SL_OK) {
    r.status = sl_session_run(p->session);
    const struct sl_summary *sum = sl_session_summary(p->session);
    for (uint32_t i = 0; i < sum->output_count && i < OUTPUTS; i++) r.digests[i] = sum->outputs[i].digest;
    r.events = sum->events;
    r.retries = sum->retries;
    r.error_events = sum->error_events;
    r.bytes_down = sum->bytes_down;
  }
  r.messages = toy_messages(d);
  sl_session_close(p->session);
  p->session = NULL;
  sl_diagnostics_free(d);
  return r;
}

static struct sl_options options_of(uint32_t slots) {
  struct sl_options o = toy_options(GRAPH, device);
  o.keep_device = 1;
  o.slots = slots;
  o.slice_events = 10;
  return o;
}

/* Releases what is kept after the session was closed, and checks it. */
static uint32_t end(struct program *p) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < p->batches; i++) {
    if (p->kept[i] && p->reads) expect_unchanged(p->kept[i], &p->copies[i]);
    kept += p->kept[i] != NULL;
    sl_kept_batch_release(p->kept[i]);
    free_copy(&p->copies[i]);
  }
  return kept;
}

static void kept_batches_stay_while_others_run_and_after_the_session(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 3; slots++) {
    struct sl_options o = options_of(slots);
    struct program *plain = calloc(1, sizeof *plain), *p = calloc(1, sizeof *p);
    p->keeps = 2 * slots;
    p->reads = 1;
    o.digest = 1;
    struct outcome kept = run_graph(p, &o);
    o.keep_device = 0;
    struct outcome expected = run_graph(plain, &o);
    if (kept.status != SL_OK) fail_msg("%s", kept.messages);
    assert_int_equal(kept.events, EVENTS);
    assert_memory_equal(kept.digests, expected.digests, sizeof kept.digests);
    assert_int_equal(end(p), 2 * slots - 1);
    free(kept.messages);
    free(expected.messages);
    free(plain);
    free(p);
  }
}

static void the_batch_after_too_many_kept_ones_is_an_error_that_names_them(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 2; slots++) {
    struct sl_options o = options_of(slots);
    struct program *p = calloc(1, sizeof *p);
    p->keeps = BATCHES_MAX;
    p->reads = 1;
    struct outcome r = run_graph(p, &o);
    assert_int_equal(r.status, SL_ENOMEM);
    assert_int_equal(p->batches, 2 * slots);
    assert_int_equal(r.events, 20 * slots);
    char text[160];
    snprintf(text, sizeof text,
             "the batch from event %u on: all %u batches that %u slot%s can keep are kept:", 20 * slots, 2 * slots,
             slots, slots == 1 ? "" : "s");
    if (!strstr(r.messages, text)) fail_msg("'%s' is not in:\n%s", text, r.messages);
    if (!strstr(r.messages, "events 0 to 9 (run 7, event 0 to run 7, event 9); events 10 to 19 (run 7, event 10"))
      fail_msg("%s", r.messages);
    if (!strstr(r.messages, "release batches")) fail_msg("%s", r.messages);
    assert_int_equal(end(p), 2 * slots);
    free(r.messages);
    free(p);
  }
}

static void as_many_kept_batches_as_the_input_has_are_no_error(void **state) {
  (void)state;
  struct sl_options o = options_of(1);
  struct program *p = calloc(1, sizeof *p);
  o.events = 20;
  p->keeps = BATCHES_MAX;
  p->reads = 1;
  struct outcome r = run_graph(p, &o);
  assert_int_equal(r.status, SL_OK);
  assert_int_equal(end(p), 2);
  free(r.messages);
  free(p);
}

static void only_what_the_host_reads_is_copied_to_it(void **state) {
  (void)state;
  struct sl_options o = options_of(1);
  struct program *p = calloc(1, sizeof *p), *with_digests = calloc(1, sizeof *with_digests),
                 *plain = calloc(1, sizeof *plain);
  struct outcome r = run_graph(p, &o);
  o.digest = 1;
  struct outcome all = run_graph(with_digests, &o);
  o.keep_device = o.digest = 0;
  struct outcome without = run_graph(plain, &o);
  assert_int_equal(r.status, SL_OK);
  assert_int_equal(with_digests->null_fields, 0);
  assert_int_equal(plain->null_fields, 0);
  if (r.bytes_down == 0) { /* the device has no memory of its own */
    assert_int_equal(p->null_fields, 0);
  } else {
    /* value of expanded, partial and scaled; three fields of all; digit, value, copy and copy_half of split */
    assert_int_equal(p->null_fields, 10 * p->batches);
    assert_true(all.bytes_down > without.bytes_down);
  }
  free(r.messages);
  free(all.messages);
  free(without.messages);
  free(p);
  free(with_digests);
  free(plain);
}

static void parts_of_a_slice_are_kept_one_by_one(void **state) {
  (void)state;
  static const char *const cases[][3] = {{"expanded.per_event=1", NULL},
                                         {"raw.bad_every=31", "expanded.per_event=1", NULL}};
  for (uint32_t i = 0; i < 2; i++)
    for (uint32_t slots = 1; slots <= 2; slots++)
      for (uint32_t guard = 0; guard < 2; guard++) {
        struct sl_options o = options_of(slots);
        struct program *p = calloc(1, sizeof *p);
        o.slice_events = 50;
        o.sets = cases[i];
        o.guard = guard;
        p->keeps = 2;
        p->reads = 1;
        struct outcome r = run_graph(p, &o);
        if (r.status != SL_OK) fail_msg("%s", r.messages);
        assert_int_equal(r.events, EVENTS);
        assert_true(r.retries > 0);
        assert_true(p->batches > 4);
        assert_int_equal(r.error_events, i == 1 ? EVENTS / 31 : 0);
        assert_int_equal(end(p), 1);
        free(r.messages);
        free(p);
      }
}

static void a_stopped_run_leaves_kept_batches(void **state) {
  (void)state;
  struct sl_options o = options_of(2);
  struct program *p = calloc(1, sizeof *p);
  p->keeps = BATCHES_MAX;
  p->reads = 1;
  p->stop_after = 2;
  struct outcome r = run_graph(p, &o);
  assert_true(r.status == SL_EINTERRUPTED || r.status == SL_ENOMEM); /* slices in flight are delivered first */
  assert_in_range(end(p), 2, 4);
  free(r.messages);
  free(p);
}

static void repeats_do_not_touch_kept_batches(void **state) {
  (void)state;
  struct sl_options o = options_of(1);
  struct program *p = calloc(1, sizeof *p);
  o.repeat = 4;
  p->keeps = 2;
  p->reads = 1;
  struct outcome r = run_graph(p, &o);
  if (r.status != SL_OK) fail_msg("%s", r.messages);
  assert_int_equal(p->batches, EVENTS / 10);
  assert_int_equal(end(p), 1);
  free(r.messages);
  free(p);
}

static void only_the_batch_at_hand_of_a_run_with_the_option_can_be_kept(void **state) {
  (void)state;
  struct sl_options o = options_of(1);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  struct sl_kept_batch *kept = NULL;
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  assert_int_equal(sl_session_keep_batch(session, &kept), SL_EINVAL);
  assert_int_equal(sl_session_run(session), SL_OK);
  assert_int_equal(sl_session_keep_batch(session, &kept), SL_EINVAL);
  assert_null(kept);
  sl_session_close(session);
  sl_diagnostics_free(d);
  struct program *p = calloc(1, sizeof *p);
  p->keeps = 2;
  o.keep_device = 0;
  struct outcome r = run_graph(p, &o);
  assert_int_equal(r.status, SL_OK);
  assert_int_equal(p->keep_status, SL_EINVAL);
  free(r.messages);
  free(p);
}

static void the_run_waits_for_the_device_only_where_memory_was_used(void **state) {
  (void)state;
  if (!mock_settled) skip();
  for (uint32_t reads = 0; reads < 2; reads++) {
    struct sl_options o = options_of(1);
    struct program *p = calloc(1, sizeof *p);
    p->keeps = 1;
    p->reads = reads;
    atomic_store(mock_settled, 0);
    struct outcome r = run_graph(p, &o);
    assert_int_equal(r.status, SL_OK);
    /* 20 slices share 4 blocks, and one wait covers all blocks that were given back before */
    const uint32_t settled = atomic_load(mock_settled);
    if (reads)
      assert_in_range(settled, 4, 20);
    else
      assert_int_equal(settled, 0);
    end(p);
    free(r.messages);
    free(p);
  }
}

static void batches_of_several_devices_are_kept_also_if_one_is_lost(void **state) {
  (void)state;
  if (!mock_settled) skip();
  static const char *const faults[] = {"", "1@wait:1+"};
  setenv("SLUICE_MOCK_DEVICES", "2", 1);
  setenv("SLUICE_MOCK_MEET", "2", 1); /* each device runs a slice */
  for (uint32_t i = 0; i < 2; i++) {
    struct sl_options o = options_of(2);
    struct program *p = calloc(1, sizeof *p);
    o.device = "mock:all";
    p->keeps = 4;
    p->reads = 1;
    setenv("SLUICE_MOCK_FAIL", faults[i], 1);
    struct outcome r = run_graph(p, &o);
    if (r.status != SL_OK) fail_msg("%s", r.messages);
    assert_int_equal(strstr(r.messages, "is lost") != NULL, i == 1);
    assert_int_equal(r.events, EVENTS);
    assert_int_equal(end(p), 3);
    free(r.messages);
    free(p);
  }
  unsetenv("SLUICE_MOCK_FAIL");
  unsetenv("SLUICE_MOCK_DEVICES");
  unsetenv("SLUICE_MOCK_MEET");
}

static void a_failed_wait_for_the_device_ends_the_run(void **state) {
  (void)state;
  if (!mock_settled) skip();
  struct sl_options o = options_of(1);
  struct program *p = calloc(1, sizeof *p);
  p->keeps = 1;
  p->reads = 1;
  setenv("SLUICE_MOCK_FAIL", "settle_device:1", 1);
  struct outcome r = run_graph(p, &o);
  unsetenv("SLUICE_MOCK_FAIL");
  assert_int_equal(r.status, SL_EDEVICE);
  if (!strstr(r.messages, "settle_device failed")) fail_msg("%s", r.messages);
  end(p);
  free(r.messages);
  free(p);
}

/* ------------------------------------------------------------------------------------------------- tensors */

/* The structs of DLPack, for a program that knows them. */
struct dl_tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct dl_managed {
  struct dl_tensor tensor;
  void *manager;
  void (*deleter)(struct dl_managed *self);
};
struct dl_versioned {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags;
  struct dl_tensor tensor;
};

struct tensors {
  struct sl_session *session;
  struct dl_managed *managed;
  struct dl_versioned *versioned;
  const void *values;
  uint32_t kind, batches;
};

static int make_tensors(void *context, const struct sl_batch *batch) {
  struct tensors *t = context;
  struct sl_kept_batch *kept = NULL;
  if (t->batches++ > 0) return 0;
  assert_int_equal(batch->event_count, 10);
  assert_int_equal(sl_session_keep_batch(t->session, &kept), SL_OK);
  const struct sl_kept_memory *m = sl_kept_batch_memory(kept);
  t->values = m->outputs[1].fields[2];
  t->kind = m->kind;
  struct sl_tensor tensor = {
      .size = sizeof tensor, .type = SL_TYPE_f32, .axis_count = 2, .values = (void *)t->values, .shape = {5, 2}};
  t->managed = sl_kept_batch_tensor(kept, &tensor);
  tensor.is_versioned = 1;
  t->versioned = sl_kept_batch_tensor(kept, &tensor);
  tensor.shape[1] = -1;
  assert_null(sl_kept_batch_tensor(kept, &tensor));
  tensor.shape[1] = 2;
  tensor.axis_count = SL_TENSOR_AXES_MAX + 1;
  assert_null(sl_kept_batch_tensor(kept, &tensor));
  tensor.axis_count = 2;
  tensor.type = SL_TYPE_f64 + 1;
  assert_null(sl_kept_batch_tensor(kept, &tensor));
  assert_null(sl_kept_batch_tensor(kept, &(struct sl_tensor){.size = 8})); /* of another version of kept.h */
  sl_kept_batch_release(kept);
  return 0;
}

static void expect_tensor(const struct dl_tensor *t, const struct tensors *made) {
  assert_ptr_equal(t->data, made->values);
  assert_int_equal(t->device_type, (int32_t)made->kind);
  assert_int_equal(t->device_id, 0);
  assert_int_equal(t->ndim, 2);
  assert_int_equal(t->code, 2);
  assert_int_equal(t->bits, 32);
  assert_int_equal(t->lanes, 1);
  assert_int_equal(t->shape[0], 5);
  assert_int_equal(t->shape[1], 2);
  assert_int_equal(t->strides[0], 2);
  assert_int_equal(t->strides[1], 1);
  assert_int_equal(t->byte_offset, 0);
}

static void a_tensor_is_a_holder_of_its_batch(void **state) {
  (void)state;
  struct tensors t = {0};
  struct sl_options o = options_of(1);
  struct sl_diagnostics *d = sl_diagnostics_new();
  o.on_batch = make_tensors;
  o.context = &t;
  assert_int_equal(sl_session_open(&o, d, &t.session), SL_OK);
  assert_int_equal(sl_session_run(t.session), SL_OK);
  sl_session_close(t.session);
  sl_diagnostics_free(d);
  expect_tensor(&t.managed->tensor, &t);
  expect_tensor(&t.versioned->tensor, &t);
  assert_int_equal(t.versioned->major, 1);
  assert_int_equal(t.versioned->flags, 0);
  t.managed->deleter(t.managed);
  sl_tensor_delete(t.versioned, 1);
}

static void memory_of_no_device_is_refused(void **state) {
  (void)state;
  char byte = 0;
  struct sl_diagnostics *d = sl_diagnostics_new();
  assert_int_equal(sl_device_download(99, &byte, &byte, 1, d), SL_EINVAL);
  assert_int_equal(sl_device_download(SL_MEMORY_CUDA, &byte, &byte, 1, d), SL_EINVAL);
  assert_int_equal(sl_diagnostics_errors(d), 2);
  char *messages = toy_messages(d);
  if (!strstr(messages, "memory of a device cannot be read: no backend has this kind of memory"))
    fail_msg("%s", messages);
  free(messages);
  sl_diagnostics_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_batches_stay_while_others_run_and_after_the_session),
      cmocka_unit_test(the_batch_after_too_many_kept_ones_is_an_error_that_names_them),
      cmocka_unit_test(as_many_kept_batches_as_the_input_has_are_no_error),
      cmocka_unit_test(only_what_the_host_reads_is_copied_to_it),
      cmocka_unit_test(parts_of_a_slice_are_kept_one_by_one),
      cmocka_unit_test(a_stopped_run_leaves_kept_batches),
      cmocka_unit_test(repeats_do_not_touch_kept_batches),
      cmocka_unit_test(only_the_batch_at_hand_of_a_run_with_the_option_can_be_kept),
      cmocka_unit_test(the_run_waits_for_the_device_only_where_memory_was_used),
      cmocka_unit_test(batches_of_several_devices_are_kept_also_if_one_is_lost),
      cmocka_unit_test(a_failed_wait_for_the_device_ends_the_run),
      cmocka_unit_test(a_tensor_is_a_holder_of_its_batch),
      cmocka_unit_test(memory_of_no_device_is_refused),
  };
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  void *backend = strcmp(device, "mock") == 0 ? dlopen(MOCK_BACKEND, RTLD_NOW) : NULL;
  mock_settled = backend ? dlsym(backend, "sluice_mock_settled") : NULL;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
