/* fit_forward.c: constants of the forward tracking (fit.h). */
#include "fit.h"
#include "formulas.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdio.h>

static const uint32_t x_layers[] = {0, 3, 4, 7, 8, 11};
enum { X_LAYERS = 6, STATIONS = 3, SEEDS = 2 };

/* ------------------------------------------------------------------------------- kick and y downstream of the UT */

/* z at which the chord of a seed's first and last layer crosses the VELO line. */
static int derive_z_magnet(struct derivation *d) {
  struct numbers z = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    const struct line before = {t->velo.x, gun_z_velo, t->velo.tx};
    for (uint32_t seed = 0; seed < SEEDS && status == SL_OK; seed++) {
      const uint32_t *layers = seed_layers[seed];
      const double from = gun_scifi_z[layers[0]], x = t->scifi[layers[0]].x;
      const struct line chord = {x, from, (t->scifi[layers[2]].x - x) / (gun_scifi_z[layers[2]] - from)};
      status = numbers_add(&z, crossing(&before, &chord));
    }
  }
  d->c->forward_z_magnet = median(&z);
  fit_note(d, "forward.z_magnet", "median of %zu, width %.3g", z.count, width(&z));
  numbers_free(&z);
  return status;
}

static const uint8_t kick_powers[][CALIBRATION_VARIABLES] = {{0, 0}, {0, 2}, {0, 4}, {2, 0}, {2, 2}, {2, 4},
                                                             {4, 0}, {4, 2}, {4, 4}, {1, 0}, {0, 1}, {1, 1},
                                                             {3, 0}, {0, 3}, {1, 2}, {2, 1}};

static int add_kicks(const struct derivation *d, uint32_t station, const struct gun_track *t, struct points *points) {
  const struct calibration *c = d->c;
  struct gun_state input;
  int status = SL_OK;
  forward_input(c, t, &input);
  for (uint32_t k = 2 * station; k < 2 * station + 2 && status == SL_OK; k++) {
    const uint32_t layer = x_layers[k];
    const double behind = c->forward_z_layer[layer] - c->forward_z_magnet;
    const struct point point = {
        .variables = {input.tx, input.ty},
        .factor = q_over_p(t) * behind, /* polarity down */
        .target = t->scifi[layer].x - input.x - input.tx * (c->forward_z_layer[layer] - c->forward_z_ut),
        .weight = 1e-3 * t->p};
    status = points_add(points, &point);
  }
  return status;
}

static int derive_kick(struct derivation *d) {
  static const struct fit_terms terms = {kick_powers, 9, 16, "mm GeV"};
  static const char *const names[] = {"forward.kick.0", "forward.kick.1", "forward.kick.2"};
  int status = SL_OK;
  for (uint32_t station = 0; station < STATIONS && status == SL_OK; station++) {
    struct points points = {0};
    for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++)
      status = add_kicks(d, station, &d->exact.tracks[i], &points);
    status = fit_points(d, status, names[station], &points, &terms, &d->c->forward_kick[station]);
  }
  return status;
}

static const uint8_t y_powers[][CALIBRATION_VARIABLES] = {
    {1, 1, 1}, {1, 3, 1}, {1, 1, 3}, {1, 5, 1}, {1, 3, 3}, {1, 1, 5}, {2, 0, 1}, {2, 2, 1},
    {2, 0, 3}, {2, 4, 1}, {2, 2, 3}, {2, 0, 5}, {3, 1, 1}, {3, 3, 1}, {3, 1, 3}, {3, 5, 1},
    {3, 3, 3}, {3, 1, 5}, {1, 0, 1}, {1, 1, 0}, {2, 1, 1}, {2, 0, 0}, {3, 0, 1}};

static int derive_y(struct derivation *d) {
  static const struct fit_terms terms = {y_powers, 18, 23, "mm"};
  int status = SL_OK;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS && status == SL_OK; layer++) {
    const double dz = d->c->forward_z_layer[layer] - d->c->forward_z_ut;
    struct points points = {0};
    char name[CALIBRATION_NAME_BYTES];
    snprintf(name, sizeof name, "forward.y.%u", layer);
    for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
      const struct gun_track *t = &d->exact.tracks[i];
      struct gun_state s;
      forward_input(d->c, t, &s);
      const struct point point = {.variables = {t->scifi[layer].x - s.x - s.tx * dz, s.tx, s.ty},
                                  .factor = 1,
                                  .target = t->scifi[layer].y - s.y - s.ty * dz,
                                  .weight = 1};
      status = points_add(&points, &point);
    }
    status = fit_points(d, status, name, &points, &terms, &d->c->forward_y[layer]);
  }
  return status;
}

/* ------------------------------------------------------------------------------------- seeds of three hits */

static int derive_x_magnet(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{1}, {3}, {0}, {2}};
  static const struct fit_terms terms = {powers, 2, 4, "mm GeV"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < SEEDS * d->exact.count && status == SL_OK; i++) {
    struct point point = {.factor = 1, .weight = 1e-3 * d->exact.tracks[i / SEEDS].p};
    forward_chord(d->c, &d->exact.tracks[i / SEEDS], i % SEEDS, &point.variables[0], &point.target);
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "forward.x_magnet", &points, &terms, d->c->forward_x_magnet);
}

/* 95 % of the simulated tracks, at q/p = 0 and at forward.x_range_qop. */
static int derive_x_range(struct derivation *d) {
  struct pairs pairs = {0};
  double line[2] = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < SEEDS * d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i / SEEDS];
    double slope, miss;
    forward_chord(d->c, t, i % SEEDS, &slope, &miss);
    status = pairs_add(&pairs, 1 / t->p, fabs(miss - calibration_sum(d->c->forward_x_magnet, &slope)));
  }
  if (status == SL_OK) status = quantile_line(&pairs, 0.95, line);
  d->c->forward_x_range[0] = line[0];
  d->c->forward_x_range[1] = line[0] + line[1] * d->c->forward_x_range_qop;
  fit_note(d, "forward.x_range", "95 %% of %zu simulated chords", pairs.count);
  pairs_free(&pairs);
  return status;
}

static void derive_sagitta(struct derivation *d) {
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < d->exact.count; i++) {
      double over, scale;
      forward_sagitta(d->c, &d->exact.tracks[i], seed, &over, &scale);
      sum += over * scale;
      squares += scale * scale;
    }
    d->c->forward_sagitta[seed] = sum / squares;
  }
  fit_note(d, "forward.sagitta", "%u tracks", d->exact.count);
}

/* Cubic over quadratic term, and curvature, of the best cubic through a track's x, 1/mm. */
static int fit_cubic(const struct gun_track *t, double *ratio, double *curvature) {
  struct calibration_polynomial cubic = {.count = 4,
                                         .terms = {{.power = {0}}, {.power = {1}}, {.power = {2}}, {.power = {3}}}};
  struct point at[SCIFI_LAYERS];
  const struct points points = {at, SCIFI_LAYERS, SCIFI_LAYERS};
  const double unit = 1e-3;
  for (uint32_t l = 0; l < SCIFI_LAYERS; l++)
    at[l] = (struct point){
        .variables = {unit * (gun_scifi_z[l] - 8520)}, .factor = 1, .target = t->scifi[l].x, .weight = 1};
  const int status = least_squares(&points, &cubic, NULL);
  *curvature = unit * unit * cubic.terms[2].coefficient;
  *ratio = unit * cubic.terms[3].coefficient / cubic.terms[2].coefficient;
  return status;
}

static int derive_d_ratio(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{0}, {1}, {2}};
  static const struct fit_terms terms = {powers, 3, 3, "1e-6 / mm^2"};
  struct points points = {0};
  struct numbers ratios = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    struct point point = {.variables = {forward_radius(d->c, t, 0)}, .factor = 1};
    double ratio;
    status = fit_cubic(t, &ratio, &point.weight);
    if (status == SL_OK) status = numbers_add(&ratios, ratio);
    point.target = -ratio;
    point.weight = fabs(point.weight) * 1e6; /* residuals in units of 1e-6 / mm^2 */
    if (status == SL_OK) status = points_add(&points, &point);
  }
  if (status == SL_OK) status = fit_polynomial(d, "forward.d_ratio", &points, &terms, d->c->forward_d_ratio);
  d->c->seeding_d_ratio = median(&ratios);
  fit_note(d, "seeding.d_ratio", "median of %zu, width %.3g", ratios.count, width(&ratios));
  numbers_free(&ratios);
  points_free(&points);
  return status;
}

/* ----------------------------------------------------------------------------------------------- momentum */

/* Powers of the bend, then of the VELO slopes. Under a reflection in x, bend and tx change their signs together. */
#define EVEN_TERMS(n) \
  {n, 0, 0}, {n, 2, 0}, {n, 4, 0}, {n, 0, 2}, {n, 0, 4}, {n, 2, 2}, {n, 6, 0}, {n, 0, 6}, {n, 4, 2}, { n, 2, 4 }
#define ODD_TERMS(n) \
  {n, 1, 0}, {n, 3, 0}, {n, 5, 0}, {n, 7, 0}, {n, 1, 2}, {n, 1, 4}, {n, 1, 6}, {n, 3, 2}, {n, 3, 4}, { n, 5, 2 }
static const uint8_t bend_powers[][CALIBRATION_VARIABLES] = {EVEN_TERMS(0), ODD_TERMS(1), EVEN_TERMS(2), ODD_TERMS(3),
                                                             EVEN_TERMS(4), {0, 1, 0},    {0, 0, 1},     {1, 0, 0},
                                                             {1, 0, 2},     {1, 2, 0},    {2, 1, 0},     {3, 0, 0}};

static int derive_bend(struct derivation *d) {
  static const struct fit_terms terms = {bend_powers, 50, 57, "of 1"};
  struct points points = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->exact.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->exact.tracks[i];
    struct forward_bend bend;
    forward_fit_bend(d->c, t, &bend);
    const double target = bend.bend / (q_over_p(t) * bend.way);
    const struct point point = {
        .variables = {bend.bend, t->velo.tx, t->velo.ty}, .factor = 1, .target = target, .weight = 1 / target};
    status = points_add(&points, &point);
  }
  return fit_points(d, status, "forward.bend", &points, &terms, d->c->forward_bend);
}

/* ------------------------------------------------------------------------------------------------- windows */

/* Largest distances of a UT track's x hits from the position predicted with its measured q/p, to the outside of the
 * bend and to the inside. */
static void largest_misses(const struct calibration *c, const struct gun_track *t, double found, double miss[2]) {
  struct gun_state input;
  forward_input(c, t, &input);
  miss[0] = miss[1] = 0;
  for (uint32_t k = 0; k < X_LAYERS; k++) {
    const double z = c->forward_z_layer[x_layers[k]];
    const double right = t->scifi_measured[x_layers[k]] - forward_x(c, &input, found, k / 2, z);
    const double out = found > 0 ? right : -right;
    miss[0] = fmax(miss[0], out);
    miss[1] = fmax(miss[1], -out);
  }
}

/* The window excludes 2.5 % of the simulated tracks on the inside of the bend and, with additional room, 2.5 % on
 * the outside, about as LHCb's constants do: UT momenta are rough, and 99 % would be half of the detector. Tracks
 * that appear slower than the slowest of the sample are ignored, since their measured q/p is wrong. */
static int derive_x_window(struct derivation *d) {
  const double share = 0.975;
  struct pairs inner = {0};
  struct numbers outer = {0};
  double line[2] = {0}, miss[2], largest = 0;
  int status = SL_OK;
  for (uint32_t i = 0; i < d->simulated.count; i++) largest = fmax(largest, 1 / d->simulated.tracks[i].p);
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i];
    const double found = ut_q_over_p(d->c, t);
    if (fabs(found) > largest) continue;
    largest_misses(d->c, t, found, miss);
    status = pairs_add(&inner, fabs(found), miss[1]);
  }
  if (status == SL_OK) status = quantile_line(&inner, share, line);
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i];
    const double found = ut_q_over_p(d->c, t);
    if (fabs(found) > largest) continue;
    largest_misses(d->c, t, found, miss);
    status = numbers_add(&outer, miss[0] - line[0] - line[1] * fabs(found));
  }
  d->c->forward_x_window[0] = line[0];
  d->c->forward_x_window[1] = line[1];
  d->c->forward_x_window[2] = fmax(0, quantile(&outer, share));
  fit_note(d, "forward.x_window", "97.5 %% of %zu simulated tracks on either side", inner.count);
  numbers_free(&outer);
  pairs_free(&inner);
  return status;
}

/* Largest distance of a track's x hits from the VELO line. */
static double largest_shift(const struct gun_track *t) {
  double largest = 0;
  for (uint32_t k = 0; k < X_LAYERS; k++)
    largest = fmax(largest, fabs(t->scifi_measured[x_layers[k]] - velo_x(t, gun_scifi_z[x_layers[k]])));
  return largest;
}

/* Border of the search without UT: the mean shape, scaled to contain 99 % of the simulated tracks. */
static int derive_border(struct derivation *d) {
  static const uint8_t powers[][CALIBRATION_VARIABLES] = {{1, 0, 0}, {1, 2, 0}, {1, 0, 2}, {1, 2, 2},
                                                          {3, 0, 0}, {1, 1, 0}, {1, 0, 1}};
  static const struct fit_terms terms = {powers, 5, 7, "mm GeV"};
  struct calibration_polynomial *p = d->c->forward_border;
  struct points points = {0};
  struct numbers ratios = {0};
  int status = SL_OK;
  for (uint32_t i = 0; i < d->simulated.count && status == SL_OK; i++) {
    const struct gun_track *t = &d->simulated.tracks[i];
    const double inverse_gev = 1e3 / t->p;
    const struct point point = {.variables = {inverse_gev, t->velo.tx, t->velo.ty},
                                .factor = 1,
                                .target = largest_shift(t),
                                .weight = 1 / inverse_gev};
    status = points_add(&points, &point);
  }
  if (status == SL_OK) status = fit_polynomial(d, "forward.border", &points, &terms, p);
  for (size_t i = 0; i < points.count && status == SL_OK; i++)
    status = numbers_add(&ratios, points.at[i].target / calibration_sum(p, points.at[i].variables));
  const double factor = quantile(&ratios, 0.99);
  for (uint32_t k = 0; k < p->count; k++) p->terms[k].coefficient *= factor;
  numbers_free(&ratios);
  points_free(&points);
  return status;
}

int derive_forward(struct derivation *d) {
  int status = derive_z_magnet(d);
  if (status == SL_OK) status = derive_kick(d);
  if (status == SL_OK) status = derive_y(d);
  if (status == SL_OK) status = derive_x_magnet(d);
  if (status == SL_OK) status = derive_d_ratio(d);
  if (status == SL_OK) status = derive_bend(d);
  if (status == SL_OK) derive_sagitta(d);
  if (status == SL_OK) status = derive_x_range(d);
  if (status == SL_OK) status = derive_x_window(d);
  return status == SL_OK ? derive_border(d) : status;
}
