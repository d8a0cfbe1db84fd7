/* event_records.c: digests and named entries of each event as JSON, with which `sluice compare` finds the events that
 * differ between two runs:
 *   "outputs"  ["tracks", ...]                       outputs with digests
 *   "entries"  [["decide.decisions", "Hlt1TrackMVA"], ...]   output and name of each named entry
 *   "events"   [[run, number, error, ["0d366a9f1b15814d", ...], [3, 17]], ...]   digests per output; entries passed
 * Costs about 20 bytes and 20 per output for each event, in memory until the end of the run, and twice as much again
 * while the summary is written.
 */
#include "results/event_records.h"

#include "results/digest.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BITS = 32 };

static int has_entries(const struct sl_run_output *o) {
  return o->naming && (o->naming->kind == SL_NAMES_OF_BITS || o->naming->kind == SL_NAMES_OF_INDICES);
}

static void add_output(struct sl_event_records *r, const struct sl_run_output *o) {
  if (o->totals) return;
  sl_json_string(&r->outputs, NULL, o->name);
  for (uint32_t i = 0; has_entries(o) && i < o->name_count; i++) {
    sl_json_begin_array(&r->entries, NULL);
    sl_json_string(&r->entries, NULL, o->name);
    sl_json_string(&r->entries, NULL, o->names[i]);
    sl_json_end_array(&r->entries);
    r->entry_count++;
  }
}

static void begin(struct sl_json *j) {
  sl_json_begin(j);
  j->one_line = 1;
  sl_json_begin_array(j, NULL);
}

void sl_event_records_open(struct sl_event_records *r, const struct sl_setup *s, const struct sl_identity *identity) {
  r->setup = s;
  r->identity = identity;
  if (r->is_open) {
    if (!r->is_ended)
      sl_diagnose(s->diagnostics, SL_NOTE, NULL, NULL, NULL,
                  "the events after the change of the configuration are not in \"event_records\" of the JSON");
    r->is_ended = 1;
    return;
  }
  begin(&r->outputs);
  begin(&r->entries);
  begin(&r->events);
  for (uint32_t o = 0; o < identity->run.output_count; o++) add_output(r, &identity->run.outputs[o]);
  r->is_open = 1;
}

/* Writes the indices of the entries of an output that the event passes. `first`: index of its first entry. */
static void add_entries(struct sl_json *j, const struct sl_run_output *o, const struct sl_output_view *view,
                        uint32_t event, uint32_t first) {
  const uint32_t *offsets = NULL, *values = NULL;
  for (uint32_t f = 0; f < view->collection->field_count; f++) {
    if (view->collection->fields[f].shape == SL_SHAPE_CODE_OFFSETS) offsets = view->fields[f];
    if (strcmp(view->collection->fields[f].name, o->naming->field) == 0) values = view->fields[f];
  }
  if (!offsets || !values) return;
  for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
    const uint32_t bits = (i - offsets[event]) * WORD_BITS;
    for (uint32_t b = 0; o->naming->kind == SL_NAMES_OF_BITS && b < WORD_BITS && bits + b < o->name_count; b++)
      if (values[i] >> b & 1) sl_json_unsigned(j, NULL, first + bits + b);
    if (o->naming->kind == SL_NAMES_OF_INDICES && values[i] < o->name_count)
      sl_json_unsigned(j, NULL, first + values[i]);
  }
}

static void add_event(struct sl_event_records *r, const struct sl_batch *batch, uint32_t e) {
  const struct sl_event *event = &batch->events[e];
  struct sl_json *j = &r->events;
  char text[24];
  sl_json_begin_array(j, NULL);
  sl_json_unsigned(j, NULL, event->run);
  sl_json_unsigned(j, NULL, event->number);
  sl_json_unsigned(j, NULL, event->error);
  sl_json_begin_array(j, NULL);
  for (uint32_t o = 0; o < batch->output_count; o++) {
    const struct sl_output_view *v = &batch->outputs[o];
    if (r->identity->run.outputs[o].totals) continue;
    const uint64_t digest =
        event->error ? sl_digest_error_event(event->error) : sl_digest_event(v->collection, v->fields, e);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    sl_json_string(j, NULL, text);
  }
  sl_json_end_array(j);
  sl_json_begin_array(j, NULL);
  uint32_t first = 0;
  for (uint32_t o = 0; o < batch->output_count; o++) {
    const struct sl_run_output *output = &r->identity->run.outputs[o];
    if (output->totals || !has_entries(output)) continue;
    if (!event->error) add_entries(j, output, &batch->outputs[o], e, first);
    first += output->name_count;
  }
  sl_json_end_array(j);
  sl_json_end_array(j);
}

static int deliver(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty) {
  struct sl_event_records *r = context;
  (void)slot;
  (void)empty;
  for (uint32_t e = 0; e < batch->event_count && !r->is_ended; e++) add_event(r, batch, e);
  return r->events.failed ? SL_ENOMEM : SL_OK;
}

const struct sl_observer_calls sl_event_records_observer = {.deliver = deliver};

/* Writes an array that has not been ended. */
static void write_array(struct sl_json *j, const char *key, const struct sl_json *array) {
  const char *text = sl_json_text(array);
  j->failed |= !text;
  if (!text) return;
  sl_json_raw(j, key, text);
  sl_json_add_raw(j, "]", 1);
}

void sl_event_records_json(const struct sl_event_records *r, struct sl_json *j) {
  if (!r->is_open) return;
  sl_json_begin_object(j, "event_records");
  write_array(j, "outputs", &r->outputs);
  write_array(j, "entries", &r->entries);
  write_array(j, "events", &r->events);
  sl_json_end_object(j);
}

void sl_event_records_close(struct sl_event_records *r) {
  if (!r->is_open) return;
  sl_json_free(&r->outputs);
  sl_json_free(&r->entries);
  sl_json_free(&r->events);
  r->is_open = 0;
}
