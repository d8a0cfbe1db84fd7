/* uses.c: which steps use which storage. The order of steps and the lifetimes of memory follow from it. */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* Two passes: the first counts the uses, the second (with `steps`) writes them. */
struct visit {
  struct sl_uses *uses;
  uint32_t *last, *count; /* per storage: the last step that uses it, and the number of uses so far */
  uint32_t step;
};

static void add_use(struct visit *v, int32_t storage) {
  if (storage == SL_NONE || v->last[storage] == v->step) return;
  v->last[storage] = v->step;
  if (v->uses->steps) v->uses->steps[v->uses->first[storage] + v->count[storage]] = v->step;
  v->count[storage]++;
}

static void use_node(const struct sl_layout *l, struct visit *v, uint32_t n) {
  const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_collection *c = a->members[m].collection;
    const uint32_t fields = a->members[m].kind == SL_MEMBER_SCRATCH ? 1 : c ? c->field_count : 0;
    for (uint32_t k = 0; k < l->members[n][m].entry_count; k++)
      for (uint32_t f = 0; f < fields; f++) add_use(v, l->members[n][m].entries[k].storage[f]);
  }
}

static void use_list(struct visit *v, const struct sl_list_set *set) {
  add_use(v, set->count_storage);
  add_use(v, set->numbers_storage);
}

static void use_step(const struct sl_layout *l, struct visit *v, const struct sl_step *step) {
  const struct sl_list_set *made = step->kind == SL_STEP_COMBINE ? &l->sets[step->set] : NULL;
  for (uint32_t p = 0; made && p < made->port_count; p++)
    for (uint32_t f = 0; f < 2; f++) add_use(v, l->members[made->ports[p].node][made->ports[p].member].storage[f]);
  if (made) add_use(v, made->tally_storage);
  if (made) use_list(v, made);
  for (uint32_t i = 0; i < step->node_count; i++) {
    use_node(l, v, step->nodes[i]);
    if (l->node_set[step->nodes[i]] != NO_INDEX) use_list(v, &l->sets[l->node_set[step->nodes[i]]]);
  }
}

static void visit_all(const struct sl_layout *l, struct visit *v) {
  memset(v->last, 0xFF, l->storage_count * sizeof *v->last);
  memset(v->count, 0, l->storage_count * sizeof *v->count);
  for (v->step = 0; v->step < l->step_count; v->step++) use_step(l, v, &l->steps[v->step]);
}

int sl_uses_find(const struct sl_layout *l, struct sl_uses *uses) {
  struct visit v = {uses, malloc((l->storage_count + 1) * sizeof *v.last),
                    malloc((l->storage_count + 1) * sizeof *v.count), 0};
  *uses = (struct sl_uses){calloc(l->storage_count + 1, sizeof *uses->first), NULL};
  int status = SL_ENOMEM;
  if (!v.last || !v.count || !uses->first) goto done;
  visit_all(l, &v);
  for (uint32_t i = 0; i < l->storage_count; i++) uses->first[i + 1] = uses->first[i] + v.count[i];
  uses->steps = malloc((uses->first[l->storage_count] + 1) * sizeof *uses->steps);
  if (!uses->steps) goto done;
  visit_all(l, &v);
  status = SL_OK;
done:
  free(v.last);
  free(v.count);
  if (status < 0) sl_uses_free(uses);
  return status;
}

void sl_uses_free(struct sl_uses *uses) {
  free(uses->first);
  free(uses->steps);
  *uses = (struct sl_uses){NULL, NULL};
}

uint8_t *sl_source_fields(const struct sl_layout *l) {
  const struct sl_algorithm *a = l->graph->nodes[l->graph->source].algorithm;
  uint32_t count = 0;
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].collection) count += a->members[m].collection->field_count;
  uint8_t *fields = calloc(count + 1u, sizeof *fields), *at = fields;
  for (uint32_t m = 0; fields && m < a->member_count; m++)
    for (uint32_t f = 0; a->members[m].collection && f < a->members[m].collection->field_count; f++)
      *at++ = l->members[l->graph->source][m].storage[f] != SL_NONE;
  return fields;
}
