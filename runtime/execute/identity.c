/* identity.c: what a run is (struct sl_run): version, device, graph, plugins, outputs. Sinks that write results down
 * put it beside them, so that a file says what made it.
 */
#include "execute/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int is_used(const struct sl_session *s, const struct sl_plugin_entry *plugin) {
  for (uint32_t i = 0; i < s->graph->order_count; i++)
    if (s->graph->nodes[s->graph->order[i]].plugin == plugin) return 1;
  return 0;
}

static int open_plugins(struct sl_session *s) {
  s->run_plugins = calloc(s->registry.entry_count + 1, sizeof *s->run_plugins);
  if (!s->run_plugins) return SL_ENOMEM;
  for (size_t i = 0; i < s->registry.entry_count; i++) {
    const struct sl_plugin_entry *e = &s->registry.entries[i];
    if (e->status != SL_PLUGIN_LOADED || !is_used(s, e)) continue;
    char line[256];
    snprintf(line, sizeof line, "%s %s %s", e->plugin->name, e->plugin->version, e->plugin->target);
    char *kept = strdup(line);
    if (!kept) return SL_ENOMEM;
    s->run_plugins[s->run.plugin_count++] = kept;
  }
  return SL_OK;
}

/* A sink that writes any outputs writes their digests too. */
static int has_writer(const struct sl_session *s) {
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const struct sl_algorithm *a = s->graph->nodes[s->graph->order[i]].algorithm;
    if (a->kind == SL_KIND_SINK && a->sink->takes_outputs) return 1;
  }
  return 0;
}

int sl_identity_open(struct sl_session *s) {
  const struct sl_graph *g = s->graph;
  s->run_outputs = calloc(g->output_count + 1, sizeof *s->run_outputs);
  if (!s->run_outputs || open_plugins(s) < 0) return SL_ENOMEM;
  for (uint32_t o = 0; o < g->output_count; o++) {
    const struct sl_port port = g->outputs[o].port;
    s->run_outputs[o].name = g->outputs[o].name;
    s->run_outputs[o].collection = g->nodes[port.node].algorithm->members[port.member].collection;
  }
  s->run.size = sizeof s->run;
  s->run.output_count = g->output_count;
  s->run.sluice_version = sl_version();
  s->run.device = s->options.device;
  s->run.graph_text = g->text;
  s->run.graph_digest = XXH3_64bits(g->text, strlen(g->text));
  s->run.plugins = (const char *const *)s->run_plugins;
  s->run.outputs = s->run_outputs;
  s->run_digests = s->options.digest || has_writer(s);
  for (uint32_t n = 0; n < g->node_count; n++)
    if (g->nodes[n].algorithm->kind == SL_KIND_SINK) s->contexts[n].services.run = &s->run;
  return SL_OK;
}

void sl_identity_update(struct sl_session *s) {
  for (uint32_t o = 0; o < s->run.output_count; o++)
    s->run_outputs[o].digest = s->run_digests ? sl_session_output_digest(s, o) : 0;
}

void sl_identity_close(struct sl_session *s) {
  for (uint32_t i = 0; i < s->run.plugin_count; i++) free(s->run_plugins[i]);
  free(s->run_plugins);
  free(s->run_outputs);
}
