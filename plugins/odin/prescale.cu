/* odin.prescale: lists a fraction of the events, selected by pseudo-random numbers that are functions of the node name
 * and the event only (README.md, "Prescaling"), so that the same events pass in every run.
 */
#include "odin/event_model.h"
#include "odin/scaler.h"

#include <sluice/kernel.h>

#define SL_ARGS prescale_args
#define PRESCALE(M)                                                                                                \
  M(IN, odin, odin_events, "run event_number gps_time", "run numbers, event numbers and times of the events")      \
  M(OUT, passed, sl_event_list, "events that pass, in ascending order")                                            \
  M(F32, fraction, 1.0, 0.0, 1.0, "", "fraction of the events that pass")                                          \
  M(STRING, seed, "", "text that replaces the name of the node as seed; nodes with equal seeds pass equal events") \
  M(NODE_HASH, node)                                                                                               \
  M(COMPUTED, start, struct odin_scaler, "seed and threshold of the selection")
SL_ARGUMENTS(prescale, PRESCALE);

static int prepare(const struct sl_services *s, void *args) {
  struct prescale_args *a = (struct prescale_args *)args;
  (void)s;
  const uint32_t seed = *a->seed ? odin_seed_of(a->seed) : (uint32_t)(a->node ^ a->node >> 32);
  a->start = odin_scaler_of(seed, a->fraction);
  return SL_OK;
}

static SL_DEVICE uint32_t passes(const struct prescale_args *a, uint32_t event, struct sl_explanation *explanation) {
  SL_REQUIRE("pseudo-random number", odin_scaler_value(&a->start, &a->odin, event), <, a->start.threshold);
  return 1;
}

SL_FILTER(prescale, "selects a reproducible fraction of the events", passes, prepare);
