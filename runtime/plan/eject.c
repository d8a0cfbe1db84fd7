/* eject.c: finds a plan of a given capacity by repairing an incomplete one. It proves nothing, but if there is some
 * room it finds in a second a plan for which the search (search.c) needs minutes.
 *
 * Some items are placed, the others are in a queue. Placed items are stored as an order: of two that overlap in time,
 * the lower one comes first. For each placed item follow
 *   head   the height of the highest stack below it: its lowest offset;
 *   tail   the height of the highest stack above it: it must end at capacity - tail or lower.
 * Both include gaps for alignments. This is the disjunctive graph of job shops; head + size + tail <= capacity holds
 * for each placed item.
 *
 * A repair places the first item of the queue at a ground y. A placed item j stays if it ends at y or lower, head(j) +
 * size(j) <= y, or can begin above, y + size <= capacity - tail(j) - size(j); otherwise it is ejected. y is 0 or the
 * lowest end of some j, with the smallest weight of ejected items. An item gains weight each time there was no room for
 * it, so that hard items stay and easy items move around them (guided ejection search: Nagata and Braysy, 2009). After
 * an ejection a random placed item moves to another free offset, so that states do not repeat.
 */
#include "plan/search_state.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

enum { WEIGHT_FIRST = 4 };   /* each failure adds 1 */
enum { REPAIRS_A_STEP = 8 }; /* number of repairs that cost as much as one node of the search */

struct ejection {
  struct sl_plan_search *search;
  int64_t capacity;
  int64_t *head, *tail;        /* per placed item */
  int64_t *height;             /* per slab: scratch */
  int64_t *weight;             /* per item */
  int64_t *start, *end, *cost; /* per conflict: range of grounds, and weight of the item */
  uint32_t *conflicting;       /* per conflict: the item */
  uint32_t conflict_count;
  uint32_t *order, order_count;    /* placed items, lower ones first; sorted by head - tail */
  uint32_t *queue, first, waiting; /* ring of unplaced items */
  uint8_t *placed;
  uint64_t random;
};

static uint32_t random_below(struct ejection *e, uint32_t count) {
  return (uint32_t)((uint64_t)sl_plan_random(&e->random) * count >> 32);
}

/* Height of the stack below a placed item (or above it, if `descends`), including gaps for alignment. Raises the
 * items that it covers to its own end. */
static int64_t item_stack(struct ejection *e, uint32_t i, int descends) {
  const struct sl_plan_item *item = &e->search->problem->items[i];
  int64_t *height = e->height, ground = 0;
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) ground = height[t] > ground ? height[t] : ground;
  if (descends)
    ground += (e->capacity - ground - item->size) % item->alignment;
  else
    ground = sl_plan_align_up(item, ground);
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) height[t] = ground + item->size;
  return ground;
}

static int64_t order_key(const struct ejection *e, uint32_t i) { return e->head[i] - e->tail[i]; }

/* Inserts an item into the first `count` entries of the order, which are sorted. */
static void order_insert(struct ejection *e, uint32_t count, uint32_t i, int64_t key) {
  uint32_t at = count;
  for (; at > 0 && order_key(e, e->order[at - 1]) > key; at--) e->order[at] = e->order[at - 1];
  e->order[at] = i;
}

/* Computes heads and tails from the order, and sorts the order by them again; it was nearly sorted. */
static void order_follow(struct ejection *e) {
  const size_t bytes = e->search->slab_count * sizeof *e->height;
  memset(e->height, 0, bytes);
  for (uint32_t k = 0; k < e->order_count; k++) e->head[e->order[k]] = item_stack(e, e->order[k], 0);
  memset(e->height, 0, bytes);
  for (uint32_t k = e->order_count; k-- > 0;) e->tail[e->order[k]] = item_stack(e, e->order[k], 1);
  for (uint32_t k = 1; k < e->order_count; k++) order_insert(e, k, e->order[k], order_key(e, e->order[k]));
}

/* Finds the placed items that conflict with some ground of an item. */
static void conflicts_find(struct ejection *e, uint32_t i) {
  const struct sl_plan_search *s = e->search;
  uint32_t count = 0;
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
    const uint32_t other = s->neighbours[k];
    if (!e->placed[other]) continue;
    const int64_t start = e->capacity - e->tail[other] - s->size[other] - s->size[i];
    const int64_t end = sl_plan_align_up(&s->problem->items[i], e->head[other] + s->size[other]);
    if (start >= end) continue;
    e->start[count] = start;
    e->end[count] = end;
    e->cost[count] = e->weight[other];
    e->conflicting[count++] = other;
  }
  e->conflict_count = count;
}

static int64_t ground_cost(const struct ejection *e, int64_t ground) {
  int64_t cost = 0;
  for (uint32_t k = 0; k < e->conflict_count; k++) cost += e->start[k] < ground && ground < e->end[k] ? e->cost[k] : 0;
  return cost;
}

/* Ground with the smallest cost for an item; ties are broken at random. */
static int64_t ground_choose(struct ejection *e, uint32_t i, int64_t *least) {
  const int64_t highest = e->capacity - e->search->size[i];
  int64_t best = 0;
  uint32_t equal = 1;
  *least = ground_cost(e, 0);
  for (uint32_t k = 0; k < e->conflict_count; k++) {
    if (e->end[k] > highest) continue;
    const int64_t cost = ground_cost(e, e->end[k]);
    if (cost > *least) continue;
    if (cost < *least) equal = 0;
    *least = cost;
    if (random_below(e, ++equal) == 0) best = e->end[k];
  }
  return best;
}

static void queue_add(struct ejection *e, uint32_t i) { e->queue[(e->first + e->waiting++) % e->search->count] = i; }

static uint32_t queue_take(struct ejection *e) {
  const uint32_t i = e->queue[e->first];
  e->first = (e->first + 1) % e->search->count;
  e->waiting--;
  return i;
}

static void order_drop(struct ejection *e) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < e->order_count; k++)
    if (e->placed[e->order[k]]) e->order[kept++] = e->order[k];
  e->order_count = kept;
}

static void conflicts_eject(struct ejection *e, int64_t ground) {
  for (uint32_t k = 0; k < e->conflict_count; k++) {
    if (ground <= e->start[k] || e->end[k] <= ground) continue;
    e->placed[e->conflicting[k]] = 0;
    queue_add(e, e->conflicting[k]);
  }
  order_drop(e);
}

/* Places an item at a ground. An item that may be on either side goes to the nearer side. */
static void item_stand(struct ejection *e, uint32_t i, int64_t ground) {
  e->placed[i] = 1;
  order_insert(e, e->order_count++, i, 2 * ground + e->search->size[i] - e->capacity);
  order_follow(e);
}

/* Moves a random placed item to another free offset. */
static void item_shift(struct ejection *e) {
  const uint32_t i = e->order[random_below(e, e->order_count)];
  conflicts_find(e, i);
  int64_t cost;
  const int64_t ground = ground_choose(e, i, &cost);
  if (cost > 0) return;
  e->placed[i] = 0;
  order_drop(e);
  item_stand(e, i, ground);
}

static void item_insert(struct ejection *e) {
  const uint32_t i = queue_take(e);
  int64_t cost;
  conflicts_find(e, i);
  const int64_t ground = ground_choose(e, i, &cost);
  if (cost > 0) {
    e->weight[i]++;
    conflicts_eject(e, ground);
  }
  item_stand(e, i, ground);
  if (cost > 0) item_shift(e);
}

/* Frees the three blocks of arrays. */
static void ejection_free(struct ejection *e) {
  free(e->head);
  free(e->order);
  free(e->placed);
}

static int ejection_make(struct ejection *e) {
  const size_t count = e->search->count;
  int64_t *wide = calloc(6 * count + e->search->slab_count, sizeof *wide);
  uint32_t *narrow = calloc(3 * count, sizeof *narrow);
  e->head = wide;
  e->order = narrow;
  e->placed = calloc(count, 1);
  if (!wide || !narrow || !e->placed) {
    ejection_free(e);
    return SL_ENOMEM;
  }
  e->tail = wide + count;
  e->weight = wide + 2 * count;
  e->start = wide + 3 * count;
  e->end = wide + 4 * count;
  e->cost = wide + 5 * count;
  e->height = wide + 6 * count;
  e->conflicting = narrow + count;
  e->queue = narrow + 2 * count;
  for (uint32_t i = 0; i < count; i++) {
    e->weight[i] = WEIGHT_FIRST;
    queue_add(e, i);
  }
  return SL_OK;
}

int sl_plan_search_eject(struct sl_plan_search *s, int64_t capacity, uint64_t step_limit, int64_t *offsets) {
  struct ejection e = {.search = s, .capacity = capacity, .random = 0x9e3779b97f4a7c15ull};
  const uint64_t end = s->steps + step_limit;
  if (capacity < s->problem->lower_bound) return SL_PLAN_UNDECIDED; /* then each item has room */
  if (ejection_make(&e)) return SL_ENOMEM;
  for (; e.waiting && s->steps < end && !s->late; s->steps++) {
    uint64_t compared = 0; /* comparisons of grounds with conflicts, counted if they are more than the work of a node */
    for (int k = 0; k < REPAIRS_A_STEP && e.waiting; k++) {
      item_insert(&e);
      compared += (uint64_t)e.conflict_count * e.conflict_count;
    }
    s->steps += compared / (4 * (s->neighbour_starts[s->count] + 1));
    s->late = s->deadline > 0 && sl_plan_clock() > s->deadline;
  }
  if (s->steps > end) s->steps = end;
  const int status = e.waiting ? SL_PLAN_UNDECIDED : SL_PLAN_SOLVED;
  if (status == SL_PLAN_SOLVED) memcpy(offsets, e.head, s->count * sizeof *offsets);
  ejection_free(&e);
  return status;
}
