/* plugin.c: the algorithms of the seeding plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* host only */
SL_DECLARE(constants);
SL_DECLARE(matching_constants);
#endif
SL_DECLARE(xz);
SL_DECLARE(clones);
SL_DECLARE(confirm);
SL_DECLARE(consolidate);
SL_DECLARE(match);
SL_DECLARE(match_ut);
SL_DECLARE(match_consolidate);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(constants),
    SL_ENTRY(matching_constants),
#endif
    SL_ENTRY(xz),
    SL_ENTRY(clones),
    SL_ENTRY(confirm),
    SL_ENTRY(consolidate),
    SL_ENTRY(match),
    SL_ENTRY(match_ut),
    SL_ENTRY(match_consolidate),
};

/* Names before version 0.2.0. */
static const struct sl_former_name former_names[] = {
#ifdef SL_TARGET_CPU
    {"scifi.seeding_constants", "constants"},
    {"scifi.matching_constants", "matching_constants"},
#endif
    {"scifi.seed_xz", "xz"},
    {"scifi.seed_clones", "clones"},
    {"scifi.seed_confirm", "confirm"},
    {"scifi.seed_consolidate", "consolidate"},
    {"scifi.match", "match"},
    {"scifi.match_ut", "match_ut"},
    {"scifi.match_consolidate", "match_consolidate"},
};

SL_PLUGIN("seeding", SLUICE_VERSION, "seeds in the fibre tracker and their matches with VELO tracks",
          SL_FORMER_NAMES(former_names));
