/* devices_test.c: devices selected by --device, the distribution of slots and slices over them, and the reports, with
 * three mock devices. For failing devices see lost_devices_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "base/numa.h"
#include "scratch.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

#define GRAPH                      \
  "sluice: 1\n"                    \
  "nodes:\n"                       \
  "  raw: { use: toy.source }\n"   \
  "  scaled: { use: toy.scale }\n" \
  "outputs: [scaled]\n"

struct result {
  int status;
  uint32_t slots, devices, slice_events;
  struct sl_device_summary of[3];
  uint64_t digest;
  char *messages, *table, *json;
};

static struct result run(const char *devices, uint32_t slots, uint32_t repeat, const char *trace_path) {
  struct result r = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(GRAPH, devices);
  struct sl_session *session = NULL;
  o.slots = slots;
  o.slice_events = 7;
  o.repeat = repeat;
  o.digest = 1;
  o.profile = trace_path != NULL;
  o.trace_path = trace_path;
  r.status = sl_session_open(&o, d, &session);
  if (session) {
    r.status = sl_session_run(session);
    const struct sl_summary *sum = sl_session_summary(session);
    r.slots = sum->slots;
    r.slice_events = sum->slice_events;
    r.digest = sum->outputs[0].digest;
    r.devices = sum->device_count;
    for (uint32_t i = 0; i < sum->device_count; i++) r.of[i] = sum->devices[i];
    for (uint32_t i = 0; i < sum->device_count; i++) r.of[i].name = NULL; /* owned by the session */
    assert_int_equal(toy_reports(session, &r.table, &r.json), SL_OK);
  }
  sl_session_close(session);
  r.messages = toy_messages(d);
  sl_diagnostics_free(d);
  return r;
}

static void free_result(struct result *r) {
  free(r->messages);
  free(r->table);
  free(r->json);
}

static void expect_in(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

static void expect_refused(const char *devices, uint32_t slots, const char *message) {
  struct result r = run(devices, slots, 1, NULL);
  if (r.status == SL_OK) fail_msg("%s: not refused", devices);
  expect_in(r.messages, message);
  free_result(&r);
}

static void invalid_and_repeated_devices_are_refused(void **state) {
  (void)state;
  static const char *const senseless[] = {"mock:",   "mock:x",     "mock:1,",  "mock:,1", "mock:1x",
                                          "mock:-1", "mock:all,1", "mock:1 2", ":1",      ""};
  for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
    expect_refused(senseless[i], 0, "' is not a device");
  expect_refused("mock:0,1024", 0, "the number of a device is out of range: it must be from 0 to 1023, not 1024");
  expect_refused("mock:99999999999999999999", 0, "out of range: it must be from 0 to 1023, not 99999999999999999999");
  expect_refused("mock:2,0,2", 0, "'mock:2,0,2' names number 2 twice");
  expect_refused("mock:0,3", 0, "there is no device 'mock:0,3': there is no mock device number 3; there are 3");
  expect_refused("cpu:0,1", 0, "there is one cpu, number 0");
  char many[128] = "mock:0";
  for (uint32_t i = 1; i <= 32; i++) snprintf(many + strlen(many), sizeof many - strlen(many), ",%u", i);
  expect_refused(many, 0, "is more than 32 devices");
}

static void each_device_has_at_least_one_slot(void **state) {
  (void)state;
  expect_refused("mock:all", 2, "'mock:all' is 3 devices, for 2 slots\n  hint: use --slots 3 or more");
  static const struct {
    const char *devices;
    uint32_t slots, expected, of[3];
  } cases[] = {{"mock:all", 0, 3, {1, 1, 1}},   {"mock:0,2", 0, 2, {1, 1, 0}}, {"mock:1", 0, 1, {1, 0, 0}},
               {"mock:2,1,0", 8, 8, {3, 3, 2}}, {"mock", 2, 2, {2, 0, 0}},     {"cpu:all", 3, 3, {3, 0, 0}}};
  struct result reference = run("cpu", 1, 1, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct result r = run(cases[i].devices, cases[i].slots, 1, NULL);
    if (r.status != SL_OK) fail_msg("%s: %s", cases[i].devices, r.messages);
    assert_int_equal(r.slots, cases[i].expected);
    for (uint32_t d = 0; d < 3; d++) assert_int_equal(r.of[d].slots, cases[i].of[d]);
    assert_int_equal(r.of[0].slices + r.of[1].slices + r.of[2].slices, 15);
    assert_int_equal(r.digest, reference.digest);
    free_result(&r);
  }
  free_result(&reference);
}

static void repeats_run_each_slice_equally_often_on_any_number_of_devices(void **state) {
  (void)state;
  struct result reference = run("mock", 1, 8, NULL), r = run("mock:all", 4, 8, NULL);
  assert_int_equal(r.status, SL_OK);
  assert_int_equal(reference.of[0].slices, 8 * 15);
  assert_int_equal(r.of[0].slices + r.of[1].slices + r.of[2].slices, 8 * 15);
  assert_int_equal(r.digest, reference.digest);
  free_result(&r);
  free_result(&reference);
}

static void table_summary_and_trace_name_the_devices(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX + 16], text[8192] = "";
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/trace.json", folder);
  setenv("SLUICE_MOCK_FAIL", "2@wait:1+", 1);
  setenv("SLUICE_MOCK_MEET", "2", 1);
  struct result r = run("mock:0,2", 2, 1, path);
  unsetenv("SLUICE_MOCK_FAIL");
  unsetenv("SLUICE_MOCK_MEET");
  assert_int_equal(r.status, SL_OK);
  expect_in(r.table, "device       mock:0,2\n");
  expect_in(r.table, "on device    mock:0: 15 slices in 1 slot\n");
  expect_in(r.table, "on device    mock:2: 0 slices in 1 slot; it was lost\n");
  expect_in(r.messages,
            "warning: node scaled: mock:2 is lost, and its slices run on other devices: a kernel failed in "
            "toy.scale: wait failed as it was asked to");
  expect_in(r.json, "\"name\": \"mock:2\"");
  expect_in(r.json, "\"lost\": true");
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  expect_in(text, "\"slot 1 on mock:2, uploads\"");
  free_result(&r);
}

/* ------------------------------------------------------------------------------------------- memory and cores */

static void the_device_with_the_least_memory_is_the_limit(void **state) {
  (void)state;
  setenv("SLUICE_MOCK_MEMORY", "10000000,100000000,2000", 1);
  expect_refused("mock:0,1,2", 0, "slots of 7 events need ");
  expect_refused("mock:0,1,2", 0, " left (mock:2)");
  struct result r = run("mock:0,1", 0, 1, NULL);
  unsetenv("SLUICE_MOCK_MEMORY");
  assert_int_equal(r.status, SL_OK);
  free_result(&r);
}

static void lists_of_cores_are_read(void **state) {
  (void)state;
  struct sl_numa_cores cores;
  assert_true(sl_numa_read_cores("0-2,8,70-71\n", &cores));
  assert_int_equal(cores.bits[0], 0x107);
  assert_int_equal(cores.bits[1], 0xC0);
  static const char *const wrong[] = {"", "\n", "x", "1-", "1,", "-1", "5000", "1-5000", "1;2", "3-1x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (sl_numa_read_cores(wrong[i], &cores)) fail_msg("'%s' was read", wrong[i]);
}

static void without_several_memory_nodes_nothing_changes(void **state) {
  (void)state;
  struct sl_numa_policy policy;
  struct sl_numa_cores cores;
  assert_false(sl_numa_prefer(-1, &policy));
  assert_false(sl_numa_prefer(1023, &policy));
  assert_false(sl_numa_run_on(-1, &cores));
  assert_false(sl_numa_run_on(SL_NUMA_NODES_MAX, &cores));
  if (sl_numa_prefer(0, &policy)) sl_numa_restore(&policy); /* on a machine with several nodes */
  if (sl_numa_run_on(0, &cores)) sl_numa_restore_cores(&cores);
}

int main(void) {
  setenv("SLUICE_MOCK_DEVICES", "3", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(invalid_and_repeated_devices_are_refused),
      cmocka_unit_test(each_device_has_at_least_one_slot),
      cmocka_unit_test(repeats_run_each_slice_equally_often_on_any_number_of_devices),
      cmocka_unit_test(table_summary_and_trace_name_the_devices),
      cmocka_unit_test(the_device_with_the_least_memory_is_the_limit),
      cmocka_unit_test(lists_of_cores_are_read),
      cmocka_unit_test(without_several_memory_nodes_nothing_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
