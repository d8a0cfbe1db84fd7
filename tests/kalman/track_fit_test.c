/* track_fit_test.c: kalman.fit against fit_reference.h; removal of hits; tracks without UT, with few hits, and with
 * values that are not finite. */
#include "track_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double state_of(const struct sl_test *t, const char *field, uint32_t i) {
  return (double)((const float *)sl_test_output(t, "states", field))[i];
}
static double fit_of(const struct sl_test *t, const char *field, uint32_t i) {
  return (double)((const float *)sl_test_output(t, "fits", field))[i];
}
static uint32_t ndof_of(const struct sl_test *t, uint32_t i) {
  return ((const uint32_t *)sl_test_output(t, "states", "ndof"))[i];
}
/* ------------------------------------------------------------------------------------------- the reference */

/* Differences from the reference; most tracks must be within the limit. */
struct difference {
  const char *name;
  double limit, most, worst;
  uint32_t above;
};
enum { D_QOP, D_C44, D_CHI2, D_BEAM, D_BEAM_ERROR, D_ECAL, DIFFERENCES };

static void take(struct difference *d, double value) {
  assert_true(isfinite(value));
  d->above += fabs(value) > d->limit;
  d->worst = fmax(d->worst, fabs(value));
}

static void compare_track(const struct sl_test *t, uint32_t i, const struct ref_fit *r, struct difference *d) {
  take(&d[D_QOP], (state_of(t, "qop", i) - r->state[4]) / sqrt(r->c44));
  take(&d[D_C44], fit_of(t, "c44", i) / r->c44 - 1);
  take(&d[D_CHI2], (state_of(t, "chi2", i) - ref_chi2(r)) / (1 + ref_chi2(r) / 100));
  take(&d[D_BEAM], (state_of(t, "x", i) - r->beam[0]) / sqrt(r->c_x[0]));
  take(&d[D_BEAM], (state_of(t, "ty", i) - r->beam[4]) / sqrt(r->c_y[2]));
  take(&d[D_BEAM_ERROR], state_of(t, "c00", i) / r->c_x[0] - 1);
  take(&d[D_BEAM_ERROR], state_of(t, "c31", i) / r->c_y[1] - 1);
  take(&d[D_ECAL], fit_of(t, "x", i) - (r->state[0] + r->state[2] * (12602.9 - 9403)));
  take(&d[D_ECAL], fit_of(t, "y", i) - (r->state[1] + r->state[3] * (12602.9 - 9403)));
  assert_int_equal(ndof_of(t, i), r->ndof);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "velo_hits"))[i], r->hits[REF_VELO]);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "ut_hits"))[i], r->hits[REF_UT]);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[i], r->hits[REF_SCIFI]);
  const double parts = fit_of(t, "velo_chi2", i) + fit_of(t, "ut_chi2", i) + fit_of(t, "scifi_chi2", i);
  assert_true(fabs(parts - state_of(t, "chi2", i)) <= 1e-5 * parts);
}

/* Hits with increments next to the limit may differ: at most 1 % of the tracks. Returns the number of removed hits. */
static uint32_t compare_sample(const struct sample *s, uint32_t block) {
  struct difference d[DIFFERENCES] = {{"q/p, in sigma", 5e-4, 5e-3, 0, 0},
                                      {"variance of q/p, relative", 2e-4, 2e-3, 0, 0},
                                      {"chi2, over 1 + chi2 / 100", 0.02, 0.2, 0, 0},
                                      {"state at the beam line, in sigma", 1e-3, 5e-3, 0, 0},
                                      {"covariance at the beam line, relative", 1e-4, 1e-3, 0, 0},
                                      {"position at the ECAL, mm", 1e-2, 5e-2, 0, 0}};
  struct sl_test *t = fit_new(s, 1);
  uint32_t removed = 0, other = 0;
  sl_test_block(t, block);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const struct ref_fit r = ref_fit_track(&s->constants, &s->reference[i]);
    removed += (uint32_t)__builtin_popcountll(r.removed);
    if (removed_of(t, i) != r.removed)
      other++;
    else
      compare_track(t, i, &r, d);
  }
  for (uint32_t k = 0; k < DIFFERENCES; k++)
    if (d[k].above > TRACKS / 100 || d[k].worst > d[k].most)
      fail_msg("%s: %u of %u above %g, worst %g", d[k].name, d[k].above, TRACKS, d[k].limit, d[k].worst);
  if (other > TRACKS / 100) fail_msg("%u of %u tracks have other removed hits", other, TRACKS);
  sl_test_free(t);
  return removed;
}

static void fits_agree_with_double_precision(void **state) {
  static struct sample s;
  (void)state;
  for (uint32_t pass = 0; pass < 4; pass++) {
    make_sample(&s, 5 + pass, pass == 3 ? 0.06 : 0.01);
    const uint32_t removed = compare_sample(&s, 32u << pass);
    assert_true(removed > (pass == 3 ? 300u : 40u) && removed < 2 * TRACKS);
  }
}

/* Without wrong hits, chi2 of the SciFi hits is as large as their degrees of freedom. */
static void chi2_is_as_expected(void **state) {
  static struct sample s;
  double chi2 = 0, ndof = 0;
  (void)state;
  make_sample(&s, 9, 0);
  struct sl_test *t = fit_new(&s, 1);
  sl_test_set(t, "max_removed", 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    chi2 += fit_of(t, "scifi_chi2", i);
    ndof += ((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[i] - 1;
    assert_int_equal(removed_of(t, i), 0);
  }
  if (fabs(chi2 / ndof - 1) > 0.05) fail_msg("chi2 / ndof of the SciFi hits is %g", chi2 / ndof);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------- removal */

static void a_hit_far_off_is_removed(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 21, 0);
  /* Track 1: 12 SciFi hits; a hit in layer 7. Track 2: 10; two hits, one may be removed. */
  s.scifi_x[scifi_hit_of(&s, 1, 7)] += 4;
  s.scifi_x[scifi_hit_of(&s, 2, 4)] += 4;
  s.scifi_x[scifi_hit_of(&s, 2, 8)] += 5;
  s.velo_x[s.velo_offsets[9] + 5] += 0.5f;  /* of 12 hits; from the end of largest z */
  s.velo_x[s.velo_offsets[10] + 1] += 0.5f; /* of 3 hits, which must remain */
  struct sl_test *t = fit_new(&s, 1);
  assert_int_equal(s.velo_offsets[10] - s.velo_offsets[9], 12);
  assert_int_equal(s.velo_offsets[11] - s.velo_offsets[10], 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(removed_of(t, 1) >> (KALMAN_SCIFI_BIT + 7) & 1);
  assert_int_equal(__builtin_popcountll(removed_of(t, 2) >> KALMAN_SCIFI_BIT), 1);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[2], 9);
  assert_true(removed_of(t, 9) >> 6 & 1);
  assert_int_equal(removed_of(t, 10) & (((uint64_t)1 << KALMAN_VELO_BITS) - 1), 0);
  sl_test_set(t, "max_removed", 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) assert_int_equal(removed_of(t, i), 0);
  sl_test_free(t);
}

/* A limit of 0 tries every track; a fit is accepted only if chi2 / ndof falls. */
static void a_fit_without_a_hit_is_accepted_if_it_is_better(void **state) {
  static struct sample s;
  uint32_t removed = 0;
  (void)state;
  make_sample(&s, 22, 0);
  struct sl_test *all = fit_new(&s, 1), *tried = fit_new(&s, 1);
  sl_test_set(all, "max_removed", 0);
  sl_test_set(tried, "max_increment", 0);
  assert_int_equal(sl_test_run(all), 0);
  assert_int_equal(sl_test_run(tried), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const double before = state_of(all, "chi2", i) / ndof_of(all, i),
                 after = state_of(tried, "chi2", i) / ndof_of(tried, i);
    removed += removed_of(tried, i) != 0;
    assert_true(removed_of(tried, i) ? after < before : after == before);
  }
  assert_true(removed > TRACKS / 2);
  sl_test_free(all);
  sl_test_free(tried);
}

/* ---------------------------------------------------------------------------------------------- odd tracks */

static void tracks_do_not_need_the_ut(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 31, 0.02);
  struct sl_test *t = fit_new(&s, 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    struct ref_track without = s.reference[i];
    for (int l = 0; l < KALMAN_UT_LAYERS; l++) without.hit[l].variance = 0;
    const struct ref_fit r = ref_fit_track(&s.constants, &without);
    assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "ut_hits"))[i], 0);
    if (removed_of(t, i) == r.removed) assert_true(fabs(state_of(t, "qop", i) - r.state[4]) < 1e-2 * sqrt(r.c44));
  }
  sl_test_free(t);
}

static void ut_tracks_need_their_geometry(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 32, 0);
  struct sl_test *t = fit_new(&s, 0);
  give_ut_tracks(t, &s);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  sl_test_free(t);
}

static void assert_is_none(const struct sl_test *t, uint32_t i) {
  static const char *const states[] = {"x",   "y",   "z",   "tx",  "ty",  "qop", "c00",
                                       "c20", "c22", "c11", "c31", "c33", "chi2"};
  static const char *const fits[] = {"c44", "velo_chi2", "ut_chi2", "scifi_chi2", "x", "y", "tx", "ty"};
  for (size_t f = 0; f < sizeof states / sizeof states[0]; f++) assert_true(state_of(t, states[f], i) == 0);
  for (size_t f = 0; f < sizeof fits / sizeof fits[0]; f++) assert_true(fit_of(t, fits[f], i) == 0);
  assert_int_equal(ndof_of(t, i), 0);
  assert_int_equal(removed_of(t, i), 0);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[i], 0);
}

static void a_track_with_a_value_that_is_not_finite_has_zeros(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 41, 0);
  s.qop[0] = NAN, s.qop[1] = INFINITY;
  s.velo_x[s.velo_offsets[2]] = NAN, s.velo_y[s.velo_offsets[3] + 1] = INFINITY;
  s.scifi_x[scifi_hit_of(&s, 4, 3)] = NAN, s.scifi_z[scifi_hit_of(&s, 5, 0)] = INFINITY;
  s.ut_x[s.ut_offsets[s.ut_track[6]]] = NAN;
  struct sl_test *t = fit_new(&s, 1);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 7; i++) assert_is_none(t, i);
  for (uint32_t i = 7; i < TRACKS; i++) assert_true(ndof_of(t, i) > 5 && isfinite(state_of(t, "qop", i)));
  sl_test_free(t);
}

static void tracks_with_less_than_two_velo_hits_have_zeros(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 42, 0);
  s.velo_offsets[1] = 0, s.velo_offsets[2] = 1, s.velo_offsets[3] = 3; /* 0, 1 and 2 hits */
  struct sl_test *t = fit_new(&s, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_is_none(t, 0);
  assert_is_none(t, 1);
  for (uint32_t i = 2; i < TRACKS; i++) assert_true(ndof_of(t, i) > 0 && fit_of(t, "c44", i) > 0);
  sl_test_free(t);
}

/* Events that are not on the list keep what they had; the others have the same fits. */
static void events_are_independent(void **state) {
  static struct sample s;
  static const uint32_t list[] = {0, 3};
  (void)state;
  make_sample(&s, 43, 0.02);
  struct sl_test *all = fit_new(&s, 1), *some = fit_new(&s, 1);
  sl_test_list(some, list, 2);
  assert_int_equal(sl_test_run(all), 0);
  assert_int_equal(sl_test_run(some), 0);
  for (uint32_t i = 0; i < TRACKS; i++)
    if (i < event_tracks[1] || i >= event_tracks[3]) {
      assert_true(state_of(all, "qop", i) == state_of(some, "qop", i));
      assert_true(state_of(all, "chi2", i) == state_of(some, "chi2", i));
    }
  sl_test_free(all);
  sl_test_free(some);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fits_agree_with_double_precision),
      cmocka_unit_test(chi2_is_as_expected),
      cmocka_unit_test(a_hit_far_off_is_removed),
      cmocka_unit_test(a_fit_without_a_hit_is_accepted_if_it_is_better),
      cmocka_unit_test(tracks_do_not_need_the_ut),
      cmocka_unit_test(ut_tracks_need_their_geometry),
      cmocka_unit_test(a_track_with_a_value_that_is_not_finite_has_zeros),
      cmocka_unit_test(tracks_with_less_than_two_velo_hits_have_zeros),
      cmocka_unit_test(events_are_independent),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
