/* places.cu: a kernel that can write its outputs over its inputs. */
#include "numbers.h"

#include <sluice/kernel.h>

/* ---------------------------------------------------------------------------------------------------- mix */

struct mix_args {
  struct sl_events events;
  struct toy_numbers_view numbers, others;
  struct toy_sums_view before;
  struct toy_numbers mixed;
  struct toy_sums sums;
};
#define SL_ARGS mix_args
static const struct sl_member mix_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "", "numbers"),
    SL_OPTIONAL_IN(others, toy_numbers, "", "numbers with equal offsets"),
    SL_IN(before, toy_sums, "", "sums"),
    SL_OUT(mixed, toy_numbers, "number i + number i from the end of the others + 1", SL_SHARES_OFFSETS(numbers),
           SL_IN_PLACE(numbers)),
    SL_OUT(sums, toy_sums, "sums of `before`, plus 1", SL_IN_PLACE(before)),
};
#undef SL_ARGS

/* A thread writes only where it has already read. */
SL_KERNEL(mix_values, struct mix_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const uint32_t begin = a.numbers.offsets[event], end = a.numbers.offsets[event + 1];
    for (uint32_t i = begin; i < end; i++) {
      const uint32_t other = a.others.value ? a.others.value[begin + end - 1 - i] : 0;
      a.mixed.value[i] = a.numbers.value[i] + other + 1;
    }
    a.sums.count[event] = a.before.count[event] + 1;
    a.sums.sum[event] = a.before.sum[event] + 1;
    a.sums.mean[event] = a.before.mean[event] + 1.0f;
  }
}

static int run_mix(const struct sl_launch *l, const struct mix_args *a) {
  return SL_LAUNCH(l, mix_values, SL_THREAD_PER_EVENT, *a);
}
SL_ALGORITHM(mix, "adds numbers and earlier sums", 64, run_mix);
