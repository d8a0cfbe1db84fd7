/* lumi.summarize: makes a luminosity summary of each event of the node's event list (README.md).
 *
 * One kernel, one block per event. The bank of entry i of the event list is item i and has room for a full summary, so
 * no counting pass and no scan are needed. Block i also writes the offsets of the events after entry i - 1 up to its
 * own. Cost per event: reads 25 bytes per track and the vertices, writes 240 bytes.
 */
#include "summarize_event.h"

/* Writes the offsets of the events after the previous one of the list up to this one; after the last one, all others.
 */
static SL_DEVICE void write_offsets(const struct summarize_args *a, uint32_t item) {
  const struct sl_events *list = &a->events;
  const uint32_t event = sl_event_at(list, item), is_last = item + 1 == *list->count;
  const uint32_t first = item == 0 ? 0 : sl_event_at(list, item - 1) + 1, end = is_last ? list->max : event;
  for (uint32_t e = first + threadIdx.x; e <= end; e += blockDim.x)
    a->summaries.offsets[e] = e <= event ? item : item + 1;
}

SL_KERNEL(summarize_events, struct summarize_args) {
  if (sl_grid_thread() == 0) {
    if (a.summaries.bound.used) *a.summaries.bound.used = *a.events.count; /* as a scan would */
    a.summaries.word_offsets[0] = 0;
    if (*a.events.count == 0) a.summaries.offsets[0] = 0;
  }
  for (uint32_t item = blockIdx.x; item < *a.events.count; item += gridDim.x) {
    write_offsets(&a, item);
    lumi_summarize_event(&a, sl_event_at(&a.events, item), item);
  }
}

static int run(const struct sl_launch *l, const struct summarize_args *a) {
  return SL_LAUNCH(l, summarize_events, SL_PER_EVENT, *a);
}

SL_ALGORITHM(summarize, "luminosity counters of events, as HltLumiSummary banks", 128, run, SL_ERRORS_OF(lumi_errors),
             SL_CHECK(lumi_check), SL_PREPARE(lumi_prepare));
