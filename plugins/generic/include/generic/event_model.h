/* event_model.h: collections of the plugin generic. */
#ifndef GENERIC_EVENT_MODEL_H
#define GENERIC_EVENT_MODEL_H

#include <sluice/plugin.h>

#define GENERIC_DECISIONS_FIELDS(F)                        \
  F(offsets, u32, OFFSETS, "", "first list of each event") \
  F(list, u32, PER_ITEM, "", "index of the list among the inputs, from 0, ascending within an event")
SL_COLLECTION(generic_decisions, GENERIC_DECISIONS_FIELDS, "event lists that contain each event");

/* Values of an expression of fields; the offsets are those of its items. */
#define GENERIC_DERIVED_FIELDS(F)                          \
  F(offsets, u32, OFFSETS, "", "first item of each event") \
  F(value, f32, PER_ITEM, "", "value of the expression")
SL_COLLECTION(generic_derived, GENERIC_DERIVED_FIELDS, "a value per item, computed by an expression");

#define GENERIC_DERIVED_OF_EVENTS_FIELDS(F) F(value, f32, PER_EVENT, "", "value of the expression")
SL_COLLECTION(generic_derived_of_events, GENERIC_DERIVED_OF_EVENTS_FIELDS,
              "a value per event, computed by an expression");

/* One entry per list. */
#define GENERIC_LIST_TOTALS_FIELDS(F)                             \
  F(events, u32, TOTAL, "events", "number of events on the list") \
  F(alone, u32, TOTAL, "events", "number of events on this list only")
SL_COLLECTION(generic_list_totals, GENERIC_LIST_TOTALS_FIELDS, "number of events on each event list, over the run");

/* Counts of values over the run, with the entries of struct sl_histogram. */
#define GENERIC_HISTOGRAM_FIELDS(F) \
  F(counts, u32, TOTAL, "", "number of values below, in each bin, above, and not finite")
SL_COLLECTION(generic_histogram, GENERIC_HISTOGRAM_FIELDS, "histogram of the values of a field, over the run");

#define GENERIC_HISTOGRAM_2D_FIELDS(F) \
  F(counts, u32, TOTAL, "",            \
    "number of pairs; y below, in its first bin, ..., for each of them x below, in its first bin, ...")
SL_COLLECTION(generic_histogram_2d, GENERIC_HISTOGRAM_2D_FIELDS,
              "two-dimensional histogram of two fields, over the run");

#endif
