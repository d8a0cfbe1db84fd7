/* plugin.c: the plugin measures, with which the tests of hdf5.lh5_sink have every kind of result. */
#include <sluice/plugin.h>

SL_DECLARE(measure);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(measure)};
SL_PLUGIN("measures", "0", "results of waveforms, for tests");
