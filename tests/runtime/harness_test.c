/* harness_test.c: the harness runs a kernel on given input, returns all outputs, and detects writes outside of them. */
#define _GNU_SOURCE
#include "cases/case.h"
#include "scratch.h"
#include "support.h"

#include <sluice/testing.h>

#include <math.h>
#include <sys/wait.h>
#include <xxhash.h>

#define PLUGIN "plugins_good/example.cpu.so" /* relative to the folder of this program */

/* Three events: {1, -2, 3}, {}, {-4, 5}. */
static const uint32_t offsets[] = {0, 3, 3, 5};
static const float values[] = {1, -2, 3, -4, 5};
static const uint8_t tags[] = {0, 1, 0, 1, 1};

static struct sl_test *test_of(const char *algorithm) {
  struct sl_test *t = sl_test_new(PLUGIN, algorithm);
  sl_test_events(t, 3);
  sl_test_input(t, "numbers", "offsets", offsets, 4);
  sl_test_input(t, "numbers", "value", values, 5);
  sl_test_input(t, "numbers", "tag", tags, 5);
  return t;
}

static void assert_u32(const struct sl_test *t, const char *port, const char *field, const uint32_t *expected,
                       size_t n) {
  assert_true(sl_test_output_count(t, port, field) >= n);
  assert_memory_equal(sl_test_output(t, port, field), expected, n * sizeof(*expected));
}

static void assert_f32(const struct sl_test *t, const char *port, const char *field, const float *expected, size_t n) {
  assert_true(sl_test_output_count(t, port, field) >= n);
  assert_memory_equal(sl_test_output(t, port, field), expected, n * sizeof(*expected));
}

static void a_kernel_runs_on_all_events(void **state) {
  (void)state;
  struct sl_test *t = test_of("positive");
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0, 2, 2, 3}, 4);
  assert_f32(t, "kept", "value", (const float[]){1, 3, 5}, 3);
  assert_u32(t, "passed", "count", (const uint32_t[]){2}, 1);
  assert_u32(t, "passed", "numbers", (const uint32_t[]){0, 2}, 2);
  assert_int_equal(sl_test_used(t, "kept"), 3);
  for (uint32_t e = 0; e < 3; e++) assert_int_equal(sl_test_event_error(t, e), 0);
  sl_test_free(t);
}

static void a_capacity_follows_from_its_terms(void **state) {
  (void)state;
  struct sl_test *t = test_of("positive"); /* min(5 items, max(3 events * budget, 4)) */
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "kept", "value"), 5);
  sl_test_set(t, "kept_per_event", 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "kept", "value"), 4);
  assert_int_equal(sl_test_output_count(t, "kept", "offsets"), 4);
  sl_test_free(t);
}

static void an_overflow_leaves_no_items_and_is_recorded(void **state) {
  (void)state;
  struct sl_test *t = test_of("positive");
  sl_test_budget(t, "kept", 2);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "kept"), 3);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0, 0, 0, 0}, 4);
  sl_test_budget(t, "kept", 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0, 2, 2, 3}, 4);
  sl_test_free(t);
}

static void events_off_the_list_have_empty_outputs(void **state) {
  (void)state;
  struct sl_test *t = test_of("positive");
  sl_test_list(t, (const uint32_t[]){2}, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0, 0, 0, 1}, 4);
  assert_f32(t, "kept", "value", (const float[]){5}, 1);
  sl_test_list(t, NULL, 0);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0, 0, 0, 0}, 4);
  assert_u32(t, "passed", "count", (const uint32_t[]){0}, 1);
  sl_test_free(t);

  t = test_of("scale");
  sl_test_list(t, (const uint32_t[]){0}, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_f32(t, "scaled", "largest", (const float[]){6, 0, 0}, 3);
  sl_test_free(t);
}

static void unwritten_values_keep_the_poison(void **state) {
  (void)state;
  struct sl_test *t = test_of("scale");
  sl_test_list(t, (const uint32_t[]){0}, 1);
  assert_int_equal(sl_test_run(t), 0);
  const unsigned char *value = sl_test_output(t, "scaled", "value");
  for (size_t i = 3 * sizeof(float); i < 5 * sizeof(float); i++) assert_int_equal(value[i], 0xA5);
  sl_test_free(t);
}

static void a_slice_without_events_runs(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "positive");
  sl_test_events(t, 0);
  sl_test_input(t, "numbers", "offsets", offsets, 1);
  sl_test_input(t, "numbers", "value", NULL, 0);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0}, 1);
  assert_int_equal(sl_test_output_count(t, "passed", "numbers"), 0);
  sl_test_free(t);
}

static void errors_are_reported_by_event(void **state) {
  (void)state;
  struct sl_test *t = test_of("positive");
  const float with_nan[] = {1, NAN, 3, -4, 5};
  sl_test_input(t, "numbers", "value", with_nan, 5);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0), 1ull << 32 | 1);
  assert_int_equal(sl_test_event_error(t, 2), 0);
  sl_test_free(t);
}

static void outputs_that_share_offsets_have_the_offsets_of_the_input(void **state) {
  (void)state;
  struct sl_test *t = test_of("scale");
  sl_test_set(t, "factor", -3);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "scaled", "offsets", offsets, 4);
  assert_f32(t, "scaled", "value", (const float[]){-3, 6, -9, 12, -15}, 5);
  sl_test_free(t);
}

static void the_tuned_version_runs_unless_the_shared_one_is_requested(void **state) {
  (void)state;
  struct sl_test *t = test_of("scale");
  assert_int_equal(sl_test_run(t), 0);
  assert_string_equal(sl_test_messages(t), "note: the tuned version ran, 3 events\n");
  sl_test_shared(t, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_string_equal(sl_test_messages(t), "note: the tuned version ran, 3 events\n");
  sl_test_free(t);
}

static void an_optional_input_may_be_left_out_or_given(void **state) {
  (void)state;
  struct sl_test *t = test_of("scale");
  const double weights[] = {10, 100};
  sl_test_input(t, "weights", "weight", weights, 2);
  sl_test_set(t, "negate", 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_f32(t, "scaled", "value", (const float[]){-20, 400, -60, 800, -1000}, 5);
  assert_f32(t, "scaled", "largest", (const float[]){400, 0, 800}, 3);
  sl_test_free(t);
}

static void give_part(struct sl_test *t, const char *name, const uint32_t *part_offsets, uint32_t count) {
  sl_test_list_input(t, "parts", name, "offsets", part_offsets, 4);
  sl_test_list_input(t, "parts", name, "value", values, count);
}

static void a_list_port_takes_any_number_of_producers(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "merge");
  sl_test_events(t, 3);
  assert_int_equal(sl_test_run(t), 0); /* no producer */
  assert_u32(t, "merged", "offsets", (const uint32_t[]){0, 0, 0, 0}, 4);
  assert_int_equal(sl_test_output_count(t, "merged", "value"), 0);
  give_part(t, "b", (const uint32_t[]){0, 1, 1, 2}, 2);
  give_part(t, "a", (const uint32_t[]){0, 0, 2, 3}, 3);
  sl_test_list_input(t, "lists", "few", "count", (const uint32_t[]){1}, 1);
  sl_test_list_input(t, "lists", "few", "numbers", (const uint32_t[]){2}, 1);
  sl_test_list_input(t, "lists", "all", "count", (const uint32_t[]){3}, 1);
  sl_test_list_input(t, "lists", "all", "numbers", (const uint32_t[]){0, 1, 2}, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "merged", "offsets", (const uint32_t[]){0, 1, 3, 5}, 4);
  assert_f32(t, "merged", "value", (const float[]){values[0], values[0], values[1], values[1], values[2]}, 5);
  assert_u32(t, "merged", "part", (const uint32_t[]){0, 1, 1, 0, 1}, 5);
  assert_u32(t, "merged", "lists", (const uint32_t[]){1, 1, 2}, 3);
  assert_int_equal(sl_test_output_count(t, "merged", "value"), 5 + 2); /* items of all producers, plus the number of
                                                                        * producers */
  give_part(t, "b", (const uint32_t[]){0, 0, 0, 0}, 0);                /* replaces the earlier part b */
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "merged", "part", (const uint32_t[]){1, 1, 1}, 3);
  sl_test_free(t);
}

static void items_of_items_and_scratch_work(void **state) {
  (void)state;
  struct sl_test *t = test_of("runs");
  const float two_signs[] = {1, 2, -3, -4, -5};
  sl_test_input(t, "numbers", "value", two_signs, 5);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "runs", "offsets", (const uint32_t[]){0, 2, 2, 3}, 4);
  assert_u32(t, "runs", "member_offsets", (const uint32_t[]){0, 2, 3, 5}, 4);
  assert_u32(t, "runs", "member", (const uint32_t[]){0, 1, 2, 0, 1}, 5);
  assert_f32(t, "runs", "range", (const float[]){1, 2, -3, -3, -5, -4}, 6);
  assert_int_equal(sl_test_output_count(t, "runs", "range"), 10);
  assert_int_equal(sl_test_output_count(t, "runs", "member_offsets"), 6);
  sl_test_free(t);
}

static void a_constant_is_made(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "weights");
  sl_test_set_text(t, "label", "mine");
  sl_test_set(t, "step", 2);
  assert_int_equal(sl_test_run(t), 0);
  const double expected[] = {0, 2, 4, 6};
  assert_int_equal(sl_test_output_count(t, "weights", "weight"), 4);
  assert_memory_equal(sl_test_output(t, "weights", "weight"), expected, sizeof(expected));
  assert_string_equal(sl_test_messages(t), "note: label mine\n");
  sl_test_set(t, "count", 3);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "error: count must be even, not 3\n"));
  sl_test_free(t);
}

static void choices_and_arrays_are_set(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "chosen");
  const double by_default[] = {1, 2.5, -3}, given[] = {4, 0, -0.5}, expected[] = {-0.5, 0, 4};
  assert_int_equal(sl_test_run(t), 0);
  assert_memory_equal(sl_test_output(t, "weights", "weight"), by_default, sizeof(by_default));
  sl_test_set_array(t, "given", given, 3);
  sl_test_set_text(t, "order", "backward");
  assert_int_equal(sl_test_run(t), 0);
  assert_memory_equal(sl_test_output(t, "weights", "weight"), expected, sizeof(expected));
  sl_test_free(t);
}

static void a_kernel_is_prepared(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "spell");
  const uint32_t one_event[] = {0, 3};
  const uint8_t places[] = {0, 1, 2};
  const double weights[] = {1, 2, 0.5};
  const float hash_of_spell = (float)(uint32_t)(XXH3_64bits("spell", 5) >> 40);
  const float hash_of_mine = (float)(uint32_t)(XXH3_64bits("mine", 4) >> 40);
  sl_test_input(t, "numbers", "offsets", one_event, 2);
  sl_test_input(t, "numbers", "tag", places, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_f32(t, "scaled", "value", (const float[]){'a', 'b', 'c'}, 3);
  assert_f32(t, "scaled", "largest", &hash_of_spell, 1);
  sl_test_input(t, "weights", "weight", weights, 3);
  sl_test_set_text(t, "word", "xyz");
  sl_test_node(t, "mine");
  for (int again = 0; again < 2; again++) {
    assert_int_equal(sl_test_run(t), 0);
    assert_f32(t, "scaled", "value", (const float[]){'x', 2 * 'y', 'z' / 2.0f}, 3);
    assert_f32(t, "scaled", "largest", &hash_of_mine, 1);
  }
  sl_test_set_text(t, "word", "");
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_string_equal(sl_test_messages(t), "error: word: it is empty, in node mine\n");
  sl_test_free(t);
}

static void a_constant_reads_another(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "doubled");
  const double weights[] = {1.5, -2, 0.25}, expected[] = {3, -4, 0.5};
  sl_test_input(t, "weights", "weight", weights, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "doubled", "weight"), 3);
  assert_memory_equal(sl_test_output(t, "doubled", "weight"), expected, sizeof(expected));
  sl_test_free(t);
}

static void a_sink_reports_and_unread_fields_are_null(void **state) {
  (void)state;
  struct sl_test *t = test_of("tally");
  sl_test_set(t, "scale", 0.5);
  assert_int_equal(sl_test_run(t), 0); /* the sink fails if `tag`, which it does not read, is not NULL */
  assert_string_equal(sl_test_report(t),
                      "{\n"
                      "  \"events\": 3,\n"
                      "  \"totals\": [\n"
                      "    5,\n"
                      "    1.5\n"
                      "  ]\n"
                      "}");
  assert_string_equal(sl_test_messages(t), "5 numbers\n");
  sl_test_free(t);
}

static void a_failure_is_returned(void **state) {
  (void)state;
  struct sl_test *t = test_of("misbehave");
  assert_int_equal(sl_test_run(t), 0);
  sl_test_set(t, "how", 5);
  assert_int_equal(sl_test_run(t), SL_EDEVICE);
  assert_string_equal(sl_test_messages(t), "error: told to fail\n");
  sl_test_free(t);
}

/* ------------------------------------------------------------------ errors that end the program with a message */

/* Runs `act` in a child that must end with `words` on standard error. If sanitizer_may_speak, a report of
 * AddressSanitizer is right too. */
static void assert_ends(void (*act)(void), const char *words, int sanitizer_may_speak) {
  char said[65536];
  int pipes[2], status;
  size_t length = 0;
  assert_int_equal(pipe(pipes), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    close(pipes[0]);
    act();
    _exit(0);
  }
  close(pipes[1]);
  for (ssize_t got; (got = read(pipes[0], said + length, sizeof(said) - 1 - length)) > 0;) length += (size_t)got;
  said[length] = '\0';
  close(pipes[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) fail_msg("it went on, where \"%s\" is expected", words);
  if (sanitizer_may_speak && strstr(said, "AddressSanitizer")) return;
  if (!strstr(said, words)) fail_msg("\"%s\" is expected, not: %s", words, said);
}

static void misbehave(double how) {
  struct sl_test *t = test_of("misbehave");
  sl_test_set(t, "how", how);
  sl_test_run(t);
}
static void write_past(void) { misbehave(1); }
static void write_before(void) { misbehave(2); }
static void write_input(void) { misbehave(3); }
static void write_past_scratch(void) { misbehave(4); }
static void open_nothing(void) { sl_test_new("plugins_good/nothing.cpu.so", "scale"); }
static void open_unknown(void) { sl_test_new(PLUGIN, "scael"); }
static void open_source(void) { sl_test_new(PLUGIN, "counter"); }
static void input_unknown(void) { sl_test_input(test_of("scale"), "hits", "x", values, 5); }
static void field_unknown(void) { sl_test_input(test_of("scale"), "numbers", "x", values, 5); }
/* Writes once a case of `positive` on three events, with a budget of 1 per event. `other_type`: with a field of other
 * type.
 */
static const char *case_file(int other_type) {
  static char paths[2][SCRATCH_PATH_MAX];
  static const char *const one[] = {"1"};
  static uint32_t runs[3];
  static uint64_t numbers[3];
  static struct sl_case_property budget = {"kept_per_event", NULL, one, 1, 0};
  static struct sl_field fields[] = {{"offsets", SL_TYPE_u32, SL_SHAPE_OFFSETS, "", ""},
                                     {"value", SL_TYPE_f32, SL_SHAPE_PER_ITEM, "", ""},
                                     {"tag", SL_TYPE_u8, SL_SHAPE_PER_ITEM, "", ""}};
  static const struct sl_collection collection = {"example_numbers", "", fields, 3, 0, NULL, NULL};
  static const void *stored[] = {offsets, values, tags};
  static uint64_t counts[] = {4, 5, 5};
  static struct sl_case_port port = {"numbers", NULL, NULL, &collection, &collection, stored, counts};
  char *path = paths[other_type];
  uint64_t bytes;
  if (*path) return path;
  struct sl_case c = {.algorithm = "example.positive", .node = "n", .event_count = 3, .runs = runs, .numbers = numbers};
  c.properties = &budget;
  c.inputs = &port;
  c.property_count = c.input_count = 1;
  fields[2].type = other_type ? SL_TYPE_i8 : SL_TYPE_u8;
  struct sl_diagnostics *d = sl_diagnostics_new();
  scratch_file(path);
  assert_int_equal(sl_case_write(&c, path, &bytes, d), SL_OK);
  sl_diagnostics_free(d);
  return path;
}

static void a_case_gives_inputs_properties_and_events(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(PLUGIN, "positive");
  sl_test_load(t, case_file(0), NULL);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "kept", "offsets", (const uint32_t[]){0, 2, 2, 3}, 4);
  assert_f32(t, "kept", "value", (const float[]){1, 3, 5}, 3);
  assert_int_equal(sl_test_output_count(t, "kept", "value"), 4); /* the budget of the case: see above */
  sl_test_free(t);
  t = sl_test_new(PLUGIN, "positive");
  sl_test_events(t, 3);
  sl_test_load(t, case_file(0), "numbers"); /* the input alone */
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "kept", "value"), 5);
  sl_test_free(t);
}

static void load_other_layout(void) { sl_test_load(sl_test_new(PLUGIN, "positive"), case_file(1), NULL); }
static void load_other_algorithm(void) { sl_test_load(sl_test_new(PLUGIN, "scale"), case_file(0), NULL); }
static void load_no_file(void) { sl_test_load(sl_test_new(PLUGIN, "positive"), "/none.slc", NULL); }
static void load_no_input(void) { sl_test_load(sl_test_new(PLUGIN, "positive"), case_file(0), "hits"); }
static void property_unknown(void) { sl_test_set(test_of("scale"), "factro", 1); }
static void property_outside(void) { sl_test_set(test_of("scale"), "factor", 101); }
static void property_fraction(void) { sl_test_set(test_of("scale"), "negate", 0.5); }
static void list_port_as_one(void) { sl_test_input(sl_test_new(PLUGIN, "merge"), "parts", "value", values, 5); }
static void one_as_list_port(void) { sl_test_list_input(test_of("scale"), "numbers", "a", "value", values, 5); }
static void part_without_field(void) {
  struct sl_test *t = sl_test_new(PLUGIN, "merge");
  sl_test_list_input(t, "parts", "a", "value", values, 5);
  sl_test_run(t);
}
static void output_too_soon(void) { sl_test_output(test_of("scale"), "scaled", "value"); }

static void run_without_input(void) {
  struct sl_test *t = sl_test_new(PLUGIN, "scale");
  sl_test_run(t);
}

static void run_without_field(void) {
  struct sl_test *t = sl_test_new(PLUGIN, "scale");
  sl_test_events(t, 3);
  sl_test_input(t, "numbers", "offsets", offsets, 4);
  sl_test_input(t, "numbers", "value", values, 5);
  sl_test_run(t);
}

static void run_with_wrong_length(void) {
  struct sl_test *t = test_of("scale");
  sl_test_events(t, 2);
  sl_test_run(t);
}

static void run_with_unequal_lengths(void) {
  struct sl_test *t = test_of("scale");
  sl_test_input(t, "numbers", "tag", tags, 4);
  sl_test_run(t);
}

static void run_on_descending_list(void) {
  struct sl_test *t = test_of("scale");
  sl_test_list(t, (const uint32_t[]){2, 1}, 2);
  sl_test_run(t);
}

static void writes_outside_of_outputs_are_detected(void **state) {
  (void)state;
  assert_ends(write_past, "example.misbehave: scaled.value was written 0 bytes past its end", 1);
  /* -1.0f ends with zero bytes; the changed bytes next to it are those of 0x3f80. */
  assert_ends(write_before, "example.misbehave: scaled.value was written ", 1);
  assert_ends(write_input, "example.misbehave: input numbers.value was written to", 0);
  assert_ends(write_past_scratch, "example.misbehave: scratch was written 0 bytes past its end", 1);
}

static void invalid_requests_end_the_test(void **state) {
  (void)state;
  case_file(0); /* not in the child processes */
  case_file(1);
  assert_ends(open_nothing, "plugins_good/nothing.cpu.so: cannot be opened: No such file", 0);
  assert_ends(open_unknown, "there is no algorithm scael", 0);
  assert_ends(open_source, "example.counter: the harness does not run sources", 0);
  assert_ends(input_unknown, "example.scale: there is no input hits", 0);
  assert_ends(field_unknown, "example.scale: numbers, a example_numbers, has no field x", 0);
  assert_ends(list_port_as_one, "example.merge: input parts is a list port: name a producer", 0);
  assert_ends(
      load_other_layout,
      "example.positive: input numbers of the case is another example_numbers than that of the plugin: field tag "
      "is i8 against u8",
      0);
  assert_ends(load_other_algorithm, "example.scale: there is no property kept_per_event", 0);
  assert_ends(load_no_file, "example.positive: /none.slc: No such file or directory", 0);
  assert_ends(load_no_input, "has no input hits", 0);
  assert_ends(one_as_list_port, "example.scale: input numbers is no list port", 0);
  assert_ends(part_without_field, "input parts.offsets is read but was not given", 0);
  assert_ends(property_unknown, "example.scale: there is no property factro", 0);
  assert_ends(property_outside, "property factor cannot be 101: its range is -100 to 100", 0);
  assert_ends(property_fraction, "property negate cannot be 0.5: it is an integer", 0);
  assert_ends(output_too_soon, "output scaled.value was requested before sl_test_run", 0);
  assert_ends(run_without_input, "input numbers was not given", 0);
  assert_ends(run_without_field, "input numbers.tag is read but was not given", 0);
  assert_ends(run_with_wrong_length, "input numbers.offsets has 4 values, 3 are expected for 2 events", 0);
  assert_ends(run_with_unequal_lengths, "inputs numbers.value and numbers.tag have different numbers of entries", 0);
  assert_ends(run_on_descending_list, "entry 1 is 1", 0);
}

/* ------------------------------------------------------------------------------------------------ families */

static void run_family(const char *algorithm, const uint32_t *list, uint32_t count) {
  struct sl_test *t = sl_test_new("plugins/wrong.cpu.so", algorithm);
  sl_test_events(t, 3);
  sl_test_input(t, "numbers", "offsets", offsets, 4);
  if (list) sl_test_list(t, list, count);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *passed = sl_test_output(t, "passed", "count"), *numbers = sl_test_output(t, "passed", "numbers");
  assert_int_equal(*passed, list ? 1 : 2);
  assert_int_equal(numbers[*passed - 1], 2);
  sl_test_free(t);
}
static void run_first_node(void) { run_family("first_node", NULL, 0); }
static void run_first_list(void) { run_family("first_list", (const uint32_t[]){1, 2}, 2); }
static void run_first_property(void) { run_family("first_property", NULL, 0); }

/* The outputs are those of the tested node, not of the other nodes of the family. */
static void a_family_with_the_results_of_its_nodes_is_accepted(void **state) {
  (void)state;
  run_family("good_family", NULL, 0);
  run_family("good_family", (const uint32_t[]){1, 2}, 2);
}

static void a_family_that_uses_the_arguments_of_one_node_for_all_is_detected(void **state) {
  (void)state;
  assert_ends(run_first_node, "wrong.first_node: as node 1 of a family of 4, value 0 of passed.count differs", 0);
  assert_ends(run_first_list, "wrong.first_list: as node 1 of a family of 4, value 0 of passed.", 0);
  assert_ends(run_first_property, "wrong.first_property: as node 2 of a family of 4, value 0 of passed.", 0);
}

/* On the mock device (toy/mock_backend.c), kernels read copies of the host's data. */
static void a_family_runs_on_a_device_with_its_own_memory(void **state) {
  (void)state;
  setenv("SLUICE_TEST_TARGET", "mock", 1);
  struct sl_test *t = sl_test_new("plugins/toy.cpu.so", "select");
  unsetenv("SLUICE_TEST_TARGET");
  sl_test_events(t, 3);
  sl_test_input(t, "numbers", "offsets", offsets, 4);
  sl_test_set(t, "tells", 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_string_equal(sl_test_messages(t), "note: a family of 4\n");
  assert_u32(t, "passed", "count", (const uint32_t[]){2}, 1);
  assert_u32(t, "passed", "numbers", (const uint32_t[]){1, 2}, 2);
  sl_test_free(t);
}

static void a_plugin_is_found_in_the_folder_of_the_environment(void **state) {
  (void)state;
  char folder[PATH_MAX + 32];
  const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX);
  assert_in_range(length, 1, PATH_MAX - 1);
  folder[length] = '\0';
  strcpy(strrchr(folder, '/'), "/plugins_good");
  setenv("SLUICE_TEST_FOLDER", folder, 1);
  sl_test_free(sl_test_new("nowhere/example.cpu.so", "positive"));
  setenv("SLUICE_TEST_FOLDER", "nowhere", 1);
  sl_test_free(sl_test_new(PLUGIN, "positive"));
  unsetenv("SLUICE_TEST_FOLDER");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_case_gives_inputs_properties_and_events),
      cmocka_unit_test(a_kernel_runs_on_all_events),
      cmocka_unit_test(a_plugin_is_found_in_the_folder_of_the_environment),
      cmocka_unit_test(a_capacity_follows_from_its_terms),
      cmocka_unit_test(an_overflow_leaves_no_items_and_is_recorded),
      cmocka_unit_test(events_off_the_list_have_empty_outputs),
      cmocka_unit_test(unwritten_values_keep_the_poison),
      cmocka_unit_test(a_slice_without_events_runs),
      cmocka_unit_test(errors_are_reported_by_event),
      cmocka_unit_test(outputs_that_share_offsets_have_the_offsets_of_the_input),
      cmocka_unit_test(the_tuned_version_runs_unless_the_shared_one_is_requested),
      cmocka_unit_test(an_optional_input_may_be_left_out_or_given),
      cmocka_unit_test(a_list_port_takes_any_number_of_producers),
      cmocka_unit_test(items_of_items_and_scratch_work),
      cmocka_unit_test(a_constant_is_made),
      cmocka_unit_test(choices_and_arrays_are_set),
      cmocka_unit_test(a_kernel_is_prepared),
      cmocka_unit_test(a_constant_reads_another),
      cmocka_unit_test(a_sink_reports_and_unread_fields_are_null),
      cmocka_unit_test(a_failure_is_returned),
      cmocka_unit_test(writes_outside_of_outputs_are_detected),
      cmocka_unit_test(invalid_requests_end_the_test),
      cmocka_unit_test(a_family_with_the_results_of_its_nodes_is_accepted),
      cmocka_unit_test(a_family_runs_on_a_device_with_its_own_memory),
      cmocka_unit_test(a_family_that_uses_the_arguments_of_one_node_for_all_is_detected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
