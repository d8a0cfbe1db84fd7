/* formulas_seeding.c: see formulas.h. Seeding and matching. */
#include "formulas.h"
#include "transport/magnet.h"

#include <math.h>
#include <string.h>

static const double polarity = SIM_POLARITY_DOWN;

static double from_reference(const struct calibration *c, uint32_t layer) {
  return c->seeding_z_layer[layer] - c->scifi_z_reference;
}

static double bent(const struct calibration *c, double d) { return d * d * (1 + c->seeding_d_ratio * d); }

static double curve_x(const struct calibration *c, const struct seed_curve *s, double d) {
  return s->a + d * s->b + bent(c, d) * s->c;
}

/* ------------------------------------------------------------------------------------------------- the curve */

static void solve_three(double m[3][4]) {
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) {
      const double factor = m[i][k] / m[k][k];
      for (int j = k; i != k && j < 4; j++) m[i][j] -= factor * m[k][j];
    }
  }
}

static void fit_x(const struct calibration *c, const struct gun_track *t, struct seed_curve *s) {
  const double unit = 1e-3; /* unit of z and x, so that the entries have similar sizes */
  double m[3][4];
  memset(m, 0, sizeof m);
  for (uint32_t l = 0; l < SCIFI_LAYERS; l++) {
    if (c->scifi_dxdy[l] != 0) continue;
    const double d = from_reference(c, l), row[3] = {1, unit * d, unit * unit * bent(c, d)};
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) m[i][j] += row[i] * row[j];
      m[i][3] += row[i] * t->scifi_measured[l];
    }
  }
  solve_three(m);
  s->a = m[0][3] / m[0][0];
  s->b = unit * m[1][3] / m[1][1];
  s->c = unit * unit * m[2][3] / m[2][2];
}

static void fit_y(const struct calibration *c, const struct gun_track *t, struct seed_curve *s) {
  double n = 0, sum_d = 0, sum_y = 0, sum_dd = 0, sum_dy = 0;
  for (uint32_t l = 0; l < SCIFI_LAYERS; l++) {
    if (c->scifi_dxdy[l] == 0) continue;
    const double d = from_reference(c, l), sign = c->scifi_dxdy[l] > 0 ? 1 : -1;
    const double y = (curve_x(c, s, d) - t->scifi_measured[l]) / (c->seeding_uv_slope * sign);
    n += 1;
    sum_d += d;
    sum_y += y;
    sum_dd += d * d;
    sum_dy += d * y;
  }
  s->ty = (n * sum_dy - sum_d * sum_y) / (n * sum_dd - sum_d * sum_d);
  s->y = (sum_y - s->ty * sum_d) / n;
}

void seeding_fit(const struct calibration *c, const struct gun_track *t, struct seed_curve *s) {
  fit_x(c, t, s);
  fit_y(c, t, s);
}

void seeding_end_state(const struct calibration *c, const struct seed_curve *s, struct gun_state *end) {
  const double d = c->scifi_z_end - c->scifi_z_reference;
  end->x = curve_x(c, s, d);
  end->tx = s->b + s->c * d * (2 + 3 * c->seeding_d_ratio * d);
  end->y = s->y + s->ty * d;
  end->ty = s->ty;
}

double seeding_x0(const struct calibration *c, const struct gun_state *end) {
  return end->x - end->tx * c->scifi_z_end;
}

double seeding_q_over_p(const struct calibration *c, const struct gun_state *end) {
  const double x0 = seeding_x0(c, end), variables[CALIBRATION_VARIABLES] = {x0, end->tx, end->ty};
  return x0 / (-1e6 * polarity * calibration_sum(c->seeding_bend, variables));
}

/* ------------------------------------------------------------------------------------------ the search */

void seeding_search_of(const struct calibration *c, uint32_t seed, struct seeding_search *s) {
  const uint32_t *layers = seed_layers[seed];
  const double first = from_reference(c, layers[0]), middle = from_reference(c, layers[1]);
  const double last = from_reference(c, layers[2]);
  s->z_first = c->seeding_z_layer[layers[0]];
  s->z_last = c->seeding_z_layer[layers[2]];
  s->k = s->z_first / (s->z_last - s->z_first);
  s->per_bend =
      1 / ((middle - first) / (last - first) * (bent(c, last) - bent(c, first)) + bent(c, first) - bent(c, middle));
}

double seeding_last_hit(const struct calibration *c, const struct gun_track *t, uint32_t seed, double p_min) {
  struct seeding_search s;
  seeding_search_of(c, seed, &s);
  const double p1 = calibration_coefficient(c->seeding_inverse_p, 1);
  const double p2 = calibration_coefficient(c->seeding_inverse_p, 2);
  const double half = (-p1 + sqrt(p1 * p1 + 4 * p2 / p_min)) / (2 * p2 * s.k);
  const double scale = (s.z_last + c->seeding_alpha[0] / s.k / (p_min - c->seeding_alpha[1])) / s.z_first;
  const double first = t->scifi_measured[seed_layers[seed][0]], last = t->scifi_measured[seed_layers[seed][2]];
  return (last - first * scale) / half;
}

void seeding_three_hits(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *x0,
                        double *curvature) {
  const uint32_t *layers = seed_layers[seed];
  struct seeding_search s;
  seeding_search_of(c, seed, &s);
  const double first = t->scifi_measured[layers[0]], last = t->scifi_measured[layers[2]];
  const double slope = (last - first) / (s.z_last - s.z_first);
  *x0 = first - slope * s.z_first;
  const double chord = first + slope * (c->seeding_z_layer[layers[1]] - s.z_first);
  *curvature = (chord - t->scifi_measured[layers[1]]) * s.per_bend * (*x0 < 0 ? 1 : -1);
}

double seeding_other_hits(const struct calibration *c, const struct gun_track *t, uint32_t seed) {
  const uint32_t *layers = seed_layers[seed], *others = seed_layers[1 - seed];
  struct seeding_search s;
  struct seed_curve curve = {0};
  seeding_search_of(c, seed, &s);
  const double d = from_reference(c, layers[0]), last = from_reference(c, layers[2]);
  const double x = t->scifi_measured[layers[0]], slope = (t->scifi_measured[layers[2]] - x) / (last - d);
  const double chord = x + slope * (from_reference(c, layers[1]) - d);
  curve.c = (chord - t->scifi_measured[layers[1]]) * s.per_bend;
  curve.b = slope - curve.c * (d + last + c->seeding_d_ratio * (d * d + last * last + d * last));
  curve.a = x - curve.b * d - curve.c * bent(c, d);
  double worst = 0;
  for (int i = 0; i < 3; i++)
    worst = fmax(worst, fabs(t->scifi_measured[others[i]] - curve_x(c, &curve, from_reference(c, others[i]))));
  return worst;
}

double seeding_stereo_hits(const struct calibration *c, const struct gun_track *t) {
  static const uint32_t order[] = {5, 1, 10, 6, 9, 2};
  struct seed_curve curve;
  double ty = 0, worst = 0;
  seeding_fit(c, t, &curve);
  for (int i = 0; i < 6; i++) {
    const uint32_t l = order[i];
    const double z = c->seeding_z_layer[l], slope = c->scifi_dxdy[l] > 0 ? c->seeding_uv_slope : -c->seeding_uv_slope;
    const double x = curve_x(c, &curve, z - c->scifi_z_reference), y = (x - t->scifi_measured[l]) / slope;
    if (i > 0) worst = fmax(worst, fabs(x - ty * slope * z - t->scifi_measured[l]));
    ty = i > 0 ? 0.5 * (ty + y / z) : y / z;
  }
  return worst;
}

/* ------------------------------------------------------------------------------------------ matching */

double matching_z_magnet(const struct calibration *c, const struct gun_track *t, const struct gun_state *end) {
  const double variables[CALIBRATION_VARIABLES] = {fabs(t->velo.tx - end->tx), fabs(end->x), t->velo.tx};
  return calibration_sum(c->matching_z_magnet, variables);
}

double matching_distance_x(const struct calibration *c, const struct gun_track *t, const struct gun_state *end) {
  const double z = matching_z_magnet(c, t, end);
  return end->x + end->tx * (z - c->scifi_z_end) - velo_x(t, z);
}

double matching_distance_y(const struct calibration *c, const struct gun_track *t, const struct gun_state *end) {
  return end->y + end->ty * (c->matching_z_y - c->scifi_z_end) - c->matching_y_scale * velo_y(t, c->matching_z_y);
}

double matching_chi2(const struct calibration *c, const struct gun_track *t, const struct gun_state *end) {
  const double dtx = t->velo.tx - end->tx, dty = t->velo.ty - end->ty;
  const double theta2 = t->velo.tx * t->velo.tx + t->velo.ty * t->velo.ty;
  const double x = matching_distance_x(c, t, end), y = matching_distance_y(c, t, end);
  const double *tx = c->matching_x_tolerance, *ty = c->matching_y_tolerance, *weights = c->matching_weights;
  return weights[0] * x * x / (tx[0] * tx[0] + tx[1] * tx[1] * dtx * dtx) +
         weights[1] * y * y / (ty[0] * ty[0] + ty[1] * ty[1] * theta2) + weights[2] * dty * dty +
         weights[3] * dtx * dtx;
}

void matching_variables(const struct gun_track *t, const struct gun_state *end,
                        double variables[CALIBRATION_VARIABLES]) {
  variables[0] = fabs(end->tx - t->velo.tx);
  variables[1] = end->tx;
  variables[2] = t->velo.tx;
  variables[3] = t->velo.ty;
}

double matching_q_over_p(const struct calibration *c, const struct gun_track *t, const struct gun_state *end) {
  double variables[CALIBRATION_VARIABLES];
  matching_variables(t, end, variables);
  const double p = calibration_sum(c->matching_bend, variables) / variables[0];
  return (end->tx > t->velo.tx ? -polarity : polarity) / p;
}
