/* histograms_json.h: the histograms of a run, as JSON in the form of output.histogram_sink (plugins/output/README.md).
 */
#ifndef SL_HISTOGRAMS_JSON_H
#define SL_HISTOGRAMS_JSON_H

#include "base/json.h"

#include <sluice/sluice.h>

/* Writes all histograms with the counts of the run so far. While the run goes on, call it with the lock of the delivery
 * held. Returns 0 or SL_ENOMEM. */
int sl_histograms_write_json(const struct sl_session *s, struct sl_json *j);

#endif
