/* generic.filter: event list of the events with at least `count` values of a field within limits. The graph names the
 * field: one value per event, or the values of all items or subitems of the event.
 *
 *   1. count_values  one block per event counts the values within the limits and compares with `count`
 *   2. list_events   one block makes the list in ascending order
 *
 * Determinism: counts are sums of integers. Cost: reads the values once; writes and reads 4 bytes per event.
 */
#include <sluice/kernel.h>

#define LARGEST 1.7976931348623157e308

#define SL_ARGS filter_args
#define FILTER(M)                                                                        \
  M(FIELD_REF, of, "", "field with the values that are compared")                        \
  M(OUT, passed, sl_event_list, "selected events, ascending")                            \
  M(SCRATCH, passes, u32, "1 for selected events", SL_ONE(SL_EVENTS_TERM(1, 0)))         \
  M(F64, minimum, -LARGEST, -LARGEST, LARGEST, "", "smallest accepted value, inclusive") \
  M(F64, maximum, LARGEST, -LARGEST, LARGEST, "", "largest accepted value, inclusive")   \
  M(U32, count, 1, 0, 0xFFFFFFFF, "", "minimum number of accepted values of a selected event")
SL_ARGUMENTS(filter, FILTER);

/* Number of accepted values of an event among those from `first` on, in steps of `step`. */
static SL_DEVICE uint32_t accepted_values(const struct filter_args *a, uint32_t event, uint32_t first, uint32_t step) {
  const uint64_t end = sl_field_begin(&a->of, event + 1);
  uint32_t count = 0;
  for (uint64_t i = sl_field_begin(&a->of, event) + first; i < end; i += step) {
    const double value = sl_field_f64(&a->of, i), rest = sl_field_remainder(&a->of, i, value);
    const uint32_t reaches = value > a->minimum || (value == a->minimum && rest >= 0.0);
    const uint32_t exceeds = value > a->maximum || (value == a->maximum && rest > 0.0);
    count += reaches && !exceeds ? 1u : 0u; /* NaN is never within limits */
  }
  return count;
}

static SL_DEVICE uint32_t is_selected(const struct filter_args *a, uint32_t accepted,
                                      struct sl_explanation *explanation) {
  SL_REQUIRE("values from minimum to maximum", accepted, >=, a->count);
  return 1;
}

SL_KERNEL(count_values, struct filter_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t count = sl_block_sum_u32(accepted_values(&a, event, threadIdx.x, blockDim.x));
    if (threadIdx.x == 0) a.passes[event] = is_selected(&a, count, NULL);
  }
}

static SL_DEVICE uint32_t explain_event(const struct filter_args *a, uint32_t event,
                                        struct sl_explanation *explanation) {
  return is_selected(a, accepted_values(a, event, 0, 1), explanation);
}
SL_EXPLAIN_EVENTS(filter, explain_event)

static SL_DEVICE uint32_t passes(const struct filter_args *a, uint32_t event) { return a->passes[event]; }

SL_KERNEL(list_events, struct filter_args) {
  if (blockIdx.x == 0) SL_LIST_EVENTS(&a, a.passed, passes);
}

static int run(const struct sl_launch *l, const struct filter_args *a) {
  const int status = SL_LAUNCH(l, count_values, SL_PER_EVENT, *a);
  return status == SL_OK ? SL_LAUNCH(l, list_events, SL_PER_EVENT, *a) : status;
}

SL_ALGORITHM(filter, "selects events by the values of any field", 64, run, SL_EXPLAIN(filter_explain_));
