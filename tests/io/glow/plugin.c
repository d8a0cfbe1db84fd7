/* plugin.c: algorithms of the test plugin glow. */
#include <sluice/plugin.h>

SL_DECLARE(count_bytes);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(count_bytes)};

SL_PLUGIN("glow", SLUICE_VERSION, "banks of a type that no plugin of this repository reads");
