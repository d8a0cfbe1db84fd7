/* plugin.c: what the UT plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
SL_DECLARE(magnet_tables);
SL_DECLARE(magnet_tables_sink);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(geometry), SL_ENTRY(geometry_sink),
                                                        SL_ENTRY(magnet_tables), SL_ENTRY(magnet_tables_sink)};

SL_PLUGIN("ut", "0.1.0", "LHCb's upstream tracker: geometry and raw banks");
