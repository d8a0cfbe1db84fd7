/* search.c: decides whether a plan of a given capacity exists, by branch and bound.
 *
 * What is searched. From any plan, push buffers down until each stands on the ground or on another buffer
 * ("supported"); only supported plans are searched. Placed items are fixed. For each other item the search knows
 *   floor   the highest end of the placed items that overlap it in time: where it would come to stand now;
 *   lowest  a bound: it ends up at `lowest` or above. lowest >= floor. Where lowest > floor the item is "waiting": it
 *           cannot stand on its floor any more, so an item yet to be placed has to come between.
 *
 * Branching. Choose an item that does not wait and under which nothing yet to be placed has room, that is, every
 * unplaced item d that overlaps it has lowest(d) + size(d) > its floor. In the first branch it is placed on its floor
 * (all those d come to lie above it), in the second it never stands there (lowest = floor + 1: it waits). Both together
 * are complete for any choice, so items need no global order of offsets, and the search can stay where it is hard.
 *
 * Bounds, after each step, until nothing changes:
 *   - a waiting item's lowest is at least the least lowest(d) + size(d) of the unplaced items d that overlap it;
 *   - lowest + size must not exceed the capacity, for any item;
 *   - in each slab, some unplaced item must begin low enough for all of them to fit above: the least lowest plus the
 *     sum of sizes must not exceed the capacity;
 *   - of items that are equal in size and slabs, the earlier lies lower.
 * For the first and third a witness is remembered (the item that met the bound last time), so that most checks look at
 * one item. A witness need not be restored when the search backs up: it is checked before it is believed.
 *
 * Decomposition. Where no unplaced item crosses from one slab to the next, both sides are searched separately, and a
 * side that fails fails the whole without another try of the first.
 *
 * Restarts. An attempt is cut off after some nodes and begun anew with other tie-breaks and a larger limit, in turn
 * with three ways to choose (see `strategies`). Slabs whose bound fails gain weight and are looked at earlier. An
 * attempt that ends without being cut off proves that there is no plan of this capacity. Nothing here depends on the
 * clock but the moment of giving up. */
#include "problem.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS_MAX = 8192 };    /* bounds the recursion */
enum { PAIRS_MAX = 1 << 24 }; /* bounds the memory */
enum { FIRST_LIMIT = 500 };   /* nodes in the first attempt */
enum { NO_ITEM = UINT32_MAX };

/* One change, to be undone: a bound and its old value, or a placed item. */
struct change {
  int64_t *bound; /* NULL: item `value` was placed */
  int64_t value;
};

struct strategy {
  int by_slab;  /* 1: the most constrained slab first; 0: the lowest item first */
  double area;  /* rank of an item: its lifetime in slabs, or its area */
  double noise; /* largest relative change of a rank */
};
static const struct strategy strategies[] = {{1, 0, 0.3}, {0, 0, 0.1}, {1, 0, 0.3}, {0, 1, 0.1}};
enum { STRATEGY_COUNT = sizeof strategies / sizeof strategies[0] };

struct sl_plan_search {
  const struct sl_plan_problem *problem;
  uint32_t count;
  /* Never change. Lists of item i: [starts[i], starts[i + 1]). */
  uint32_t *neighbour_starts, *neighbours; /* items that overlap it in time */
  uint32_t *member_starts, *members;       /* items of a slab */
  uint32_t *twin;                          /* the next equal item, or NO_ITEM */
  /* The state of the search. */
  int64_t capacity;
  int64_t *floor, *lowest; /* per item */
  uint8_t *placed;
  int64_t *unplaced_size; /* per slab: units of unplaced items */
  uint32_t *unplaced;     /* per slab: how many */
  uint32_t *crossing;     /* per slab: how many of them are also in the next */
  uint32_t *support;      /* per item: witness for a waiting item */
  uint32_t *base;         /* per slab: witness for its bound */
  uint32_t *queue;        /* ring of items whose bound has changed */
  uint8_t *queued;
  uint32_t queue_first, queue_count;
  struct change *trail;
  size_t trail_count, trail_size;
  /* Choosing. */
  const struct strategy *strategy;
  double *rank;   /* per item */
  double *weight; /* per slab */
  uint64_t random;
  uint64_t attempts;
  /* Limits. */
  uint64_t steps, step_end;
  double deadline;
  int stopped, late, out_of_memory;
};

double sl_plan_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------------------------------- the trail */

static void trail_push(struct sl_plan_search *s, int64_t *bound, int64_t value) {
  if (s->trail_count == s->trail_size) {
    const size_t size = 2 * s->trail_size;
    struct change *trail = realloc(s->trail, size * sizeof *trail);
    if (!trail) {
      s->out_of_memory = s->stopped = 1;
      s->trail_count = 0; /* the state is lost; nothing uses it after a stop */
      return;
    }
    s->trail = trail;
    s->trail_size = size;
  }
  s->trail[s->trail_count++] = (struct change){bound, value};
}

static void bound_set(struct sl_plan_search *s, int64_t *bound, int64_t value) {
  trail_push(s, bound, *bound);
  *bound = value;
}

static void slabs_enter(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) {
    s->unplaced_size[t] += item->size;
    s->unplaced[t]++;
    s->crossing[t] += t + 1 < item->end_slab;
  }
}

static void slabs_leave(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) {
    s->unplaced_size[t] -= item->size;
    s->unplaced[t]--;
    s->crossing[t] -= t + 1 < item->end_slab;
  }
}

static void undo(struct sl_plan_search *s, size_t mark) {
  while (s->trail_count > mark) {
    const struct change *change = &s->trail[--s->trail_count];
    if (change->bound) {
      *change->bound = change->value;
    } else {
      s->placed[change->value] = 0;
      slabs_enter(s, (uint32_t)change->value);
    }
  }
}

/* ------------------------------------------------------------------------------------------------- bounds */

static void queue_push(struct sl_plan_search *s, uint32_t i) {
  if (s->queued[i]) return;
  s->queued[i] = 1;
  s->queue[(s->queue_first + s->queue_count++) % s->count] = i;
}

static uint32_t queue_pop(struct sl_plan_search *s) {
  const uint32_t i = s->queue[s->queue_first];
  s->queue_first = (s->queue_first + 1) % s->count;
  s->queue_count--;
  s->queued[i] = 0;
  return i;
}

/* The item cannot be placed: its slabs gain one weight together. */
static int item_fails(struct sl_plan_search *s, const struct sl_plan_item *item) {
  for (uint32_t t = item->first_slab; t < item->end_slab; t++)
    s->weight[t] += 1.0 / (item->end_slab - item->first_slab);
  return 0;
}

/* Raises an item's lowest offset; 0 if it then exceeds the capacity. */
static int lowest_raise(struct sl_plan_search *s, uint32_t i, int64_t value) {
  if (s->lowest[i] >= value) return 1;
  if (value + s->problem->items[i].size > s->capacity) return item_fails(s, &s->problem->items[i]);
  bound_set(s, &s->lowest[i], value);
  queue_push(s, i);
  return 1;
}

static int64_t lowest_end(const struct sl_plan_search *s, uint32_t i) {
  return s->lowest[i] + s->problem->items[i].size;
}

/* A waiting item has to stand on one that is not placed yet. */
static int waiting_check(struct sl_plan_search *s, uint32_t i) {
  const uint32_t witness = s->support[i];
  if (!s->placed[witness] && lowest_end(s, witness) <= s->lowest[i]) return 1;
  int64_t least = INT64_MAX;
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
    const uint32_t other = s->neighbours[k];
    if (s->placed[other] || lowest_end(s, other) >= least) continue;
    least = lowest_end(s, other);
    s->support[i] = other;
    if (least <= s->lowest[i]) return 1;
  }
  return least == INT64_MAX ? item_fails(s, &s->problem->items[i]) : lowest_raise(s, i, least);
}

static int slab_check(struct sl_plan_search *s, uint32_t slab) {
  if (!s->unplaced[slab]) return 1;
  const int64_t highest = s->capacity - s->unplaced_size[slab];
  const uint32_t witness = s->base[slab];
  if (!s->placed[witness] && s->lowest[witness] <= highest) return 1;
  for (uint32_t k = s->member_starts[slab]; k < s->member_starts[slab + 1]; k++) {
    const uint32_t other = s->members[k];
    if (s->placed[other] || s->lowest[other] > highest) continue;
    s->base[slab] = other;
    return 1;
  }
  s->weight[slab] += 1;
  return 0;
}

/* All that follows from one item's changed bound, or from its being placed. */
static int consequences_draw(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  for (uint32_t t = item->first_slab; t < item->end_slab; t++)
    if (!slab_check(s, t)) return 0;
  if (!s->placed[i]) {
    if (s->twin[i] != NO_ITEM && !lowest_raise(s, s->twin[i], lowest_end(s, i))) return 0;
    if (s->lowest[i] > s->floor[i] && !waiting_check(s, i)) return 0;
  }
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
    const uint32_t other = s->neighbours[k];
    if (s->placed[other] || s->lowest[other] <= s->floor[other]) continue;
    if (!waiting_check(s, other)) return 0;
  }
  return 1;
}

/* 0 if there is no plan with what is placed. */
static int propagate(struct sl_plan_search *s) {
  int possible = 1;
  while (s->queue_count) {
    const uint32_t i = queue_pop(s);
    if (possible && !s->stopped) possible = consequences_draw(s, i);
  }
  return possible;
}

static int item_place(struct sl_plan_search *s, uint32_t i) {
  const int64_t end = s->floor[i] + s->problem->items[i].size;
  s->placed[i] = 1;
  trail_push(s, NULL, i);
  slabs_leave(s, i);
  queue_push(s, i);
  int possible = 1;
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1] && possible; k++) {
    const uint32_t other = s->neighbours[k];
    if (s->placed[other]) continue;
    if (s->floor[other] < end) bound_set(s, &s->floor[other], end);
    possible = lowest_raise(s, other, end);
  }
  return propagate(s) && possible;
}

/* ----------------------------------------------------------------------------------------------- choosing */

/* Of the slabs of a range: few items that may lie lowest in it, low ground, and high weight make it urgent. */
static uint32_t slab_choose(const struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  uint32_t best = begin;
  double best_score = 0;
  for (uint32_t t = begin; t < end; t++) {
    if (!s->unplaced[t]) continue;
    const int64_t highest = s->capacity - s->unplaced_size[t];
    int64_t least = INT64_MAX;
    uint32_t candidates = 0;
    for (uint32_t k = s->member_starts[t]; k < s->member_starts[t + 1]; k++) {
      const uint32_t i = s->members[k];
      if (s->placed[i]) continue;
      if (s->lowest[i] < least) least = s->lowest[i];
      candidates += s->lowest[i] <= highest;
    }
    const double score = s->weight[t] / (candidates * (1e-3 * (double)s->capacity + (double)least));
    if (score > best_score) {
      best_score = score;
      best = t;
    }
  }
  return best;
}

/* The item of highest rank that may lie lowest in the slab; if all of them wait, the one that waits lowest. */
static uint32_t slab_item(const struct sl_plan_search *s, uint32_t slab) {
  const int64_t highest = s->capacity - s->unplaced_size[slab];
  uint32_t best = NO_ITEM, waiting = NO_ITEM;
  for (uint32_t k = s->member_starts[slab]; k < s->member_starts[slab + 1]; k++) {
    const uint32_t i = s->members[k];
    if (s->placed[i] || s->lowest[i] > highest) continue;
    if (s->lowest[i] > s->floor[i]) {
      if (waiting == NO_ITEM || s->lowest[i] < s->lowest[waiting]) waiting = i;
    } else if (best == NO_ITEM || s->rank[i] > s->rank[best]) {
      best = i;
    }
  }
  return best != NO_ITEM ? best : waiting;
}

/* While something unplaced has room below the item, or must come below it because it waits, takes that instead. Ends,
 * since each is lower than the one before by at least its size. */
static uint32_t item_below(const struct sl_plan_search *s, uint32_t i) {
  for (;;) {
    uint32_t below = NO_ITEM;
    int64_t least = s->lowest[i];
    for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
      const uint32_t other = s->neighbours[k];
      if (s->placed[other] || lowest_end(s, other) > least) continue;
      least = lowest_end(s, other);
      below = other;
    }
    if (below == NO_ITEM) return i;
    i = below;
  }
}

/* The lowest item of a range of slabs that does not wait; of several, the one of highest rank. */
static uint32_t lowest_item(const struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  uint32_t best = NO_ITEM;
  for (uint32_t i = 0; i < s->count; i++) {
    const struct sl_plan_item *item = &s->problem->items[i];
    if (s->placed[i] || s->lowest[i] > s->floor[i] || item->first_slab < begin || item->end_slab > end) continue;
    if (best == NO_ITEM || s->lowest[i] < s->lowest[best] ||
        (s->lowest[i] == s->lowest[best] && s->rank[i] > s->rank[best]))
      best = i;
  }
  return best;
}

static uint32_t item_choose(const struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  if (s->strategy->by_slab) return item_below(s, slab_item(s, slab_choose(s, begin, end)));
  return lowest_item(s, begin, end);
}

/* ---------------------------------------------------------------------------------------------- searching */

static int step_take(struct sl_plan_search *s) {
  s->steps++;
  if (s->steps >= s->step_end) s->stopped = 1;
  if (s->steps % 16 == 0 && s->deadline > 0 && sl_plan_clock() > s->deadline) s->late = s->stopped = 1;
  return !s->stopped;
}

static int range_search(struct sl_plan_search *s, uint32_t begin, uint32_t end);

/* Searches each part of a range of slabs that has nothing in common with the rest. */
static int parts_search(struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  int status = SL_PLAN_SOLVED;
  while (begin < end && status == SL_PLAN_SOLVED) {
    uint32_t part_end = begin + 1;
    while (part_end < end && s->crossing[part_end - 1]) part_end++;
    if (s->unplaced[begin]) status = range_search(s, begin, part_end);
    begin = part_end;
  }
  return status;
}

/* Places all unplaced items of a range of slabs. What it does is undone unless it returns SL_PLAN_SOLVED. */
static int range_search(struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  const size_t mark = s->trail_count;
  for (;;) {
    if (!step_take(s)) return SL_PLAN_UNDECIDED;
    const uint32_t i = item_choose(s, begin, end);
    if (i == NO_ITEM) break; /* all wait for each other */
    const size_t before = s->trail_count;
    const int status = item_place(s, i) ? parts_search(s, begin, end) : SL_PLAN_IMPOSSIBLE;
    if (s->stopped) return SL_PLAN_UNDECIDED;
    if (status == SL_PLAN_SOLVED) return status;
    undo(s, before);
    const int possible = lowest_raise(s, i, s->floor[i] + 1);
    if (!propagate(s) || !possible) break;
  }
  undo(s, mark);
  return s->stopped ? SL_PLAN_UNDECIDED : SL_PLAN_IMPOSSIBLE;
}

static void state_reset(struct sl_plan_search *s) {
  const uint32_t slab_count = s->problem->slab_count;
  memset(s->placed, 0, s->count);
  memset(s->queued, 0, s->count);
  memset(s->unplaced, 0, slab_count * sizeof *s->unplaced);
  memset(s->crossing, 0, slab_count * sizeof *s->crossing);
  s->queue_first = s->queue_count = 0;
  s->trail_count = 0;
  s->stopped = 0;
  for (uint32_t t = 0; t < slab_count; t++) {
    s->unplaced_size[t] = 0;
    s->base[t] = s->members[s->member_starts[t]];
  }
  for (uint32_t i = 0; i < s->count; i++) {
    s->floor[i] = s->lowest[i] = 0;
    s->support[i] = i;
    slabs_enter(s, i);
  }
}

/* Wide items first, or large ones; the smallest differences decide between equals. */
static void ranks_draw(struct sl_plan_search *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    const struct sl_plan_item *item = &s->problem->items[i];
    const double width = item->end_slab - item->first_slab;
    const double size = (double)item->size / (double)s->capacity;
    const double noise = sl_plan_random(&s->random) / 4294967296.0;
    const double rank = s->strategy->area > 0 ? width * size : width + 0.01 * size;
    s->rank[i] = rank * (1 + s->strategy->noise * noise);
  }
}

/* One attempt from the start, with at most `limit` nodes. */
static int attempt_run(struct sl_plan_search *s, uint64_t limit) {
  s->strategy = &strategies[s->attempts++ % STRATEGY_COUNT];
  state_reset(s);
  ranks_draw(s);
  s->step_end = s->steps + limit;
  for (uint32_t i = 0; i < s->count; i++) queue_push(s, i);
  if (!propagate(s)) return SL_PLAN_IMPOSSIBLE;
  return parts_search(s, 0, s->problem->slab_count);
}

int sl_plan_search_attempt(struct sl_plan_search *s, int64_t capacity, uint64_t step_limit, int64_t *offsets) {
  const uint64_t end = s->steps + step_limit;
  double limit = FIRST_LIMIT;
  int status = SL_PLAN_UNDECIDED;
  s->capacity = capacity;
  for (uint32_t t = 0; t < s->problem->slab_count; t++) s->weight[t] = 1;
  while (status == SL_PLAN_UNDECIDED && s->steps < end && !s->late) {
    const uint64_t left = end - s->steps;
    status = attempt_run(s, limit < (double)left ? (uint64_t)limit : left);
    if (s->out_of_memory) return SL_ENOMEM;
    if (s->attempts % STRATEGY_COUNT == 0) limit *= 1.1;
  }
  if (status == SL_PLAN_SOLVED) memcpy(offsets, s->floor, s->count * sizeof *offsets);
  return status;
}

uint64_t sl_plan_search_steps(const struct sl_plan_search *s) { return s->steps; }
uint64_t sl_plan_search_pairs(const struct sl_plan_search *s) { return s->neighbour_starts[s->count]; }
int sl_plan_search_late(const struct sl_plan_search *s) { return s->late; }

/* ------------------------------------------------------------------------------------------------- making */

/* How many overlapping pairs there are, counted in both directions; stops counting beyond PAIRS_MAX. */
static uint64_t pairs_count(const struct sl_plan_problem *problem) {
  uint64_t pairs = 0;
  for (uint32_t i = 0; i < problem->count && pairs <= PAIRS_MAX; i++)
    for (uint32_t k = 0; k < problem->count; k++)
      pairs += k != i && sl_plan_items_overlap(&problem->items[i], &problem->items[k]);
  return pairs;
}

static int items_equal(const struct sl_plan_item *a, const struct sl_plan_item *b) {
  return a->size == b->size && a->first_slab == b->first_slab && a->end_slab == b->end_slab;
}

static void lists_fill(struct sl_plan_search *s) {
  const struct sl_plan_item *items = s->problem->items;
  uint32_t filled = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    s->neighbour_starts[i] = filled;
    s->twin[i] = NO_ITEM;
    for (uint32_t k = 0; k < s->count; k++) {
      if (k == i || !sl_plan_items_overlap(&items[i], &items[k])) continue;
      s->neighbours[filled++] = k;
      if (k > i && s->twin[i] == NO_ITEM && items_equal(&items[i], &items[k])) s->twin[i] = k;
    }
  }
  s->neighbour_starts[s->count] = filled;
  filled = 0;
  for (uint32_t t = 0; t < s->problem->slab_count; t++) {
    s->member_starts[t] = filled;
    for (uint32_t i = 0; i < s->count; i++)
      if (items[i].first_slab <= t && t < items[i].end_slab) s->members[filled++] = i;
  }
  s->member_starts[s->problem->slab_count] = filled;
}

/* The arrays of a search stand in one block; laid out twice, first from NULL to measure it. */
static void *take(size_t *used, char *block, size_t count, size_t size) {
  void *array = block ? block + *used : NULL;
  *used += (count * size + 7) & ~(size_t)7;
  return array;
}

static size_t arrays_lay_out(struct sl_plan_search *s, char *block, size_t pairs) {
  const size_t items = s->count, slabs = s->problem->slab_count;
  size_t used = 0;
  s->neighbour_starts = take(&used, block, items + 1, sizeof *s->neighbour_starts);
  s->neighbours = take(&used, block, pairs, sizeof *s->neighbours);
  s->member_starts = take(&used, block, slabs + 1, sizeof *s->member_starts);
  s->members = take(&used, block, items + pairs, sizeof *s->members); /* in each slab but its first, an item meets */
  s->twin = take(&used, block, items, sizeof *s->twin);               /* one that begins there: a pair */
  s->floor = take(&used, block, items, sizeof *s->floor);
  s->lowest = take(&used, block, items, sizeof *s->lowest);
  s->placed = take(&used, block, items, sizeof *s->placed);
  s->unplaced_size = take(&used, block, slabs, sizeof *s->unplaced_size);
  s->unplaced = take(&used, block, slabs, sizeof *s->unplaced);
  s->crossing = take(&used, block, slabs, sizeof *s->crossing);
  s->support = take(&used, block, items, sizeof *s->support);
  s->base = take(&used, block, slabs, sizeof *s->base);
  s->queue = take(&used, block, items, sizeof *s->queue);
  s->queued = take(&used, block, items, sizeof *s->queued);
  s->rank = take(&used, block, items, sizeof *s->rank);
  s->weight = take(&used, block, slabs, sizeof *s->weight);
  return used;
}

int sl_plan_search_make(const struct sl_plan_problem *problem, double deadline, struct sl_plan_search **search) {
  *search = NULL;
  if (problem->count == 0 || problem->count > ITEMS_MAX) return SL_OK;
  const uint64_t pairs = pairs_count(problem);
  if (pairs > PAIRS_MAX) return SL_OK;
  struct sl_plan_search *s = calloc(1, sizeof *s);
  if (!s) return SL_ENOMEM;
  *s = (struct sl_plan_search){.problem = problem,
                               .count = problem->count,
                               .deadline = deadline,
                               .random = 0x9e3779b97f4a7c15ull,
                               .trail_size = 1024};
  char *block = malloc(arrays_lay_out(s, NULL, pairs));
  s->trail = malloc(s->trail_size * sizeof *s->trail);
  if (!block || !s->trail) {
    free(block);
    free(s->trail);
    free(s);
    return SL_ENOMEM;
  }
  arrays_lay_out(s, block, pairs);
  lists_fill(s);
  *search = s;
  return SL_OK;
}

void sl_plan_search_free(struct sl_plan_search *s) {
  if (!s) return;
  free(s->neighbour_starts); /* the first array: the block */
  free(s->trail);
  free(s);
}
