/* event_model.h: what the plugin generic offers to others. */
#ifndef GENERIC_EVENT_MODEL_H
#define GENERIC_EVENT_MODEL_H

#include <sluice/plugin.h>

#define GENERIC_DECISIONS_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first of the lists that an event is on") \
  F(list, u32, PER_ITEM, "", "place of the list among the inputs, from 0, ascending within an event")
SL_COLLECTION(generic_decisions, GENERIC_DECISIONS_FIELDS, "which of some event lists each event is on");

/* An entry for each list. */
#define GENERIC_LIST_TOTALS_FIELDS(F)             \
  F(events, u32, TOTAL, "", "events on the list") \
  F(alone, u32, TOTAL, "", "those that are on no other one")
SL_COLLECTION(generic_list_totals, GENERIC_LIST_TOTALS_FIELDS, "how many events of the run are on each of some lists");

/* Counts of values over the run. An axis of N bins has N + GENERIC_BESIDE entries: values below it, its bins, values
 * above it, and those that are infinite or no numbers. The properties of the node say what the axis is: `of`, `bins`,
 * `lower`, `upper`; in two dimensions `x`, `x_bins`, ... and `y`, ...; and `title`. output.histogram_sink reads them.
 */
enum { GENERIC_BELOW = 0, GENERIC_BESIDE = 3 };
#define GENERIC_ABOVE(bins)      ((bins) + 1)
#define GENERIC_NOT_FINITE(bins) ((bins) + 2)

#define GENERIC_HISTOGRAM_FIELDS(F) F(counts, u32, TOTAL, "", "values below, in each bin, above, and not finite")
SL_COLLECTION(generic_histogram, GENERIC_HISTOGRAM_FIELDS, "how the values of a field are distributed over the run");

#define GENERIC_HISTOGRAM_2D_FIELDS(F) \
  F(counts, u32, TOTAL, "",            \
    "pairs with y below, in its first bin, ...: for each of them, x below, in its first bin, ...")
SL_COLLECTION(generic_histogram_2d, GENERIC_HISTOGRAM_2D_FIELDS,
              "how the pairs of values of two fields are distributed over the run");

#endif
