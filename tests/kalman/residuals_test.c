/* residuals_test.c: kalman.residuals against fit_reference.h and the chi2 of kalman.fit; removed hits; tracks without
 * UT and without a fit; events without tracks. */
#include "track_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Runs kalman.fit, and kalman.residuals with its fits. */
struct both {
  struct sl_test *fit, *residuals;
};

static void give_fits(struct sl_test *t, const uint8_t *velo_hits, const uint64_t *removed) {
  sl_test_input(t, "fits", "velo_hits", velo_hits, TRACKS);
  sl_test_input(t, "fits", "removed", removed, TRACKS);
}

static struct both run_both(const struct sample *s, int with_ut, uint32_t block) {
  const struct both b = {fit_new(s, with_ut), sample_new("residuals", s, with_ut)};
  assert_int_equal(sl_test_run(b.fit), 0);
  give_fits(b.residuals, sl_test_output(b.fit, "fits", "velo_hits"), sl_test_output(b.fit, "fits", "removed"));
  sl_test_block(b.residuals, block);
  assert_int_equal(sl_test_run(b.residuals), 0);
  return b;
}

static void both_free(struct both b) {
  sl_test_free(b.fit);
  sl_test_free(b.residuals);
}

static uint32_t offset_of(const struct sl_test *t, uint32_t event) {
  return ((const uint32_t *)sl_test_output(t, "residuals", "offsets"))[event];
}
static uint32_t track_of(const struct sl_test *t, uint32_t m) {
  return ((const uint32_t *)sl_test_output(t, "residuals", "track"))[m];
}
static uint8_t byte_of(const struct sl_test *t, const char *field, uint32_t m) {
  return ((const uint8_t *)sl_test_output(t, "residuals", field))[m];
}
static double number_of(const struct sl_test *t, const char *field, uint32_t m) {
  return (double)((const float *)sl_test_output(t, "residuals", field))[m];
}

static uint32_t event_of(uint32_t track) {
  uint32_t event = 0;
  while (event_tracks[event + 1] <= track) event++;
  return event;
}

/* Returns the first measurement of a track, or of the first later track of the event that has some. */
static uint32_t first_of(const struct sl_test *t, uint32_t track) {
  const uint32_t event = event_of(track);
  uint32_t m = offset_of(t, event);
  while (m < offset_of(t, event + 1) && track_of(t, m) < track - event_tracks[event]) m++;
  return m;
}

/* Differences from the reference: residuals and errors in units of the error, z in mm. */
struct differences {
  double residual, error, z;
  uint32_t measurements, removed;
};

static void compare_track(const struct sl_test *t, uint32_t i, const struct ref_fit *r, struct differences *d) {
  const uint32_t first = first_of(t, i), event = event_of(i);
  assert_true(r->measured > 0 && first + (uint32_t)r->measured <= offset_of(t, event + 1));
  for (int n = 0; n < r->measured; n++) {
    const uint32_t m = first + (uint32_t)n;
    const struct ref_measurement *expected = &r->measurement[n];
    const double error = sqrt(expected->variance);
    assert_int_equal(track_of(t, m), i - event_tracks[event]);
    assert_int_equal(byte_of(t, "layer", m), expected->layer);
    assert_int_equal(byte_of(t, "is_removed", m), expected->is_removed);
    d->residual = fmax(d->residual, fabs(number_of(t, "residual", m) - expected->residual) / error);
    d->error = fmax(d->error, fabs(number_of(t, "error", m) / error - 1));
    d->z = fmax(d->z, fabs(number_of(t, "z", m) - expected->z));
    d->removed += (uint32_t)expected->is_removed;
  }
  d->measurements += (uint32_t)r->measured;
}

static void assert_agree(const struct sl_test *t, const struct differences *d) {
  assert_int_equal(d->measurements, offset_of(t, EVENTS));
  if (!(d->residual < 0.005 && d->error < 5e-4 && d->z < 1e-3))
    fail_msg("residual: %g of its error, error: %g, z: %g mm", d->residual, d->error, d->z);
}

static void residuals_agree_with_double_precision(void **state) {
  static struct sample s;
  (void)state;
  for (uint32_t pass = 0; pass < 2; pass++) {
    struct differences d = {0, 0, 0, 0, 0};
    make_sample(&s, 5 + pass, pass ? 0.06 : 0.01);
    const struct both b = run_both(&s, 1, pass ? 256 : 32);
    for (uint32_t i = 0; i < TRACKS; i++) {
      const struct ref_fit r = ref_once(&s.constants, &s.reference[i], removed_of(b.fit, i));
      compare_track(b.residuals, i, &r, &d);
    }
    assert_agree(b.residuals, &d);
    assert_true(d.removed > (pass ? 300u : 40u));
    both_free(b);
  }
}

static void tracks_do_not_need_the_ut(void **state) {
  static struct sample s;
  struct differences d = {0, 0, 0, 0, 0};
  (void)state;
  make_sample(&s, 31, 0.02);
  const struct both b = run_both(&s, 0, 64);
  for (uint32_t i = 0; i < TRACKS; i++) {
    struct ref_track without = s.reference[i];
    for (int l = 0; l < KALMAN_UT_LAYERS; l++) without.hit[l].variance = 0;
    const struct ref_fit r = ref_once(&s.constants, &without, removed_of(b.fit, i));
    compare_track(b.residuals, i, &r, &d);
  }
  assert_agree(b.residuals, &d);
  both_free(b);
}

/* The filter is that of the fit: the sums of squares of pulls are its chi2. */
static void squares_of_pulls_add_up_to_chi2(void **state) {
  static const char *const fields[] = {"velo_chi2", "ut_chi2", "scifi_chi2"};
  static struct sample s;
  (void)state;
  make_sample(&s, 11, 0.03);
  const struct both b = run_both(&s, 1, 64);
  for (uint32_t i = 0; i < TRACKS; i++) {
    double chi2[3] = {0, 0, 0};
    const uint32_t end = offset_of(b.residuals, event_of(i) + 1), track = i - event_tracks[event_of(i)];
    for (uint32_t m = first_of(b.residuals, i); m < end && track_of(b.residuals, m) == track; m++) {
      const uint32_t layer = byte_of(b.residuals, "layer", m);
      const double pull = number_of(b.residuals, "residual", m) / number_of(b.residuals, "error", m);
      if (!byte_of(b.residuals, "is_removed", m)) chi2[layer < 2 ? 0 : layer < 6 ? 1 : 2] += pull * pull;
    }
    for (int k = 0; k < 3; k++) {
      const double expected = (double)((const float *)sl_test_output(b.fit, "fits", fields[k]))[i];
      if (fabs(chi2[k] - expected) > 1e-5 * expected + 1e-9)
        fail_msg("track %u: %s is %.9g, pulls give %.9g", i, fields[k], expected, chi2[k]);
    }
  }
  both_free(b);
}

/* --------------------------------------------------------------------------------------------- removed hits */

static void a_removed_hit_has_its_distance_from_the_others(void **state) {
  static struct sample s;
  uint32_t removed = 0;
  (void)state;
  make_sample(&s, 21, 0);
  s.scifi_x[scifi_hit_of(&s, 1, 7)] += 4;
  s.velo_x[s.velo_offsets[9] + 5] += 0.5f; /* of 12 hits: number 6 by ascending z */
  const struct both b = run_both(&s, 1, 64);
  for (uint32_t m = first_of(b.residuals, 1); m < first_of(b.residuals, 2); m++) {
    const double off = byte_of(b.residuals, "layer", m) == 6 + 7 ? 4 : 0, error = number_of(b.residuals, "error", m);
    assert_true(fabs(number_of(b.residuals, "residual", m) - off) < 5 * error);
    if (off > 0) assert_true(error < 0.5);
    if (off > 0) assert_int_equal(byte_of(b.residuals, "is_removed", m), 1);
  }
  for (uint32_t m = first_of(b.residuals, 9); m < first_of(b.residuals, 10); m++) {
    if (!byte_of(b.residuals, "is_removed", m) || byte_of(b.residuals, "layer", m) > 1) continue;
    const double off = byte_of(b.residuals, "layer", m) == 0 ? 0.5 : 0;
    assert_true(fabs(number_of(b.residuals, "residual", m) - off) < 5 * number_of(b.residuals, "error", m));
    assert_int_equal(m - first_of(b.residuals, 9), 2 * (6 - 1) + (off > 0 ? 0u : 1u));
    removed++;
  }
  assert_int_equal(removed, 2);
  both_free(b);
}

/* kalman.fit never removes the first VELO hit; another algorithm may. */
static void any_two_hits_can_be_removed(void **state) {
  static struct sample s;
  static uint8_t velo_hits[TRACKS];
  static uint64_t removed[TRACKS];
  struct differences d = {0, 0, 0, 0, 0};
  (void)state;
  make_sample(&s, 23, 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const uint32_t last = (uint32_t)s.reference[i].velo_count - 1;
    const uint64_t pairs[] = {(uint64_t)1 | (uint64_t)1 << last, (uint64_t)1 << last | (uint64_t)1 << KALMAN_UT_BIT,
                              (uint64_t)1 | (uint64_t)1 << (KALMAN_SCIFI_BIT + 11),
                              (uint64_t)1 << KALMAN_SCIFI_BIT | (uint64_t)1 << (KALMAN_SCIFI_BIT + 1), 3};
    removed[i] = last > 3 ? pairs[i % 5] : 1; /* two VELO hits must remain */
    velo_hits[i] = (uint8_t)last;
  }
  struct sl_test *t = sample_new("residuals", &s, 1);
  give_fits(t, velo_hits, removed);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const struct ref_fit r = ref_once(&s.constants, &s.reference[i], removed[i]);
    int skipped = 0; /* removed hits below the first used one have no prediction */
    while (removed[i] >> skipped & 1) skipped++;
    for (int n = 0; n < r.measured; n++) assert_true(r.measurement[n].z > s.reference[i].velo[skipped][2]);
    compare_track(t, i, &r, &d);
  }
  assert_agree(t, &d);
  sl_test_free(t);
}

/* ---------------------------------------------------------------------------------------------- odd events */

static void a_track_without_a_fit_has_no_measurements(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 41, 0);
  s.qop[0] = NAN;
  s.velo_x[s.velo_offsets[2]] = INFINITY;
  s.scifi_x[scifi_hit_of(&s, 4, 3)] = NAN;
  for (uint32_t i = event_tracks[2]; i < event_tracks[3]; i++) s.qop[i] = NAN; /* all tracks of an event */
  const struct both b = run_both(&s, 1, 64);
  for (uint32_t m = offset_of(b.residuals, 0); m < offset_of(b.residuals, 1); m++) {
    const uint32_t track = track_of(b.residuals, m);
    assert_true(track != 0 && track != 2 && track != 4 && isfinite(number_of(b.residuals, "residual", m)));
  }
  assert_int_equal(track_of(b.residuals, first_of(b.residuals, 1)), 1);
  assert_int_equal(track_of(b.residuals, first_of(b.residuals, 3)), 3);
  assert_int_equal(offset_of(b.residuals, 2), offset_of(b.residuals, 3));
  assert_true(offset_of(b.residuals, 4) > offset_of(b.residuals, 3));
  both_free(b);
}

static void events_are_independent(void **state) {
  static const uint32_t list[] = {1, 2};
  static struct sample s;
  (void)state;
  make_sample(&s, 43, 0.02);
  const struct both all = run_both(&s, 1, 64);
  struct sl_test *some = sample_new("residuals", &s, 1);
  give_fits(some, sl_test_output(all.fit, "fits", "velo_hits"), sl_test_output(all.fit, "fits", "removed"));
  sl_test_list(some, list, 2);
  assert_int_equal(sl_test_run(some), 0);
  assert_int_equal(offset_of(all.residuals, 1), offset_of(all.residuals, 2)); /* no tracks */
  const uint32_t first = offset_of(all.residuals, 2), count = offset_of(all.residuals, 3) - first;
  assert_true(count > 3 * 12);
  for (uint32_t event = 0; event <= EVENTS; event++) assert_int_equal(offset_of(some, event), event < 3 ? 0 : count);
  for (uint32_t m = 0; m < count; m++) {
    assert_int_equal(track_of(some, m), track_of(all.residuals, first + m));
    assert_true(number_of(some, "residual", m) == number_of(all.residuals, "residual", first + m));
    assert_true(number_of(some, "error", m) == number_of(all.residuals, "error", first + m));
  }
  sl_test_free(some);
  both_free(all);
}

static void nothing_is_written_if_measurements_exceed_the_capacity(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 44, 0);
  const struct both b = run_both(&s, 1, 64);
  const uint32_t count = offset_of(b.residuals, EVENTS);
  sl_test_budget(b.residuals, "residuals", count - 1);
  assert_int_equal(sl_test_run(b.residuals), 0);
  assert_int_equal(sl_test_used(b.residuals, "residuals"), count);
  for (uint32_t event = 0; event <= EVENTS; event++) assert_int_equal(offset_of(b.residuals, event), 0);
  both_free(b);
}

static void ut_tracks_need_their_geometry(void **state) {
  static const uint8_t velo_hits[TRACKS];
  static const uint64_t removed[TRACKS];
  static struct sample s;
  (void)state;
  make_sample(&s, 32, 0);
  struct sl_test *t = sample_new("residuals", &s, 0);
  give_fits(t, velo_hits, removed);
  give_ut_tracks(t, &s);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(residuals_agree_with_double_precision),
      cmocka_unit_test(tracks_do_not_need_the_ut),
      cmocka_unit_test(squares_of_pulls_add_up_to_chi2),
      cmocka_unit_test(a_removed_hit_has_its_distance_from_the_others),
      cmocka_unit_test(any_two_hits_can_be_removed),
      cmocka_unit_test(a_track_without_a_fit_has_no_measurements),
      cmocka_unit_test(events_are_independent),
      cmocka_unit_test(nothing_is_written_if_measurements_exceed_the_capacity),
      cmocka_unit_test(ut_tracks_need_their_geometry),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
