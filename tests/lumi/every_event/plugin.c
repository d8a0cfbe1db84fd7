/* plugin.c: variant of lumi.summarize without event lists, for comparison. */
#include <sluice/plugin.h>

SL_DECLARE(summarize_every_event);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(summarize_every_event)};

SL_PLUGIN("every_event", SLUICE_VERSION, "luminosity counters with a block for every event");
