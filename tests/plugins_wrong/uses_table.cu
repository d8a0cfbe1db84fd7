/* uses_table.cu: reads the table, so that it is made. Correct. */
#include "wrong.h"

struct uses_table_args {
  struct sl_events events;
  struct wrong_numbers_view numbers;
  struct wrong_table_view table;
  struct wrong_kept kept;
};
#define SL_ARGS uses_table_args
static const struct sl_member uses_table_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, wrong_numbers, "offsets value", "any"),
    SL_IN(table, wrong_table, "", "any"),
    SL_OUT(kept, wrong_kept, "a copy", SL_SHARES_OFFSETS(numbers)),
};

SL_KERNEL(uses_table_fill, struct uses_table_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.numbers.offsets[event], end = a.numbers.offsets[event + 1];
    if (threadIdx.x == 0) a.kept.count[event] = end - first;
    for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x)
      a.kept.value[i] = a.numbers.value[i] + (float)a.table.entry[0];
  }
}
static int run(const struct sl_launch *l, const struct uses_table_args *a) {
  return SL_LAUNCH(l, uses_table_fill, SL_PER_EVENT, *a);
}
SL_ALGORITHM(uses_table, "numbers and a table", 32, run);
