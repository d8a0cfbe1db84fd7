/* constants.c: makes constants on the host, in order, and copies them to devices with memory of their own, if kernels
 * read them.
 */
#include "constants/constants.h"

#include "execute/binding.h"
#include "execute/services.h"

#include <stdlib.h>

static int make_constant(struct sl_setup *s, uint32_t n) {
  const struct sl_node *node = &s->graph->nodes[n];
  const struct sl_algorithm *a = node->algorithm;
  void *args = calloc(1, a->args_size + 1u);
  unsigned char *views = calloc(1, sl_views_bytes(node) + 1);
  int status = args && views ? SL_OK : SL_ENOMEM;
  if (status == SL_OK) {
    sl_graph_fill_properties(node, args);
    sl_bind_constants(s, n, args, views);
    status = a->make(&s->contexts[n]->services, args);
  }
  free(args);
  free(views);
  sl_report_node_failure(s, n, status, "could not be made", NULL);
  if (status < 0) return status;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    for (uint32_t f = 0; f < a->members[m].collection->field_count; f++) {
      if (s->arrays[s->layout->members[n][m].storage[f]].values) continue;
      sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "%s did not make %s.%s", node->use,
                  a->members[m].name, a->members[m].collection->fields[f].name);
      return SL_EPLUGIN;
    }
  }
  return SL_OK;
}

static int report_constant_failed(struct sl_setup *s, uint32_t storage, const struct sl_device_state *state, int status,
                                  const char *what) {
  const struct sl_storage *at = &s->layout->storage[storage];
  const struct sl_node *node = &s->graph->nodes[at->node];
  const struct sl_member *m = &node->algorithm->members[at->member];
  sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "%s.%s of %llu bytes: %s: %s", m->name,
              m->collection->fields[at->field].name, (unsigned long long)s->arrays[storage].bytes, what,
              s->backend->error(state->device));
  return status;
}

/* Copies constants that kernels read to devices with memory of their own. */
static int upload_constants(struct sl_setup *s, const uint8_t *which) {
  if (!s->backend->is_device) return SL_OK;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    struct sl_array *array = &s->arrays[i];
    const struct sl_storage *at = &s->layout->storage[i];
    if (at->kind != SL_STORAGE_CONSTANT || !at->read_by_kernel || (which && !which[at->node])) continue;
    const struct sl_device_state *state = NULL;
    const int status = sl_array_upload(s, array, &state);
    if (status == SL_ENOMEM) return report_constant_failed(s, i, state, status, "the device has no memory left for it");
    if (status < 0) return report_constant_failed(s, i, state, SL_EDEVICE, "it could not be copied to the device");
  }
  return SL_OK;
}

/* 1 if a node reads a constant that could not be made. */
static int reads_failed(const struct sl_node *node, const uint8_t *failed) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    for (uint32_t k = 0; k < node->inputs[m].count; k++)
      if (failed[node->inputs[m].ports[k].node]) return 1;
  return 0;
}

int sl_constants_make(struct sl_setup *s, const uint8_t *which) {
  uint8_t *failed = calloc(s->graph->node_count + 1u, 1);
  if (!failed) return SL_ENOMEM;
  int result = SL_OK;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    if (node->algorithm->kind != SL_KIND_CONSTANT || (which && !which[n])) continue;
    /* The cause was reported with the constant that failed first. */
    failed[n] = reads_failed(node, failed) ? 1 : 0;
    if (failed[n]) continue;
    const int status = make_constant(s, n);
    failed[n] = status < 0;
    if (status < 0 && result == SL_OK) result = status;
  }
  free(failed);
  return result == SL_OK ? upload_constants(s, which) : result;
}
