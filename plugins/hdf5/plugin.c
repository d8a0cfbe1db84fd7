/* plugin.c: the plugin hdf5. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* host algorithms only */
SL_DECLARE(sink);
#endif

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(sink),
#endif
};

SL_PLUGIN("hdf5", SLUICE_VERSION, "outputs of a graph as HDF5 files");
