/* plugin.c: the algorithms of the forward plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* host only */
SL_DECLARE(constants);
#endif
SL_DECLARE(from_ut);
SL_DECLARE(from_velo);
SL_DECLARE(search_windows);
SL_DECLARE(triplet_seeding);
SL_DECLARE(create_tracks);
SL_DECLARE(quality_filter);
SL_DECLARE(ghost_scores);
SL_DECLARE(consolidate);
SL_DECLARE(unused_hits);
SL_DECLARE(unused_velo_tracks);
SL_DECLARE(merge_long_tracks);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(constants),
#endif
    SL_ENTRY(from_ut),       SL_ENTRY(from_velo),          SL_ENTRY(search_windows),    SL_ENTRY(triplet_seeding),
    SL_ENTRY(create_tracks), SL_ENTRY(quality_filter),     SL_ENTRY(ghost_scores),      SL_ENTRY(consolidate),
    SL_ENTRY(unused_hits),   SL_ENTRY(unused_velo_tracks), SL_ENTRY(merge_long_tracks),
};

/* Names before version 0.2.0. */
static const struct sl_former_name former_names[] = {
#ifdef SL_TARGET_CPU
    {"scifi.looking_forward", "constants"},
#endif
    {"scifi.forward_from_ut", "from_ut"},
    {"scifi.forward_from_velo", "from_velo"},
    {"scifi.search_windows", "search_windows"},
    {"scifi.triplet_seeding", "triplet_seeding"},
    {"scifi.create_tracks", "create_tracks"},
    {"scifi.quality_filter", "quality_filter"},
    {"scifi.forward_consolidate", "consolidate"},
    {"scifi.unused_hits", "unused_hits"},
    {"scifi.unused_velo_tracks", "unused_velo_tracks"},
    {"scifi.merge_long_tracks", "merge_long_tracks"},
};

SL_PLUGIN("forward", SLUICE_VERSION, "long tracks from VELO and UT tracks followed into the fibre tracker",
          SL_FORMER_NAMES(former_names));
