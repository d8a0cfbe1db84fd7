/* plugin.c: ut.decode with banks dealt to threads in other ways, for comparison. */
#include <sluice/plugin.h>

SL_DECLARE(decode);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(decode)};

SL_PLUGIN("ut_decoding", SLUICE_VERSION, "UT hits, with banks dealt to threads in several ways");
