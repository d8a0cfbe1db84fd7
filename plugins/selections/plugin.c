/* plugin.c: what the plugin of selections offers. */
#include <sluice/plugin.h>

SL_DECLARE(fit);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(fit)};

SL_PLUGIN("selections", "0.1.0", "what selections read: long tracks at the beam line");
