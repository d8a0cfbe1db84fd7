/* search_state.h: what the parts of the search share: its state, and the functions by which the state changes. The
 * idea of the search stands in search.c, the bounds in bounds.c. */
#ifndef SL_PLAN_SEARCH_STATE_H
#define SL_PLAN_SEARCH_STATE_H

#include "plan/problem.h"

#include <stddef.h>

enum { NO_ITEM = UINT32_MAX };

/* One change, to be undone: a bound and its old value, or a placed item. */
struct sl_plan_change {
  int64_t value;
  uint32_t item;
  uint32_t what; /* CHANGED_... */
};
enum { CHANGED_FLOOR, CHANGED_LOWEST, CHANGED_SUPPORT, CHANGED_PLACED };

/* Of the unplaced items of a slab. */
struct sl_plan_slab_view {
  int64_t least;       /* lowest offset */
  uint32_t candidates; /* how many may lie under all others */
};

/* An unplaced item, seen from one of its slabs. */
struct sl_plan_job {
  int64_t lowest, size;
  uint32_t item;
};

/* Of what is left of a range of slabs. */
struct sl_plan_key {
  uint64_t low, high;
};

/* The slab that is decided next is one of few candidates, low ground and high weight; 0: the lowest item comes next. */
struct sl_plan_strategy {
  double ground; /* shares of the capacity; the larger, the less the height of the ground matters */
  double noise;  /* largest relative change of a rank */
};

struct sl_plan_search {
  const struct sl_plan_problem *problem;
  uint32_t count, slab_count;
  /* Never change. Lists of item i: [starts[i], starts[i + 1]). */
  uint32_t *neighbour_starts, *neighbours; /* items that overlap it in time */
  uint32_t *member_starts, *members;       /* items of a slab */
  uint32_t *twin;                          /* the next equal item, or NO_ITEM */
  int64_t *size;
  /* The state of the search. */
  int64_t capacity;
  int64_t *floor, *lowest; /* per item */
  uint8_t *placed;
  int64_t *unplaced_size; /* per slab: units of unplaced items */
  uint32_t *unplaced;     /* per slab: how many */
  uint32_t *crossing;     /* per slab: how many of them are also in the next */
  uint32_t *support;      /* per item: witness for a waiting item */
  struct sl_plan_change *trail;
  size_t trail_count, trail_size;
  /* Bounds yet to be drawn. */
  uint32_t *queue; /* ring of items whose bound has changed */
  uint8_t *queued;
  uint32_t queue_first, queue_count;
  uint8_t *dirty;                 /* per slab: its bound is to be checked */
  uint8_t *stale;                 /* per slab: its view is no longer right */
  struct sl_plan_slab_view *view; /* per slab */
  struct sl_plan_job *sorted;     /* scratch: items of a slab */
  /* Choosing. */
  const struct sl_plan_strategy *strategy;
  double *rank;               /* per item */
  double *weight;             /* per slab: how often its bound failed */
  struct sl_plan_key *failed; /* ranges that cannot be completed: a table by key */
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

/* The state before anything is placed, with all that follows from the capacity alone; 0 if there is no plan. */
int sl_plan_state_reset(struct sl_plan_search *s);
/* Places an item on its floor, forbids it to stand there; with all that follows. 0 if there is no plan with it. */
int sl_plan_item_place(struct sl_plan_search *s, uint32_t i);
int sl_plan_item_forbid(struct sl_plan_search *s, uint32_t i);
/* Takes back all changes since the trail was so long. */
void sl_plan_undo(struct sl_plan_search *s, size_t trail_count);
/* The view of a slab that has unplaced items. */
const struct sl_plan_slab_view *sl_plan_slab_view(struct sl_plan_search *s, uint32_t slab);

#endif
