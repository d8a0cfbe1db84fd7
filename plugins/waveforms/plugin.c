/* plugin.c: table of the waveforms plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* constants, sources and sinks run on the host */
SL_DECLARE(channels);
SL_DECLARE(check);
SL_DECLARE(cusp_taps);
SL_DECLARE(picture);
SL_DECLARE(simulate);
SL_DECLARE(simulate_sipm);
SL_DECLARE(t0_taps);
#endif
SL_DECLARE(convolve);
SL_DECLARE(cusp_filter);
SL_DECLARE(difference);
SL_DECLARE(extremes);
SL_DECLARE(find_pulses);
SL_DECLARE(fine_time);
SL_DECLARE(fit);
SL_DECLARE(half_width);
SL_DECLARE(moving_mean);
SL_DECLARE(pick);
SL_DECLARE(pole_zero);
SL_DECLARE(ratio);
SL_DECLARE(sipm_current);
SL_DECLARE(subtract_baseline);
SL_DECLARE(t0_filter);
SL_DECLARE(trapezoid);
SL_DECLARE(trapezoid_maximum);
SL_DECLARE(trapezoid_pick);
SL_DECLARE(upsample);
SL_DECLARE(walk);
SL_DECLARE(window);

/* clang-format off: one a line */
static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(channels),
    SL_ENTRY(check),
    SL_ENTRY(cusp_taps),
    SL_ENTRY(picture),
    SL_ENTRY(simulate),
    SL_ENTRY(simulate_sipm),
    SL_ENTRY(t0_taps),
#endif
    SL_ENTRY(convolve),
    SL_ENTRY(cusp_filter),
    SL_ENTRY(difference),
    SL_ENTRY(extremes),
    SL_ENTRY(find_pulses),
    SL_ENTRY(fine_time),
    SL_ENTRY(fit),
    SL_ENTRY(half_width),
    SL_ENTRY(moving_mean),
    SL_ENTRY(pick),
    SL_ENTRY(pole_zero),
    SL_ENTRY(ratio),
    SL_ENTRY(sipm_current),
    SL_ENTRY(subtract_baseline),
    SL_ENTRY(t0_filter),
    SL_ENTRY(trapezoid),
    SL_ENTRY(trapezoid_maximum),
    SL_ENTRY(trapezoid_pick),
    SL_ENTRY(upsample),
    SL_ENTRY(walk),
    SL_ENTRY(window),
};
/* clang-format on */

SL_PLUGIN("waveforms", SLUICE_VERSION, "waveforms of digitisers: filters, time points, energies, pulses");
