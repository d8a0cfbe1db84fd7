/* plugin.c: table of the waveforms plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* sources and sinks run on the host */
SL_DECLARE(check);
SL_DECLARE(picture);
SL_DECLARE(simulate);
SL_DECLARE(simulate_sipm);
#endif
SL_DECLARE(find_pulses);
SL_DECLARE(half_width);
SL_DECLARE(sipm_current);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(check),       SL_ENTRY(picture),    SL_ENTRY(simulate),     SL_ENTRY(simulate_sipm),
#endif
    SL_ENTRY(find_pulses), SL_ENTRY(half_width), SL_ENTRY(sipm_current),
};

SL_PLUGIN("waveforms", SLUICE_VERSION, "waveforms of digitisers: filters, time points, energies, pulses");
