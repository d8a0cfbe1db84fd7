/* plugin.c: algorithms with shared memory of a size chosen in `run`. */
#include <sluice/plugin.h>

SL_DECLARE(smaller);
SL_DECLARE(spectrum);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(smaller), SL_ENTRY(spectrum)};
SL_PLUGIN("shared_memory", "1.0", "algorithms to test sl_grid_with_shared and sluice/fft.h");
