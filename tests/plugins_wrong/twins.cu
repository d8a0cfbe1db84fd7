/* twins.cu: a plugin with different tables for two targets. */
#include "wrong.h"

struct twin_args {
  struct sl_events events;
  struct wrong_numbers_view numbers;
  struct wrong_kept kept;
  float factor;
};
#define SL_ARGS twin_args
static const struct sl_member twin_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, wrong_numbers, "offsets value", "any"),
    SL_OUT(kept, wrong_kept, "nothing", SL_SHARES_OFFSETS(numbers)),
#ifdef SL_TARGET_CPU
    SL_F32(factor, 1.0, 0.0, 10.0, "", "multiplies"),
#else
    SL_F32(factor, 2.0, 0.0, 10.0, "", "multiplies"),
#endif
};
static int run(const struct sl_launch *l, const struct twin_args *a) {
  (void)l, (void)a;
  return SL_OK;
}
SL_ALGORITHM(twin, "", 64, run);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(twin)};
SL_PLUGIN("twins", "1.0.0", "differ");
