/* plugin.c: the algorithms of the UT plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants and sinks run on the host only */
SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
SL_DECLARE(magnet_tables);
SL_DECLARE(magnet_tables_sink);
SL_DECLARE(sector_groups);
#endif
SL_DECLARE(decode);
SL_DECLARE(select_velo_tracks);
SL_DECLARE(search_windows);
SL_DECLARE(compass);
SL_DECLARE(consolidate);
SL_DECLARE(merge_tracks);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(geometry),      SL_ENTRY(geometry_sink),      SL_ENTRY(magnet_tables),  SL_ENTRY(magnet_tables_sink),
    SL_ENTRY(sector_groups),
#endif
    SL_ENTRY(decode),        SL_ENTRY(select_velo_tracks), SL_ENTRY(search_windows), SL_ENTRY(compass),
    SL_ENTRY(consolidate),   SL_ENTRY(merge_tracks),
};

SL_PLUGIN("ut", SLUICE_VERSION, "LHCb's upstream tracker: hits and tracks");
