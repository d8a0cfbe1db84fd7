/* plugin.c: what this plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(far_track);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(far_track)};
SL_PLUGIN("far", "1.0.0", "a selection line");
