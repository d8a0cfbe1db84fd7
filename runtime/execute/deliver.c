/* deliver.c: a finished part of a slice goes to the sinks, the digests and the callbacks. Called by one slot at a time,
 * in input order.
 */
#include "base/locale.h"
#include "layout/bind.h"
#include "execute/session.h"

/* Where a field is for the host, from event `first` on: in the results, or in the slice's input. */
static void *host_pointer(const struct sl_slot *slot, const struct sl_input *input, uint32_t first, int32_t storage) {
  const struct sl_storage *where = &slot->session->layout->storage[storage];
  if (where->kind == SL_STORAGE_CONSTANT) return slot->session->arrays[storage].values;
  if (where->kind != SL_STORAGE_INPUT) return slot->host[storage];
  return input->block + where->offset + first * where->event_stride_bytes;
}

/* An event with an error has no items in what the graph made; its input is as it was read. */
static void point_sinks(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty) {
  const struct sl_session *s = slot->session;
  for (uint32_t p = 0; p < slot->sink_patch_count; p++) {
    const int32_t storage = slot->sink_patches[p].storage;
    const int made = s->layout->storage[storage].kind == SL_STORAGE_ARENA;
    *slot->sink_patches[p].pointer = empty && made ? s->zeros : host_pointer(slot, input, first, storage);
  }
}

/* The events that a sink is to see. An event with an error is on no list. */
static void select_events(const struct sl_slot *slot, uint32_t n, int empty, struct sl_batch *batch) {
  const struct sl_layout *l = slot->session->layout;
  const uint32_t set = l->node_set[n];
  batch->selected = NULL;
  batch->selected_count = 0;
  if (set == UINT32_MAX) return;
  if (empty) {
    batch->selected = (const uint32_t *)(const void *)slot->session->zeros;
    return;
  }
  batch->selected = slot->host[l->sets[set].numbers_storage];
  batch->selected_count = *(const uint32_t *)slot->host[l->sets[set].count_storage];
}

static int deliver_to_sinks(struct sl_slot *slot, const struct sl_batch *whole, int empty) {
  struct sl_session *s = slot->session;
  struct sl_batch batch = *whole;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    if (node->algorithm->kind != SL_KIND_SINK) continue;
    const uint32_t outer = sl_time_enter(slot, SL_TIME_OF_NODE(n));
    const uint64_t begin = slot->account.since_ns;
    select_events(slot, n, empty, &batch);
    const int status =
        node->algorithm->sink->consume(s->states[n], &s->contexts[n].services, slot->sink_args[n], &batch);
    sl_time_enter(slot, outer);
    slot->node_calls[n]++;
    slot->node_events[n] += SL_BATCH_COUNT(&batch);
    sl_trace_span(s, SL_TRACK_HOST(slot->index), node->name, begin, slot->account.since_ns, "events",
                  SL_BATCH_COUNT(&batch));
    sl_say_node_failure(s, n, status, "failed", NULL);
    if (status < 0) return status;
  }
  return SL_OK;
}

static uint64_t item_count(const struct sl_collection *c, const void *const *fields, uint32_t event_count) {
  if (sl_is_event_list(c)) return *(const uint32_t *)fields[0];
  for (uint32_t f = 0; f < c->field_count; f++) {
    const uint32_t *offsets = fields[f];
    if (c->fields[f].shape == SL_SHAPE_CODE_OFFSETS) return offsets[event_count] - offsets[0];
  }
  return event_count;
}

static void digest_output(struct sl_session *s, uint32_t o, const struct sl_event *event, uint32_t e) {
  const struct sl_output_view *v = &s->delivery.views[o];
  if (sl_is_totals(v->collection)) return;
  const uint64_t digest =
      event->error ? sl_digest_error_event(event->error) : sl_digest_event(v->collection, v->fields, e);
  s->delivery.digests[o] = sl_digest_add_event(s->delivery.digests[o], event, digest);
  if (s->options.digest < 2 || !s->options.on_event_digest) return;
  const locale_t users = sl_locale_begin_callback();
  s->options.on_event_digest(s->options.context, v->name, event, digest);
  sl_locale_end_callback(users);
}

/* Event by event, so that what is listed does not depend on slices. */
static void digest_outputs(struct sl_session *s, const struct sl_batch *batch) {
  for (uint32_t e = 0; e < batch->event_count; e++)
    for (uint32_t o = 0; o < s->graph->output_count; o++) digest_output(s, o, &batch->events[e], e);
}

/* Points the views to the outputs of this slot. */
static void gather_views(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty) {
  struct sl_session *s = slot->session;
  const void **pointers = s->delivery.view_pointers;
  for (uint32_t o = 0; o < s->graph->output_count; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    const struct sl_collection *c = s->graph->nodes[port.node].algorithm->members[port.member].collection;
    const int32_t *storage = s->layout->members[port.node][port.member].storage;
    s->delivery.views[o] = (struct sl_output_view){s->graph->outputs[o].name, c, pointers};
    for (uint32_t f = 0; f < c->field_count; f++)
      *pointers++ = empty ? s->zeros : host_pointer(slot, input, first, storage[f]);
  }
}

static int check_outputs(struct sl_session *s, const struct sl_batch *batch) {
  for (uint32_t o = 0; o < s->graph->output_count; o++)
    if (!sl_is_totals(s->delivery.views[o].collection) && sl_guard_check_output(s, &s->delivery.views[o], batch) < 0)
      return SL_EPLUGIN;
  return SL_OK;
}

static void digest_timed(struct sl_slot *slot, const struct sl_batch *batch) {
  const uint32_t outer = sl_time_enter(slot, SL_TIME_DIGESTS);
  const uint64_t begin = slot->account.since_ns;
  digest_outputs(slot->session, batch);
  sl_time_enter(slot, outer);
  sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), sl_time_name(SL_TIME_DIGESTS), begin, slot->account.since_ns,
                "events", batch->event_count);
}

static int deliver_outputs(struct sl_slot *slot, const struct sl_batch *batch, int empty) {
  struct sl_session *s = slot->session;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_TOTALS);
  int status = SL_OK;
  for (uint32_t o = 0; o < s->graph->output_count; o++) {
    const struct sl_output_view *v = &s->delivery.views[o];
    if (sl_is_totals(v->collection)) {
      if (!empty) sl_totals_add(s, o, v);
      continue;
    }
    if (!empty) s->identity.outputs[o].items += item_count(v->collection, v->fields, batch->event_count);
  }
  if (s->delivery.wants_digests) digest_timed(slot, batch);
  if (s->options.guard && !empty) {
    sl_time_enter(slot, SL_TIME_GUARD);
    status = check_outputs(s, batch);
  }
  if (status == SL_OK && s->options.on_batch) {
    sl_time_enter(slot, SL_TIME_CALLBACKS);
    const locale_t users = sl_locale_begin_callback();
    status = s->options.on_batch(s->options.context, batch);
    sl_locale_end_callback(users);
  }
  sl_time_enter(slot, outer);
  return status;
}

static void report_progress(struct sl_slot *slot, const struct sl_input *input) {
  struct sl_session *s = slot->session;
  if (!s->options.on_progress) return;
  const uint64_t now = sl_now_ns();
  if (now - s->delivery.last_progress_ns < 200000000u) return;
  s->delivery.last_progress_ns = now;
  /* The end is where -n says, or where the input ends, whichever is nearer. */
  const double of_events = s->options.events > 0 ? (double)s->delivery.events / (double)s->options.events : 0;
  const double of_input = input->progress_total > 0 ? (double)input->progress_done / (double)input->progress_total : 0;
  const int by_events = s->options.events > 0 && of_events >= of_input;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_CALLBACKS);
  const locale_t users = sl_locale_begin_callback();
  s->options.on_progress(s->options.context, s->delivery.events, by_events ? s->delivery.events : input->progress_done,
                         by_events ? s->options.events : input->progress_total, (double)(now - s->begin_ns) * 1e-9);
  sl_locale_end_callback(users);
  sl_time_enter(slot, outer);
}

static int deliver(struct sl_slot *slot, uint32_t flight, uint32_t first, uint32_t count, int empty) {
  struct sl_session *s = slot->session;
  const struct sl_input *input = slot->flights[flight].input;
  const struct sl_batch batch = {.event_count = count,
                                 .output_count = s->graph->output_count,
                                 .events = input->events + first,
                                 .outputs = s->delivery.views};
  int status = SL_OK;
  for (uint32_t e = 0; empty && e < count && status == SL_OK; e++) status = sl_event_error_add(s, input, first + e);
  for (uint32_t e = 0; !empty && slot->refused_seen && e < count && status == SL_OK; e++)
    if (slot->errors_seen[e]) status = sl_event_cut_add(s, &input->events[first + e], slot->errors_seen[e]);
  point_sinks(slot, input, first, empty);
  gather_views(slot, input, first, empty);
  const uint64_t begin = sl_now_ns();
  if (status == SL_OK) status = deliver_to_sinks(slot, &batch, empty);
  if (status == SL_OK) status = deliver_outputs(slot, &batch, empty);
  sl_trace_span(s, SL_TRACK_HOST(slot->index), "deliver", begin, sl_now_ns(), "events", count);
  if (status != SL_OK) return status;
  sl_budgets_delivered(slot, input, first, empty);
  s->delivery.events += count;
  if (s->options.feed) sl_feed_delivered(s->options.feed, count);
  if (empty) s->delivery.error_events += count;
  report_progress(slot, input);
  return SL_OK;
}

int sl_deliver(struct sl_slot *slot, uint32_t flight, uint32_t first, uint32_t count, int empty) {
  struct sl_session *s = slot->session;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_TURN);
  pthread_mutex_lock(&s->delivery.lock);
  sl_time_enter(slot, outer);
  const int status = deliver(slot, flight, first, count, empty);
  pthread_mutex_unlock(&s->delivery.lock);
  return status;
}
