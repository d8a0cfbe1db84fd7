/* plugin.c: algorithms of the test plugin rich. */
#include <sluice/plugin.h>

SL_DECLARE(count_bytes);
#ifdef SL_TARGET_CPU
SL_DECLARE(tally);
#endif

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(count_bytes),
#ifdef SL_TARGET_CPU
    SL_ENTRY(tally),
#endif
};

SL_PLUGIN("rich", SLUICE_VERSION, "banks of a type that no plugin of this repository reads");
