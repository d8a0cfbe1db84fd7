/* generic.filter: a list of the events that have enough values of a field within limits. The field is any that the
 * graph names: by event, where one value decides, by item or by subitem.
 *
 *   1. count_values  a block an event counts its values, and says whether they are enough
 *   2. list_events   one block makes the list, so that it is in ascending order without a second pass
 *
 * Work and reads are the field's values, once, and a word an event.
 */
#include <sluice/kernel.h>

#define LARGEST 1.7976931348623157e308

#define SL_ARGS filter_args
#define FILTER(M)                                                                 \
  M(FIELD_REF, of, "", "whose values decide")                                     \
  M(OUT, passed, sl_event_list, "the events that pass, in ascending order")       \
  M(SCRATCH, passes, u32, "1 for events that pass", SL_ONE(SL_EVENTS_TERM(1, 0))) \
  M(F64, minimum, -LARGEST, -LARGEST, LARGEST, "", "of a value, itself included") \
  M(F64, maximum, LARGEST, -LARGEST, LARGEST, "", "of a value, itself included")  \
  M(U32, count, 1, 0, 0xFFFFFFFF, "", "an event passes with so many values from minimum to maximum, or more")
SL_ARGUMENTS(filter, FILTER);

SL_KERNEL(count_values, struct filter_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint64_t end = sl_field_begin(&a.of, event + 1);
    uint32_t count = 0; /* of this thread */
    for (uint64_t i = sl_field_begin(&a.of, event) + threadIdx.x; i < end; i += blockDim.x) {
      const double value = sl_field_f64(&a.of, i), rest = sl_field_rest(&a.of, i, value);
      const uint32_t reaches = value > a.minimum || (value == a.minimum && rest >= 0.0);
      const uint32_t exceeds = value > a.maximum || (value == a.maximum && rest > 0.0);
      count += reaches && !exceeds ? 1u : 0u; /* never if it is not a number */
    }
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.passes[event] = count >= a.count ? 1u : 0u;
  }
}

static SL_DEVICE uint32_t passes(const struct filter_args *a, uint32_t event) { return a->passes[event]; }

SL_KERNEL(list_events, struct filter_args) {
  if (blockIdx.x == 0) SL_LIST_EVENTS(&a, a.passed, passes);
}

static int run(const struct sl_launch *l, const struct filter_args *a) {
  const int status = SL_LAUNCH(l, count_values, SL_PER_EVENT, *a);
  return status == SL_OK ? SL_LAUNCH(l, list_events, SL_PER_EVENT, *a) : status;
}

SL_ALGORITHM(filter, "selects events by the values of any field", 64, run);
