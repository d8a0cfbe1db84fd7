/* plugin.c: the algorithms of the ODIN plugin. */
#include <sluice/plugin.h>

SL_DECLARE(decode);
SL_DECLARE(filter);
SL_DECLARE(prescale);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(decode), SL_ENTRY(filter), SL_ENTRY(prescale)};

SL_PLUGIN("odin", "0.2.0", "LHCb's readout supervisor: fields of the ODIN bank, and event lists made from them");
