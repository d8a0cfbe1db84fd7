/* kalman_fit.c: fits the polynomials (kalman_fit.h). */
#include "kalman_fit.h"

#include "regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double polarity = -1;

int kalman_sample_shoot(const struct field_map *map, uint64_t seed, uint32_t count, struct kalman_gun_sample *sample) {
  *sample = (struct kalman_gun_sample){.tracks = (struct kalman_gun_track *)malloc(count * sizeof *sample->tracks)};
  if (!sample->tracks) return SL_ENOMEM;
  for (; sample->count < count; sample->count++)
    kalman_gun_shoot(map, seed, sample->count, &sample->tracks[sample->count]);
  return SL_OK;
}

static int crosses(const struct kalman_gun_track *t, int leg) { return t->first <= leg && t->last > leg; }

/* Least-squares slope of tx - x / z against -pol q/p, at the begin of the leg; rounded, as it is written. */
static double bend_of(const struct kalman_gun_sample *sample, int leg) {
  const double digits = 1e4;
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < sample->count; i++) {
    const struct kalman_gun_track *t = &sample->tracks[i];
    if (!crosses(t, leg)) continue;
    const double *s = t->begin[leg], f = -polarity * t->q_over_p;
    sum += (s[KALMAN_TX] - s[KALMAN_X] / kalman_gun_z[leg]) * f;
    squares += f * f;
  }
  return squares > 0 ? floor(digits * (sum / squares) + 0.5) / digits : 0;
}

/* Fits x and tx, or y and ty. Points have the weight p. */
static int fit(const struct kalman_gun_sample *sample, int leg, int is_y, struct kalman_leg *constants) {
  struct kalman_term terms[KALMAN_TERMS_MAX];
  struct regression r;
  const int kind = kalman_kind(leg), count = kalman_list_terms(kind, is_y, terms);
  const int position = is_y ? KALMAN_Y : KALMAN_X, slope = is_y ? KALMAN_TY : KALMAN_TX;
  int status = regression_begin(&r, (size_t)count, 2);
  for (uint32_t i = 0; i < sample->count && status == SL_OK; i++) {
    const struct kalman_gun_track *t = &sample->tracks[i];
    if (!crosses(t, leg)) continue;
    double *row = regression_row(&r), at[KALMAN_VARIABLES];
    if (!row) {
      status = SL_ENOMEM;
      break;
    }
    const double *begin = t->begin[leg], *end = t->end[leg + 1];
    const double state[5] = {begin[0], begin[1], begin[2], begin[3], t->q_over_p};
    const double weight = 1 / (KALMAN_PHI_P * fabs(t->q_over_p));
    kalman_variables(kind, constants, polarity, state, at);
    for (int k = 0; k < count; k++) row[k] = weight * kalman_monomial(&terms[k], at, -1);
    row[count] = weight * (end[position] - begin[position] - begin[slope] * (constants->z_end - constants->z_begin));
    row[count + 1] = weight * (end[slope] - begin[slope]);
  }
  if (status == SL_OK) status = regression_solve(&r, 0, constants->coefficients[position]);
  if (status == SL_OK) status = regression_solve(&r, 1, constants->coefficients[slope]);
  regression_end(&r);
  return status;
}

int kalman_fit(const struct kalman_gun_sample *sample, struct kalman_description *d) {
  int status = SL_OK;
  memset(d, 0, sizeof *d);
  for (int l = 0; l < KALMAN_LEGS && status == SL_OK; l++) {
    struct kalman_leg *leg = &d->legs[l];
    leg->z_begin = kalman_gun_z[l];
    leg->z_end = kalman_gun_z[l + 1];
    leg->x_max = kalman_gun_size[l][0];
    leg->y_max = kalman_gun_size[l][1];
    leg->bend = kalman_kind(l) == KALMAN_LONG ? bend_of(sample, l) : 0;
    status = fit(sample, l, 0, leg);
    if (status == SL_OK) status = fit(sample, l, 1, leg);
  }
  return status;
}

void kalman_write(FILE *file, const struct kalman_description *d) {
  const double least = 1e-12; /* coefficients below are written as 0 */
  fprintf(file, "kalman %d\n", KALMAN_FORMAT);
  for (int l = 0; l < KALMAN_LEGS; l++) {
    const struct kalman_leg *leg = &d->legs[l];
    fprintf(file, "leg %d from %.10g to %.10g x_max %.10g y_max %.10g bend %.10g\n", l, leg->z_begin, leg->z_end,
            leg->x_max, leg->y_max, leg->bend);
    for (int o = 0; o < KALMAN_OUTPUTS; o++) {
      struct kalman_term terms[KALMAN_TERMS_MAX];
      const int count = kalman_list_terms(kalman_kind(l), kalman_is_y(o), terms);
      fprintf(file, "polynomial %d %s\n", l, kalman_output_names[o]);
      for (int k = 0; k < count; k++) {
        const double c = leg->coefficients[o][k];
        const int *power = terms[k].power;
        fprintf(file, "term %.10g %d %d %d %d %d\n", fabs(c) < least ? 0 : c, power[0], power[1], power[2], power[3],
                power[4]);
      }
    }
  }
}
