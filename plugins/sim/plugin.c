/* plugin.c: table of the sim plugin. */
#include <sluice/plugin.h>

SL_DECLARE(source);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(source),
};

SL_PLUGIN("sim", SLUICE_VERSION, "a fast toy simulation of proton collisions");
