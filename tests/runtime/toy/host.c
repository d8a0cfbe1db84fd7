/* host.c: a source that makes events from their number, and a sink that checks their order. */
#include "numbers.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { STEP_US = 2000, STEP_TRIES = 2000 };

static atomic_uint_fast64_t toy_delivered; /* events that the sink has seen since a source was last opened */

struct source_args {
  struct toy_numbers numbers;
  uint64_t events;
  uint32_t bad_every, fail_after, stall_after, idle, in_step, claim;
};
#define SL_ARGS source_args
static const struct sl_member source_members[] = {
    SL_OUT(numbers, toy_numbers, "numbers", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(13, 0)))),
    SL_U64(events, 100, 0, 100000000, "", "number of events"),
    SL_U32(bad_every, 0, 0, 1000000, "", "one of this many events is corrupt; 0: none"),
    SL_U32(fail_after, 0, 0, 1000000, "", "fails after this many events; 0: never"),
    SL_U32(stall_after, 0, 0, 1000000, "", "blocks for a minute after this many events; 0: never"),
    SL_U32(idle, 0, 0, 1000000, "", "number of calls without events after each call with events"),
    SL_U32(in_step, 0, 0, 1, "", "waits until the sink has seen all earlier events"),
    SL_U32(claim, 0, 0, 1000000, "", "reports this many events more than a slice may have"),
};
#undef SL_ARGS

struct source_state {
  uint64_t next, idle, waits;
};

static int source_open(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)state, (void)s, (void)args, (void)inputs;
  atomic_store(&toy_delivered, 0);
  return SL_OK;
}

/* Returns 1 if the sink has seen all events of the source, 0 if not yet, SL_EIO after STEP_TRIES calls. */
static int is_in_step(struct source_state *source, const struct sl_services *s) {
  if (atomic_load(&toy_delivered) == source->next)
    source->waits = 0;
  else if (++source->waits == STEP_TRIES) {
    s->message(s->context, SL_ERROR, "events before %llu are not delivered", (unsigned long long)source->next);
    return SL_EIO;
  } else
    usleep(STEP_US);
  return source->waits == 0;
}

static int source_fill(void *state, const struct sl_services *s, const void *arguments, struct sl_fill *fill) {
  struct source_state *source = state;
  const struct source_args *a = arguments;
  uint32_t items = 0;
  if (a->numbers.offsets) a->numbers.offsets[0] = 0;
  if (a->stall_after && source->next == a->stall_after) sleep(60);
  if (source->idle > 0) {
    source->idle--;
    return 1;
  }
  source->idle = a->idle;
  const int is_ready = a->in_step ? is_in_step(source, s) : 1;
  if (is_ready <= 0) return is_ready < 0 ? is_ready : 1;
  while (fill->event_count < fill->events_max && source->next < a->events) {
    const uint64_t number = source->next;
    if (a->fail_after && number == a->fail_after) {
      s->message(s->context, SL_ERROR, "the toy source fails at event %llu", (unsigned long long)number);
      return SL_EIO;
    }
    const uint32_t bad = a->bad_every && number % a->bad_every == a->bad_every - 1;
    const uint32_t count = bad ? 0 : toy_count(number);
    if (items + count > a->numbers.bound.capacity) return 1;
    for (uint32_t i = 0; a->numbers.value && i < count; i++) a->numbers.value[items + i] = toy_value(number, i);
    items += count;
    fill->events[fill->event_count] = (struct sl_event){
        .number = number, .offset = 100 * number, .run = 7, .error = bad ? SL_EVENT_CORRUPT : SL_EVENT_OK};
    fill->event_count++;
    if (a->numbers.offsets) a->numbers.offsets[fill->event_count] = items;
    source->next++;
    *a->numbers.bound.used = items;
  }
  fill->progress_done = source->next;
  fill->progress_total = a->events;
  if (a->claim) fill->event_count = fill->events_max + a->claim;
  return source->next < a->events;
}

static void source_close(void *state) { (void)state; }

/* Accepts files that begin with `toy` and a line break; the rest is not read. */
static int source_probe(const unsigned char *bytes, size_t count) {
  return count >= 4 && memcmp(bytes, "toy\n", 4) == 0;
}

static const struct sl_source toy_source = {
    .open = source_open, .fill = source_fill, .close = source_close, .probe = source_probe};
SL_SOURCE(source, "events made from their number", struct source_state, toy_source);

struct order_args {
  struct toy_numbers_view numbers;
  uint32_t modulus;
};
#define SL_ARGS order_args
static const struct sl_member order_members[] = {
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_U32(modulus, 0, 0, 1000, "", "expects good events with a number of values divisible by modulus; 0: all events"),
};
#undef SL_ARGS

struct order_state {
  uint64_t next, events, wrong, errors;
};

static int order_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)state, (void)s, (void)args, (void)output_path;
  return SL_OK;
}

static int order_consume(void *state, const struct sl_services *s, const void *arguments,
                         const struct sl_batch *batch) {
  (void)s;
  struct order_state *o = state;
  const struct order_args *a = arguments;
  SL_FOR_BATCH (e, batch) {
    const struct sl_event *event = &batch->events[e];
    const uint32_t first = a->numbers.offsets[e], count = a->numbers.offsets[e + 1] - first;
    o->wrong += a->modulus ? event->number < o->next || event->error || toy_count(event->number) % a->modulus
                           : event->number != o->next;
    o->next = event->number + 1;
    o->events++;
    atomic_fetch_add(&toy_delivered, 1);
    o->errors += event->error != 0;
    if (event->error == SL_EVENT_CORRUPT) {
      o->wrong += count != 0;
      continue;
    }
    o->wrong += count != toy_count(event->number);
    for (uint32_t i = 0; i < count; i++) o->wrong += a->numbers.value[first + i] != toy_value(event->number, i);
  }
  return SL_OK;
}

static int order_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  (void)s;
  const struct order_state *o = state;
  report->integer(report->context, "events", (int64_t)o->events);
  report->integer(report->context, "wrong", (int64_t)o->wrong);
  report->integer(report->context, "errors", (int64_t)o->errors);
  report->line(report->context, "events %llu wrong %llu errors %llu", (unsigned long long)o->events,
               (unsigned long long)o->wrong, (unsigned long long)o->errors);
  return SL_OK;
}

static const struct sl_sink toy_order = {.open = order_open, .consume = order_consume, .finish = order_finish};
SL_SINK(order, "checks that events come in the order of their numbers, with their values", struct order_state,
        toy_order);

struct paint_args {
  struct toy_numbers_view numbers;
  uint64_t fail_at, long_at, bytes;
};
#define SL_ARGS paint_args
static const struct sl_member paint_members[] = {
    SL_IN(numbers, toy_numbers, "offsets", "numbers"),
    SL_U64(fail_at, 0, 0, 100000000, "", "fails to draw this event; 0: none"),
    SL_U64(long_at, 0, 0, 100000000, "", "draws this event with more bytes than a text may have; 0: none"),
    SL_U64(bytes, 0, 0, 100000000, "", "draws nothing if it is 1, else at least so many bytes"),
};
#undef SL_ARGS

struct paint_state {
  uint64_t batches, drawn;
  uint32_t draws;
};

static int paint_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  struct paint_state *p = state;
  (void)args, (void)batch;
  p->batches++;
  p->draws = s->draws;
  return SL_OK;
}

static int paint_draw(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                      uint32_t event, const struct sl_text_calls *to) {
  const struct paint_args *a = args;
  struct paint_state *p = state;
  const uint64_t number = batch->events[event].number;
  char blanks[1024];
  memset(blanks, ' ', sizeof blanks);
  (void)s;
  if (p->batches == 0 || (a->fail_at && number == a->fail_at)) return SL_EFORMAT;
  if (a->bytes == 1) return SL_OK;
  p->drawn++;
  to->print(to->context, "<svg>event %llu: %u numbers", (unsigned long long)number,
            a->numbers.offsets[event + 1] - a->numbers.offsets[event]);
  const uint64_t bytes = a->long_at && number == a->long_at ? SL_TEXT_BYTES_MAX : a->bytes;
  for (uint64_t i = 0; i < bytes; i += sizeof blanks) to->add(to->context, blanks, sizeof blanks);
  return to->add(to->context, "</svg>", 6);
}

static int paint_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct paint_state *p = state;
  (void)s;
  report->integer(report->context, "drawn", (int64_t)p->drawn);
  report->integer(report->context, "draws", p->draws);
  return SL_OK;
}

static const struct sl_sink toy_paint = {.consume = paint_consume, .finish = paint_finish, .draw = paint_draw};
SL_SINK(paint, "draws the number of an event and how many values it has", struct paint_state, toy_paint);

struct steps_args {
  struct toy_steps steps;
  int32_t values[2];
};
#define SL_ARGS steps_args
static const struct sl_member steps_members[] = {
    SL_OUT(steps, toy_steps, "the property `values`"),
    SL_I32_ARRAY(values, 2, "[1, -1]", -50, 50, "", "the steps"),
};
#undef SL_ARGS

static int steps_make(const struct sl_services *s, const struct steps_args *a) {
  int32_t *step = s->make_array(s->context, "steps", "step", 2);
  if (!step) return SL_ENOMEM;
  step[0] += a->values[0]; /* zeroed */
  step[1] += a->values[1];
  return SL_OK;
}
SL_CONSTANT(steps, "two steps", steps_make);
