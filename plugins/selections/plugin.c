/* plugin.c: what the plugin of selections offers. */
#include <sluice/plugin.h>

SL_DECLARE(fit);
SL_DECLARE(particles);
SL_DECLARE(passthrough);
SL_DECLARE(track_mva);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(fit), SL_ENTRY(particles), SL_ENTRY(passthrough),
                                                        SL_ENTRY(track_mva)};

SL_PLUGIN("selections", "0.1.0", "what selections read: long tracks at the beam line, and their vertices");
