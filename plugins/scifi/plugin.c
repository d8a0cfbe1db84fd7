/* plugin.c: what the SciFi plugin offers. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants and sinks are the host's */
SL_DECLARE(geometry);
SL_DECLARE(geometry_sink);
SL_DECLARE(looking_forward);
SL_DECLARE(seeding_constants);
SL_DECLARE(matching_constants);
#endif
SL_DECLARE(decode);
SL_DECLARE(forward_from_ut);
SL_DECLARE(forward_from_velo);
SL_DECLARE(search_windows);
SL_DECLARE(triplet_seeding);
SL_DECLARE(create_tracks);
SL_DECLARE(quality_filter);
SL_DECLARE(forward_consolidate);
SL_DECLARE(seed_xz);
SL_DECLARE(seed_clones);
SL_DECLARE(seed_confirm);
SL_DECLARE(seed_consolidate);
SL_DECLARE(match);
SL_DECLARE(match_ut);
SL_DECLARE(match_consolidate);
SL_DECLARE(unused_hits);
SL_DECLARE(unused_velo_tracks);
SL_DECLARE(merge_long_tracks);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(geometry),
    SL_ENTRY(geometry_sink),
    SL_ENTRY(looking_forward),
    SL_ENTRY(seeding_constants),
    SL_ENTRY(matching_constants),
#endif
    SL_ENTRY(decode),
    SL_ENTRY(forward_from_ut),
    SL_ENTRY(forward_from_velo),
    SL_ENTRY(search_windows),
    SL_ENTRY(triplet_seeding),
    SL_ENTRY(create_tracks),
    SL_ENTRY(quality_filter),
    SL_ENTRY(forward_consolidate),
    SL_ENTRY(seed_xz),
    SL_ENTRY(seed_clones),
    SL_ENTRY(seed_confirm),
    SL_ENTRY(seed_consolidate),
    SL_ENTRY(match),
    SL_ENTRY(match_ut),
    SL_ENTRY(match_consolidate),
    SL_ENTRY(unused_hits),
    SL_ENTRY(unused_velo_tracks),
    SL_ENTRY(merge_long_tracks),
};

SL_PLUGIN("scifi", "0.1.0", "LHCb's scintillating fibre tracker");
