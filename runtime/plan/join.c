/* join.c: makes a problem smaller if no unit of the arena may stay free.
 *
 * Let two adjacent slabs be full: the live items of each fill the arena. Items that live in both slabs leave the same
 * gaps in both, so the items that end between the slabs fill the same gaps as the items that begin there, with equal
 * sums per gap. Therefore
 *   - an ending item with the same size as a beginning one has the same offset: the two are joined into one lifetime;
 *   - two items with equal lifetimes and the total size of one item on the other side of the boundary, or of two with
 *     equal lifetimes, are adjacent: they are joined into one size. If there is only one item on the other side, any
 *     two items of one lifetime are joined.
 * This is certain if only one item ends or begins; otherwise equal sums may be coincidence, which is rare for sizes
 * with many digits. The smaller problem is therefore only tried: its plan is a plan of the whole, but if it has none
 * nothing is proved. Problems made by repeated complete cuts are solved without a search.
 */
#include "plan/problem.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

enum { NO_PIECE = UINT32_MAX };
enum { SIDE_MAX = 64 };     /* maximum number of items that end or begin at a boundary and are compared */
enum { STEPS_A_PIECE = 2 }; /* if the joins are right, the search finds the plan almost directly */

/* An item, or two joined pieces: one above the other, or one after the other. */
struct piece {
  int64_t size;
  uint32_t first_slab, end_slab;
  uint32_t one, other; /* NO_PIECE: an item */
  uint8_t stacked, joined;
};

struct pieces {
  const struct sl_plan_problem *problem;
  struct piece *all; /* the items, then the joined pieces */
  uint32_t count;
};

/* The pieces that end, or begin, at a boundary. */
struct side {
  uint32_t pieces[SIDE_MAX];
  uint32_t count;
};

static void pieces_join(struct pieces *p, uint32_t one, uint32_t other, uint8_t stacked) {
  struct piece *a = &p->all[one], *b = &p->all[other];
  p->all[p->count++] = (struct piece){.size = stacked ? a->size + b->size : a->size,
                                      .first_slab = a->first_slab,
                                      .end_slab = b->end_slab,
                                      .one = one,
                                      .other = other,
                                      .stacked = stacked};
  a->joined = b->joined = 1;
}

static void side_add(struct side *side, uint32_t piece) {
  if (side->count < SIDE_MAX) side->pieces[side->count] = piece;
  side->count++;
}

static void sides_find(const struct pieces *p, uint32_t slab, struct side *ending, struct side *beginning) {
  ending->count = beginning->count = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    if (p->all[i].joined) continue;
    if (p->all[i].end_slab == slab) side_add(ending, i);
    if (p->all[i].first_slab == slab) side_add(beginning, i);
  }
}

/* The only piece of this size, or NO_PIECE. */
static uint32_t piece_of_size(const struct pieces *p, const struct side *side, int64_t size) {
  uint32_t found = NO_PIECE;
  for (uint32_t k = 0; k < side->count; k++) {
    if (p->all[side->pieces[k]].size != size) continue;
    if (found != NO_PIECE) return NO_PIECE;
    found = side->pieces[k];
  }
  return found;
}

static int after_join(struct pieces *p, const struct side *ending, const struct side *beginning) {
  for (uint32_t k = 0; k < ending->count; k++) {
    const int64_t size = p->all[ending->pieces[k]].size;
    const uint32_t other = piece_of_size(p, beginning, size);
    if (other == NO_PIECE || piece_of_size(p, ending, size) == NO_PIECE) continue;
    pieces_join(p, ending->pieces[k], other, 0);
    return 1;
  }
  return 0;
}

/* Finds the next two pieces of a side with equal lifetimes; *a and *b are indices, initially 0. */
static int pair_next(const struct pieces *p, const struct side *side, uint32_t *a, uint32_t *b) {
  for (; *a < side->count; ++*a, *b = *a) {
    while (++*b < side->count) {
      const struct piece *one = &p->all[side->pieces[*a]], *other = &p->all[side->pieces[*b]];
      if (one->first_slab == other->first_slab && one->end_slab == other->end_slab) return 1;
    }
  }
  return 0;
}

static int pair_has_sum(const struct pieces *p, const struct side *side, int64_t sum) {
  for (uint32_t a = 0, b = 0; pair_next(p, side, &a, &b);)
    if (p->all[side->pieces[a]].size + p->all[side->pieces[b]].size == sum) return 1;
  return 0;
}

static int above_join(struct pieces *p, const struct side *side, const struct side *beyond) {
  for (uint32_t a = 0, b = 0; pair_next(p, side, &a, &b);) {
    const int64_t sum = p->all[side->pieces[a]].size + p->all[side->pieces[b]].size;
    if (beyond->count > 1 && piece_of_size(p, beyond, sum) == NO_PIECE && !pair_has_sum(p, beyond, sum)) continue;
    pieces_join(p, side->pieces[a], side->pieces[b], 1);
    return 1;
  }
  return 0;
}

/* Makes one join at the boundary before a slab, if possible. Returns 1 if it did. */
static int boundary_join(struct pieces *p, uint32_t slab) {
  struct side ending, beginning;
  sides_find(p, slab, &ending, &beginning);
  if (ending.count > SIDE_MAX || beginning.count > SIDE_MAX) return 0;
  return after_join(p, &ending, &beginning) || above_join(p, &ending, &beginning) || above_join(p, &beginning, &ending);
}

/* Makes joins at all boundaries until there is none. */
static void pieces_shrink(struct pieces *p) {
  const int64_t *live = p->problem->slab_live, full = p->problem->lower_bound;
  for (int changed = 1; changed;) {
    changed = 0;
    for (uint32_t slab = 1; slab < p->problem->slab_count; slab++)
      if (live[slab - 1] == full && live[slab] == full)
        while (boundary_join(p, slab)) changed = 1;
  }
}

/* Computes the offsets of all pieces from those of the unjoined ones. Joined pieces come after their parts. */
static void pieces_set_offsets(const struct pieces *p, int64_t *offsets) {
  for (uint32_t i = p->count; i-- > p->problem->count;) {
    const struct piece *piece = &p->all[i];
    offsets[piece->one] = offsets[i];
    offsets[piece->other] = offsets[i] + (piece->stacked ? p->all[piece->one].size : 0);
  }
}

/* Makes a problem of the unjoined pieces, with fewer slabs and possibly another unit. */
static int rest_make(const struct pieces *p, struct sl_plan_problem *rest) {
  struct sl_plan_buffer *buffers = malloc(p->problem->count * sizeof *buffers);
  if (!buffers) return SL_ENOMEM;
  struct sl_plan_request request = {.buffers = buffers, .alignment = 1};
  for (uint32_t i = 0; i < p->count; i++) {
    const struct piece *piece = &p->all[i];
    if (!piece->joined)
      buffers[request.count++] =
          (struct sl_plan_buffer){.size = (uint64_t)piece->size, .lower = piece->first_slab, .upper = piece->end_slab};
  }
  const int status = sl_plan_problem_make(&request, rest);
  free(buffers);
  return status;
}

/* Searches for a plan of that problem at its lower bound and writes the offsets. Returns a status of the search. */
static int rest_search(const struct sl_plan_problem *rest, double deadline, uint64_t step_limit, int64_t *offsets,
                       uint64_t *steps) {
  struct sl_plan_search *search;
  if (sl_plan_search_make(rest, deadline, &search)) return SL_ENOMEM;
  if (!search) return SL_PLAN_UNDECIDED;
  const uint64_t most = STEPS_A_PIECE * (uint64_t)rest->count;
  const int status = sl_plan_search_attempt(search, rest->lower_bound, step_limit < most ? step_limit : most, offsets);
  *steps = sl_plan_search_steps(search);
  sl_plan_search_free(search);
  return status;
}

static int rest_solve(const struct pieces *p, double deadline, uint64_t step_limit, int64_t *offsets, uint64_t *steps) {
  struct sl_plan_problem rest;
  int status = rest_make(p, &rest);
  if (status) return status;
  int64_t *found = malloc(rest.count * sizeof *found);
  status = found ? rest_search(&rest, deadline, step_limit, found, steps) : SL_ENOMEM;
  if (status == SL_PLAN_SOLVED)
    for (uint32_t i = 0, k = 0; i < p->count; i++)
      if (!p->all[i].joined) offsets[i] = found[k++] * (int64_t)rest.unit_bytes;
  free(found);
  sl_plan_problem_free(&rest);
  return status;
}

static int pieces_solve(const struct pieces *p, double deadline, uint64_t step_limit, struct sl_plan_solution *solution,
                        uint64_t *steps) {
  int64_t *offsets = malloc(p->count * sizeof *offsets);
  if (!offsets) return SL_ENOMEM;
  const int status = rest_solve(p, deadline, step_limit, offsets, steps);
  if (status == SL_PLAN_SOLVED) {
    pieces_set_offsets(p, offsets);
    memcpy(solution->offsets, offsets, p->problem->count * sizeof *offsets);
    solution->arena = p->problem->lower_bound;
  }
  free(offsets);
  return status < 0 ? status : SL_OK;
}

int sl_plan_join(const struct sl_plan_problem *problem, double deadline, uint64_t step_limit,
                 struct sl_plan_solution *solution, uint64_t *steps) {
  struct pieces p = {.problem = problem, .all = malloc(2 * (size_t)problem->count * sizeof *p.all)};
  *steps = 0;
  if (!p.all) return SL_ENOMEM;
  for (uint32_t i = 0; i < problem->count; i++) {
    const struct sl_plan_item *item = &problem->items[i];
    p.all[p.count++] = (struct piece){item->size, item->first_slab, item->end_slab, NO_PIECE, NO_PIECE, 0, 0};
  }
  pieces_shrink(&p);
  const int status = p.count == problem->count ? SL_OK : pieces_solve(&p, deadline, step_limit, solution, steps);
  free(p.all);
  return status;
}
