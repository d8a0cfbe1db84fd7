/* fit_matching.c: constants of seeding and matching (fit.h). */
#include "fit.h"
#include "formulas.h"
#include "transport/magnet.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdio.h>

static const double polarity = SIM_POLARITY_DOWN;
enum { SEEDS = 2 };

/* ------------------------------------------------------------------------------------------------- seeding */

/* |x| at z = 0 of the line through the first and the last hit, for momentum p. */
static double shift_of(const struct calibration *c, double p) {
  const double p1 = calibration_coefficient(c->seeding_inverse_p, 1);
  const double p2 = calibration_coefficient(c->seeding_inverse_p, 2);
  return (-p1 + sqrt(p1 * p1 + 4 * p2 / p)) / (2 * p2);
}

/* The x of the last hit is expected at x_first (z_last + (alpha_0 / k) / (p - alpha_1)) / z_first, within the shift
 * of a bent track. Tracks that bend away from the axis shift more than others; alpha makes both sides of the window
 * equal. */
static int derive_alpha(struct derivation *d) {
  enum { BINS = 12 };
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{0}, {1}};
  static const struct fit_terms terms = {powers, 2, 2, "of 1"};
  double over[BINS] = {0}, squares[BINS] = {0}, inverse[BINS] = {0};
  const double low = 1.0 / 20000, high = 1.0 / 2500;
  for (uint32_t i = 0; i < SEEDS * d->exact.count; i++) {
    const struct gun_track *t = &d->exact.tracks[i / SEEDS];
    const uint32_t *layers = seed_layers[i % SEEDS];
    struct seeding_search s;
    seeding_search_of(d->c, i % SEEDS, &s);
    const double first = t->scifi[layers[0]].x, last = t->scifi[layers[2]].x;
    const int bin = (int)((1 / t->p - low) / (high - low) * BINS);
    if (1 / t->p < low || bin >= BINS) continue;
    const double x0 = first - (last - first) * s.k, sign = x0 < 0 ? 1 : -1;
    over[bin] += first * (-x0 - sign * shift_of(d->c, t->p)) * s.z_first;
    squares[bin] += first * first;
    inverse[bin] += first * first / t->p;
  }
  struct points points = {0};
  struct calibration_polynomial line = {.count = 0};
  int status = SL_OK;
  for (int i = 0; i < BINS && status == SL_OK; i++) {
    const double p = squares[i] / inverse[i];
    const struct point point = {
        .variables = {p}, .factor = 1, .target = squares[i] / over[i], .weight = over[i] / squares[i]};
    status = points_add(&points, &point);
  }
  status = fit_points(d, status, "seeding.alpha", &points, &terms, &line);
  if (status < 0) return status;
  d->c->seeding_alpha[0] = 1 / line.terms[1].coefficient;
  d->c->seeding_alpha[1] = -line.terms[0].coefficient / line.terms[1].coefficient;
  return SL_OK;
}

static int derive_inverse_p(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{1}, {2}};
  static const struct fit_terms terms = {powers, 2, 2, "of 1"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < SEEDS * d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i / SEEDS];
    double x0, curvature;
    seeding_three_hits(d->c, t, i % SEEDS, &x0, &curvature);
    const struct point point = {.variables = {fabs(x0)}, .factor = 1, .target = 1 / t->p, .weight = t->p};
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "seeding.inverse_p", &points, &terms, d->c->seeding_inverse_p);
}

/* Curvature over 1/p, and its spread: 99 % within -2 and +1 of the unit. */
static int derive_three_hit(struct derivation *d) {
  struct calibration *c = d->c;
  double x0, curvature, sum = 0, squares = 0;
  for (uint32_t i = 0; i < SEEDS * d->exact.count; i++) {
    seeding_three_hits(c, &d->exact.tracks[i / SEEDS], i % SEEDS, &x0, &curvature);
    const double x = fabs(x0), inverse_p = calibration_sum(c->seeding_inverse_p, &x);
    sum += curvature * inverse_p;
    squares += inverse_p * inverse_p;
  }
  struct numbers left = {0};
  int status = SL_OK;
  c->seeding_three_hit[1] = sum / squares;
  for (uint32_t i = 0; i < SEEDS * d->simulated.count && status == SL_OK; i++) {
    seeding_three_hits(c, &d->simulated.tracks[i / SEEDS], i % SEEDS, &x0, &curvature);
    const double x = fabs(x0);
    status = numbers_add(&left, curvature - c->seeding_three_hit[1] * calibration_sum(c->seeding_inverse_p, &x));
  }
  c->seeding_three_hit[0] = fmax(quantile(&left, 0.995), -0.5 * quantile(&left, 0.005));
  fit_note(d, "seeding.three_hit", "99 %% of %zu simulated triplets", left.count);
  numbers_free(&left);
  return status;
}

static int derive_hit_tolerances(struct derivation *d) {
  struct numbers x = {0}, stereo = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i];
    status = numbers_add(&x, seeding_other_hits(d->c, t, 0));
    if (status == SL_OK) status = numbers_add(&x, seeding_other_hits(d->c, t, 1));
    if (status == SL_OK) status = numbers_add(&stereo, seeding_stereo_hits(d->c, t));
  }
  d->c->seeding_tolerance = quantile(&x, 0.99);
  d->c->seeding_uv_tolerance = quantile(&stereo, 0.99);
  fit_note(d, "seeding.tolerance", "99 %% of %zu simulated triplets", x.count);
  fit_note(d, "seeding.uv_tolerance", "99 %% of %zu simulated tracks", stereo.count);
  numbers_free(&x);
  numbers_free(&stereo);
  return status;
}

static int derive_seed_bend(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{0, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 0},
                                                          {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const struct fit_terms terms = {powers, 4, 7, "of 1"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    const double x0 = seeding_x0(d->c, &t->end), target = x0 / q_over_p(t) / (-1e6 * polarity);
    const struct point point = {
        .variables = {x0, t->end.tx, t->end.ty}, .factor = 1, .target = target, .weight = 1 / target};
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "seeding.bend", &points, &terms, d->c->seeding_bend);
}

int derive_seeding(struct derivation *d) {
  int status = derive_inverse_p(d);
  if (status == SL_OK) status = derive_alpha(d);
  if (status == SL_OK) status = derive_three_hit(d);
  if (status == SL_OK) status = derive_hit_tolerances(d);
  return status == SL_OK ? derive_seed_bend(d) : status;
}

/* ------------------------------------------------------------------------------------------------ matching */

static int derive_match_z(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0},
                                                          {0, 1, 0}, {0, 0, 2}, {0, 0, 1}};
  static const struct fit_terms terms = {powers, 5, 6, "mm"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    const struct line before = {t->velo.x, gun_z_velo, t->velo.tx}, behind = {t->end.x, gun_z_end, t->end.tx};
    const double dtx = fabs(t->velo.tx - t->end.tx);
    const struct point point = {.variables = {dtx, fabs(t->end.x), t->velo.tx},
                                .factor = 1,
                                .target = crossing(&before, &behind),
                                .weight = dtx}; /* the distance in x matters */
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "matching.z_magnet", &points, &terms, d->c->matching_z_magnet);
}

static int derive_match_bend(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 2, 0, 0}, {0, 4, 0, 0},
                                                          {0, 1, 1, 0}, {0, 0, 0, 2}, {0, 0, 0, 4}, {0, 0, 2, 0},
                                                          {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 1, 0, 2}};
  static const struct fit_terms terms = {powers, 8, 12, "of 1"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    struct point point = {.factor = 1};
    matching_variables(t, &t->end, point.variables);
    point.target = t->p * point.variables[0];
    point.weight = 1 / point.target;
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "matching.bend", &points, &terms, d->c->matching_bend);
}

static double root_of(double square) { return square > 0 ? sqrt(square) : 0; }

/* Squared distances as linear functions of squared slopes: 68 %. Limits: 99 %. */
static int derive_distances(struct derivation *d) {
  struct calibration *c = d->c;
  struct pairs xs = {0}, ys = {0};
  struct numbers x = {0}, y = {0}, slope = {0};
  double x_line[2] = {0}, y_line[2] = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i];
    struct seed_curve curve;
    struct gun_state end;
    seeding_fit(c, t, &curve);
    seeding_end_state(c, &curve, &end);
    const double dx = matching_distance_x(c, t, &end), dy = matching_distance_y(c, t, &end);
    const double dtx = t->velo.tx - end.tx, theta2 = t->velo.tx * t->velo.tx + t->velo.ty * t->velo.ty;
    status = pairs_add(&xs, dtx * dtx, dx * dx);
    if (status == SL_OK) status = pairs_add(&ys, theta2, dy * dy);
    if (status == SL_OK) status = numbers_add(&x, fabs(dx));
    if (status == SL_OK) status = numbers_add(&y, fabs(dy));
    if (status == SL_OK) status = numbers_add(&slope, fabs(t->velo.ty - end.ty));
  }
  if (status == SL_OK) status = quantile_line(&xs, 0.68, x_line);
  if (status == SL_OK) status = quantile_line(&ys, 0.68, y_line);
  for (int k = 0; k < 2; k++) {
    c->matching_x_tolerance[k] = root_of(x_line[k]);
    c->matching_y_tolerance[k] = root_of(y_line[k]);
  }
  c->matching_distance_x_max = quantile(&x, 0.99);
  c->matching_distance_y_max = quantile(&y, 0.99);
  c->matching_dty_max = quantile(&slope, 0.99);
  c->matching_weights[2] = 1 / (quantile(&slope, 0.68) * quantile(&slope, 0.68));
  fit_note(d, "matching.x_tolerance", "68 %% of %zu simulated tracks", x.count);
  pairs_free(&xs);
  pairs_free(&ys);
  numbers_free(&x);
  numbers_free(&y);
  numbers_free(&slope);
  return status;
}

/* Weights for which 98 % of the simulated tracks have chi2 <= 2. The weight of x is four times that of y and of the
 * slope in y; a kink adds 2 dtx^2, which prefers fast tracks. */
static int derive_weights(struct derivation *d) {
  struct calibration *c = d->c;
  struct numbers chi2 = {0};
  const double share = 0.98, limit = 2, kink = 2, x_weight = 0.8, y_weight = 0.2;
  int status = SL_OK;
  c->matching_weights[0] = x_weight;
  c->matching_weights[1] = y_weight;
  c->matching_weights[2] *= y_weight;
  c->matching_weights[3] = 0;
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    struct seed_curve curve;
    struct gun_state end;
    seeding_fit(c, &d->simulated.tracks[i], &curve);
    seeding_end_state(c, &curve, &end);
    const double dtx = d->simulated.tracks[i].velo.tx - end.tx, left = limit - kink * dtx * dtx;
    status = numbers_add(&chi2, matching_chi2(c, &d->simulated.tracks[i], &end) / left);
  }
  const double factor = 1 / quantile(&chi2, share);
  for (int k = 0; k < 3; k++) c->matching_weights[k] *= factor;
  c->matching_weights[3] = kink;
  fit_note(d, "matching.weights", "98 %% of %zu simulated tracks have chi2 <= 2", chi2.count);
  numbers_free(&chi2);
  return status;
}

/* ------------------------------------------------------------------------------------- UT hits in matching */

/* x between VELO and magnet: the VELO line plus bend q/p d^2, with d = z - z of the VELO's end. */
static void derive_ut_bend(struct derivation *d) {
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < d->exact.count; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    for (uint32_t l = 0; l < UT_LAYERS; l++) {
      const double way = gun_ut_z[l] - gun_z_velo, unit = way * way * q_over_p(t) * polarity;
      sum += (t->ut[l].x - velo_x(t, gun_ut_z[l])) * unit;
      squares += unit * unit;
    }
  }
  d->c->matching_ut_bend[0] = 0;
  d->c->matching_ut_bend[1] = sum / squares;
  fit_note(d, "matching.ut_bend", "%u tracks", d->exact.count);
}

/* Distances of the hits from the curve: with the bend from q/p, and, from the second layer on, with the bend from
 * the hits before. */
static int add_ut_misses(const struct calibration *c, const struct gun_track *t, struct pairs *loose,
                         struct pairs *tight) {
  struct seed_curve curve;
  struct gun_state end;
  seeding_fit(c, t, &curve);
  seeding_end_state(c, &curve, &end);
  const double found = matching_q_over_p(c, t, &end);
  const double from_p = c->matching_ut_bend[0] + c->matching_ut_bend[1] * found * polarity;
  double bend = 0;
  int status = SL_OK;
  for (uint32_t l = 0; l < UT_LAYERS && status == SL_OK; l++) {
    const double z = c->ut_z_layer[l], way = z - gun_z_velo;
    const double shift = t->ut_measured[l] + c->ut_dxdy[l] * velo_y(t, z) - velo_x(t, z);
    if (l < 3) status = pairs_add(&loose[l], fabs(found), fabs(shift - from_p * way * way));
    if (l > 0 && status == SL_OK) status = pairs_add(&tight[l - 1], fabs(found), fabs(shift - bend * way * way));
    bend = l > 0 ? 0.5 * (bend + shift / (way * way)) : shift / (way * way);
  }
  return status;
}

/* Windows with 99 %: base, slope in q/p, and the width at the largest and smallest momentum. */
static int derive_ut_windows(struct derivation *d) {
  struct calibration *c = d->c;
  double *windows[] = {c->matching_ut_loose_0, c->matching_ut_loose_1, c->matching_ut_loose_2,
                       c->matching_ut_tight_1, c->matching_ut_tight_2, c->matching_ut_tight_3};
  struct pairs pairs[6] = {{0}};
  const double least = 1e-5, most = 1.0 / 2500;
  int status = SL_OK;
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++)
    status = add_ut_misses(c, &d->simulated.tracks[i], pairs, pairs + 3);
  for (int k = 0; k < 6; k++) {
    if (status == SL_OK) status = quantile_line(&pairs[k], 0.99, windows[k]);
    windows[k][2] = windows[k][0] + windows[k][1] * least;
    windows[k][3] = windows[k][0] + windows[k][1] * most;
    pairs_free(&pairs[k]);
  }
  fit_note(d, "matching.ut_loose.0", "99 %% of %u simulated tracks, as all of ut_loose and ut_tight",
           d->simulated.count);
  return status;
}

int derive_matching(struct derivation *d) {
  int status = derive_match_z(d);
  if (status == SL_OK) status = derive_match_bend(d);
  if (status == SL_OK) status = derive_distances(d);
  if (status == SL_OK) status = derive_weights(d);
  if (status < 0) return status;
  derive_ut_bend(d);
  return derive_ut_windows(d);
}
