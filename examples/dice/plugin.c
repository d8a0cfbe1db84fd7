/* plugin.c: what this plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(throws);
SL_DECLARE(odds);
SL_DECLARE(tally);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(throws), SL_ENTRY(odds), SL_ENTRY(tally)};
SL_PLUGIN("dice", "1.0.0", "dice that are thrown and judged");
