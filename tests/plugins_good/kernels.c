/* kernels.c: correct kernels of the example plugin. */
#include "example.h"

#include <sluice/kernel.h>

#include <string.h>

/* positive: selects numbers above 0; NaN refuses the event. Two kernels with a scan between them. */
struct positive_args {
  struct sl_events events;
  struct example_numbers_view numbers;
  struct example_numbers kept;
  struct sl_event_list passed;
  uint32_t kept_per_event;
};
#define SL_ARGS positive_args
static const struct sl_member positive_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, example_numbers, "offsets value", "any order"),
    SL_OUT(kept, example_numbers, "numbers above 0, in input order",
           SL_ITEMS(SL_MIN(SL_ITEMS_TERM(numbers), SL_BUDGET_TERM(kept_per_event, 4)))),
    SL_OUT(passed, sl_event_list, "events with a number above 0"),
    SL_BUDGET(kept_per_event, 8, 0, 1000, "selected numbers"),
};
static const struct sl_event_error positive_errors[] = {{1, 0, "a number is NaN"}};

SL_KERNEL(positive_count, struct positive_args) {
  uint32_t passed = 0;
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    for (uint32_t i = a.numbers.offsets[event]; i < a.numbers.offsets[event + 1]; i++) {
      if (a.numbers.value[i] != a.numbers.value[i]) {
        sl_event_fail(&a.events, event, 1, i - a.numbers.offsets[event]);
        count = 0;
        break;
      }
      count += a.numbers.value[i] > 0;
    }
    a.kept.offsets[event] = count;
    if (count) a.passed.numbers[passed++] = event;
  }
  *a.passed.count = passed;
}

SL_KERNEL(positive_fill, struct positive_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t place = a.kept.offsets[event];
    const uint32_t end = a.kept.offsets[event + 1];
    for (uint32_t i = a.numbers.offsets[event]; place < end; i++) {
      if (!(a.numbers.value[i] > 0)) continue;
      a.kept.value[place] = a.numbers.value[i];
      a.kept.tag[place++] = (uint8_t)(i - a.numbers.offsets[event]);
    }
  }
}

static int positive_run(const struct sl_launch *l, const struct positive_args *a) {
  int status = SL_LAUNCH(l, positive_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->kept.offsets, &a->kept.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, positive_fill, SL_PER_EVENT, *a);
  return status;
}
SL_ALGORITHM(positive, "selects numbers above 0", 64, positive_run, SL_ERRORS_OF(positive_errors));

/* scale: multiplies numbers by a factor, and by weights if connected. Shares the offsets of its input. */
struct scale_args {
  struct sl_events events;
  struct example_numbers_view numbers;
  struct example_weights_view weights;
  struct example_scaled scaled;
  float factor;
  uint32_t negate;
};
#undef SL_ARGS
#define SL_ARGS scale_args
static const struct sl_member scale_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, example_numbers, "offsets value tag", "any order"),
    SL_OPTIONAL_IN(weights, example_weights, "", "a weight for each tag"),
    SL_OUT(scaled, example_scaled, "one scaled number per number", SL_SHARES_OFFSETS(numbers), SL_IN_PLACE(numbers)),
    SL_F32(factor, 2.0, -100.0, 100.0, "", "factor of the numbers"),
    SL_BOOL(negate, 0, "changes the sign"),
};

SL_KERNEL(scale, struct scale_args) {
  SL_FOR_EVENTS (event, a.events) {
    float largest = 0;
    for (uint32_t i = a.numbers.offsets[event]; i < a.numbers.offsets[event + 1]; i++) {
      const float weight = a.weights.weight ? (float)a.weights.weight[a.numbers.tag[i]] : 1.0f;
      const float value = a.numbers.value[i] * weight * (a.negate ? -a.factor : a.factor);
      a.scaled.value[i] = value;
      if (value > largest) largest = value;
    }
    a.scaled.largest[event] = largest;
  }
}

static int scale_run(const struct sl_launch *l, const struct scale_args *a) {
  return SL_LAUNCH(l, scale, SL_PER_EVENT, *a);
}

static int scale_tuned(const struct sl_launch *l, const void *args) {
  l->services->message(l->services->context, SL_NOTE, "the tuned version ran, %u events", l->events_max);
  return scale_run(l, (const struct scale_args *)args);
}
SL_ALGORITHM(scale, "multiplies numbers", 128, scale_run, SL_TUNED(scale_tuned));

/* runs: groups consecutive numbers of one sign; the members are subitems. `first` is scratch. */
struct runs_args {
  struct sl_events events;
  struct example_numbers_view numbers;
  struct example_runs runs;
  uint32_t *first;
};
#undef SL_ARGS
#define SL_ARGS runs_args
static const struct sl_member runs_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, example_numbers, "offsets value", "any order"),
    SL_OUT(runs, example_runs, "runs in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(numbers))),
           SL_SUBITEMS(SL_ONE(SL_ITEMS_TERM(runs)))),
    SL_SCRATCH(first, u32, "1 where a run begins, by number", SL_ONE(SL_ITEMS_TERM(numbers))),
};

SL_KERNEL(runs_count, struct runs_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    const uint32_t begin = a.numbers.offsets[event];
    for (uint32_t i = begin; i < a.numbers.offsets[event + 1]; i++) {
      a.first[i] = i == begin || (a.numbers.value[i] > 0) != (a.numbers.value[i - 1] > 0);
      count += a.first[i];
    }
    a.runs.offsets[event] = count;
  }
}

/* Members have the order of the numbers, so the first member of a run is its first number. */
SL_KERNEL(runs_fill, struct runs_args) {
  uint32_t members = 0;
  a.runs.member_offsets[0] = 0;
  SL_FOR_EVENTS (event, a.events) {
    uint32_t run = a.runs.offsets[event];
    const uint32_t begin = a.numbers.offsets[event], end = a.numbers.offsets[event + 1];
    for (uint32_t i = begin; i < end; i++) {
      float *range = a.runs.range + 2 * run;
      if (a.first[i]) range[0] = range[1] = a.numbers.value[i];
      if (a.numbers.value[i] < range[0]) range[0] = a.numbers.value[i];
      if (a.numbers.value[i] > range[1]) range[1] = a.numbers.value[i];
      a.runs.member[members++] = i - begin;
      if (i + 1 == end || a.first[i + 1]) a.runs.member_offsets[++run] = members;
    }
  }
}

static int runs_run(const struct sl_launch *l, const struct runs_args *a) {
  int status = SL_LAUNCH(l, runs_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->runs.offsets, &a->runs.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, runs_fill, SL_PER_EVENT, *a);
  return status;
}
SL_ALGORITHM(runs, "runs of numbers of one sign", 32, runs_run);

/* spell: selects a letter of a word for each number, by its tag; the table of letters is made once. */
struct spell_args {
  struct sl_events events;
  struct example_numbers_view numbers;
  struct example_weights_view weights;
  struct example_scaled scaled;
  const char *word;
  const float *letters;
  uint32_t letter_count;
  uint64_t hash;
};
#undef SL_ARGS
#define SL_ARGS spell_args
static const struct sl_member spell_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, example_numbers, "offsets tag", "any order"),
    SL_OPTIONAL_IN(weights, example_weights, "", "of the letters, in their order"),
    SL_OUT(scaled, example_scaled, "letters; largest: hash of the node's name", SL_SHARES_OFFSETS(numbers)),
    SL_STRING(word, "abc", "letters to select from"),
    SL_TABLE(letters, f32, "weighted letters of the word"),
    SL_COMPUTED(letter_count, uint32_t, "number of letters"),
    SL_NODE_HASH(hash),
};

static int spell_prepare(const struct sl_services *s, void *args) {
  struct spell_args *a = args;
  a->letter_count = (uint32_t)strlen(a->word);
  if (a->letter_count == 0) {
    s->message(s->context, SL_ERROR, "word: it is empty, in node %s", s->node_name);
    return SL_EINVAL;
  }
  float *letters = s->make_table(s->context, "letters", a->letter_count);
  for (uint32_t i = 0; i < a->letter_count; i++)
    letters[i] = (float)a->word[i] * (a->weights.weight ? (float)a->weights.weight[i] : 1.0f);
  return a->numbers.offsets ? SL_EPLUGIN : SL_OK; /* the arguments have no events yet */
}

SL_KERNEL(spell, struct spell_args) {
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = a.numbers.offsets[event]; i < a.numbers.offsets[event + 1]; i++)
      a.scaled.value[i] = a.letters[a.numbers.tag[i] % a.letter_count] + (a.word ? 1000.0f : 0.0f);
    a.scaled.largest[event] = (float)(uint32_t)(a.hash >> 40);
  }
}

static int spell_run(const struct sl_launch *l, const struct spell_args *a) {
  return SL_LAUNCH(l, spell, SL_PER_EVENT, *a);
}
SL_ALGORITHM(spell, "letters of a word", 64, spell_run, SL_PREPARE(spell_prepare));
