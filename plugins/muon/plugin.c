/* plugin.c: what the muon plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(geometry),
    SL_ENTRY(geometry_sink),
};

SL_PLUGIN("muon", "0.1.0", "LHCb's muon chambers: geometry and raw banks");
