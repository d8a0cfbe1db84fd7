/* cusp_reference.h: the cusp kernels as they are defined, in long double. */
#ifndef CUSP_REFERENCE_H
#define CUSP_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct cusp_case {
  uint32_t taps, flat, zero_area;
  double sigma, tau;
};

/* Taps of a kernel; freed by the caller. */
static inline long double *cusp_reference(const struct cusp_case *c) {
  long double *kernel = calloc(c->taps, sizeof *kernel), *parabola = calloc(c->taps, sizeof *parabola);
  long double area = 0, of_parabola = 0;
  const uint32_t rise = (c->taps - c->flat) / 2;
  for (uint32_t i = 0; kernel && parabola && i < c->taps; i++) {
    const uint32_t distance = i < rise ? i : i > rise + c->flat ? c->taps - i : rise;
    kernel[i] = sinhl(distance / (long double)c->sigma) / sinhl(rise / (long double)c->sigma);
    if (distance != rise) {
      const long double half = rise / 2.0L;
      parabola[i] = (distance - half) * (distance - half) - half * half;
    }
    area += kernel[i];
    of_parabola += parabola[i];
  }
  if (!kernel || !parabola) abort();
  for (uint32_t i = 0; c->zero_area && i < c->taps; i++) kernel[i] -= parabola[i] * area / of_parabola;
  for (uint32_t i = c->taps - 1; i > 0; i--) kernel[i] -= expl(-1 / (long double)c->tau) * kernel[i - 1];
  free(parabola);
  return kernel;
}

#endif
