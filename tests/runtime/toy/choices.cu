/* choices.cu: kernels whose properties are more than a number: enumerations and arrays. */
#include "numbers.h"

#include <sluice/kernel.h>

struct weigh_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_sums sums;
  uint32_t what;
  int32_t shifts[2];
  float weights[3];
};
#define SL_ARGS weigh_args
static const struct sl_member weigh_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_OUT(sums, toy_sums, "count: the shifts' sum; sum: as `what` says; mean: the sum of the weighted numbers"),
    SL_ENUM(what, "total", "what is put into sum", "total largest"),
    SL_I32_ARRAY(shifts, 2, "[1, 2]", -10, 10, "", "added together"),
    SL_F32_ARRAY(weights, 3, "[1, 0.5, 0.25]", -8, 8, "", "of a number, by its place modulo three"),
};
#undef SL_ARGS
enum { WHAT_TOTAL, WHAT_LARGEST };

SL_KERNEL(weigh_values, struct weigh_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t result = 0;
    float weighed = 0.0f;
    if (threadIdx.x != 0) continue;
    for (uint32_t i = a.numbers.offsets[event]; i < a.numbers.offsets[event + 1]; i++) {
      const uint32_t value = a.numbers.value[i];
      result = a.what == WHAT_TOTAL ? result + value : value > result ? value : result;
      weighed += a.weights[(i - a.numbers.offsets[event]) % 3] * (float)value;
    }
    a.sums.count[event] = (uint32_t)(a.shifts[0] + a.shifts[1]);
    a.sums.sum[event] = result;
    a.sums.mean[event] = weighed;
  }
}

static int run_weigh(const struct sl_launch *l, const struct weigh_args *a) {
  return SL_LAUNCH(l, weigh_values, SL_PER_EVENT, *a);
}
SL_ALGORITHM(weigh, "weighs numbers", 64, run_weigh);
