/* every_event.summarize_every_event: lumi.summarize without an event list. One block per event of the slice tests
 * whether it is a luminosity event; count, scan and write give the offsets. Results equal those of lumi.summarize;
 * bench/lumi_cost.py measures the cost.
 */
#define LUMI_MORE_OF_ODIN " event_type error_bits"
#include "summarize_event.h"

/* The arguments are those of lumi.summarize. */
#define summarize_every_event_args    summarize_args
#define summarize_every_event_members summarize_members

SL_KERNEL(count_summaries, struct summarize_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events)
    a.summaries.offsets[event] = (a.odin.event_type[event] & ODIN_LUMINOSITY) != 0 && a.odin.error_bits[event] == 0;
}

SL_KERNEL(write_summaries, struct summarize_args) {
  if (blockIdx.x == 0 && threadIdx.x == 0) a.summaries.word_offsets[0] = 0;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t item = a.summaries.offsets[event];
    if (a.summaries.offsets[event + 1] > item) lumi_summarize_event(&a, event, item); /* uniform in the block */
  }
}

static int run(const struct sl_launch *l, const struct summarize_args *a) {
  int status = SL_LAUNCH(l, count_summaries, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->summaries.offsets, &a->summaries.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_summaries, SL_PER_EVENT, *a);
  return status;
}

SL_ALGORITHM(summarize_every_event, "lumi.summarize with a block for every event", 128, run, SL_ERRORS_OF(lumi_errors),
             SL_CHECK(lumi_check), SL_PREPARE(lumi_prepare));
