/* case_test.c: files of cases: what is written is read; damaged files are refused; a case without some of its events,
 * items and subitems, worked out by hand. */
#define _GNU_SOURCE
#include "replay/replay.h"
#include "scratch.h"
#include "support.h"

#define FIELDS(F)                                             \
  F(offsets, u32, OFFSETS, "", "tracks of each event")        \
  F(quality, f32, PER_EVENT, "", "quality of each event")     \
  F(slope, f32, PER_ITEM_OF(2), "", "slopes of each track")   \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "hits of each track") \
  F(hit, u16, PER_SUBITEM, "", "number of each hit")
SL_COLLECTION(case_tracks, FIELDS, "tracks with hits");

#define STATE_FIELDS(F)                                \
  F(offsets, u32, OFFSETS, "", "states of each event") \
  F(x, f64, PER_ITEM, "mm", "position of each state")
SL_COLLECTION(case_states, STATE_FIELDS, "a state for each track");

#define TABLE_FIELDS(F)                                                 \
  F(offsets, u32, OFFSETS, "", "hits of each event")                    \
  F(first, u16, PER_EVENT_OF(3), "", "first hit of each module")        \
  F(counts, u32, PER_EVENT_OF(2), "", "two numbers that do not ascend") \
  F(x, f64, PER_ITEM, "mm", "position of each hit")
SL_COLLECTION(case_table, TABLE_FIELDS, "hits by module");

/* Three events with 2, 0 and 1 tracks, of 1, 2 and 3 hits. */
static const uint32_t offsets[] = {0, 2, 2, 3}, hit_offsets[] = {0, 1, 3, 6}, list[] = {0, 2};
static const float quality[] = {0.5f, 1.5f, 2.5f}, slope[] = {1, 2, 3, 4, 5, 6};
static const uint16_t hit[] = {10, 20, 21, 30, 31, 32};
static const double x[] = {-1, -2, -3};
static const uint32_t passed_count[] = {2}, passed[] = {1, 2};
static const uint64_t errors[] = {0, 0, 0x500000007};

static void set_port(struct sl_case *c, struct sl_case_port *p, const char *name,
                     const struct sl_collection *collection, const void *const *values, const uint64_t *counts) {
  *p = (struct sl_case_port){.name = name, .declared = collection, .collection = collection};
  p->values = sl_case_get(c, collection->field_count, sizeof *p->values);
  p->counts = sl_case_get(c, collection->field_count, sizeof *p->counts);
  for (uint32_t f = 0; f < collection->field_count; f++) {
    p->values[f] = values[f];
    p->counts[f] = counts[f];
  }
}

static struct sl_case *three_events(void) {
  static uint32_t runs[] = {1, 1, 2};
  static uint64_t numbers[] = {6001, 6002, UINT64_MAX};
  static const char *const items[] = {"0.25"}, *const limits[] = {"1", "2.5"};
  static struct sl_case_property properties[] = {
      {"scatter", NULL, items, 1, 0}, {"limits", NULL, limits, 2, 1}, {"path", "a \"file\"", NULL, 1, 0}};
  struct sl_case *c = sl_case_new();
  assert_non_null(c);
  c->algorithm = "velo.fit";
  c->node = "fit";
  c->block_threads = 64;
  c->event_count = 3;
  c->runs = runs;
  c->numbers = numbers;
  c->has_list = 1;
  c->list = list;
  c->list_count = 2;
  c->properties = properties;
  c->property_count = 3;
  c->errors = errors;
  c->has_outputs = 1;
  c->inputs = sl_case_get(c, 2, sizeof *c->inputs);
  c->outputs = sl_case_get(c, 2, sizeof *c->outputs);
  c->input_count = c->output_count = 2;
  set_port(c, &c->inputs[0], "tracks", &case_tracks_collection,
           (const void *const[]){offsets, quality, slope, hit_offsets, hit}, (const uint64_t[]){4, 3, 6, 4, 6});
  set_port(c, &c->inputs[1], "states", &case_states_collection, (const void *const[]){offsets, x},
           (const uint64_t[]){4, 3});
  set_port(c, &c->outputs[0], "fitted", &case_states_collection, (const void *const[]){offsets, x},
           (const uint64_t[]){4, 3});
  set_port(c, &c->outputs[1], "passed", &sl_event_list_collection, (const void *const[]){passed_count, passed},
           (const uint64_t[]){1, 2});
  return c;
}

static void write_case(const struct sl_case *c, const char *path) {
  uint64_t bytes = 0;
  struct sl_diagnostics *d = sl_diagnostics_new();
  assert_int_equal(sl_case_write(c, path, &bytes, d), SL_OK);
  assert_int_equal(bytes % SL_CASE_ALIGNMENT, 0);
  sl_diagnostics_free(d);
}

static struct sl_case *read_case(const char *path) {
  struct sl_case *c = NULL;
  char reason[1024] = "";
  if (sl_case_read(path, &c, reason, sizeof reason) != SL_OK) fail_msg("%s", reason);
  return c;
}

static void assert_values(const struct sl_case_port *p, const char *field, const void *expected, uint64_t count,
                          size_t value_bytes) {
  const int f = sl_field_index(p->collection, field);
  assert_true(f >= 0);
  assert_non_null(p->values[f]);
  assert_int_equal(p->counts[f], count);
  if (count) assert_memory_equal(p->values[f], expected, count * value_bytes);
}
#define ASSERT_VALUES(p, field, ...) \
  assert_values(p, field, &(__VA_ARGS__), sizeof(__VA_ARGS__) / sizeof(__VA_ARGS__)[0], sizeof(__VA_ARGS__)[0])

/* ------------------------------------------------------------------------------------------------- files */

static void what_is_written_is_read(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX], difference[256];
  struct sl_case *c = three_events();
  scratch_file(path);
  write_case(c, path);
  struct sl_case *r = read_case(path);
  assert_string_equal(r->algorithm, "velo.fit");
  assert_string_equal(r->node, "fit");
  assert_int_equal(r->block_threads, 64);
  assert_int_equal(r->event_count, 3);
  assert_true(r->runs[2] == 2 && r->numbers[0] == 6001 && r->numbers[2] == UINT64_MAX);
  assert_true(r->has_list && r->list_count == 2 && r->list[1] == 2);
  assert_memory_equal(r->errors, errors, sizeof errors);
  assert_int_equal(r->property_count, 3);
  assert_string_equal(r->properties[0].items[0], "0.25");
  assert_true(r->properties[1].is_array && r->properties[1].count == 2);
  assert_string_equal(r->properties[1].items[1], "2.5");
  assert_string_equal(r->properties[2].text, "a \"file\"");
  assert_true(r->input_count == 2 && r->has_outputs && r->output_count == 2);
  assert_false(sl_collection_compare(r->inputs[0].declared, &case_tracks_collection, difference, sizeof difference));
  ASSERT_VALUES(&r->inputs[0], "slope", slope);
  ASSERT_VALUES(&r->inputs[0], "hit", hit);
  ASSERT_VALUES(&r->outputs[0], "x", x);
  ASSERT_VALUES(&r->outputs[1], "numbers", passed);
  sl_case_free(r);
  sl_case_free(c);
}

static int read_bytes(const char *folder, const char *bytes, size_t count) {
  char path[SCRATCH_PATH_MAX + 16], reason[1024] = "";
  struct sl_case *c = NULL;
  scratch_write(folder, "case.slc", bytes, count);
  snprintf(path, sizeof path, "%s/case.slc", folder);
  const int status = sl_case_read(path, &c, reason, sizeof reason);
  assert_true((status == SL_OK) == (c != NULL));
  assert_true(status == SL_OK || *reason);
  sl_case_free(c);
  return status;
}

static char *whole_file(size_t *size) {
  char path[SCRATCH_PATH_MAX];
  struct sl_case *c = three_events();
  scratch_file(path);
  write_case(c, path);
  sl_case_free(c);
  return read_whole_file(path, size);
}

static void files_that_end_early_are_refused(void **state) {
  (void)state;
  char folder[SCRATCH_PATH_MAX];
  size_t size = 0;
  char *bytes = whole_file(&size);
  scratch_folder(folder);
  for (size_t count = 0; count + SL_CASE_ALIGNMENT < size; count += 7)
    assert_true(read_bytes(folder, bytes, count) < 0);
  free(bytes);
}

static void a_changed_byte_is_refused_or_read_and_never_a_crash(void **state) {
  (void)state;
  char folder[SCRATCH_PATH_MAX];
  size_t size = 0, refused = 0;
  char *bytes = whole_file(&size);
  scratch_folder(folder);
  for (size_t i = 0; i < size; i++) {
    bytes[i] ^= 0x15;
    refused += read_bytes(folder, bytes, size) < 0;
    bytes[i] ^= 0x15;
  }
  assert_true(refused > size / 10);
  assert_int_equal(read_bytes(folder, bytes, size), SL_OK);
  free(bytes);
}

/* Replaces a text of the header by another one of the same length. */
static void assert_reason(const char *text, const char *other, const char *expected) {
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 16], reason[1024] = "";
  size_t size = 0;
  char *bytes = whole_file(&size), *found = memmem(bytes, size, text, strlen(text));
  struct sl_case *c = NULL;
  assert_non_null(found);
  assert_int_equal(strlen(text), strlen(other));
  memcpy(found, other, strlen(other));
  scratch_folder(folder);
  scratch_write(folder, "case.slc", bytes, size);
  snprintf(path, sizeof path, "%s/case.slc", folder);
  assert_true(sl_case_read(path, &c, reason, sizeof reason) < 0);
  assert_string_equal(reason, expected);
  free(bytes);
}

static void reasons_name_the_place_in_the_header(void **state) {
  (void)state;
  assert_reason("SLCASE", "SLCASH", "it is no case of sluice capture");
  assert_reason("\"version\": 1", "\"version\": 7",
                "it has version 7 of the format, and this version of sluice reads 1");
  assert_reason("\"type\": \"u16\"", "\"type\": \"u17\"", "inputs[0]: field 4 has the unknown type u17");
  assert_reason("PER_SUBITEM", "PER_SUBITEN", "inputs[0]: field 4 has the unknown shape PER_SUBITEN");
  assert_reason("\"offset\": 64", "\"offset\": 65",
                "inputs[0]: field offsets: 'offset' is 65, which is no multiple of 64");
}

/* ---------------------------------------------------------------------------------------------- smaller cases */

static struct replay_cut all_of(struct sl_case *c) {
  struct replay_cut cut;
  assert_int_equal(replay_cut_open(c, &cut), SL_OK);
  assert_null(cut.why_whole);
  return cut;
}

static void axes_are_events_items_of_equal_offsets_and_subitems(void **state) {
  (void)state;
  struct sl_case *c = three_events();
  const struct replay_cut cut = all_of(c);
  char name[64];
  assert_int_equal(cut.axis_count, 3);
  assert_int_equal(cut.axes[0].count, 3);
  replay_axis_name(c, &cut.axes[1], name, sizeof name);
  assert_string_equal(name, "items of tracks");
  assert_int_equal(cut.axes[1].count, 3);
  replay_axis_name(c, &cut.axes[2], name, sizeof name);
  assert_string_equal(name, "hit_offsets of tracks");
  assert_int_equal(cut.axes[2].count, 6);
  sl_case_free(c);
}

static void outputs_follow_the_events_that_stay(void **state) {
  (void)state;
  struct sl_case *c = three_events();
  const struct replay_cut cut = all_of(c);
  cut.axes[0].keep[0] = 0; /* events 1 and 2 stay */
  struct sl_case *s = replay_cut_case(c, &cut);
  assert_true(s->event_count == 2 && s->numbers[0] == 6002 && s->runs[1] == 2);
  assert_true(s->list_count == 1 && s->list[0] == 1);
  assert_true(s->errors[0] == 0 && s->errors[1] == errors[2]);
  ASSERT_VALUES(&s->inputs[0], "offsets", (const uint32_t[]){0, 0, 1});
  ASSERT_VALUES(&s->inputs[0], "quality", (const float[]){1.5f, 2.5f});
  ASSERT_VALUES(&s->inputs[0], "slope", (const float[]){5, 6});
  ASSERT_VALUES(&s->inputs[0], "hit_offsets", (const uint32_t[]){0, 3});
  ASSERT_VALUES(&s->inputs[0], "hit", (const uint16_t[]){30, 31, 32});
  ASSERT_VALUES(&s->inputs[1], "x", (const double[]){-3});
  assert_true(s->has_outputs);
  ASSERT_VALUES(&s->outputs[0], "x", (const double[]){-3});
  ASSERT_VALUES(&s->outputs[1], "count", (const uint32_t[]){2});
  ASSERT_VALUES(&s->outputs[1], "numbers", (const uint32_t[]){0, 1});
  sl_case_free(s);
  sl_case_free(c);
}

static void items_of_all_inputs_with_the_same_offsets_go_together(void **state) {
  (void)state;
  struct sl_case *c = three_events();
  const struct replay_cut cut = all_of(c);
  cut.axes[1].keep[0] = 0; /* the first track */
  cut.axes[2].keep[4] = 0; /* the second hit of the last track */
  struct sl_case *s = replay_cut_case(c, &cut);
  ASSERT_VALUES(&s->inputs[0], "offsets", (const uint32_t[]){0, 1, 1, 2});
  ASSERT_VALUES(&s->inputs[0], "slope", (const float[]){3, 4, 5, 6});
  ASSERT_VALUES(&s->inputs[0], "hit_offsets", (const uint32_t[]){0, 2, 4});
  ASSERT_VALUES(&s->inputs[0], "hit", (const uint16_t[]){20, 21, 30, 32});
  ASSERT_VALUES(&s->inputs[1], "offsets", (const uint32_t[]){0, 1, 1, 2});
  ASSERT_VALUES(&s->inputs[1], "x", (const double[]){-2, -3});
  assert_false(s->has_outputs); /* those of all items */
  sl_case_free(s);
  sl_case_free(c);
}

static void tables_of_first_items_follow_the_items_that_stay(void **state) {
  (void)state;
  static const uint16_t first[] = {0, 1, 2, 0, 0, 0, 0, 0, 1};
  static const uint32_t counts[] = {2, 1, 0, 0, 1, 0};
  struct sl_case *c = three_events();
  set_port(c, &c->inputs[0], "hits", &case_table_collection, (const void *const[]){offsets, first, counts, x},
           (const uint64_t[]){4, 9, 6, 3});
  const struct replay_cut cut = all_of(c);
  cut.axes[0].keep[1] = 0; /* an event without hits */
  cut.axes[1].keep[0] = 0; /* the first hit of the first event */
  struct sl_case *s = replay_cut_case(c, &cut);
  ASSERT_VALUES(&s->inputs[0], "offsets", (const uint32_t[]){0, 1, 2});
  ASSERT_VALUES(&s->inputs[0], "first", (const uint16_t[]){0, 0, 1, 0, 0, 1});
  ASSERT_VALUES(&s->inputs[0], "counts", (const uint32_t[]){2, 1, 1, 0});
  ASSERT_VALUES(&s->inputs[0], "x", (const double[]){-2, -3});
  sl_case_free(s);
  sl_case_free(c);
}

static void items_without_offsets_keep_the_case_whole(void **state) {
  (void)state;
  struct sl_case *c = three_events();
  struct replay_cut cut;
  c->inputs[1].values[0] = NULL;
  assert_int_equal(replay_cut_open(c, &cut), SL_OK);
  assert_string_equal(cut.why_whole, "it reads items of an input without their offsets");
  sl_case_free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(files_that_end_early_are_refused),
      cmocka_unit_test(a_changed_byte_is_refused_or_read_and_never_a_crash),
      cmocka_unit_test(reasons_name_the_place_in_the_header),
      cmocka_unit_test(axes_are_events_items_of_equal_offsets_and_subitems),
      cmocka_unit_test(outputs_follow_the_events_that_stay),
      cmocka_unit_test(items_of_all_inputs_with_the_same_offsets_go_together),
      cmocka_unit_test(tables_of_first_items_follow_the_items_that_stay),
      cmocka_unit_test(items_without_offsets_keep_the_case_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
