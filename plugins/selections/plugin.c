/* plugin.c: what the plugin of selections offers. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants are the host's */
SL_DECLARE(two_track_network);
#endif
SL_DECLARE(fit);
SL_DECLARE(particles);
SL_DECLARE(passthrough);
SL_DECLARE(track_mva);
SL_DECLARE(two_track_score);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(two_track_network),
#endif
    SL_ENTRY(fit),
    SL_ENTRY(particles),
    SL_ENTRY(passthrough),
    SL_ENTRY(track_mva),
    SL_ENTRY(two_track_score),
};

SL_PLUGIN("selections", "0.1.0", "what selections read: long tracks at the beam line, and their vertices");
