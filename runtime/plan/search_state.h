/* search_state.h: the state of the search and the functions that change it. The method is described in search.c, the
 * bounds in bounds.c.
 */
#ifndef SL_PLAN_SEARCH_STATE_H
#define SL_PLAN_SEARCH_STATE_H

#include "plan/problem.h"

#include <stddef.h>

enum { NO_ITEM = UINT32_MAX };

/* A change that can be undone: a bound and its old value, or a placed item. */
struct sl_plan_change {
  int64_t value;
  uint32_t item;
  uint32_t what; /* CHANGED_... */
};
enum { CHANGED_FLOOR, CHANGED_LOWEST, CHANGED_SUPPORT, CHANGED_PLACED };

/* Summary of the unplaced items of a slab. */
struct sl_plan_slab_view {
  int64_t least;       /* lowest offset */
  uint32_t candidates; /* number of items that may be below all others */
};

/* An unplaced item, seen from one of its slabs. */
struct sl_plan_job {
  int64_t lowest, size;
  uint32_t item;
};

/* Key of the unplaced items of a range of slabs. */
struct sl_plan_key {
  uint64_t low, high;
};

/* Weights for the choice of the next slab: few candidates, low ground, high weight; 0: the lowest item is next. */
struct sl_plan_strategy {
  double ground; /* shares of the capacity; larger values reduce the influence of the ground */
  double noise;  /* largest relative change of a rank */
};

struct sl_plan_search {
  const struct sl_plan_problem *problem;
  uint32_t count, slab_count;
  /* Constant data. Lists of item i: [starts[i], starts[i + 1]). */
  uint32_t *neighbour_starts, *neighbours; /* items that overlap it in time */
  uint32_t *member_starts, *members;       /* items of a slab */
  uint32_t *twin;                          /* the next equal item, or NO_ITEM */
  int64_t *size;
  /* The state of the search. */
  int64_t capacity;
  int64_t *floor, *lowest; /* per item */
  uint8_t *placed;
  int64_t *unplaced_size; /* per slab: units of unplaced items */
  uint32_t *unplaced;     /* per slab: number of unplaced items */
  uint32_t *crossing;     /* per slab: number of unplaced items that are also in the next slab */
  uint32_t *support;      /* per item: witness for a waiting item */
  struct sl_plan_change *trail;
  size_t trail_count, trail_size;
  /* Bounds with pending consequences. */
  uint32_t *queue; /* ring of items with changed bounds */
  uint8_t *queued;
  uint32_t queue_first, queue_count;
  uint8_t *dirty;                 /* per slab: its bound must be checked */
  uint8_t *stale;                 /* per slab: its view is out of date */
  struct sl_plan_slab_view *view; /* per slab */
  struct sl_plan_job *sorted;     /* scratch: items of a slab */
  /* Data for choices. */
  const struct sl_plan_strategy *strategy;
  double *rank;               /* per item */
  double *weight;             /* per slab: number of failures of its bound */
  struct sl_plan_key *failed; /* failed ranges: a table by key */
  uint64_t random;
  uint64_t attempts;
  /* Limits. */
  uint64_t steps, step_end;
  double deadline;
  int stopped, late, out_of_memory;
};

static inline int64_t sl_plan_lowest_end(const struct sl_plan_search *s, uint32_t i) {
  return s->lowest[i] + s->size[i];
}

/* Resets to the state without placed items, with all consequences of the capacity; 0 if there is no plan. */
int sl_plan_state_reset(struct sl_plan_search *s);
/* Places an item on its floor, or excludes its floor, with all consequences. 0 if there is no plan with it. */
int sl_plan_item_place(struct sl_plan_search *s, uint32_t i);
int sl_plan_item_forbid(struct sl_plan_search *s, uint32_t i);
/* Undoes all changes since the trail had this length. */
void sl_plan_undo(struct sl_plan_search *s, size_t trail_count);
/* The view of a slab that has unplaced items. */
const struct sl_plan_slab_view *sl_plan_slab_view(struct sl_plan_search *s, uint32_t slab);

#endif
