/* outputs.c: counts of the graph outputs at delivery: items, sums of TOTAL fields, digests; then the callback of the
 * program. A part of a slice is counted when it is delivered, so that a part that is run again counts once, and events
 * with errors do not enter sums.
 */
#include "results/outputs.h"

#include "base/locale.h"
#include "execute/memory_check.h"
#include "layout/bind.h"
#include "results/digest.h"
#include "results/histograms.h"

#include <stdlib.h>
#include <string.h>

static const struct sl_collection *collection_of(const struct sl_outputs *o, uint32_t output) {
  return o->identity->outputs[output].collection;
}

/* Number of entries of an output of totals. */
static uint64_t entries_of(const struct sl_setup *s, uint32_t output) {
  const struct sl_port port = s->graph->outputs[output].port;
  return s->layout->members[port.node][port.member].capacities[0];
}

/* Number of values of all fields of an output of totals. */
static uint64_t value_count(const struct sl_outputs *o, uint32_t output) {
  const struct sl_collection *c = collection_of(o, output);
  uint64_t count = 0;
  for (uint32_t f = 0; sl_is_totals(c) && f < c->field_count; f++)
    count += entries_of(o->setup, output) * c->fields[f].width;
  return count;
}

/* 1 if a sink writes outputs together with their digests. */
static int has_writer(const struct sl_setup *s) {
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const struct sl_algorithm *a = s->graph->nodes[s->graph->order[i]].algorithm;
    if (a->kind == SL_KIND_SINK && a->sink->takes_outputs) return 1;
  }
  return 0;
}

static int allocate(struct sl_outputs *o, uint32_t outputs, uint64_t fields) {
  o->digests = calloc(outputs + 1, sizeof *o->digests);
  o->earlier_digests = calloc(outputs + 1, sizeof *o->earlier_digests);
  o->earlier_items = calloc(outputs + 1, sizeof *o->earlier_items);
  o->totals = calloc(o->value_count + 1, sizeof *o->totals);
  o->file_totals = o->setup->options.rotate ? calloc(o->value_count + 1, sizeof *o->file_totals) : o->totals;
  o->summaries = calloc(fields + 1, sizeof *o->summaries);
  return o->digests && o->earlier_digests && o->earlier_items && o->totals && o->file_totals && o->summaries
             ? SL_OK
             : SL_ENOMEM;
}

/* Enters the fields of output `i`, with values from `first` on. */
static void open_totals(struct sl_outputs *o, uint32_t i, uint64_t first) {
  struct sl_run_output *output = &o->identity->outputs[i];
  const struct sl_collection *c = output->collection;
  output->items = entries_of(o->setup, i);
  output->totals = o->file_totals + first;
  for (uint32_t f = 0; f < c->field_count; f++) {
    o->summaries[o->total_count++] = (struct sl_total_summary){.port = output->name,
                                                               .field = c->fields[f].name,
                                                               .entries = (uint32_t)output->items,
                                                               .width = c->fields[f].width,
                                                               .is_signed = c->fields[f].type == SL_TYPE_i64,
                                                               .values = o->totals + first,
                                                               .names = output->names,
                                                               .label = output->naming ? output->naming->label : NULL,
                                                               .unit = c->fields[f].unit,
                                                               .doc = c->fields[f].doc};
    first += output->items * c->fields[f].width;
  }
}

int sl_outputs_open(struct sl_outputs *o, const struct sl_setup *s, struct sl_identity *identity) {
  const uint32_t outputs = s->graph->output_count;
  uint64_t fields = 0, first = 0;
  *o = (struct sl_outputs){.setup = s, .identity = identity, .with_digests = s->options.digest || has_writer(s)};
  for (uint32_t i = 0; i < outputs; i++) {
    o->value_count += value_count(o, i);
    if (sl_is_totals(collection_of(o, i))) fields += collection_of(o, i)->field_count;
  }
  if (allocate(o, outputs, fields) < 0) return SL_ENOMEM;
  for (uint32_t i = 0; i < outputs; i++) {
    o->digests[i] = o->earlier_digests[i] = SL_DIGEST_EMPTY;
    if (!sl_is_totals(collection_of(o, i))) continue;
    open_totals(o, i, first);
    if (sl_histograms_open(&identity->outputs[i], s->graph, s->graph->outputs[i].port) < 0) return SL_ENOMEM;
    first += value_count(o, i);
  }
  return SL_OK;
}

void sl_outputs_close(struct sl_outputs *o) {
  for (uint32_t i = 0; o->identity && o->identity->outputs && i < o->identity->run.output_count; i++)
    sl_histograms_close(&o->identity->outputs[i]);
  if (o->file_totals != o->totals) free(o->file_totals);
  free(o->digests);
  free(o->earlier_digests);
  free(o->earlier_items);
  free(o->totals);
  free(o->summaries);
}

/* The sums of an output over the run. */
static const uint64_t *sums_of(const struct sl_outputs *o, uint32_t output) {
  return o->totals + (o->identity->outputs[output].totals - o->file_totals);
}

struct sl_histogram sl_outputs_histogram(const struct sl_outputs *o, uint32_t output, uint32_t i) {
  struct sl_histogram h = o->identity->outputs[output].histograms[i];
  h.counts = o->totals + (h.counts - o->file_totals);
  return h;
}

uint64_t sl_outputs_items(const struct sl_outputs *o, uint32_t output) {
  return o->earlier_items[output] + o->identity->outputs[output].items;
}

uint64_t sl_outputs_events_digest(const struct sl_outputs *o, uint32_t output) {
  return sl_digest_join(o->earlier_digests[output], o->digests[output], o->events);
}

void sl_outputs_resume(struct sl_outputs *o, uint32_t output, uint64_t items, uint64_t digest) {
  if (o->identity->outputs[output].totals) return;
  o->earlier_items[output] = items;
  o->earlier_digests[output] = digest;
}

uint64_t sl_outputs_digest(const struct sl_outputs *o, uint32_t output) {
  if (o->identity->outputs[output].totals) return sl_digest_totals(sums_of(o, output), value_count(o, output));
  return sl_outputs_events_digest(o, output);
}

void sl_outputs_update(const struct sl_outputs *o) {
  for (uint32_t i = 0; i < o->setup->graph->output_count; i++) {
    struct sl_run_output *output = &o->identity->outputs[i];
    const uint64_t digest = output->totals ? sl_digest_totals(output->totals, value_count(o, i)) : o->digests[i];
    output->digest = o->with_digests ? digest : 0;
  }
}

void sl_outputs_rotate(struct sl_outputs *o) {
  for (uint32_t i = 0; i < o->setup->graph->output_count; i++) {
    if (o->identity->outputs[i].totals) continue;
    o->earlier_digests[i] = sl_digest_join(o->earlier_digests[i], o->digests[i], o->events);
    o->digests[i] = SL_DIGEST_EMPTY;
    o->earlier_items[i] += o->identity->outputs[i].items;
    o->identity->outputs[i].items = 0;
  }
  memset(o->file_totals, 0, o->value_count * sizeof *o->file_totals);
  o->events = 0;
}

void sl_outputs_settle(struct sl_outputs *o) {
  if (o->file_totals == o->totals) return;
  memcpy(o->file_totals, o->totals, o->value_count * sizeof *o->totals);
  for (uint32_t i = 0; i < o->setup->graph->output_count; i++) {
    struct sl_run_output *output = &o->identity->outputs[i];
    output->digest = o->with_digests ? sl_outputs_digest(o, i) : 0;
    if (output->totals) continue;
    output->items = sl_outputs_items(o, i);
    o->digests[i] = sl_digest_join(o->earlier_digests[i], o->digests[i], o->events);
    o->earlier_items[i] = 0;
    o->earlier_digests[i] = SL_DIGEST_EMPTY;
  }
}

/* ------------------------------------------------------------------------------------------------- delivery */

static uint64_t item_count(const struct sl_collection *c, const void *const *fields, uint32_t event_count) {
  if (sl_is_event_list(c)) return *(const uint32_t *)fields[0];
  for (uint32_t f = 0; f < c->field_count; f++) {
    const uint32_t *offsets = fields[f];
    if (c->fields[f].shape == SL_SHAPE_CODE_OFFSETS) return offsets[event_count] - offsets[0];
  }
  return event_count;
}

static void add_totals(struct sl_outputs *o, uint32_t output, const struct sl_output_view *view) {
  const struct sl_run_output *to = &o->identity->outputs[output];
  uint64_t next = (uint64_t)(to->totals - o->file_totals);
  for (uint32_t f = 0; f < view->collection->field_count; f++) {
    const struct sl_field *field = &view->collection->fields[f];
    for (uint64_t i = 0; i < to->items * field->width; i++, next++) {
      const uint64_t value = sl_total_value(field->type, view->fields[f], i);
      o->totals[next] += value;
      if (o->file_totals != o->totals) o->file_totals[next] += value;
    }
  }
}

static void count(struct sl_outputs *o, const struct sl_batch *batch) {
  for (uint32_t i = 0; i < batch->output_count; i++) {
    const struct sl_output_view *v = &batch->outputs[i];
    if (sl_is_totals(v->collection))
      add_totals(o, i, v);
    else
      o->identity->outputs[i].items += item_count(v->collection, v->fields, batch->event_count);
  }
}

static void digest_output(struct sl_outputs *o, uint32_t output, const struct sl_output_view *v,
                          const struct sl_event *event, uint32_t e) {
  const struct sl_options *options = &o->setup->options;
  if (sl_is_totals(v->collection)) return;
  const uint64_t digest =
      event->error ? sl_digest_error_event(event->error) : sl_digest_event(v->collection, v->fields, e);
  o->digests[output] = sl_digest_add_event(o->digests[output], event, digest);
  if (options->digest < 2 || !options->on_event_digest) return;
  const locale_t users = sl_locale_begin_callback();
  options->on_event_digest(options->context, v->name, event, digest);
  sl_locale_end_callback(users);
}

/* Event by event, so that the order of digests does not depend on slices. */
static void digest(struct sl_outputs *o, struct sl_slot *slot, const struct sl_batch *batch) {
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_DIGESTS);
  for (uint32_t e = 0; e < batch->event_count; e++)
    for (uint32_t i = 0; i < batch->output_count; i++) digest_output(o, i, &batch->outputs[i], &batch->events[e], e);
  sl_scope_end_span(slot, scope, sl_activity_name(SL_ACTIVITY_DIGESTS), "events", batch->event_count);
}

static int check(const struct sl_setup *s, struct sl_slot *slot, const struct sl_batch *batch) {
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_GUARD);
  int status = SL_OK;
  for (uint32_t i = 0; i < batch->output_count && status == SL_OK; i++)
    if (!sl_is_totals(batch->outputs[i].collection))
      status = s->memory_check->check_output(s, &batch->outputs[i], batch);
  sl_scope_end(slot, scope);
  return status;
}

static int call_program(const struct sl_options *options, struct sl_slot *slot, const struct sl_batch *batch) {
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_CALLBACKS);
  const locale_t users = sl_locale_begin_callback();
  const int status = options->on_batch(options->context, batch);
  sl_locale_end_callback(users);
  sl_scope_end(slot, scope);
  return status;
}

static int deliver(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty) {
  struct sl_outputs *o = context;
  const struct sl_setup *s = o->setup;
  int status = SL_OK;
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_TOTALS);
  if (!empty) count(o, batch);
  o->events += batch->event_count;
  sl_scope_end(slot, scope);
  if (o->with_digests) digest(o, slot, batch);
  if (!empty && s->memory_check && s->memory_check->check_output) status = check(s, slot, batch);
  return status == SL_OK && s->options.on_batch ? call_program(&s->options, slot, batch) : status;
}

const struct sl_observer_calls sl_outputs_observer = {.deliver = deliver};
