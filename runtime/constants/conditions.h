/* conditions.h: the constants of each value of the graph's conditions. See conditions.c. */
#ifndef SL_CONSTANTS_CONDITIONS_H
#define SL_CONSTANTS_CONDITIONS_H

#include "execute/conditions.h"
#include "execute/delivery.h"

/* A value that events had. */
struct sl_condition_value {
  uint32_t value, loads; /* loads: number of times that its constants were made */
  uint64_t first_event;  /* number of events delivered before the first one of this value */
  uint64_t checksum;     /* of the constants that depend on the value; 0: none could be made */
  uint32_t node;         /* that needs the files, for `reason` */
  char *reason;          /* why there are no constants; NULL: there are */
};

struct sl_constant_conditions {
  struct sl_conditions calls; /* first */
  struct sl_setup *setup;
  struct sl_slot *const *slots;
  struct sl_delivery *delivery; /* its lock protects `calls.value` and `calls.is_used` from readers outside the run */
  uint8_t *depends;             /* per node: it is made again for each value */
  uint32_t loads;               /* of the present constants, before events of their value were read */
  /* The constants of the value before, if there are any: arrays and prepared nodes that depend on it. */
  struct sl_array *other_arrays;
  struct sl_prepared *other_prepared;
  uint32_t other_value;
  struct sl_condition_value *values; /* in the order of their first events; the list survives changes of the graph */
  uint32_t *order;                   /* of the values, ascending */
  uint32_t value_count;
};

/* After the graph was read: finds the lowest value with files, and puts it into the properties. Does nothing without
 * conditions. SL_EGRAPH, reported, if there is none. */
int sl_conditions_find(struct sl_setup *s);
/* Makes all constants, and prepares all nodes; with conditions: those of the lowest value for which it is possible, or,
 * if there are files of `preferred`, of that. The setup, the slots and the delivery must outlive them. */
int sl_conditions_open(struct sl_constant_conditions *c, struct sl_setup *s, struct sl_slot *const *slots,
                       struct sl_delivery *delivery, const uint32_t *preferred);
/* Takes over those of another configuration, `next`; the setup of `c` has its graph now. */
void sl_conditions_change(struct sl_constant_conditions *c, struct sl_constant_conditions *next);
/* Closes everything but the list of values, before the tables of the setup are closed; the list. */
void sl_conditions_close(struct sl_constant_conditions *c);
void sl_conditions_close_values(struct sl_constant_conditions *c);

#endif
