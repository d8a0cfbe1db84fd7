/* deliver.c: delivers a finished part of a slice to the sinks, digests and callbacks. One slot at a time delivers, in
 * input order.
 */
#include "base/clock.h"
#include "base/locale.h"
#include "execute/binding.h"
#include "execute/delivery.h"
#include "execute/observer.h"
#include "execute/overflow_history.h"
#include "execute/pack/kept.h"
#include "execute/replan.h"
#include "input/feed.h"
#include "input/follow.h"

#include <stdlib.h>

int sl_delivery_open(struct sl_delivery *d, const struct sl_setup *s) {
  uint32_t pointers = 1;
  for (uint32_t o = 0; o < s->graph->output_count; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    pointers += s->graph->nodes[port.node].algorithm->members[port.member].collection->field_count;
  }
  d->views = calloc(s->graph->output_count + 1, sizeof *d->views);
  d->view_pointers = calloc(pointers, sizeof *d->view_pointers);
  return d->views && d->view_pointers ? SL_OK : SL_ENOMEM;
}

void sl_delivery_close(struct sl_delivery *d) {
  free((void *)d->views);
  free((void *)d->view_pointers);
  d->views = NULL;
  d->view_pointers = NULL;
}

void sl_select_events(const struct sl_slot *slot, uint32_t n, int empty, struct sl_batch *batch) {
  const struct sl_layout *l = slot->layout;
  const uint32_t set = l->node_set[n];
  batch->selected = NULL;
  batch->selected_count = 0;
  if (set == UINT32_MAX) return;
  if (empty) {
    batch->selected = (const uint32_t *)(const void *)slot->setup->zeros;
    return;
  }
  batch->selected = slot->host[l->sets[set].numbers_storage];
  batch->selected_count = *(const uint32_t *)slot->host[l->sets[set].count_storage];
}

/* Points the views to the outputs of this slot. */
static void gather_views(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty) {
  const struct sl_setup *s = slot->setup;
  const void **pointers = slot->delivery->view_pointers;
  for (uint32_t o = 0; o < s->graph->output_count; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    const struct sl_collection *c = s->graph->nodes[port.node].algorithm->members[port.member].collection;
    const int32_t *storage = s->layout->members[port.node][port.member].storage;
    slot->delivery->views[o] = (struct sl_output_view){s->graph->outputs[o].name, c, pointers};
    for (uint32_t f = 0; f < c->field_count; f++)
      *pointers++ = empty ? s->zeros : sl_field_on_host(slot, input, first, storage[f]);
  }
}

/* Progress is the larger of two fractions: events of -n, bytes of the input. */
static void report_progress(struct sl_slot *slot, const struct sl_input *input) {
  const struct sl_options *o = &slot->setup->options;
  struct sl_delivery *d = slot->delivery;
  const double of_events = o->events > 0 ? (double)d->events / (double)o->events : 0;
  const double of_input = input->progress_total > 0 ? (double)input->progress_done / (double)input->progress_total : 0;
  const int by_events = o->events > 0 && of_events >= of_input;
  const uint64_t now = o->on_progress ? sl_now_ns() : 0;
  d->progress_done = by_events ? d->events : input->progress_done;
  d->progress_total = by_events ? o->events : input->progress_total;
  if (!o->on_progress || now - d->last_progress_ns < 200000000u) return;
  d->last_progress_ns = now;
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_CALLBACKS);
  const locale_t users = sl_locale_begin_callback();
  o->on_progress(o->context, d->events, d->progress_done, d->progress_total,
                 (double)(now - slot->setup->begin_ns) * 1e-9);
  sl_locale_end_callback(users);
  sl_scope_end(slot, scope);
}

static int deliver(struct sl_slot *slot, uint32_t slice_index, uint32_t first, uint32_t count, int empty) {
  const struct sl_setup *s = slot->setup;
  struct sl_delivery *d = slot->delivery;
  const struct sl_input *input = slot->slices_in_flight[slice_index].input;
  const struct sl_batch batch = {.event_count = count,
                                 .output_count = s->graph->output_count,
                                 .events = input->events + first,
                                 .outputs = d->views,
                                 .configuration = d->configuration};
  int status = SL_OK;
  for (uint32_t e = 0; empty && e < count && status == SL_OK; e++) status = sl_event_error_add(d, s, input, first + e);
  for (uint32_t e = 0; !empty && slot->refused_seen && e < count && status == SL_OK; e++)
    if (slot->errors_seen[e]) status = sl_event_truncation_add(d, s, &input->events[first + e], slot->errors_seen[e]);
  sl_bind_sinks(slot, input, first, empty);
  gather_views(slot, input, first, empty);
  if (status == SL_OK) status = sl_kept_begin(slot, slice_index, &batch, empty);
  const uint64_t begin = sl_now_ns();
  SL_NOTIFY_STATUS(status, slot->observers, deliver, slot, &batch, empty);
  sl_kept_end(slot, slice_index);
  sl_span_end(slot, "deliver", begin, "events", count);
  if (status != SL_OK) return status;
  sl_overflow_delivered(slot->history, input, first, empty ? NULL : slot->used_seen);
  d->events += count;
  if (s->options.feed) sl_feed_delivered(s->options.feed, count);
  if (s->options.follow) sl_follow_delivered(s->options.follow, input->file, input->first_event + first + count);
  if (empty) d->error_events += count;
  if (first + count == input->event_count) sl_replan_consider(slot->replan, d->events);
  report_progress(slot, input);
  return SL_OK;
}

int sl_deliver(struct sl_slot *slot, uint32_t slice_index, uint32_t first, uint32_t count, int empty) {
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_WAIT_TO_DELIVER);
  pthread_mutex_lock(&slot->delivery->lock);
  sl_scope_end(slot, scope);
  const int status = deliver(slot, slice_index, first, count, empty);
  pthread_mutex_unlock(&slot->delivery->lock);
  return status;
}
