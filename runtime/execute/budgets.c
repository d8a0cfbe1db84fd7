/* budgets.c: what is learned where an output overflowed its budget.
 *
 * A slice that wanted more than there is room for runs again in as many parts as should fit. Slices that are read later
 * are closed as early: at a part of the largest slice, so that a whole number of them makes one, and later again when a
 * row of slices has shown that fewer parts would do. Slices that are kept for --repeat are as they were read: each
 * remembers in how many parts it fits. None of that changes a result.
 *
 * What a whole slice would have wanted is summed from the parts as they are delivered, in input order; from the most
 * follows the value of the budget with which nothing would have overflowed. Where the source closes slices by its own
 * budgets, it is not known at which event it would have, and the value has some room.
 */
#include "layout/bind.h"
#include "execute/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROOM = 16,    /* a part should leave one in so many of the room empty, since events differ */
  PATIENCE = 16 /* so many slices with room for fewer parts, in a row, make parts fewer, by a quarter */
};

static uint32_t parts_of(uint64_t used, uint64_t capacity) {
  const uint64_t room = capacity - capacity / ROOM;
  const uint64_t parts = room > 0 ? (used + room - 1) / room : UINT32_MAX;
  return parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
}

uint32_t sl_budget_overflowed(struct sl_slot *slot, struct sl_input *input, uint32_t count, uint64_t used,
                              uint64_t capacity) {
  struct sl_session *s = slot->session;
  const uint32_t events = count > 0 ? count : 1;
  uint32_t parts = parts_of(used, capacity);
  if (parts < 2) parts = 2;
  if (parts > events) parts = events;
  const uint32_t size = (events - 1) / parts + 1; /* of a part */
  const uint32_t of_input = (input->event_count + size - 1) / size;
  uint32_t before = atomic_load(&input->parts);
  while (before < of_input && !atomic_compare_exchange_weak(&input->parts, &before, of_input)) continue;
  pthread_mutex_lock(&s->turns.lock);
  struct sl_learned *learned = &s->learned;
  const uint32_t of_slice = (s->slice_events + size - 1) / size;
  if (learned->parts < of_slice) learned->parts = of_slice;
  learned->calm = 0;
  pthread_mutex_unlock(&s->turns.lock);
  return size;
}

/* The fewest parts of the largest slice that this part would have been small enough for. */
static uint32_t parts_enough(const struct sl_slot *slot, uint32_t count) {
  const struct sl_session *s = slot->session;
  uint32_t parts = 1;
  for (uint32_t b = 0; b < s->statistics.summary.budget_count; b++) {
    const uint64_t used = slot->used_seen[s->statistics.budget_places[b].word];
    const uint32_t wanted = parts_of(used * s->slice_events / count, s->statistics.budgets[b].capacity);
    if (wanted > parts) parts = wanted;
  }
  return parts;
}

void sl_budget_fits(struct sl_slot *slot, uint32_t count) {
  struct sl_session *s = slot->session;
  struct sl_learned *learned = &s->learned;
  pthread_mutex_lock(&s->turns.lock);
  if (learned->parts > 1) {
    learned->calm = parts_enough(slot, count) < learned->parts ? learned->calm + 1 : 0;
    if (learned->calm == PATIENCE) {
      learned->calm = 0;
      learned->parts -= (learned->parts + 3) / 4;
      if (learned->parts == 0) learned->parts = 1;
    }
  }
  pthread_mutex_unlock(&s->turns.lock);
}

uint32_t sl_budget_slice_events(struct sl_session *s) {
  pthread_mutex_lock(&s->turns.lock);
  const uint32_t parts = s->learned.parts > 1 ? s->learned.parts : 1;
  pthread_mutex_unlock(&s->turns.lock);
  const uint32_t size = (s->slice_events + parts - 1) / parts;
  const uint32_t to_whole = s->slice_events - (uint32_t)(s->reading.events % s->slice_events);
  return parts > 1 && to_whole < size ? to_whole : size;
}

/* --------------------------------------------------------------------------------------------- what it takes */

static uint32_t raw_count(const struct sl_session *s) {
  return SL_BOUNDS_MAX * s->graph->nodes[s->graph->source].algorithm->member_count;
}

int sl_budgets_open(struct sl_session *s) {
  struct sl_learned *l = &s->learned;
  l->window = calloc(s->layout->used_count + 1, sizeof *l->window);
  l->slice = calloc(s->layout->used_count + 1, sizeof *l->slice);
  l->wanted_max = calloc(s->layout->used_count + 1, sizeof *l->wanted_max);
  l->raw = calloc(raw_count(s) + 1, sizeof *l->raw);
  return l->window && l->slice && l->wanted_max && l->raw ? SL_OK : SL_ENOMEM;
}

void sl_budgets_close(struct sl_session *s) {
  free(s->learned.window);
  free(s->learned.slice);
  free(s->learned.wanted_max);
  free(s->learned.raw);
}

/* Adds a slice's input to the window; says whether the source would have closed a whole slice within it. */
static uint32_t add_raw(struct sl_session *s, const struct sl_input *input) {
  uint32_t is_over = 0;
  for (uint32_t i = 0; i < raw_count(s); i++) {
    const struct sl_slot_member *m = &s->layout->members[s->graph->source][i / SL_BOUNDS_MAX];
    s->learned.raw[i] += input->used[i];
    is_over |= m->used[i % SL_BOUNDS_MAX] != UINT32_MAX && s->learned.raw[i] > m->capacities[i % SL_BOUNDS_MAX];
  }
  return is_over;
}

/* A window holds what a whole slice would. A slice that goes over its end counts for the next one too. */
static void begin_slice(struct sl_session *s, const struct sl_input *input) {
  struct sl_learned *l = &s->learned;
  const uint64_t bytes = s->layout->used_count * sizeof *l->window;
  if (input->is_whole || l->is_full || l->is_over) {
    if (l->is_over && !input->is_whole)
      memcpy(l->window, l->slice, bytes);
    else
      memset(l->window, 0, bytes);
    memset(l->raw, 0, raw_count(s) * sizeof *l->raw);
    l->window_events = 0;
  }
  memset(l->slice, 0, bytes);
  l->window_events += input->event_count;
  l->is_full = input->is_whole || l->window_events >= s->slice_events;
  l->is_over = add_raw(s, input) && !input->is_whole;
  l->is_ever_over |= l->is_over;
}

void sl_budgets_delivered(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty) {
  struct sl_session *s = slot->session;
  struct sl_learned *l = &s->learned;
  if (first == 0) begin_slice(s, input);
  for (uint32_t w = 0; !empty && w < s->layout->used_count; w++) {
    l->slice[w] += slot->used_seen[w];
    l->window[w] += slot->used_seen[w];
    if (l->window[w] > l->wanted_max[w]) l->wanted_max[w] = l->window[w];
  }
}

/* The term of a capacity that is a budget. */
static const struct sl_term *budget_term(const struct sl_capacity *capacity) {
  for (uint32_t t = 0; t < SL_TERMS_MAX; t++)
    if (capacity->terms[t].kind == SL_TERM_BUDGET) return &capacity->terms[t];
  return NULL;
}

void sl_budget_advise(const struct sl_session *s, const struct sl_budget_place *place, struct sl_budget_summary *b) {
  const struct sl_node *node = &s->graph->nodes[place->node];
  const struct sl_term *term = budget_term(place->capacity);
  if (b->wanted_max <= b->capacity || !term) return;
  const double wanted = (double)b->wanted_max * term->divide / ((double)s->slice_events * term->multiply);
  const double value = ceil(s->learned.is_ever_over ? wanted + wanted / ROOM : wanted);
  const int m = sl_member_index(node->algorithm, term->of);
  if (m >= 0 && value <= node->algorithm->members[m].maximum) {
    snprintf(b->advice, sizeof b->advice, "--set %s.%s=%.0f", node->name, term->of, value);
    return;
  }
  const uint64_t events = b->capacity * s->slice_events / b->wanted_max;
  snprintf(b->advice, sizeof b->advice, "--slice-events %llu", (unsigned long long)(events > 0 ? events : 1));
}
