/* host.c: constants, source and sink of the example plugin. */
#include "example.h"

#include <string.h>

/* weights: `count` weights, in steps of `step`. */
struct weights_args {
  struct example_weights weights;
  uint64_t count;
  double step;
  const char *label;
};
#define SL_ARGS weights_args
static const struct sl_member weights_members[] = {
    SL_OUT(weights, example_weights, "0, step, 2 step, ..."),
    SL_U64(count, 4, 0, 1000, "", "number of weights"),
    SL_F64(step, 0.5, 0.0, 10.0, "", "difference of neighbours"),
    SL_STRING(label, "none", "text of a message"),
};

static int weights_make(const struct sl_services *s, const struct weights_args *a) {
  if (a->count % 2) {
    s->message(s->context, SL_ERROR, "count must be even, not %llu", (unsigned long long)a->count);
    return SL_EINVAL;
  }
  double *weight = s->make_array(s->context, "weights", "weight", a->count);
  if (!weight) return SL_ENOMEM;
  for (uint64_t i = 0; i < a->count; i++) weight[i] = (double)i * a->step;
  s->message(s->context, SL_NOTE, "label %s", a->label);
  return SL_OK;
}
SL_CONSTANT(weights, "evenly spaced weights", weights_make);

/* chosen: three given weights, in forward or backward order. */
struct chosen_args {
  struct example_weights weights;
  double given[3];
  uint32_t order;
};
#undef SL_ARGS
#define SL_ARGS chosen_args
static const struct sl_member chosen_members[] = {
    SL_OUT(weights, example_weights, "the property `given`"),
    SL_F64_ARRAY(given, 3, "[1, 2.5, -3]", -10, 10, "", "the weights"),
    SL_ENUM(order, "forward", "order of the weights", "forward backward"),
};

static int chosen_make(const struct sl_services *s, const struct chosen_args *a) {
  double *weight = s->make_array(s->context, "weights", "weight", 3);
  if (!weight) return SL_ENOMEM;
  for (uint32_t i = 0; i < 3; i++) weight[i] = a->given[a->order ? 2 - i : i];
  return SL_OK;
}
SL_CONSTANT(chosen, "given weights", chosen_make);

/* doubled: made of another constant. */
struct doubled_args {
  struct example_weights_view weights;
  struct example_weights doubled;
};
#undef SL_ARGS
#define SL_ARGS doubled_args
static const struct sl_member doubled_members[] = {
    SL_IN(weights, example_weights, "", "any"),
    SL_OUT(doubled, example_weights, "weights times two"),
};

static int doubled_make(const struct sl_services *s, const struct doubled_args *a) {
  const uint64_t count = s->array_count(s->context, "weights", "weight");
  double *weight = s->make_array(s->context, "doubled", "weight", count);
  if (!weight) return SL_ENOMEM;
  for (uint64_t i = 0; i < count; i++) weight[i] = 2 * a->weights.weight[i];
  return SL_OK;
}
SL_CONSTANT(doubled, "twice the weights", doubled_make);

/* counter: a source of `total` events; event e has e % 4 numbers, e + 0.25 k with alternating sign. */
struct counter_args {
  struct example_numbers numbers;
  uint32_t total, per_event;
};
#undef SL_ARGS
#define SL_ARGS counter_args
static const struct sl_member counter_members[] = {
    SL_OUT(numbers, example_numbers, "e % 4 numbers in event e", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(per_event, 3)))),
    SL_U32(total, 100, 0, 1000000, "", "number of events"),
    SL_BUDGET(per_event, 3, 1, 100, "numbers"),
};
struct counter_state {
  uint64_t next;
};

static int counter_open(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)s, (void)args, (void)inputs;
  ((struct counter_state *)state)->next = 0;
  return SL_OK;
}

static int counter_fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  (void)s;
  struct counter_state *counter = state;
  const struct counter_args *a = args;
  uint32_t items = 0;
  if (a->numbers.offsets) a->numbers.offsets[0] = 0;
  for (; counter->next < a->total && fill->event_count < fill->events_max; counter->next++) {
    const uint32_t count = (uint32_t)(counter->next % 4);
    if (items + count > a->numbers.bound.capacity) break;
    for (uint32_t k = 0; k < count; k++) {
      const float value = (float)counter->next + 0.25f * (float)k;
      if (a->numbers.value) a->numbers.value[items + k] = k % 2 ? -value : value;
      if (a->numbers.tag) a->numbers.tag[items + k] = (uint8_t)k;
    }
    items += count;
    struct sl_event *event = &fill->events[fill->event_count++];
    memset(event, 0, sizeof(*event));
    event->number = counter->next;
    if (a->numbers.offsets) a->numbers.offsets[fill->event_count] = items;
  }
  if (a->numbers.bound.used) *a->numbers.bound.used = items;
  fill->progress_done = counter->next;
  fill->progress_total = a->total;
  return counter->next < a->total;
}

static void counter_close(void *state) { (void)state; }
static const struct sl_source counter_source = {.open = counter_open, .fill = counter_fill, .close = counter_close};
SL_SOURCE(counter, "counts", struct counter_state, counter_source);

/* tally: a sink that counts and sums. */
struct tally_args {
  struct example_numbers_view numbers;
  double scale;
};
#undef SL_ARGS
#define SL_ARGS tally_args
static const struct sl_member tally_members[] = {
    SL_IN(numbers, example_numbers, "offsets value", "any"),
    SL_F64(scale, 1.0, -10.0, 10.0, "", "factor of the sum"),
};
struct tally_state {
  uint64_t events, items;
  double sum, scale;
};

static int tally_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  if (output_path) s->message(s->context, SL_WARNING, "nothing is written to %s", output_path);
  ((struct tally_state *)state)->scale = ((const struct tally_args *)args)->scale;
  return SL_OK;
}

static int tally_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  struct tally_state *tally = state;
  const struct tally_args *a = args;
  if (a->numbers.tag) {
    s->message(s->context, SL_ERROR, "tag is not among the fields read, and is not null");
    return SL_EPLUGIN;
  }
  SL_FOR_BATCH (event, batch)
    for (uint32_t i = a->numbers.offsets[event]; i < a->numbers.offsets[event + 1]; i++) {
      tally->items++;
      tally->sum += (double)a->numbers.value[i];
    }
  tally->events += SL_BATCH_COUNT(batch);
  return SL_OK;
}

static int tally_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  (void)s;
  const struct tally_state *tally = state;
  r->integer(r->context, "events", (int64_t)tally->events);
  r->begin_array(r->context, "totals");
  r->integer(r->context, NULL, (int64_t)tally->items);
  r->number(r->context, NULL, tally->sum * tally->scale);
  r->end_array(r->context);
  r->line(r->context, "%llu numbers", (unsigned long long)tally->items);
  return SL_OK;
}

static void tally_close(void *state) { (void)state; }
static const struct sl_sink tally_sink = {
    .open = tally_open, .consume = tally_consume, .finish = tally_finish, .close = tally_close};
SL_SINK(tally, "counts and sums numbers", struct tally_state, tally_sink);
