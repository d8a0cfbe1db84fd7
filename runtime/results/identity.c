/* identity.c: identity of a run (struct sl_run): version, device, graph, plugins, outputs. Sinks store it with the
 * results, so that a file documents how it was made.
 */
#include "results/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int is_used(const struct sl_setup *s, const struct sl_plugin_entry *plugin) {
  for (uint32_t i = 0; i < s->graph->order_count; i++)
    if (s->graph->nodes[s->graph->order[i]].plugin == plugin) return 1;
  return 0;
}

static int open_plugins(struct sl_identity *identity, const struct sl_setup *s) {
  identity->plugins = calloc(s->registry.entry_count + 1, sizeof *identity->plugins);
  if (!identity->plugins) return SL_ENOMEM;
  for (size_t i = 0; i < s->registry.entry_count; i++) {
    const struct sl_plugin_entry *e = &s->registry.entries[i];
    if (e->status != SL_PLUGIN_LOADED || !is_used(s, e)) continue;
    char line[256];
    snprintf(line, sizeof line, "%s %s %s", e->plugin->name, e->plugin->version, e->plugin->target);
    char *kept = strdup(line);
    if (!kept) return SL_ENOMEM;
    identity->plugins[identity->run.plugin_count++] = kept;
  }
  return SL_OK;
}

/* The names of the producers of a list port are those of the entries. */
static void open_names(const struct sl_node *node, const struct sl_member *member, struct sl_run_output *to) {
  if (member->names.kind == SL_NAMES_NONE) return;
  const struct sl_wiring *list = &node->inputs[sl_member_index(node->algorithm, member->names.port)];
  to->naming = &member->names;
  to->names = (const char *const *)list->names;
  to->name_count = list->count;
}

static void open_output(const struct sl_graph *g, const struct sl_output *from, struct sl_run_output *to) {
  const struct sl_node *node = &g->nodes[from->port.node];
  to->name = from->name;
  to->collection = node->algorithm->members[from->port.member].collection;
  open_names(node, &node->algorithm->members[from->port.member], to);
}

int sl_identity_open(struct sl_identity *identity, const struct sl_setup *s) {
  const struct sl_graph *g = s->graph;
  identity->outputs = calloc(g->output_count + 1, sizeof *identity->outputs);
  if (!identity->outputs || open_plugins(identity, s) < 0) return SL_ENOMEM;
  identity->run.size = sizeof identity->run;
  identity->run.output_count = g->output_count;
  for (uint32_t o = 0; o < g->output_count; o++) open_output(g, &g->outputs[o], &identity->outputs[o]);
  snprintf(identity->version, sizeof identity->version, "%s, commit %s", sl_version(), sl_commit());
  identity->run.sluice_version = identity->version;
  identity->run.device = s->options.device;
  identity->run.graph_text = g->text;
  identity->run.graph_digest = XXH3_64bits(g->text, strlen(g->text));
  identity->run.plugins = (const char *const *)identity->plugins;
  identity->run.outputs = identity->outputs;
  for (uint32_t n = 0; n < g->node_count; n++)
    if (g->nodes[n].algorithm->kind == SL_KIND_SINK) s->contexts[n]->services.run = &identity->run;
  return SL_OK;
}

void sl_identity_close(struct sl_identity *identity) {
  for (uint32_t i = 0; i < identity->run.plugin_count; i++) free(identity->plugins[i]);
  free(identity->plugins);
  free(identity->outputs);
}
