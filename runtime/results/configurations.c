/* configurations.c: the configurations of a run. One that has ended is kept as JSON text, because its graph is gone:
 * digest, events, settings that differ from the configuration before it, outputs, totals and reports of sinks.
 */
#include "results/configurations.h"

#include "graph/graph.h"
#include "results/sums_json.h"

#include <stdlib.h>
#include <string.h>

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
  sl_digest_json("graph_digest", ended->graph_digest, j);
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

/* The present configuration, without its JSON. */
static struct sl_configuration_summary present(const struct sl_configurations *c,
                                               const struct sl_configuration_results *results) {
  return (struct sl_configuration_summary){.graph_digest = results->graph_digest,
                                           .first_event = c->first_event,
                                           .events = results->events - c->first_event,
                                           .error_events = results->error_events - c->earlier_errors,
                                           .changes = c->changes};
}

int sl_configurations_end(struct sl_configurations *c, const struct sl_configuration_results *results, char *changes) {
  struct sl_configuration_summary ended = present(c, results);
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

void sl_configurations_json(const struct sl_configurations *c, const struct sl_configuration_results *results,
                            struct sl_json *j) {
  const struct sl_configuration_summary last = present(c, results);
  sl_json_begin_array(j, "configurations");
  for (uint32_t i = 0; i < c->count; i++) sl_json_raw(j, NULL, c->at[i].json);
  put(j, &last, results);
  sl_json_end_array(j);
}

void sl_configurations_close(struct sl_configurations *c) {
  for (uint32_t i = 0; i < c->count; i++) free_texts(&c->at[i]);
  free(c->at);
  free(c->changes);
  *c = (struct sl_configurations){0};
}
