/* annealing_windows_test.c: parts with so many tracks that pv.annealing divides them into windows: each vertex is found
 * once, in any window, even if there are more vertices than one window has room for.
 */
#include "annealing_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct states s;
static struct vertices found, other;

static uint32_t is_emulated(void) {
  const char *target = getenv("SLUICE_TEST_TARGET");
  return target && strcmp(target, "simt") == 0;
}

static void find(uint32_t threads) {
  struct sl_test *t = states_open(&s, "annealing");
  if (threads > 0) sl_test_block(t, threads);
  vertices_run(&found, t, &s);
  sl_test_free(t);
}

/* A track with this error in z (mm), from the beam line. */
static void add_track(double z, double error) {
  const double angle = random_uniform(-3.14159265, 3.14159265);
  states_add(&s, 0, 0, z, 0.2 * cos(angle), 0.2 * sin(angle), 0.04 * error * error);
}

/* Vertices of `tracks` tracks each, `distance` apart from `z` on, with bad tracks between them that leave no gap. */
static void add_chain(double z, double distance, uint32_t vertices, uint32_t tracks) {
  for (uint32_t v = 0; v < vertices; v++) {
    for (uint32_t i = 0; i < tracks; i++) add_track(z + distance * v + 0.1 * random_normal(), 0.1);
    if (v + 1 < vertices) add_track(z + distance * (v + 0.5), 0.45 * distance);
  }
}

/* 64 vertices in a part of 1500 tracks: one window has 32 prototypes. */
static void a_part_with_more_vertices_than_a_window_holds_is_solved(void **state) {
  (void)state;
  enum { VERTICES = 64 };
  random_seed(60);
  states_begin(&s, 11);
  add_chain(-130, 4, VERTICES, 22);
  states_end_event(&s);
  find(0);
  assert_int_equal(found.count, VERTICES);
  for (uint32_t v = 0; v < VERTICES; v++) {
    if (!(fabs((double)found.value[V_Z][v] + 130 - 4.0 * v) < 0.1)) fail_msg("%u: %g", v, (double)found.value[V_Z][v]);
    assert_true(found.tracks[v] >= 22);
  }
}

/* At any begin of windows: the chain begins elsewhere, and vertices have other sizes. */
static void each_vertex_is_found_once(void **state) {
  (void)state;
  uint32_t wanted[STATES_EVENTS];
  random_seed(61);
  states_begin(&s, 3);
  for (uint32_t event = 0; event < (is_emulated() ? 2u : 8u); event++) {
    wanted[event] = 24 - event;
    for (uint32_t i = 0; i < 9 * event; i++) add_track(-60 + 0.1 * random_normal(), 0.1);
    add_chain(-60, 3.5 + 0.1 * event, wanted[event], 21 + event);
    states_end_event(&s);
  }
  find(0);
  for (uint32_t event = 0; event < s.event_count; event++)
    assert_int_equal(found.offsets[event + 1] - found.offsets[event], wanted[event]);
}

/* A window begins where tracks are sparse. */
static void a_vertex_of_a_thousand_tracks_is_found_once(void **state) {
  (void)state;
  random_seed(62);
  states_begin(&s, 0);
  for (uint32_t i = 0; i < 1000; i++) add_track(18 + 0.2 * random_normal(), 0.2);
  add_chain(6, 4, 8, 20);
  states_end_event(&s);
  find(0);
  assert_int_equal(found.count, 8);
  assert_true(found.tracks[3] >= 1000);
}

static void crossings(uint32_t seed, uint32_t events) {
  random_seed(seed);
  states_begin(&s, 7);
  for (uint32_t event = 0; event < events; event++) {
    states_add_crossing(&s, 30 + 5 * event, 200);
    states_end_event(&s);
  }
}

static void dense_events_agree_with_the_reference(void **state) {
  (void)state;
  static struct reference expected;
  uint32_t vertices = 0;
  crossings(63, is_emulated() ? 1 : 6); /* the emulator is slow */
  find(0);
  for (uint32_t event = 0; event < s.event_count; event++) {
    const uint32_t first = found.offsets[event], count = found.offsets[event + 1] - first;
    annealed_find(&s, event, &expected);
    assert_int_equal(count, expected.vertex_count);
    for (uint32_t i = 0; i < count; i++) {
      const double z = (double)found.value[V_Z][first + i], wanted = expected.vertex[i].z;
      if (!(fabs(z - wanted) <= 0.02 * sqrt(expected.vertex[i].c_zz)))
        fail_msg("event %u: vertex %u at %.7g, not %.7g", event, i, z, wanted);
    }
    vertices += count;
  }
  print_message("%u tracks, %u vertices\n", s.track_count, vertices);
  assert_true(vertices > 20 * s.event_count);
}

static void the_block_size_does_not_change_results(void **state) {
  (void)state;
  const char *target = getenv("SLUICE_TEST_TARGET");
  if (!target || strcmp(target, "cpu") == 0) skip(); /* a block has one thread on a CPU */
  crossings(64, 1);
  find(32);
  other = found;
  for (uint32_t threads = 128; threads <= 512; threads *= 4) {
    find(threads);
    vertices_assert_same_bytes(&found, &other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_part_with_more_vertices_than_a_window_holds_is_solved),
      cmocka_unit_test(each_vertex_is_found_once),
      cmocka_unit_test(a_vertex_of_a_thousand_tracks_is_found_once),
      cmocka_unit_test(dense_events_agree_with_the_reference),
      cmocka_unit_test(the_block_size_does_not_change_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
