/* explain.h: explanations of decisions during a run (options.explain). See explain.c. */
#ifndef SL_OBSERVE_EXPLAIN_H
#define SL_OBSERVE_EXPLAIN_H

#include "execute/observer.h"

struct sl_explain_node;
struct sl_explain_text;

struct sl_explaining {
  const struct sl_explain *request; /* NULL: nothing is explained */
  struct sl_setup *setup;
  uint32_t *nodes; /* indices of the explained nodes, in order of the graph's file */
  uint32_t node_count;
  struct sl_port *lists; /* outputs that are event lists, in order of execution */
  char **list_names;
  uint32_t list_count;
  uint32_t event_capacity;       /* events that the tables have room for */
  struct sl_explain_node *at;    /* per event of the slice and explained node */
  uint8_t *listed;               /* per event of the slice and list: 1 if it has the event */
  struct sl_explain_text **hash; /* one copy of each text */
  int has_failed;                /* memory was short */
};

/* Finds the nodes. Returns SL_EINVAL with a message if a requested node does not exist or declares no requirements, or
 * if no node does. */
int sl_explaining_open(struct sl_explaining *x, struct sl_setup *s);
void sl_explaining_close(struct sl_explaining *x);

extern const struct sl_observer_calls sl_explaining_observer; /* context: struct sl_explaining */

#endif
