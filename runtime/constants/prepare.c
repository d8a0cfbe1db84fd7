/* prepare.c: node constants: values that a kernel node computes once on the host, after the constants and before the
 * first event. `prepare` gets an argument struct with properties and constants and fills its SL_COMPUTED and SL_TABLE
 * members. binding.c copies them into the argument structs of all slots.
 */
#include "constants/constants.h"
#include "execute/binding.h"
#include "execute/services.h"

#include <stdlib.h>
#include <string.h>

static void say(const struct sl_node_context *c, const char *format, const char *what) {
  const struct sl_node *node = &c->setup->graph->nodes[c->node];
  sl_diagnose(c->setup->diagnostics, SL_ERROR, &node->location, node->name, NULL, format, what);
}

static int upload_table(const struct sl_node_context *c, struct sl_array *array) {
  struct sl_setup *s = c->setup;
  const struct sl_device_state *state = NULL;
  const int status = sl_array_upload(s, array, &state);
  if (status < 0 && status != SL_ENOMEM)
    say(c, "a table could not be copied to the device: %s", s->backend->error(state->device));
  return status;
}

static int finish_tables(struct sl_setup *s, uint32_t n) {
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_TABLE) continue;
    if (!s->prepared[n].tables[m].values) {
      say(s->contexts[n], "did not make its table %s", a->members[m].name);
      return SL_EPLUGIN;
    }
    const int status = s->backend->is_device ? upload_table(s->contexts[n], &s->prepared[n].tables[m]) : SL_OK;
    if (status < 0) return status;
  }
  return SL_OK;
}

static int prepare_node(struct sl_setup *s, uint32_t n) {
  const struct sl_node *node = &s->graph->nodes[n];
  const struct sl_algorithm *a = node->algorithm;
  struct sl_prepared *prepared = &s->prepared[n];
  prepared->args = calloc(1, a->args_size + 1u);
  prepared->tables = calloc(a->member_count + 1u, sizeof *prepared->tables);
  if (!prepared->args || !prepared->tables) return SL_ENOMEM;
  unsigned char *views = calloc(1, sl_views_bytes(node) + 1);
  if (!views) return SL_ENOMEM;
  sl_graph_fill_properties(node, prepared->args);
  sl_bind_constants(s, n, prepared->args, views);
  const int status = a->prepare(&s->contexts[n]->services, prepared->args);
  free(views);
  sl_report_node_failure(s, n, status, "could not be prepared", NULL);
  return status < 0 ? status : finish_tables(s, n);
}

int sl_nodes_prepare(struct sl_setup *s, const uint8_t *which) {
  int result = SL_OK;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    if (!s->graph->nodes[n].algorithm->prepare || (which && !which[n])) continue;
    const int status = prepare_node(s, n);
    if (status < 0 && result == SL_OK) result = status;
  }
  return result;
}
