/* plugin.c: a small plugin with one algorithm of each kind, for the tests of the runtime. */
#include <sluice/plugin.h>

SL_DECLARE(positive);
SL_DECLARE(scale);
SL_DECLARE(runs);
SL_DECLARE(misbehave);
SL_DECLARE(spell);
SL_DECLARE(weights);
SL_DECLARE(chosen);
SL_DECLARE(doubled);
SL_DECLARE(counter);
SL_DECLARE(tally);
SL_DECLARE(merge);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(positive), SL_ENTRY(scale), SL_ENTRY(runs),   SL_ENTRY(misbehave), SL_ENTRY(weights), SL_ENTRY(doubled),
    SL_ENTRY(counter),  SL_ENTRY(tally), SL_ENTRY(chosen), SL_ENTRY(spell),     SL_ENTRY(merge)};
SL_PLUGIN("example", "1.2.3", "small algorithms for tests");
