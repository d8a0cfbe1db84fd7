/* plugin.c: the toy plugin. */
#include <sluice/plugin.h>

SL_DECLARE(source);
SL_DECLARE(order);
SL_DECLARE(select);
SL_DECLARE(scale);
SL_DECLARE(expand);
SL_DECLARE(sum);

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(source), SL_ENTRY(order),  SL_ENTRY(select),
                                                        SL_ENTRY(scale),  SL_ENTRY(expand), SL_ENTRY(sum)};
SL_PLUGIN("toy", "1.0", "numbers, to test the executor with");
