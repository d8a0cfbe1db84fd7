/* waveforms.trapezoid_maximum: largest value of a trapezoidal filter, which is not stored; by one block per waveform
 * (trapezoid.h). Determinism: a maximum does not depend on an order. Cost per sample: reads 8 bytes, four times.
 */
#include "trapezoid.h"

#define SL_ARGS              trapezoid_maximum_args
#define TRAPEZOID_MAXIMUM(M) TRAPEZOID_MEMBERS(M) M(OUT, maximum, waveforms_values, "largest value of the filter")
SL_ARGUMENTS(trapezoid_maximum, TRAPEZOID_MAXIMUM);

/* The largest of the values that the threads of the block have. All threads call it. */
static SL_DEVICE float block_max_f32(float value) {
  const uint32_t order = ~(uint32_t)sl_block_min_u64(~order_of(value));
  return sl_f32_from_bits(order >> 31 ? order & 0x7fffffffu : ~order);
}

SL_KERNEL(find_maximum, struct trapezoid_maximum_args) {
  const struct trapezoid t = trapezoid_of(a.rise, a.flat, a.fall);
  const uint32_t samples = a.sums.entries - 1, rounds = samples / SL_LANES;
  SL_FOR_EVENTS (event, a.events) {
    const double *sum = a.sums.sum + (size_t)event * a.sums.entries;
    float largest = trapezoid_at(&t, sum, 0), of_lane[SL_LANES];
    sl_f32s of_lanes = sl_f32s_of(largest);
    for (uint32_t round = threadIdx.x; round < rounds; round += blockDim.x)
      of_lanes = sl_f32s_max(trapezoid_lanes(&t, sum, SL_LANES * round), of_lanes);
    for (uint32_t n = SL_LANES * rounds + threadIdx.x; n < samples; n += blockDim.x)
      largest = sl_max_f32(trapezoid_at(&t, sum, n), largest);
    sl_f32s_out(of_lane, of_lanes);
    SL_FOR_LANES (j) largest = sl_max_f32(of_lane[j], largest);
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
