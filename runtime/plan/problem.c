/* problem.c: checks a request and converts it to the form described in problem.h. */
#include "problem.h"

#include <sluice/plugin.h>

#include <stdlib.h>

/* Limit that keeps sums of two sizes or offsets from overflowing. */
#define SIZE_SUM_MAX (UINT64_C(1) << 62)

struct moment {
  uint32_t time, item;
};

static int moment_compare(const void *left, const void *right) {
  const struct moment *a = left, *b = right;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  return a->item < b->item ? -1 : a->item > b->item;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t own_alignment(const struct sl_plan_buffer *b) { return b->alignment ? b->alignment : 1; }

/* Least common multiple with the alignment of the request; 0: too large. */
static uint64_t alignment_of(const struct sl_plan_request *request, const struct sl_plan_buffer *b) {
  const uint64_t own = own_alignment(b), factor = own / greatest_common_divisor(own, request->alignment);
  return factor <= SIZE_SUM_MAX / request->alignment ? factor * request->alignment : 0;
}

static int request_check(const struct sl_plan_request *request) {
  const uint32_t alignment = request->alignment;
  if (alignment == 0 || (alignment & (alignment - 1))) return SL_EINVAL;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < request->count; i++) {
    const struct sl_plan_buffer *b = &request->buffers[i];
    if (b->lower >= b->upper || b->size > SIZE_SUM_MAX) return SL_EINVAL;
    const uint64_t aligned = alignment_of(request, b);
    if (aligned == 0) return SL_EINVAL;
    sum += (b->size + alignment - 1) & ~(uint64_t)(alignment - 1);
    sum += aligned > alignment ? aligned : 0;
    if (sum > SIZE_SUM_MAX) return SL_EINVAL;
  }
  return SL_OK;
}

/* Fills the items with sizes in units, and the unit. */
static void items_fill(const struct sl_plan_request *request, struct sl_plan_problem *problem) {
  const uint64_t mask = ~((uint64_t)request->alignment - 1);
  uint64_t unit = 0;
  for (uint32_t i = 0; i < request->count; i++)
    if (request->buffers[i].size > 0 && alignment_of(request, &request->buffers[i]) > request->alignment)
      problem->is_aligned = 1;
  for (uint32_t i = 0; i < request->count; i++) {
    const struct sl_plan_buffer *b = &request->buffers[i];
    if (b->size == 0) continue;
    const uint64_t size = (b->size + request->alignment - 1) & mask;
    const uint64_t alignment = problem->is_aligned ? alignment_of(request, b) : 1;
    problem->items[problem->count++] = (struct sl_plan_item){
        .size = (int64_t)size, .alignment = (int64_t)alignment, .lower = b->lower, .upper = b->upper, .buffer = i};
    unit = greatest_common_divisor(size, unit);
    if (alignment > 1) unit = greatest_common_divisor(alignment, unit);
  }
  problem->unit_bytes = unit ? unit : 1;
  for (uint32_t i = 0; i < problem->count; i++) {
    struct sl_plan_item *item = &problem->items[i];
    item->size /= (int64_t)problem->unit_bytes;
    if (item->alignment > 1) item->alignment /= (int64_t)problem->unit_bytes;
  }
}

/* Visits all ends in ascending order. Earlier begins become live before an end; if any did since the last slab, the
 * live buffers are a maximal set, and a slab is closed. */
static void slabs_fill(struct sl_plan_problem *problem, struct moment *begins, struct moment *ends) {
  const uint32_t count = problem->count;
  struct sl_plan_item *items = problem->items;
  for (uint32_t i = 0; i < count; i++) {
    begins[i] = (struct moment){items[i].lower, i};
    ends[i] = (struct moment){items[i].upper, i};
  }
  qsort(begins, count, sizeof *begins, moment_compare);
  qsort(ends, count, sizeof *ends, moment_compare);
  int64_t live = 0;
  for (uint32_t begin = 0, end = 0; end < count; end++) {
    int grown = 0;
    for (; begin < count && begins[begin].time < ends[end].time; begin++, grown = 1) {
      items[begins[begin].item].first_slab = problem->slab_count;
      live += items[begins[begin].item].size;
    }
    if (grown) {
      problem->slab_live[problem->slab_count++] = live;
      if (live > problem->lower_bound) problem->lower_bound = live;
    }
    items[ends[end].item].end_slab = problem->slab_count;
    live -= items[ends[end].item].size;
  }
}

/* Raises the lower bound: if all offsets in a slab are multiples of some number, all items but the highest end at a
 * multiple of it or leave room up to one. */
static int raise_bound(struct sl_plan_problem *problem) {
  const uint32_t slabs = problem->slab_count;
  int64_t *common = calloc(3 * (size_t)slabs, sizeof *common), *padded = common + slabs, *largest = padded + slabs;
  if (!common) return SL_ENOMEM;
  for (uint32_t i = 0; i < problem->count; i++) {
    const struct sl_plan_item *item = &problem->items[i];
    for (uint32_t t = item->first_slab; t < item->end_slab; t++)
      common[t] = (int64_t)greatest_common_divisor((uint64_t)item->alignment, (uint64_t)common[t]);
  }
  for (uint32_t i = 0; i < problem->count; i++) {
    const struct sl_plan_item *item = &problem->items[i];
    for (uint32_t t = item->first_slab; t < item->end_slab; t++) {
      const int64_t over = item->size % common[t], padding = over ? common[t] - over : 0;
      padded[t] += item->size + padding;
      if (padding > largest[t]) largest[t] = padding;
    }
  }
  for (uint32_t t = 0; t < slabs; t++)
    if (padded[t] - largest[t] > problem->lower_bound) problem->lower_bound = padded[t] - largest[t];
  free(common);
  return SL_OK;
}

int sl_plan_problem_make(const struct sl_plan_request *request, struct sl_plan_problem *problem) {
  *problem = (struct sl_plan_problem){.unit_bytes = 1};
  const int status = request_check(request);
  if (status) return status;
  const size_t count = request->count;
  if (count == 0) return SL_OK;
  struct moment *moments = malloc(2 * count * sizeof *moments);
  problem->items = calloc(count, sizeof *problem->items);
  problem->slab_live = malloc(count * sizeof *problem->slab_live);
  if (!moments || !problem->items || !problem->slab_live) {
    free(moments);
    sl_plan_problem_free(problem);
    return SL_ENOMEM;
  }
  items_fill(request, problem);
  slabs_fill(problem, moments, moments + count);
  free(moments);
  const int raised = problem->is_aligned ? raise_bound(problem) : SL_OK;
  if (raised) sl_plan_problem_free(problem);
  return raised;
}

void sl_plan_problem_free(struct sl_plan_problem *problem) {
  free(problem->items);
  free(problem->slab_live);
  *problem = (struct sl_plan_problem){.unit_bytes = 1};
}
