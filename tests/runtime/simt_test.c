/* simt_test.c: the emulator gives correct kernels the results of the cpu for any seed, block and warp size. It finds
 * the faults of the kernels in simt_bad:
 *
 *   by an error with the lines where threads wait: divergent_barrier, early_return, uneven_loop,
 *   divergent_collective, partial_warp;
 *   by an error after the block: past_shared, before_shared;
 *   by a result that differs from the cpu: missing_barrier, uninitialised_shared, uninitialised_launch at every seed;
 *   missing_last_barrier, order_dependent at most seeds; warp_assumed with warps of 64.
 */
#include "simt/simt.h"

#include "collectives_expected.h"
#include "faults.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------ launching */

struct target {
  void *handle;
  const struct sl_algorithm *algorithm;
  struct sl_device *device; /* NULL: the cpu */
  struct sl_stream *stream;
  struct sl_services services;
  uint32_t block_threads, grid_blocks;
  char messages[4096];
};

static void add_message(void *context, uint32_t severity, const char *format, ...) {
  struct target *t = context;
  va_list arguments;
  va_start(arguments, format);
  const size_t length = strlen(t->messages);
  vsnprintf(t->messages + length, sizeof t->messages - length, format, arguments);
  va_end(arguments);
  assert_int_equal(severity, SL_ERROR);
}

static void target_open(struct target *t, const char *plugin, const char *target) {
  char path[512];
  memset(t, 0, sizeof *t);
  snprintf(path, sizeof path, "%s/%s.%s.so", TEST_PLUGINS, plugin, target);
  t->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!t->handle) fail_msg("%s", dlerror());
  const struct sl_plugin *table = dlsym(t->handle, "sluice_plugin");
  assert_non_null(table);
  assert_string_equal(table->target, target);
  t->algorithm = table->algorithms[0];
  t->services = (struct sl_services){.size = sizeof t->services, .context = t, .message = add_message};
  t->block_threads = t->grid_blocks = 1;
}

static void target_close(struct target *t) {
  sl_simt_stream_close(t->stream);
  if (t->device) sl_simt_device_close(t->device);
  dlclose(t->handle);
}

/* Opens a new stream; its launches are those of every stream with these settings. */
static void use_emulator(struct target *t, uint64_t seed, uint32_t warp, uint32_t block_threads) {
  char text[32], reason[256];
  sl_simt_stream_close(t->stream);
  if (!t->device) assert_int_equal(sl_simt_device_open(0, &t->device, reason, sizeof reason), SL_OK);
  snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
  assert_int_equal(sl_simt_device_set(t->device, "seed", text, reason, sizeof reason), SL_OK);
  snprintf(text, sizeof text, "%u", warp);
  assert_int_equal(sl_simt_device_set(t->device, "warp", text, reason, sizeof reason), SL_OK);
  t->stream = sl_simt_stream_open(t->device);
  assert_non_null(t->stream);
  t->block_threads = block_threads;
  t->grid_blocks = 8;
  t->messages[0] = '\0';
}

static int run(struct target *t, const void *args) {
  const struct sl_launch launch = {
      .size = sizeof launch,
      .block_threads = t->block_threads,
      .grid_blocks = t->grid_blocks,
      .shared_bytes_max = t->device ? sl_simt_shared_bytes(t->device) : SL_HOST_SHARED_BYTES,
      .services = &t->services,
      .backend = t->stream};
  return t->algorithm->run(&launch, args);
}

static const uint64_t seeds[] = {1, 2, 12345678901234567890u};
static const uint32_t warps[] = {32, 64}, blocks[] = {32, 64, 96, 256, 1024};
#define FOR_ALL(i, array) for (size_t i = 0; i < sizeof(array) / sizeof((array)[0]); i++)

/* ---------------------------------------------------------------------------------------------- collectives */

static int run_collectives(struct target *t, const struct numbers *n, struct results *r) {
  const uint32_t event_count = EVENTS;
  memset(r, 0, sizeof *r);
  const struct collectives_args args = {.events = {.count = &event_count},
                                        .numbers = {.offsets = n->offsets, .value = n->value, .weight = n->weight},
                                        .results = {.prefix = r->prefix,
                                                    .kept = r->kept,
                                                    .kept_count = r->kept_count,
                                                    .sum = r->sum,
                                                    .signed_sum = r->signed_sum,
                                                    .smallest = r->smallest,
                                                    .weight_sum = r->weight_sum,
                                                    .prefix_i64 = r->prefix_i64,
                                                    .weight_sum64 = r->weight_sum64,
                                                    .functions = r->functions,
                                                    .atomics = r->atomics,
                                                    .agree = r->agree}};
  return run(t, &args);
}

static void collectives_give_the_reference_results_on_cpu(void **state) {
  (void)state;
  static struct numbers n;
  static struct results expected, got;
  struct target t;
  make_numbers(&n);
  expect_results(&n, &expected);
  target_open(&t, "collectives", "cpu");
  assert_int_equal(run_collectives(&t, &n, &got), SL_OK);
  assert_memory_equal(&got, &expected, sizeof got);
  target_close(&t);
}

static void collectives_give_the_reference_results_for_any_seed_block_and_warp(void **state) {
  (void)state;
  static struct numbers n;
  static struct results expected, got;
  struct target t;
  make_numbers(&n);
  expect_results(&n, &expected);
  target_open(&t, "collectives", "simt");
  FOR_ALL (s, seeds)
    FOR_ALL (w, warps)
      FOR_ALL (b, blocks) {
        use_emulator(&t, seeds[s], warps[w], blocks[b]);
        if (run_collectives(&t, &n, &got) != SL_OK || memcmp(&got, &expected, sizeof got) != 0)
          fail_msg("seed %llu, warp %u, block %u: %s", (unsigned long long)seeds[s], warps[w], blocks[b], t.messages);
      }
  target_close(&t);
}

struct launcher {
  pthread_t thread;
  struct target target;
  struct results got;
  int failures;
};

static struct numbers shared_numbers;
static struct results shared_expected;

static void *launch_often(void *argument) {
  struct launcher *l = argument;
  for (int i = 0; i < 20; i++) {
    l->failures += run_collectives(&l->target, &shared_numbers, &l->got) != SL_OK;
    l->failures += memcmp(&l->got, &shared_expected, sizeof l->got) != 0;
  }
  return NULL;
}

static void slots_may_launch_concurrently(void **state) {
  (void)state;
  static struct launcher launchers[3];
  make_numbers(&shared_numbers);
  expect_results(&shared_numbers, &shared_expected);
  FOR_ALL (i, launchers) {
    target_open(&launchers[i].target, "collectives", "simt");
    use_emulator(&launchers[i].target, i, 32, 64);
    assert_int_equal(pthread_create(&launchers[i].thread, NULL, launch_often, &launchers[i]), 0);
  }
  FOR_ALL (i, launchers) {
    pthread_join(launchers[i].thread, NULL);
    assert_int_equal(launchers[i].failures, 0);
    target_close(&launchers[i].target);
  }
}

/* --------------------------------------------------------------------------------------------------- faults */

enum { FAULTY_EVENTS = 20, MANY_SEEDS = 10 };
static const char *const fault_names[] = {
#define FAULT_NAME(name) #name,
    SIMT_FAULTS(FAULT_NAME)};

static int run_faulty(struct target *t, uint32_t fault, uint32_t *sums) {
  static uint32_t list[FAULTY_EVENTS * FAULTY_ITEMS];
  const uint32_t event_count = FAULTY_EVENTS;
  memset(sums, 0, FAULTY_EVENTS * sizeof *sums);
  const struct faulty_args args = {
      .events = {.count = &event_count}, .sums = {.value = sums}, .list = list, .fault = fault};
  return run(t, &args);
}

static void expect_faulty(uint32_t fault, uint32_t *sums) {
  struct target t;
  target_open(&t, "simt_bad", "cpu");
  assert_int_equal(run_faulty(&t, fault, sums), SL_OK);
  target_close(&t);
}

/* Returns the number of seeds, of MANY_SEEDS, with a result different from that of cpu. */
static uint32_t wrong_seeds(uint32_t fault, uint32_t warp) {
  uint32_t expected[FAULTY_EVENTS], got[FAULTY_EVENTS], wrong = 0;
  struct target t;
  expect_faulty(fault, expected);
  target_open(&t, "simt_bad", "simt");
  for (uint64_t seed = 0; seed < MANY_SEEDS; seed++) {
    use_emulator(&t, seed, warp, 64);
    if (run_faulty(&t, fault, got) != SL_OK) fail_msg("%s: %s", fault_names[fault], t.messages);
    wrong += memcmp(got, expected, sizeof got) != 0;
  }
  target_close(&t);
  return wrong;
}

/* The kernel fails at any seed and warp size, with a message that contains all these texts; afterwards the stream still
 * works. */
static void expect_error(uint32_t fault, uint32_t block_threads, const char *const *texts) {
  uint32_t expected[FAULTY_EVENTS], got[FAULTY_EVENTS];
  struct target t;
  expect_faulty(SIMT_FAULT_correct, expected);
  target_open(&t, "simt_bad", "simt");
  FOR_ALL (s, seeds)
    FOR_ALL (w, warps) {
      use_emulator(&t, seeds[s], warps[w], block_threads);
      assert_int_equal(run_faulty(&t, fault, got), SL_EDEVICE);
      for (uint32_t i = 0; texts[i]; i++)
        if (!strstr(t.messages, texts[i])) fail_msg("'%s' is not in: %s", texts[i], t.messages);
      if (s == 0 && w == 0) printf("           %s\n", t.messages);
      assert_int_equal(run_faulty(&t, SIMT_FAULT_correct, got), SL_OK);
      assert_memory_equal(got, expected, sizeof got);
    }
  target_close(&t);
}
#define EXPECT_ERROR(fault, block_threads, ...) \
  expect_error(fault, block_threads, (const char *const[]){__VA_ARGS__, NULL})

static void a_correct_kernel_gives_correct_results_at_every_seed(void **state) {
  (void)state;
  assert_int_equal(wrong_seeds(SIMT_FAULT_correct, 32), 0);
  assert_int_equal(wrong_seeds(SIMT_FAULT_correct, 64), 0);
}

static void a_missing_barrier_gives_wrong_results(void **state) {
  (void)state;
  assert_int_equal(wrong_seeds(SIMT_FAULT_missing_barrier, 32), MANY_SEEDS);
}

static void a_missing_last_barrier_gives_wrong_results(void **state) {
  (void)state;
  assert_in_range(wrong_seeds(SIMT_FAULT_missing_last_barrier, 32), MANY_SEEDS / 2, MANY_SEEDS);
}

static void a_divergent_barrier_is_an_error(void **state) {
  (void)state;
  EXPECT_ERROR(SIMT_FAULT_divergent_barrier, 64, "kernel divergent_barrier, block ",
               "threads 0-31 wait at __syncthreads() at ", "threads 32-63 wait at __syncthreads() at ", "faulty.cu:");
}

static void a_returned_thread_makes_a_barrier_an_error(void **state) {
  (void)state;
  EXPECT_ERROR(SIMT_FAULT_early_return, 128, "kernel early_return, block ", "threads 0-99 wait at __syncthreads() at ",
               "threads 100-127 returned");
}

static void a_barrier_in_an_uneven_loop_is_an_error(void **state) {
  (void)state;
  EXPECT_ERROR(SIMT_FAULT_uneven_loop, 64, "threads 0-35 wait at __syncthreads() at ",
               "threads 36-63 wait at sl_block_sum_u32 at ");
}

static void a_collective_called_from_two_lines_is_an_error(void **state) {
  (void)state;
  EXPECT_ERROR(SIMT_FAULT_divergent_collective, 32, "threads 0, 2, 4, 6, 8, 10 and more wait at sl_block_sum_u32 at ",
               "threads 1, 3, 5, 7, 9, 11 and more wait at sl_block_sum_u32 at ");
}

static void a_warp_operation_needs_the_whole_warp(void **state) {
  (void)state;
  EXPECT_ERROR(SIMT_FAULT_partial_warp, 96, "wait at warp sync at ", "wait at sl_block_sum_u32 at ");
}

static void uninitialised_shared_memory_gives_wrong_results(void **state) {
  (void)state;
  assert_int_equal(wrong_seeds(SIMT_FAULT_uninitialised_shared, 32), MANY_SEEDS);
  assert_int_equal(wrong_seeds(SIMT_FAULT_uninitialised_launch, 32), MANY_SEEDS);
}

static void a_write_outside_of_the_launchs_shared_memory_is_an_error(void **state) {
  (void)state;
  EXPECT_ERROR(SIMT_FAULT_past_shared, 64, "kernel past_shared, block ",
               "wrote past the end of its 400 bytes of shared memory");
  EXPECT_ERROR(SIMT_FAULT_before_shared, 64, "kernel before_shared, block ",
               "wrote before the beginning of its 400 bytes of shared memory");
}

static void an_order_dependent_result_differs_between_seeds_and_is_reproducible(void **state) {
  (void)state;
  uint32_t first[FAULTY_EVENTS], again[FAULTY_EVENTS], other[FAULTY_EVENTS];
  struct target t;
  assert_int_equal(wrong_seeds(SIMT_FAULT_order_dependent, 32), MANY_SEEDS);
  target_open(&t, "simt_bad", "simt");
  use_emulator(&t, 17, 32, 64);
  assert_int_equal(run_faulty(&t, SIMT_FAULT_order_dependent, first), SL_OK);
  assert_int_equal(run_faulty(&t, SIMT_FAULT_order_dependent, other), SL_OK);
  assert_memory_not_equal(first, other, sizeof first); /* each launch has its own thread order */
  use_emulator(&t, 17, 32, 64);
  assert_int_equal(run_faulty(&t, SIMT_FAULT_order_dependent, again), SL_OK);
  assert_memory_equal(first, again, sizeof first);
  use_emulator(&t, 18, 32, 64);
  assert_int_equal(run_faulty(&t, SIMT_FAULT_order_dependent, other), SL_OK);
  assert_memory_not_equal(first, other, sizeof first);
  target_close(&t);
}

static void a_kernel_that_assumes_32_lanes_is_wrong_with_64(void **state) {
  (void)state;
  assert_int_equal(wrong_seeds(SIMT_FAULT_warp_assumed, 32), 0);
  assert_int_equal(wrong_seeds(SIMT_FAULT_warp_assumed, 64), MANY_SEEDS);
}

/* ------------------------------------------------------------------------------------------------- settings */

static void bad_blocks_and_a_missing_emulator_are_errors(void **state) {
  (void)state;
  static const uint32_t bad[] = {0, 1, 48, 1056};
  uint32_t sums[FAULTY_EVENTS];
  struct target t;
  target_open(&t, "simt_bad", "simt");
  assert_int_equal(run_faulty(&t, SIMT_FAULT_correct, sums), SL_EDEVICE);
  assert_string_equal(t.messages, "kernel correct: there is no emulator of version 2");
  FOR_ALL (i, bad) {
    use_emulator(&t, 1, 32, bad[i]);
    assert_int_equal(run_faulty(&t, SIMT_FAULT_correct, sums), SL_EINVAL);
    assert_non_null(strstr(t.messages, "a multiple of 32 threads, up to 1024"));
  }
  target_close(&t);
}

static void a_launch_has_at_most_the_shared_memory_of_the_setting(void **state) {
  (void)state;
  uint32_t sums[FAULTY_EVENTS];
  char reason[128];
  struct target t;
  target_open(&t, "simt_bad", "simt");
  use_emulator(&t, 1, 32, 64);
  assert_int_equal(sl_simt_device_set(t.device, "shared", "400", reason, sizeof reason), SL_OK);
  assert_int_equal(run_faulty(&t, SIMT_FAULT_correct, sums), SL_OK);
  assert_int_equal(sl_simt_device_set(t.device, "shared", "396", reason, sizeof reason), SL_OK);
  assert_int_equal(run_faulty(&t, SIMT_FAULT_correct, sums), SL_EDEVICE);
  assert_string_equal(t.messages, "kernel correct: a block needs 400 bytes of shared memory; the device has 396");
  target_close(&t);
}

static void settings_out_of_range_are_refused(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"warp", "16"},        {"warp", "32x"},  {"warp", ""},  {"seed", "-1"},
      {"seed", ""},          {"seed", " 1"},   {"sead", "1"}, {"seed", "18446744073709551616"},
      {"shared", "1048577"}, {"shared", "64k"}};
  struct sl_device *device;
  char reason[128];
  assert_int_equal(sl_simt_device_open(1, &device, reason, sizeof reason), SL_EDEVICE);
  assert_int_equal(sl_simt_device_open(0, &device, reason, sizeof reason), SL_OK);
  FOR_ALL (i, bad) {
    reason[0] = '\0';
    assert_int_equal(sl_simt_device_set(device, bad[i][0], bad[i][1], reason, sizeof reason), SL_EINVAL);
    assert_non_null(strstr(reason, "simt"));
  }
  assert_int_equal(sl_simt_device_set(device, "seed", "18446744073709551615", reason, sizeof reason), SL_OK);
  sl_simt_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(collectives_give_the_reference_results_on_cpu),
      cmocka_unit_test(collectives_give_the_reference_results_for_any_seed_block_and_warp),
      cmocka_unit_test(slots_may_launch_concurrently),
      cmocka_unit_test(a_correct_kernel_gives_correct_results_at_every_seed),
      cmocka_unit_test(a_missing_barrier_gives_wrong_results),
      cmocka_unit_test(a_missing_last_barrier_gives_wrong_results),
      cmocka_unit_test(a_divergent_barrier_is_an_error),
      cmocka_unit_test(a_returned_thread_makes_a_barrier_an_error),
      cmocka_unit_test(a_barrier_in_an_uneven_loop_is_an_error),
      cmocka_unit_test(a_collective_called_from_two_lines_is_an_error),
      cmocka_unit_test(a_warp_operation_needs_the_whole_warp),
      cmocka_unit_test(uninitialised_shared_memory_gives_wrong_results),
      cmocka_unit_test(a_write_outside_of_the_launchs_shared_memory_is_an_error),
      cmocka_unit_test(an_order_dependent_result_differs_between_seeds_and_is_reproducible),
      cmocka_unit_test(a_kernel_that_assumes_32_lanes_is_wrong_with_64),
      cmocka_unit_test(bad_blocks_and_a_missing_emulator_are_errors),
      cmocka_unit_test(a_launch_has_at_most_the_shared_memory_of_the_setting),
      cmocka_unit_test(settings_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
