/* plugin.c: the plugin generic. */
#include <sluice/plugin.h>

SL_DECLARE(derive);
SL_DECLARE(derive_of_events);
SL_DECLARE(filter);
SL_DECLARE(filter_where);
SL_DECLARE(filter_where_of_events);
SL_DECLARE(gather_lists);
SL_DECLARE(histogram);
SL_DECLARE(histogram_2d);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(derive),       SL_ENTRY(derive_of_events),       SL_ENTRY(filter),
    SL_ENTRY(filter_where), SL_ENTRY(filter_where_of_events), SL_ENTRY(gather_lists),
    SL_ENTRY(histogram),    SL_ENTRY(histogram_2d),
};

SL_PLUGIN("generic", SLUICE_VERSION,
          "algorithms for any detector: event lists, filters on fields of any collection, histograms");
