/* formulas_ut.c: see formulas.h. */
#include "formulas.h"

#include <math.h>
#include <string.h>

double velo_x(const struct gun_track *t, double z) { return t->velo.x + t->velo.tx * (z - gun_z_velo); }
double velo_y(const struct gun_track *t, double z) { return t->velo.y + t->velo.ty * (z - gun_z_velo); }
double q_over_p(const struct gun_track *t) { return t->charge / t->p; }
double relative_p(const struct gun_track *t, double found) { return q_over_p(t) / found - 1; }

double crossing(const struct line *a, const struct line *b) {
  return (b->x - a->x + a->slope * a->z - b->slope * b->z) / (a->slope - b->slope);
}

/* ------------------------------------------------------------------------------------------- normal equations */

enum { UNKNOWNS = 3 };
struct normal {
  double at[UNKNOWNS][UNKNOWNS], right[UNKNOWNS];
};

static void add_row(struct normal *n, const double row[UNKNOWNS], double value, double weight) {
  for (int i = 0; i < UNKNOWNS; i++) {
    for (int j = 0; j < UNKNOWNS; j++) n->at[i][j] += weight * row[i] * row[j];
    n->right[i] += weight * row[i] * value;
  }
}

/* Elimination without pivoting, since the matrices are positive definite. */
static void solve(struct normal *n, int count, double *c) {
  for (int k = 0; k < count; k++) {
    for (int i = k + 1; i < count; i++) {
      const double factor = n->at[i][k] / n->at[k][k];
      for (int j = k; j < count; j++) n->at[i][j] -= factor * n->at[k][j];
      n->right[i] -= factor * n->right[k];
    }
  }
  for (int k = count; k-- > 0;) {
    c[k] = n->right[k];
    for (int j = k + 1; j < count; j++) c[k] -= n->at[k][j] * c[j];
    c[k] /= n->at[k][k];
  }
}

/* ----------------------------------------------------------------------------------------------------- fits */

static const double slope_error = 1e-4, hit_weight = 12 / (0.19 * 0.19), metre = 1e-3;

double ut_hit_x(const struct calibration *c, const struct gun_track *t, uint32_t layer) {
  return t->ut_measured[layer] + velo_y(t, c->ut_z_layer[layer]) * c->ut_dxdy[layer];
}

void ut_first_fit(const struct calibration *c, const struct gun_track *t, struct ut_line *line) {
  struct normal n;
  memset(&n, 0, sizeof n);
  const double error = slope_error * (c->ut_z_kink - gun_z_velo);
  const double kink_row[UNKNOWNS] = {1, metre * (c->ut_z_kink - c->ut_z_mid), 0};
  add_row(&n, kink_row, velo_x(t, c->ut_z_kink), 1 / (error * error));
  for (uint32_t l = 0; l < UT_LAYERS; l++) {
    const double row[UNKNOWNS] = {1, metre * (c->ut_z_layer[l] - c->ut_z_mid), 0};
    add_row(&n, row, ut_hit_x(c, t, l), hit_weight);
  }
  double found[UNKNOWNS];
  solve(&n, 2, found);
  line->x = found[0];
  line->slope = metre * found[1];
  const double at_kink = line->x + line->slope * (c->ut_z_kink - c->ut_z_mid);
  const double before = (at_kink - t->velo.x) / (c->ut_z_kink - gun_z_velo);
  line->kink = before * sqrt(1 + before * before) - line->slope * sqrt(1 + line->slope * line->slope);
}

double ut_z_origin(const struct gun_track *t) {
  const double least = 0.001;
  return fabs(t->velo.ty) > least ? gun_z_velo - t->velo.y / t->velo.ty : gun_z_velo - t->velo.x / t->velo.tx;
}

/* q/p over kink. */
static double per_kink(const struct calibration *c, const struct gun_track *t) {
  const double values[CALIBRATION_AXES] = {t->velo.ty, ut_z_origin(t), gun_z_velo};
  return -1e-3 * c->ut_kick_to_mev / calibration_look_up(&c->ut_integral, values);
}

void ut_second_fit(const struct calibration *c, const struct gun_track *t, struct ut_line *line) {
  struct ut_line first;
  struct normal n;
  ut_first_fit(c, t, &first);
  memset(&n, 0, sizeof n);
  const double ty = t->velo.ty, z_kink = calibration_sum(c->ut_z_kink_of_ty, &ty), least = 1e-9;
  const double at_kink = velo_x(t, z_kink), rough = fabs(first.kink * per_kink(c, t));
  const double inverse_p = (rough > least ? rough : least) * sqrt(1 + ty * ty);
  const double one = c->ut_kink_error[0] + c->ut_kink_error_per_p[0] * inverse_p;
  const double other = c->ut_kink_error[1] + c->ut_kink_error_per_p[1] * inverse_p;
  const double kink_row[UNKNOWNS] = {1, metre * (z_kink - c->ut_z_mid), 0};
  add_row(&n, kink_row, at_kink, 1 / (one * one + other * other));
  for (uint32_t l = 0; l < UT_LAYERS; l++) {
    const double tilt = -c->ut_dxdy[l] / sqrt(1 + c->ut_dxdy[l] * c->ut_dxdy[l]);
    const double row[UNKNOWNS] = {1, metre * (c->ut_z_layer[l] - c->ut_z_mid), tilt};
    add_row(&n, row, ut_hit_x(c, t, l), hit_weight);
  }
  double found[UNKNOWNS];
  solve(&n, UNKNOWNS, found);
  line->x = found[0];
  line->slope = metre * found[1];
  const double behind = line->x + line->slope * (z_kink - c->ut_z_mid);
  const double before = (0.5 * (behind + at_kink) - t->velo.x) / (z_kink - gun_z_velo);
  line->kink =
      before * sqrt(1 + before * before + ty * ty) - line->slope * sqrt(1 + line->slope * line->slope + ty * ty);
}

double ut_q_over_p(const struct calibration *c, const struct gun_track *t) {
  struct ut_line line;
  ut_second_fit(c, t, &line);
  return line.kink * per_kink(c, t);
}
