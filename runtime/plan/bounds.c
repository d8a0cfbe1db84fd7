/* bounds.c: the state of the search, and the bounds that follow from each step.
 *
 * Placed items are fixed. For each unplaced item the search knows
 *   floor   the highest end of placed items that overlap it in time, aligned: its lowest possible offset now;
 *   lowest  a lower bound of its final offset, lowest >= floor. If lowest > floor the item is "waiting": an item that
 *           is not placed yet must come between it and its floor.
 * Bounds, after each step, until nothing changes:
 *   - lowest of a waiting item is at least the minimum of lowest(d) + size(d) over unplaced items d that overlap it.
 *     The d of the last minimum is kept as a witness, so that most checks look at one item; a witness is checked
 *     before use and need not be restored on backtracking;
 *   - lowest + size must not exceed the capacity;
 *   - of items with equal size, alignment and slabs, the earlier one has the lower offset;
 *   - the unplaced items of a slab are jobs on one machine with release dates `lowest` and the capacity as deadline
 *     (Carlier 1982; Carlier and Pinson 1989): the minimum of lowest over any set plus the sum of its sizes must not
 *     exceed the capacity; an item that cannot be below all others is above the end of one of them; an item that does
 *     not fit above the minimum of a set is below the whole set.
 */
#include "plan/search_state.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- the trail */

static void trail_push(struct sl_plan_search *s, struct sl_plan_change change) {
  if (s->trail_count == s->trail_size) {
    const size_t size = s->trail_size ? 2 * s->trail_size : 64;
    struct sl_plan_change *trail = realloc(s->trail, size * sizeof *trail);
    if (!trail) {
      s->out_of_memory = s->stopped = 1;
      s->trail_count = 0; /* the state is not restored: it is not used after a stop */
      return;
    }
    s->trail = trail;
    s->trail_size = size;
  }
  s->trail[s->trail_count++] = change;
}

/* Marks the slabs of an item as changed. */
static void slabs_spoil(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  memset(s->stale + item->first_slab, 1, item->end_slab - item->first_slab);
}

static void slabs_enter(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) {
    s->unplaced_size[t] += item->size;
    s->unplaced[t]++;
    s->crossing[t] += t + 1 < item->end_slab;
  }
  slabs_spoil(s, i);
}

static void slabs_leave(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  for (uint32_t t = item->first_slab; t < item->end_slab; t++) {
    s->unplaced_size[t] -= item->size;
    s->unplaced[t]--;
    s->crossing[t] -= t + 1 < item->end_slab;
  }
  slabs_spoil(s, i);
}

void sl_plan_undo(struct sl_plan_search *s, size_t trail_count) {
  while (s->trail_count > trail_count) {
    const struct sl_plan_change *change = &s->trail[--s->trail_count];
    const uint32_t i = change->item;
    switch (change->what) {
      case CHANGED_FLOOR:
        s->floor[i] = change->value;
        break;
      case CHANGED_LOWEST:
        s->lowest[i] = change->value;
        slabs_spoil(s, i);
        break;
      case CHANGED_SUPPORT:
        s->support[i] = (uint32_t)change->value;
        break;
      default:
        s->placed[i] = 0;
        slabs_enter(s, i);
    }
  }
}

/* ------------------------------------------------------------------------------------------------- bounds */

/* Queues an item with a changed bound, or one that was placed. */
static void queue_push(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  memset(s->dirty + item->first_slab, 1, item->end_slab - item->first_slab);
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

static void queue_clear(struct sl_plan_search *s) {
  while (s->queue_count) queue_pop(s);
  memset(s->dirty, 0, s->slab_count);
}

/* Records that the item cannot be placed: its slabs gain one unit of weight in total. */
static int item_fails(struct sl_plan_search *s, uint32_t i) {
  const struct sl_plan_item *item = &s->problem->items[i];
  for (uint32_t t = item->first_slab; t < item->end_slab; t++)
    s->weight[t] += 1.0 / (item->end_slab - item->first_slab);
  return 0;
}

static int slab_fails(struct sl_plan_search *s, uint32_t slab) {
  s->weight[slab] += 1;
  return 0;
}

/* Raises the lowest offset of an item to `value`, aligned upwards. Returns 0 if it then exceeds the capacity. */
static int lowest_raise(struct sl_plan_search *s, uint32_t i, int64_t value) {
  if (s->lowest[i] >= value) return 1;
  value = sl_plan_align_up(&s->problem->items[i], value);
  if (value + s->size[i] > s->capacity) return item_fails(s, i);
  trail_push(s, (struct sl_plan_change){s->lowest[i], i, CHANGED_LOWEST});
  s->lowest[i] = value;
  slabs_spoil(s, i);
  queue_push(s, i);
  return 1;
}

/* Checks a waiting item, which must be on top of an item that is not placed yet. */
static int waiting_check(struct sl_plan_search *s, uint32_t i) {
  const uint32_t witness = s->support[i];
  if (!s->placed[witness] && sl_plan_lowest_end(s, witness) <= s->lowest[i]) return 1;
  int64_t least = INT64_MAX;
  trail_push(s, (struct sl_plan_change){witness, i, CHANGED_SUPPORT});
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
    const uint32_t other = s->neighbours[k];
    if (s->placed[other] || sl_plan_lowest_end(s, other) >= least) continue;
    least = sl_plan_lowest_end(s, other);
    s->support[i] = other;
    if (least <= s->lowest[i]) return 1;
  }
  return least == INT64_MAX ? item_fails(s, i) : lowest_raise(s, i, least);
}

/* Unplaced items of a slab that may be below all others. */
struct lower_items {
  int64_t least_end, largest;
};

/* Evaluates a slab. Items that cannot be below all others are written to `sorted`, by descending lowest offset.
 * Returns their number. */
static uint32_t slab_bound(struct sl_plan_search *s, uint32_t slab, struct lower_items *lower) {
  const int64_t highest = s->capacity - s->unplaced_size[slab];
  struct sl_plan_slab_view view = {INT64_MAX, 0};
  uint32_t count = 0;
  *lower = (struct lower_items){INT64_MAX, 0};
  for (uint32_t k = s->member_starts[slab]; k < s->member_starts[slab + 1]; k++) {
    const uint32_t i = s->members[k];
    if (s->placed[i]) continue;
    const int64_t lowest = s->lowest[i], size = s->size[i];
    if (lowest < view.least) view.least = lowest;
    if (lowest <= highest) {
      view.candidates++;
      if (lowest + size < lower->least_end) lower->least_end = lowest + size;
      if (size > lower->largest) lower->largest = size;
      continue;
    }
    uint32_t at = count++;
    for (; at > 0 && s->sorted[at - 1].lowest < lowest; at--) s->sorted[at] = s->sorted[at - 1];
    s->sorted[at] = (struct sl_plan_job){lowest, size, i};
  }
  s->view[slab] = view;
  s->stale[slab] = 0;
  return count;
}

/* Items that do not fit above the lowest offset of the first `count` items in `sorted`, which leaves `room`, are
 * below all of these; raises these items accordingly. */
static int lower_items_raise(struct sl_plan_search *s, uint32_t slab, uint32_t count, int64_t room) {
  const int64_t lowest = s->sorted[count - 1].lowest;
  int64_t least = INT64_MAX, sum = 0;
  for (uint32_t k = s->member_starts[slab]; k < s->member_starts[slab + 1]; k++) {
    const uint32_t i = s->members[k];
    if (s->placed[i] || s->size[i] <= room || s->lowest[i] >= lowest) continue;
    sum += s->size[i];
    if (s->lowest[i] < least) least = s->lowest[i];
  }
  if (sum == 0 || least + sum <= lowest) return 1;
  for (uint32_t k = 0; k < count; k++)
    if (!lowest_raise(s, s->sorted[k].item, least + sum)) return slab_fails(s, slab);
  return 1;
}

const struct sl_plan_slab_view *sl_plan_slab_view(struct sl_plan_search *s, uint32_t slab) {
  struct lower_items lower;
  if (s->stale[slab]) slab_bound(s, slab, &lower);
  return &s->view[slab];
}

static int slab_check(struct sl_plan_search *s, uint32_t slab) {
  if (!s->unplaced[slab]) return 1;
  struct lower_items lower;
  const uint32_t count = slab_bound(s, slab, &lower);
  if (lower.largest == 0) return slab_fails(s, slab);
  int64_t sum = 0;
  for (uint32_t k = 0; k < count; k++) {
    struct sl_plan_job *job = &s->sorted[k];
    sum += job->size;
    if (job->lowest + sum > s->capacity) return slab_fails(s, slab);
    if (!lowest_raise(s, job->item, lower.least_end)) return slab_fails(s, slab);
  }
  int64_t largest = lower.largest;
  for (uint32_t k = count; k-- > 0;) {
    struct sl_plan_job *job = &s->sorted[k];
    const int64_t room = s->capacity - job->lowest - sum;
    if (largest > room && !lower_items_raise(s, slab, k + 1, room)) return 0;
    if (job->size > largest) largest = job->size;
    sum -= job->size;
  }
  return 1;
}

/* Derives the consequences of a changed bound or a placement, except those of slabs. */
static int consequences_draw(struct sl_plan_search *s, uint32_t i) {
  if (!s->placed[i]) {
    if (s->twin[i] != NO_ITEM && !lowest_raise(s, s->twin[i], sl_plan_lowest_end(s, i))) return 0;
    if (s->lowest[i] > s->floor[i] && !waiting_check(s, i)) return 0;
  }
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1]; k++) {
    const uint32_t other = s->neighbours[k];
    if (s->support[other] != i || s->placed[other] || s->lowest[other] <= s->floor[other]) continue;
    if (!waiting_check(s, other)) return 0;
  }
  return 1;
}

/* Derives all consequences; slabs last. Returns 0 if there is no plan with the placed items. */
static int propagate(struct sl_plan_search *s) {
  int possible = 1;
  while (possible && !s->stopped) {
    if (s->queue_count) {
      possible = consequences_draw(s, queue_pop(s));
      continue;
    }
    const uint8_t *dirty = memchr(s->dirty, 1, s->slab_count);
    if (!dirty) return 1;
    const uint32_t slab = (uint32_t)(dirty - s->dirty);
    s->dirty[slab] = 0;
    possible = slab_check(s, slab);
  }
  queue_clear(s);
  return possible;
}

/* ---------------------------------------------------------------------------------------------- the steps */

int sl_plan_item_place(struct sl_plan_search *s, uint32_t i) {
  const int64_t end = s->floor[i] + s->size[i];
  s->placed[i] = 1;
  trail_push(s, (struct sl_plan_change){0, i, CHANGED_PLACED});
  slabs_leave(s, i);
  queue_push(s, i);
  int possible = 1;
  for (uint32_t k = s->neighbour_starts[i]; k < s->neighbour_starts[i + 1] && possible; k++) {
    const uint32_t other = s->neighbours[k];
    if (s->placed[other]) continue;
    if (s->floor[other] < end) {
      trail_push(s, (struct sl_plan_change){s->floor[other], other, CHANGED_FLOOR});
      s->floor[other] = sl_plan_align_up(&s->problem->items[other], end);
    }
    possible = lowest_raise(s, other, end);
  }
  if (!possible) queue_clear(s);
  return possible && propagate(s);
}

int sl_plan_item_forbid(struct sl_plan_search *s, uint32_t i) {
  const int possible = lowest_raise(s, i, s->floor[i] + 1);
  if (!possible) queue_clear(s);
  return possible && propagate(s);
}

int sl_plan_state_reset(struct sl_plan_search *s) {
  memset(s->placed, 0, s->count);
  memset(s->queued, 0, s->count);
  memset(s->unplaced, 0, s->slab_count * sizeof *s->unplaced);
  memset(s->unplaced_size, 0, s->slab_count * sizeof *s->unplaced_size);
  memset(s->crossing, 0, s->slab_count * sizeof *s->crossing);
  s->queue_first = s->queue_count = 0;
  s->trail_count = 0;
  s->stopped = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    s->floor[i] = s->lowest[i] = 0;
    s->support[i] = i;
    slabs_enter(s, i);
    queue_push(s, i);
  }
  return propagate(s);
}
