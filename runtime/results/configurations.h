/* configurations.h: the configurations of a run, one after another, with their results. See configurations.c. */
#ifndef SL_CONFIGURATIONS_H
#define SL_CONFIGURATIONS_H

#include "base/json.h"

#include <sluice/sluice.h>

struct sl_configurations {
  struct sl_configuration_summary *at; /* ended configurations; owns their texts */
  uint32_t count;
  /* The present configuration: numbers of events and of errors delivered before it, and its settings that differ from
   * the configuration before it. */
  uint64_t first_event, earlier_errors;
  char *changes; /* NULL: none */
};

/* Parts of the JSON of a configuration. Without a graph, as for the last configuration of a run, outputs, totals and
 * reports are left out: the JSON of the run has them. */
struct sl_configuration_results {
  uint64_t graph_digest, events, error_events; /* numbers delivered so far, in all configurations */
  const struct sl_output_summary *outputs;
  const struct sl_total_summary *totals;
  uint32_t output_count, total_count;
  const struct sl_graph *graph; /* names of the sinks */
  char *const *reports;         /* per node: JSON of its report, or NULL */
};

/* Ends the present configuration; the next one has `changes`, which the list takes over. */
int sl_configurations_end(struct sl_configurations *c, const struct sl_configuration_results *results, char *changes);
/* Adds a configuration that an earlier process has ended. Takes over the texts. */
int sl_configurations_add(struct sl_configurations *c, const struct sl_configuration_summary *ended);
/* "configurations": all of them in order, the present one last. */
void sl_configurations_json(const struct sl_configurations *c, const struct sl_configuration_results *results,
                            struct sl_json *j);
void sl_configurations_close(struct sl_configurations *c);

#endif
