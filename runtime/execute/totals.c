/* totals.c: sums over the run of what kernels count a slice, for the graph's outputs of TOTAL fields. A part of a slice
 * is added when it is delivered, so that one that is run again counts once, and error events do not count. By a slot in
 * its turn.
 */
#include "layout/bind.h"
#include "execute/session.h"

#include <stdlib.h>

static const struct sl_slot_member *output_member(const struct sl_session *s, uint32_t o) {
  const struct sl_port port = s->graph->outputs[o].port;
  return &s->layout->members[port.node][port.member];
}

/* All fields of an output's entries, one field after the other. */
static uint64_t value_count(const struct sl_session *s, uint32_t o) {
  const struct sl_collection *c = s->identity.outputs[o].collection;
  uint64_t count = 0;
  for (uint32_t f = 0; sl_is_totals(c) && f < c->field_count; f++)
    count += output_member(s, o)->capacities[0] * c->fields[f].width;
  return count;
}

int sl_totals_open(struct sl_session *s) {
  uint64_t values = 0, fields = 0;
  for (uint32_t o = 0; o < s->identity.run.output_count; o++) {
    values += value_count(s, o);
    if (sl_is_totals(s->identity.outputs[o].collection)) fields += s->identity.outputs[o].collection->field_count;
  }
  s->totals.values = calloc(values + 1, sizeof *s->totals.values);
  s->totals.summaries = calloc(fields + 1, sizeof *s->totals.summaries);
  if (!s->totals.values || !s->totals.summaries) return SL_ENOMEM;
  uint64_t *next = s->totals.values;
  for (uint32_t o = 0; o < s->identity.run.output_count; o++) {
    struct sl_run_output *output = &s->identity.outputs[o];
    const struct sl_collection *c = output->collection;
    if (!sl_is_totals(c)) continue;
    const uint64_t entries = output_member(s, o)->capacities[0];
    output->items = entries;
    output->totals = next;
    for (uint32_t f = 0; f < c->field_count; f++) {
      s->totals.summaries[s->totals.count++] = (struct sl_total_summary){.port = output->name,
                                                                         .field = c->fields[f].name,
                                                                         .entries = (uint32_t)entries,
                                                                         .width = c->fields[f].width,
                                                                         .is_signed = c->fields[f].type == SL_TYPE_i64,
                                                                         .values = next};
      next += entries * c->fields[f].width;
    }
  }
  return SL_OK;
}

void sl_totals_add(struct sl_session *s, uint32_t o, const struct sl_output_view *view) {
  uint64_t *next = s->totals.values + (s->identity.outputs[o].totals - s->totals.values);
  for (uint32_t f = 0; f < view->collection->field_count; f++) {
    const struct sl_field *field = &view->collection->fields[f];
    const uint64_t count = s->identity.outputs[o].items * field->width;
    for (uint64_t i = 0; i < count; i++) *next++ += sl_total_value(field->type, view->fields[f], i);
  }
}

uint64_t sl_session_output_digest(const struct sl_session *s, uint32_t o) {
  const uint64_t *totals = s->identity.outputs[o].totals;
  return totals ? sl_digest_totals(totals, value_count(s, o)) : s->delivery.digests[o];
}

void sl_totals_close(struct sl_session *s) {
  free(s->totals.values);
  free(s->totals.summaries);
}
