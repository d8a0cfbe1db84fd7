/* waveforms.trapezoid: symmetric or asymmetric trapezoidal filter, by one block per waveform (trapezoid.h).
 * Determinism: each output depends on four sums. Cost per sample: reads 8 bytes, four times, and writes 4.
 */
#include "trapezoid.h"

#define SL_ARGS trapezoid_args
#define TRAPEZOID(M)                                         \
  TRAPEZOID_MEMBERS(M)                                       \
  M(OUT, filtered, waveforms_series, "values of the filter", \
    SL_DIMENSIONS(SL_DIMENSION_SCALED(sums, entries, 1, 1, (uint32_t)-1)))
SL_ARGUMENTS(trapezoid, TRAPEZOID);

SL_KERNEL(filter_sums, struct trapezoid_args) {
  const struct trapezoid t = trapezoid_of(a.rise, a.flat, a.fall);
  const uint32_t samples = a.filtered.length, rounds = samples / SL_LANES;
  SL_FOR_EVENTS (event, a.events) {
    const double *sum = a.sums.sum + (size_t)event * a.sums.entries;
    float *to = a.filtered.value + (size_t)event * samples;
    for (uint32_t round = threadIdx.x; round < rounds; round += blockDim.x)
      sl_f32s_store(to + SL_LANES * round, trapezoid_lanes(&t, sum, SL_LANES * round), SL_LANES);
    for (uint32_t n = SL_LANES * rounds + threadIdx.x; n < samples; n += blockDim.x) to[n] = trapezoid_at(&t, sum, n);
    if (threadIdx.x == 0) a.filtered.valid[event] = 1;
  }
}

static int run(const struct sl_launch *l, const struct trapezoid_args *a) {
  return SL_LAUNCH(l, filter_sums, SL_PER_EVENT, *a);
}

TRAPEZOID_CHECK(trapezoid)
SL_ALGORITHM(trapezoid, "trapezoidal filter, symmetric or asymmetric", 256, run, SL_CHECK(check));
