/* plugin.c: the algorithms of this plugin. */
#include <sluice/plugin.h>

SL_DECLARE(source);
SL_DECLARE(delays);
SL_DECLARE(dedisperse);
SL_DECLARE(search);
SL_DECLARE(list);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(source), SL_ENTRY(delays), SL_ENTRY(list),
#endif
    SL_ENTRY(dedisperse), SL_ENTRY(search)};
SL_PLUGIN("bursts", "1.0.0", "a search for radio bursts");
