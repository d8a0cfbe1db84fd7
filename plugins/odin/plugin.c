/* plugin.c: the algorithms of the ODIN plugin. */
#include <sluice/plugin.h>

SL_DECLARE(decode);
SL_DECLARE(filter);
SL_DECLARE(prescale);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(decode), SL_ENTRY(filter), SL_ENTRY(prescale)};

SL_PLUGIN("odin", SLUICE_VERSION, "LHCb's readout supervisor: fields of the ODIN bank, and event lists made from them");
