/* plugin.c: faulty kernels and similar correct ones, for the tests of --race. */
#include <sluice/plugin.h>

SL_DECLARE(shared);
SL_DECLARE(global);
SL_DECLARE(unwritten);
SL_DECLARE(bounds);
SL_DECLARE(right);
#ifdef SL_TARGET_CPU
SL_DECLARE(numbers_source);
#endif

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(numbers_source),
#endif
    SL_ENTRY(shared),         SL_ENTRY(global), SL_ENTRY(unwritten), SL_ENTRY(bounds), SL_ENTRY(right)};
SL_PLUGIN("zoo", "1.0.0", "kernels with and without races");
