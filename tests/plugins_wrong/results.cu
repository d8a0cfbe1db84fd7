/* results.cu: kernels with results that depend not only on the event, but on memory, slice, order or earlier runs; and
 * a correct one. */
#include "wrong.h"

#define FILL(name, expression)                 \
  SL_KERNEL(name##_fill, struct name##_args) { \
    SL_FOR_EVENTS (event, a.events)            \
      WRONG_FOR_NUMBERS (event, i, k, to) {    \
        (void)i;                               \
        a.kept.value[to] = (expression);       \
      }                                        \
  }

/* Correct. */
WRONG_ARGS(fine)
#define SL_ARGS fine_args
WRONG_MEMBERS(fine, "offsets value");
WRONG_COUNT(fine)
FILL(fine, a.numbers.value[i])
WRONG_RUN(fine);

/* Leaves every third number unwritten. */
WRONG_ARGS(unwritten)
#undef SL_ARGS
#define SL_ARGS unwritten_args
WRONG_MEMBERS(unwritten, "offsets value");
WRONG_COUNT(unwritten)
FILL(unwritten, k % 3 == 2 ? a.kept.value[to] : a.numbers.value[i])
WRONG_RUN(unwritten);

/* Reads the next number, which does not exist after the last event. */
WRONG_ARGS(next_number)
#undef SL_ARGS
#define SL_ARGS next_number_args
WRONG_MEMBERS(next_number, "offsets value");
WRONG_COUNT(next_number)
FILL(next_number, (float)((const unsigned char *)(a.numbers.value + i + 1))[0])
WRONG_RUN(next_number);

/* Uses the index of the event in the slice. */
WRONG_ARGS(by_place)
#undef SL_ARGS
#define SL_ARGS by_place_args
WRONG_MEMBERS(by_place, "offsets value");
WRONG_COUNT(by_place)
FILL(by_place, a.numbers.value[i] + (float)event)
WRONG_RUN(by_place);

/* Uses the number of events in the slice. */
WRONG_ARGS(by_slice)
#undef SL_ARGS
#define SL_ARGS by_slice_args
WRONG_MEMBERS(by_slice, "offsets value");
WRONG_COUNT(by_slice)
FILL(by_slice, a.numbers.value[i] + (float)(a.kept.bound.capacity / 8))
WRONG_RUN(by_slice);

/* Assumes that the first number of the slice has index 0. */
WRONG_ARGS(from_zero)
#undef SL_ARGS
#define SL_ARGS from_zero_args
WRONG_MEMBERS(from_zero, "offsets value");
WRONG_COUNT(from_zero)
FILL(from_zero, a.numbers.value[to])
WRONG_RUN(from_zero);

/* Writes numbers in the order in which threads run. */
WRONG_ARGS(first_come)
#undef SL_ARGS
#define SL_ARGS first_come_args
WRONG_MEMBERS(first_come, "offsets value");
WRONG_COUNT(first_come)
SL_KERNEL(first_come_fill, struct first_come_args) {
  __shared__ uint32_t place;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) place = a.kept.offsets[event];
    __syncthreads();
    WRONG_FOR_NUMBERS (event, i, k, to) a.kept.value[atomicAdd(&place, 1u)] = a.numbers.value[i];
    __syncthreads();
  }
}
WRONG_RUN(first_come);

/* Divides 0 by 0. */
WRONG_ARGS(not_a_number)
#undef SL_ARGS
#define SL_ARGS not_a_number_args
WRONG_MEMBERS(not_a_number, "offsets value");
WRONG_COUNT(not_a_number)
FILL(not_a_number, (a.numbers.value[i] - a.numbers.value[i]) / (float)k)
WRONG_RUN(not_a_number);

/* Adds the number of its runs. */
static uint32_t runs_so_far;
WRONG_ARGS(remembers)
#undef SL_ARGS
#define SL_ARGS remembers_args
WRONG_MEMBERS(remembers, "offsets value");
WRONG_COUNT(remembers)
FILL(remembers, a.numbers.value[i] + (float)runs_so_far)
static int remembers_run(const struct sl_launch *l, const struct remembers_args *a) {
  runs_so_far++;
  int status = SL_LAUNCH(l, remembers_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->kept.offsets, &a->kept.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, remembers_fill, SL_PER_EVENT, *a);
  return status;
}
SL_ALGORITHM(remembers, "breaks a rule (see its comment)", 64, remembers_run);
