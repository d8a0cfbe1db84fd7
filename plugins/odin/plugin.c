/* plugin.c: what the ODIN plugin offers. */
#include <sluice/plugin.h>

SL_DECLARE(decode);
SL_DECLARE(filter);
SL_DECLARE(prescale);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(decode), SL_ENTRY(filter), SL_ENTRY(prescale)};

SL_PLUGIN("odin", "0.2.0", "LHCb's readout supervisor: who an event is, why it was taken, and lists of events");
