/* plugin.c: the algorithms of the SciFi plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants and sinks run on the host only */
SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
#endif
SL_DECLARE(decode);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(geometry),
    SL_ENTRY(geometry_sink),
#endif
    SL_ENTRY(decode),
};

SL_PLUGIN("scifi", SLUICE_VERSION, "LHCb's scintillating fibre tracker: geometry and hits");
