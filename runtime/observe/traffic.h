/* traffic.h: bytes that nodes read and write. See traffic.c. */
#ifndef SL_TRAFFIC_H
#define SL_TRAFFIC_H

#include "execute/observer.h"
#include "execute/slot.h"

/* Data that a node on an event list reads from one producer: address of the offsets if it reads them, and bytes:
 * constant, per event, and per entry of each bound. `pool`: bound of a field of bytes, or SL_NONE. */
struct sl_listed_port {
  void *const *offsets, *const *item_offsets[SL_BOUNDS_MAX];
  uint64_t bytes, event_bytes, count_bytes[SL_BOUNDS_MAX];
  int32_t pools[SL_BOUNDS_MAX];
  uint32_t bound_count;
};

/* Inputs of a node on an event list; `part`: for the running part. Ports with producers on the same list have no
 * entry, because their bytes are known from the producers. */
struct sl_listed {
  uint64_t bytes_in, events, part_bytes_in, part_events;
  uint64_t same_list_bytes;   /* ports without an entry: bytes that do not depend on events and items */
  const struct sl_events *of; /* NULL: the node is on no list */
  struct sl_listed_port *ports;
  uint32_t port_count;
};

struct sl_traffic {
  const struct sl_setup *setup;
  struct sl_traffic_slot {
    struct sl_listed *listed;                      /* per node */
    uint64_t *used_sums, *input_sums, good_events; /* sums over all parts per used word, and over all inputs */
  } * slots;
};

extern const struct sl_observer_calls sl_traffic_observer; /* its context: struct sl_traffic */

/* Call after the arguments of the slots are bound. */
int sl_traffic_open(struct sl_traffic *t, const struct sl_setup *s, struct sl_slot *slots);
void sl_traffic_close(struct sl_traffic *t);
/* Bytes that a node read and wrote; UINT64_MAX: unknown, for nodes on event lists on a device. */
void sl_traffic_sum(const struct sl_traffic *t, uint32_t node, uint64_t *bytes_in, uint64_t *bytes_out);

#endif
