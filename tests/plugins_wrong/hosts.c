/* hosts.c: a correct source of numbers; faulty sources, a faulty sink and a faulty constant. */
#include "wrong.h"

#define EVENTS 100u

struct numbers_args {
  struct wrong_numbers numbers;
  uint32_t numbers_per_event;
};
#define SL_ARGS numbers_args
#define SOURCE_MEMBERS(name)                                          \
  static const struct sl_member name##_members[] = {                  \
      SL_OUT(numbers, wrong_numbers, "up to seven numbers per event", \
             SL_ITEMS(SL_ONE(SL_BUDGET_TERM(numbers_per_event, 8)))), \
      SL_BUDGET(numbers_per_event, 8, 1, 100, "numbers"),             \
  };
#define numbers_source_args  numbers_args
#define drifting_source_args numbers_args
#define greedy_source_args   numbers_args

struct state {
  uint32_t next, drift;
};
static uint32_t openings;

static int open_numbers(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)s, (void)args, (void)inputs;
  ((struct state *)state)->drift = openings++;
  return SL_OK;
}
static void close_numbers(void *state) { (void)state; }

static uint32_t length_of(uint32_t event) { return (event * 5 + 2) % 8; }

static int fill(struct state *s, const struct numbers_args *a, struct sl_fill *f, uint32_t capacity, uint32_t drift) {
  struct wrong_numbers n = a->numbers;
  uint32_t to = 0;
  if (n.offsets) n.offsets[0] = 0;
  for (; s->next < EVENTS && f->event_count < f->events_max; s->next++) {
    const uint32_t length = length_of(s->next);
    if (to + length > capacity) break;
    f->events[f->event_count] = (struct sl_event){.number = s->next, .run = 1};
    for (uint32_t k = 0; k < length; k++, to++) {
      if (n.value) n.value[to] = (float)(s->next * 10 + k + drift);
      if (n.tag) n.tag[to] = k;
    }
    if (n.number) n.number[f->event_count] = s->next;
    if (n.offsets) n.offsets[++f->event_count] = to;
  }
  if (n.bound.used) *n.bound.used = to;
  return s->next < EVENTS;
}

static int fill_numbers(void *state, const struct sl_services *s, const void *args, struct sl_fill *f) {
  const struct numbers_args *a = args;
  (void)s;
  return fill(state, a, f, a->numbers.bound.capacity, 0);
}
static const struct sl_source numbers_source_functions = {
    .open = open_numbers, .fill = fill_numbers, .close = close_numbers};
SOURCE_MEMBERS(numbers_source)
SL_SOURCE(numbers_source, "correct source of numbers", struct state, numbers_source_functions);

/* Makes different numbers each time that it is opened. */
static int fill_drifting(void *state, const struct sl_services *s, const void *args, struct sl_fill *f) {
  const struct numbers_args *a = args;
  (void)s;
  return fill(state, a, f, a->numbers.bound.capacity, ((struct state *)state)->drift);
}
static const struct sl_source drifting_source_functions = {
    .open = open_numbers, .fill = fill_drifting, .close = close_numbers};
SOURCE_MEMBERS(drifting_source)
SL_SOURCE(drifting_source, "makes different numbers each time", struct state, drifting_source_functions);

/* Ignores the capacity. */
static int fill_greedy(void *state, const struct sl_services *s, const void *args, struct sl_fill *f) {
  (void)s;
  return fill(state, args, f, UINT32_MAX, 0);
}
static const struct sl_source greedy_source_functions = {
    .open = open_numbers, .fill = fill_greedy, .close = close_numbers};
SOURCE_MEMBERS(greedy_source)
SL_SOURCE(greedy_source, "makes more numbers than the capacity", struct state, greedy_source_functions);

/* Reports the number of slices. */
struct slice_sink_args {
  struct wrong_kept_view kept;
};
#undef SL_ARGS
#define SL_ARGS slice_sink_args
static const struct sl_member slice_sink_members[] = {
    SL_IN(kept, wrong_kept, "offsets", "any"),
};
static int open_sink(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)state, (void)s, (void)args, (void)output_path;
  return SL_OK;
}
static int consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  (void)s, (void)args, (void)batch;
  ((struct state *)state)->next++;
  return SL_OK;
}
static int finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  (void)s;
  report->integer(report->context, "slices", ((struct state *)state)->next);
  return SL_OK;
}
static const struct sl_sink slice_sink_functions = {.open = open_sink, .consume = consume, .finish = finish};
SL_SINK(slice_sink, "counts slices", struct state, slice_sink_functions);

/* Its drawing is not well-formed. */
#define bad_markup_args slice_sink_args
static const struct sl_member bad_markup_members[] = {
    SL_IN(kept, wrong_kept, "offsets", "any"),
};
static int draw_badly(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                      uint32_t event, const struct sl_text_calls *to) {
  (void)state, (void)s, (void)args;
  to->print(to->context, "<svg>\n<text>event %u</svg>\n", (uint32_t)batch->events[event].number);
  return SL_OK;
}
static const struct sl_sink bad_markup_functions = {.consume = consume, .draw = draw_badly};
SL_SINK(bad_markup, "draws an element that does not end", struct state, bad_markup_functions);

/* Draws another event each time. */
#define drifting_drawing_args slice_sink_args
static const struct sl_member drifting_drawing_members[] = {
    SL_IN(kept, wrong_kept, "offsets", "any"),
};
static int draw_count(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                      uint32_t event, const struct sl_text_calls *to) {
  static uint32_t drawn;
  (void)state, (void)s, (void)args, (void)batch, (void)event;
  to->print(to->context, "<svg>\n<text>drawing %u</text>\n</svg>\n", drawn++);
  return SL_OK;
}
static const struct sl_sink drifting_drawing_functions = {.consume = consume, .draw = draw_count};
SL_SINK(drifting_drawing, "counts its drawings", struct state, drifting_drawing_functions);

/* Cannot draw. */
#define no_drawing_args slice_sink_args
static const struct sl_member no_drawing_members[] = {
    SL_IN(kept, wrong_kept, "offsets", "any"),
};
static int draw_nothing(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                        uint32_t event, const struct sl_text_calls *to) {
  (void)state, (void)s, (void)args, (void)batch, (void)event, (void)to;
  return SL_EFORMAT;
}
static const struct sl_sink no_drawing_functions = {.consume = consume, .draw = draw_nothing};
SL_SINK(no_drawing, "fails to draw", struct state, no_drawing_functions);

/* Counts how often it is made. */
struct counted_args {
  struct wrong_table table;
};
#undef SL_ARGS
#define SL_ARGS counted_args
static const struct sl_member counted_members[] = {SL_OUT(table, wrong_table, "one entry")};
static int make(const struct sl_services *s, const struct counted_args *a) {
  static uint32_t made;
  (void)a;
  uint32_t *entry = s->make_array(s->context, "table", "entry", 1);
  if (!entry) return SL_ENOMEM;
  *entry = made++;
  return SL_OK;
}
SL_CONSTANT(counted, "counts how often it is made", make);
