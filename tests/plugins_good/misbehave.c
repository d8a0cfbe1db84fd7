/* misbehave.c: a kernel that breaks its contract on request, to test that the violation is detected. */
#include "example.h"

#include <sluice/kernel.h>

struct misbehave_args {
  struct sl_events events;
  struct example_numbers_view numbers;
  struct example_scaled scaled;
  uint16_t *scratch;
  uint32_t how;
};
#define SL_ARGS misbehave_args
static const struct sl_member misbehave_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, example_numbers, "offsets value", "any order"),
    SL_OUT(scaled, example_scaled, "invalid values", SL_SHARES_OFFSETS(numbers)),
    SL_SCRATCH(scratch, u16, "three values per event", SL_ONE(SL_EVENTS_TERM(3, 0))),
    SL_U32(how, 0, 0, 5, "", "0 nothing, 1 past an output, 2 before it, 3 an input, 4 past the scratch, 5 fails"),
};

static int misbehave_run(const struct sl_launch *l, const struct misbehave_args *a) {
  if (a->how == 1) a->scaled.value[a->scaled.bound.capacity] = 1;
  if (a->how == 2) a->scaled.value[-1] = 1;
  if (a->how == 3) ((float *)(uintptr_t)a->numbers.value)[0] += 1;
  if (a->how == 4) a->scratch[3 * l->events_max] = 1;
  if (a->how != 5) return SL_OK;
  l->services->message(l->services->context, SL_ERROR, "told to fail");
  return SL_EDEVICE;
}
SL_ALGORITHM(misbehave, "breaks its contract on request", 1, misbehave_run);
