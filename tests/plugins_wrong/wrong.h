/* wrong.h: common part of the algorithms of this plugin, which copy numbers by event. Each except `fine` breaks one
 * rule of the contract, which `sluice test` must detect (tests/cli/cases/test_wrong.txt). */
#ifndef WRONG_H
#define WRONG_H

#include <sluice/kernel.h>

#define WRONG_NUMBERS_FIELDS(F)                              \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, f32, PER_ITEM, "mm", "the number")                \
  F(tag, u32, PER_ITEM, "", "index in the event")            \
  F(number, u32, PER_EVENT, "", "number of the event in the run")
SL_COLLECTION(wrong_numbers, WRONG_NUMBERS_FIELDS, "numbers, by event");

#define WRONG_KEPT_FIELDS(F)                                 \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, f32, PER_ITEM, "mm", "the number")                \
  F(count, u32, PER_EVENT, "", "number of numbers")
SL_COLLECTION(wrong_kept, WRONG_KEPT_FIELDS, "copied numbers");

#define WRONG_TABLE_FIELDS(F) F(entry, u32, ARRAY, "", "anything")
SL_COLLECTION(wrong_table, WRONG_TABLE_FIELDS, "a table");

/* A kernel algorithm NAME: copies numbers, with its own offsets and a budget. */
#define WRONG_ARGS(name)               \
  struct name##_args {                 \
    struct sl_events events;           \
    struct wrong_numbers_view numbers; \
    struct wrong_kept kept;            \
    uint32_t kept_per_event;           \
  };
#define WRONG_MEMBERS(name, fields_read)                                                       \
  static const struct sl_member name##_members[] = {                                           \
      SL_EVENTS(),                                                                             \
      SL_IN(numbers, wrong_numbers, fields_read, "any"),                                       \
      SL_OUT(kept, wrong_kept, "a copy", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(kept_per_event, 1)))), \
      SL_BUDGET(kept_per_event, 8, 1, 100, "copied numbers"),                                  \
  }

/* Counts the numbers of each event; NAME_run scans the counts, then NAME_fill writes. See WRONG_RUN. */
#define WRONG_COUNT(name)                                                                \
  SL_KERNEL(name##_count, struct name##_args) {                                          \
    SL_FOR_EVENTS (event, a.events)                                                      \
      if (threadIdx.x == 0) {                                                            \
        a.kept.offsets[event] = a.numbers.offsets[event + 1] - a.numbers.offsets[event]; \
        a.kept.count[event] = a.kept.offsets[event];                                     \
      }                                                                                  \
  }
#define WRONG_RUN(name)                                                           \
  static int name##_run(const struct sl_launch *l, const struct name##_args *a) { \
    int status = SL_LAUNCH(l, name##_count, SL_PER_EVENT, *a);                    \
    if (status == SL_OK) status = l->scan(l, a->kept.offsets, &a->kept.bound);    \
    if (status == SL_OK) status = SL_LAUNCH(l, name##_fill, SL_PER_EVENT, *a);    \
    return status;                                                                \
  }                                                                               \
  SL_ALGORITHM(name, "breaks a rule (see its comment)", 64, name##_run)

/* The loop of a fill: number `i`, the `k`th of the event, goes to kept.value[to]. Threads share the numbers. */
#define WRONG_FOR_NUMBERS(event, i, k, to)                                                         \
  for (uint32_t k = threadIdx.x, i = a.numbers.offsets[event] + k, to = a.kept.offsets[event] + k; \
       to < a.kept.offsets[event + 1]; k += blockDim.x, i += blockDim.x, to += blockDim.x)

#endif
