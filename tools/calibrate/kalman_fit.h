/* kalman_fit.h: derives the constants of the transport of plugins/kalman from tracks, writes them, and compares them
 * with other tracks. */
#ifndef CALIBRATE_KALMAN_FIT_H
#define CALIBRATE_KALMAN_FIT_H

#include "kalman/description.h"
#include "kalman_gun.h"

#include <stdio.h>

struct kalman_gun_sample {
  struct kalman_gun_track *tracks;
  uint32_t count;
};

/* Shoots and stores `count` tracks. 0 or SL_ENOMEM. */
int kalman_sample_shoot(const struct field_map *map, uint64_t seed, uint32_t count, struct kalman_gun_sample *sample);

/* Fits the polynomials of all legs. SL_EINVAL: too few tracks. */
int kalman_fit(const struct kalman_gun_sample *sample, struct kalman_description *description);

/* Writes the format of kalman/description.h. Coefficients have ten digits. */
void kalman_write(FILE *file, const struct kalman_description *description);

/* Quantiles of the absolute errors of a leg, for tracks in a bin of momentum. */
enum { KALMAN_CLOSURE_BINS = 4, KALMAN_CLOSURE_SHARES = 2 };
extern const double kalman_closure_p[KALMAN_CLOSURE_BINS + 1];    /* GeV */
extern const double kalman_closure_shares[KALMAN_CLOSURE_SHARES]; /* 68 % and 99 % */
struct kalman_closure {
  uint32_t count;
  double errors[KALMAN_OUTPUTS][KALMAN_CLOSURE_SHARES];      /* mm, and without unit */
  double errors_by_p[KALMAN_OUTPUTS][KALMAN_CLOSURE_SHARES]; /* times p in GeV */
};
int kalman_closure_measure(const struct kalman_description *description, const struct kalman_gun_sample *sample,
                           int leg, int bin, struct kalman_closure *closure);
/* Prints a Markdown table of all legs and bins. 0 or SL_ENOMEM. */
int kalman_closure_print(FILE *file, const struct kalman_description *description,
                         const struct kalman_gun_sample *sample);

#endif
