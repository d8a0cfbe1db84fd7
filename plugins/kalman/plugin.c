/* plugin.c: the algorithms of the kalman plugin. */
#include <sluice/plugin.h>

#ifdef SL_TARGET_CPU /* host only */
SL_DECLARE(constants);
#endif
SL_DECLARE(fit);
SL_DECLARE(residuals);

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(constants),
#endif
    SL_ENTRY(fit),
    SL_ENTRY(residuals),
};

SL_PLUGIN("kalman", SLUICE_VERSION, "Kalman fit of long tracks through VELO, UT and SciFi");
