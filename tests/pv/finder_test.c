/* finder_test.c: the vertex finder FINDER against FINDER_REFERENCE in double precision, on random events, and on rare
 * and wrong input.
 */
#include "annealing_reference.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct states s;
static struct vertices found, other;
static struct reference expected;

static void find(void) {
  struct sl_test *t = states_open(&s, FINDER);
  vertices_run(&found, t, &s);
  sl_test_free(t);
}

static void assert_near(const char *what, uint32_t event, double value, double wanted, double tolerance) {
  if (!(fabs(value - wanted) <= tolerance)) fail_msg("event %u: %s is %.9g, not %.9g", event, what, value, wanted);
}

static void assert_vertex(uint32_t event, uint32_t i, const struct reference_vertex *r) {
  const double wanted[VERTEX_FLOATS] = {r->x,    r->y,    r->z,    r->c_xx, r->c_xy,  r->c_yy,
                                        r->c_xz, r->c_yz, r->c_zz, r->chi2, r->weight};
  const double xy = 1e-3 * sqrt(r->c_xx * r->c_yy), xz = 1e-3 * sqrt(r->c_xx * r->c_zz);
  const double yz = 1e-3 * sqrt(r->c_yy * r->c_zz), error = 0.02 * sqrt(r->c_zz);
  const double tolerance[VERTEX_FLOATS] = {
      0.02 * sqrt(r->c_xx), 0.02 * sqrt(r->c_yy), error,           1e-3 * r->c_xx, xy, 1e-3 * r->c_yy, xz, yz,
      1e-3 * r->c_zz,       1e-2 * r->weight,     1e-3 * r->weight};
  for (uint32_t f = 0; f < VERTEX_FLOATS; f++)
    assert_near(vertex_floats[f], event, (double)found.value[f][i], wanted[f], tolerance[f]);
  assert_int_equal(found.tracks[i], r->tracks);
}

static void random_events_agree_with_the_reference(void **state) {
  (void)state;
  uint32_t vertices = 0, shadowed = 0, tracks = 0;
  for (uint32_t slice = 0; slice < 4; slice++) {
    random_seed(100 + slice);
    states_begin(&s, slice * 7);
    if (slice == 3) s.beam[0] = 0.4f, s.beam[1] = -0.3f;
    for (uint32_t event = 0; event < 12; event++) {
      if (slice < 3) states_add_crossing(&s, 1 + event, 20 * slice);
      for (uint32_t v = 0; slice == 3 && v < event; v++)
        states_add_vertex(&s, 0.42, -0.33, random_uniform(-530, 150), 3 + v, 1e-3, 1);
      states_end_event(&s);
    }
    tracks += s.track_count;
    find();
    for (uint32_t event = 0; event < s.event_count; event++) {
      FINDER_REFERENCE(&s, event, &expected);
      const uint32_t first = found.offsets[event], count = found.offsets[event + 1] - first;
      if (count != expected.vertex_count)
        fail_msg("slice %u, event %u: %u vertices, not %u", slice, event, count, expected.vertex_count);
      for (uint32_t i = 0; i < count; i++) assert_vertex(event, first + i, &expected.vertex[i]);
      vertices += count;
      shadowed += expected.seed_count - count;
    }
  }
  print_message("%u tracks, %u vertices, %u seeds without a vertex\n", tracks, vertices, shadowed);
  assert_true(vertices > 150 && shadowed > 10);
}

static void too_few_tracks_make_no_vertex(void **state) {
  (void)state;
  random_seed(1);
  states_begin(&s, 3);
  states_end_event(&s); /* none */
  states_add_vertex(&s, 0, 0, 10, 1, 1e-3, 1);
  states_end_event(&s);
  states_add_vertex(&s, 0, 0, 10, 3, 1e-3, 0);
  states_end_event(&s);
  states_add_vertex(&s, 0, 0, 10, 4, 1e-3, 0); /* the least number of tracks */
  states_end_event(&s);
  states_add_vertex(&s, 0, 0, -400, 3, 1e-3, 0); /* fewer suffice in the gas cell */
  states_end_event(&s);
  states_add_vertex(&s, 0, 0, 310, 30, 1e-3, 0); /* outside the z range */
  states_end_event(&s);
  states_end_event(&s);
  find();
  const uint32_t offsets[] = {0, 0, 0, 0, 1, 2, 2, 2};
  assert_memory_equal(found.offsets, offsets, sizeof offsets);
  assert_int_equal(found.tracks[0], 4);
  assert_int_equal(found.tracks[1], 3);
}

/* With 8192 tracks, a bin with a sum that wraps at 32 bits would be empty. */
static void any_number_of_tracks_from_one_point_gives_one_vertex(void **state) {
  (void)state;
  static const uint32_t counts[] = {5, 32, 33, 1000, 4095, 4096, 8192, 10000};
  enum { COUNTS = sizeof counts / sizeof counts[0] };
  random_seed(2);
  states_begin(&s, 0);
  for (uint32_t i = 0; i < COUNTS; i++) {
    for (uint32_t k = 0; k < counts[i]; k++) {
      const double angle = random_uniform(-3.14159265, 3.14159265);
      states_add(&s, 0.004, -0.003, 10.125, 0.2 * cos(angle), 0.2 * sin(angle), 2.5e-5); /* 25 um in z */
    }
    states_end_event(&s);
  }
  find();
  for (uint32_t i = 0; i < COUNTS; i++) {
    assert_int_equal(found.offsets[i + 1], i + 1);
    assert_int_equal(found.tracks[i], counts[i]);
    assert_near("x", i, (double)found.value[V_X][i], 0.004, 1e-5);
    assert_near("y", i, (double)found.value[V_Y][i], -0.003, 1e-5);
    assert_near("z", i, (double)found.value[V_Z][i], 10.125, 1e-4);
    assert_near("chi2", i, (double)found.value[V_CHI2][i], 0, 1e-3 * counts[i]);
  }
}

static void vertices_closer_than_the_resolution_are_merged(void **state) {
  (void)state;
  random_seed(3);
  states_begin(&s, 0);
  static const double distance[] = {0.1, 3.0};
  for (uint32_t i = 0; i < 2; i++) {
    states_add_vertex(&s, 0, 0, 20 - distance[i] / 2, 20, 1e-3, 0.5);
    states_add_vertex(&s, 0, 0, 20 + distance[i] / 2, 20, 1e-3, 0.5);
    states_end_event(&s);
  }
  find();
  assert_int_equal(found.offsets[1], 1);
  assert_near("z", 0, (double)found.value[V_Z][0], 20, 0.1);
  assert_true(found.tracks[0] >= 38);
  assert_int_equal(found.offsets[2], 3);
  assert_near("z", 1, (double)found.value[V_Z][1], 18.5, 0.2);
  assert_near("z", 1, (double)found.value[V_Z][2], 21.5, 0.2);
}

/* A fault of a track, and whether it is invalid. */
static void spoil(struct states *states, uint32_t track, uint32_t way) {
  float *const fields[] = {states->x, states->y, states->z, states->tx, states->ty, states->c00, states->c11};
  static const float values[] = {NAN, INFINITY, -INFINITY};
  if (way < 21)
    fields[way / 3][track] = values[way % 3];
  else
    fields[way < 24 ? 5 : 6][track] = way % 3 == 0 ? 0.0f : way % 3 == 1 ? -1e-3f : 1e-45f;
}

static void invalid_tracks_are_counted_and_ignored(void **state) {
  (void)state;
  enum { WAYS = 27 };
  random_seed(4);
  states_begin(&s, 0);
  for (uint32_t way = 0; way < WAYS; way++) {
    random_seed(4);
    states_add_crossing(&s, 3, 10);
    states_end_event(&s);
  }
  const uint32_t clean = s.offsets[1];
  find();
  const uint32_t wanted = found.offsets[1];
  assert_true(wanted >= 2);
  other = found;
  states_begin(&s, 0);
  for (uint32_t way = 0; way < WAYS; way++) { /* one more track, at varying indices among the others */
    random_seed(4);
    states_add_crossing(&s, 3, 10);
    states_add(&s, 0, 0, 0, 0.1, 0.1, 1e-3);
    const uint32_t place = s.track_count - 1 - way % (clean + 1);
    states_swap(&s, s.track_count - 1, place);
    spoil(&s, place, way);
    states_end_event(&s);
  }
  find();
  for (uint32_t way = 0; way < WAYS; way++) assert_int_equal(found.ignored[way], 1);
  for (uint32_t way = 0; way < WAYS; way++) assert_int_equal(other.ignored[way], 0);
  vertices_assert_same_bytes(&found, &other);
}

static void vertices_are_found_with_a_beam_offset_of_a_millimetre(void **state) {
  (void)state;
  for (uint32_t known = 0; known < 2; known++) {
    random_seed(5);
    states_begin(&s, 0);
    s.beam[0] = 1.0f;
    s.beam[1] = -0.5f;
    states_add_vertex(&s, 1.02, -0.53, 30, 25, 1e-3, 0.3);
    states_add_vertex(&s, 0.98, -0.49, -60, 10, 1e-3, 0.3);
    states_end_event(&s);
    if (!known) s.beam[0] = s.beam[1] = 0.0f;
    find();
    assert_int_equal(found.count, known ? 2 : 0); /* a vertex far from the beam line is rejected */
  }
  random_seed(5);
  states_begin(&s, 0);
  s.beam[0] = 1.0f;
  s.beam[1] = -0.5f;
  states_add_vertex(&s, 1.02, -0.53, 30, 25, 1e-3, 0.3);
  states_end_event(&s);
  find();
  assert_near("x", 0, (double)found.value[V_X][0], 1.02, 0.01);
  assert_near("y", 0, (double)found.value[V_Y][0], -0.53, 0.01);
  assert_near("z", 0, (double)found.value[V_Z][0], 30, 0.1);
}

/* Vertices of 5 to 11 tracks each, all separate. */
static void add_vertices(uint32_t vertices) {
  random_seed(6);
  states_begin(&s, 0);
  for (uint32_t k = 0; k < vertices; k++)
    for (uint32_t i = 0; i < 5 + k % 7; i++) {
      const double angle = random_uniform(-3.14159265, 3.14159265);
      states_add(&s, 0, 0, -330.0625 + 4.75 * k, 0.2 * cos(angle), 0.2 * sin(angle), 2.5e-5);
    }
  states_end_event(&s);
}

static void all_vertices_of_a_dense_event_are_found(void **state) {
  (void)state;
  add_vertices(PV_MAX_VERTICES);
  find();
  assert_int_equal(found.count, PV_MAX_VERTICES);
  for (uint32_t k = 0; k < PV_MAX_VERTICES; k++) {
    assert_near("z", k, (double)found.value[V_Z][k], -330.0625 + 4.75 * k, 1e-2);
    assert_int_equal(found.tracks[k], 5 + k % 7);
  }
}

static void an_event_with_too_many_vertices_is_refused(void **state) {
  (void)state;
  add_vertices(PV_MAX_VERTICES + 1);
  struct sl_test *t = states_open(&s, FINDER);
  vertices_run(&found, t, &s);
  assert_int_equal(found.count, 0);
  assert_int_equal(sl_test_event_error(t, 0), PV_MAX_VERTICES + 1);
  sl_test_free(t);
}

/* Content of a track's bell below `distance`, with an error of 1 mm. */
static double bell_below(double distance) {
  const double xi = fmax(-1, fmin(1, distance / sqrt(7))), eta = 1 - xi * xi;
  return 0.5 + xi * (0.5 + eta * (0.25 + 3.0 / 16 * eta));
}

/* Distance of a track from the middle of a bin that gets this content. */
static double distance_of_tail(double content) {
  double near = 1, far = 3;
  while (far - near > 1e-9) {
    const double middle = 0.5 * (near + far);
    if (bell_below(0.125 - middle) - bell_below(-0.125 - middle) > content)
      near = middle;
    else
      far = middle;
  }
  return near;
}

/* Two groups of four tracks, too wide for a deep dip between their tails: one run of bins is one vertex. The limit is a
 * tenth of the widest track's content of a bin. */
static void a_bin_below_the_limit_separates_two_vertices(void **state) {
  (void)state;
  if (strcmp(FINDER, "beamline") != 0) skip();
  enum { TRACKS = 4 };
  static const double middle[] = {10.125, -399.875}, widest[] = {1.5, 10};
  states_begin(&s, 0);
  for (uint32_t event = 0; event < 4; event++) {
    const double limit = 0.25 / (10 * widest[event / 2]), content = (event % 2 ? 1.04 : 0.96) * limit;
    const double distance = distance_of_tail(content / (2 * TRACKS));
    for (uint32_t i = 0; i < 2 * TRACKS; i++) {
      const double angle = 1.5 * i, z = middle[event / 2] + (i < TRACKS ? -distance : distance);
      states_add(&s, 0, 0, z, 0.2 * cos(angle), 0.2 * sin(angle), 0.04);
    }
    states_end_event(&s);
  }
  find();
  for (uint32_t event = 0; event < 4; event++)
    assert_int_equal(found.offsets[event + 1] - found.offsets[event], event % 2 ? 1 : 2);
}

static void make_some_events(uint32_t seed, uint32_t events) {
  random_seed(seed);
  states_begin(&s, 5);
  for (uint32_t event = 0; event < events; event++) {
    states_add_crossing(&s, 1 + event % 7, 30);
    states_end_event(&s);
  }
}

static void the_order_of_tracks_does_not_change_results(void **state) {
  (void)state;
  make_some_events(7, 8);
  find();
  other = found;
  for (uint32_t event = 0; event < s.event_count; event++) {
    const uint32_t first = s.offsets[event], count = s.offsets[event + 1] - first;
    for (uint32_t i = count; i > 1; i--) states_swap(&s, first + i - 1, first + (uint32_t)random_uniform(0, i));
  }
  find();
  vertices_assert_same_bytes(&found, &other);
}

static void the_block_size_does_not_change_results(void **state) {
  (void)state;
  const char *target = getenv("SLUICE_TEST_TARGET");
  if (!target || strcmp(target, "cpu") == 0) skip(); /* a block has one thread on a CPU */
  make_some_events(8, 8);
  find();
  other = found;
  for (uint32_t threads = 32; threads <= 1024; threads *= 2) {
    struct sl_test *t = states_open(&s, FINDER);
    sl_test_block(t, threads);
    vertices_run(&found, t, &s);
    sl_test_free(t);
    vertices_assert_same_bytes(&found, &other);
  }
}

static void only_listed_events_are_processed(void **state) {
  (void)state;
  make_some_events(9, 6);
  find();
  other = found;
  struct sl_test *t = states_open(&s, FINDER);
  sl_test_list(t, (const uint32_t[]){1, 4}, 2);
  vertices_run(&found, t, &s);
  sl_test_free(t);
  for (uint32_t event = 0; event < s.event_count; event++) {
    const uint32_t listed = event == 1 || event == 4, count = found.offsets[event + 1] - found.offsets[event];
    assert_int_equal(count, listed ? other.offsets[event + 1] - other.offsets[event] : 0);
    for (uint32_t i = 0; i < count; i++)
      assert_true(found.value[V_Z][found.offsets[event] + i] == other.value[V_Z][other.offsets[event] + i]);
  }
}

static float random_bits(void) {
  const uint32_t bits = (uint32_t)random_uniform(0, 4294967296.0);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* vertices_run() fails unless the output is valid. */
static void invalid_input_gives_valid_vertices(void **state) {
  (void)state;
  for (uint32_t slice = 0; slice < 6; slice++) {
    random_seed(200 + slice);
    states_begin(&s, 0);
    for (uint32_t event = 0; event < 12; event++) {
      states_add_crossing(&s, 4, 5);
      for (uint32_t i = s.offsets[event]; i < s.track_count; i++) {
        float *const fields[] = {s.x, s.y, s.z, s.tx, s.ty, s.c00, s.c11};
        const uint32_t field = (uint32_t)random_uniform(0, 14); /* half of the tracks are unchanged */
        if (field < 7) fields[field][i] = slice < 3 ? random_bits() : fields[field][i] * 1e18f;
        if (slice == 5) s.ty[i] = 0, s.tx[i] = 0.1f; /* all in one plane: no covariance */
      }
      states_end_event(&s);
    }
    find();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_events_agree_with_the_reference),
      cmocka_unit_test(too_few_tracks_make_no_vertex),
      cmocka_unit_test(any_number_of_tracks_from_one_point_gives_one_vertex),
      cmocka_unit_test(vertices_closer_than_the_resolution_are_merged),
      cmocka_unit_test(invalid_tracks_are_counted_and_ignored),
      cmocka_unit_test(vertices_are_found_with_a_beam_offset_of_a_millimetre),
      cmocka_unit_test(all_vertices_of_a_dense_event_are_found),
      cmocka_unit_test(an_event_with_too_many_vertices_is_refused),
      cmocka_unit_test(a_bin_below_the_limit_separates_two_vertices),
      cmocka_unit_test(the_order_of_tracks_does_not_change_results),
      cmocka_unit_test(the_block_size_does_not_change_results),
      cmocka_unit_test(only_listed_events_are_processed),
      cmocka_unit_test(invalid_input_gives_valid_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
