/* problem.h: shared parts of the planner. A problem is a request in a form that is easy to solve:
 *
 *   - buffers of size 0 are left out, sizes are rounded up to the alignment of the request. Sizes and alignments are
 *     divided by their greatest common divisor (a unit), so that arithmetic uses small signed integers. In a plan with
 *     no buffer that can be pushed down, all offsets are multiples of the unit;
 *   - time is divided into slabs, one per maximal set of buffers that are live together. A buffer covers the slabs
 *     [first_slab, end_slab); two buffers are live at the same time exactly if they share a slab.
 *
 * A problem does not change while it is being solved.
 */
#ifndef SL_PLAN_PROBLEM_H
#define SL_PLAN_PROBLEM_H

#include "plan/plan.h"

struct sl_plan_item {
  int64_t size;      /* units */
  int64_t alignment; /* units: 1, or the divisor of the offset */
  uint32_t first_slab, end_slab;
  uint32_t lower, upper;
  uint32_t buffer; /* index in the request */
};

struct sl_plan_problem {
  struct sl_plan_item *items;
  uint32_t count;
  uint32_t slab_count;
  int64_t *slab_live;  /* live units per slab */
  int64_t lower_bound; /* units: maximum of live units over slabs, with gaps of common alignments */
  uint64_t unit_bytes;
  uint32_t is_aligned; /* 1 if some item has an alignment above 1 */
};

int sl_plan_problem_make(const struct sl_plan_request *request, struct sl_plan_problem *problem);
void sl_plan_problem_free(struct sl_plan_problem *problem);

static inline int sl_plan_items_overlap(const struct sl_plan_item *a, const struct sl_plan_item *b) {
  return a->first_slab < b->end_slab && b->first_slab < a->end_slab;
}

/* Lowest aligned offset of an item at `end` or above. */
static inline int64_t sl_plan_align_up(const struct sl_plan_item *item, int64_t end) {
  return item->alignment == 1 ? end : (end + item->alignment - 1) / item->alignment * item->alignment;
}

/* A plan: an offset for each item, in units, and the highest end. */
struct sl_plan_solution {
  int64_t *offsets;
  int64_t arena;
};

/* xorshift64*: the only random numbers of the planner; seeded with constants, so that a plan depends on its problem
 * only. */
static inline uint32_t sl_plan_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (uint32_t)((*state * 0x2545f4914f6cdd1dull) >> 32);
}

/* Greedy orders and improvement of the best one, until the arena is at most `goal`. `best` has an array of offsets
 * for the result. */
int sl_plan_greedy(const struct sl_plan_problem *problem, int64_t goal, struct sl_plan_solution *best);

/* Joins pieces (join.c) and, if there are any, searches for a plan at the lower bound with at most `step_limit`
 * nodes, counted in `steps`; `solution` is unchanged if there is none. 0, or SL_ENOMEM. */
int sl_plan_join(const struct sl_plan_problem *problem, double deadline, uint64_t step_limit,
                 struct sl_plan_solution *solution, uint64_t *steps);

/* A search for a plan of a given capacity. Keeps its knowledge between attempts. */
struct sl_plan_search;
enum { SL_PLAN_SOLVED, SL_PLAN_IMPOSSIBLE, SL_PLAN_UNDECIDED };

/* deadline: on sl_plan_clock, 0: none. 0, or SL_ENOMEM; *search is NULL with 0 if the problem is too large for a
 * search. */
int sl_plan_search_make(const struct sl_plan_problem *problem, double deadline, struct sl_plan_search **search);
void sl_plan_search_free(struct sl_plan_search *search);
/* Visits at most `step_limit` nodes; offsets are filled when it returns SL_PLAN_SOLVED. SL_PLAN_IMPOSSIBLE is a proof.
 * Negative: SL_ENOMEM. */
int sl_plan_search_attempt(struct sl_plan_search *search, int64_t capacity, uint64_t step_limit, int64_t *offsets);
/* Attempts a capacity by repair (eject.c); never SL_PLAN_IMPOSSIBLE. Steps count like nodes. */
int sl_plan_search_eject(struct sl_plan_search *search, int64_t capacity, uint64_t step_limit, int64_t *offsets);
uint64_t sl_plan_search_steps(const struct sl_plan_search *search);
/* Number of pairs of items that overlap in time, each counted twice: the cost of a step. */
uint64_t sl_plan_search_pairs(const struct sl_plan_search *search);
/* 1 if the deadline has passed. */
int sl_plan_search_late(const struct sl_plan_search *search);

/* Seconds on a monotonic clock. */
double sl_plan_clock(void);

#endif
