/* formulas_forward.c: see formulas.h. */
#include "formulas.h"
#include "transport/magnet.h"

#include <math.h>

const uint32_t seed_layers[2][3] = {{0, 4, 8}, {3, 7, 11}};
static const double polarity = SIM_POLARITY_DOWN;

void forward_input(const struct calibration *c, const struct gun_track *t, struct gun_state *input) {
  struct ut_line line;
  ut_first_fit(c, t, &line);
  *input = (struct gun_state){line.x + line.slope * (c->forward_z_ut - c->ut_z_mid), velo_y(t, c->forward_z_ut),
                              line.slope, t->velo.ty};
}

double forward_x(const struct calibration *c, const struct gun_state *input, double q_over_p_, uint32_t station,
                 double z) {
  double kick = 0;
  const double slopes[2] = {input->tx, input->ty};
  const struct calibration_polynomial *p = &c->forward_kick[station];
  for (uint32_t i = 0; i < p->count; i++) {
    const struct calibration_term *term = &p->terms[i];
    const double sign = term->power[1] % 2 ? -polarity : 1; /* odd terms change sign with the field */
    kick += sign * term->coefficient * calibration_power(slopes[0], term->power[0]) *
            calibration_power(slopes[1], term->power[1]);
  }
  const double slope = input->tx - polarity * q_over_p_ * kick;
  return input->x + input->tx * (c->forward_z_magnet - c->forward_z_ut) + slope * (z - c->forward_z_magnet);
}

double forward_y(const struct calibration *c, const struct gun_state *input, uint32_t layer, double x) {
  const double dz = c->forward_z_layer[layer] - c->forward_z_ut;
  const double variables[CALIBRATION_VARIABLES] = {x - (input->x + input->tx * dz), input->tx, input->ty};
  return input->y + input->ty * dz + calibration_sum(&c->forward_y[layer], variables);
}

/* ---------------------------------------------------------------------------------------------- the curve */

/* x(z) = c + b d + a d^2 (1 + ratio d), d = z - scifi.z_reference. */
struct curve {
  double a, b, c, ratio;
};

static double curve_x(const struct calibration *c, const struct curve *curve, double z) {
  const double d = z - c->scifi_z_reference;
  return curve->c + d * (curve->b + d * curve->a * (1 + curve->ratio * d));
}

double forward_radius(const struct calibration *c, const struct gun_track *t, uint32_t seed) {
  const uint32_t middle = seed_layers[seed][1];
  const double x = t->scifi_measured[middle], y = velo_y(t, c->forward_z_layer[middle]);
  return sqrt(25e-8 * x * x + 1e-6 * y * y);
}

/* Curve through exactly three hits. */
static void fit_curve(const struct calibration *c, const struct gun_track *t, uint32_t seed, struct curve *curve) {
  const double radius = forward_radius(c, t, seed);
  double d[3], e[3], x[3];
  curve->ratio = -calibration_sum(c->forward_d_ratio, &radius);
  for (int i = 0; i < 3; i++) {
    d[i] = c->forward_z_layer[seed_layers[seed][i]] - c->scifi_z_reference;
    e[i] = d[i] * d[i] * (1 + curve->ratio * d[i]);
    x[i] = t->scifi_measured[seed_layers[seed][i]];
  }
  const double slope_1 = (x[1] - x[0]) / (d[1] - d[0]), slope_2 = (x[2] - x[0]) / (d[2] - d[0]);
  const double bend_1 = (e[1] - e[0]) / (d[1] - d[0]), bend_2 = (e[2] - e[0]) / (d[2] - d[0]);
  curve->a = (slope_2 - slope_1) / (bend_2 - bend_1);
  curve->b = slope_1 - curve->a * bend_1;
  curve->c = x[0] - curve->b * d[0] - curve->a * e[0];
}

/* y = base + slope z from the six stereo layers, with x from the curve. */
static void fit_y(const struct calibration *c, const struct gun_track *t, const struct curve *curve, double *base,
                  double *slope) {
  double n = 0, sum_z = 0, sum_y = 0, sum_zz = 0, sum_zy = 0;
  for (uint32_t l = 0; l < SCIFI_LAYERS; l++) {
    if (c->scifi_dxdy[l] == 0) continue;
    const double z = c->forward_z_layer[l] - c->scifi_z_reference;
    const double y = (curve_x(c, curve, c->forward_z_layer[l]) - t->scifi_measured[l]) / c->scifi_dxdy[l];
    n += 1;
    sum_z += z;
    sum_y += y;
    sum_zz += z * z;
    sum_zy += z * y;
  }
  *slope = (n * sum_zy - sum_z * sum_y) / (n * sum_zz - sum_z * sum_z);
  *base = (sum_y - *slope * sum_z) / n - *slope * c->scifi_z_reference;
}

/* ------------------------------------------------------------------------------------------------ momentum */

static double square(double x) { return x * x; }

void forward_fit_bend(const struct calibration *c, const struct gun_track *t, struct forward_bend *bend) {
  struct curve curve;
  double y, ty;
  fit_curve(c, t, 0, &curve);
  fit_y(c, t, &curve, &y, &ty);
  const double z = c->scifi_z_reference, x_velo = velo_x(t, 0), tx_velo = t->velo.tx, ty_velo = t->velo.ty;
  const double z_match = (curve.c - x_velo - curve.b * z) / (tx_velo - curve.b);
  const double x_match = velo_x(t, z_match), y_match = velo_y(t, z_match);
  const double behind = square(curve.c - x_match) + square(y - y_match) + square(z - z_match);
  const double before = square(x_match - x_velo) + square(y_match - velo_y(t, 0)) + square(z_match);
  bend->bend =
      curve.b / sqrt(1 + curve.b * curve.b + ty * ty) - tx_velo / sqrt(1 + tx_velo * tx_velo + ty_velo * ty_velo);
  bend->way = polarity * 1e-3 * sqrt(behind + before) * sqrt(1 - ty_velo * ty_velo);
}

double forward_q_over_p(const struct calibration *c, const struct gun_track *t) {
  struct forward_bend bend;
  forward_fit_bend(c, t, &bend);
  const double variables[CALIBRATION_VARIABLES] = {bend.bend, t->velo.tx, t->velo.ty};
  return bend.bend / (bend.way * calibration_sum(c->forward_bend, variables));
}

/* -------------------------------------------------------------------------------------------- search for seeds */

void forward_chord(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *slope, double *miss) {
  const uint32_t first = seed_layers[seed][0], last = seed_layers[seed][2];
  const double z = c->forward_z_layer[first], x = t->scifi_measured[first];
  *slope = (x - t->scifi_measured[last]) / (z - c->forward_z_layer[last]);
  *miss = x + (c->forward_z_magnet - z) * *slope - velo_x(t, c->forward_z_magnet);
}

void forward_sagitta(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *over,
                     double *scale) {
  const uint32_t first = seed_layers[seed][0], middle = seed_layers[seed][1];
  double slope, miss;
  forward_chord(c, t, seed, &slope, &miss);
  *over = t->scifi_measured[middle] - slope * c->forward_z_layer[middle];
  *scale = t->scifi_measured[first] - slope * c->forward_z_layer[first];
}

double forward_border(const struct calibration *c, const struct gun_track *t, double inverse_gev) {
  const double variables[CALIBRATION_VARIABLES] = {inverse_gev, t->velo.tx, t->velo.ty};
  return calibration_sum(c->forward_border, variables);
}
