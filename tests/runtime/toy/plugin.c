/* plugin.c: the toy plugin. */
#include <sluice/plugin.h>

SL_DECLARE(select);
SL_DECLARE(scale);
SL_DECLARE(expand);
SL_DECLARE(split);
SL_DECLARE(totals);
SL_DECLARE(sum);
SL_DECLARE(weigh);
SL_DECLARE(look_up);
SL_DECLARE(join);
SL_DECLARE(vote);
SL_DECLARE(pick);
SL_DECLARE(mix);
SL_DECLARE(mark);

#ifdef SL_TARGET_CPU
SL_DECLARE(source);
SL_DECLARE(order);
SL_DECLARE(steps);
SL_DECLARE(table);
SL_DECLARE(append);
SL_DECLARE(tally);
SL_DECLARE(paint);
#endif

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(source), SL_ENTRY(order), SL_ENTRY(steps),   SL_ENTRY(table), SL_ENTRY(append),
    SL_ENTRY(tally),  SL_ENTRY(paint),
#endif
    SL_ENTRY(select), SL_ENTRY(scale), SL_ENTRY(expand),  SL_ENTRY(split), SL_ENTRY(totals),
    SL_ENTRY(sum),    SL_ENTRY(weigh), SL_ENTRY(look_up), SL_ENTRY(join),  SL_ENTRY(vote),
    SL_ENTRY(pick),   SL_ENTRY(mix),   SL_ENTRY(mark),
};
SL_PLUGIN("toy", "1.0", "simple algorithms to test the executor");
