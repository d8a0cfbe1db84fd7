/* annealing_cost_test.c: the cost of annealing grows at most linearly with the number of vertices if there are gaps
 * between their tracks. Processor times are noisy, even the least of several runs, so only a growth closer to quadratic
 * fails.
 */
#include "states.h"

#include <time.h>

enum { RUNS = 7, EVENTS = 16 };

static struct states s;

static double seconds_of(struct sl_test *t) {
  const clock_t start = clock();
  assert_int_equal(sl_test_run(t), 0);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Time per event with vertices of 40 tracks, 24 mm apart. Prints the number of vertices. */
static double least_seconds(uint32_t vertices, uint32_t *found) {
  double least = 1e9;
  random_seed(50);
  states_begin(&s, 0);
  for (uint32_t event = 0; event < EVENTS; event++) {
    for (uint32_t v = 0; v < vertices; v++) states_add_vertex(&s, 0, 0, -300 + 24.0 * v, 40, 1e-3, 1);
    states_end_event(&s);
  }
  struct sl_test *t = states_open(&s, "annealing");
  for (int run = 0; run < RUNS; run++) {
    const double seconds = seconds_of(t);
    if (seconds < least) least = seconds;
  }
  *found = ((const uint32_t *)sl_test_output(t, "vertices", "offsets"))[EVENTS];
  sl_test_free(t);
  return least / EVENTS;
}

static void cost_is_linear_in_separated_vertices(void **state) {
  (void)state;
  static const uint32_t vertices[] = {1, 6, 24};
  double seconds[3];
  for (int i = 0; i < 3; i++) {
    uint32_t found;
    seconds[i] = least_seconds(vertices[i], &found);
    assert_int_equal(found, EVENTS * vertices[i]);
    print_message("%2u vertices: %7.1f us per event, %5.1f us per vertex\n", vertices[i], 1e6 * seconds[i],
                  1e6 * seconds[i] / vertices[i]);
  }
  if (!(seconds[2] < 2 * 4 * seconds[1])) fail_msg("24 vertices cost %.1f times what 6 cost", seconds[2] / seconds[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cost_is_linear_in_separated_vertices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
