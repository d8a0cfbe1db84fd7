/* sums_json.c: see sums_json.h. */
#include "results/sums_json.h"

#include <inttypes.h>

void sl_digest_json(const char *key, uint64_t digest, struct sl_json *j) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  sl_json_string(j, key, digest ? text : NULL);
}

static void json_event(struct sl_json *j, const struct sl_event *event, const char *file, const char *offset) {
  sl_json_begin_object(j, "first");
  sl_json_integer(j, "run", event->run);
  sl_json_unsigned(j, "event", event->number);
  sl_json_string(j, "file", file);
  sl_json_unsigned(j, offset, event->offset);
  sl_json_end_object(j);
}

void sl_errors_json(const char *key, const struct sl_error_summary *errors, uint32_t count, const char *offset,
                    struct sl_json *j) {
  sl_json_begin_array(j, key);
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_error_summary *e = &errors[i];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "node", e->node);
    sl_json_string(j, "reason", e->reason);
    sl_json_integer(j, "count", (int64_t)e->count);
    json_event(j, &e->first, e->first_file, offset);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

void sl_output_json(const struct sl_output_summary *output, struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "port", output->port);
  sl_json_integer(j, "items", (int64_t)output->items);
  sl_digest_json("digest", output->digest, j);
  sl_json_end_object(j);
}

void sl_outputs_json(const struct sl_output_summary *outputs, uint32_t count, struct sl_json *j) {
  sl_json_begin_array(j, "outputs");
  for (uint32_t o = 0; o < count; o++) sl_output_json(&outputs[o], j);
  sl_json_end_array(j);
}

uint32_t sl_totals_of_output(const struct sl_total_summary *totals, uint32_t count) {
  uint32_t own = 1;
  while (own < count && totals[own].port == totals->port) own++;
  return own;
}

/* The value, or the list of values, of an entry. */
static void json_entry(struct sl_json *j, const char *key, const struct sl_total_summary *t, uint32_t entry) {
  const uint64_t *values = t->values + (uint64_t)entry * t->width;
  if (t->width > 1) sl_json_begin_array(j, key);
  for (uint32_t w = 0; w < t->width; w++) {
    const char *own = t->width > 1 ? NULL : key;
    if (t->is_signed)
      sl_json_integer(j, own, (int64_t)values[w]);
    else
      sl_json_unsigned(j, own, values[w]);
  }
  if (t->width > 1) sl_json_end_array(j);
}

static void json_by_name(struct sl_json *j, const struct sl_total_summary *fields, uint32_t count) {
  for (uint32_t e = 0; e < fields->entries; e++) {
    sl_json_begin_object(j, fields->names[e]);
    for (uint32_t f = 0; f < count; f++) json_entry(j, fields[f].field, &fields[f], e);
    sl_json_end_object(j);
  }
}

static void json_by_field(struct sl_json *j, const struct sl_total_summary *fields, uint32_t count) {
  for (uint32_t f = 0; f < count; f++) {
    sl_json_begin_array(j, fields[f].field);
    for (uint32_t e = 0; e < fields[f].entries; e++) json_entry(j, NULL, &fields[f], e);
    sl_json_end_array(j);
  }
}

void sl_totals_json(const struct sl_total_summary *totals, uint32_t count, struct sl_json *j) {
  sl_json_begin_object(j, "totals");
  for (uint32_t own; count > 0; totals += own, count -= own) {
    own = sl_totals_of_output(totals, count);
    sl_json_begin_object(j, totals->port);
    (totals->label ? json_by_name : json_by_field)(j, totals, own);
    sl_json_end_object(j);
  }
  sl_json_end_object(j);
}
