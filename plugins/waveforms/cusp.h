/* cusp.h: the cusp kernel and the cusp kernel of zero area, for waveforms.cusp_filter and the constant cusp_taps.
 *
 * Without the correction of the decay, c[0..K-1], with L = (K - f) / 2 rounded down, a flat top of f + 1 values and
 * j = K - i in the falling part:
 *
 *   c[i] = sinh(i / sigma) / sinh(L / sigma),  i < L;    1,  L <= i <= L + f;    sinh(j / sigma) / sinh(L / sigma)
 *
 * Zero area: c[i] less the ratio of the sums of c and p, times p[i] = i (i - L), 0, j (j - L).
 * Taps: k[0] = c[0], k[i] = c[i] - exp(-1 / tau) c[i-1]: a pulse with the decay time tau gives its height.
 */
#ifndef WAVEFORMS_CUSP_H
#define WAVEFORMS_CUSP_H

#include "windows.h"

#include <sluice/math64.h>

enum { CUSP_TAPS_MAX = 1 << 17 }; /* so that 64 bits are enough for sums of samples times p */

#define CUSP_PROPERTIES(M)                                                                             \
  M(F64, sigma, 1250, 1e-3, 1e9, "samples", "time constant of the rise and of the fall of the kernel") \
  M(U32, flat, 188, 0, SAMPLES_MAX, "samples", "length of the flat top of the kernel")                 \
  M(F64, tau, 28125, 1e-3, 1e12, "samples", "decay time of the pulses for which the kernel corrects")  \
  M(BOOL, zero_area, 0, "subtract parabolas from the kernel so that its area is 0")

struct cusp {
  uint32_t taps, rise, flat, fall; /* K, L, f, and number of values after the flat top */
  double sigma;
  double gain;  /* 1 / (1 - e^(-2 L / sigma)) */
  double ratio; /* of the sums of c and p; 0 without zero area */
  double decay; /* exp(-1 / tau) */
};

/* sinh(x / sigma) / sinh(L / sigma) for x from 0 to L, without the large numbers. */
static inline SL_UNUSED double cusp_slope(const struct cusp *c, double x) {
  return c->gain * (sl_exp((x - c->rise) / c->sigma) - sl_exp((-x - c->rise) / c->sigma));
}

static inline SL_UNUSED double cusp_parabola(const struct cusp *c, uint32_t i) {
  const double x = i < c->rise ? i : c->taps - i;
  return i < c->rise || i > c->rise + c->flat ? x * (x - c->rise) : 0.0;
}

static inline SL_UNUSED double cusp_value(const struct cusp *c, uint32_t i) {
  const uint32_t is_slope = i < c->rise || i > c->rise + c->flat;
  const double value = is_slope ? cusp_slope(c, i < c->rise ? i : c->taps - i) : 1.0;
  return value - c->ratio * cusp_parabola(c, i);
}

/* Makes the kernel of `taps` values, on the host, or reports why there is none. */
static inline SL_UNUSED int cusp_make(const struct sl_services *s, int64_t taps, uint32_t flat, double sigma,
                                      double tau, uint32_t zero_area, struct cusp *c) {
  if (taps < (int64_t)flat + 4 || taps > CUSP_TAPS_MAX) {
    s->message(s->context, SL_ERROR, "length: the kernel has %lld taps; %u to %u are expected with a flat top of %u",
               (long long)taps, flat + 4, (unsigned)CUSP_TAPS_MAX, flat);
    return SL_EINVAL;
  }
  double sum = 0.0, sum_of_parabolas = 0.0;
  c->taps = (uint32_t)taps;
  c->rise = (c->taps - flat) / 2;
  c->flat = flat;
  c->fall = c->taps - c->rise - flat - 1;
  c->sigma = sigma;
  c->gain = -1.0 / sl_expm1(-2.0 * c->rise / sigma);
  c->ratio = 0.0;
  c->decay = sl_exp(-1.0 / tau);
  for (uint32_t i = 0; zero_area && i < c->taps; i++) {
    sum += cusp_value(c, i);
    sum_of_parabolas += cusp_parabola(c, i);
  }
  if (zero_area) c->ratio = sum / sum_of_parabolas;
  return SL_OK;
}

#endif
