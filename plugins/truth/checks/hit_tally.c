/* hit_tally.c: see hit_tally.h. */
#include "hit_tally.h"

#include "tally.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>

static int compare_ids(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static int append_ids(struct id_list *list, const uint32_t *ids, uint32_t count) {
  if (list->count + count > list->capacity) {
    const uint32_t capacity = 2 * (list->count + count);
    uint32_t *larger = (uint32_t *)realloc(list->ids, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    list->ids = larger;
    list->capacity = capacity;
  }
  for (uint32_t i = 0; i < count; i++) list->ids[list->count++] = ids[i];
  return SL_OK;
}

/* Sorts the ids and removes duplicates; returns the number of duplicates. */
static uint32_t make_unique(struct id_list *list) {
  uint32_t unique_count = 0;
  if (list->count > 0) qsort(list->ids, list->count, sizeof *list->ids, compare_ids);
  for (uint32_t i = 0; i < list->count; i++)
    if (unique_count == 0 || list->ids[i] != list->ids[unique_count - 1]) list->ids[unique_count++] = list->ids[i];
  const uint32_t duplicate_count = list->count - unique_count;
  list->count = unique_count;
  return duplicate_count;
}

int hit_tally_add(struct hit_tally *t, const struct mc_event *mc, uint32_t detector, const uint32_t *ids,
                  uint32_t count) {
  t->found.count = t->true_ids.count = 0;
  int status = count > 0 ? append_ids(&t->found, ids, count) : SL_OK;
  for (uint32_t i = 0; status == SL_OK && i < mc->particle_count; i++) {
    const struct mc_hits *hits = mc_hits_in(&mc->particles[i], detector);
    if (hits->count > 0) status = append_ids(&t->true_ids, mc->ids + hits->first, hits->count);
  }
  if (status < 0) return status;
  t->hits += count;
  t->duplicate_hits += make_unique(&t->found);
  make_unique(&t->true_ids);
  t->true_hits += t->true_ids.count;
  for (uint32_t i = 0, k = 0; i < t->found.count && k < t->true_ids.count;) {
    if (t->found.ids[i] == t->true_ids.ids[k]) t->hits_in_truth++;
    if (t->found.ids[i] <= t->true_ids.ids[k])
      i++;
    else
      k++;
  }
  return SL_OK;
}

int hit_tally_is_comparable(const struct hit_tally *t) { return t->hits == 0 || t->hits_in_truth > 0; }

static double efficiency_of(const struct hit_tally *t) { return ratio((double)t->hits_in_truth, (double)t->true_hits); }
static double purity_of(const struct hit_tally *t) { return ratio((double)t->hits_in_truth, (double)t->hits); }

void hit_tally_report(const struct hit_tally *t, const struct sl_report *r) {
  r->integer(r->context, "hits", (int64_t)t->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)t->hits_in_truth);
  r->integer(r->context, "duplicate_hits", (int64_t)t->duplicate_hits);
  r->integer(r->context, "true_hits", (int64_t)t->true_hits);
  r->integer(r->context, "true_hits_found", (int64_t)t->hits_in_truth);
  r->number(r->context, "hit_efficiency", efficiency_of(t));
  r->number(r->context, "hit_purity", purity_of(t));
}

void hit_tally_line(const struct hit_tally *t, const struct sl_report *r, const char *detector, uint64_t events) {
  r->line(r->context,
          "%s hits of %" PRIu64 " %s: %" PRIu64 ", %.2f %% true, %.2f %% of %" PRIu64 " true hits found, %" PRIu64
          " duplicates",
          detector, events, sl_plural(events, "event", "events"), t->hits, 100 * purity_of(t), 100 * efficiency_of(t),
          t->true_hits, t->duplicate_hits);
}

void hit_tally_warn(const struct hit_tally *t, const struct sl_services *s, const char *detector) {
  if (!hit_tally_is_comparable(t))
    s->message(s->context, SL_WARNING,
               "no id of the %s hits is in the truth: the truth has no %s hits or belongs to other events", detector,
               detector);
}

void hit_tally_free(struct hit_tally *t) {
  free(t->found.ids);
  free(t->true_ids.ids);
  *t = (struct hit_tally){0};
}
