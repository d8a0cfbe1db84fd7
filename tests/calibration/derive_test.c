/* derive_test.c: constants derived from few tracks. */
#include "calibration/read.h"
#include "fit.h"
#include "support.h"
#include "write.h"

#include <sluice/plugin.h>

#include <math.h>

enum { SHOTS = 3000 };

static int derive(struct derivation *d, uint32_t shots) {
  const struct gun_settings exact = {GUN_EXACT, 5, 2500, 1e5, 2, 5, 60, 0},
                            ut = {GUN_EXACT, 6, 2500, 1e5, 1.7, 5, 120, 1};
  const struct gun_settings simulated = {GUN_SIMULATED, 7, 3000, 1e5, 2, 5, 60, 0};
  memset(d, 0, sizeof *d);
  d->c = (struct calibration *)calloc(1, sizeof *d->c);
  assert_non_null(d->c);
  assert_int_equal(gun_shoot(&exact, shots, &d->exact), 0);
  assert_int_equal(gun_shoot(&ut, shots, &d->ut), 0);
  assert_int_equal(gun_shoot(&simulated, shots, &d->simulated), 0);
  derive_begin(d->c);
  int status = derive_ut(d);
  if (status == SL_OK) status = derive_forward(d);
  if (status == SL_OK) status = derive_seeding(d);
  return status == SL_OK ? derive_matching(d) : status;
}

static void end(struct derivation *d) {
  free(d->exact.tracks);
  free(d->ut.tracks);
  free(d->simulated.tracks);
  free(d->c);
}

/* Terms that symmetry forbids have coefficients compatible with 0, and the constants equal those of the large sample
 * except for statistics. */
static void few_tracks_give_similar_constants(void **state) {
  (void)state;
  struct derivation d;
  struct calibration *nominal = calibration_of("nominal.calibration");
  assert_int_equal(derive(&d, SHOTS), SL_OK);
  print_message("terms that symmetry forbids are 0 within %.1f errors\n", d.worst_forbidden);
  assert_true(d.worst_forbidden > 0 && d.worst_forbidden < 5);
  assert_true(fabs(d.c->forward_z_magnet - nominal->forward_z_magnet) < 5);
  assert_true(fabs(d.c->seeding_d_ratio / nominal->seeding_d_ratio - 1) < 0.01);
  assert_true(fabs(d.c->ut_dist_to_momentum / nominal->ut_dist_to_momentum - 1) < 0.1); /* error of the 1 % quantile */
  assert_true(fabs(d.c->seeding_three_hit[1] / nominal->seeding_three_hit[1] - 1) < 0.02);
  for (int k = 0; k < 3; k++) assert_true(fabs(d.c->matching_weights[k] / nominal->matching_weights[k] - 1) < 0.3);
  for (int l = 0; l < 4; l++) assert_true(fabs(d.c->ut_deflection.at[l] / nominal->ut_deflection.at[l] - 1) < 0.01);
  free(nominal);
  end(&d);
}

/* The discriminants are LHCb's, and limit a chi2 with these errors. */
static void nominal_discriminants_and_kink_errors_equal_lhcbs(void **state) {
  (void)state;
  struct calibration *nominal = calibration_of("nominal.calibration"), *lhcb = calibration_of("lhcb.calibration");
  for (int k = 0; k < 4; k++) {
    assert_true(fabs(nominal->ut_discriminant_3[k] - lhcb->ut_discriminant_3[k]) < 1e-9);
    assert_true(fabs(nominal->ut_discriminant_4[k] - lhcb->ut_discriminant_4[k]) < 1e-9);
  }
  assert_memory_equal(nominal->ut_kink_error, lhcb->ut_kink_error, sizeof lhcb->ut_kink_error);
  assert_memory_equal(nominal->ut_kink_error_per_p, lhcb->ut_kink_error_per_p, sizeof lhcb->ut_kink_error_per_p);
  free(nominal);
  free(lhcb);
}

/* The file has the derived numbers to nine digits, and the tables to six. */
static void written_constants_are_read_back(void **state) {
  (void)state;
  struct derivation d;
  struct calibration *again = (struct calibration *)calloc(1, sizeof *again);
  char reason[256] = "", *text = NULL;
  size_t bytes = 0;
  assert_non_null(again);
  assert_int_equal(derive(&d, SHOTS), SL_OK);
  FILE *file = open_memstream(&text, &bytes);
  assert_non_null(file);
  calibration_write(file, &d);
  assert_int_equal(fclose(file), 0);
  const uint32_t line = calibration_read(text, bytes, again, reason, sizeof reason);
  if (line != 0) fail_msg("%u: %s", line, reason);
  assert_string_equal(again->name, "nominal");
#define SAME(member, name) assert_true(fabs(again->member - d.c->member) <= 1e-9 * fabs(d.c->member));
  CALIBRATION_VALUES(SAME)
#undef SAME
  for (uint32_t i = 0; i < d.c->forward_bend->count; i++) {
    const struct calibration_term *a = &d.c->forward_bend->terms[i], *b = &again->forward_bend->terms[i];
    assert_memory_equal(a->power, b->power, sizeof a->power);
    assert_true(fabs(a->coefficient - b->coefficient) <= 1e-9 * fabs(a->coefficient));
  }
  for (uint32_t i = 0; i < 31 * 11; i++)
    assert_true(fabs(again->ut_integral.at[i] - d.c->ut_integral.at[i]) <= 1e-5 * fabs(d.c->ut_integral.at[i]));
  free(again);
  free(text);
  end(&d);
}

static void too_few_tracks_are_refused(void **state) {
  (void)state;
  struct derivation d;
  assert_int_equal(derive(&d, 10), SL_EINVAL);
  end(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_tracks_give_similar_constants),
      cmocka_unit_test(nominal_discriminants_and_kink_errors_equal_lhcbs),
      cmocka_unit_test(written_constants_are_read_back),
      cmocka_unit_test(too_few_tracks_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
