/* odin.prescale: lets through a fraction of the events, chosen by numbers that look random but are functions of the
 * node and of the event alone (README.md, "Prescaling"): the same events pass wherever and whenever they are looked at.
 */
#include "odin/event_model.h"
#include "odin/scaler.h"

#include <sluice/kernel.h>

#define SL_ARGS prescale_args
#define PRESCALE(M)                                                                                       \
  M(IN, odin, odin_events, "run event_number gps_time", "who the events are")                             \
  M(OUT, passed, sl_event_list, "the events that pass, in ascending order")                               \
  M(F32, fraction, 1.0, 0.0, 1.0, "", "of the events that pass")                                          \
  M(STRING, seed, "", "a text instead of the node's name; nodes with the same text pass the same events") \
  M(NODE_HASH, node)                                                                                      \
  M(COMPUTED, start, struct odin_scaler, "of the seed and the fraction")
SL_ARGUMENTS(prescale, PRESCALE);

static int prepare(const struct sl_services *s, void *args) {
  struct prescale_args *a = (struct prescale_args *)args;
  (void)s;
  const uint32_t seed = *a->seed ? odin_seed_of(a->seed) : (uint32_t)(a->node ^ a->node >> 32);
  a->start = odin_scaler_of(seed, a->fraction);
  return SL_OK;
}

static SL_DEVICE uint32_t passes(const struct prescale_args *a, uint32_t event) {
  return odin_scaler_passes(&a->start, &a->odin, event);
}

SL_FILTER(prescale, "lets a fraction of the events through, the same ones each time", passes, prepare);
