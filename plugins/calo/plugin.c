/* plugin.c: the algorithms of the calo plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* host only */
SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
#endif
SL_DECLARE(bremsstrahlung);
SL_DECLARE(clusters);
SL_DECLARE(decode);
SL_DECLARE(electron_id);
SL_DECLARE(energy_sums);
SL_DECLARE(match_clusters);
SL_DECLARE(neutral_clusters);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(geometry),       SL_ENTRY(geometry_sink),
#endif
    SL_ENTRY(bremsstrahlung), SL_ENTRY(clusters),       SL_ENTRY(decode),           SL_ENTRY(electron_id),
    SL_ENTRY(energy_sums),    SL_ENTRY(match_clusters), SL_ENTRY(neutral_clusters),
};

SL_PLUGIN("calo", SLUICE_VERSION, "LHCb's electromagnetic calorimeter");
