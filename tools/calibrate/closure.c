/* closure.c: see closure.h. */
#include "closure.h"

#include "formulas.h"
#include "least_squares.h"

#include <sluice/plugin.h>

#include <math.h>
#include <string.h>

/* A track, with the end state of its seed in the SciFi, or the exact end state for exact tracks. */
struct subject {
  const struct calibration *c;
  const struct gun_track *t;
  struct gun_state end;
};

/* ------------------------------------------------------------------------------------------- quantities */

static double per_cent(double x) { return 100 * x; }

static double forward_p(const struct subject *l, uint32_t unused) {
  (void)unused;
  return per_cent(relative_p(l->t, forward_q_over_p(l->c, l->t)));
}
static double matching_p(const struct subject *l, uint32_t unused) {
  (void)unused;
  return per_cent(relative_p(l->t, matching_q_over_p(l->c, l->t, &l->end)));
}
static double ut_p(const struct subject *l, uint32_t unused) {
  (void)unused;
  return per_cent(relative_p(l->t, ut_q_over_p(l->c, l->t)));
}
static double seeding_p(const struct subject *l, uint32_t unused) {
  (void)unused;
  return per_cent(relative_p(l->t, seeding_q_over_p(l->c, &l->end)));
}
static double distance_x(const struct subject *l, uint32_t unused) {
  (void)unused;
  return matching_distance_x(l->c, l->t, &l->end);
}
static double distance_y(const struct subject *l, uint32_t unused) {
  (void)unused;
  return matching_distance_y(l->c, l->t, &l->end);
}
static double chi2(const struct subject *l, uint32_t unused) {
  (void)unused;
  return matching_chi2(l->c, l->t, &l->end) / 2;
}
static double z_magnet(const struct subject *l, uint32_t unused) {
  (void)unused;
  const struct line before = {l->t->velo.x, gun_z_velo, l->t->velo.tx}, behind = {l->end.x, gun_z_end, l->end.tx};
  return crossing(&before, &behind) - matching_z_magnet(l->c, l->t, &l->end);
}

/* From the best cubic in x: 0: cubic over quadratic term; 1: its difference to the formula; 2: curvature times
 * momentum. */
static double cubic(const struct subject *l, uint32_t which) {
  struct calibration_polynomial p = {.count = 4,
                                     .terms = {{.power = {0}}, {.power = {1}}, {.power = {2}}, {.power = {3}}}};
  struct point at[SCIFI_LAYERS];
  const struct points points = {at, SCIFI_LAYERS, SCIFI_LAYERS};
  const double unit = 1e-3, to_1e5 = 1e5, radius = forward_radius(l->c, l->t, 0);
  for (uint32_t i = 0; i < SCIFI_LAYERS; i++)
    at[i] = (struct point){.variables = {unit * (gun_scifi_z[i] - l->c->scifi_z_reference)},
                           .factor = 1,
                           .target = l->t->scifi[i].x,
                           .weight = 1};
  least_squares(&points, &p, NULL);
  if (which == 2) return unit * unit * fabs(p.terms[2].coefficient) * l->t->p;
  const double ratio = unit * p.terms[3].coefficient / p.terms[2].coefficient;
  return to_1e5 * (ratio + (which == 1 ? calibration_sum(l->c->forward_d_ratio, &radius) : 0));
}

static double sagitta(const struct subject *l, uint32_t seed) {
  double over, scale;
  forward_sagitta(l->c, l->t, seed, &over, &scale);
  return over - l->c->forward_sagitta[seed] * scale;
}
static double x_magnet(const struct subject *l, uint32_t seed) {
  double slope, miss;
  forward_chord(l->c, l->t, seed, &slope, &miss);
  return miss - calibration_sum(l->c->forward_x_magnet, &slope);
}
static double y_layer(const struct subject *l, uint32_t layer) {
  struct gun_state input;
  forward_input(l->c, l->t, &input);
  return l->t->scifi[layer].y - forward_y(l->c, &input, layer, l->t->scifi[layer].x);
}
/* At the first layer of a station, positive to the outside of the bend. `which`: the station, plus 4 to start from
 * the true state in the UT instead of the measured one. */
static double x_station(const struct subject *l, uint32_t which) {
  const uint32_t station = which % 4, last = UT_LAYERS - 1;
  const double z = l->c->forward_z_layer[4 * station];
  struct gun_state input = l->t->ut[last];
  input.x += input.tx * (l->c->forward_z_ut - gun_ut_z[last]);
  if (which < 4) forward_input(l->c, l->t, &input);
  return l->t->charge * (l->t->scifi[4 * station].x - forward_x(l->c, &input, q_over_p(l->t), station, z));
}
static double deflection(const struct subject *l, uint32_t layer) {
  const double shift = fabs(l->t->ut[layer].x - velo_x(l->t, gun_ut_z[layer])) * l->t->p;
  const double values[CALIBRATION_AXES] = {layer, fabs(l->t->velo.ty), 0};
  return per_cent(shift * l->c->ut_dist_to_momentum * calibration_look_up(&l->c->ut_deflection, values) - 1);
}
static double bend_in_ut(const struct subject *l, uint32_t layer) {
  const double way = gun_ut_z[layer] - gun_z_velo;
  const double bend = l->c->matching_ut_bend[0] - l->c->matching_ut_bend[1] * q_over_p(l->t); /* polarity down */
  return l->t->ut[layer].x - velo_x(l->t, gun_ut_z[layer]) - bend * way * way;
}
static double inverse_p(const struct subject *l, uint32_t seed) {
  double x0, curvature;
  seeding_three_hits(l->c, l->t, seed, &x0, &curvature);
  const double x = fabs(x0);
  return per_cent(calibration_sum(l->c->seeding_inverse_p, &x) * l->t->p - 1);
}

/* ---------------------------------------------------- distances of hits, in units of half a search window */

static double in_forward_window(const struct subject *l, uint32_t station) {
  const double found = ut_q_over_p(l->c, l->t), *window = l->c->forward_x_window;
  const uint32_t layer = 4 * station;
  struct gun_state input;
  forward_input(l->c, l->t, &input);
  const double miss =
      l->t->scifi_measured[layer] - forward_x(l->c, &input, found, station, l->c->forward_z_layer[layer]);
  const double outer = found > 0 ? miss : -miss, half = window[0] + window[1] * fabs(found);
  return outer > 0 ? outer / (half + window[2]) : outer / half;
}
static double in_x_range(const struct subject *l, uint32_t seed) {
  const double *range = l->c->forward_x_range, share = fmin(1, fabs(q_over_p(l->t)) / l->c->forward_x_range_qop);
  return x_magnet(l, seed) / (range[0] + (range[1] - range[0]) * share);
}
static double in_border(const struct subject *l, uint32_t layer) {
  const double shift = l->t->scifi_measured[layer] - velo_x(l->t, gun_scifi_z[layer]);
  return shift / forward_border(l->c, l->t, 1e3 / l->t->p);
}
static double last_hit(const struct subject *l, uint32_t seed) { return seeding_last_hit(l->c, l->t, seed, 3000); }
static double third_hit(const struct subject *l, uint32_t seed) {
  double x0, curvature;
  seeding_three_hits(l->c, l->t, seed, &x0, &curvature);
  const double x = fabs(x0), *h = l->c->seeding_three_hit;
  const double left = curvature - h[1] * calibration_sum(l->c->seeding_inverse_p, &x);
  return left > 0 ? left / h[0] : left / (2 * h[0]);
}
static double other_hits(const struct subject *l, uint32_t seed) {
  return seeding_other_hits(l->c, l->t, seed) / l->c->seeding_tolerance;
}
static double stereo_hits(const struct subject *l, uint32_t unused) {
  (void)unused;
  return seeding_stereo_hits(l->c, l->t) / l->c->seeding_uv_tolerance;
}

/* ------------------------------------------------------------------------------------------------ the table */

enum selection { ALL, WIDE_TX, WIDE_TY, P_RANGE, TY_RANGE };
struct quantity {
  const char *name, *unit;
  double (*of)(const struct subject *subject, uint32_t which);
  uint32_t which, is_window;
  enum selection selection;
  double low, high; /* limits of the selection: GeV, or |ty| */
};
#define MOMENTA(name, of)                                                                                             \
  {name, "%", of, 0, 0, ALL, 0, 0}, {name ", 3-5 GeV", "%", of, 0, 0, P_RANGE, 3, 5},                                 \
      {name ", 5-10 GeV", "%", of, 0, 0, P_RANGE, 5, 10}, {name ", 10-20 GeV", "%", of, 0, 0, P_RANGE, 10, 20},       \
      {name ", 20-100 GeV", "%", of, 0, 0, P_RANGE, 20, 100}, {name ", |tx| > 0.15", "%", of, 0, 0, WIDE_TX, 0, 0}, { \
    name ", |ty| > 0.15", "%", of, 0, 0, WIDE_TY, 0, 0                                                                \
  }
static const struct quantity quantities[] = {
    MOMENTA("forward p", forward_p),
    MOMENTA("matching p", matching_p),
    {"matching distance in x", "mm", distance_x, 0, 0, ALL, 0, 0},
    {"matching distance in y", "mm", distance_y, 0, 0, ALL, 0, 0},
    {"z of the magnet", "mm", z_magnet, 0, 0, ALL, 0, 0},
    {"cubic over quadratic", "1e-5/mm", cubic, 0, 0, ALL, 0, 0},
    {"cubic over quadratic, minus formula", "1e-5/mm", cubic, 1, 0, ALL, 0, 0},
    {"curvature times p", "MeV/mm", cubic, 2, 0, ALL, 0, 0},
    {"sagitta, seed 0, p > 5 GeV", "mm", sagitta, 0, 0, P_RANGE, 5, 1000},
    {"sagitta, seed 1, p > 5 GeV", "mm", sagitta, 1, 0, P_RANGE, 5, 1000},
    {"x at the magnet, seed 0, p > 5 GeV", "mm", x_magnet, 0, 0, P_RANGE, 5, 1000},
    {"x at the magnet, seed 1, p > 5 GeV", "mm", x_magnet, 1, 0, P_RANGE, 5, 1000},
    {"y in layer 0", "mm", y_layer, 0, 0, ALL, 0, 0},
    {"y in layer 4", "mm", y_layer, 4, 0, ALL, 0, 0},
    {"y in layer 11", "mm", y_layer, 11, 0, ALL, 0, 0},
    {"forward x in T1, outwards", "mm", x_station, 0, 0, ALL, 0, 0},
    {"forward x in T2, outwards", "mm", x_station, 1, 0, ALL, 0, 0},
    {"forward x in T3, outwards", "mm", x_station, 2, 0, ALL, 0, 0},
    {"forward x in T3, outwards, p > 5 GeV", "mm", x_station, 2, 0, P_RANGE, 5, 1000},
    {"forward x in T1, outwards, from the true state in the UT", "mm", x_station, 4, 0, ALL, 0, 0},
    {"forward x in T2, outwards, from the true state in the UT", "mm", x_station, 5, 0, ALL, 0, 0},
    {"forward x in T3, outwards, from the true state in the UT", "mm", x_station, 6, 0, ALL, 0, 0},
    {"UT p", "%", ut_p, 0, 0, ALL, 0, 0},
    {"UT p, |ty| < 0.05", "%", ut_p, 0, 0, TY_RANGE, 0, 0.05},
    {"UT p, |ty| 0.05-0.1", "%", ut_p, 0, 0, TY_RANGE, 0.05, 0.1},
    {"UT p, |ty| 0.1-0.2", "%", ut_p, 0, 0, TY_RANGE, 0.1, 0.2},
    {"UT p, |ty| > 0.2", "%", ut_p, 0, 0, TY_RANGE, 0.2, 1},
    {"UT deflection, layer 0", "%", deflection, 0, 0, ALL, 0, 0},
    {"UT deflection, layer 3", "%", deflection, 3, 0, ALL, 0, 0},
    {"x in UT layer 0 by matching's p", "mm", bend_in_ut, 0, 0, ALL, 0, 0},
    {"x in UT layer 3 by matching's p", "mm", bend_in_ut, 3, 0, ALL, 0, 0},
    {"seed's p", "%", seeding_p, 0, 0, ALL, 0, 0},
    {"seeding 1/p", "%", inverse_p, 0, 0, ALL, 0, 0},
    {"forward window, T1", "", in_forward_window, 0, 1, ALL, 0, 0},
    {"forward window, T3", "", in_forward_window, 2, 1, ALL, 0, 0},
    {"x range at the magnet", "", in_x_range, 0, 1, ALL, 0, 0},
    {"border without UT, T3", "", in_border, 8, 1, ALL, 0, 0},
    {"seeding last hit, p > 3 GeV", "", last_hit, 0, 1, P_RANGE, 3, 1000},
    {"seeding third hit, p > 3 GeV", "", third_hit, 0, 1, P_RANGE, 3, 1000},
    {"seeding other hits, p > 3 GeV", "", other_hits, 0, 1, P_RANGE, 3, 1000},
    {"seeding stereo hits, p > 3 GeV", "", stereo_hits, 0, 1, P_RANGE, 3, 1000},
    {"matching chi2", "", chi2, 0, 1, ALL, 0, 0},
};
enum { QUANTITIES = sizeof quantities / sizeof quantities[0] };

static int is_selected(const struct quantity *q, const struct gun_track *t) {
  const double wide = 0.15, gev = 1000, ty = fabs(t->velo.ty);
  switch (q->selection) {
    case WIDE_TX:
      return fabs(t->velo.tx) > wide;
    case WIDE_TY:
      return ty > wide;
    case P_RANGE:
      return t->p >= q->low * gev && t->p < q->high * gev;
    case TY_RANGE:
      return ty >= q->low && ty < q->high;
    default:
      return 1;
  }
}

static int measure(const struct quantity *q, const struct calibration *c, const struct gun_sample *sample,
                   struct closure_row *row) {
  struct numbers values = {0};
  uint32_t inside = 0;
  int status = SL_OK;
  for (uint32_t i = 0; i < sample->count && status == SL_OK; i++) {
    struct subject subject = {c, &sample->tracks[i], sample->tracks[i].end};
    struct seed_curve curve;
    if (!is_selected(q, subject.t)) continue;
    seeding_fit(c, subject.t, &curve);
    if (sample->is_simulated) seeding_end_state(c, &curve, &subject.end);
    const double value = q->of(&subject, q->which);
    status = numbers_add(&values, value);
    inside += fabs(value) <= 1;
  }
  *row = (struct closure_row){.name = q->name,
                              .unit = q->unit,
                              .median = median(&values),
                              .width = width(&values),
                              .inside = values.count > 0 ? (double)inside / (double)values.count : 0,
                              .is_window = q->is_window,
                              .count = (uint32_t)values.count};
  numbers_free(&values);
  return status;
}

int closure_measure(const struct calibration *c, const struct gun_sample *sample, struct closure *closure) {
  int status = SL_OK;
  closure->count = 0;
  for (uint32_t i = 0; i < QUANTITIES && status == SL_OK; i++)
    status = measure(&quantities[i], c, sample, &closure->rows[closure->count++]);
  return status;
}

const struct closure_row *closure_find(const struct closure *closure, const char *name) {
  for (uint32_t i = 0; i < closure->count; i++)
    if (strcmp(closure->rows[i].name, name) == 0) return &closure->rows[i];
  return NULL;
}
