/* plugin.c: table of the sim plugin. */
#include <sluice/plugin.h>

SL_DECLARE(source);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(source),
};

SL_PLUGIN("sim", "0.2.0", "a fast toy simulation of proton collisions");
