/* choices.cu: kernels with enumerations and arrays, with values computed once from properties and constants, and with
 * fields of any collection. */
#include "numbers.h"

#include <sluice/kernel.h>

#include <string.h>

struct weigh_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_sums sums;
  uint32_t what;
  int32_t shifts[2];
  float weights[3];
};
#define SL_ARGS weigh_args
static const struct sl_member weigh_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_OUT(sums, toy_sums, "count: sum of the shifts; sum: selected by `what`; mean: sum of the weighted numbers"),
    SL_ENUM(what, "total", "content of the field sum", "total largest"),
    SL_I32_ARRAY(shifts, 2, "[1, 2]", -10, 10, "", "summands of the field count"),
    SL_F32_ARRAY(weights, 3, "[1, 0.5, 0.25]", -8, 8, "", "weight of number i: entry i % 3"),
};
#undef SL_ARGS
enum { WHAT_TOTAL, WHAT_LARGEST };

SL_KERNEL(weigh_values, struct weigh_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t result = 0;
    float weighed = 0.0f;
    if (threadIdx.x != 0) continue;
    for (uint32_t i = a.numbers.offsets[event]; i < a.numbers.offsets[event + 1]; i++) {
      const uint32_t value = a.numbers.value[i];
      result = a.what == WHAT_TOTAL ? result + value : value > result ? value : result;
      weighed += a.weights[(i - a.numbers.offsets[event]) % 3] * (float)value;
    }
    a.sums.count[event] = (uint32_t)(a.shifts[0] + a.shifts[1]);
    a.sums.sum[event] = result;
    a.sums.mean[event] = weighed;
  }
}

static int run_weigh(const struct sl_launch *l, const struct weigh_args *a) {
  return SL_LAUNCH(l, weigh_values, SL_PER_EVENT, *a);
}
SL_ALGORITHM(weigh, "weighs numbers", 64, run_weigh);

/* ------------------------------------------------------------------------------------------------- look up */

struct look_up_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_steps_view steps;
  struct toy_sums sums;
  const char *word;
  uint32_t broken;
  struct toy_prepared prepared;
  const uint32_t *letters;
  uint64_t hash;
};
#define SL_ARGS look_up_args
static const struct sl_member look_up_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_IN(steps, toy_steps, "", "steps added to the letters in turn"),
    SL_OUT(sums, toy_sums,
           "count: lengths of the node's name and of the word; sum: letters selected by the numbers; mean: hash"),
    SL_STRING(word, "sluice", "word to look up"),
    SL_U32(broken, 0, 0, 4, "", "1: fail, 2: make no table, 3: make it twice, 4: make another"),
    SL_COMPUTED(prepared, struct toy_prepared, "lengths of the word and of the node's name"),
    SL_TABLE(letters, u32, "letters of the word, each plus a step"),
    SL_NODE_HASH(hash),
};
#undef SL_ARGS

static int look_up_prepare(const struct sl_services *s, void *args) {
  struct look_up_args *a = (struct look_up_args *)args;
  const uint32_t length = (uint32_t)strlen(a->word);
  const uint64_t steps = s->array_count(s->context, "steps", "step");
  if (length == 0 || a->broken == 1) {
    s->message(s->context, SL_ERROR, "word: it has no letters");
    return SL_EINVAL;
  }
  const uint32_t good = (uint32_t)strcspn(a->word, "!");
  if (good < length) {
    s->message(s->context, SL_ERROR, "word+%u: `%c` is no letter", good, a->word[good]);
    return SL_EINVAL;
  }
  if (a->broken == 2) return SL_OK;
  if (a->numbers.offsets || a->sums.count || a->letters || !a->hash)
    return SL_EPLUGIN; /* inputs, outputs and tables
                        * are NULL here */
  uint32_t *letters = (uint32_t *)s->make_table(s->context, a->broken == 4 ? "letter" : "letters", length);
  if (!letters || (a->broken == 3 && !s->make_table(s->context, "letters", length))) return SL_EPLUGIN;
  for (uint32_t i = 0; i < length; i++) letters[i] += (uint32_t)a->word[i] + (uint32_t)a->steps.step[i % steps];
  a->prepared.length = length;
  a->prepared.name_length = (uint32_t)strlen(s->node_name);
  return SL_OK;
}

SL_KERNEL(look_up_letters, struct look_up_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t i = a.numbers.offsets[event] + threadIdx.x; i < a.numbers.offsets[event + 1]; i += blockDim.x)
      sum += a.letters[a.numbers.value[i] % a.prepared.length];
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) {
      a.sums.count[event] = 1000 * a.prepared.name_length + a.prepared.length + (a.word ? 1000000 : 0);
      a.sums.sum[event] = sum;
      a.sums.mean[event] = (float)(uint32_t)(a.hash >> 40);
    }
  }
}

static int run_look_up(const struct sl_launch *l, const struct look_up_args *a) {
  return SL_LAUNCH(l, look_up_letters, SL_PER_EVENT, *a);
}
SL_ALGORITHM(look_up, "sums letters of a word", 64, run_look_up, SL_PREPARE(look_up_prepare));

/* ---------------------------------------------------------------------------------------------------- pick */

struct pick_args {
  struct sl_events events;
  struct sl_field_ref of;
  struct toy_sums sums;
};
#define SL_ARGS pick_args
static const struct sl_member pick_members[] = {
    SL_EVENTS(),
    SL_FIELD_REF(of, "u32 f32", "field to sum"),
    SL_OUT(sums, toy_sums, "count: number of values; sum: sum of their integer parts; mean: first value"),
};
#undef SL_ARGS

SL_KERNEL(pick_values, struct pick_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint64_t first = sl_field_begin(&a.of, event), end = sl_field_begin(&a.of, event + 1);
    uint32_t sum = 0;
    for (uint64_t i = first + threadIdx.x; i < end; i += blockDim.x) sum += (uint32_t)sl_field_f64(&a.of, i);
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) {
      a.sums.count[event] = (uint32_t)(end - first);
      a.sums.sum[event] = sum;
      a.sums.mean[event] = end > first ? (float)sl_field_f64(&a.of, first) : 0.0f;
    }
  }
}

static int run_pick(const struct sl_launch *l, const struct pick_args *a) {
  return SL_LAUNCH(l, pick_values, SL_PER_EVENT, *a);
}
SL_ALGORITHM(pick, "sums a field of any collection", 64, run_pick);

/* -------------------------------------------------------------------------------------------------- spread */

struct spread_args {
  struct sl_events events;
  struct sl_field_ref of;
  struct sl_field_ref selected;
  struct toy_bins bins;
  uint32_t bin_count;
  double from, to;
  const char *title;
  uint32_t title_length;
};
#define SL_ARGS spread_args
static const struct sl_member spread_members[] = {
    SL_EVENTS(),
    SL_FIELD_REF(of, "", "field that is counted"),
    SL_OPTIONAL_FIELD_REF(selected, of, "u32", "field that selects values: those where it is even"),
    SL_OUT(bins, toy_bins, "the counts", SL_HISTOGRAM(title, of, bin_count, from, to)),
    SL_U32(bin_count, 10, 1, 100, "", "number of bins"),
    SL_F64(from, 0, -1e9, 1e9, "", "lower limit"),
    SL_F64(to, 1000, -1e9, 1e9, "", "upper limit"),
    SL_STRING(title, "", "title"),
    SL_COMPUTED(title_length, uint32_t, "length of the title"),
};
#undef SL_ARGS

SL_KERNEL(spread_values, struct spread_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint64_t first = sl_field_begin(&a.of, event), end = sl_field_begin(&a.of, event + 1);
    const uint64_t selected = a.selected.values ? sl_field_begin(&a.selected, event) : 0;
    for (uint64_t i = first + threadIdx.x; i < end; i += blockDim.x) {
      const uint64_t item = selected + (a.selected.offsets ? i - first : 0);
      if (a.selected.values && (uint32_t)sl_field_f64(&a.selected, item) % 2 != 0) continue;
      const double place = (sl_field_f64(&a.of, i) - a.from) / (a.to - a.from) * a.bin_count;
      const uint32_t entry = place < 0                      ? SL_AXIS_BELOW
                             : place >= (double)a.bin_count ? SL_AXIS_ABOVE(a.bin_count)
                                                            : 1 + (uint32_t)place;
      sl_total_add(&a.bins.counts[entry], 1);
    }
  }
}

static int run_spread(const struct sl_launch *l, const struct spread_args *a) {
  return SL_LAUNCH(l, spread_values, SL_PER_EVENT, *a);
}

static int spread_prepare(const struct sl_services *s, void *args) {
  struct spread_args *a = (struct spread_args *)args;
  (void)s;
  a->title_length = (uint32_t)strlen(a->title);
  return SL_OK;
}
SL_ALGORITHM(spread, "histogram of a field", 64, run_spread, SL_PREPARE(spread_prepare));
