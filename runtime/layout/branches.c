/* branches.c: assigns steps to branches that run concurrently on a device.
 *
 * A step depends on the steps that write the storage it uses. In step order, each step is assigned to
 *   1. the branch with a last step that it depends on, if the step can start there as early as its dependencies allow;
 *   2. else a new branch, if the maximum is not reached;
 *   3. else the branch where it starts earliest, assuming that all steps take equally long.
 * A step waits for its dependencies in other branches, except for waits that others imply.
 *
 * Implied waits follow from a vector clock per step (Mattern, 1989): the number of steps of each branch that are
 * complete when the step begins. The step order, which fixes results and messages, does not change.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { NO_STEP = UINT32_MAX };

struct branching {
  struct sl_layout *layout;
  uint32_t most;
  uint32_t last[SL_BRANCHES_MAX]; /* last step of each branch so far */
  uint32_t *end;                  /* per step: its end time, if all steps take one unit */
  uint32_t wait_capacity;
};

/* Dependencies of all steps: those of step i are steps[first[i]] to steps[first[i + 1] - 1], in ascending order. */
struct dependencies {
  uint32_t *first, *steps;
};

static uint32_t *complete_of(const struct sl_layout *l, uint32_t step) {
  return &l->complete[(size_t)step * l->branch_count];
}

int sl_step_precedes(const struct sl_layout *l, uint32_t a, uint32_t b) {
  return b == l->step_count || complete_of(l, b)[l->steps[a].branch] > l->steps[a].index_in_branch;
}

/* ----------------------------------------------------------------------------------------- dependencies */

static int compare_steps(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts the dependencies of each step and removes duplicates. */
static void sort_dependencies(struct dependencies *dependencies, uint32_t step_count) {
  uint32_t unique_count = 0;
  for (uint32_t i = 0, next = 0; i < step_count; i++) {
    const uint32_t from = next;
    next = dependencies->first[i + 1];
    qsort(&dependencies->steps[from], next - from, sizeof *dependencies->steps, compare_steps);
    dependencies->first[i] = unique_count;
    for (uint32_t k = from; k < next; k++)
      if (k == from || dependencies->steps[k] != dependencies->steps[k - 1])
        dependencies->steps[unique_count++] = dependencies->steps[k];
  }
  dependencies->first[step_count] = unique_count;
}

/* Each user of a storage depends on its first user, which writes it. */
static int find_dependencies(const struct sl_layout *l, const struct sl_uses *t, struct dependencies *dependencies) {
  const uint32_t all = t->first[l->storage_count];
  uint32_t *count = calloc(l->step_count + 1, sizeof *count);
  *dependencies = (struct dependencies){calloc(l->step_count + 2, sizeof *dependencies->first),
                                        malloc((all + 1) * sizeof *dependencies->steps)};
  if (!count || !dependencies->first || !dependencies->steps) {
    free(count);
    return SL_ENOMEM;
  }
  for (uint32_t i = 0; i < l->storage_count; i++)
    for (uint32_t k = t->first[i] + 1; l->storage[i].kind == SL_STORAGE_ARENA && k < t->first[i + 1]; k++)
      dependencies->first[t->steps[k] + 1]++;
  for (uint32_t i = 0; i < l->step_count; i++) dependencies->first[i + 1] += dependencies->first[i];
  for (uint32_t i = 0; i < l->storage_count; i++)
    for (uint32_t k = t->first[i] + 1; l->storage[i].kind == SL_STORAGE_ARENA && k < t->first[i + 1]; k++)
      dependencies->steps[dependencies->first[t->steps[k]] + count[t->steps[k]]++] = t->steps[t->first[i]];
  free(count);
  sort_dependencies(dependencies, l->step_count);
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------- branches */

static int is_dependency(const struct dependencies *dependencies, uint32_t step, uint32_t by) {
  for (uint32_t k = dependencies->first[by]; k < dependencies->first[by + 1]; k++)
    if (dependencies->steps[k] == step) return 1;
  return 0;
}

/* The earliest time at which all dependencies of the step are complete. */
static uint32_t ready_at(const struct branching *b, const struct dependencies *dependencies, uint32_t step) {
  uint32_t ready = 0;
  for (uint32_t k = dependencies->first[step]; k < dependencies->first[step + 1]; k++)
    if (b->end[dependencies->steps[k]] > ready) ready = b->end[dependencies->steps[k]];
  return ready;
}

static void choose_branch(struct branching *b, const struct dependencies *dependencies, uint32_t step) {
  struct sl_layout *l = b->layout;
  const uint32_t ready = ready_at(b, dependencies, step);
  uint32_t chosen = 0, start = UINT32_MAX;
  for (uint32_t i = 0; i < l->branch_count; i++) {
    const uint32_t end = b->end[b->last[i]], at = end > ready ? end : ready;
    const int continues = at == ready && is_dependency(dependencies, b->last[i], step);
    if (!continues && at >= start) continue;
    chosen = i;
    start = at;
    if (continues) goto found;
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

/* Merges the clock of `step`, and the step itself, into `complete`. */
static void include(const struct sl_layout *l, uint32_t *complete, uint32_t step) {
  const uint32_t *of = complete_of(l, step);
  for (uint32_t i = 0; i < l->branch_count; i++)
    if (of[i] > complete[i]) complete[i] = of[i];
  complete[l->steps[step].branch] = l->steps[step].index_in_branch + 1;
}

/* Later dependencies first, because they may imply earlier ones. */
static int find_waits(struct branching *b, const struct dependencies *dependencies, uint32_t step) {
  struct sl_layout *l = b->layout;
  struct sl_step *at = &l->steps[step];
  uint32_t *complete = complete_of(l, step);
  const uint32_t before = b->last[at->branch];
  at->first_wait = l->wait_count;
  at->index_in_branch = before == NO_STEP ? 0 : l->steps[before].index_in_branch + 1;
  if (before != NO_STEP) include(l, complete, before);
  for (uint32_t k = dependencies->first[step + 1]; k > dependencies->first[step]; k--) {
    const uint32_t dependency = dependencies->steps[k - 1];
    if (sl_step_precedes(l, dependency, step)) continue;
    if (add_wait(b, at, dependency) < 0) return SL_ENOMEM;
    include(l, complete, dependency);
  }
  b->last[at->branch] = step;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------------- */

/* The clocks need the number of branches, so all branches are chosen first. */
static int assign(struct branching *b, const struct dependencies *dependencies) {
  struct sl_layout *l = b->layout;
  l->branch_count = 0;
  for (uint32_t step = 0; step < l->step_count; step++) choose_branch(b, dependencies, step);
  if (l->branch_count == 0) l->branch_count = 1; /* the graph has no steps */
  l->complete = calloc((size_t)l->step_count * l->branch_count + 1, sizeof *l->complete);
  if (!l->complete) return SL_ENOMEM;
  memset(b->last, 0xFF, sizeof b->last);
  for (uint32_t step = 0; step < l->step_count; step++)
    if (find_waits(b, dependencies, step) < 0) return SL_ENOMEM;
  return SL_OK;
}

int sl_layout_branch(struct sl_layout *l, uint32_t branches, const struct sl_uses *uses) {
  struct branching b = {.layout = l, .most = branches < SL_BRANCHES_MAX ? branches : SL_BRANCHES_MAX};
  struct dependencies dependencies;
  memset(b.last, 0xFF, sizeof b.last);
  b.end = calloc(l->step_count + 1, sizeof *b.end);
  int status = find_dependencies(l, uses, &dependencies);
  if (!b.end) status = SL_ENOMEM;
  if (status == SL_OK) status = assign(&b, &dependencies);
  free(b.end);
  free(dependencies.first);
  free(dependencies.steps);
  return status;
}
