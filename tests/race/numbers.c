/* numbers.c: the events of the zoo: 16 events with 40 to 89 numbers each. */
#include "zoo.h"

#include <sluice/plugin.h>

enum { EVENTS = 16 };

struct numbers_source_args {
  struct zoo_numbers numbers;
};
#undef SL_ARGS
#define SL_ARGS numbers_source_args
static const struct sl_member numbers_source_members[] = {
    SL_OUT(numbers, zoo_numbers, "numbers", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(ZOO_ITEMS_MAX, 0)))),
};

struct state {
  uint32_t next;
};

static int open_numbers(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)state, (void)s, (void)args, (void)inputs;
  return SL_OK;
}

static int fill_numbers(void *state, const struct sl_services *s, const void *args, struct sl_fill *f) {
  const struct numbers_source_args *a = args;
  struct state *at = state;
  uint32_t to = 0;
  (void)s;
  a->numbers.offsets[0] = 0;
  for (; at->next < EVENTS && f->event_count < f->events_max; at->next++) {
    const uint32_t length = 40 + at->next * 7 % 50;
    f->events[f->event_count] = (struct sl_event){.number = at->next, .run = 1};
    for (uint32_t k = 0; k < length; k++, to++) {
      if (a->numbers.value) a->numbers.value[to] = at->next * 1000 + k;
      if (a->numbers.tag) a->numbers.tag[to] = (uint8_t)k;
    }
    a->numbers.offsets[++f->event_count] = to;
  }
  if (a->numbers.bound.used) *a->numbers.bound.used = to;
  return at->next < EVENTS;
}

static void close_numbers(void *state) { (void)state; }

static const struct sl_source functions = {.open = open_numbers, .fill = fill_numbers, .close = close_numbers};
SL_SOURCE(numbers_source, "numbers for the zoo", struct state, functions);
