/* touches.c: who touches which storage: what the order of steps, and the lifetimes of memory, follow from. */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* Two passes: the first counts, the second, with `steps`, writes. */
struct visit {
  struct sl_touches *touches;
  uint32_t *last, *count; /* per storage: the step that touched it last, and how many have so far */
  uint32_t step;
};

static void touch(struct visit *v, int32_t storage) {
  if (storage == SL_NONE || v->last[storage] == v->step) return;
  v->last[storage] = v->step;
  if (v->touches->steps) v->touches->steps[v->touches->first[storage] + v->count[storage]] = v->step;
  v->count[storage]++;
}

static void touch_node(const struct sl_layout *l, struct visit *v, uint32_t n) {
  const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_collection *c = a->members[m].collection;
    const uint32_t fields = a->members[m].kind == SL_MEMBER_SCRATCH ? 1 : c ? c->field_count : 0;
    for (uint32_t k = 0; k < l->members[n][m].entry_count; k++)
      for (uint32_t f = 0; f < fields; f++) touch(v, l->members[n][m].entries[k].storage[f]);
  }
}

static void touch_list(struct visit *v, const struct sl_list_set *set) {
  touch(v, set->count_storage);
  touch(v, set->numbers_storage);
}

static void touch_step(const struct sl_layout *l, struct visit *v, const struct sl_step *step) {
  const struct sl_list_set *made = step->kind == SL_STEP_COMBINE ? &l->sets[step->set] : NULL;
  for (uint32_t p = 0; made && p < made->port_count; p++)
    for (uint32_t f = 0; f < 2; f++) touch(v, l->members[made->ports[p].node][made->ports[p].member].storage[f]);
  if (made) touch(v, made->tally_storage);
  if (made) touch_list(v, made);
  for (uint32_t i = 0; i < step->node_count; i++) {
    touch_node(l, v, step->nodes[i]);
    if (l->node_set[step->nodes[i]] != NO_INDEX) touch_list(v, &l->sets[l->node_set[step->nodes[i]]]);
  }
}

static void visit_all(const struct sl_layout *l, struct visit *v) {
  memset(v->last, 0xFF, l->storage_count * sizeof *v->last);
  memset(v->count, 0, l->storage_count * sizeof *v->count);
  for (v->step = 0; v->step < l->step_count; v->step++) touch_step(l, v, &l->steps[v->step]);
}

int sl_touches_find(const struct sl_layout *l, struct sl_touches *touches) {
  struct visit v = {touches, malloc((l->storage_count + 1) * sizeof *v.last),
                    malloc((l->storage_count + 1) * sizeof *v.count), 0};
  *touches = (struct sl_touches){calloc(l->storage_count + 1, sizeof *touches->first), NULL};
  int status = SL_ENOMEM;
  if (!v.last || !v.count || !touches->first) goto done;
  visit_all(l, &v);
  for (uint32_t i = 0; i < l->storage_count; i++) touches->first[i + 1] = touches->first[i] + v.count[i];
  touches->steps = malloc((touches->first[l->storage_count] + 1) * sizeof *touches->steps);
  if (!touches->steps) goto done;
  visit_all(l, &v);
  status = SL_OK;
done:
  free(v.last);
  free(v.count);
  if (status < 0) sl_touches_free(touches);
  return status;
}

void sl_touches_free(struct sl_touches *touches) {
  free(touches->first);
  free(touches->steps);
  *touches = (struct sl_touches){NULL, NULL};
}
