/* odin.filter: lists the events with ODIN fields that meet all requirements. */
#include "bunches.h"
#include "odin/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS filter_args
#define FILTER(M)                                                                                                    \
  M(IN, odin, odin_events, "event_type crossing_type trigger_type error_bits orbit bunch",                           \
    "ODIN fields of all events")                                                                                     \
  M(OUT, passed, sl_event_list, "events that pass, in ascending order")                                              \
  M(U32, event_types, 0, 0, 0xFFFF, "",                                                                              \
    "mask of accepted event type bits (8: luminosity, 2: physics, 4: no bias, ...); 0: any event")                   \
  M(U32, crossing_types, 15, 0, 15, "", "bit t: crossing type t passes (1: no beam, 2: beam 1, 4: beam 2, 8: both)") \
  M(U32, trigger_types, 0xFFFF, 0, 0xFFFF, "", "bit t: trigger type t passes")                                       \
  M(U32, error_states, 1, 0, 3, "", "bit 0: events without error bits pass, bit 1: events with some")                \
  M(U32, orbit_period, 1, 1, 0xFFFFFFFF, "", "period of orbits that pass; 1: all orbits")                            \
  M(U32, orbit_phase, 0, 0, 0xFFFFFFFF, "", "orbit number modulo orbit_period of orbits that pass")                  \
  M(STRING, bunches, "", "bunch slots that pass, such as 1-100, 894, 2000-2010; empty: any")                         \
  M(TABLE, bunch_bits, u32, "bit b % 32 of word b / 32: bunch slot b passes")
SL_ARGUMENTS(filter, FILTER);

static int prepare(const struct sl_services *s, void *args) {
  struct filter_args *a = (struct filter_args *)args;
  uint32_t *bits = (uint32_t *)s->make_table(s->context, "bunch_bits", ODIN_BUNCH_WORDS);
  if (!bits) return SL_ENOMEM;
  if (*a->bunches) return read_bunches(s, a->bunches, bits);
  memset(bits, 0xFF, ODIN_BUNCH_WORDS * sizeof *bits);
  return SL_OK;
}

/* The runtime removes events with an error from the list, whatever the result here. */
static SL_DEVICE uint32_t bunch_passes(const struct filter_args *a, uint32_t bunch) {
  return bunch < ODIN_SLOTS ? a->bunch_bits[bunch / 32] >> bunch % 32 & 1u : 0u;
}

static SL_DEVICE uint32_t passes(const struct filter_args *a, uint32_t event, struct sl_explanation *explanation) {
  const uint32_t has_error = a->odin.error_bits[event] != 0 ? 1u : 0u, orbit = a->odin.orbit[event];
  SL_EXPLAIN_VALUE("event type", a->odin.event_type[event]);
  SL_REQUIRE_THAT("event type is in event_types",
                  a->event_types == 0 || (a->odin.event_type[event] & a->event_types) != 0);
  SL_EXPLAIN_VALUE("crossing type", a->odin.crossing_type[event]);
  SL_REQUIRE_THAT("crossing type is in crossing_types", (a->crossing_types >> a->odin.crossing_type[event] & 1u) != 0);
  SL_EXPLAIN_VALUE("trigger type", a->odin.trigger_type[event]);
  SL_REQUIRE_THAT("trigger type is in trigger_types", (a->trigger_types >> a->odin.trigger_type[event] & 1u) != 0);
  SL_EXPLAIN_VALUE("error bits", a->odin.error_bits[event]);
  SL_REQUIRE_THAT("error bits are as error_states requires", (a->error_states >> has_error & 1u) != 0);
  SL_REQUIRE("orbit modulo orbit_period", orbit % a->orbit_period, ==, a->orbit_phase % a->orbit_period);
  SL_EXPLAIN_VALUE("bunch slot", a->odin.bunch[event]);
  SL_REQUIRE_THAT("bunch slot is in bunches", bunch_passes(a, a->odin.bunch[event]));
  return 1;
}

SL_FILTER(filter, "selects events by ODIN fields", passes, prepare);
