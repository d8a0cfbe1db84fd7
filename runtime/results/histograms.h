/* histograms.h: the histograms of an output, from the tables of its algorithm and the values in the graph. */
#ifndef SL_HISTOGRAMS_H
#define SL_HISTOGRAMS_H

#include "graph/graph.h"

/* Makes the histograms of an output of totals (`totals`, `items` and names are set): the output itself if its entries
 * are bins, or each field with one count for each named entry. Sums of signed numbers are no counts. Returns 0 or
 * SL_ENOMEM. */
int sl_histograms_open(struct sl_run_output *output, const struct sl_graph *g, struct sl_port port);
void sl_histograms_close(struct sl_run_output *output);

#endif
