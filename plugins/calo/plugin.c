/* plugin.c: what the calorimeter plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(geometry),
    SL_ENTRY(geometry_sink),
};

SL_PLUGIN("calo", "0.1.0", "LHCb's electromagnetic calorimeter");
