/* fit_test.c: the available memory, read from system files, and runs that do not fit into the memory of a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
/* cmocka.h needs the headers above */
#include "base/memory.h"
#include "scratch.h"
#include "session.h"

#include <cmocka.h>

/* ----------------------------------------------------------------------------------------------- system files */

static char root[SCRATCH_PATH_MAX];

/* Writes a file below the root, and creates its folders. */
static void put(const char *path, const char *text) {
  char whole[512];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    mkdir(whole, 0755);
  }
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int open_root(void **state) {
  (void)state;
  scratch_folder(root);
  return 0;
}

static void expect_room(uint64_t bytes, const char *why) {
  const struct sl_memory_limit room = sl_memory_available(root);
  if (room.bytes != bytes || strcmp(room.why, why) != 0)
    fail_msg("%llu bytes (%s) instead of %llu (%s)", (unsigned long long)room.bytes, room.why,
             (unsigned long long)bytes, why);
}

static const char *const group_limits = "the limit of the control group";

static void without_system_files_there_is_no_limit(void **state) {
  (void)state;
  expect_room(UINT64_MAX, "");
}

static void available_memory_of_the_machine_is_a_limit(void **state) {
  (void)state;
  put("/proc/meminfo", "MemTotal:       2000 kB\nMemFree:           1 kB\nMemAvailable:   1000 kB\n");
  expect_room(1024000, "MemAvailable");
}

static void a_version_2_group_limits_to_its_free_and_reclaimable_memory(void **state) {
  (void)state;
  put("/proc/meminfo", "MemAvailable:   1000 kB\n");
  put("/proc/self/cgroup", "0::/jobs/one\n");
  put("/sys/fs/cgroup/jobs/one/memory.max", "500000\n");
  put("/sys/fs/cgroup/jobs/one/memory.current", "300000\n");
  put("/sys/fs/cgroup/jobs/one/memory.stat", "anon 7\nfile 100000\ninactive_file 40000\nactive_file 20000\n");
  expect_room(500000 - (300000 - 60000), group_limits);
}

static void a_parent_group_limits_too_and_max_does_not(void **state) {
  (void)state;
  put("/proc/self/cgroup", "0::/jobs/one\n");
  put("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
  put("/sys/fs/cgroup/jobs/one/memory.current", "300000\n");
  put("/sys/fs/cgroup/jobs/memory.max", "400000\n");
  put("/sys/fs/cgroup/jobs/memory.current", "350000\n");
  expect_room(50000, group_limits);
}

static void in_a_container_the_root_group_is_the_limit(void **state) {
  (void)state;
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "400000\n");
  put("/sys/fs/cgroup/memory.current", "500000\n");
  expect_room(0, group_limits);
}

static void a_version_1_group_limits_even_if_only_its_root_is_visible(void **state) {
  (void)state;
  put("/proc/self/cgroup", "5:cpu,cpuacct:/docker/12ab\n4:hugetlb,memory:/docker/12ab\n0::/\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "900000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "200000\n");
  put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\ntotal_active_file 0\n");
  expect_room(800000, group_limits);
}

static void sizes_are_shown_with_three_digits(void **state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {{0, "0 B"}, {999, "999 B"}, {1250, "1.25 kB"}, {12500000, "12.5 MB"}, {300000000, "300 MB"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[32];
    sl_memory_text(cases[i].bytes, text, sizeof text);
    assert_string_equal(text, cases[i].text);
  }
}

/* ----------------------------------------------------------------------------------------- memory of a device */

#define GRAPH                                         \
  "sluice: 1\n"                                       \
  "nodes:\n"                                          \
  "  raw: { use: toy.source, set: { events: 40 } }\n" \
  "  sum: { use: toy.sum }\n"                         \
  "outputs: [sum]\n"

struct result {
  int status;
  uint32_t slice_events;
  uint64_t digest, events;
  char *messages;
};

/* Runs on the mock device with `memory` bytes; NULL: unlimited. */
static struct result run(const char *memory, const char *graph, uint32_t slots, uint32_t slice_events) {
  struct result r = {0};
  if (memory)
    setenv("SLUICE_MOCK_MEMORY", memory, 1);
  else
    unsetenv("SLUICE_MOCK_MEMORY");
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, "mock");
  o.slots = slots;
  o.slice_events = slice_events;
  o.digest = 1;
  struct sl_session *session = NULL;
  r.status = sl_session_open(&o, d, &session);
  if (session) {
    r.status = sl_session_run(session);
    r.slice_events = sl_session_summary(session)->slice_events;
    r.events = sl_session_summary(session)->events;
    r.digest = sl_session_summary(session)->outputs[0].digest;
  }
  r.messages = toy_messages(d);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return r;
}

static void expect_message(const struct result *r, const char *text) {
  if (!strstr(r->messages, text)) fail_msg("'%s' is not in: %s", text, r->messages);
}

/* Smallest memory, in steps of an eighth, in which slices of `slice_events` events run. */
static uint64_t memory_of(uint32_t slots, uint32_t slice_events) {
  for (uint64_t bytes = 1024;; bytes += bytes / 8) {
    char memory[32];
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)bytes);
    struct result r = run(memory, GRAPH, slots, slice_events);
    free(r.messages);
    if (r.status == SL_OK) return bytes;
    assert_true(bytes < 1u << 30);
  }
}

static void slices_of_default_size_are_reduced_and_results_do_not_change(void **state) {
  (void)state;
  struct result all = run(NULL, GRAPH, 2, 0);
  assert_int_equal(all.status, SL_OK);
  assert_int_equal(all.events, 40);
  assert_string_equal(all.messages, "");
  char memory[32];
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)memory_of(2, 4));
  struct result less = run(memory, GRAPH, 2, 0);
  assert_int_equal(less.status, SL_OK);
  assert_true(less.slice_events >= 4 && less.slice_events < all.slice_events);
  assert_int_equal(less.digest, all.digest);
  assert_int_equal(less.events, 40);
  expect_message(&less, "note: slices of ");
  expect_message(&less, " instead of 16: 2 slots of 16 events need ");
  expect_message(&less, "(free memory of the device)");
  free(all.messages);
  free(less.messages);
}

static void a_requested_size_that_does_not_fit_is_refused_with_a_size_that_does(void **state) {
  (void)state;
  char memory[32];
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)memory_of(1, 500));
  struct result r = run(memory, GRAPH, 2, 500);
  assert_int_equal(r.status, SL_ENOMEM);
  expect_message(&r, "error: 2 slots of 500 events need ");
  expect_message(&r, "hint: --slice-events ");
  expect_message(&r, " fits, and so does --slots 1\n");
  /* The hint is the largest number of events that fits. */
  const uint32_t events = (uint32_t)strtoul(strstr(r.messages, "--slice-events ") + 15, NULL, 10);
  struct result hinted = run(memory, GRAPH, 2, events), more = run(memory, GRAPH, 2, events + 1);
  assert_int_equal(hinted.status, SL_OK);
  assert_int_equal(more.status, SL_ENOMEM);
  free(r.messages);
  free(hinted.messages);
  free(more.messages);
}

static void the_budget_of_a_graph_is_a_requested_size(void **state) {
  (void)state;
  char memory[32];
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)memory_of(1, 8));
  struct result r = run(memory, GRAPH "budgets: { events: 400 }\n", 1, 0);
  assert_int_equal(r.status, SL_ENOMEM);
  expect_message(&r, "error: 1 slot of 400 events needs ");
  free(r.messages);
}

static void a_device_that_cannot_report_free_memory_is_no_limit(void **state) {
  (void)state;
  setenv("SLUICE_MOCK_FAIL", "free_memory:1", 1);
  struct result r = run("100", GRAPH, 1, 0);
  unsetenv("SLUICE_MOCK_FAIL");
  assert_int_equal(r.status, SL_ENOMEM); /* from the allocation */
  expect_message(&r, "slot 0 of 1: no memory for an arena of ");
  free(r.messages);
}

static void an_error_reports_that_not_even_one_event_fits(void **state) {
  (void)state;
  struct result r = run("100", GRAPH, 1, 0);
  assert_int_equal(r.status, SL_ENOMEM);
  expect_message(&r, "not even one event in one slot fits");
  free(r.messages);
}

int main(void) {
#define IN_A_ROOT(test) cmocka_unit_test_setup(test, open_root)
  const struct CMUnitTest tests[] = {
      IN_A_ROOT(without_system_files_there_is_no_limit),
      IN_A_ROOT(available_memory_of_the_machine_is_a_limit),
      IN_A_ROOT(a_version_2_group_limits_to_its_free_and_reclaimable_memory),
      IN_A_ROOT(a_parent_group_limits_too_and_max_does_not),
      IN_A_ROOT(in_a_container_the_root_group_is_the_limit),
      IN_A_ROOT(a_version_1_group_limits_even_if_only_its_root_is_visible),
      cmocka_unit_test(sizes_are_shown_with_three_digits),
      cmocka_unit_test(slices_of_default_size_are_reduced_and_results_do_not_change),
      cmocka_unit_test(a_requested_size_that_does_not_fit_is_refused_with_a_size_that_does),
      cmocka_unit_test(the_budget_of_a_graph_is_a_requested_size),
      cmocka_unit_test(a_device_that_cannot_report_free_memory_is_no_limit),
      cmocka_unit_test(an_error_reports_that_not_even_one_event_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
