/* search.c: decides by branch and bound whether a plan of a given capacity exists.
 *
 * Search space. In any plan, push buffers down until each is on the ground, on another buffer ("supported"), or at the
 * next offset of its alignment; only supported plans are searched. Floor, lowest offset and the consequences of a step:
 * bounds.c.
 *
 * Branching. Choose an item that does not wait and has no room below it for an unplaced item: each unplaced item d that
 * overlaps it has lowest(d) + size(d) > its floor. Branch 1 places it on its floor (all these d end up above it);
 * branch 2 excludes the floor (lowest = floor + 1, aligned: it waits). The two branches are complete for any choice, so
 * items need no global order of offsets, and the search can continue where it is hard.
 *
 * Decomposition. If no unplaced item crosses from one slab to the next, both sides are searched separately; if one side
 * fails, both fail.
 *
 * Failures. Whether a range of slabs can be completed depends on its unplaced items only: their set, lowest offsets and
 * waiting states. A key of these is stored for each failed range, so that it is not searched again in this or later
 * attempts.
 *
 * Restarts. An attempt ends after a number of nodes and is repeated with other tie-breaks, a larger limit and the next
 * of several strategies (see `strategies`), because each strategy fails on problems that another solves at once. Slabs
 * with failed bounds gain weight and are visited earlier. An attempt that ends by itself proves that no plan of this
 * capacity exists. Only the moment of giving up depends on the clock.
 */
#include "plan/search_state.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS_MAX = 8192 };    /* limits the recursion */
enum { PAIRS_MAX = 1 << 24 }; /* limits the memory */
enum { FIRST_LIMIT = 4 };     /* nodes of the first attempt, per item */
static const struct sl_plan_strategy strategies[] = {{1e-3, 0.3}, {0, 0.1}, {0.1, 0.3}, {1e3, 0.3}};
enum { FAILED_MAX = 1 << 16 };
enum { STRATEGY_COUNT = sizeof strategies / sizeof strategies[0] };

double sl_plan_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ----------------------------------------------------------------------------------------------- choosing */

/* Chooses the most urgent slab of a range: few candidates for the lowest item, low ground, high weight. */
static uint32_t slab_choose(struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  uint32_t best = begin;
  double best_score = 0;
  for (uint32_t t = begin; t < end; t++) {
    if (!s->unplaced[t]) continue;
    const struct sl_plan_slab_view *view = sl_plan_slab_view(s, t);
    const double ground = s->strategy->ground + (double)view->least / (double)s->capacity;
    const double score = s->weight[t] / (view->candidates * ground);
    if (score > best_score) {
      best_score = score;
      best = t;
    }
  }
  return best;
}

/* The item of highest rank that may be lowest in the slab; if all of them wait, the lowest one. */
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

/* Replaces the item by an unplaced item that has room below it or must be below it, until there is none. Ends,
 * because each is lower than the previous one by at least its size. */
static uint32_t item_below(const struct sl_plan_search *s, uint32_t i) {
  for (;;) {
    uint32_t below = NO_ITEM;
    int64_t least = s->lowest[i];
    for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
      const uint32_t other = s->neighbours[k];
      if (s->placed[other] || sl_plan_lowest_end(s, other) > least) continue;
      least = sl_plan_lowest_end(s, other);
      below = other;
    }
    if (below == NO_ITEM) return i;
    i = below;
  }
}

/* The lowest item of a range of slabs that does not wait; ties: the highest rank. */
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

static uint32_t item_choose(struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  if (s->strategy->ground > 0) return item_below(s, slab_item(s, slab_choose(s, begin, end)));
  return lowest_item(s, begin, end);
}

/* ---------------------------------------------------------------------------------------------- searching */

static int step_take(struct sl_plan_search *s) {
  s->steps++;
  if (s->steps >= s->step_end) s->stopped = 1;
  if (s->steps % 16 == 0 && s->deadline > 0 && sl_plan_clock() > s->deadline) s->late = s->stopped = 1;
  return !s->stopped;
}

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return x ^ x >> 32;
}

/* Key of the unplaced items of a range. Different states collide with a probability of about 2^-100. */
static struct sl_plan_key range_key(const struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  struct sl_plan_key key = {1, 1};
  for (uint32_t i = 0; i < s->count; i++) {
    const struct sl_plan_item *item = &s->problem->items[i];
    if (s->placed[i] || item->first_slab < begin || item->end_slab > end) continue;
    const uint64_t waits = s->lowest[i] > s->floor[i];
    const uint64_t one = mixed(mixed(i + 1) + 2 * (uint64_t)s->lowest[i] + waits);
    key.low += one;
    key.high += mixed(one + UINT64_C(0x2545f4914f6cdd1d));
  }
  return key;
}

static int range_search(struct sl_plan_search *s, uint32_t begin, uint32_t end);

/* Searches each independent part of a range of slabs. */
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

/* Places all unplaced items of a range of slabs. All changes are undone unless it returns SL_PLAN_SOLVED. */
static int range_search(struct sl_plan_search *s, uint32_t begin, uint32_t end) {
  const size_t mark = s->trail_count;
  const struct sl_plan_key key = range_key(s, begin, end);
  struct sl_plan_key *failed = &s->failed[key.low % FAILED_MAX];
  if (failed->low == key.low && failed->high == key.high) return SL_PLAN_IMPOSSIBLE;
  for (;;) {
    if (!step_take(s)) return SL_PLAN_UNDECIDED;
    const uint32_t i = item_choose(s, begin, end);
    if (i == NO_ITEM) break; /* all items wait for each other */
    const size_t before = s->trail_count;
    const int status = sl_plan_item_place(s, i) ? parts_search(s, begin, end) : SL_PLAN_IMPOSSIBLE;
    if (s->stopped) return SL_PLAN_UNDECIDED;
    if (status == SL_PLAN_SOLVED) return status;
    sl_plan_undo(s, before);
    if (!sl_plan_item_forbid(s, i)) break;
  }
  sl_plan_undo(s, mark);
  if (s->stopped) return SL_PLAN_UNDECIDED;
  *failed = key;
  return SL_PLAN_IMPOSSIBLE;
}

/* Draws ranks: wide items first, larger ones first among equals. */
static void ranks_draw(struct sl_plan_search *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    const struct sl_plan_item *item = &s->problem->items[i];
    const double width = item->end_slab - item->first_slab;
    const double size = (double)item->size / (double)s->capacity;
    const double noise = sl_plan_random(&s->random) / 4294967296.0;
    s->rank[i] = (width + 0.01 * size) * (1 + s->strategy->noise * noise);
  }
}

/* Runs one attempt from the start, with at most `limit` nodes. */
static int attempt_run(struct sl_plan_search *s, uint64_t limit) {
  s->strategy = &strategies[s->attempts++ % STRATEGY_COUNT];
  s->step_end = s->steps + limit;
  if (!sl_plan_state_reset(s)) return s->stopped ? SL_PLAN_UNDECIDED : SL_PLAN_IMPOSSIBLE;
  ranks_draw(s);
  return parts_search(s, 0, s->problem->slab_count);
}

int sl_plan_search_attempt(struct sl_plan_search *s, int64_t capacity, uint64_t step_limit, int64_t *offsets) {
  const uint64_t end = s->steps + step_limit;
  double limit = (double)FIRST_LIMIT * s->count;
  int status = SL_PLAN_UNDECIDED;
  if (s->capacity != capacity) memset(s->failed, 0, FAILED_MAX * sizeof *s->failed);
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

/* Number of items that begin in a slab or earlier, and that end there or earlier. */
struct slab_counts {
  uint32_t *begun, *ended;
};

static int slab_counts_make(const struct sl_plan_problem *problem, struct slab_counts *c) {
  const uint32_t size = problem->slab_count + 1;
  c->begun = calloc(2 * (size_t)size, sizeof *c->begun);
  if (!c->begun) return SL_ENOMEM;
  c->ended = c->begun + size;
  for (uint32_t i = 0; i < problem->count; i++) {
    c->begun[problem->items[i].first_slab]++;
    c->ended[problem->items[i].end_slab]++;
  }
  for (uint32_t t = 1; t < size; t++) {
    c->begun[t] += c->begun[t - 1];
    c->ended[t] += c->ended[t - 1];
  }
  return SL_OK;
}

/* Number of items that overlap one: all that begin before it ends, minus itself and the items that end before it
 * begins. */
static uint32_t overlaps_count(const struct slab_counts *c, const struct sl_plan_item *item) {
  return c->begun[item->end_slab - 1] - c->ended[item->first_slab] - 1;
}

/* Number of overlapping pairs, counted in both directions. */
static uint64_t pairs_count(const struct sl_plan_problem *problem, const struct slab_counts *c) {
  uint64_t pairs = 0;
  for (uint32_t i = 0; i < problem->count; i++) pairs += overlaps_count(c, &problem->items[i]);
  return pairs;
}

static int items_equal(const struct sl_plan_item *a, const struct sl_plan_item *b) {
  return a->size == b->size && a->alignment == b->alignment && a->first_slab == b->first_slab &&
         a->end_slab == b->end_slab;
}

/* Fills the lists of items per slab, in ascending order. */
static void members_fill(struct sl_plan_search *s, const struct slab_counts *c) {
  uint32_t *next = s->unplaced; /* scratch before the search: next position in each slab */
  uint32_t filled = 0;
  for (uint32_t t = 0; t < s->slab_count; t++) {
    s->member_starts[t] = next[t] = filled;
    filled += c->begun[t] - c->ended[t];
  }
  s->member_starts[s->slab_count] = filled;
  for (uint32_t i = 0; i < s->count; i++)
    for (uint32_t t = s->problem->items[i].first_slab; t < s->problem->items[i].end_slab; t++)
      s->members[next[t]++] = i;
}

/* Adds `i` to the neighbours of `other`. Called by ascending i. */
static void neighbour_add(struct sl_plan_search *s, uint32_t *next, uint32_t other, uint32_t i) {
  if (other == i) return;
  s->neighbours[next[other]++] = i;
  if (i > other && s->twin[other] == NO_ITEM && items_equal(&s->problem->items[other], &s->problem->items[i]))
    s->twin[other] = i;
}

/* Fills the neighbours of each item, in ascending order: the items of the slab in which it begins, and the items
 * that begin later during its lifetime. */
static void neighbours_fill(struct sl_plan_search *s, const struct slab_counts *c) {
  uint32_t *next = s->support, *by_begin = s->queue; /* free until the search begins */
  uint32_t filled = 0;
  for (uint32_t i = s->count; i-- > 0;) by_begin[--c->begun[s->problem->items[i].first_slab]] = i;
  /* begun[t] is now the former begun[t - 1]: the number of items that begin before slab t */
  for (uint32_t i = 0; i < s->count; i++) {
    const struct sl_plan_item *item = &s->problem->items[i];
    s->neighbour_starts[i] = next[i] = filled;
    s->twin[i] = NO_ITEM;
    s->size[i] = item->size;
    filled += c->begun[item->end_slab] - c->ended[item->first_slab] - 1;
  }
  s->neighbour_starts[s->count] = filled;
  for (uint32_t i = 0; i < s->count; i++) {
    const struct sl_plan_item *item = &s->problem->items[i];
    for (uint32_t k = s->member_starts[item->first_slab]; k < s->member_starts[item->first_slab + 1]; k++)
      neighbour_add(s, next, s->members[k], i);
    for (uint32_t k = c->begun[item->first_slab + 1]; k < c->begun[item->end_slab]; k++)
      neighbour_add(s, next, by_begin[k], i);
  }
}

/* Allocates an array in the block of a search; with NULL, only measures the size. */
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
  s->members = take(&used, block, items + pairs, sizeof *s->members); /* in each slab except its first, an item meets */
  s->twin = take(&used, block, items, sizeof *s->twin);               /* an item that begins there: a pair */
  s->floor = take(&used, block, items, sizeof *s->floor);
  s->lowest = take(&used, block, items, sizeof *s->lowest);
  s->placed = take(&used, block, items, sizeof *s->placed);
  s->unplaced_size = take(&used, block, slabs, sizeof *s->unplaced_size);
  s->unplaced = take(&used, block, slabs, sizeof *s->unplaced);
  s->crossing = take(&used, block, slabs, sizeof *s->crossing);
  s->size = take(&used, block, items, sizeof *s->size);
  s->support = take(&used, block, items, sizeof *s->support);
  s->dirty = take(&used, block, slabs, sizeof *s->dirty);
  s->stale = take(&used, block, slabs, sizeof *s->stale);
  s->view = take(&used, block, slabs, sizeof *s->view);
  s->sorted = take(&used, block, items, sizeof *s->sorted);
  s->queue = take(&used, block, items, sizeof *s->queue);
  s->queued = take(&used, block, items, sizeof *s->queued);
  s->rank = take(&used, block, items, sizeof *s->rank);
  s->failed = take(&used, block, FAILED_MAX, sizeof *s->failed);
  s->weight = take(&used, block, slabs, sizeof *s->weight);
  return used;
}

static int search_fill(const struct sl_plan_problem *problem, const struct slab_counts *counts, uint64_t pairs,
                       double deadline, struct sl_plan_search **search) {
  struct sl_plan_search *s = calloc(1, sizeof *s);
  if (!s) return SL_ENOMEM;
  *s = (struct sl_plan_search){.problem = problem,
                               .count = problem->count,
                               .slab_count = problem->slab_count,
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
  members_fill(s, counts);
  neighbours_fill(s, counts);
  *search = s;
  return SL_OK;
}

int sl_plan_search_make(const struct sl_plan_problem *problem, double deadline, struct sl_plan_search **search) {
  *search = NULL;
  if (problem->count == 0 || problem->count > ITEMS_MAX) return SL_OK;
  struct slab_counts counts;
  int status = slab_counts_make(problem, &counts);
  if (status) return status;
  const uint64_t pairs = pairs_count(problem, &counts);
  if (pairs <= PAIRS_MAX) status = search_fill(problem, &counts, pairs, deadline, search);
  free(counts.begun);
  return status;
}

void sl_plan_search_free(struct sl_plan_search *s) {
  if (!s) return;
  free(s->neighbour_starts); /* the first array is the start of the block */
  free(s->trail);
  free(s);
}
