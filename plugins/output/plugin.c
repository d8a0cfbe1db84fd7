/* plugin.c: the plugin output. */
#include <sluice/plugin.h>

SL_DECLARE(csv_sink);
SL_DECLARE(histogram_sink);

static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(csv_sink),
    SL_ENTRY(histogram_sink),
};

/* Names before version 0.2.0. */
static const struct sl_former_name former_names[] = {
    {"io.csv_sink", "csv_sink"},
    {"io.histogram_sink", "histogram_sink"},
};

SL_PLUGIN("output", SLUICE_VERSION, "outputs of a run as tables, histograms as pictures",
          SL_FORMER_NAMES(former_names));
