/* plugin.c: the algorithms of the muon plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants and sinks are the host's */
SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
#endif
SL_DECLARE(cross);
SL_DECLARE(decode);
SL_DECLARE(is_muon);
SL_DECLARE(score);
SL_DECLARE(stubs);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(geometry), SL_ENTRY(geometry_sink),
#endif
    SL_ENTRY(cross),    SL_ENTRY(decode),        SL_ENTRY(is_muon), SL_ENTRY(score), SL_ENTRY(stubs),
};

SL_PLUGIN("muon", SLUICE_VERSION, "LHCb's muon chambers: hits, muons among long tracks, and stand-alone ones");
