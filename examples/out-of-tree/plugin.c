/* plugin.c: what this plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(hit_radius);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(hit_radius)};
SL_PLUGIN("radius", "1.0.0", "distances of VELO hits");
