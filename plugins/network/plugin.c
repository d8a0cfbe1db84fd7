/* plugin.c: the algorithms of the network plugin. */
#include <sluice/plugin.h>

SL_DECLARE(weights);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(weights)};

SL_PLUGIN("network", SLUICE_VERSION, "small dense networks for kernels of other plugins");
