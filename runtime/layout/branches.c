/* branches.c: which steps run side by side on a device.
 *
 * A step needs the steps that write what it touches. In the order of the steps, each goes to
 *   1. the branch whose last step it needs, if it starts there as early as it can;
 *   2. else to a branch that has none yet, if there may be one more;
 *   3. else to the branch where it starts earliest, for which each step is taken to last as long as any other.
 * It waits for those of its needs that are in other branches and that nothing else implies.
 *
 * What implies what is known from a clock a step (Mattern, 1989): how many steps of each branch are complete when it
 * begins. The order of the steps, which results and messages go by, stays what it is.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { NO_STEP = UINT32_MAX };

struct branching {
  struct sl_layout *layout;
  uint32_t most;
  uint32_t last[SL_BRANCHES_MAX]; /* step of each branch so far */
  uint32_t *end;                  /* per step: when it would end, if all last as long */
  uint32_t wait_capacity;
};

/* Needs of all steps: those of step i are steps[first[i]] to steps[first[i + 1]], in ascending order. */
struct needs {
  uint32_t *first, *steps;
};

static uint32_t *complete_of(const struct sl_layout *l, uint32_t step) {
  return &l->complete[(size_t)step * l->branch_count];
}

int sl_step_precedes(const struct sl_layout *l, uint32_t a, uint32_t b) {
  return b == l->step_count || complete_of(l, b)[l->steps[a].branch] > l->steps[a].index_in_branch;
}

/* ------------------------------------------------------------------------------------------------- needs */

static int compare_steps(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts the needs of each step and leaves each there once. */
static void tidy_needs(struct needs *needs, uint32_t step_count) {
  uint32_t kept = 0;
  for (uint32_t i = 0, next = 0; i < step_count; i++) {
    const uint32_t from = next;
    next = needs->first[i + 1];
    qsort(&needs->steps[from], next - from, sizeof *needs->steps, compare_steps);
    needs->first[i] = kept;
    for (uint32_t k = from; k < next; k++)
      if (k == from || needs->steps[k] != needs->steps[k - 1]) needs->steps[kept++] = needs->steps[k];
  }
  needs->first[step_count] = kept;
}

/* Whoever touches a storage after the first, who writes it, needs that one. */
static int find_needs(const struct sl_layout *l, const struct sl_touches *t, struct needs *needs) {
  const uint32_t all = t->first[l->storage_count];
  uint32_t *count = calloc(l->step_count + 1, sizeof *count);
  *needs = (struct needs){calloc(l->step_count + 2, sizeof *needs->first), malloc((all + 1) * sizeof *needs->steps)};
  if (!count || !needs->first || !needs->steps) {
    free(count);
    return SL_ENOMEM;
  }
  for (uint32_t i = 0; i < l->storage_count; i++)
    for (uint32_t k = t->first[i] + 1; l->storage[i].kind == SL_STORAGE_ARENA && k < t->first[i + 1]; k++)
      needs->first[t->steps[k] + 1]++;
  for (uint32_t i = 0; i < l->step_count; i++) needs->first[i + 1] += needs->first[i];
  for (uint32_t i = 0; i < l->storage_count; i++)
    for (uint32_t k = t->first[i] + 1; l->storage[i].kind == SL_STORAGE_ARENA && k < t->first[i + 1]; k++)
      needs->steps[needs->first[t->steps[k]] + count[t->steps[k]]++] = t->steps[t->first[i]];
  free(count);
  tidy_needs(needs, l->step_count);
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------- branches */

static int is_needed(const struct needs *needs, uint32_t step, uint32_t by) {
  for (uint32_t k = needs->first[by]; k < needs->first[by + 1]; k++)
    if (needs->steps[k] == step) return 1;
  return 0;
}

/* When all is there that the step needs. */
static uint32_t ready_at(const struct branching *b, const struct needs *needs, uint32_t step) {
  uint32_t ready = 0;
  for (uint32_t k = needs->first[step]; k < needs->first[step + 1]; k++)
    if (b->end[needs->steps[k]] > ready) ready = b->end[needs->steps[k]];
  return ready;
}

static void choose_branch(struct branching *b, const struct needs *needs, uint32_t step) {
  struct sl_layout *l = b->layout;
  const uint32_t ready = ready_at(b, needs, step);
  uint32_t chosen = 0, start = UINT32_MAX;
  for (uint32_t i = 0; i < l->branch_count; i++) {
    const uint32_t end = b->end[b->last[i]], at = end > ready ? end : ready;
    const int goes_on = at == ready && is_needed(needs, b->last[i], step);
    if (!goes_on && at >= start) continue;
    chosen = i;
    start = at;
    if (goes_on) goto found;
  }
  if (l->branch_count < b->most) {
    chosen = l->branch_count++;
    start = ready;
  }
found:
  l->steps[step].branch = chosen;
  b->last[chosen] = step;
  b->end[step] = start + 1;
}

/* ------------------------------------------------------------------------------------------------- waits */

static int add_wait(struct branching *b, struct sl_step *step, uint32_t awaited) {
  struct sl_layout *l = b->layout;
  if (l->wait_count == b->wait_capacity) {
    const uint32_t capacity = 2 * b->wait_capacity + 64;
    uint32_t *waits = realloc(l->waits, capacity * sizeof *waits);
    if (!waits) return SL_ENOMEM;
    l->waits = waits;
    b->wait_capacity = capacity;
  }
  l->waits[l->wait_count++] = awaited;
  l->steps[awaited].is_awaited = 1;
  step->wait_count++;
  return SL_OK;
}

/* When the step is complete, so are these. */
static void include(const struct sl_layout *l, uint32_t *complete, uint32_t step) {
  const uint32_t *of = complete_of(l, step);
  for (uint32_t i = 0; i < l->branch_count; i++)
    if (of[i] > complete[i]) complete[i] = of[i];
  complete[l->steps[step].branch] = l->steps[step].index_in_branch + 1;
}

/* Later needs first, since they may imply earlier ones. */
static int find_waits(struct branching *b, const struct needs *needs, uint32_t step) {
  struct sl_layout *l = b->layout;
  struct sl_step *at = &l->steps[step];
  uint32_t *complete = complete_of(l, step);
  const uint32_t before = b->last[at->branch];
  at->first_wait = l->wait_count;
  at->index_in_branch = before == NO_STEP ? 0 : l->steps[before].index_in_branch + 1;
  if (before != NO_STEP) include(l, complete, before);
  for (uint32_t k = needs->first[step + 1]; k > needs->first[step]; k--) {
    const uint32_t need = needs->steps[k - 1];
    if (sl_step_precedes(l, need, step)) continue;
    if (add_wait(b, at, need) < 0) return SL_ENOMEM;
    include(l, complete, need);
  }
  b->last[at->branch] = step;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------------- */

/* Branches first, then, when it is known how many there are, the clocks. */
static int assign(struct branching *b, const struct needs *needs) {
  struct sl_layout *l = b->layout;
  l->branch_count = 0;
  for (uint32_t step = 0; step < l->step_count; step++) choose_branch(b, needs, step);
  if (l->branch_count == 0) l->branch_count = 1; /* no step at all */
  l->complete = calloc((size_t)l->step_count * l->branch_count + 1, sizeof *l->complete);
  if (!l->complete) return SL_ENOMEM;
  memset(b->last, 0xFF, sizeof b->last);
  for (uint32_t step = 0; step < l->step_count; step++)
    if (find_waits(b, needs, step) < 0) return SL_ENOMEM;
  return SL_OK;
}

int sl_layout_branch(struct sl_layout *l, uint32_t branches, const struct sl_touches *touches) {
  struct branching b = {.layout = l, .most = branches < SL_BRANCHES_MAX ? branches : SL_BRANCHES_MAX};
  struct needs needs;
  memset(b.last, 0xFF, sizeof b.last);
  b.end = calloc(l->step_count + 1, sizeof *b.end);
  int status = find_needs(l, touches, &needs);
  if (!b.end) status = SL_ENOMEM;
  if (status == SL_OK) status = assign(&b, &needs);
  free(b.end);
  free(needs.first);
  free(needs.steps);
  return status;
}
