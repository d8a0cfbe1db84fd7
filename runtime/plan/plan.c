/* plan.c: offsets in one arena; cheap methods are tried first.
 *
 *   1. Lower bound: the maximum of live bytes. A plan that reaches it is optimal.
 *   2. Greedy orders and their improvement (greedy.c).
 *   3. Joins of items that must be adjacent (join.c), if the goal is the lower bound and no buffer has its own
 *      alignment.
 *   4. Search (search.c) and repair (eject.c) for a given capacity: first the goal; then, while it is undecided,
 *      capacities between the largest one that failed and the best plan, by bisection, with a quarter of the effort
 *      each. When these are close, all is repeated with four times the effort and a finer precision. A capacity that
 *      is proved impossible raises the lower limit; when it reaches the best plan, that plan is optimal.
 *
 * A plan depends on the request only, unless a time limit ends the search.
 */
#include "plan.h"

#include "problem.h"

#include <sluice/plugin.h>

#include <stdlib.h>

enum { STEPS_FIRST = 40000, STEPS_WITHOUT_LIMIT = 20000, EFFORT_GROWTH = 4 };
enum { FIRST_PRECISION = 256 }; /* precision of the first round, as a share of the arena */
/* Work limits: of the goal in the first round, and of a search without limits. A step costs about ten nanoseconds
 * per overlapping pair. */
#define WORK_FIRST         UINT64_C(200000000)
#define WORK_WITHOUT_LIMIT UINT64_C(80000000)

struct solver {
  const struct sl_plan_problem *problem;
  struct sl_plan_search *search;
  struct sl_plan_solution best;
  int64_t *trial;     /* offsets of a solved attempt */
  int64_t goal;       /* arena size at which the search stops */
  int64_t impossible; /* no plan has an arena of this size or less */
  uint64_t step_end;
  uint64_t joined_steps; /* steps of the problem with joined pieces */
};

static int64_t arena_of(const struct sl_plan_problem *problem, const int64_t *offsets) {
  int64_t arena = 0;
  for (uint32_t i = 0; i < problem->count; i++)
    if (offsets[i] + problem->items[i].size > arena) arena = offsets[i] + problem->items[i].size;
  return arena;
}

/* A method for one capacity: search or repair. */
typedef int attempt(struct sl_plan_search *search, int64_t capacity, uint64_t step_limit, int64_t *offsets);

/* Attempts one capacity; records and returns the outcome. */
static int capacity_attempt(struct solver *s, attempt *way, int64_t capacity, uint64_t steps) {
  const uint64_t left = s->step_end - sl_plan_search_steps(s->search);
  const int status = way(s->search, capacity, steps < left ? steps : left, s->trial);
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
  return s->best.arena <= s->goal || s->best.arena == s->impossible + 1 || sl_plan_search_late(s->search) ||
         sl_plan_search_steps(s->search) >= s->step_end;
}

/* Bisects between `low` and the best plan until they differ by at most `precision`. The repair goes first, because
 * it is faster if there is room. */
static int bisect(struct solver *s, int64_t low, uint64_t steps, int64_t precision) {
  int status = SL_PLAN_UNDECIDED;
  while (status >= 0 && !finished(s) && s->best.arena - low > precision) {
    const int64_t middle = low + (s->best.arena - low) / 2;
    status = capacity_attempt(s, sl_plan_search_eject, middle, steps);
    if (status == SL_PLAN_UNDECIDED && !finished(s))
      status = capacity_attempt(s, sl_plan_search_attempt, middle, steps / EFFORT_GROWTH);
    if (status != SL_PLAN_SOLVED) low = middle;
  }
  return status;
}

/* One round: the goal, or the smallest possible capacity, by the search, which can prove; easier capacities; and the
 * goal by repair, which can take long. */
static int round_search(struct solver *s, uint64_t steps, int64_t precision) {
  const int64_t low = s->goal > s->impossible ? s->goal : s->impossible + 1;
  int status = capacity_attempt(s, sl_plan_search_attempt, low, steps);
  if (status >= 0 && !finished(s)) status = bisect(s, low, steps / EFFORT_GROWTH, precision);
  if (status >= 0 && !finished(s) && low > s->impossible)
    status = capacity_attempt(s, sl_plan_search_eject, low, steps);
  return status < 0 ? status : SL_OK;
}

/* Number of steps for `work`, at most `most`. */
static uint64_t steps_affordable(const struct solver *s, uint64_t work, uint64_t most) {
  const uint64_t steps = work / (sl_plan_search_pairs(s->search) + 1) + 1;
  return steps < most ? steps : most;
}

static int search_run(struct solver *s, const struct sl_plan_request *request) {
  uint64_t steps = steps_affordable(s, WORK_FIRST, STEPS_FIRST);
  s->step_end = request->steps ? request->steps - s->joined_steps : UINT64_MAX;
  if (request->steps == 0 && request->seconds <= 0) {
    s->step_end = steps_affordable(s, WORK_WITHOUT_LIMIT, STEPS_WITHOUT_LIMIT);
    steps = s->step_end / 2 + 1; /* the remaining steps are for easier capacities */
  }
  int64_t precision = s->best.arena / FIRST_PRECISION + 1;
  for (; !finished(s); steps *= EFFORT_GROWTH) {
    const int status = round_search(s, steps, precision);
    if (status) return status;
    precision = precision / EFFORT_GROWTH + 1;
  }
  return SL_OK;
}

static int problem_solve(struct solver *s, const struct sl_plan_request *request) {
  int status = sl_plan_greedy(s->problem, s->goal, &s->best);
  if (status || s->best.arena <= s->goal) return status;
  const double deadline = request->seconds > 0 ? sl_plan_clock() + request->seconds : 0;
  if (s->goal == s->problem->lower_bound && !s->problem->is_aligned) {
    status = sl_plan_join(s->problem, deadline, request->steps ? request->steps / 2 : UINT64_MAX, &s->best,
                          &s->joined_steps);
    if (status || s->best.arena <= s->goal) return status;
  }
  status = sl_plan_search_make(s->problem, deadline, &s->search);
  if (status || !s->search) return status;
  return search_run(s, request);
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
  if (problem.count) status = problem_solve(&s, request);
  if (status == SL_OK) {
    offsets_write(&s, request);
    result->arena_bytes = (uint64_t)s.best.arena * problem.unit_bytes;
    result->lower_bound_bytes = (uint64_t)problem.lower_bound * problem.unit_bytes;
    result->least_bytes = (uint64_t)(s.impossible + 1) * problem.unit_bytes;
    result->optimal = s.best.arena == s.impossible + 1 || problem.count == 0;
    result->steps = s.joined_steps;
    if (s.search) result->steps += sl_plan_search_steps(s.search);
  }
  sl_plan_search_free(s.search);
  free(offsets);
free_problem:
  sl_plan_problem_free(&problem);
  return status;
}
