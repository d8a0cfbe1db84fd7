/* odin.filter: a list of the events that ODIN says are of a kind. What several of its properties ask for must all hold.
 */
#include "odin/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS filter_args
#define FILTER(M)                                                                                                    \
  M(IN, odin, odin_events, "event_type crossing_type trigger_type error_bits orbit", "of all events")                \
  M(OUT, passed, sl_event_list, "the events that pass, in ascending order")                                          \
  M(U32, event_types, 0, 0, 0xFFFF, "",                                                                              \
    "at least one of these bits is set (8: luminosity, 2: physics, 4: no bias, ...); 0: any event")                  \
  M(U32, crossing_types, 15, 0, 15, "", "bit t: crossing type t passes (1: no beam, 2: beam 1, 4: beam 2, 8: both)") \
  M(U32, trigger_types, 0xFFFF, 0, 0xFFFF, "", "bit t: trigger type t passes")                                       \
  M(U32, error_states, 1, 0, 3, "", "bit 0: events without error bits pass, bit 1: events with some")                \
  M(U32, orbit_period, 1, 1, 0xFFFFFFFF, "", "of so many orbits one passes")                                         \
  M(U32, orbit_phase, 0, 0, 0xFFFFFFFF, "", "that whose number is this, modulo orbit_period")
SL_ARGUMENTS(filter, FILTER);

static SL_DEVICE uint32_t passes(const struct filter_args *a, uint32_t event) {
  const uint32_t has_error = a->odin.error_bits[event] != 0 ? 1u : 0u;
  return (a->event_types == 0 || (a->odin.event_type[event] & a->event_types) != 0) &&
         (a->crossing_types >> a->odin.crossing_type[event] & 1u) != 0 &&
         (a->trigger_types >> a->odin.trigger_type[event] & 1u) != 0 && (a->error_states >> has_error & 1u) != 0 &&
         a->odin.orbit[event] % a->orbit_period == a->orbit_phase % a->orbit_period;
}

SL_FILTER(filter, "selects events by what ODIN says of them", passes);
