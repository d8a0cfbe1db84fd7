/* plugin.c: the algorithms of the VELO plugin, in the order of the reconstruction. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants and sinks run on the host only */
SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
#endif
SL_DECLARE(decode_retina);
SL_DECLARE(masked_clustering);
SL_DECLARE(search_by_triplet);
SL_DECLARE(three_hit_filter);
SL_DECLARE(consolidate);
SL_DECLARE(kalman_filter);
SL_DECLARE(count_tracks);
SL_DECLARE(select_tracks);
SL_DECLARE(large_retina_clusters);
SL_DECLARE(large_superpixel_clusters);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(geometry),
    SL_ENTRY(geometry_sink),
#endif
    SL_ENTRY(decode_retina),
    SL_ENTRY(masked_clustering),
    SL_ENTRY(search_by_triplet),
    SL_ENTRY(three_hit_filter),
    SL_ENTRY(consolidate),
    SL_ENTRY(kalman_filter),
    SL_ENTRY(count_tracks),
    SL_ENTRY(select_tracks),
    SL_ENTRY(large_retina_clusters),
    SL_ENTRY(large_superpixel_clusters),
};

SL_PLUGIN("velo", SLUICE_VERSION, "LHCb's vertex locator: clusters, hits and straight tracks");
