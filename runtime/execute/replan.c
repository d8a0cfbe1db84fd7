/* replan.c: new memory plans during a run.
 *
 * Results do not depend on capacities, so the runtime may change them between slices. When a slice needed more than a
 * budget, a plan with larger budgets is requested; after 16, 32, 64... whole slices, a plan with the largest needs so
 * far, which is kept if its arena is a fifth smaller. A thread makes the plan; each slot changes to the newest plan
 * when it has no slice in flight. No slice waits for the planner. Budgets have an eighth more than was needed.
 *
 * Shrinking uses the needs since the beginning of the run, so a plan never oscillates. Budgets that --set or a file of
 * --with names are minimums: a run that starts with learned budgets (sl_replan_write_budgets) makes no new plan on the
 * same data. If a plan exceeds the limit of the memory, a smaller step towards it is taken, and slices are run in
 * parts.
 */
#include "execute/replan.h"

#include "base/clock.h"
#include "base/memory.h"
#include "execute/fit.h"
#include "execute/observer.h"
#include "execute/overflow_history.h"
#include "execute/slots.h"
#include "layout/bind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROOM = 8,             /* 1/8 of the needed items is added */
  FIRST_SHRINK = 16,    /* whole slices before the arena may shrink for the first time */
  SHRINK_NUMERATOR = 4, /* the arena must become 4/5 of its size or less */
  SHRINK_DENOMINATOR = 5,
  STEPS = 6 /* bisections between the present budgets and budgets that exceed the memory */
};

/* ------------------------------------------------------------------------------------------------ budgets */

static const struct sl_layout *newest_of(const struct sl_replan *r) { return atomic_load(&r->newest); }

static int is_named(const struct sl_setup *s, const struct sl_location *location) {
  const char *const *with = s->options.with_paths;
  if (!location->file) return 0; /* the algorithm's default */
  if (location->line == 0) return 1;
  while (with && *with && strcmp(*with, location->file) != 0) with++;
  return with && *with;
}

/* The smallest value of a budget. Where the graph's value decides the limit of an event, it stays the smallest, so that
 * no event becomes an error in a run that starts with learned budgets. */
static uint64_t least_of(const struct sl_replan *r, const struct sl_budget_entry *entry, uint32_t property) {
  const struct sl_setup *s = r->setup;
  const struct sl_node *node = &s->graph->nodes[entry->node];
  const uint64_t given = (uint64_t)node->values[property].number;
  uint64_t least = (uint64_t)node->algorithm->members[property].minimum;
  if (is_named(s, &node->value_locations[property])) least = given;
  if (given > sl_budget_term(entry->capacity)->add) least = given;
  return least ? least : 1;
}

/* Items that slices of the largest size need. If all slices were much smaller, their need is scaled. */
static uint64_t needed_by(const struct sl_overflow_history *h, const struct sl_budget_entry *entry) {
  const uint64_t needed = h->needed_max[entry->word], scaled = h->scaled_max[entry->word];
  const uint32_t largest = h->setup->slice_events;
  if (h->most_events > 0 && h->most_events < largest / 4) return needed * largest / h->most_events;
  return needed > scaled ? needed : scaled;
}

/* Sets budgets to what the slices so far needed. With `least`, starts from the smallest values, else from the present
 * ones. Budgets of outputs that had no items yet keep their value. */
static void learn(const struct sl_replan *r, struct sl_budgets *budgets, int least) {
  const struct sl_overflow_history *h = r->history;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < h->budget_count; i++) {
      const struct sl_budget_entry *entry = &h->budgets[i];
      const int32_t m = sl_overflow_property(h, entry);
      const uint64_t needed = needed_by(h, entry);
      if (m == SL_NONE || needed == 0) continue;
      uint32_t *value = sl_budget(budgets, entry->node, (uint32_t)m);
      if (pass == 0) {
        if (least) *value = 0;
        continue;
      }
      const double most = r->setup->graph->nodes[entry->node].algorithm->members[m].maximum;
      uint64_t learned = sl_overflow_value(h, entry, (double)needed * (ROOM + 1) / ROOM);
      if (learned < least_of(r, entry, (uint32_t)m)) learned = least_of(r, entry, (uint32_t)m);
      if ((double)learned > most) learned = (uint64_t)most;
      if (learned > *value) *value = (uint32_t)learned;
    }
}

/* ------------------------------------------------------------------------------------------------ the planner */

/* Makes a plan with budgets between `from` (0) and `to` (2^STEPS). NULL if it is impossible. Its messages are dropped:
 * the run goes on without it. */
static struct sl_layout *make_plan(const struct sl_replan *r, const struct sl_budgets *from,
                                   const struct sl_budgets *to, uint32_t step) {
  const struct sl_setup *s = r->setup;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_layout *layout = NULL;
  struct sl_budgets between;
  if (!d || sl_budgets_open(&between, s->graph, to) < 0) {
    sl_diagnostics_free(d);
    return NULL;
  }
  for (uint32_t i = 0; i < between.count; i++) {
    const int64_t change = (int64_t)to->values[i] - from->values[i];
    between.values[i] = (uint32_t)(from->values[i] + change * step / (1 << STEPS));
  }
  (void)sl_setup_lay_out(s, s->slice_events, &between, d, &layout);
  sl_budgets_close(&between);
  sl_diagnostics_free(d);
  return layout;
}

/* The plan that was asked for or, if it exceeds the memory, the closest one that does not. NULL: none is better. */
static struct sl_layout *plan(struct sl_replan *r, const struct sl_replan_request *request, uint64_t *refused_bytes) {
  const struct sl_layout *now = newest_of(r);
  const uint64_t most = r->setup->arena_bytes_max;
  struct sl_layout *best = make_plan(r, &now->budgets, &request->budgets, 1 << STEPS);
  *refused_bytes = 0;
  if (best && best->arena_bytes <= most) return best;
  *refused_bytes = best ? best->arena_bytes : UINT64_MAX;
  sl_layout_free(best);
  best = NULL;
  uint32_t low = 0, high = 1 << STEPS;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    struct sl_layout *layout = make_plan(r, &now->budgets, &request->budgets, middle);
    const int fits = layout && layout->arena_bytes <= most;
    *(fits ? &low : &high) = middle;
    sl_layout_free(fits ? best : layout);
    if (fits) best = layout;
  }
  return best;
}

static int is_useful(const struct sl_replan *r, const struct sl_layout *layout, uint32_t reason) {
  const struct sl_layout *now = newest_of(r);
  if (reason == SL_PLAN_SHRUNK) return layout->arena_bytes / SHRINK_NUMERATOR <= now->arena_bytes / SHRINK_DENOMINATOR;
  return memcmp(layout->budgets.values, now->budgets.values, now->budgets.count * sizeof *now->budgets.values) != 0;
}

/* Lists the budgets that change, in the order of the nodes. */
static int list_budgets(const struct sl_layout *from, const struct sl_layout *to, struct sl_plan_change *change) {
  const struct sl_graph *g = from->graph;
  struct sl_budget_change *list = calloc(from->budgets.count + 1u, sizeof *list);
  if (!list) return SL_ENOMEM;
  for (uint32_t n = 0; n < g->node_count; n++)
    for (uint32_t m = 0; m < g->nodes[n].algorithm->member_count; m++) {
      const uint32_t before = *sl_budget(&from->budgets, n, m), after = *sl_budget(&to->budgets, n, m);
      if (before == after) continue;
      list[change->budget_count++] =
          (struct sl_budget_change){g->nodes[n].name, g->nodes[n].algorithm->members[m].name, before, after};
    }
  change->budgets = list;
  return SL_OK;
}

/* Requires the lock. Makes the plan the newest; frees it if memory is short. */
static void publish(struct sl_replan *r, const struct sl_replan_request *request, struct sl_layout *layout,
                    double seconds) {
  const struct sl_layout *now = newest_of(r);
  struct sl_plan_change change = {.reason = request->reason,
                                  .event = request->event,
                                  .arena_bytes_before = now->arena_bytes,
                                  .arena_bytes = layout->arena_bytes,
                                  .seconds = seconds};
  struct sl_layout **layouts = realloc(r->layouts, (r->layout_count + 1u) * sizeof *layouts);
  if (layouts) r->layouts = layouts;
  struct sl_plan_change *changes = realloc(r->changes, (r->layout_count + 1u) * sizeof *changes);
  if (changes) r->changes = changes;
  if (!layouts || !changes || list_budgets(now, layout, &change) < 0) {
    r->is_off = 1;
    sl_layout_free(layout);
    return;
  }
  layout->plan = ++r->layout_count;
  r->layouts[layout->plan - 1] = layout;
  r->changes[layout->plan - 1] = change;
  sl_overflow_replanned(r->history, layout);
  atomic_store(&r->newest, layout);
}

static void run_planner(void *argument) {
  struct sl_replan *r = argument;
  pthread_mutex_lock(&r->lock);
  while (!r->has_ended) {
    if (!r->is_asked) {
      pthread_cond_wait(&r->changed, &r->lock);
      continue;
    }
    struct sl_replan_request request = r->request;
    r->is_asked = 0;
    r->is_planning = 1;
    pthread_mutex_unlock(&r->lock);
    const uint64_t begin = sl_now_ns();
    uint64_t refused_bytes;
    struct sl_layout *layout = plan(r, &request, &refused_bytes);
    const uint64_t ns = sl_now_ns() - begin;
    pthread_mutex_lock(&r->lock);
    r->planning_ns += ns;
    if (refused_bytes > 0) r->refused_bytes = refused_bytes;
    if (layout && is_useful(r, layout, request.reason))
      publish(r, &request, layout, (double)ns * 1e-9);
    else
      sl_layout_free(layout);
    sl_budgets_close(&request.budgets);
    r->is_planning = 0;
    pthread_cond_broadcast(&r->changed);
  }
  pthread_mutex_unlock(&r->lock);
}

/* ------------------------------------------------------------------------------------------------ requests */

static int has_overflowed(const struct sl_replan *r, const struct sl_layout *layout) {
  const struct sl_overflow_history *h = r->history;
  for (uint32_t i = 0; i < h->budget_count; i++) {
    const struct sl_budget_entry *entry = &h->budgets[i];
    const uint64_t capacity = layout->members[entry->node][entry->member].capacities[entry->bound];
    if (h->needed_max[entry->word] > capacity) return 1;
  }
  return 0;
}

/* Requires the lock. */
static void ask(struct sl_replan *r, uint32_t reason, uint64_t events) {
  const struct sl_layout *now = newest_of(r);
  struct sl_budgets budgets;
  if (sl_budgets_open(&budgets, r->setup->graph, &now->budgets) < 0) return;
  learn(r, &budgets, reason == SL_PLAN_SHRUNK);
  if (memcmp(budgets.values, now->budgets.values, budgets.count * sizeof *budgets.values) == 0) {
    sl_budgets_close(&budgets); /* other capacities decide, or a budget is at its maximum */
    return;
  }
  if (!r->thread.is_started && sl_thread_start(&r->thread, run_planner, r) != 0) {
    sl_budgets_close(&budgets);
    sl_diagnose(r->setup->diagnostics, SL_WARNING, NULL, NULL, NULL, "no thread could be started for new memory plans");
    r->is_off = 1;
    return;
  }
  r->request = (struct sl_replan_request){budgets, reason, events};
  r->is_asked = 1;
  pthread_cond_broadcast(&r->changed);
}

void sl_replan_consider(struct sl_replan *r, uint64_t events) {
  if (r->setup->replan == SL_REPLAN_OFF) return;
  pthread_mutex_lock(&r->lock);
  const int is_busy = r->is_asked || r->is_planning || r->has_ended || r->is_off;
  if (!is_busy && r->refused_bytes == 0 && has_overflowed(r, newest_of(r))) {
    ask(r, SL_PLAN_GROWN, events);
  } else if (!is_busy && r->setup->replan == SL_REPLAN_ON && r->history->whole_slices >= r->next_shrink) {
    r->next_shrink = 2 * r->history->whole_slices;
    ask(r, SL_PLAN_SHRUNK, events);
  }
  pthread_mutex_unlock(&r->lock);
}

void sl_replan_settle(struct sl_replan *r, uint64_t events) {
  int is_busy = 1;
  while (is_busy) {
    sl_replan_consider(r, events);
    pthread_mutex_lock(&r->lock);
    is_busy = r->is_asked || r->is_planning;
    while (r->is_asked || r->is_planning) pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
  }
}

/* ------------------------------------------------------------------------------------------------ slots */

int sl_replan_is_due(const struct sl_slot *slot) {
  const struct sl_layout *newest = newest_of(slot->replan);
  return newest != slot->layout && newest != slot->refused;
}

void sl_replan_adopt(struct sl_slot *slot) {
  const struct sl_layout *newest = newest_of(slot->replan);
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_REPLAN);
  const int status = sl_slot_adopt(slot, newest);
  sl_scope_end_span(slot, scope, sl_activity_name(SL_ACTIVITY_REPLAN), "plan", newest->plan);
  if (status == SL_OK) return;
  slot->refused = newest;
  char size[32];
  sl_memory_text(newest->arena_bytes, size, sizeof size);
  sl_diagnose_often(slot->setup->diagnostics, SL_WARNING, NULL, NULL, "limit the arenas with --memory", "no memory",
                    "slot %u keeps its memory plan: there is no memory for an arena of %s", slot->index, size);
}

/* ------------------------------------------------------------------------------------------------ the run */

void sl_replan_open(struct sl_replan *r, struct sl_setup *setup, struct sl_overflow_history *history) {
  r->setup = setup;
  r->history = history;
  r->has_ended = r->is_off = 0;
  r->refused_bytes = 0;
  r->next_shrink = FIRST_SHRINK;
  atomic_store(&r->newest, setup->layout);
}

void sl_replan_end(struct sl_replan *r) {
  pthread_mutex_lock(&r->lock);
  r->has_ended = 1;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  sl_thread_join(&r->thread);
  if (r->is_asked) sl_budgets_close(&r->request.budgets);
  r->is_asked = 0;
}

void sl_replan_close(struct sl_replan *r) {
  for (uint32_t i = 0; i < r->layout_count; i++) {
    sl_layout_free(r->layouts[i]);
    free((void *)r->changes[i].budgets);
  }
  free(r->layouts);
  free(r->changes);
  atomic_store(&r->newest, NULL);
  r->layouts = NULL;
  r->changes = NULL;
  r->layout_count = 0;
}

int sl_replan_write_budgets(const struct sl_replan *r, uint64_t events, FILE *file) {
  const struct sl_graph *g = r->setup->graph;
  struct sl_budgets learned;
  uint32_t count = 0;
  if (sl_budgets_open(&learned, g, NULL) < 0) return SL_ENOMEM;
  memset(learned.values, 0, learned.count * sizeof *learned.values);
  learn(r, &learned, 0);
  fprintf(file,
          "# Budgets that %" PRIu64
          " events needed, with an eighth more, for slices of %u events: use them with --with.\n",
          events, r->setup->slice_events);
  fprintf(file, "sluice: 1\nbudgets:");
  for (uint32_t n = 0; n < g->node_count; n++)
    for (uint32_t m = 0; m < g->nodes[n].algorithm->member_count; m++) {
      const uint32_t value = *sl_budget(&learned, n, m);
      if (value == 0) continue;
      fprintf(file, "%s  %s.%s: %u\n", count++ == 0 ? "\n" : "", g->nodes[n].name,
              g->nodes[n].algorithm->members[m].name, value);
    }
  if (count == 0) fprintf(file, " {}\n");
  sl_budgets_close(&learned);
  return ferror(file) ? SL_EIO : SL_OK;
}
