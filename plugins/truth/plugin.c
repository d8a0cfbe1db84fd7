/* plugin.c: table of the truth plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* sinks run on the host */
SL_DECLARE(distributions);
SL_DECLARE(electron_check);
SL_DECLARE(electron_examples);
SL_DECLARE(event_picture);
SL_DECLARE(long_check);
SL_DECLARE(forward_examples);
SL_DECLARE(match_examples);
SL_DECLARE(muon_check);
SL_DECLARE(muon_examples);
SL_DECLARE(photon_check);
SL_DECLARE(pv_check);
SL_DECLARE(scifi_check);
SL_DECLARE(seed_check);
SL_DECLARE(selection_check);
SL_DECLARE(ut_check);
SL_DECLARE(velo_check);
#endif
SL_DECLARE(lost_tracks);
SL_DECLARE(match_long);
SL_DECLARE(match_seeds);
SL_DECLARE(match_ut);
SL_DECLARE(match_velo);
SL_DECLARE(particles);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(distributions), SL_ENTRY(electron_check),   SL_ENTRY(electron_examples), SL_ENTRY(event_picture),
    SL_ENTRY(long_check),    SL_ENTRY(forward_examples), SL_ENTRY(match_examples),    SL_ENTRY(muon_check),
    SL_ENTRY(muon_examples), SL_ENTRY(photon_check),     SL_ENTRY(pv_check),          SL_ENTRY(scifi_check),
    SL_ENTRY(seed_check),    SL_ENTRY(selection_check),  SL_ENTRY(ut_check),          SL_ENTRY(velo_check),
#endif
    SL_ENTRY(lost_tracks),   SL_ENTRY(match_long),       SL_ENTRY(match_seeds),       SL_ENTRY(match_ut),
    SL_ENTRY(match_velo),    SL_ENTRY(particles),
};

SL_PLUGIN("truth", SLUICE_VERSION, "comparison with Monte-Carlo truth, and the truth as collections");
