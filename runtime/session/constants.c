/* constants.c: the constants of a session, for the program. */
#include "base/locale.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

/* The lists that a view of all constants needs: one block. */
struct counts {
  uint32_t constants, fields;
  size_t text_bytes;
};

/* Number of output ports; the name of a constant with several of them is NODE.PORT. */
static uint32_t port_count(const struct sl_algorithm *a) {
  uint32_t count = 0;
  for (uint32_t m = 0; m < a->member_count; m++) count += a->members[m].kind == SL_MEMBER_OUT;
  return count;
}

static struct counts count_all(const struct sl_graph *g) {
  struct counts c = {0, 0, 0};
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    if (node->algorithm->kind != SL_KIND_CONSTANT) continue;
    for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
      if (node->algorithm->members[m].kind != SL_MEMBER_OUT) continue;
      c.constants++;
      c.fields += node->algorithm->members[m].collection->field_count;
      c.text_bytes += strlen(node->name) + strlen(node->algorithm->members[m].name) + 2;
    }
  }
  return c;
}

/* Where the next constant is written. */
struct place {
  struct sl_constant *constant;
  const void **values;
  uint64_t *counts;
  char *text;
};

static void add_port(const struct sl_setup *s, uint32_t n, uint32_t m, struct place *at) {
  const struct sl_node *node = &s->graph->nodes[n];
  const struct sl_member *port = &node->algorithm->members[m];
  const int is_only_one = port_count(node->algorithm) == 1;
  *at->constant++ = (struct sl_constant){at->text, port->collection, at->values, at->counts};
  at->text += sprintf(at->text, is_only_one ? "%s" : "%s.%s", node->name, port->name) + 1;
  for (uint32_t f = 0; f < port->collection->field_count; f++) {
    const struct sl_array *array = &s->arrays[s->layout->members[n][m].storage[f]];
    *at->values++ = array->values;
    *at->counts++ = array->count;
  }
}

const struct sl_constant *sl_session_constants(struct sl_session *sn, uint32_t *count) {
  SL_IN_C_LOCALE(NULL);
  const struct sl_setup *s = &sn->setup;
  const struct counts c = count_all(s->graph);
  const size_t constants = (c.constants + 1) * sizeof(struct sl_constant);
  const size_t fields = (c.fields + 1) * (sizeof(void *) + sizeof(uint64_t));
  *count = 0;
  free(sn->constants);
  sn->constants = calloc(1, constants + fields + c.text_bytes);
  if (!sn->constants) return NULL;
  unsigned char *block = (unsigned char *)sn->constants + constants;
  struct place at = {sn->constants, (const void **)(void *)block,
                     (uint64_t *)(void *)(block + (c.fields + 1) * sizeof(void *)), (char *)block + fields};
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    for (uint32_t m = 0; a->kind == SL_KIND_CONSTANT && m < a->member_count; m++)
      if (a->members[m].kind == SL_MEMBER_OUT) add_port(s, n, m, &at);
  }
  *count = c.constants;
  return sn->constants;
}
