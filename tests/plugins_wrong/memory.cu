/* memory.cu: kernels that access memory outside of their fields, or write invalid outputs. */
#include "wrong.h"

#include <stdlib.h>

#define COPY(name)                                                               \
  SL_KERNEL(name##_fill, struct name##_args) {                                   \
    SL_FOR_EVENTS (event, a.events)                                              \
      WRONG_FOR_NUMBERS (event, i, k, to) a.kept.value[to] = a.numbers.value[i]; \
  }

/* Writes offsets without a check of the capacity. */
#define UNBOUNDED_RUN(name)                                                       \
  static int name##_run(const struct sl_launch *l, const struct name##_args *a) { \
    int status = SL_LAUNCH(l, name##_count, SL_PER_EVENT, *a);                    \
    if (status == SL_OK) status = l->scan(l, a->kept.offsets, NULL);              \
    if (status == SL_OK) status = SL_LAUNCH(l, name##_fill, SL_PER_EVENT, *a);    \
    return status;                                                                \
  }                                                                               \
  SL_ALGORITHM(name, "breaks a rule (see its comment)", 64, name##_run)

/* Writes all items, regardless of the capacity. */
WRONG_ARGS(beyond)
#define SL_ARGS beyond_args
WRONG_MEMBERS(beyond, "offsets value");
WRONG_COUNT(beyond)
COPY(beyond)
UNBOUNDED_RUN(beyond);

/* Stops at the capacity without an error. */
WRONG_ARGS(silent)
#undef SL_ARGS
#define SL_ARGS silent_args
WRONG_MEMBERS(silent, "offsets value");
WRONG_COUNT(silent)
SL_KERNEL(silent_fill, struct silent_args) {
  SL_FOR_EVENTS (event, a.events)
    WRONG_FOR_NUMBERS (event, i, k, to)
      if (to < a.kept.bound.capacity) a.kept.value[to] = a.numbers.value[i];
}
UNBOUNDED_RUN(silent);

/* Its offsets decrease. */
WRONG_ARGS(descending)
#undef SL_ARGS
#define SL_ARGS descending_args
WRONG_MEMBERS(descending, "offsets value");
SL_KERNEL(descending_fill, struct descending_args) {
  SL_FOR_EVENTS (event, a.events) {
    a.kept.count[event] = 0;
    a.kept.offsets[event + 1] = 0;
    a.kept.offsets[event] = 3;
  }
}
static int descending_run(const struct sl_launch *l, const struct descending_args *a) {
  return SL_LAUNCH(l, descending_fill, SL_PER_EVENT, *a);
}
SL_ALGORITHM(descending, "breaks a rule (see its comment)", 64, descending_run);

/* Reads `number`, but lists only offsets and values. */
WRONG_ARGS(undeclared)
#undef SL_ARGS
#define SL_ARGS undeclared_args
WRONG_MEMBERS(undeclared, "offsets value");
WRONG_COUNT(undeclared)
SL_KERNEL(undeclared_fill, struct undeclared_args) {
  SL_FOR_EVENTS (event, a.events)
    WRONG_FOR_NUMBERS (event, i, k, to)
      a.kept.value[to] = a.numbers.number ? a.numbers.value[i] + (float)a.numbers.number[event] : a.numbers.value[i];
}
WRONG_RUN(undeclared);

/* Sets an input to 0 after reading it. */
WRONG_ARGS(changes_input)
#undef SL_ARGS
#define SL_ARGS changes_input_args
WRONG_MEMBERS(changes_input, "offsets value");
WRONG_COUNT(changes_input)
SL_KERNEL(changes_input_fill, struct changes_input_args) {
  SL_FOR_EVENTS (event, a.events)
    WRONG_FOR_NUMBERS (event, i, k, to) {
      a.kept.value[to] = a.numbers.value[i];
      ((float *)(uintptr_t)a.numbers.value)[i] = 0;
    }
}
WRONG_RUN(changes_input);

/* Runs on all events, regardless of the list. */
WRONG_ARGS(off_list)
#undef SL_ARGS
#define SL_ARGS off_list_args
WRONG_MEMBERS(off_list, "offsets value");
SL_KERNEL(off_list_count, struct off_list_args) {
  if (threadIdx.x > 0 || blockIdx.x > 0) return;
  const uint32_t last = *a.events.count ? sl_event_at(&a.events, *a.events.count - 1) : 0;
  for (uint32_t event = 0; event <= last; event++) {
    a.kept.offsets[event] = a.numbers.offsets[event + 1] - a.numbers.offsets[event];
    a.kept.count[event] = a.kept.offsets[event];
  }
}
COPY(off_list)
WRONG_RUN(off_list);

/* Refuses events with an error code that is not in its table of errors. */
WRONG_ARGS(no_such_error)
#undef SL_ARGS
#define SL_ARGS no_such_error_args
WRONG_MEMBERS(no_such_error, "offsets value");
SL_KERNEL(no_such_error_count, struct no_such_error_args) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) {
      a.kept.offsets[event] = a.kept.count[event] = 0;
      sl_event_fail(&a.events, event, 9, 0);
    }
}
COPY(no_such_error)
WRONG_RUN(no_such_error);

/* Dereferences a null pointer. */
WRONG_ARGS(crashes)
#undef SL_ARGS
#define SL_ARGS crashes_args
WRONG_MEMBERS(crashes, "offsets value");
WRONG_COUNT(crashes)
SL_KERNEL(crashes_fill, struct crashes_args) {
  volatile float *nowhere = NULL;
  if (a.events.count) *nowhere = 1;
}
WRONG_RUN(crashes);

/* Ends the program. */
WRONG_ARGS(leaves)
#undef SL_ARGS
#define SL_ARGS leaves_args
WRONG_MEMBERS(leaves, "offsets value");
WRONG_COUNT(leaves)
SL_KERNEL(leaves_fill, struct leaves_args) {
  if (a.events.count) exit(3);
}
WRONG_RUN(leaves);

/* Never ends. */
WRONG_ARGS(endless)
#undef SL_ARGS
#define SL_ARGS endless_args
WRONG_MEMBERS(endless, "offsets value");
WRONG_COUNT(endless)
SL_KERNEL(endless_fill, struct endless_args) {
  for (volatile uint32_t i = 0; a.events.count; i++) continue;
}
WRONG_RUN(endless);
