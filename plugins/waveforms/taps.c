/* taps.c: waveforms.cusp_taps and t0_taps, taps of filters for waveforms.convolve. */
#include "cusp.h"

#define SL_ARGS cusp_taps_args
#define CUSP_TAPS(M)                                                  \
  M(OUT, taps, waveforms_taps, "taps of the filter")                  \
  M(U32, length, 3192, 4, CUSP_TAPS_MAX, "samples", "number of taps") \
  CUSP_PROPERTIES(M)
SL_HOST_ARGUMENTS(cusp_taps, CUSP_TAPS);
#undef SL_ARGS

static int make_cusp(const struct sl_services *s, const struct cusp_taps_args *a) {
  struct cusp c;
  const int status = cusp_make(s, a->length, a->flat, a->sigma, a->tau, a->zero_area, &c);
  if (status < 0) return status;
  double *taps = (double *)s->make_array(s->context, "taps", "value", a->length);
  if (!taps) return SL_ENOMEM;
  double before = 0.0;
  for (uint32_t i = 0; i < a->length; i++) {
    const double value = cusp_value(&c, i);
    taps[i] = value - c.decay * before;
    before = value;
  }
  return SL_OK;
}

SL_CONSTANT(cusp_taps, "taps of the cusp filter, or of the cusp filter of zero area", make_cusp);

#define SL_ARGS t0_taps_args
#define T0_TAPS(M)                                                             \
  M(OUT, taps, waveforms_taps, "taps of the filter")                           \
  M(U32, rise, 8, 1, 4096, "samples", "length of the falling ramp, of area 1") \
  M(U32, fall, 125, 1, SAMPLES_MAX, "samples", "length of the constant part, of area -1")
SL_HOST_ARGUMENTS(t0_taps, T0_TAPS);

static int make_t0(const struct sl_services *s, const struct t0_taps_args *a) {
  double *taps = (double *)s->make_array(s->context, "taps", "value", (uint64_t)a->rise + a->fall);
  if (!taps) return SL_ENOMEM;
  for (uint32_t j = 0; j < a->rise; j++) taps[j] = 2.0 * (a->rise - j) / ((double)a->rise * (a->rise + 1.0));
  for (uint32_t j = 0; j < a->fall; j++) taps[a->rise + j] = -1.0 / a->fall;
  return SL_OK;
}

SL_CONSTANT(t0_taps, "taps of the filter of t0_filter", make_t0);
