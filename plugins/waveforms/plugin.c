/* plugin.c: the algorithms of the plugin waveforms. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants run on the host only */
SL_DECLARE(channels);
SL_DECLARE(cusp_taps);
SL_DECLARE(t0_taps);
#endif
SL_DECLARE(convolve);
SL_DECLARE(cusp_filter);
SL_DECLARE(difference);
SL_DECLARE(extremes);
SL_DECLARE(fit);
SL_DECLARE(moving_mean);
SL_DECLARE(pick);
SL_DECLARE(pole_zero);
SL_DECLARE(ratio);
SL_DECLARE(subtract_baseline);
SL_DECLARE(t0_filter);
SL_DECLARE(trapezoid);
SL_DECLARE(trapezoid_maximum);
SL_DECLARE(trapezoid_pick);
SL_DECLARE(upsample);
SL_DECLARE(walk);
SL_DECLARE(window);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(channels),
    SL_ENTRY(cusp_taps),
    SL_ENTRY(t0_taps),
#endif
    SL_ENTRY(convolve),
    SL_ENTRY(cusp_filter),
    SL_ENTRY(difference),
    SL_ENTRY(extremes),
    SL_ENTRY(fit),
    SL_ENTRY(moving_mean),
    SL_ENTRY(pick),
    SL_ENTRY(pole_zero),
    SL_ENTRY(ratio),
    SL_ENTRY(subtract_baseline),
    SL_ENTRY(t0_filter),
    SL_ENTRY(trapezoid),
    SL_ENTRY(trapezoid_maximum),
    SL_ENTRY(trapezoid_pick),
    SL_ENTRY(upsample),
    SL_ENTRY(walk),
    SL_ENTRY(window),
};

SL_PLUGIN("waveforms", SLUICE_VERSION, "pulse processing of digitised waveforms");
