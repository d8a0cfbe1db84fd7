/* fit_ut.c: constants of the UT (fit.h). */
#include "fit.h"
#include "formulas.h"

#include <sluice/plugin.h>

#include <math.h>
#include <string.h>

/* Straight line through the true positions in the four layers. */
static struct line true_line(const struct calibration *c, const struct gun_track *t) {
  double sum_z = 0, sum_x = 0, sum_zz = 0, sum_zx = 0;
  for (uint32_t l = 0; l < UT_LAYERS; l++) {
    const double z = c->ut_z_layer[l] - c->ut_z_mid;
    sum_z += z;
    sum_x += t->ut[l].x;
    sum_zz += z * z;
    sum_zx += z * t->ut[l].x;
  }
  const double slope = (UT_LAYERS * sum_zx - sum_z * sum_x) / (UT_LAYERS * sum_zz - sum_z * sum_z);
  return (struct line){(sum_x - slope * sum_z) / UT_LAYERS, c->ut_z_mid, slope};
}

static const uint8_t powers_of_ty[][CALIBRATION_VARIABLES] = {{0}, {2}, {4}, {6}};

/* ------------------------------------------------------------------------------------------------ deflection */

static int fit_deflection(const struct derivation *d, uint32_t layer, struct calibration_polynomial *p) {
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->ut.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->ut.tracks[i];
    const double target = fabs(t->ut[layer].x - velo_x(t, gun_ut_z[layer])) * t->p;
    const struct point point = {.variables = {t->velo.ty}, .factor = 1, .target = target, .weight = 1};
    status = points_add(&points, &point);
  }
  *p = (struct calibration_polynomial){.count = 4};
  for (int k = 0; k < 4; k++) p->terms[k].power[0] = powers_of_ty[k][0];
  if (status == SL_OK) status = least_squares(&points, p, NULL);
  points_free(&points);
  return status;
}

/* Shift times momentum in each layer as a function of |ty|; the table has its inverse, relative to the mean at ty =
 * 0. */
static int derive_deflection(struct derivation *d) {
  struct calibration *c = d->c;
  struct calibration_polynomial shifts[UT_LAYERS];
  double mean = 0;
  for (uint32_t l = 0; l < UT_LAYERS; l++) {
    const int status = fit_deflection(d, l, &shifts[l]);
    if (status < 0) return status;
    mean += calibration_coefficient(&shifts[l], 0) / UT_LAYERS;
  }
  c->ut_deflection.axes[0] = (struct calibration_axis){0, 3, UT_LAYERS, 0};
  c->ut_deflection.axes[1] = (struct calibration_axis){0, 0.3, 31, 0};
  c->ut_deflection.axes[2] = (struct calibration_axis){0, 0, 1, 0};
  for (uint32_t bin = 0; bin < 31; bin++) {
    const double ty = 0.01 * bin;
    for (uint32_t l = 0; l < UT_LAYERS; l++)
      c->ut_deflection.at[bin * UT_LAYERS + l] = mean / calibration_sum(&shifts[l], &ty);
  }
  fit_note(d, "ut.deflection", "%u tracks, polynomials of ty^2", d->ut.count);
  return SL_OK;
}

/* The window is made for the smallest momentum of the search, and must contain all four hits of 99 % of the tracks
 * that pass the selection, with scattering and the errors of the VELO. */
static int derive_window(struct derivation *d) {
  const double share = 0.99, searched_p = 1250, searched_pt = 275; /* ut.search_windows */
  const double kept_pt = 400 / 1.3;                                /* ut.compass */
  struct numbers widest = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i];
    const double slope = hypot(t->velo.tx, t->velo.ty), p = fmax(searched_p, searched_pt / slope);
    double most = 0;
    if (t->p * slope < kept_pt) continue;
    for (uint32_t l = 0; l < UT_LAYERS; l++) {
      const double at[CALIBRATION_AXES] = {l, fabs(t->velo.ty)};
      const double shift = fabs(ut_hit_x(d->c, t, l) - velo_x(t, d->c->ut_z_layer[l]));
      most = fmax(most, shift * p * calibration_look_up(&d->c->ut_deflection, at));
    }
    status = numbers_add(&widest, most);
  }
  d->c->ut_dist_to_momentum = 1 / quantile(&widest, share);
  fit_note(d, "ut.dist_to_momentum", "%.0f %% of %zu simulated tracks", 100 * share, widest.count);
  numbers_free(&widest);
  return status;
}

/* ------------------------------------------------------------------------------------------ kink and integral */

static int derive_kink(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{0}, {2}, {4}, {1}, {3}};
  static const struct fit_terms terms = {powers, 3, 5, "mm GeV"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->ut.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->ut.tracks[i];
    const struct line before = {t->velo.x, gun_z_velo, t->velo.tx}, behind = true_line(d->c, t);
    const double kink = 1e-3 * fabs(before.slope - behind.slope) * t->p; /* GeV: parallel lines have no crossing */
    const struct point point = {
        .variables = {t->velo.ty}, .factor = 1, .target = crossing(&before, &behind), .weight = kink};
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "ut.z_kink_of_ty", &points, &terms, d->c->ut_z_kink_of_ty);
}

/* LHCb's values, since its discriminants were trained with a chi2 that contains these errors. */
static void set_kink_error(struct derivation *d) {
  static const double error[2] = {0.14, 0.12}, error_per_p[2] = {10000, 3000};
  memcpy(d->c->ut_kink_error, error, sizeof error);
  memcpy(d->c->ut_kink_error_per_p, error_per_p, sizeof error_per_p);
  fit_note(d, "ut.kink_error", "LHCb's, as the discriminants, which were trained with these errors");
}

/* Variables: slope ty, and height in the UT relative to that of a track from z = 0. Other origins shift the height
 * along the whole track. */
static const uint8_t integral_powers[][CALIBRATION_VARIABLES] = {{0, 0}, {0, 2}, {0, 4}, {0, 6}, {0, 8}, {2, 0},
                                                                 {2, 2}, {1, 0}, {0, 1}, {0, 3}, {1, 2}};
static void integral_variables(const struct calibration *c, double ty, double z_origin, double variables[2]) {
  const double edge = 0.265; /* no tracks beyond the UT: constant */
  const double height = ty * (1 - z_origin / c->ut_z_mid);
  variables[0] = fmax(-edge, fmin(edge, ty));
  variables[1] = fmax(-edge, fmin(edge, height));
}

static const uint32_t last_round = 5;

/* Fits the integral. Round 0 uses relative errors. Later rounds give a point less weight the farther it is from the
 * result of the round before, which moves the result from the mean to the median. The note is from round 0. */
static int fit_integral(struct derivation *d, struct calibration_polynomial *p, uint32_t round) {
  static const struct fit_terms terms = {integral_powers, 7, 11, "of 1"};
  const double least = 0.003, smallest = 0.03; /* T m: near the poles the integral almost vanishes */
  struct points points = {0};
  struct derivation other = {.c = d->c}; /* receives the notes of later rounds */
  int status = SL_OK;
  for (uint32_t i = 0; i < d->ut.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->ut.tracks[i];
    struct ut_line line;
    ut_second_fit(d->c, t, &line);
    const double target = -1e-3 * d->c->ut_kick_to_mev * line.kink / q_over_p(t), ty = t->velo.ty;
    const double values[CALIBRATION_AXES] = {ty, ut_z_origin(t), 0};
    const double missed = fabs(calibration_look_up(&d->c->ut_integral, values) / target - 1);
    const double weight = round == 0 ? 1 : sqrt(least / fmax(missed, least));
    struct point point = {.factor = 1, .target = target, .weight = weight / fmax(target, smallest)};
    integral_variables(d->c, ty, values[1], point.variables);
    status = points_add(&points, &point);
  }
  return fit_points(round == 0 ? d : &other, status, "ut.integral", &points, &terms, p);
}

/* ut_second_fit needs an approximate integral: round 0 starts from a constant. */
static int derive_integral(struct derivation *d) {
  struct calibration_table *table = &d->c->ut_integral;
  const struct calibration_axis axes[CALIBRATION_AXES] = {{-0.3, 0.3, 31, 0}, {-250, 250, 11, 0}, {0, 0, 1, 0}};
  const double first_guess = 0.1;
  for (uint32_t k = 0; k < CALIBRATION_AXES; k++) table->axes[k] = axes[k];
  for (uint32_t i = 0; i < axes[0].count * axes[1].count; i++) table->at[i] = first_guess;
  for (uint32_t round = 0; round <= last_round; round++) {
    struct calibration_polynomial p;
    const int status = fit_integral(d, &p, round);
    if (status < 0) return status;
    for (uint32_t i = 0; i < axes[0].count * axes[1].count; i++) {
      const uint32_t column = i % axes[0].count, row = i / axes[0].count;
      const double ty = axes[0].low + calibration_step(&axes[0]) * column;
      const double z = axes[1].low + calibration_step(&axes[1]) * row;
      double values[CALIBRATION_VARIABLES] = {0};
      integral_variables(d->c, ty, z, values);
      table->at[i] = calibration_sum(&p, values);
    }
  }
  return SL_OK;
}

int derive_ut(struct derivation *d) {
  int status = derive_deflection(d);
  if (status == SL_OK) status = derive_kink(d);
  if (status == SL_OK) status = derive_window(d);
  set_kink_error(d);
  return status == SL_OK ? derive_integral(d) : status;
}
