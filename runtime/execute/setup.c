/* setup.c: see setup.h. */
#include "execute/setup.h"

#include "execute/services.h"

#include <stdlib.h>

/* Large enough for the fields of one event without items, the largest of which is PER_EVENT_OF(n), and for totals. */
static uint64_t zeros_bytes(const struct sl_setup *s) {
  const struct sl_graph *g = s->graph;
  uint64_t bytes = 256;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_algorithm *a = g->nodes[g->order[i]].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      for (uint32_t f = 0; a->members[m].collection && f < a->members[m].collection->field_count; f++)
        if (2ull * 8u * a->members[m].collection->fields[f].width > bytes)
          bytes = 2ull * 8u * a->members[m].collection->fields[f].width;
  }
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    const struct sl_member *m = at->node < g->node_count ? &g->nodes[at->node].algorithm->members[at->member] : NULL;
    if (m && m->kind == SL_MEMBER_OUT && sl_is_totals(m->collection) && at->bytes > bytes) bytes = at->bytes;
  }
  return bytes;
}

/* Number of source threads that may keep a processor between loops, so that half of the processors stay free. Where
 * slots need processors too, it is all or none. */
static uint32_t spinning_workers(const struct sl_setup *s) {
  const uint32_t half = sl_processors() / 2;
  return s->backend->is_device || half >= s->source_threads ? half : 0;
}

int sl_setup_open_tables(struct sl_setup *s) {
  const uint32_t nodes = s->graph->node_count + 1;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  s->arrays = calloc(s->layout->storage_count + 1, sizeof *s->arrays);
  s->prepared = calloc(nodes, sizeof *s->prepared);
  s->states = calloc(nodes, sizeof *s->states);
  s->opened = calloc(nodes, sizeof *s->opened);
  s->zeros = calloc(1, zeros_bytes(s));
  s->source_args = calloc(1, source->algorithm->args_size + 1u);
  if (!s->arrays || !s->prepared || !s->states || !s->opened || !s->zeros || !s->source_args) return SL_ENOMEM;
  sl_graph_fill_properties(source, s->source_args);
  return SL_OK;
}

int sl_setup_open_workers(struct sl_setup *s) {
  s->workers = sl_workers_new(s->source_threads, spinning_workers(s));
  s->contexts[s->graph->source].services.workers = s->source_threads; /* as many as there is memory for */
  return s->workers ? SL_OK : SL_ENOMEM;
}

void sl_setup_close_tables(struct sl_setup *s) {
  for (uint32_t i = 0; s->arrays && i < s->layout->storage_count; i++) sl_array_close(s, &s->arrays[i]);
  for (uint32_t n = 0; s->prepared && n < s->graph->node_count; n++) sl_prepared_close(s, n);
  for (uint32_t n = 0; s->states && n < s->graph->node_count; n++) free(s->states[n]);
  free(s->arrays);
  free(s->prepared);
  free(s->states);
  free(s->opened);
  free(s->zeros);
  free(s->source_args);
  free(s->contexts);
  sl_workers_free(s->workers);
}

/* Where the device is the host, steps run one after the other. Else they run side by side, unless the number of
 * branches is set, as long as slices do not fill the device anyway: measured on an H200 with the whole trigger
 * (docs/performance.md). */
uint32_t sl_setup_branches(const struct sl_setup *s) {
  enum { SIDE_BY_SIDE = 4, EVENTS_THAT_FILL = 8000 };
  if (!s->backend->is_device) return 1;
  if (s->branches) return s->branches;
  return (uint64_t)s->slot_count * s->slice_events < (uint64_t)s->device_count * EVENTS_THAT_FILL ? SIDE_BY_SIDE : 1;
}

int sl_report_failure(const struct sl_setup *s, int status, size_t errors, const char *what) {
  if (status >= 0 || status == SL_EINTERRUPTED || sl_diagnostics_errors(s->diagnostics) > errors) return status;
  const int is_device = status == SL_EDEVICE && s->device_count > 0;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: %s%s%s", what, sl_error_text(status),
              is_device ? ": " : "", is_device ? s->backend->error(s->devices[0].device) : "");
  return status;
}

void sl_report_node_failure(const struct sl_setup *s, uint32_t n, int status, const char *what, const char *reason) {
  const struct sl_node *node = &s->graph->nodes[n];
  if (status >= 0 || status == SL_EINTERRUPTED || atomic_load(&s->contexts[n].errors) > 0) return;
  sl_diagnose(s->diagnostics, SL_ERROR, &node->place, node->name, NULL, "%s %s: %s%s%s", node->use, what,
              sl_error_text(status), reason ? ": " : "", reason ? reason : "");
}
