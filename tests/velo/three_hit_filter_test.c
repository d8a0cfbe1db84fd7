/* three_hit_filter_test.c: candidates that velo.three_hit_filter accepts and rejects. */
#include "tracking_sample.h"

enum { HITS = 8 };

/* Two events of one candidate each; the second candidate has three hits, with the middle one off the line by (dx, dy).
 */
static const uint8_t *filter(struct sl_test *t, double dx, double dy, const uint8_t *used, uint8_t first_length) {
  const uint32_t hit_offsets[] = {1, 5, HITS}, candidate_offsets[] = {2, 3, 4};
  const uint8_t lengths[] = {0, 0, first_length, 3};
  uint16_t hits[4 * VELO_MAX_HITS_PER_TRACK] = {0};
  float x[HITS] = {0}, y[HITS] = {0}, z[HITS] = {0};
  for (uint16_t i = 0; i < 4; i++) {
    hits[2 * VELO_MAX_HITS_PER_TRACK + i] = (uint16_t)(3 - i); /* by descending z */
    x[1 + i] = (float)(i * i);                                 /* not on a line */
    z[1 + i] = 25.0f * (float)i;
  }
  for (uint16_t i = 0; i < 3; i++) {
    hits[3 * VELO_MAX_HITS_PER_TRACK + i] = (uint16_t)(2 - i);
    x[5 + i] = (float)(10 + 3 * i + (i == 1 ? dx : 0));
    y[5 + i] = (float)(-20 + i + (i == 1 ? dy : 0));
    z[5 + i] = 600 + 25.0f * (float)i;
  }
  sl_test_events(t, 2);
  sl_test_input(t, "candidates", "offsets", candidate_offsets, 3);
  sl_test_input(t, "candidates", "hit_count", lengths, 4);
  sl_test_input(t, "candidates", "hits", hits, 4 * VELO_MAX_HITS_PER_TRACK);
  sl_test_input(t, "hits", "offsets", hit_offsets, 3);
  sl_test_input(t, "hits", "x", x, HITS);
  sl_test_input(t, "hits", "y", y, HITS);
  sl_test_input(t, "hits", "z", z, HITS);
  sl_test_input(t, "used", "flag", used, HITS);
  assert_int_equal(sl_test_run(t), 0);
  return (const uint8_t *)sl_test_output(t, "accepted", "flag") + 2;
}

static const uint8_t unused[HITS] = {0};

static void longer_candidates_are_always_accepted(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "three_hit_filter");
  const uint8_t used[HITS] = {1, 1, 1, 1, 1, 0, 0, 0};
  assert_int_equal(filter(t, 0, 0, used, 4)[0], 1);
  assert_int_equal(filter(t, 0, 0, unused, 4)[0], 1);
  sl_test_free(t);
}

static void a_used_hit_rejects_a_three_hit_candidate(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "three_hit_filter");
  assert_int_equal(filter(t, 0, 0, unused, 4)[1], 1);
  for (uint32_t i = 0; i < HITS; i++) {
    uint8_t used[HITS] = {0};
    used[i] = 1;
    assert_int_equal(filter(t, 0, 0, used, 4)[1], i < 5);
  }
  sl_test_free(t);
}

/* The middle of three equidistant hits off by d: residuals d/3, -2d/3, d/3; chi2 / 2 = 6400 * (2/3) d2 / 2, which is 20
 * at d = 0.096825. */
static void a_three_hit_candidate_with_large_chi2_is_rejected(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "three_hit_filter");
  assert_int_equal(filter(t, 0.0967, 0, unused, 4)[1], 1);
  assert_int_equal(filter(t, 0.0969, 0, unused, 4)[1], 0);
  assert_int_equal(filter(t, 0, -0.0967, unused, 4)[1], 1);
  assert_int_equal(filter(t, 0, -0.0969, unused, 4)[1], 0);
  assert_int_equal(filter(t, 0.0684, 0.0684, unused, 4)[1], 1); /* 0.0684 sqrt(2) = 0.09673 */
  assert_int_equal(filter(t, 0.0686, 0.0686, unused, 4)[1], 0);
  sl_test_set(t, "max_chi2", 5.0); /* half the distance */
  assert_int_equal(filter(t, 0.0483, 0, unused, 4)[1], 1);
  assert_int_equal(filter(t, 0.0485, 0, unused, 4)[1], 0);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(longer_candidates_are_always_accepted),
      cmocka_unit_test(a_used_hit_rejects_a_three_hit_candidate),
      cmocka_unit_test(a_three_hit_candidate_with_large_chi2_is_rejected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
