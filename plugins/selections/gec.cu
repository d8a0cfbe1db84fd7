/* selections.gec: the global event cut: lists the events with few enough hits (README.md, "The global event cut"). */
#include "selections/event_model.h"

#include <sluice/kernel.h>

#define COUNT_MAX (SELECTIONS_NO_BANKS - 1)

#define SL_ARGS gec_args
#define GEC(M)                                                          \
  M(IN, counts, gec_counts, "scifi ut", "sizes of the events")          \
  M(OUT, passed, sl_event_list, "events that pass, in ascending order") \
  M(U32, min_scifi, 0, 0, COUNT_MAX, "", "minimum of counts.scifi")     \
  M(U32, max_scifi, 9750, 0, COUNT_MAX, "", "maximum of counts.scifi")  \
  M(U32, min_ut, 0, 0, COUNT_MAX, "", "minimum of counts.ut")           \
  M(U32, max_ut, 9750, 0, COUNT_MAX, "", "maximum of counts.ut")
SL_ARGUMENTS(gec, GEC);

static SL_DEVICE uint32_t passes(const struct gec_args *a, uint32_t event, struct sl_explanation *explanation) {
  const uint32_t scifi = a->counts.scifi[event], ut = a->counts.ut[event];
  SL_REQUIRE("SciFi hits", scifi, >=, a->min_scifi);
  SL_REQUIRE("SciFi hits", scifi, <=, a->max_scifi);
  SL_REQUIRE("UT hits", ut, >=, a->min_ut);
  SL_REQUIRE("UT hits", ut, <=, a->max_ut);
  return 1;
}

SL_FILTER(gec, "global event cut: lists the events with few enough hits, before decoding", passes, NULL);
