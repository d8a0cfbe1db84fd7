/* plugin.c: what the truth plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(velo_check);
SL_DECLARE(distributions);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(velo_check),
    SL_ENTRY(distributions),
};

SL_PLUGIN("truth", "0.1.0", "comparison with Monte-Carlo truth");
