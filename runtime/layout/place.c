/* place.c: offsets of all fields. An output reuses the memory of an input that dies, where the algorithm allows it; the
 * planner places all other fields. Then the step before which each field is cleared.
 *
 * With branches, step order alone does not show which steps are complete. For two branches with concurrent steps, the
 * branch with the smaller buffers extends its reservations: storage used by its steps stays reserved during the
 * concurrent steps of the other branch. Two fields with disjoint reservations are then never in use at the same time,
 * and the planner need not know of branches.
 */
#include "layout/bind.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

/* 1 if a port that shares the offsets of port `shared` has items only of events that its node runs on: the writer of
 * the offsets ran on the same event list. */
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

/* See layout.h. A cleared field cannot reuse the memory of an input, because it is cleared before the node runs. */
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

/* 1 if the node reads the storage through another of its ports. */
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

/* 1 if all other users of the storage are complete when `step`, one of the users, begins. */
static int is_last_use(const struct sl_layout *l, const struct sl_uses *t, int32_t storage, uint32_t step) {
  for (uint32_t k = t->first[storage]; k < t->first[storage + 1]; k++)
    if (t->steps[k] != step && !sl_step_precedes(l, t->steps[k], step)) return 0;
  return 1;
}

static void merge_in_place(struct sl_layout *l, const struct sl_uses *t, uint32_t step, uint32_t n,
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
      const int ends_here = l->storage[linked].upper == step + 1 && old->upper == step + 1;
      if (old->kind != SL_STORAGE_ARENA || !ends_here || new->bytes > old->bytes) continue;
      if (is_read_elsewhere(l, n, in, linked) || !is_last_use(l, t, linked, step)) continue;
      new->in_place_of = from;
      old->upper = new->upper;
    }
  }
}

static void merge_all_in_place(struct sl_layout *l, const struct sl_uses *t) {
  for (uint32_t step = 0; step < l->step_count; step++) {
    if (l->steps[step].node_count != 1) continue; /* several nodes of a family read an input concurrently */
    const uint32_t n = l->steps[step].nodes[0];
    const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (a->members[m].kind == SL_MEMBER_OUT && a->members[m].in_place)
        merge_in_place(l, t, step, n, &a->members[m], m);
  }
}

/* ------------------------------------------------------------------------------------------ reservations */

struct reservation {
  const struct sl_layout *l;
  const struct sl_uses *uses;
  uint32_t first[SL_BRANCHES_MAX + 1]; /* per branch: index of its first step in `steps` */
  uint32_t *steps;                     /* steps sorted by branch */
  uint64_t peak[SL_BRANCHES_MAX];      /* per branch: the largest total size of live storage that its steps wrote */
  int64_t *change;                     /* per step: change of the live bytes of a branch */
  uint32_t *from, *until;              /* per step: storage used by the step is reserved for these steps, half open */
};

static void sort_steps(struct reservation *k) {
  uint32_t next[SL_BRANCHES_MAX];
  for (uint32_t i = 0; i < k->l->step_count; i++) k->first[k->l->steps[i].branch + 1]++;
  for (uint32_t b = 0; b < k->l->branch_count; b++) k->first[b + 1] += k->first[b];
  memcpy(next, k->first, sizeof next);
  for (uint32_t i = 0; i < k->l->step_count; i++) k->steps[next[k->l->steps[i].branch]++] = i;
}

static void find_peak(struct reservation *k, uint32_t branch) {
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

static int extends_lifetimes(const struct reservation *k, uint32_t a, uint32_t b) {
  return k->peak[a] < k->peak[b] || (k->peak[a] == k->peak[b] && a > b);
}

/* Extends the reservations of branch `a` over concurrent steps of branch `b`: for each step of `a`, from the first
 * step of `b` that is not complete when it begins to the last that need not come after it. */
static void extend_over(struct reservation *k, uint32_t a, uint32_t b) {
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

static void apply_reservations(struct reservation *k, struct sl_layout *l) {
  for (uint32_t s = 0; s < l->storage_count; s++) {
    struct sl_storage *storage = &l->storage[s];
    storage->reserved_from = storage->lower;
    storage->reserved_until = storage->upper;
    for (uint32_t t = k->uses->first[s]; t < k->uses->first[s + 1]; t++) {
      const uint32_t step = k->uses->steps[t];
      if (k->from[step] < storage->reserved_from) storage->reserved_from = k->from[step];
      if (k->until[step] > storage->reserved_until) storage->reserved_until = k->until[step];
    }
  }
  for (uint32_t s = 0; s < l->storage_count; s++) {
    struct sl_storage *root = &l->storage[find_root(l, (int32_t)s)];
    if (l->storage[s].reserved_from < root->reserved_from) root->reserved_from = l->storage[s].reserved_from;
    if (l->storage[s].reserved_until > root->reserved_until) root->reserved_until = l->storage[s].reserved_until;
  }
}

/* Sets the reservations of all storage. */
static int set_reservations(struct sl_layout *l, const struct sl_uses *t) {
  const size_t steps = l->step_count + 2u;
  struct reservation k = {.l = l,
                          .uses = t,
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
      if (a != b && extends_lifetimes(&k, a, b)) extend_over(&k, a, b);
  apply_reservations(&k, l);
done:
  free(k.steps);
  free(k.change);
  free(k.from);
  free(k.until);
  return status;
}

/* ------------------------------------------------------------------------------------------------ clearing */

/* Steps before which memory is cleared, in ascending order. */
struct clearing {
  uint32_t *steps, count;
};

/* 1 if a storage that is live from step `from` on can be cleared before step `earlier`: `from` must come after
 * `earlier`, and `earlier` after all previous users of the memory. Step 0 is special: clearing before it precedes
 * every branch. */
static int can_clear_before(const struct sl_layout *l, const struct sl_uses *t, int32_t storage, uint32_t from,
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

/* Chooses an earlier clearing step if possible, so that the device needs few clearing launches. */
static void set_clear_step(struct sl_layout *l, const struct sl_uses *t, struct clearing *c, int32_t storage,
                           uint32_t step) {
  for (uint32_t k = c->count; k > 0; k--)
    if (can_clear_before(l, t, storage, step, c->steps[k - 1])) {
      l->storage[storage].clear_step = c->steps[k - 1];
      return;
    }
  l->storage[storage].clear_step = step;
  c->steps[c->count++] = step;
}

/* Step 0 always has a clearing launch, for the counters of the slice. */
static int set_clear_steps(struct sl_layout *l, const struct sl_uses *t) {
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

/* Places the fields of the input one after another. */
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
    buffers[count] = (struct sl_plan_buffer){
        .size = storage->bytes, .lower = storage->reserved_from, .upper = storage->reserved_until};
    owner[count++] = s;
  }
  /* The search has a fixed number of steps, so that a plan never depends on the clock. */
  const struct sl_plan_request request = {.buffers = buffers, .count = count, .alignment = SL_ARENA_ALIGNMENT};
  struct sl_plan_result result = {0};
  status = sl_plan_solve(&request, &result);
  if (status < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "no memory plan was found for %u buffers", count);
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

int sl_layout_place(struct sl_layout *l, const struct sl_uses *t, struct sl_diagnostics *d) {
  merge_all_in_place(l, t);
  place_input(l);
  int status = set_reservations(l, t);
  if (status == SL_OK) status = place_arena(l, d);
  return status == SL_OK ? set_clear_steps(l, t) : status;
}
