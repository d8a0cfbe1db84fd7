/* seeding.constants: constants of the search for seeds, and all numbers that follow from them and the positions of the
 * layers (README.md, "Seeds"). Source: the nominal calibration, a calibration file, or a folder of LHCb's files.
 */
#include "calibration/formula.h"
#include "calibration/read.h"
#include "seeding/event_model.h"

#include <math.h>
#include <stdlib.h>

#define SL_ARGS constants_args
#define CONSTANTS(M)                                                                                \
  M(FILE_IN, path, "", "", "folder of LHCb's files; or a calibration; empty: the nominal one")      \
  M(F32, min_momentum, 3000.0, 100.0, 1e6, "MeV", "least momentum of tracks that are searched for") \
  M(OUT, seeding, seeding_constants, "layers, search cases and coefficients")
SL_HOST_ARGUMENTS(constants, CONSTANTS);

static const uint16_t inverse_p_terms[] = {100, 200};
static const uint16_t qop_terms[] = {0, 20, 2, 200};

enum { UNKNOWNS = 3, FURTHER = 3 };

static uint32_t x_layer(uint32_t i) { return SCIFI_STATION_LAYERS * (i / 2) + 3 * (i % 2); }

/* z, d and d^2 (1 + r d) of the six x layers. */
struct layers {
  double z[SCIFI_X_LAYERS], d[SCIFI_X_LAYERS], bend[SCIFI_X_LAYERS];
};

static double bend_of(double d, double ratio) { return d * d * (1 + ratio * d); }

static struct layers layers_of(const struct calibration *c) {
  struct layers l;
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    l.z[i] = c->seeding_z_layer[x_layer(i)];
    l.d[i] = l.z[i] - c->scifi_z_reference;
    l.bend[i] = bend_of(l.d[i], c->seeding_d_ratio);
  }
  return l;
}

/* Inverts a symmetric matrix. */
static void invert(double m[UNKNOWNS][UNKNOWNS], double inverse[UNKNOWNS][UNKNOWNS]) {
  for (uint32_t i = 0; i < UNKNOWNS; i++)
    for (uint32_t k = 0; k < UNKNOWNS; k++) {
      const uint32_t i1 = (i + 1) % UNKNOWNS, i2 = (i + 2) % UNKNOWNS, k1 = (k + 1) % UNKNOWNS, k2 = (k + 2) % UNKNOWNS;
      inverse[k][i] = m[i1][k1] * m[i2][k2] - m[i1][k2] * m[i2][k1];
    }
  const double determinant = m[0][0] * inverse[0][0] + m[0][1] * inverse[1][0] + m[0][2] * inverse[2][0];
  for (uint32_t i = 0; i < UNKNOWNS; i++)
    for (uint32_t k = 0; k < UNKNOWNS; k++) inverse[i][k] /= determinant;
}

/* Least squares over all layers except the missing further layer (`missing` - 1; 0: none is missing). Only further hits
 * have residuals: row i is the change of unknown i per residual. */
static void take_fit(const struct layers *l, uint32_t odd, uint32_t missing, float *to) {
  double normal[UNKNOWNS][UNKNOWNS] = {{0}}, inverse[UNKNOWNS][UNKNOWNS];
  const uint32_t omitted = missing > 0 ? 2 * (missing - 1) + 1 - odd : SCIFI_X_LAYERS;
  for (uint32_t n = 0; n < SCIFI_X_LAYERS; n++) {
    const double row[UNKNOWNS] = {1, l->d[n], l->bend[n]};
    for (uint32_t i = 0; n != omitted && i < UNKNOWNS; i++)
      for (uint32_t k = 0; k < UNKNOWNS; k++) normal[i][k] += row[i] * row[k];
  }
  invert(normal, inverse);
  for (uint32_t i = 0; i < UNKNOWNS; i++)
    for (uint32_t k = 0; k < FURTHER; k++) {
      const uint32_t n = 2 * k + 1 - odd;
      const double gain = inverse[i][0] + inverse[i][1] * l->d[n] + inverse[i][2] * l->bend[n];
      to[FURTHER * i + k] = n == omitted ? 0.0f : (float)gain;
    }
}

/* Distance from 0 at z = 0 of the line through first and last hit, for the least momentum. */
static double greatest_x0(const double *inverse_p, double min_momentum) {
  const double p1 = inverse_p[0], p2 = inverse_p[1];
  if (p2 == 0) return 1 / (p1 * min_momentum);
  return (sqrt(p1 * p1 + 4 * p2 / min_momentum) - p1) / (2 * p2);
}

static void take_case(const struct calibration *c, const struct layers *l, uint32_t odd, double min_momentum,
                      const double *inverse_p, float *to) {
  const uint32_t first = odd, middle = 2 + odd, last = 4 + odd;
  const double length = l->z[last] - l->z[first], k = l->z[first] / length, ratio = c->seeding_d_ratio;
  const double d_first = l->d[first], d_last = l->d[last], share = (l->z[middle] - l->z[first]) / length;
  const double curvature = 1 / (share * (l->bend[last] - l->bend[first]) + l->bend[first] - l->bend[middle]);
  const double slope = (l->bend[last] - l->bend[first]) / (d_last - d_first);
  const double alpha = c->seeding_alpha[0] / k / (min_momentum - c->seeding_alpha[1]);
  to[SEED_CASE_Z_FIRST] = (float)l->z[first];
  to[SEED_CASE_LENGTH] = (float)length;
  to[SEED_CASE_SCALE] = (float)((l->z[last] + alpha) / l->z[first]);
  to[SEED_CASE_RANGE] = (float)(greatest_x0(inverse_p, min_momentum) / k);
  to[SEED_CASE_CURVATURE] = (float)curvature;
  to[SEED_CASE_LEAST] = (float)(c->seeding_three_hit[0] / curvature);
  to[SEED_CASE_PER_P] = (float)(c->seeding_three_hit[1] / curvature);
  to[SEED_CASE_SLOPE] = (float)slope;
  to[SEED_CASE_X] = (float)(bend_of(d_first, ratio) - d_first * slope);
  for (uint32_t missing = 0; missing < SEED_FITS; missing++)
    take_fit(l, odd, missing, to + SEED_CASE_FITS + SEED_FIT_NUMBERS * missing);
}

static int take_constants(const struct sl_services *s, const struct calibration *c, float *to) {
  const struct calibration_formula formulas[] = {
      {"seeding.inverse_p", c->seeding_inverse_p, 1, 3, 2, inverse_p_terms, to + SEED_INVERSE_P},
      {"seeding.bend", c->seeding_bend, 1, 3, 4, qop_terms, to + SEED_QOP}};
  to[SEED_Z_REFERENCE] = (float)c->scifi_z_reference;
  to[SEED_Z_END] = (float)c->scifi_z_end;
  to[SEED_D_RATIO] = (float)c->seeding_d_ratio;
  to[SEED_TOLERANCE] = (float)c->seeding_tolerance;
  const int status = calibration_take_formulas(s, formulas, sizeof formulas / sizeof formulas[0]);
  for (uint32_t i = 0; i < 2; i++)
    to[SEED_CURVATURE + i] = (float)(c->seeding_three_hit[1] * (double)to[SEED_INVERSE_P + i]);
  return status;
}

struct arrays {
  float *d, *bend, *cases, *constants;
};

static int take_all(const struct sl_services *s, const struct calibration *c, double min_momentum,
                    const struct arrays *to) {
  const struct layers layers = layers_of(c);
  const int status = take_constants(s, c, to->constants);
  const double inverse_p[] = {(double)to->constants[SEED_INVERSE_P], (double)to->constants[SEED_INVERSE_P + 1]};
  if (status != SL_OK) return status;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) {
    const double d = c->seeding_z_layer[layer] - c->scifi_z_reference;
    to->d[layer] = (float)d;
    to->bend[layer] = (float)bend_of(d, c->seeding_d_ratio);
  }
  for (uint32_t odd = 0; odd < SEED_CASES; odd++)
    take_case(c, &layers, odd, min_momentum, inverse_p, to->cases + (size_t)SEED_CASE_NUMBERS * odd);
  /* Infinite or not a number if 1/p never reaches 1/min_momentum. */
  if (isfinite(to->cases[SEED_CASE_RANGE])) return SL_OK;
  s->message(s->context, SL_ERROR, "min_momentum: seeding.inverse_p never reaches 1 / %g MeV", min_momentum);
  return SL_EINVAL;
}

static int make(const struct sl_services *s, const struct constants_args *args) {
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  struct arrays to;
  to.d = s->make_array(s->context, "seeding", "d", SCIFI_LAYERS);
  to.bend = s->make_array(s->context, "seeding", "bend", SCIFI_LAYERS);
  to.cases = s->make_array(s->context, "seeding", "cases", SEED_CASES * SEED_CASE_NUMBERS);
  to.constants = s->make_array(s->context, "seeding", "constants", SEED_CONSTANTS);
  int status = to.d && to.bend && to.cases && to.constants && c ? SL_OK : SL_ENOMEM;
  if (status == SL_OK) status = calibration_load_path(s, args->path, c);
  if (status == SL_OK) status = take_all(s, c, (double)args->min_momentum, &to);
  free(c);
  return status;
}

SL_CONSTANT(constants, "constants of the search for seeds: nominal, from a calibration, or LHCb's", make);
