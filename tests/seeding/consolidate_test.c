/* consolidate_test.c: seeding.consolidate: seeds and hits of three events, one of them empty, and states and momenta
 * against the formulas in double precision.
 */
#include "seed_support.h"

#include <math.h>

enum { EVENTS = 3, TRACKS = 5, HITS = 40, SEEDS = 3 };

static const uint32_t offsets[] = {0, 2, 3, 5}, hit_offsets[] = {0, 15, 16, 40};
static const uint8_t x_count[] = {6, 5, 6, 5, 6}, stereo_count[] = {4, 0, 0, 5, 6};
static const uint16_t x_hits[TRACKS][6] = {
    {0, 3, 4, 7, 8, 11}, {0, 3, 4, 7, 8}, {0, 0, 0, 0, 0, 0}, {3, 4, 7, 8, 11}, {12, 15, 16, 19, 20, 23}};
static const uint16_t stereo_hits[TRACKS][6] = {{1, 5, 9, 10}, {0}, {0}, {1, 2, 5, 6, 9}, {13, 14, 17, 18, 21, 22}};
static const float a[] = {852, 1, 2, -300, 1500}, b[] = {0.1f, 0, 0, -0.05f, 0.2f}, c[] = {1e-6f, 0, 0, -2e-6f, 3e-6f};
static const float y[] = {500, 0, 0, -100, 2000}, ty[] = {0.06f, 0, 0, -0.01f, 0.2f};
static uint32_t ids[HITS];
static const uint32_t tracks_of_seeds[SEEDS] = {0, 3, 4};

static struct sl_test *consolidate_new(const struct seeding_constant *constant, float polarity) {
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "consolidate");
  for (uint32_t i = 0; i < HITS; i++) ids[i] = (uint32_t)SCIFI_LHCB_ID | 77 * i;
  sl_test_events(t, EVENTS);
  sl_test_input(t, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "id", ids, HITS);
  sl_test_input(t, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "hit_count", x_count, TRACKS);
  sl_test_input(t, "tracks", "hits", x_hits, TRACKS * SCIFI_X_LAYERS);
  sl_test_input(t, "tracks", "a", a, TRACKS);
  sl_test_input(t, "tracks", "b", b, TRACKS);
  sl_test_input(t, "tracks", "c", c, TRACKS);
  sl_test_input(t, "stereo", "hit_count", stereo_count, TRACKS);
  sl_test_input(t, "stereo", "hits", stereo_hits, TRACKS * SCIFI_STEREO_LAYERS);
  sl_test_input(t, "stereo", "y", y, TRACKS);
  sl_test_input(t, "stereo", "ty", ty, TRACKS);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  seeding_constant_give(constant, t, "constants");
  return t;
}

static const void *field(const struct sl_test *t, const char *name) { return sl_test_output(t, "seeds", name); }
static double number(const struct sl_test *t, const char *name, uint32_t i) {
  return ((const float *)field(t, name))[i];
}
static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.9g, expected %.9g within %.2g", found, expected, tolerance);
}

static void seeds_have_x_and_stereo_hits_by_layer(void **state) {
  (void)state;
  static const uint32_t expected_offsets[] = {0, 1, 1, 3}, expected_hit_offsets[] = {0, 10, 20, 32};
  static const uint16_t expected[] = {0, 1, 3, 4,  5,  7,  8,  9,  10, 11, 1,  2,  3,  4,  5,  6,
                                      7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
  struct seeding_constant constant;
  seeding_constant_open(&constant);
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = consolidate_new(&constant, -1);
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    assert_memory_equal(field(t, "offsets"), expected_offsets, sizeof expected_offsets);
    assert_memory_equal(field(t, "hit_offsets"), expected_hit_offsets, sizeof expected_hit_offsets);
    assert_memory_equal(field(t, "hit"), expected, sizeof expected);
    for (uint32_t h = 0; h < expected_hit_offsets[SEEDS]; h++)
      assert_int_equal(((const uint32_t *)field(t, "hit_id"))[h], ids[hit_offsets[h < 10 ? 0 : 2] + expected[h]]);
    sl_test_free(t);
  }
  seeding_constant_close(&constant);
}

/* With LHCb's constants: z = 9410 mm is d = 890 mm. */
static void states_and_momenta_equal_the_formulas(void **state) {
  (void)state;
  struct seeding_constant constant;
  seeding_constant_open(&constant);
  for (int polarity = -1; polarity <= 1; polarity += 2) {
    struct sl_test *t = consolidate_new(&constant, (float)polarity);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t i = 0; i < SEEDS; i++) {
      const uint32_t from = tracks_of_seeds[i];
      const double d = 890, ratio = -0.00028, t_y = ty[from];
      const double x = a[from] + b[from] * d + c[from] * d * d * (1 + ratio * d);
      const double tx = b[from] + 2 * c[from] * d + 3 * c[from] * ratio * d * d, x0 = x - 9410 * tx;
      const double e = -6.34025 - 4.85287 * tx * tx - 12.4491 * t_y * t_y + 4.25461e-8 * x0 * x0;
      assert_near(number(t, "x", i), x, 1e-3);
      assert_near(number(t, "y", i), y[from] + t_y * d, 1e-3);
      assert_near(number(t, "tx", i), tx, 1e-7);
      assert_near(number(t, "ty", i), t_y, 0);
      assert_near(number(t, "qop", i), x0 / (-1e6 * polarity * e), 1e-9);
      assert_true(fabs(number(t, "qop", i)) > 1e-8);
    }
    sl_test_free(t);
  }
  seeding_constant_close(&constant);
}

/* A seed that is bent to -x, and would be at +x in the middle of the detector: x_0 = 100, along the axis, polarity
 * down: q/p = 100 / (-10^6 (-1) (-6.34025 + 4.25461e-8 10^4)) = -1.57733e-5, a negative charge. */
static void the_charge_of_a_calculated_seed_is_negative(void **state) {
  (void)state;
  struct seeding_constant constant;
  seeding_constant_open(&constant);
  struct sl_test *t = consolidate_new(&constant, -1);
  static const float zero[TRACKS] = {0}, hundred[TRACKS] = {100, 100, 100, 100, 100};
  sl_test_input(t, "tracks", "a", hundred, TRACKS);
  sl_test_input(t, "tracks", "b", zero, TRACKS);
  sl_test_input(t, "tracks", "c", zero, TRACKS);
  sl_test_input(t, "stereo", "ty", zero, TRACKS);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < SEEDS; i++) assert_near(number(t, "qop", i), -1.57733e-5, 2e-10);
  sl_test_free(t);
  seeding_constant_close(&constant);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_have_x_and_stereo_hits_by_layer),
      cmocka_unit_test(states_and_momenta_equal_the_formulas),
      cmocka_unit_test(the_charge_of_a_calculated_seed_is_negative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
