/* plugin.c: the algorithms of the luminosity plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants and sinks run on the host */
SL_DECLARE(schema);
SL_DECLARE(csv_sink);
#endif
SL_DECLARE(summarize);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(schema),
    SL_ENTRY(csv_sink),
#endif
    SL_ENTRY(summarize),
};

SL_PLUGIN("lumi", SLUICE_VERSION, "luminosity counters of LHCb events");
