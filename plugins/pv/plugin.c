/* plugin.c: the algorithms of the pv plugin. */
#include <sluice/plugin.h>

SL_DECLARE(annealing);
SL_DECLARE(beamline);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(annealing),
    SL_ENTRY(beamline),
};

SL_PLUGIN("pv", SLUICE_VERSION, "primary vertices from VELO tracks");
