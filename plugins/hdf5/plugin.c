/* plugin.c: the plugin hdf5. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* host algorithms only */
SL_DECLARE(sink);
SL_DECLARE(lh5_source);
SL_DECLARE(lh5_sink);
#endif

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(sink),
    SL_ENTRY(lh5_source),
    SL_ENTRY(lh5_sink),
#endif
};

SL_PLUGIN("hdf5", SLUICE_VERSION, "HDF5 files of outputs, and LH5 files of waveforms");
