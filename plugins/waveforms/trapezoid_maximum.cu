/* waveforms.trapezoid_maximum: largest value of a trapezoidal filter, which is not stored; by one block per waveform
 * (trapezoid.h). Determinism: a maximum does not depend on an order. Cost per sample: reads 8 bytes, four times.
 */
#include "trapezoid.h"

#define SL_ARGS              trapezoid_maximum_args
#define TRAPEZOID_MAXIMUM(M) TRAPEZOID_MEMBERS(M) M(OUT, maximum, waveforms_values, "largest value of the filter")
SL_ARGUMENTS(trapezoid_maximum, TRAPEZOID_MAXIMUM);

SL_KERNEL(find_maximum, struct trapezoid_maximum_args) {
  const struct trapezoid t = trapezoid_of(a.rise, a.flat, a.fall);
  const uint32_t samples = a.sums.entries - 1, head = t.all - 1, tiles = (samples - head) / 32;
  SL_FOR_EVENTS (event, a.events) {
    const double *sum = a.sums.sum + (size_t)event * a.sums.entries;
    float largest = trapezoid_at(&t, sum, 0), of_lane[SL_LANES32];
    SL_FOR_LANES32 (j) of_lane[SL_LANE32(j)] = largest;
    SL_FOR_GROUPS (tile, tiles, 32) {
      if (tile >= tiles) continue;
      const double *end = sum + head + 32 * tile + 1, *after_flat = end - t.rise, *before_flat = end - t.gap;
      const double *begin = end - t.all;
      SL_FOR_LANES32 (j) {
        const float value = trapezoid_value(&t, end[j], after_flat[j], before_flat[j], begin[j]);
        of_lane[SL_LANE32(j)] = sl_max_f32(value, of_lane[SL_LANE32(j)]);
      }
    }
    SL_FOR_LANES32 (j) largest = sl_max_f32(of_lane[SL_LANE32(j)], largest);
    for (uint32_t n = threadIdx.x; n < head; n += blockDim.x) largest = sl_max_f32(trapezoid_at(&t, sum, n), largest);
    for (uint32_t n = head + 32 * tiles + threadIdx.x; n < samples; n += blockDim.x)
      largest = sl_max_f32(trapezoid_at(&t, sum, n), largest);
    largest = block_max_f32(largest);
    if (threadIdx.x == 0) {
      a.maximum.value[event] = largest;
      a.maximum.valid[event] = 1;
    }
  }
}

static int run(const struct sl_launch *l, const struct trapezoid_maximum_args *a) {
  return SL_LAUNCH(l, find_maximum, SL_PER_EVENT, *a);
}

TRAPEZOID_CHECK(trapezoid_maximum)
SL_ALGORITHM(trapezoid_maximum, "largest value of a trapezoidal filter, which is not stored", 256, run,
             SL_CHECK(check));
