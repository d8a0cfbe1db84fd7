/* plan.c: offsets in one arena, by the cheapest means that does.
 *
 *   1. The lower bound: the most bytes live at once. A plan that reaches it is optimal, and done.
 *   2. Greedy orders and their improvement (greedy.c).
 *   3. The search for a plan of a given capacity (search.c): first the goal, then, while that is undecided, capacities
 *      half-way between what is known to be too small (or was too hard) and the best plan so far. When these meet, it
 *      begins again with four times the effort. A capacity proved impossible raises the lower end for good; when that
 *      reaches the best plan, it is optimal. Without a time limit, one short try of the goal, shorter for large
 *      problems.
 *
 * A plan depends on the request only, unless the time limit ends the search. */
#include "plan.h"

#include "problem.h"

#include <sluice/plugin.h>

#include <stdlib.h>

enum { STEPS_WITHOUT_LIMIT = 50000, STEPS_FIRST = 200000, EFFORT_GROWTH = 4 };
#define WORK_WITHOUT_LIMIT UINT64_C(1000000000) /* a step costs about a third of a nanosecond an overlapping pair */

struct solver {
  const struct sl_plan_problem *problem;
  struct sl_plan_search *search;
  struct sl_plan_solution best;
  int64_t *trial;     /* offsets of a solved attempt */
  int64_t goal;       /* stop at this arena */
  int64_t impossible; /* no plan has an arena of this size or less */
};

static int64_t arena_of(const struct sl_plan_problem *problem, const int64_t *offsets) {
  int64_t arena = 0;
  for (uint32_t i = 0; i < problem->count; i++)
    if (offsets[i] + problem->items[i].size > arena) arena = offsets[i] + problem->items[i].size;
  return arena;
}

/* Attempts one capacity and records the outcome, which it returns. */
static int capacity_attempt(struct solver *s, int64_t capacity, uint64_t steps) {
  const int status = sl_plan_search_attempt(s->search, capacity, steps, s->trial);
  if (status == SL_PLAN_IMPOSSIBLE && capacity > s->impossible) s->impossible = capacity;
  if (status == SL_PLAN_SOLVED) {
    int64_t *offsets = s->best.offsets;
    s->best.offsets = s->trial;
    s->trial = offsets;
    s->best.arena = arena_of(s->problem, s->best.offsets);
  }
  return status;
}

static int finished(const struct solver *s) {
  return s->best.arena <= s->goal || s->best.arena == s->impossible + 1 || sl_plan_search_late(s->search);
}

/* The goal, or the smallest capacity that may be possible; then bisection between it and the best plan. */
static int round_search(struct solver *s, uint64_t steps) {
  int64_t low = s->goal > s->impossible ? s->goal : s->impossible + 1;
  int status = capacity_attempt(s, low, steps);
  while (status >= 0 && !finished(s) && low + 1 < s->best.arena) {
    const int64_t middle = low + (s->best.arena - low) / 2;
    status = capacity_attempt(s, middle, steps);
    if (status != SL_PLAN_SOLVED) low = middle;
  }
  return status < 0 ? status : SL_OK;
}

static int search_run(struct solver *s, double seconds) {
  if (seconds <= 0) {
    const uint64_t affordable = WORK_WITHOUT_LIMIT / (sl_plan_search_pairs(s->search) + 1);
    const uint64_t steps = affordable < STEPS_WITHOUT_LIMIT ? affordable : STEPS_WITHOUT_LIMIT;
    const int status = capacity_attempt(s, s->goal, steps);
    return status < 0 ? status : SL_OK;
  }
  for (uint64_t steps = STEPS_FIRST; !finished(s); steps *= EFFORT_GROWTH) {
    const int status = round_search(s, steps);
    if (status) return status;
  }
  return SL_OK;
}

static int problem_solve(struct solver *s, double seconds) {
  int status = sl_plan_greedy(s->problem, s->goal, &s->best);
  if (status || s->best.arena <= s->goal) return status;
  const double deadline = seconds > 0 ? sl_plan_clock() + seconds : 0;
  status = sl_plan_search_make(s->problem, deadline, &s->search);
  if (status || !s->search) return status;
  return search_run(s, seconds);
}

static void offsets_write(const struct solver *s, const struct sl_plan_request *request) {
  for (uint32_t i = 0; i < request->count; i++) request->buffers[i].offset = 0;
  for (uint32_t i = 0; i < s->problem->count; i++)
    request->buffers[s->problem->items[i].buffer].offset = (uint64_t)s->best.offsets[i] * s->problem->unit_bytes;
}

int sl_plan_solve(const struct sl_plan_request *request, struct sl_plan_result *result) {
  struct sl_plan_problem problem;
  *result = (struct sl_plan_result){0};
  int status = sl_plan_problem_make(request, &problem);
  if (status) return status;
  struct solver s = {.problem = &problem, .goal = problem.lower_bound, .impossible = problem.lower_bound - 1};
  const uint64_t capacity = request->capacity / problem.unit_bytes;
  if (capacity > (uint64_t)s.goal) s.goal = capacity < INT64_MAX ? (int64_t)capacity : INT64_MAX;
  int64_t *offsets = malloc((2 * (size_t)problem.count + 1) * sizeof *offsets);
  if (!offsets) {
    status = SL_ENOMEM;
    goto free_problem;
  }
  s.best.offsets = offsets;
  s.trial = offsets + problem.count;
  if (problem.count) status = problem_solve(&s, request->seconds);
  if (status == SL_OK) {
    offsets_write(&s, request);
    result->arena_bytes = (uint64_t)s.best.arena * problem.unit_bytes;
    result->lower_bound_bytes = (uint64_t)problem.lower_bound * problem.unit_bytes;
    result->optimal = s.best.arena == s.impossible + 1 || problem.count == 0;
    if (s.search) result->steps = sl_plan_search_steps(s.search);
  }
  sl_plan_search_free(s.search);
  free(offsets);
free_problem:
  sl_plan_problem_free(&problem);
  return status;
}
