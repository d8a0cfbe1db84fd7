/* plugin.c: algorithms of the io plugin. */
#include <sluice/plugin.h>

SL_DECLARE(mdf_source);
SL_DECLARE(mdf_sink);
SL_DECLARE(mep_source);
SL_DECLARE(feed_source);
SL_DECLARE(mep_sink);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(mdf_source), SL_ENTRY(mdf_sink), SL_ENTRY(mep_source), SL_ENTRY(feed_source), SL_ENTRY(mep_sink),
};

SL_PLUGIN("io", SLUICE_VERSION, "raw data: files, and events from the memory of a program");
