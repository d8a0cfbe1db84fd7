/* plugin.c: the algorithm of the PLUME plugin. */
#include <sluice/plugin.h>

SL_DECLARE(decode);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(decode)};

SL_PLUGIN("plume", SLUICE_VERSION, "LHCb's luminometer in front of the VELO");
