/* plugin.c: what the SciFi plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
SL_DECLARE(looking_forward);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(geometry),
    SL_ENTRY(geometry_sink),
    SL_ENTRY(looking_forward),
};

SL_PLUGIN("scifi", "0.1.0", "LHCb's scintillating fibre tracker");
