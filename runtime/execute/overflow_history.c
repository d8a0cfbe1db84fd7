/* overflow_history.c: history of output overflows, and the slice size that follows from it.
 *
 * A slice that exceeds a budget is run again in as many parts as should fit. Later slices are closed at that size: a
 * whole number of them makes one slice of the largest size. They grow again after a number of consecutive slices for
 * which fewer parts would have been enough. Slices kept for --repeat are not split; each stores the number of parts it
 * needs. Results do not change.
 *
 * The counts that a whole slice would have needed are summed over the delivered parts, in input order. Their maximum
 * gives the budget that would have prevented all overflows. If the source closes slices by budgets of its own, the end
 * of a whole slice is not known, and a margin is added.
 */
#include "execute/overflow_history.h"

#include "base/memory.h"
#include "layout/bind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MARGIN = 16,  /* 1/16 of a budget should stay empty, because events differ */
  PATIENCE = 16 /* the number of parts falls by a quarter after this many consecutive slices with room for fewer */
};

static uint32_t parts_of(uint64_t used, uint64_t capacity) {
  const uint64_t room = capacity - capacity / MARGIN;
  const uint64_t parts = room > 0 ? (used + room - 1) / room : UINT32_MAX;
  return parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
}

static void note_results(const struct sl_setup *s, const struct sl_overflow *o) {
  char needed[32], there[32];
  sl_memory_text(o->used, needed, sizeof needed);
  sl_memory_text(o->capacity, there, sizeof there);
  sl_diagnose(s->diagnostics, SL_NOTE, NULL, NULL,
              "the memory for results does not change during a run: start with larger budgets, see --save-budgets",
              "the results of %u events need %s of pinned memory, and a slice has %s: slices are run in parts",
              o->count, needed, there);
}

uint32_t sl_overflow_occurred(struct sl_overflow_history *h, struct sl_input *input, const struct sl_overflow *o) {
  const uint32_t events = o->count > 0 ? o->count : 1;
  uint32_t parts = parts_of(o->used, o->capacity);
  if (parts < 2) parts = 2;
  if (parts > events) parts = events;
  const uint32_t size = (events - 1) / parts + 1; /* events per part */
  const uint32_t of_input = (input->event_count + size - 1) / size;
  uint64_t before = atomic_load(&input->parts);
  const uint64_t needed = (uint64_t)o->plan << 32 | of_input; /* a later plan replaces the number of an earlier one */
  while (before < needed && !atomic_compare_exchange_weak(&input->parts, &before, needed)) continue;
  pthread_mutex_lock(&h->lock);
  const uint32_t of_slice = (h->setup->slice_events + size - 1) / size;
  if (o->plan == h->plan && h->parts < of_slice) h->parts = of_slice;
  h->slices_without_overflow = 0;
  const int is_first_of_results = o->word == h->setup->layout->used_count && h->overflows[o->word] == 0;
  h->overflows[o->word]++;
  pthread_mutex_unlock(&h->lock);
  if (is_first_of_results) note_results(h->setup, o);
  return size;
}

uint32_t sl_overflow_parts(struct sl_input *input, uint32_t plan) {
  const uint64_t parts = atomic_load(&input->parts);
  return parts >> 32 == plan && (uint32_t)parts > 1 ? (uint32_t)parts : 1;
}

void sl_overflow_replanned(struct sl_overflow_history *h, const struct sl_layout *layout) {
  pthread_mutex_lock(&h->lock);
  h->plan = layout->plan;
  h->parts = 0;
  h->slices_without_overflow = 0;
  for (uint32_t b = 0; b < h->budget_count; b++) {
    struct sl_budget_entry *entry = &h->budgets[b];
    entry->items = layout->members[entry->node][entry->member].capacities[entry->bound];
  }
  pthread_mutex_unlock(&h->lock);
}

/* The smallest number of parts of the largest slice with which a part with these used words would have fitted. */
static uint32_t parts_enough(const struct sl_overflow_history *h, const uint32_t *used, uint32_t count) {
  uint32_t parts = 1;
  for (uint32_t b = 0; b < h->budget_count; b++) {
    const uint64_t of_slice = (uint64_t)used[h->budgets[b].word] * h->setup->slice_events / count;
    const uint32_t needed = parts_of(of_slice, h->budgets[b].items);
    if (needed > parts) parts = needed;
  }
  return parts;
}

void sl_overflow_absent(struct sl_overflow_history *h, const uint32_t *used, uint32_t count) {
  pthread_mutex_lock(&h->lock);
  if (h->parts > 1) {
    h->slices_without_overflow = parts_enough(h, used, count) < h->parts ? h->slices_without_overflow + 1 : 0;
    if (h->slices_without_overflow == PATIENCE) {
      h->slices_without_overflow = 0;
      h->parts -= (h->parts + 3) / 4;
      if (h->parts == 0) h->parts = 1;
    }
  }
  pthread_mutex_unlock(&h->lock);
}

uint32_t sl_overflow_slice_events(struct sl_overflow_history *h, uint64_t events) {
  const uint32_t whole = h->setup->slice_events;
  pthread_mutex_lock(&h->lock);
  const uint32_t parts = h->parts > 1 ? h->parts : 1;
  pthread_mutex_unlock(&h->lock);
  const uint32_t size = (whole + parts - 1) / parts, to_whole = whole - (uint32_t)(events % whole);
  return parts > 1 && to_whole < size ? to_whole : size;
}

/* --------------------------------------------------------------------------------------------- what it takes */

static uint32_t raw_count(const struct sl_setup *s) {
  return SL_BOUNDS_MAX * s->graph->nodes[s->graph->source].algorithm->member_count;
}

/* Adds the bounds of kernel outputs that `used` words count and scans fill. */
static void open_budgets(struct sl_overflow_history *h, uint32_t n) {
  const struct sl_algorithm *a = h->setup->graph->nodes[n].algorithm;
  for (uint32_t m = 0; a->kind == SL_KIND_KERNEL && m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    const struct sl_slot_member *at = &h->setup->layout->members[n][m];
    for (uint32_t bound = 0; bound < SL_BOUNDS_MAX; bound++) {
      const int has = bound > 0 || (!a->members[m].shares && sl_has_items(a->members[m].collection));
      if (!has || at->used[bound] == UINT32_MAX) continue;
      h->budgets[h->budget_count++] = (struct sl_budget_entry){
          at->used[bound], n, m, bound, at->capacities[bound], sl_bound_capacity(&a->members[m], bound)};
    }
  }
}

int sl_overflow_history_open(struct sl_overflow_history *h, const struct sl_setup *s) {
  const uint32_t words = s->layout->used_count + 1;
  h->setup = s;
  h->plan = h->parts = h->slices_without_overflow = h->budget_count = h->most_events = 0;
  h->is_full = h->is_over = h->is_ever_over = 0;
  h->whole_slices = h->window_events = 0;
  h->budgets = calloc(words, sizeof *h->budgets);
  h->overflows = calloc(words, sizeof *h->overflows);
  h->window = calloc(words, sizeof *h->window);
  h->slice = calloc(words, sizeof *h->slice);
  h->needed_max = calloc(words, sizeof *h->needed_max);
  h->scaled_max = calloc(words, sizeof *h->scaled_max);
  h->raw = calloc(raw_count(s) + 1, sizeof *h->raw);
  if (!h->budgets || !h->overflows || !h->window || !h->slice || !h->needed_max || !h->scaled_max || !h->raw)
    return SL_ENOMEM;
  for (uint32_t i = 0; i < s->graph->order_count; i++) open_budgets(h, s->graph->order[i]);
  return SL_OK;
}

void sl_overflow_history_close(struct sl_overflow_history *h) {
  free(h->budgets);
  free(h->overflows);
  free(h->window);
  free(h->slice);
  free(h->needed_max);
  free(h->scaled_max);
  free(h->raw);
  h->budgets = NULL;
  h->overflows = h->window = h->slice = h->needed_max = h->scaled_max = h->raw = NULL;
}

/* Adds the input of a slice to the window. Returns 1 if the source would have closed a whole slice within it. */
static uint32_t add_raw(struct sl_overflow_history *h, const struct sl_input *input) {
  const struct sl_setup *s = h->setup;
  uint32_t is_over = 0;
  for (uint32_t i = 0; i < raw_count(s); i++) {
    const struct sl_slot_member *m = &s->layout->members[s->graph->source][i / SL_BOUNDS_MAX];
    h->raw[i] += input->used[i];
    is_over |= m->used[i % SL_BOUNDS_MAX] != UINT32_MAX && h->raw[i] > m->capacities[i % SL_BOUNDS_MAX];
  }
  return is_over;
}

/* A window collects the counts of one whole slice. A slice that crosses its end also counts for the next window. */
static void begin_slice(struct sl_overflow_history *h, const struct sl_input *input) {
  const uint64_t bytes = h->setup->layout->used_count * sizeof *h->window;
  if (input->is_whole || h->is_full || h->is_over) {
    if (h->is_over && !input->is_whole)
      memcpy(h->window, h->slice, bytes);
    else
      memset(h->window, 0, bytes);
    memset(h->raw, 0, raw_count(h->setup) * sizeof *h->raw);
    h->window_events = 0;
  }
  memset(h->slice, 0, bytes);
  if (input->event_count > h->most_events) h->most_events = input->event_count;
  h->window_events += input->event_count;
  h->is_full = input->is_whole || h->window_events >= h->setup->slice_events;
  if (input->is_whole ? input->event_count == h->setup->slice_events : h->is_full) h->whole_slices++;
  h->is_over = add_raw(h, input) && !input->is_whole;
  h->is_ever_over |= h->is_over;
}

void sl_overflow_delivered(struct sl_overflow_history *h, const struct sl_input *input, uint32_t first,
                           const uint32_t *used) {
  if (first == 0) begin_slice(h, input);
  for (uint32_t w = 0; used && w < h->setup->layout->used_count; w++) {
    h->slice[w] += used[w];
    h->window[w] += used[w];
    if (h->window[w] > h->needed_max[w]) h->needed_max[w] = h->window[w];
    const uint64_t scaled = h->slice[w] * h->setup->slice_events / input->event_count;
    if (input->event_count >= h->setup->slice_events / 4 && scaled > h->scaled_max[w]) h->scaled_max[w] = scaled;
  }
}

int32_t sl_overflow_property(const struct sl_overflow_history *h, const struct sl_budget_entry *entry) {
  const struct sl_term *term = sl_budget_term(entry->capacity);
  return term ? sl_member_index(h->setup->graph->nodes[entry->node].algorithm, term->of) : SL_NONE;
}

uint64_t sl_overflow_value(const struct sl_overflow_history *h, const struct sl_budget_entry *entry, double items) {
  const struct sl_term *term = sl_budget_term(entry->capacity);
  return (uint64_t)ceil(items * term->divide / ((double)h->setup->slice_events * term->multiply));
}

void sl_overflow_advise(const struct sl_overflow_history *h, const struct sl_budget_entry *entry,
                        struct sl_budget_summary *b) {
  const struct sl_setup *s = h->setup;
  const struct sl_node *node = &s->graph->nodes[entry->node];
  const int32_t m = sl_overflow_property(h, entry);
  if (b->needed_max <= b->capacity || m == SL_NONE) return;
  const double needed = (double)b->needed_max;
  const uint64_t value = sl_overflow_value(h, entry, h->is_ever_over ? needed + needed / MARGIN : needed);
  if ((double)value <= node->algorithm->members[m].maximum) {
    snprintf(b->advice, sizeof b->advice, "--set %s.%s=%llu", node->name, node->algorithm->members[m].name,
             (unsigned long long)value);
    return;
  }
  const uint64_t events = b->capacity * s->slice_events / b->needed_max;
  snprintf(b->advice, sizeof b->advice, "--slice-events %llu", (unsigned long long)(events > 0 ? events : 1));
}
