/* lanes.c: see lanes.h. */
#include "lanes.h"

#include <sluice/vectors.h>

#include <math.h>

VECTOR_INLINE f32x8 fma_of(f32x8 a, f32x8 b, f32x8 sum) {
  for (int i = 0; i < LANES; i++) sum[i] = fmaf(a[i], b[i], sum[i]);
  return sum;
}
#define KALMAN_NUMBER         f32x8
#define KALMAN_NUMBER_OF(x)   f32x8_of(x)
#define KALMAN_FMA(a, b, sum) fma_of(a, b, sum)
#include "ends.h"

void transport_lanes(int leg, const struct kalman_leg_scales *scales, const float *coefficients,
                     float states[5][TEST_LANES], float ends[4][TEST_LANES], float jacobians[4][5][TEST_LANES]) {
  f32x8 state[5], end[4], jacobian[4][5];
  struct kalman_change change;
  for (int k = 0; k < 5; k++) state[k] = f32x8_load(states[k]);
  kalman_transport(kalman_kind(leg), scales, coefficients, -1, state, &change);
  ends_of(scales, state, &change, end, jacobian);
  for (int o = 0; o < 4; o++) {
    f32x8_store(ends[o], end[o]);
    for (int k = 0; k < 5; k++) f32x8_store(jacobians[o][k], jacobian[o][k]);
  }
}
