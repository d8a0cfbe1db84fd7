/* plugin.c: kernels with faults that the emulator must find. */
#include <sluice/plugin.h>

SL_DECLARE(faulty);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(faulty)};
SL_PLUGIN("simt_bad", "1.0", "kernels with faults, for the tests of the emulator");
