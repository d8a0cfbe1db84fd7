/* kalman_closure.c: compares the constants with independent tracks (kalman_fit.h). */
#include "kalman_fit.h"
#include "least_squares.h"

#include <math.h>

const double kalman_closure_p[KALMAN_CLOSURE_BINS + 1] = {2.5, 5, 10, 20, 100};
const double kalman_closure_shares[KALMAN_CLOSURE_SHARES] = {0.68, 0.99};

static const char *const plane_names[KALMAN_PLANES] = {"V",  "U0", "U1", "U2", "U3", "T0", "T1",  "T2", "T3",
                                                       "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T11"};

/* Adds the errors of a track, and the errors times p in GeV. */
static int add(const struct kalman_leg *constants, const struct kalman_gun_track *t, int leg, double p,
               struct numbers *errors, struct numbers *by_p) {
  const double *begin = t->begin[leg];
  const double state[5] = {begin[0], begin[1], begin[2], begin[3], t->q_over_p};
  double end[KALMAN_OUTPUTS], jacobian[KALMAN_OUTPUTS][5];
  int status = SL_OK;
  kalman_transport_plain(leg, constants, -1, state, end, jacobian);
  for (int o = 0; o < KALMAN_OUTPUTS && status == SL_OK; o++) {
    const double error = fabs(end[o] - t->end[leg + 1][o]);
    status = numbers_add(&errors[o], error);
    if (status == SL_OK) status = numbers_add(&by_p[o], error * p);
  }
  return status;
}

int kalman_closure_measure(const struct kalman_description *d, const struct kalman_gun_sample *sample, int leg, int bin,
                           struct kalman_closure *closure) {
  struct numbers errors[KALMAN_OUTPUTS] = {{0}}, by_p[KALMAN_OUTPUTS] = {{0}};
  const double mev = 1e-3;
  int status = SL_OK;
  *closure = (struct kalman_closure){0};
  for (uint32_t i = 0; i < sample->count && status == SL_OK; i++) {
    const struct kalman_gun_track *t = &sample->tracks[i];
    const double p = mev / fabs(t->q_over_p);
    if (t->first > leg || t->last <= leg || p < kalman_closure_p[bin] || p >= kalman_closure_p[bin + 1]) continue;
    status = add(&d->legs[leg], t, leg, p, errors, by_p);
    closure->count++;
  }
  for (int o = 0; o < KALMAN_OUTPUTS; o++) {
    for (int k = 0; k < KALMAN_CLOSURE_SHARES; k++) {
      closure->errors[o][k] = quantile(&errors[o], kalman_closure_shares[k]);
      closure->errors_by_p[o][k] = quantile(&by_p[o], kalman_closure_shares[k]);
    }
    numbers_free(&errors[o]);
    numbers_free(&by_p[o]);
  }
  return status;
}

static void print_pair(FILE *file, double unit, const double pair[KALMAN_CLOSURE_SHARES]) {
  fprintf(file, "| %.2g / %.2g ", pair[0] * unit, pair[1] * unit);
}

int kalman_closure_print(FILE *file, const struct kalman_description *d, const struct kalman_gun_sample *sample) {
  static const double units[KALMAN_OUTPUTS] = {1e3, 1e3, 1e6, 1e6};
  fprintf(file,
          "Errors of the polynomials of each leg, for independent tracks: 68 %% / 99 %% of the tracks have smaller "
          "ones.\n\n"
          "| leg | p, GeV | tracks | x, um | y, um | tx, 1e-6 | ty, 1e-6 | x p, um GeV | y p, um GeV | tx p, keV | ty "
          "p, keV |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int l = 0; l < KALMAN_LEGS; l++)
    for (int bin = 0; bin < KALMAN_CLOSURE_BINS; bin++) {
      struct kalman_closure c;
      const int status = kalman_closure_measure(d, sample, l, bin, &c);
      if (status < 0) return status;
      fprintf(file, "| %s-%s | %g-%g | %u ", plane_names[l], plane_names[l + 1], kalman_closure_p[bin],
              kalman_closure_p[bin + 1], c.count);
      for (int o = 0; o < KALMAN_OUTPUTS; o++) print_pair(file, units[o], c.errors[o]);
      for (int o = 0; o < KALMAN_OUTPUTS; o++) print_pair(file, units[o], c.errors_by_p[o]);
      fprintf(file, "|\n");
    }
  return SL_OK;
}
