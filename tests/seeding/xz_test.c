/* xz_test.c: seeding.constants against calculated numbers, and seeding.xz: constructed tracks, and random hits against
 * all triplets, fitted by the plain version in double precision.
 */
#include "xz_reference.h"

static struct forward_case c;
static struct seeding_constant constant;
static int shared;

static int start(void **state) {
  shared = *state && *(const int *)*state;
  memset(&c, 0, sizeof c);
  seeding_constant_open(&constant);
  return 0;
}
static int stop(void **state) {
  (void)state;
  seeding_constant_close(&constant);
  return 0;
}

static struct sl_test *seed_new(void) {
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "xz");
  sl_test_shared(t, shared);
  case_finish(&c);
  sl_test_events(t, CASE_EVENTS);
  case_give_hits(&c, t);
  seeding_constant_give(&constant, t, "d bend cases constants");
  return t;
}

static uint32_t count_of(const struct sl_test *t, uint32_t event) {
  const uint32_t *offsets = sl_test_output(t, "tracks", "offsets");
  return offsets[event + 1] - offsets[event];
}
static const float *floats(const struct sl_test *t, const char *field) { return sl_test_output(t, "tracks", field); }
static const uint8_t *bytes(const struct sl_test *t, const char *field) { return sl_test_output(t, "tracks", field); }

static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.9g, expected %.9g within %.2g", found, expected, tolerance);
}

/* ------------------------------------------------------------------------------------------------ the constant */

/* From the formulas of README.md with LHCb's numbers, for 3 GeV. */
static void derived_constants_have_the_calculated_values(void **state) {
  (void)state;
  static const struct {
    uint32_t at;
    double first, second, tolerance;
  } expected[] = {{SEED_CASE_Z_FIRST, 7826.106, 8035.9048, 1e-3}, {SEED_CASE_RANGE, 382.489, 372.503, 1e-3},
                  {SEED_CASE_SCALE, 1.186618, 1.181442, 1e-6},    {SEED_CASE_CURVATURE, 2.12114e-6, 2.56993e-6, 1e-11},
                  {SEED_CASE_LEAST, 0.85803, 0.70819, 1e-5},      {SEED_CASE_PER_P, 11738.99, 9688.97, 0.02},
                  {SEED_CASE_SLOPE, -151.687, 234.601, 1e-3},     {SEED_CASE_X, 469783.05, 379682.36, 0.5},
                  {SEED_CASE_LENGTH, 1367.0004, 1366.9995, 1e-3}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_near(constant.view.cases[expected[i].at], expected[i].first, expected[i].tolerance);
    assert_near(constant.view.cases[SEED_CASE_NUMBERS + expected[i].at], expected[i].second, expected[i].tolerance);
  }
  assert_near(constant.view.d[1], -624.0811, 1e-4);
  assert_near(constant.view.bend[0], 693.894 * 693.894 * (1 + 0.00028 * 693.894), 0.1);
  assert_near(constant.view.constants[SEED_QOP + 2], -12.4491, 1e-6);
  assert_near(constant.view.constants[SEED_INVERSE_P + 1], -5.0217e-12, 1e-18);
  assert_near(constant.view.constants[SEED_TOLERANCE], 0.5, 0);
}

/* x_0 for 3 GeV is 2189.7 mm: 1.6322e-7 x - 5.0217e-12 x^2 = 1 / 3000; the maximum of 1/p corresponds to 754 MeV. */
static void a_min_momentum_below_the_possible_range_is_refused(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "constants");
  char folder[32] = "/";
  sl_test_set_text(t, "path", folder);
  sl_test_set(t, "min_momentum", 750);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "min_momentum"));
  sl_test_set(t, "min_momentum", 758);
  assert_int_equal(sl_test_run(t), 0);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------------ by hand */

static void add_curve(uint32_t event, uint32_t upper, double x, double slope, double curvature) {
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++)
    case_add_hit(&c, event, x_zone(i, upper), (float)seed_x(x, slope, curvature, i));
}

/* A track is found twice: from the first x layers and from the second x layers. The track of the upper half comes
 * later, and in each layer its hits follow those of the lower half. */
static void a_track_is_found_in_each_case(void **state) {
  (void)state;
  add_curve(0, 1, 852, 0.1, 0);
  add_curve(1, 0, -426, -0.05, 0);
  add_curve(1, 1, -426, -0.05, 0);
  struct sl_test *t = seed_new();
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(count_of(t, 0), 2);
  assert_int_equal(count_of(t, 1), 4);
  const uint8_t kinds[] = {1, 3, 0, 2, 1, 3};
  const uint16_t alone[] = {0, 1, 2, 3, 4, 5}, lower[] = {0, 2, 4, 6, 8, 10}, upper[] = {1, 3, 5, 7, 9, 11};
  assert_memory_equal(bytes(t, "kind"), kinds, sizeof kinds);
  for (uint32_t i = 0; i < 6; i++) {
    assert_int_equal(bytes(t, "hit_count")[i], 6);
    assert_memory_equal((const uint16_t *)sl_test_output(t, "tracks", "hits") + (size_t)6 * i,
                        i < 2 ? alone : (i < 4 ? lower : upper), sizeof alone);
    assert_near(floats(t, "a")[i], i < 2 ? 852 : -426, 1e-3);
    assert_near(floats(t, "b")[i], i < 2 ? 0.1 : -0.05, 1e-6);
    assert_near(floats(t, "c")[i], 0, 2e-9);
    assert_near(floats(t, "score")[i], i % 2 ? 0.01 : 0, 1e-5);
  }
  sl_test_free(t);
}

/* Number of tracks of case 0 for a triplet of hits and two further hits at the predicted positions. */
static uint32_t tracks_of(double first, double middle, double last) {
  const double z[] = {7826.106, 8508.1064, 9193.1064}, slope = (last - first) / (z[2] - z[0]);
  double bend[3];
  for (uint32_t i = 0; i < 3; i++) bend[i] = (z[i] - 8520) * (z[i] - 8520) * (1 - 0.00028 * (z[i] - 8520));
  const double share = (z[1] - z[0]) / (z[2] - z[0]), sag = bend[0] + share * (bend[2] - bend[0]) - bend[1];
  const double curvature = (first + share * (last - first) - middle) / sag;
  const double b = slope - curvature * (bend[2] - bend[0]) / (z[2] - z[0]);
  const double a = first - b * (z[0] - 8520) - curvature * bend[0];
  memset(&c, 0, sizeof c);
  case_add_hit(&c, 0, x_zone(0, 0), (float)first);
  case_add_hit(&c, 0, x_zone(2, 0), (float)middle);
  case_add_hit(&c, 0, x_zone(4, 0), (float)last);
  case_add_hit(&c, 0, x_zone(1, 0), (float)seed_x(a, b, curvature, 1));
  case_add_hit(&c, 0, x_zone(3, 0), (float)seed_x(a, b, curvature, 3));
  struct sl_test *t = seed_new();
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t count = count_of(t, 0);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(bytes(t, "kind")[i], 0); /* the last layer is empty */
  sl_test_free(t);
  return count;
}

/* A line with x = +100 or -100 at z = 0 and slope 0.05: 1/p = 100 * (1.6322e-7 - 5.0217e-10) = 1.62718e-5, so the
 * middle hit is at most 0.85803 + 11738.99 * 1.62718e-5 = 1.04905 mm from the line on one side, and 1.71606 - 0.19101 =
 * 1.52505 on the other. */
static void the_middle_hit_is_in_the_window_of_the_momentum(void **state) {
  (void)state;
  static const struct {
    double off;
    uint32_t tracks;
  } cases[] = {{1.046, 1}, {1.052, 0}, {-1.522, 1}, {-1.528, 0}, {0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int side = -1; side <= 1; side += 2) {
      const double first = 100 + 0.05 * 7826.106, middle = 100 + 0.05 * 8508.1064 + cases[i].off;
      assert_int_equal(tracks_of(side * first, side * middle, side * (100 + 0.05 * 9193.1064)), cases[i].tracks);
    }
}

/* x_f = 1000: x_l from 1186.618 - 382.489 = 804.129 to 1569.107. At the lower limit 1/p is 1/3000, and the middle hit
 * is about h1 / 3000 = 3.913 mm to the left of the line; the upper limit has x_0 = -2258.3 and 1/p = 3.43e-4, and the
 * middle hit is 4.026 mm to the right. */
static void the_last_hit_is_in_the_window_of_the_minimum_momentum(void **state) {
  (void)state;
  const double share = (8508.1064 - 7826.106) / (9193.1064 - 7826.106);
  static const struct {
    double last, off;
    uint32_t tracks;
  } cases[] = {{804.2, 3.9, 1}, {804.0, 3.9, 0}, {1569.0, -4.0, 1}, {1569.2, -4.0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double middle = 1000 + share * (cases[i].last - 1000) + cases[i].off;
    assert_int_equal(tracks_of(1000, middle, cases[i].last), cases[i].tracks);
  }
}

/* Residuals of the further hits of case 0; 9: none. */
static uint32_t tracks_with(double off_1, double off_2, double off_3, float *score) {
  const double off[] = {off_1, off_2, off_3};
  memset(&c, 0, sizeof c);
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++)
    if (i % 2 == 0 || off[i / 2] < 9)
      case_add_hit(&c, 0, x_zone(i, 1), (float)(seed_x(852, 0.1, 0, i) + (i % 2 ? off[i / 2] : 0)));
  struct sl_test *t = seed_new();
  assert_int_equal(sl_test_run(t), 0);
  uint32_t count = 0; /* tracks of this case */
  for (uint32_t i = 0; i < count_of(t, 0); i++) {
    if (bytes(t, "kind")[i] != 1) continue;
    count++;
    *score = floats(t, "score")[i];
  }
  sl_test_free(t);
  return count;
}

/* Score of a track of case 0 with these parameters, which is alone. */
static double score_of(double x0, double b, double curvature) {
  memset(&c, 0, sizeof c);
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++)
    case_add_hit(&c, 0, x_zone(i, 1), (float)seed_x(x0 + 8520 * b, b, curvature, i));
  struct sl_test *t = seed_new();
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(count_of(t, 0), 2);
  assert_int_equal(bytes(t, "kind")[0], 1);
  const double score = floats(t, "score")[0];
  sl_test_free(t);
  return score;
}

/* LHCb's calibration: c = 0.0249 / p towards x = 0, 1/p = 1.6322e-7 |x| - 5.0217e-12 x^2. */
static void the_curvature_that_the_momentum_implies_has_the_best_score(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    const double expected = -sign * 0.0249 * (1.6322e-7 * 500 - 5.0217e-12 * 500 * 500);
    assert_near(score_of(sign * 500, 0.1, expected), 0, 0.01);
    assert_near(score_of(sign * 500, 0.1, expected + 1e-6), 0.16 / 1.16, 0.02);
    assert_near(score_of(sign * 500, 0.1, expected - 1e-6), 0.16 / 1.16, 0.02);
  }
}

static void two_hits_beyond_the_triplet_are_required(void **state) {
  (void)state;
  float score = 0, alone;
  assert_int_equal(tracks_with(0.49, 0, -0.49, &score), 1);
  assert_int_equal(tracks_with(0.51, 0, -0.49, &score), 1);
  assert_int_equal(tracks_with(0.51, 0, -0.51, &score), 0);
  assert_int_equal(tracks_with(0, 9, 0, &score), 1);
  assert_int_equal(tracks_with(0, 0, 9, &score), 1);
  assert_int_equal(tracks_with(9, 0, 0, &score), 1);
  assert_int_equal(tracks_with(9, 9, 0, &score), 0);
  assert_int_equal(tracks_with(0, 9, 9, &score), 0);
  /* a hit that is too far away does not count */
  assert_int_equal(tracks_with(0.2, 9, 0, &alone), 1);
  assert_int_equal(tracks_with(0.2, 0.6, 0, &score), 1);
  assert_true(score == alone);
}

/* ------------------------------------------------------------------------------------------------ random hits */

static struct xz_track found[XZ_TRACKS_MAX];
static uint32_t found_count;

static void find_plainly(uint32_t event) {
  struct xz_reference r = {.constants = &constant.view,
                           .x = c.hit_x + c.hit_offsets[event],
                           .zone_first = c.zone_first + event * (SCIFI_ZONES + 1),
                           .tracks = found};
  xz_find(&r);
  found_count = r.count;
}

/* Tracks from near the origin, 10 mm apart on average, smeared by 0.1 mm, and as many noise hits. */
static void make_random_case(uint32_t tracks, float half_width) {
  memset(&c, 0, sizeof c);
  for (uint32_t event = 0; event < CASE_EVENTS; event++)
    for (uint32_t k = 0; k < tracks; k++) {
      const float inverse_p = random_between(-1, 1) / 3000, x0 = inverse_p * 6e6f,
                  x = random_between(-1, 1) * half_width;
      for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
        const double curved = seed_x(x, (x - x0) / 8520, -0.02 * inverse_p, i);
        if (random_between(0, 1) < 0.9f)
          case_add_hit(&c, event, x_zone(i, k % 2), (float)curved + random_between(-0.1f, 0.1f));
        case_add_hit(&c, event, x_zone(i, k % 2), random_between(-1.2f, 1.2f) * half_width);
      }
    }
}

static void assert_event(const struct sl_test *t, uint32_t event) {
  const uint32_t *offsets = sl_test_output(t, "tracks", "offsets");
  const uint16_t *hits = sl_test_output(t, "tracks", "hits");
  find_plainly(event);
  assert_int_equal(count_of(t, event), found_count);
  for (uint32_t i = 0; i < found_count; i++) {
    const struct xz_track *f = &found[i];
    const uint32_t at = offsets[event] + i;
    assert_memory_equal(hits + (size_t)SCIFI_X_LAYERS * at, f->hits, sizeof f->hits);
    assert_int_equal(bytes(t, "hit_count")[at], f->count);
    assert_int_equal(bytes(t, "kind")[at], f->kind);
    assert_near(floats(t, "a")[at], f->a, 2e-3);
    assert_near(floats(t, "b")[at], f->b, 3e-6);
    assert_near(floats(t, "c")[at], f->c, 5e-9);
    assert_near(floats(t, "score")[at], f->score, 2e-3 + 4e-3 * f->score);
  }
}

/* Few and many hits: layers of one stride in shared memory, or two; halves that do not fit; and more tracks of a unit
 * than the buffer. */
static void tracks_equal_those_of_all_triplets(void **state) {
  (void)state;
  static const struct {
    uint32_t tracks;
    float half_width;
    uint32_t least, most; /* tracks per event, at most */
  } cases[] = {
      {20, 2500, 8, 200}, {60, 1000, 60, 1000}, {300, 1500, 1025, XZ_TRACKS_MAX}, {560, 5000, 60, XZ_TRACKS_MAX}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    make_random_case(cases[k].tracks, cases[k].half_width);
    for (uint32_t block = 32; block <= (shared ? 256 : 32); block *= k < 3 ? 2 : 8) {
      struct sl_test *t = seed_new();
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      for (uint32_t event = 0; event < CASE_EVENTS; event++) {
        assert_event(t, event);
        if (found_count < cases[k].least || found_count > cases[k].most) fail_msg("case %zu: %u", k, found_count);
      }
      sl_test_free(t);
    }
  }
}

/* With these numbers of hits in first, middle, last and further layers, within 100 mm, all tracks are found, and there
 * are some. */
static void assert_dense(uint32_t first, uint32_t middle, uint32_t last, uint32_t further, uint32_t least) {
  const uint32_t hits[] = {first, middle, last};
  memset(&c, 0, sizeof c);
  for (uint32_t event = 0; event < CASE_EVENTS; event++)
    for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++)
      for (uint32_t k = 0; k < (i % 2 == 0 ? hits[i / 2] : further); k++)
        case_add_hit(&c, event, x_zone(i, event), random_between(-100, 100));
  struct sl_test *t = seed_new();
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < CASE_EVENTS; event++) {
    assert_event(t, event);
    if (found_count < least) fail_msg("event %u: %u", event, found_count);
  }
  sl_test_free(t);
}

/* Some hundred middle hits for each eight last hits, with windows of ten. */
static void close_middle_hits_give_the_tracks_of_all_triplets(void **state) {
  (void)state;
  assert_dense(6, 700, 40, 40, 20);
}

/* A part has few first hits with hundreds of pairs, and the pairs of a warp's round have one or several triplets each,
 * which repeatedly fill its list and exceed it slightly. */
static void triplets_that_overflow_the_list_of_a_round_are_found(void **state) {
  (void)state;
  for (uint32_t middle = 40; middle <= 240; middle += 100) assert_dense(8, middle, 200, 60, 100);
}

/* Both versions with the numbers of hits within another tolerance. */
static void both_versions_agree_with_another_tolerance(void **state) {
  (void)state;
  static const float tolerances[] = {0, 0.1f, 3, 200};
  static uint32_t offsets[CASE_EVENTS + 1];
  static uint16_t hits[SCIFI_X_LAYERS * XZ_TRACKS_MAX];
  static float score[XZ_TRACKS_MAX];
  for (size_t i = 0; i < sizeof tolerances / sizeof tolerances[0]; i++) {
    float constants[SEED_CONSTANTS];
    memcpy(constants, constant.view.constants, sizeof constants);
    constants[SEED_TOLERANCE] = tolerances[i];
    make_random_case(60, 1000);
    for (int is_tuned = 0; is_tuned < 2; is_tuned++) {
      struct sl_test *t = seed_new();
      sl_test_input(t, "seeding", "constants", constants, SEED_CONSTANTS);
      sl_test_shared(t, !is_tuned);
      assert_int_equal(sl_test_run(t), 0);
      const uint32_t *found_offsets = sl_test_output(t, "tracks", "offsets"), count = found_offsets[CASE_EVENTS];
      assert_true(count <= XZ_TRACKS_MAX && (count > 10 || tolerances[i] < 0.5f));
      if (is_tuned) {
        assert_memory_equal(found_offsets, offsets, sizeof offsets);
        assert_memory_equal(sl_test_output(t, "tracks", "hits"), hits, SCIFI_X_LAYERS * sizeof hits[0] * count);
        assert_memory_equal(floats(t, "score"), score, sizeof score[0] * count);
      }
      memcpy(offsets, found_offsets, sizeof offsets);
      memcpy(hits, sl_test_output(t, "tracks", "hits"), SCIFI_X_LAYERS * sizeof hits[0] * count);
      memcpy(score, floats(t, "score"), sizeof score[0] * count);
      sl_test_free(t);
    }
  }
}

static void events_not_listed_have_no_tracks(void **state) {
  (void)state;
  const uint32_t listed = 1;
  make_random_case(20, 2500);
  struct sl_test *t = seed_new();
  sl_test_list(t, &listed, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(count_of(t, 0), 0);
  assert_event(t, 1);
  sl_test_free(t);
}

static void an_overflow_leaves_no_tracks(void **state) {
  (void)state;
  make_random_case(60, 1000);
  struct sl_test *t = seed_new();
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t all = count_of(t, 0) + count_of(t, 1);
  sl_test_budget(t, "tracks", all - 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "tracks"), all);
  assert_int_equal(count_of(t, 0) + count_of(t, 1), 0);
  sl_test_budget(t, "tracks", all);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < CASE_EVENTS; event++) assert_event(t, event);
  sl_test_free(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      TEST(derived_constants_have_the_calculated_values),
      TEST(a_min_momentum_below_the_possible_range_is_refused),
      BOTH(a_track_is_found_in_each_case),
      BOTH(the_middle_hit_is_in_the_window_of_the_momentum),
      BOTH(the_last_hit_is_in_the_window_of_the_minimum_momentum),
      BOTH(the_curvature_that_the_momentum_implies_has_the_best_score),
      BOTH(two_hits_beyond_the_triplet_are_required),
      BOTH(tracks_equal_those_of_all_triplets),
      BOTH(close_middle_hits_give_the_tracks_of_all_triplets),
      BOTH(triplets_that_overflow_the_list_of_a_round_are_found),
      BOTH(events_not_listed_have_no_tracks),
      TEST(both_versions_agree_with_another_tolerance),
      BOTH(an_overflow_leaves_no_tracks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
