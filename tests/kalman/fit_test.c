/* fit_test.c: polynomials from few tracks, in the field of the simulation and in a map. */
#include "kalman_fit.h"
#include "model_map.h"
#include "support.h"

#include <math.h>

enum { SHOTS = 5000, FIT_SEED = 5, TEST_SEED = 6 };

static struct kalman_description *fitted(const struct field_map *map, uint32_t shots) {
  struct kalman_gun_sample sample;
  struct kalman_description *d = (struct kalman_description *)calloc(1, sizeof *d);
  assert_non_null(d);
  assert_int_equal(kalman_sample_shoot(map, FIT_SEED, shots, &sample), SL_OK);
  assert_int_equal(kalman_fit(&sample, d), SL_OK);
  free(sample.tracks);
  return d;
}

/* All errors of `d` for the tracks are below `factor` times those of `reference`, plus rounding. */
static void is_nearly_as_good(const struct kalman_description *d, const struct kalman_description *reference,
                              const struct kalman_gun_sample *sample, const struct kalman_gun_sample *for_reference,
                              double factor) {
  static const double rounding[KALMAN_OUTPUTS] = {2e-4, 2e-4, 2e-7, 2e-7};
  for (int l = 0; l < KALMAN_LEGS; l++)
    for (int bin = 0; bin < KALMAN_CLOSURE_BINS; bin++) {
      struct kalman_closure found, expected;
      assert_int_equal(kalman_closure_measure(d, sample, l, bin, &found), SL_OK);
      assert_int_equal(kalman_closure_measure(reference, for_reference, l, bin, &expected), SL_OK);
      assert_true(found.count > 100 && expected.count > 100);
      for (int o = 0; o < KALMAN_OUTPUTS; o++)
        if (!(found.errors[o][0] < factor * expected.errors[o][0] + rounding[o]))
          fail_msg("leg %d, bin %d, output %d: %g, %g", l, bin, o, found.errors[o][0], expected.errors[o][0]);
    }
}

static void few_tracks_give_similar_polynomials(void **state) {
  struct kalman_description *d = fitted(NULL, SHOTS), *reference = nominal();
  struct kalman_gun_sample sample;
  (void)state;
  assert_int_equal(kalman_sample_shoot(NULL, TEST_SEED, SHOTS, &sample), SL_OK);
  is_nearly_as_good(d, reference, &sample, &sample, 1.5);
  assert_true(fabs(d->legs[4].bend / reference->legs[4].bend - 1) < 0.05);
  free(sample.tracks);
  free(reference);
  free(d);
}

/* In the map, with the map's polynomials; and outside of it: the model's tracks, with the map's polynomials. */
static void a_map_of_the_model_gives_nearly_the_same(void **state) {
  struct field_map map;
  struct kalman_gun_sample in_map, in_model;
  (void)state;
  model_map(100, 1, &map);
  struct kalman_description *from_map = fitted(&map, SHOTS), *from_model = fitted(NULL, SHOTS);
  assert_int_equal(kalman_sample_shoot(&map, TEST_SEED, SHOTS, &in_map), SL_OK);
  assert_int_equal(kalman_sample_shoot(NULL, TEST_SEED, SHOTS, &in_model), SL_OK);
  is_nearly_as_good(from_map, from_model, &in_map, &in_model, 1.2);
  is_nearly_as_good(from_map, from_model, &in_model, &in_model, 2);
  field_map_free(&map);
  free(in_map.tracks);
  free(in_model.tracks);
  free(from_map);
  free(from_model);
}

static void written_constants_are_read_back(void **state) {
  struct kalman_description *d = fitted(NULL, SHOTS / 2),
                            *again = (struct kalman_description *)calloc(1, sizeof *again);
  char reason[256] = "", *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  (void)state;
  assert_non_null(again);
  assert_non_null(file);
  kalman_write(file, d);
  assert_int_equal(fclose(file), 0);
  const uint32_t line = kalman_read(text, bytes, again, reason, sizeof reason);
  if (line != 0) fail_msg("%u: %s", line, reason);
  for (int l = 0; l < KALMAN_LEGS; l++) {
    const struct kalman_leg *a = &d->legs[l], *b = &again->legs[l];
    assert_true(a->z_begin == b->z_begin && a->z_end == b->z_end && a->bend == b->bend);
    assert_true(a->x_max == b->x_max && a->y_max == b->y_max);
    for (int o = 0; o < KALMAN_OUTPUTS; o++)
      for (int k = 0; k < kalman_term_count(kalman_kind(l), kalman_is_y(o)); k++) {
        const double c = a->coefficients[o][k];
        assert_true(c != 0 && fabs(b->coefficients[o][k] - c) <= 1e-9 * fabs(c));
      }
  }
  free(text);
  free(again);
  free(d);
}

static void too_few_tracks_are_refused(void **state) {
  struct kalman_gun_sample sample;
  struct kalman_description *d = (struct kalman_description *)calloc(1, sizeof *d);
  (void)state;
  assert_non_null(d);
  assert_int_equal(kalman_sample_shoot(NULL, FIT_SEED, 60, &sample), SL_OK);
  assert_int_equal(kalman_fit(&sample, d), SL_EINVAL);
  free(sample.tracks);
  free(d);
}

/* A third of the tracks begins downstream of V; both charges are equally frequent. */
static void the_gun_shoots_the_sample(void **state) {
  struct kalman_gun_sample sample;
  uint32_t positive = 0, behind = 0, all = 0;
  (void)state;
  assert_int_equal(kalman_sample_shoot(NULL, FIT_SEED, SHOTS, &sample), SL_OK);
  for (uint32_t i = 0; i < SHOTS; i++) {
    const struct kalman_gun_track *t = &sample.tracks[i];
    const double p = 1 / fabs(t->q_over_p);
    assert_true(p > 2499.99 && p < 100001);
    positive += t->q_over_p > 0;
    behind += t->first == KALMAN_U0;
    all += t->first == KALMAN_V && t->last == KALMAN_PLANES - 1;
    for (int plane = t->first; plane <= t->last; plane++) {
      assert_true(fabs(t->end[plane][0]) < kalman_gun_size[plane][0] &&
                  fabs(t->end[plane][1]) < kalman_gun_size[plane][1]);
      const double change = fabs(t->begin[plane][2] - t->end[plane][2]);
      if (plane == KALMAN_V || plane == KALMAN_T0 - 1 || plane == KALMAN_T0) {
        assert_true(change > 0 && change * p < 3 * 6);
      } else {
        assert_true(change == 0);
      }
    }
  }
  assert_int_equal(positive, SHOTS / 2);
  assert_true(behind > SHOTS * 0.3 && behind < SHOTS * 0.35); /* half of (2200 - 770) / 2200 */
  assert_true(all > SHOTS * 0.5);
  free(sample.tracks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_tracks_give_similar_polynomials), cmocka_unit_test(a_map_of_the_model_gives_nearly_the_same),
      cmocka_unit_test(written_constants_are_read_back),     cmocka_unit_test(too_few_tracks_are_refused),
      cmocka_unit_test(the_gun_shoots_the_sample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
