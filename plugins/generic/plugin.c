/* plugin.c: what the plugin generic offers. */
#include <sluice/plugin.h>

SL_DECLARE(filter);
SL_DECLARE(gather_lists);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(filter), SL_ENTRY(gather_lists)};

SL_PLUGIN("generic", "0.1.0", "what needs no knowledge of a detector: event lists and collections of any kind");
