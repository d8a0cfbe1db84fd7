/* closure_test.c: accuracy of the constants of the repository for tracks of known momentum. */
#include "closure.h"

#include "formulas.h"
#include "support.h"
#include "transport/magnet.h"

#include <math.h>

enum { SHOTS = 10000 };

/* The median is within `miss` of `about`, and the width is below `width`; for windows, the share inside is at least
 * `about`. */
struct limit {
  const char *name;
  double about, miss, width;
};

static void holds(const struct closure *closure, const struct limit *limits, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct limit *l = &limits[i];
    const struct closure_row *row = closure_find(closure, l->name);
    if (!row) fail_msg("there is no %s", l->name);
    if (row->is_window) {
      if (row->inside < l->about) fail_msg("%s: %.4f inside", l->name, row->inside);
      continue;
    }
    if (fabs(row->median - l->about) > l->miss || row->width > l->width || row->count < 100)
      fail_msg("%s: median %.4g, width %.4g, of %u", l->name, row->median, row->width, row->count);
  }
}
#define HOLDS(closure, limits) holds(closure, limits, sizeof limits / sizeof limits[0])

static void measure(const char *constants, enum gun_kind kind, struct closure *closure) {
  struct calibration *c = calibration_of(constants);
  struct gun_sample sample = sample_of(kind, SHOTS);
  assert_int_equal(closure_measure(c, &sample, closure), 0);
  free(sample.tracks);
  free(c);
}

static void nominal_constants_describe_exact_tracks(void **state) {
  (void)state;
  static const struct limit limits[] = {
      {"forward p", 0, 0.01, 0.02},
      {"forward p, 3-5 GeV", 0, 0.02, 0.02},
      {"forward p, 5-10 GeV", 0, 0.02, 0.02},
      {"forward p, 10-20 GeV", 0, 0.02, 0.02},
      {"forward p, 20-100 GeV", 0, 0.02, 0.02},
      {"forward p, |tx| > 0.15", 0, 0.05, 0.1},
      {"forward p, |ty| > 0.15", 0, 0.05, 0.15},
      {"matching p", 0, 0.02, 0.1},
      {"matching p, 20-100 GeV", 0, 0.05, 0.1},
      {"matching p, |tx| > 0.15", 0, 0.1, 0.4},
      {"matching p, |ty| > 0.15", 0, 0.15, 0.5},
      {"matching distance in x", 0, 0.3, 3},
      {"matching distance in y", 0, 0.5, 6},
      {"z of the magnet", 6.4, 1.5, 12},
      {"cubic over quadratic", -26.8, 0.3, 2},
      {"cubic over quadratic, minus formula", 0, 0.3, 0.8},
      {"curvature times p", 0.0258, 0.0004, 0.0040},
      {"sagitta, seed 0, p > 5 GeV", 0, 0.02, 0.12},
      {"sagitta, seed 1, p > 5 GeV", 0, 0.02, 0.12},
      {"x at the magnet, seed 0, p > 5 GeV", 0, 1, 6},
      {"x at the magnet, seed 1, p > 5 GeV", 0, 1, 3},
      {"y in layer 0", 0, 0.02, 0.15},
      {"y in layer 4", 0, 0.02, 0.2},
      {"y in layer 11", 0, 0.02, 0.25},
      {"forward x in T1, outwards", 0, 5, 15},
      {"forward x in T3, outwards", 0, 10, 25},
      {"UT p", 0, 0.2, 2},
      {"UT p, |ty| < 0.05", 0, 0.3, 1.2},
      {"UT p, |ty| 0.1-0.2", 0, 1.5, 5},
      {"UT p, |ty| > 0.2", 0, 2, 6},
      {"UT deflection, layer 0", -38.7, 1, 1}, /* relative to half a window */
      {"UT deflection, layer 3", -38.7, 1, 1},
      {"x in UT layer 3 by matching's p", 0, 0.05, 0.6},
      {"seed's p", 0, 0.1, 0.5},
      {"seeding 1/p", -1.7, 0.5, 4},
      {"seeding last hit, p > 3 GeV", 0.98, 0, 0},
      {"seeding third hit, p > 3 GeV", 0.98, 0, 0},
  };
  struct closure closure;
  measure("nominal.calibration", GUN_EXACT, &closure);
  HOLDS(&closure, limits);
}

/* Momentum at the origin: energy loss before the magnet shifts slow tracks. */
static void nominal_constants_describe_simulated_tracks(void **state) {
  (void)state;
  static const struct limit limits[] = {
      {"forward p", 0, 0.2, 1},
      {"forward p, 3-5 GeV", 0, 0.3, 1},
      {"matching p", 0, 0.2, 1},
      {"UT p", 0, 4, 40},
      {"forward window, T1", 0.94, 0, 0},
      {"forward window, T3", 0.92, 0, 0},
      {"x range at the magnet", 0.91, 0, 0},
      {"border without UT, T3", 0.98, 0, 0},
      {"seeding last hit, p > 3 GeV", 0.98, 0, 0},
      {"seeding third hit, p > 3 GeV", 0.98, 0, 0},
      {"seeding other hits, p > 3 GeV", 0.98, 0, 0},
      {"seeding stereo hits, p > 3 GeV", 0.97, 0, 0},
      {"matching chi2", 0.97, 0, 0},
  };
  struct closure closure;
  measure("nominal.calibration", GUN_SIMULATED, &closure);
  HOLDS(&closure, limits);
}

/* LHCb's constants, to which the field was fitted: quality of the fit. */
static void lhcb_constants_describe_tracks_in_the_field(void **state) {
  (void)state;
  static const struct limit limits[] = {
      {"forward p", -0.02, 0.03, 0.26},
      {"forward p, 3-5 GeV", -0.21, 0.03, 0.28},
      {"forward p, 5-10 GeV", -0.04, 0.03, 0.2},
      {"forward p, 10-20 GeV", 0.02, 0.04, 0.2},
      {"forward p, 20-100 GeV", 0.06, 0.04, 0.2},
      {"forward p, |tx| > 0.15", 0.26, 0.06, 0.45},
      {"forward p, |ty| > 0.15", 0.44, 0.06, 0.45},
      {"matching p", -0.12, 0.02, 0.16},
      {"matching distance in x", 0, 0.3, 4},
      {"z of the magnet", 1.1, 1, 14},
      {"cubic over quadratic", -26.8, 0.3, 1.9},
      {"cubic over quadratic, minus formula", 1, 0.15, 0.8},
      {"curvature times p", 0.0258, 0.0004, 0.0036},
      {"sagitta, seed 0, p > 5 GeV", 0, 0.02, 0.18},
      {"sagitta, seed 1, p > 5 GeV", 0, 0.02, 0.18},
      {"y in layer 0", 0, 0.02, 0.45},
      {"y in layer 4", 0, 0.02, 0.5},
      {"y in layer 11", 0, 0.1, 0.6},
      {"forward x in T1, outwards, from the true state in the UT", -8, 2, 14},
      {"forward x in T2, outwards, from the true state in the UT", -29, 2, 21},
      {"forward x in T3, outwards, from the true state in the UT", -44, 2, 28},
      {"UT p", 1.2, 0.7, 3.2},
      {"UT p, |ty| > 0.2", 54, 10, 40},
  };
  struct closure closure;
  measure("lhcb.calibration", GUN_DETECTOR, &closure);
  HOLDS(&closure, limits);
}

/* --------------------------------------------------------------------------------------------- LHCb's tables */

/* Mean, root mean square and largest of differences. */
struct spread {
  double sum, squares, largest, count;
};
static void add(struct spread *s, double difference) {
  s->sum += difference;
  s->squares += difference * difference;
  s->largest = fmax(s->largest, fabs(difference));
  s->count += 1;
}

/* Integral of By and its first moment along a line x = 0, y = ty (z - origin), to z = `end`, for polarity up: T m, T m
 * mm. */
static void integrate(double ty, double origin, double begin, double end, double *integral, double *moment) {
  const int parts = (int)((end - begin) / 20) + 1;
  const double step = (end - begin) / parts;
  *integral = *moment = 0;
  for (int i = 0; i < parts; i++) {
    const double z = begin + (i + 0.5) * step, place[3] = {0, ty * (z - origin), z};
    double field[3];
    sim_magnet_field(SIM_POLARITY_UP, place, field);
    *integral += 1e-3 * step * field[1];
    *moment += 1e-3 * step * field[1] * (end - z);
  }
}

/* The table of integrals is the integral of the field along straight lines to the middle of the UT. */
static void lhcb_integrals_agree_with_the_field(void **state) {
  (void)state;
  struct calibration *c = calibration_of("lhcb.calibration");
  struct spread spread = {0};
  for (uint32_t i = 0; i < 31 * 11 * 11; i++) {
    const uint32_t column = i % 31, row = i / 31 % 11, slice = i / (31 * 11);
    double integral, moment;
    const double ty = -0.3 + 0.02 * column, origin = -250.0 + 50 * row, z_velo = 80.0 * slice;
    if (fabs(ty) > 0.205) continue; /* beyond, and near the poles, they differ: by 0.01 T m in the corners */
    integrate(ty, origin, z_velo, c->ut_z_mid, &integral, &moment);
    add(&spread, integral - c->ut_integral.at[i]);
  }
  const double rms = sqrt(spread.squares / spread.count);
  print_message("integrals: mean %.5f, rms %.5f, largest %.5f T m\n", spread.sum / spread.count, rms, spread.largest);
  assert_true(fabs(spread.sum / spread.count) < 0.0001 && rms < 0.00065 && spread.largest < 0.0025);
  free(c);
}

/* The table of deflections is the deflection in the middle of the UT divided by that in the layer, from a straight line
 * through z = 0. */
static void lhcb_deflections_agree_with_the_field(void **state) {
  (void)state;
  struct calibration *c = calibration_of("lhcb.calibration");
  struct spread spread = {0};
  for (uint32_t i = 0; i < 31 * UT_LAYERS; i++) {
    const uint32_t row = i / UT_LAYERS;
    const double ty = 0.01 * row;
    double integral, middle, layer;
    integrate(ty, 0, 0, c->ut_z_mid, &integral, &middle);
    integrate(ty, 0, 0, c->ut_z_layer[i % UT_LAYERS], &integral, &layer);
    add(&spread, middle / layer - c->ut_deflection.at[i]);
  }
  const double rms = sqrt(spread.squares / spread.count);
  print_message("deflections: rms %.4f, largest %.4f\n", rms, spread.largest);
  assert_true(rms < 0.012 && spread.largest < 0.03);
  free(c);
}

/* ------------------------------------------------------------------------------------------------ symmetry */

static void mirror(struct gun_state *s, double x, double y) {
  s->x *= x;
  s->tx *= x;
  s->y *= y;
  s->ty *= y;
}

/* Reflected in x, with the opposite charge, which equals the opposite polarity; or reflected in y. The detector is
 * reflected too: the measurements of its stereo layers change as x does. */
static struct gun_track mirrored(const struct gun_track *t, double x, double y) {
  struct gun_track m = *t;
  m.charge *= x;
  mirror(&m.velo, x, y);
  mirror(&m.end, x, y);
  for (int l = 0; l < UT_LAYERS; l++) {
    mirror(&m.ut[l], x, y);
    m.ut_measured[l] *= x;
  }
  for (int l = 0; l < SCIFI_LAYERS; l++) {
    mirror(&m.scifi[l], x, y);
    m.scifi_measured[l] *= x;
  }
  return m;
}

static double forward_of(const struct calibration *c, const struct gun_track *t) { return forward_q_over_p(c, t); }
static double matching_of(const struct calibration *c, const struct gun_track *t) {
  return matching_q_over_p(c, t, &t->end);
}
static double seed_of(const struct calibration *c, const struct gun_track *t) { return seeding_q_over_p(c, &t->end); }

static void momenta_are_symmetric(void **state) {
  (void)state;
  double (*const momenta[])(const struct calibration *, const struct gun_track *) = {forward_of, matching_of, seed_of,
                                                                                     ut_q_over_p};
  const double tolerances[] = {1e-9, 1e-9, 1e-9,
                               0.02}; /* the UT table is extrapolated from the lower corner of a bin, */
  const double steep = 0.2;           /* which matters where the integral falls off */
  struct calibration *c = calibration_of("nominal.calibration"), *other = calibration_of("nominal.calibration");
  struct gun_sample sample = sample_of(GUN_EXACT, 1000);
  for (int l = 0; l < UT_LAYERS; l++) other->ut_dxdy[l] = -c->ut_dxdy[l];
  for (int l = 0; l < SCIFI_LAYERS; l++) other->scifi_dxdy[l] = -c->scifi_dxdy[l];
  for (uint32_t i = 0; i < 4 * sample.count; i++) {
    const struct gun_track *t = &sample.tracks[i / 4];
    const double tolerance = tolerances[i % 4];
    if (i % 4 == 3 && fabs(t->velo.ty) > steep) continue;
    const struct gun_track in_x = mirrored(t, -1, 1), in_y = mirrored(t, 1, -1);
    const double found = momenta[i % 4](c, t), x = momenta[i % 4](other, &in_x), y = momenta[i % 4](other, &in_y);
    if (fabs(x / found + 1) > tolerance || fabs(y / found - 1) > tolerance)
      fail_msg("momentum %u of track %u: %g and %g off", i % 4, i / 4, x / found + 1, y / found - 1);
  }
  free(sample.tracks);
  free(c);
  free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nominal_constants_describe_exact_tracks),
      cmocka_unit_test(nominal_constants_describe_simulated_tracks),
      cmocka_unit_test(lhcb_constants_describe_tracks_in_the_field),
      cmocka_unit_test(lhcb_integrals_agree_with_the_field),
      cmocka_unit_test(lhcb_deflections_agree_with_the_field),
      cmocka_unit_test(momenta_are_symmetric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
