/* plugin.c: what this plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(hit_radius);
SL_DECLARE(near_tracks);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(hit_radius), SL_ENTRY(near_tracks)};
SL_PLUGIN("radius", "1.0.0", "distances of VELO hits and tracks");
