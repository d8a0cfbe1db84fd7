/* plugin.c: a kernel that uses all of sluice/kernel.h. */
#include <sluice/plugin.h>

SL_DECLARE(collectives);
SL_DECLARE(warps);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(collectives), SL_ENTRY(warps)};
SL_PLUGIN("collectives", "1.0", "what sluice/kernel.h offers, for its tests");
