/* place.c: where the fields of a layout lie: an output takes the place of an input that dies, where its node says that
 * it may; the planner places the rest.
 */
#include "execute/bind.h"
#include "execute/layout.h"

#include <stdlib.h>
#include <string.h>

/* Plans of graphs are found by the greedy orders; where they are not, so long may a better one be looked for. */
#define SEARCH_SECONDS 0.25

/* Does a port that shares another one's offsets have items of events only that its node runs on? So it is if who wrote
 * the offsets ran on the same ones. */
static int has_items_of_own_events(const struct sl_layout *l, uint32_t n, const char *shared) {
  const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
  uint32_t m = 0, f = 0;
  while (m < a->member_count && strcmp(a->members[m].name, shared) != 0) m++;
  if (m == a->member_count || a->members[m].collection == NULL) return 0;
  const struct sl_collection *collection = a->members[m].collection;
  while (f < collection->field_count && collection->fields[f].shape != SL_SHAPE_CODE_OFFSETS) f++;
  const int32_t offsets = f < collection->field_count ? l->members[n][m].storage[f] : SL_NONE;
  if (offsets == SL_NONE || l->storage[offsets].kind != SL_STORAGE_ARENA) return 0;
  return l->storage[offsets].node != UINT32_MAX && l->node_set[l->storage[offsets].node] == l->node_set[n];
}

/* Before the node runs; so its memory can be no input's. */
int sl_layout_is_cleared(const struct sl_layout *l, uint32_t n, uint32_t m, uint32_t f) {
  const struct sl_member *member = &l->graph->nodes[n].algorithm->members[m];
  const int32_t at = l->members[n][m].storage[f];
  if (at == SL_NONE || member->collection == NULL || sl_is_event_list(member->collection)) return 0;
  if (l->storage[at].node != n || l->storage[at].member != m) return 0;
  const int has_list = l->node_set[n] != UINT32_MAX;
  switch (member->collection->fields[f].shape) {
    case SL_SHAPE_CODE_TOTAL:
      return 1;
    case SL_SHAPE_CODE_OFFSETS:
    case SL_SHAPE_CODE_PER_EVENT:
      return has_list;
    case SL_SHAPE_CODE_PER_ITEM:
      return has_list && member->shares != NULL && !has_items_of_own_events(l, n, member->shares);
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      return has_list && member->shares != NULL;
    default:
      return 0;
  }
}

/* Does the node read it through another of its ports? */
static int is_read_elsewhere(const struct sl_layout *l, uint32_t n, int in, int32_t storage) {
  const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if ((int)m == in || a->members[m].kind != SL_MEMBER_IN) continue;
    for (uint32_t k = 0; k < l->members[n][m].entry_count; k++)
      for (uint32_t f = 0; f < a->members[m].collection->field_count; f++)
        if (l->members[n][m].entries[k].storage[f] == storage) return 1;
  }
  return 0;
}

static int32_t find_root(const struct sl_layout *l, int32_t s) {
  while (l->storage[s].in_place_of != SL_NONE) s = l->storage[s].in_place_of;
  return s;
}

static void merge_in_place(struct sl_layout *l, uint32_t step, uint32_t n, const struct sl_member *out, uint32_t m) {
  const int in = sl_member_index(l->graph->nodes[n].algorithm, out->in_place);
  const struct sl_member *partner = &l->graph->nodes[n].algorithm->members[in];
  for (uint32_t f = 0; f < out->collection->field_count; f++) {
    const int32_t to = l->members[n][m].storage[f];
    if (to == SL_NONE || l->storage[to].node != n || l->storage[to].member != m) continue;
    if (sl_layout_is_cleared(l, n, m, f)) continue;
    for (uint32_t g = 0; g < partner->collection->field_count; g++) {
      const int32_t linked = l->members[n][in].storage[g];
      if (linked == SL_NONE || strcmp(partner->collection->fields[g].name, out->collection->fields[f].name) != 0)
        continue;
      const int32_t from = find_root(l, linked);
      struct sl_storage *old = &l->storage[from], *new = &l->storage[to];
      const int dies_here = l->storage[linked].upper == step + 1 && old->upper == step + 1;
      if (old->kind != SL_STORAGE_ARENA || !dies_here || new->bytes > old->bytes) continue;
      if (is_read_elsewhere(l, n, in, linked)) continue;
      new->in_place_of = from;
      old->upper = new->upper;
    }
  }
}

int sl_layout_place(struct sl_layout *l, struct sl_diagnostics *d) {
  for (uint32_t step = 0; step < l->step_count; step++) {
    if (l->steps[step].node_count != 1) continue; /* an input that dies in a family is read by several at a time */
    const uint32_t n = l->steps[step].nodes[0];
    const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (a->members[m].kind == SL_MEMBER_OUT && a->members[m].in_place) merge_in_place(l, step, n, &a->members[m], m);
  }
  struct sl_plan_buffer *buffers = calloc(l->storage_count + 1, sizeof *buffers);
  uint32_t *owner = calloc(l->storage_count + 1, sizeof *owner);
  int status = SL_ENOMEM;
  if (!buffers || !owner) goto done;
  uint32_t count = 0;
  for (uint32_t s = 0; s < l->storage_count; s++) {
    struct sl_storage *storage = &l->storage[s];
    if (storage->kind == SL_STORAGE_INPUT && storage->upper > 0) {
      storage->offset = l->input_bytes;
      l->input_bytes += sl_aligned(storage->bytes, SL_ARENA_ALIGNMENT) + l->input_gap_bytes;
      if (storage->read_by_kernel) l->device_input_bytes = l->input_bytes;
    } else if (storage->kind == SL_STORAGE_ARENA && storage->upper > 0 && storage->in_place_of == SL_NONE) {
      buffers[count] = (struct sl_plan_buffer){storage->bytes, 0, storage->lower, storage->upper};
      owner[count++] = s;
    }
  }
  const struct sl_plan_request request = {buffers, count, SL_ARENA_ALIGNMENT, 0, SEARCH_SECONDS};
  struct sl_plan_result result = {0};
  status = sl_plan_solve(&request, &result);
  if (status < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "the memory of %u buffers could not be planned", count);
    goto done;
  }
  char reason[256];
  status = sl_plan_verify(buffers, count, SL_ARENA_ALIGNMENT, result.arena_bytes, reason, sizeof reason);
  if (status < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "the memory plan is wrong: %s", reason);
    goto done;
  }
  for (uint32_t b = 0; b < count; b++) l->storage[owner[b]].offset = buffers[b].offset;
  for (uint32_t s = 0; s < l->storage_count; s++)
    if (l->storage[s].in_place_of != SL_NONE) l->storage[s].offset = l->storage[find_root(l, (int32_t)s)].offset;
  l->arena_bytes = result.arena_bytes;
  l->live_bytes_max = result.lower_bound_bytes;
  l->optimal = result.optimal;
done:
  free(buffers);
  free(owner);
  return status;
}
