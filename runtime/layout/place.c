/* place.c: where the fields of a layout lie: an output takes the place of an input that dies, where its node says that
 * it may; the planner places the rest. Then, before which step memory is cleared.
 *
 * With branches the order of the steps says less of who is done. Of any two steps that may run side by side, one gives
 * way: what it touches is kept at the place of the other in that order, too. Then two fields whose memory is kept at no
 * common step are never in use at a time, and the planner need not know of branches.
 */
#include "layout/bind.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

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

/* Are all steps that touch the storage complete when this one of them begins? */
static int is_last_to_touch(const struct sl_layout *l, const struct sl_touches *t, int32_t storage, uint32_t step) {
  for (uint32_t k = t->first[storage]; k < t->first[storage + 1]; k++)
    if (t->steps[k] != step && !sl_step_precedes(l, t->steps[k], step)) return 0;
  return 1;
}

static void merge_in_place(struct sl_layout *l, const struct sl_touches *t, uint32_t step, uint32_t n,
                           const struct sl_member *out, uint32_t m) {
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
      if (is_read_elsewhere(l, n, in, linked) || !is_last_to_touch(l, t, linked, step)) continue;
      new->in_place_of = from;
      old->upper = new->upper;
    }
  }
}

static void merge_all_in_place(struct sl_layout *l, const struct sl_touches *t) {
  for (uint32_t step = 0; step < l->step_count; step++) {
    if (l->steps[step].node_count != 1) continue; /* an input that dies in a family is read by several at a time */
    const uint32_t n = l->steps[step].nodes[0];
    const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (a->members[m].kind == SL_MEMBER_OUT && a->members[m].in_place)
        merge_in_place(l, t, step, n, &a->members[m], m);
  }
}

/* ------------------------------------------------------------------------------------- how long it is kept */

struct keeping {
  const struct sl_layout *l;
  const struct sl_touches *touches;
  uint32_t first[SL_BRANCHES_MAX + 1]; /* of each branch, in `steps` */
  uint32_t *steps;                     /* by branch */
  uint64_t peak[SL_BRANCHES_MAX];      /* the most bytes at a time of what steps of the branch write */
  int64_t *change;                     /* per step: of the bytes that a branch holds */
  uint32_t *from, *until;              /* per step: what it touches is kept so long for its sake */
};

static void sort_steps(struct keeping *k) {
  uint32_t next[SL_BRANCHES_MAX];
  for (uint32_t i = 0; i < k->l->step_count; i++) k->first[k->l->steps[i].branch + 1]++;
  for (uint32_t b = 0; b < k->l->branch_count; b++) k->first[b + 1] += k->first[b];
  memcpy(next, k->first, sizeof next);
  for (uint32_t i = 0; i < k->l->step_count; i++) k->steps[next[k->l->steps[i].branch]++] = i;
}

static void find_peak(struct keeping *k, uint32_t branch) {
  const struct sl_layout *l = k->l;
  memset(k->change, 0, (l->step_count + 2) * sizeof *k->change);
  for (uint32_t s = 0; s < l->storage_count; s++) {
    const struct sl_storage *at = &l->storage[s];
    if (at->kind != SL_STORAGE_ARENA || at->upper == 0 || at->in_place_of != SL_NONE) continue;
    if (at->lower >= l->step_count || l->steps[at->lower].branch != branch) continue;
    k->change[at->lower] += (int64_t)at->bytes;
    k->change[at->upper] -= (int64_t)at->bytes;
  }
  int64_t bytes = 0, peak = 0;
  for (uint32_t i = 0; i <= l->step_count; i++) {
    bytes += k->change[i];
    if (bytes > peak) peak = bytes;
  }
  k->peak[branch] = (uint64_t)peak;
}

static int gives_way(const struct keeping *k, uint32_t a, uint32_t b) {
  return k->peak[a] < k->peak[b] || (k->peak[a] == k->peak[b] && a > b);
}

/* Which steps of branch `b` may run beside a step of `a`: those from the first that is not complete when it begins up
 * to the last that need not come after it. */
static void keep_beside(struct keeping *k, uint32_t a, uint32_t b) {
  const struct sl_layout *l = k->l;
  const uint32_t count = k->first[b + 1] - k->first[b], *steps = &k->steps[k->first[b]];
  uint32_t end = 0;
  for (uint32_t i = 0; i < k->first[a + 1] - k->first[a]; i++) {
    const uint32_t step = k->steps[k->first[a] + i], begin = l->complete[(size_t)step * l->branch_count + b];
    while (end < count && l->complete[(size_t)steps[end] * l->branch_count + a] <= i) end++;
    if (begin >= end) continue;
    if (steps[begin] < k->from[step]) k->from[step] = steps[begin];
    if (steps[end - 1] + 1 > k->until[step]) k->until[step] = steps[end - 1] + 1;
  }
}

static void set_kept_of(struct keeping *k, struct sl_layout *l) {
  for (uint32_t s = 0; s < l->storage_count; s++) {
    struct sl_storage *storage = &l->storage[s];
    storage->kept_from = storage->lower;
    storage->kept_until = storage->upper;
    for (uint32_t t = k->touches->first[s]; t < k->touches->first[s + 1]; t++) {
      const uint32_t step = k->touches->steps[t];
      if (k->from[step] < storage->kept_from) storage->kept_from = k->from[step];
      if (k->until[step] > storage->kept_until) storage->kept_until = k->until[step];
    }
  }
  for (uint32_t s = 0; s < l->storage_count; s++) {
    struct sl_storage *root = &l->storage[find_root(l, (int32_t)s)];
    if (l->storage[s].kept_from < root->kept_from) root->kept_from = l->storage[s].kept_from;
    if (l->storage[s].kept_until > root->kept_until) root->kept_until = l->storage[s].kept_until;
  }
}

/* Of two branches with steps side by side, one gives way: that which holds less. */
static int set_kept(struct sl_layout *l, const struct sl_touches *t) {
  const size_t steps = l->step_count + 2u;
  struct keeping k = {.l = l,
                      .touches = t,
                      .steps = malloc(steps * sizeof *k.steps),
                      .change = malloc(steps * sizeof *k.change),
                      .from = malloc(steps * sizeof *k.from),
                      .until = malloc(steps * sizeof *k.until)};
  const int status = k.steps && k.change && k.from && k.until ? SL_OK : SL_ENOMEM;
  if (status < 0) goto done;
  sort_steps(&k);
  for (uint32_t b = 0; b < l->branch_count; b++) find_peak(&k, b);
  for (uint32_t i = 0; i < l->step_count; i++) k.from[i] = i;
  for (uint32_t i = 0; i < l->step_count; i++) k.until[i] = i + 1;
  for (uint32_t a = 0; a < l->branch_count; a++)
    for (uint32_t b = 0; b < l->branch_count; b++)
      if (a != b && gives_way(&k, a, b)) keep_beside(&k, a, b);
  set_kept_of(&k, l);
done:
  free(k.steps);
  free(k.change);
  free(k.from);
  free(k.until);
  return status;
}

/* ------------------------------------------------------------------------------------------------ clearing */

/* The steps before which memory is cleared, as they are found, in ascending order. */
struct clearing {
  uint32_t *steps, count;
};

/* Can the storage that lives from step `from` on be cleared before an earlier step? `from` must come after that one,
 * and that one after all who use the same memory before. Before step 0 everything is cleared before any branch begins.
 */
static int can_clear_before(const struct sl_layout *l, const struct sl_touches *t, int32_t storage, uint32_t from,
                            uint32_t earlier) {
  const struct sl_storage *s = &l->storage[storage];
  if (earlier > 0 && earlier != from && !sl_step_precedes(l, earlier, from)) return 0;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *o = &l->storage[i];
    if (i == (uint32_t)storage || o->kind != SL_STORAGE_ARENA || o->upper == 0 || o->lower >= from) continue;
    if (o->offset >= s->offset + s->bytes || s->offset >= o->offset + o->bytes) continue;
    for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++)
      if (!sl_step_precedes(l, t->steps[k], earlier)) return 0;
  }
  return 1;
}

/* A device clears in as few launches as it can: what a launch before an earlier step can clear, it does. */
static void set_clear_step(struct sl_layout *l, const struct sl_touches *t, struct clearing *c, int32_t storage,
                           uint32_t step) {
  for (uint32_t k = c->count; k > 0; k--)
    if (can_clear_before(l, t, storage, step, c->steps[k - 1])) {
      l->storage[storage].clear_step = c->steps[k - 1];
      return;
    }
  l->storage[storage].clear_step = step;
  c->steps[c->count++] = step;
}

/* The counters of a slice are cleared before step 0, always. */
static int set_clear_steps(struct sl_layout *l, const struct sl_touches *t) {
  struct clearing c = {malloc((l->step_count + 1) * sizeof *c.steps), 1};
  if (!c.steps) return SL_ENOMEM;
  c.steps[0] = 0;
  for (uint32_t i = 0; i < l->storage_count; i++) l->storage[i].clear_step = UINT32_MAX;
  for (uint32_t step = 0; step < l->step_count; step++)
    for (uint32_t k = 0; k < l->steps[step].node_count; k++) {
      const uint32_t n = l->steps[step].nodes[k];
      const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
      for (uint32_t m = 0; m < a->member_count; m++)
        for (uint32_t f = 0; a->members[m].kind == SL_MEMBER_OUT && f < a->members[m].collection->field_count; f++)
          if (sl_layout_is_cleared(l, n, m, f)) set_clear_step(l, t, &c, l->members[n][m].storage[f], step);
    }
  free(c.steps);
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- placing */

/* Places the fields of the input one after the other. */
static void place_input(struct sl_layout *l) {
  for (uint32_t s = 0; s < l->storage_count; s++) {
    struct sl_storage *storage = &l->storage[s];
    if (storage->kind != SL_STORAGE_INPUT || storage->upper == 0) continue;
    storage->offset = l->input_bytes;
    l->input_bytes += sl_aligned(storage->bytes, SL_ARENA_ALIGNMENT) + l->input_gap_bytes;
    if (storage->read_by_kernel) l->device_input_bytes = l->input_bytes;
  }
}

static int place_arena(struct sl_layout *l, struct sl_diagnostics *d) {
  struct sl_plan_buffer *buffers = calloc(l->storage_count + 1, sizeof *buffers);
  uint32_t *owner = calloc(l->storage_count + 1, sizeof *owner);
  int status = SL_ENOMEM;
  if (!buffers || !owner) goto done;
  uint32_t count = 0;
  for (uint32_t s = 0; s < l->storage_count; s++) {
    const struct sl_storage *storage = &l->storage[s];
    if (storage->kind != SL_STORAGE_ARENA || storage->upper == 0 || storage->in_place_of != SL_NONE) continue;
    buffers[count] =
        (struct sl_plan_buffer){.size = storage->bytes, .lower = storage->kept_from, .upper = storage->kept_until};
    owner[count++] = s;
  }
  /* A fixed number of steps, so that a plan never depends on the clock. */
  const struct sl_plan_request request = {.buffers = buffers, .count = count, .alignment = SL_ARENA_ALIGNMENT};
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
  l->least_bytes = result.least_bytes;
  l->plan_steps = result.steps;
done:
  free(buffers);
  free(owner);
  return status;
}

int sl_layout_place(struct sl_layout *l, const struct sl_touches *t, struct sl_diagnostics *d) {
  merge_all_in_place(l, t);
  place_input(l);
  int status = set_kept(l, t);
  if (status == SL_OK) status = place_arena(l, d);
  return status == SL_OK ? set_clear_steps(l, t) : status;
}
