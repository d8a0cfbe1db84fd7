/* configurations.c: the configurations of a run. One that has ended is kept as JSON text, because its graph is gone:
 * digest, events, settings that differ from the configuration before it, outputs, totals and reports of sinks.
 */
#include "results/configurations.h"

#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ totals and outputs */

/* Number of fields of the output that `totals` begins with; totals of an output are consecutive. */
static uint32_t fields_of(const struct sl_total_summary *totals, uint32_t count) {
  uint32_t fields = 1;
  while (fields < count && totals[fields].port == totals->port) fields++;
  return fields;
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
  for (uint32_t k = 0; k < count;) {
    const uint32_t fields = fields_of(&totals[k], count - k);
    sl_json_begin_object(j, totals[k].port);
    (totals[k].label ? json_by_name : json_by_field)(j, &totals[k], fields);
    sl_json_end_object(j);
    k += fields;
  }
  sl_json_end_object(j);
}

static void json_digest(struct sl_json *j, const char *key, uint64_t digest) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  sl_json_string(j, key, digest ? text : NULL);
}

void sl_outputs_json(const struct sl_output_summary *outputs, uint32_t count, struct sl_json *j) {
  sl_json_begin_array(j, "outputs");
  for (uint32_t o = 0; o < count; o++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "port", outputs[o].port);
    sl_json_integer(j, "items", (int64_t)outputs[o].items);
    json_digest(j, "digest", outputs[o].digest);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* --------------------------------------------------------------------------------------------- configurations */

static void json_changes(struct sl_json *j, const char *changes) {
  sl_json_begin_array(j, "changes");
  for (const char *line = changes; line && *line;) {
    const size_t length = strcspn(line, "\n");
    char *text = strndup(line, length);
    if (!text) j->failed = 1;
    sl_json_string(j, NULL, text ? text : "");
    free(text);
    line += length + (line[length] == '\n');
  }
  sl_json_end_array(j);
}

static void put_results(struct sl_json *j, const struct sl_configuration_results *r) {
  sl_outputs_json(r->outputs, r->output_count, j);
  sl_totals_json(r->totals, r->total_count, j);
  sl_json_begin_object(j, "results");
  for (uint32_t n = 0; n < r->graph->node_count; n++)
    if (r->reports[n]) sl_json_raw(j, r->graph->nodes[n].name, r->reports[n]);
  sl_json_end_object(j);
}

static void put(struct sl_json *j, const struct sl_configuration_summary *ended,
                const struct sl_configuration_results *r) {
  sl_json_begin_object(j, NULL);
  json_digest(j, "graph_digest", ended->graph_digest);
  sl_json_unsigned(j, "first_event", ended->first_event);
  sl_json_unsigned(j, "events", ended->events);
  sl_json_unsigned(j, "error_events", ended->error_events);
  json_changes(j, ended->changes);
  if (r->graph) put_results(j, r);
  sl_json_end_object(j);
}

static void free_texts(struct sl_configuration_summary *ended) {
  free((char *)(uintptr_t)ended->changes);
  free((char *)(uintptr_t)ended->json);
}

int sl_configurations_add(struct sl_configurations *c, const struct sl_configuration_summary *ended) {
  struct sl_configuration_summary *larger = realloc(c->at, (c->count + 1) * sizeof *larger);
  if (larger) c->at = larger;
  if (!larger || !ended->json) {
    struct sl_configuration_summary lost = *ended;
    free_texts(&lost);
    return SL_ENOMEM;
  }
  c->at[c->count++] = *ended;
  return SL_OK;
}

int sl_configurations_end(struct sl_configurations *c, const struct sl_configuration_results *results, char *changes) {
  struct sl_configuration_summary ended = {.graph_digest = results->graph_digest,
                                           .first_event = c->first_event,
                                           .events = results->events - c->first_event,
                                           .error_events = results->error_events - c->earlier_errors,
                                           .changes = c->changes};
  struct sl_json j;
  sl_json_begin(&j);
  put(&j, &ended, results);
  const char *json = sl_json_text(&j);
  ended.json = json ? strdup(json) : NULL;
  sl_json_free(&j);
  c->changes = changes;
  c->first_event = results->events;
  c->earlier_errors = results->error_events;
  return sl_configurations_add(c, &ended);
}

void sl_configurations_close(struct sl_configurations *c) {
  for (uint32_t i = 0; i < c->count; i++) free_texts(&c->at[i]);
  free(c->at);
  free(c->changes);
  *c = (struct sl_configurations){0};
}
