/* workers_test.c: loops shared by threads: each iteration runs once, no worker runs two iterations at once, and the sum
 * is the same for any number of iterations and workers. */
#include "base/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS_MAX = 1000, WORKERS_MAX = 9 };

struct tally {
  atomic_uint times[STEPS_MAX];
  atomic_uint at_it[WORKERS_MAX]; /* iterations that a worker is running */
  atomic_uint wrong;
  uint32_t workers;
};

static void step(void *work, uint32_t index, uint32_t worker) {
  struct tally *t = work;
  if (worker >= t->workers || atomic_fetch_add(&t->at_it[worker], 1) != 0) atomic_fetch_add(&t->wrong, 1);
  atomic_fetch_add(&t->times[index], 1);
  if (worker < t->workers) atomic_fetch_sub(&t->at_it[worker], 1);
}

static void run_loops(uint32_t workers, uint32_t watchful, uint32_t steps, uint32_t loops) {
  struct tally *t = test_calloc(1, sizeof *t);
  struct sl_workers *w = sl_workers_new(workers, watchful);
  int error;
  assert_non_null(w);
  t->workers = workers;
  for (uint32_t i = 0; i < loops; i++) sl_workers_run(w, steps, step, t);
  for (uint32_t i = 0; i < STEPS_MAX; i++) assert_int_equal(t->times[i], i < steps ? loops : 0);
  assert_int_equal(t->wrong, 0);
  assert_int_equal(sl_workers_missing(w, &error), 0);
  sl_workers_free(w);
  test_free(t);
}

static void every_iteration_runs_once(void **state) {
  (void)state;
  static const uint32_t workers[] = {1, 2, 3, WORKERS_MAX}, steps[] = {0, 1, 2, 7, STEPS_MAX};
  for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
      run_loops(workers[i], 0, steps[k], 3);
      run_loops(workers[i], workers[i] / 2, steps[k], 3);
      run_loops(workers[i], workers[i], steps[k], 3);
    }
}

static void many_short_loops_finish(void **state) {
  (void)state;
  run_loops(4, 0, 5, 2000);
  run_loops(4, 2, 5, 1000);
  run_loops(4, 4, 5, 2000);
}

static void workers_without_a_loop_can_be_freed(void **state) {
  (void)state;
  sl_workers_free(sl_workers_new(SL_WORKERS_MAX, 0));
  sl_workers_free(NULL);
  assert_in_range(sl_processors(), 1, 1 << 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_iteration_runs_once),
                                     cmocka_unit_test(many_short_loops_finish),
                                     cmocka_unit_test(workers_without_a_loop_can_be_freed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
