/* greedy.c: plans by placing buffers one after another, each at the lowest free offset (first fit) or in the smallest
 * gap that fits (best fit).
 *
 * Several orders are tried with both rules. The best order is then improved: a buffer, usually one at the top of the
 * arena, moves to another position of the order, and the new order is kept if its arena is no larger than the present
 * one or than that of some rounds before (late acceptance). The number of rounds depends on the number of buffers only.
 */
#include "problem.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

enum { FIRST_FIT, BEST_FIT };
enum { HISTORY = 64, ROUNDS_MAX = 2000 };
#define IMPROVEMENT_WORK 30000000ull /* limit of visited neighbours over all rounds: some tens of milliseconds */

/* Data of a placed item that all later items need, in one struct, because this loop dominates the time. */
struct placed {
  int64_t offset, end;
  uint32_t first_slab, end_slab;
};

struct greedy {
  const struct sl_plan_problem *problem;
  uint32_t *order;
  uint32_t *trial;      /* order being tried */
  uint32_t *spare;      /* scratch for sorting */
  struct placed *stack; /* placed items by ascending offset */
  double *keys;
  int64_t *offsets; /* offsets of the last plan */
  int64_t *kept;    /* offsets of the plan of the present order */
  int rule;
  struct sl_plan_solution *best;
};

/* Offset for `item` among the placed items, which are sorted by offset. */
static int64_t place_find(const struct greedy *g, uint32_t placed_count, const struct sl_plan_item *item) {
  int64_t end = 0, best = -1, /* end: lowest possible offset of the item */ best_gap = INT64_MAX;
  for (uint32_t k = 0; k < placed_count; k++) {
    const struct placed *other = &g->stack[k];
    if (other->first_slab >= item->end_slab || item->first_slab >= other->end_slab) continue;
    const int64_t gap = other->offset - end;
    if (gap >= item->size && gap < best_gap) {
      best_gap = gap;
      best = end;
      if (g->rule == FIRST_FIT) return best;
    }
    if (other->end > end) end = sl_plan_align_up(item, other->end);
  }
  return best >= 0 ? best : end;
}

/* Makes the plan of an order. Returns its arena, or a value above `limit` as soon as it exceeds the limit. */
static int64_t plan_make(struct greedy *g, const uint32_t *order, int64_t limit) {
  const uint32_t count = g->problem->count;
  int64_t arena = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_plan_item *item = &g->problem->items[order[i]];
    const int64_t offset = place_find(g, i, item);
    const int64_t end = offset + item->size;
    g->offsets[order[i]] = offset;
    if (end > arena) arena = end;
    if (arena > limit) return arena;
    uint32_t k = i;
    for (; k > 0 && g->stack[k - 1].offset > offset; k--) g->stack[k] = g->stack[k - 1];
    g->stack[k] = (struct placed){offset, end, item->first_slab, item->end_slab};
  }
  return arena;
}

static void plan_keep_if_best(struct greedy *g, int64_t arena) {
  if (arena >= g->best->arena) return;
  g->best->arena = arena;
  memcpy(g->best->offsets, g->offsets, g->problem->count * sizeof *g->offsets);
}

/* Sorts by descending key, then by index, with merge sort, because qsort has no argument for the keys. */
static void order_sort(uint32_t *order, uint32_t *spare, uint32_t count, const double *keys) {
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  for (uint32_t width = 1; width < count; width *= 2) {
    for (uint32_t begin = 0; begin < count; begin += 2 * width) {
      const uint32_t middle = begin + width < count ? begin + width : count;
      const uint32_t end = middle + width < count ? middle + width : count;
      uint32_t left = begin, right = middle;
      for (uint32_t k = begin; k < end; k++)
        spare[k] =
            right >= end || (left < middle && keys[order[left]] >= keys[order[right]]) ? order[left++] : order[right++];
    }
    memcpy(order, spare, count * sizeof *order);
  }
}

enum { BY_SIZE, BY_LIFETIME, BY_AREA, BY_BEGIN, BY_END, BY_PRESSURE, BY_CONFLICT, BY_COUNT };

/* Sorting keys. Pressure: the maximum of live units during the lifetime of the buffer, then its lifetime; conflict:
 * the live units of all its slabs, summed. */
static double order_key(const struct sl_plan_problem *problem, const struct sl_plan_item *item, int by) {
  const double lifetime = (double)(item->upper - item->lower);
  int64_t most = 0;
  double sum = 0;
  switch (by) {
    case BY_SIZE:
      return (double)item->size;
    case BY_LIFETIME:
      return lifetime;
    case BY_AREA:
      return (double)item->size * lifetime;
    case BY_BEGIN:
      return -(double)item->lower;
    case BY_END:
      return (double)item->upper;
    default:
      break;
  }
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) {
    if (problem->slab_live[t] > most) most = problem->slab_live[t];
    sum += (double)problem->slab_live[t];
  }
  return by == BY_PRESSURE ? (double)most * 4294967296.0 + lifetime : sum;
}

static void orders_try(struct greedy *g, int64_t goal) {
  const uint32_t count = g->problem->count;
  for (int by = 0; by < BY_COUNT; by++) {
    for (uint32_t i = 0; i < count; i++) g->keys[i] = order_key(g->problem, &g->problem->items[i], by);
    order_sort(g->trial, g->spare, count, g->keys);
    for (int rule = FIRST_FIT; rule <= BEST_FIT; rule++) {
      const int best_rule = g->rule;
      const int64_t before = g->best->arena;
      g->rule = rule;
      plan_keep_if_best(g, plan_make(g, g->trial, before));
      if (g->best->arena == before) {
        g->rule = best_rule;
        continue;
      }
      memcpy(g->order, g->trial, count * sizeof *g->order);
      if (g->best->arena <= goal) return;
    }
  }
}

/* Position in the order of a random item; in three of four cases, an item at the top of the present plan. */
static uint32_t mover_pick(const struct greedy *g, int64_t arena, uint64_t *random) {
  const uint32_t count = g->problem->count;
  const uint32_t start = sl_plan_random(random) % count;
  if (sl_plan_random(random) % 4 == 0) return start;
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t position = (start + k) % count, item = g->order[position];
    if (g->kept[item] + g->problem->items[item].size == arena) return position;
  }
  return start;
}

/* Writes the present order to `trial`, with the item at `from` moved to `to`, or the two swapped. */
static void order_change(const struct greedy *g, uint32_t from, uint32_t to, int swap) {
  uint32_t *trial = g->trial;
  memcpy(trial, g->order, g->problem->count * sizeof *trial);
  const uint32_t item = trial[from];
  if (swap) {
    trial[from] = trial[to];
  } else if (to < from) {
    memmove(trial + to + 1, trial + to, (from - to) * sizeof *trial);
  } else {
    memmove(trial + from, trial + from + 1, (to - from) * sizeof *trial);
  }
  trial[to] = item;
}

static void order_improve(struct greedy *g, int64_t goal) {
  const uint32_t count = g->problem->count;
  const uint64_t affordable = IMPROVEMENT_WORK / ((uint64_t)count * count);
  const uint32_t rounds = affordable < ROUNDS_MAX ? (uint32_t)affordable : ROUNDS_MAX;
  uint64_t random = 0x9e3779b97f4a7c15ull;
  int64_t history[HISTORY], arena = g->best->arena;
  for (uint32_t i = 0; i < HISTORY; i++) history[i] = arena;
  memcpy(g->kept, g->best->offsets, count * sizeof *g->kept);
  for (uint32_t round = 0; round < rounds && g->best->arena > goal; round++) {
    int64_t *late = &history[round % HISTORY];
    const uint32_t from = mover_pick(g, arena, &random);
    const int swap = sl_plan_random(&random) % 2;
    const uint32_t to = sl_plan_random(&random) % (swap || from == 0 ? count : from);
    order_change(g, from, to, swap);
    const int64_t limit = *late > arena ? *late : arena;
    const int64_t made = plan_make(g, g->trial, limit);
    if (made <= limit) {
      uint32_t *order = g->order;
      g->order = g->trial;
      g->trial = order;
      memcpy(g->kept, g->offsets, count * sizeof *g->kept);
      arena = made;
      plan_keep_if_best(g, made);
    }
    *late = arena;
  }
}

int sl_plan_greedy(const struct sl_plan_problem *problem, int64_t goal, struct sl_plan_solution *best) {
  const size_t count = problem->count;
  uint32_t *indices = malloc(3 * count * sizeof *indices);
  int64_t *offsets = malloc(2 * count * sizeof *offsets);
  double *keys = malloc(count * sizeof *keys);
  struct placed *stack = malloc(count * sizeof *stack);
  int status = SL_ENOMEM;
  if (!indices || !offsets || !keys || !stack) goto out;
  struct greedy g = {.problem = problem,
                     .order = indices,
                     .trial = indices + count,
                     .spare = indices + 2 * count,
                     .stack = stack,
                     .keys = keys,
                     .offsets = offsets,
                     .kept = offsets + count,
                     .rule = FIRST_FIT,
                     .best = best};
  best->arena = INT64_MAX;
  orders_try(&g, goal);
  if (best->arena > goal) order_improve(&g, goal);
  status = SL_OK;
out:
  free(indices);
  free(offsets);
  free(keys);
  free(stack);
  return status;
}
