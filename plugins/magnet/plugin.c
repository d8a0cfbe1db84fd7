/* plugin.c: the algorithms of the magnet plugin. */
#include <sluice/plugin.h>

SL_DECLARE(polarity);
SL_DECLARE(polarity_sink);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(polarity), SL_ENTRY(polarity_sink)};

SL_PLUGIN("magnet", SLUICE_VERSION, "polarity of LHCb's dipole magnet");
