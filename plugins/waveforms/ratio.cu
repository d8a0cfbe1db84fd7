/* waveforms.ratio: quotient of two values of a waveform, one thread per waveform.
 */
#include "windows.h"

#define SL_ARGS ratio_args
#define RATIO(M)                                           \
  M(IN, numerator, waveforms_values, "", "numerators")     \
  M(IN, denominator, waveforms_values, "", "denominators") \
  M(OUT, ratio, waveforms_values, "none where one of the two is none, or the denominator is 0")
SL_ARGUMENTS(ratio, RATIO);

SL_KERNEL(divide, struct ratio_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const float below = a.denominator.value[event];
    const uint32_t is_valid = a.numerator.valid[event] && a.denominator.valid[event] && below != 0.0f;
    a.ratio.value[event] = is_valid ? a.numerator.value[event] / below : 0.0f;
    a.ratio.valid[event] = is_valid;
  }
}

static int run(const struct sl_launch *l, const struct ratio_args *a) {
  return SL_LAUNCH(l, divide, SL_THREAD_PER_EVENT, *a);
}
SL_ALGORITHM(ratio, "quotient of two values of a waveform", 64, run);
