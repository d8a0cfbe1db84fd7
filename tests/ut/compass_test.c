/* compass_test.c: ut.compass on a track bent by a magnet of known strength, with additional and missing hits.
 *
 * The track begins at (0, 0, 0) with dx/dz = 0.05 and dy/dz = 0.1, and bends at z = 2010 + 22.4 + 7.133 = 2039.533 mm,
 * the position of the magnet in the second fit for this dy/dz. The field integral is 0.1 everywhere, so q/p is
 * -0.033356 times the kick, which is 0.0003 for 90 GeV.
 */
#include "ut_support.h"
#include "velo/event_model.h"

#include <math.h>

enum { HITS_MAX = 64 };
static const float velo_tx = 0.05f, velo_ty = 0.1f, bend_z = 2039.533f;
static const float layer_z[] = {2327.5f, 2372.5f, 2597.5f, 2642.5f};
static const float slopes[] = {0, 0.08748866f, -0.0874886f, 0};

static struct {
  uint32_t offsets[2], count, layers[HITS_MAX];
  float x[HITS_MAX], z[HITS_MAX];
  uint16_t sector[HITS_MAX];
} hits;

static int start(void **state) {
  (void)state;
  memset(&hits, 0, sizeof hits);
  return 0;
}

/* x of the track downstream of the magnet, which reduces the slope by `kick`. */
static float x_at(float z, float kick) { return velo_tx * z - kick * (z - bend_z); }

/* Adds a hit with residual `off`. Hits are added by layer. */
static void add_hit(uint32_t layer, float kick, float off) {
  const uint32_t i = hits.count++;
  hits.layers[i] = layer;
  hits.z[i] = layer_z[layer];
  hits.x[i] = x_at(layer_z[layer], kick) + off - velo_ty * layer_z[layer] * slopes[layer];
  hits.sector[i] = 0;
}

static struct sl_test *compass_at(float polarity) {
  static float pitch[UT_SECTORS], integral[UT_INTEGRALS];
  const float constants[UT_FORMULA_CONSTANTS] = {
      [UT_KICK_TO_MOMENTUM] = 3.3356e-3f, [UT_FIRST_KICK_Z] = 1780,         [UT_SECOND_KICK_Z] = 2010,
      [UT_SECOND_KICK_Z + 1] = 2240,      [UT_SECOND_KICK_Z + 2] = 71330,   [UT_KICK_ERRORS] = 0.14f,
      [UT_KICK_ERRORS + 1] = 0.12f,       [UT_KICK_ERRORS_PER_P] = 1e4f,    [UT_KICK_ERRORS_PER_P + 1] = 3e3f,
      [UT_DISCRIMINANT_3] = 0.16f,        [UT_DISCRIMINANT_3 + 1] = -0.11f, [UT_DISCRIMINANT_3 + 2] = 0.13f,
      [UT_DISCRIMINANT_3 + 3] = -0.14f,   [UT_DISCRIMINANT_4] = 0.24f,      [UT_DISCRIMINANT_4 + 1] = -0.09f,
      [UT_DISCRIMINANT_4 + 2] = 0.11f,    [UT_DISCRIMINANT_4 + 3] = -0.17f,
  };
  const uint32_t offsets[] = {0, 1}, track = 0;
  const float x = 770 * velo_tx, y = 770 * velo_ty, z = 770;
  uint16_t first[UT_WINDOWS] = {0}, count[UT_WINDOWS] = {0}, in_layer[UT_LAYERS] = {0};
  struct sl_test *t = sl_test_new(UT_PLUGIN, "compass");
  for (uint32_t i = 0; i < UT_SECTORS; i++) pitch[i] = 0.19f;
  for (uint32_t i = 0; i < UT_INTEGRALS; i++) integral[i] = 0.1f;
  for (uint32_t i = 0; i < hits.count; i++) {
    const uint32_t w = UT_LAYER_WINDOWS * hits.layers[i];
    if (count[w]++ == 0) first[w] = (uint16_t)i;
    in_layer[hits.layers[i]]++;
  }
  hits.offsets[1] = hits.count;
  sl_test_events(t, 1);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  sl_test_input(t, "selected", "offsets", offsets, 2);
  sl_test_input(t, "selected", "track", &track, 1);
  sl_test_input(t, "windows", "first", first, UT_WINDOWS);
  sl_test_input(t, "windows", "count", count, UT_WINDOWS);
  sl_test_input(t, "windows", "hits", in_layer, UT_LAYERS);
  sl_test_input(t, "end_states", "offsets", offsets, 2);
  sl_test_input(t, "end_states", "x", &x, 1);
  sl_test_input(t, "end_states", "y", &y, 1);
  sl_test_input(t, "end_states", "z", &z, 1);
  sl_test_input(t, "end_states", "tx", &velo_tx, 1);
  sl_test_input(t, "end_states", "ty", &velo_ty, 1);
  sl_test_input(t, "hits", "offsets", hits.offsets, 2);
  sl_test_input(t, "hits", "x", hits.x, hits.count);
  sl_test_input(t, "hits", "z", hits.z, hits.count);
  sl_test_input(t, "hits", "sector", hits.sector, hits.count);
  sl_test_input(t, "geometry", "pitch", pitch, UT_SECTORS);
  sl_test_input(t, "groups", "layer_slope", slopes, UT_LAYERS);
  sl_test_input(t, "tables", "field_integral", integral, UT_INTEGRALS);
  sl_test_input(t, "tables", "constants", constants, UT_FORMULA_CONSTANTS);
  return t;
}

static struct sl_test *compass_new(void) { return compass_at(-1.0f); }

/* Candidate of the only track. */
struct found {
  uint32_t count;
  uint16_t hits[UT_TRACK_HITS_MAX];
  float qop, x, tx;
};
static struct found found_by(struct sl_test *t) {
  struct found f;
  assert_int_equal(sl_test_run(t), 0);
  f.count = *(const uint8_t *)sl_test_output(t, "candidates", "hit_count");
  memcpy(f.hits, sl_test_output(t, "candidates", "hits"), sizeof f.hits);
  f.qop = *(const float *)sl_test_output(t, "candidates", "qop");
  f.x = *(const float *)sl_test_output(t, "candidates", "x");
  f.tx = *(const float *)sl_test_output(t, "candidates", "tx");
  sl_test_free(t);
  return f;
}

static void assert_hits(const struct found *f, uint32_t count, uint16_t a, uint16_t b, uint16_t c, uint16_t d) {
  const uint16_t expected[] = {a, b, c, d};
  assert_int_equal(f->count, count);
  assert_memory_equal(f->hits, expected, sizeof expected);
}

/* For a particle of 20 GeV: the kick is 5e-5 / 0.033356 = 0.0015. */
static const float kick = 0.0015f;

static void a_bent_track_has_its_four_hits_and_momentum(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    start(state);
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) add_hit(layer, (float)sign * kick, 0);
    const struct found f = found_by(compass_new());
    assert_hits(&f, 4, 0, 1, 2, 3);
    /* the algorithm's kick is a difference of sines, slightly larger than that of slopes */
    assert_true(fabsf(f.qop / ((float)-sign * 5e-5f) - 1) < 0.03f);
    assert_true(fabsf(f.x - x_at(2484.6f, (float)sign * kick)) < 0.2f);
    assert_true(fabsf(f.tx - (velo_tx - (float)sign * kick)) < 4e-4f);
  }
}

static void polarity_up_gives_the_opposite_charge(void **state) {
  (void)state;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) add_hit(layer, kick, 0);
  const struct found down = found_by(compass_new());
  struct sl_test *t = compass_at(1.0f);
  const struct found up = found_by(t);
  assert_int_equal(up.count, 4);
  assert_true(up.qop == -down.qop && up.x == down.x);
}

/* One layer, any one, has no hit. Without layer 0 or 2 the pair is of layers 3 and 1. */
static void at_least_three_hits_are_required(void **state) {
  (void)state;
  for (uint32_t missing = 0; missing < UT_LAYERS; missing++) {
    start(state);
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++)
      if (layer != missing) add_hit(layer, kick, 0);
    struct found f = found_by(compass_new());
    assert_hits(&f, 3, 0, 1, 2, 0);
    hits.count = 2;
    f = found_by(compass_new());
    assert_hits(&f, 0, 0, 0, 0, 0);
    assert_true(f.qop == 0 && f.x == 0 && f.tx == 0);
  }
}

/* A hit further than 0.8 mm from the line of the pair is not added. */
static void further_hits_are_near_the_line_of_the_pair(void **state) {
  (void)state;
  const float inside = 0.75f, outside = 0.85f;
  for (uint32_t is_outside = 0; is_outside < 2; is_outside++) {
    start(state);
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++)
      add_hit(layer, kick, layer != 1 ? 0 : is_outside ? outside : inside);
    struct sl_test *t = compass_new();
    sl_test_set(t, "max_pairs", 1);     /* the pair of layers 0 and 2 */
    sl_test_set(t, "min_quality", -10); /* accepts any chi2 */
    const struct found f = found_by(t);
    if (is_outside)
      assert_hits(&f, 3, 0, 2, 3, 0);
    else
      assert_hits(&f, 4, 0, 1, 2, 3);
  }
}

/* The nearest hit completes a pair; ties: the first hit. */
static void the_nearest_hit_is_added(void **state) {
  (void)state;
  add_hit(0, kick, 0);
  add_hit(1, kick, -0.3f);
  add_hit(1, kick, 0.2f);
  add_hit(1, kick, 0.2f);
  add_hit(2, kick, 0);
  add_hit(3, kick, 0);
  struct sl_test *t = compass_new();
  sl_test_set(t, "max_pairs", 1); /* the pair of layers 0 and 2 */
  const struct found f = found_by(t);
  assert_hits(&f, 4, 0, 2, 4, 5);
}

/* The smaller chi2 wins. */
static void of_two_candidates_with_four_hits_the_smaller_chi2_wins(void **state) {
  (void)state;
  add_hit(0, kick, 0.5f);
  add_hit(0, kick, 0);
  add_hit(1, kick, 0);
  add_hit(2, kick, 0);
  add_hit(3, kick, 0);
  struct found f = found_by(compass_new());
  assert_hits(&f, 4, 1, 2, 3, 4);
  struct sl_test *t = compass_new(); /* the second pair is not tested */
  sl_test_set(t, "max_pairs", 1);
  f = found_by(t);
  assert_hits(&f, 4, 0, 2, 3, 4);
}

/* The track is 2.3 mm off in y, so that its hits of the u and v layers are 0.2 mm off in opposite directions. A wrong
 * hit of the u layer is off in the direction of that of the v layer: chi2 of the first fit is smaller with it, but the
 * hits are not on a line. */
static void hits_on_a_line_are_preferred_to_a_smaller_chi2_of_the_first_fit(void **state) {
  (void)state;
  add_hit(0, kick, 0);
  add_hit(1, kick, 0.2f);
  add_hit(1, kick, -0.2f);
  add_hit(2, kick, -0.2f);
  add_hit(3, kick, 0);
  const struct found f = found_by(compass_new());
  assert_hits(&f, 4, 0, 1, 3, 4);
}

/* Hits of a particle of 5 GeV in four layers, and of a particle of higher momentum in three. chi2 of the first fit is
 * roughly proportional to kick^2 / (number of hits - 1): the ratio is 64 if the second kick is 0.1 of the first. */
static void three_hits_win_with_a_chi2_64_times_smaller(void **state) {
  const float of_4 = 0.006f, of_3[] = {0.06f * of_4, 0.15f * of_4};
  for (uint32_t i = 0; i < 2; i++) {
    start(state);
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
      add_hit(layer, of_4, 0);
      if (layer != 1) add_hit(layer, of_3[i], 0);
    }
    const struct found f = found_by(compass_new());
    if (i == 0)
      assert_hits(&f, 3, 1, 4, 6, 0);
    else
      assert_hits(&f, 4, 0, 2, 3, 5);
  }
}

/* A particle of 80 GeV without a hit in the second layer, and four hits that fit to 2.2 GeV, below min_pt. */
static void three_right_hits_are_found_beside_four_wrong_ones_below_the_requirements(void **state) {
  const float right = 0.0004f, wrong = 0.015f;
  for (uint32_t has_right = 0; has_right < 2; has_right++) {
    start(state);
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
      add_hit(layer, wrong, 0);
      if (has_right && layer != 1) add_hit(layer, right, 0);
    }
    const struct found f = found_by(compass_new());
    if (has_right)
      assert_hits(&f, 3, 1, 4, 6, 0);
    else
      assert_hits(&f, 0, 0, 0, 0, 0);
  }
}

/* At 20 GeV and a slope of 0.112 the requirements compare 1.3 x 20 GeV (p) and 2.9 GeV (pt). */
static void tracks_of_small_momentum_are_rejected(void **state) {
  (void)state;
  const struct {
    const char *name;
    double kept, dropped;
  } limits[] = {{"min_momentum", 24000, 28000}, {"min_pt", 2700, 3100}};
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) add_hit(layer, kick, 0);
  for (size_t i = 0; i < 2; i++) {
    struct sl_test *t = compass_new();
    sl_test_set(t, limits[i].name, limits[i].kept);
    assert_int_equal(found_by(t).count, 4);
    t = compass_new();
    sl_test_set(t, limits[i].name, limits[i].dropped);
    assert_int_equal(found_by(t).count, 0);
  }
}

static void the_slope_of_a_pair_is_close_to_that_of_the_track(void **state) {
  (void)state;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) add_hit(layer, kick, 0);
  struct sl_test *t = compass_new();
  sl_test_set(t, "max_slope_difference", 0.0014);
  assert_int_equal(found_by(t).count, 0);
  t = compass_new();
  sl_test_set(t, "max_slope_difference", 0.0016);
  assert_int_equal(found_by(t).count, 4);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start)
  const struct CMUnitTest tests[] = {
      TEST(a_bent_track_has_its_four_hits_and_momentum),
      TEST(polarity_up_gives_the_opposite_charge),
      TEST(at_least_three_hits_are_required),
      TEST(further_hits_are_near_the_line_of_the_pair),
      TEST(the_nearest_hit_is_added),
      TEST(of_two_candidates_with_four_hits_the_smaller_chi2_wins),
      TEST(hits_on_a_line_are_preferred_to_a_smaller_chi2_of_the_first_fit),
      TEST(three_hits_win_with_a_chi2_64_times_smaller),
      TEST(three_right_hits_are_found_beside_four_wrong_ones_below_the_requirements),
      TEST(tracks_of_small_momentum_are_rejected),
      TEST(the_slope_of_a_pair_is_close_to_that_of_the_track),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
