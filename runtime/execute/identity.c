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
  s->identity.plugins = calloc(s->registry.entry_count + 1, sizeof *s->identity.plugins);
  if (!s->identity.plugins) return SL_ENOMEM;
  for (size_t i = 0; i < s->registry.entry_count; i++) {
    const struct sl_plugin_entry *e = &s->registry.entries[i];
    if (e->status != SL_PLUGIN_LOADED || !is_used(s, e)) continue;
    char line[256];
    snprintf(line, sizeof line, "%s %s %s", e->plugin->name, e->plugin->version, e->plugin->target);
    char *kept = strdup(line);
    if (!kept) return SL_ENOMEM;
    s->identity.plugins[s->identity.run.plugin_count++] = kept;
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
  s->identity.outputs = calloc(g->output_count + 1, sizeof *s->identity.outputs);
  if (!s->identity.outputs || open_plugins(s) < 0) return SL_ENOMEM;
  for (uint32_t o = 0; o < g->output_count; o++) {
    const struct sl_port port = g->outputs[o].port;
    s->identity.outputs[o].name = g->outputs[o].name;
    s->identity.outputs[o].collection = g->nodes[port.node].algorithm->members[port.member].collection;
  }
  s->identity.run.size = sizeof s->identity.run;
  s->identity.run.output_count = g->output_count;
  snprintf(s->identity.version, sizeof s->identity.version, "%s, commit %s", sl_version(), sl_commit());
  s->identity.run.sluice_version = s->identity.version;
  s->identity.run.device = s->options.device;
  s->identity.run.graph_text = g->text;
  s->identity.run.graph_digest = XXH3_64bits(g->text, strlen(g->text));
  s->identity.run.plugins = (const char *const *)s->identity.plugins;
  s->identity.run.outputs = s->identity.outputs;
  s->delivery.wants_digests = s->options.digest || has_writer(s);
  for (uint32_t n = 0; n < g->node_count; n++)
    if (g->nodes[n].algorithm->kind == SL_KIND_SINK) s->contexts[n].services.run = &s->identity.run;
  return SL_OK;
}

void sl_identity_update(struct sl_session *s) {
  for (uint32_t o = 0; o < s->identity.run.output_count; o++)
    s->identity.outputs[o].digest = s->delivery.wants_digests ? sl_session_output_digest(s, o) : 0;
}

void sl_identity_close(struct sl_session *s) {
  for (uint32_t i = 0; i < s->identity.run.plugin_count; i++) free(s->identity.plugins[i]);
  free(s->identity.plugins);
  free(s->identity.outputs);
}
