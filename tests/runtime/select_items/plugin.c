/* plugin.c: an algorithm for each macro of sluice/kernel_select.h. */
#include <sluice/plugin.h>

SL_DECLARE(select_keys);
SL_DECLARE(select_groups);
SL_DECLARE(merge_groups);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(select_keys), SL_ENTRY(select_groups),
                                                        SL_ENTRY(merge_groups)};
SL_PLUGIN("select_items", "1.0", "algorithms to test sluice/kernel_select.h");
