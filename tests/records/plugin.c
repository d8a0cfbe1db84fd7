/* plugin.c: algorithms for tests of record sources. */
#include <sluice/plugin.h>

SL_DECLARE(source);
SL_DECLARE(sums);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(source),
#endif
    SL_ENTRY(sums)};
SL_PLUGIN("lists", "1.0.0", "items and parts, for tests of record sources");
