/* odin.filter: a list of the events that ODIN says are of a kind. What several of its properties ask for must all hold.
 *
 * One block makes a list, so that it is in ascending order without a second pass: a thread an event, some 40 turns of
 * 256 threads for 10,000 events. A trigger has many such nodes: together they are one launch with a block each.
 */
#include "odin/event_model.h"

#include <sluice/kernel.h>

struct filter_args {
  struct sl_events events;
  struct odin_events_view odin;
  struct sl_event_list passed;
  uint32_t event_types, crossing_types, trigger_types, error_states, orbit_period, orbit_phase;
};
#define SL_ARGS filter_args
static const struct sl_member filter_members[] = {
    SL_EVENTS(),
    SL_IN(odin, odin_events, "event_type crossing_type trigger_type error_bits orbit", "of all events"),
    SL_OUT(passed, sl_event_list, "the events that pass, in ascending order"),
    SL_U32(event_types, 0, 0, 0xFFFF, "",
           "at least one of these bits is set (8: luminosity, 2: physics, 4: no bias, ...); 0: any event"),
    SL_U32(crossing_types, 15, 0, 15, "", "bit t: crossing type t passes (1: no beam, 2: beam 1, 4: beam 2, 8: both)"),
    SL_U32(trigger_types, 0xFFFF, 0, 0xFFFF, "", "bit t: trigger type t passes"),
    SL_U32(error_states, 1, 0, 3, "", "bit 0: events without error bits pass, bit 1: events with some"),
    SL_U32(orbit_period, 1, 1, 0xFFFFFFFF, "", "of so many orbits one passes"),
    SL_U32(orbit_phase, 0, 0, 0xFFFFFFFF, "", "that whose number is this, modulo orbit_period"),
};

static SL_DEVICE uint32_t passes(const struct filter_args *a, uint32_t event) {
  const uint32_t has_error = a->odin.error_bits[event] != 0 ? 1u : 0u;
  return (a->event_types == 0 || (a->odin.event_type[event] & a->event_types) != 0) &&
         (a->crossing_types >> a->odin.crossing_type[event] & 1u) != 0 &&
         (a->trigger_types >> a->odin.trigger_type[event] & 1u) != 0 && (a->error_states >> has_error & 1u) != 0 &&
         a->odin.orbit[event] % a->orbit_period == a->orbit_phase % a->orbit_period;
}

/* One block makes the list of a node. */
static SL_DEVICE void filter_node(const struct filter_args *a) {
  uint32_t length = 0;
  SL_FOR_BLOCK (i, *a->events.count) {
    const uint32_t event = i < *a->events.count ? sl_event_at(&a->events, i) : 0;
    const uint32_t wanted = i < *a->events.count && passes(a, event);
    const uint32_t place = sl_block_append(wanted, &length);
    if (wanted) a->passed.numbers[place] = event;
  }
  if (threadIdx.x == 0) *a->passed.count = length;
}

SL_KERNEL(filter_events, struct filter_args) {
  if (blockIdx.x == 0) filter_node(&a); /* the whole block, so that no barrier misses a thread */
}

SL_KERNEL(filter_family, struct sl_nodes) {
  SL_FOR_NODES (struct filter_args, node, a) filter_node(node);
}

static int run(const struct sl_launch *l, const struct filter_args *a) {
  return SL_LAUNCH(l, filter_events, SL_PER_NODE(1), *a);
}

static int run_family(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {
  (void)host_args;
  return SL_LAUNCH(l, filter_family, SL_PER_NODE(count), sl_nodes_of(args, count));
}

SL_ALGORITHM(filter, "selects events by what ODIN says of them", 256, run, SL_FAMILY("filter", run_family));
