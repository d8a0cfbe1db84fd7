/* lumi.summarize: a luminosity summary of each event that the node runs on (README.md).
 *
 * One kernel, a block an event of the list. The bank of the list's event i is item i, and takes the room of a full
 * summary, so that nothing has to be counted and summed beforehand: where the list has no event, the kernel has nothing
 * to do. Block i also writes the offsets of the events between the one before and its own.
 *
 * Reads an event's states (25 bytes a track) and vertices, writes 240 bytes.
 */
#include "summarize_event.h"

/* The offsets of the events after the one before on the list, up to this one; of the last also of those after it. */
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
