/* sinks.h: the sinks of the graph. See sinks.c. */
#ifndef SL_SINKS_H
#define SL_SINKS_H

#include "execute/observer.h"

struct sl_configurations;
struct sl_delivery;

struct sl_sinks {
  struct sl_setup *setup;
  const struct sl_delivery *delivery;
  const struct sl_configurations *configurations;
  char **json, **lines; /* per node: what the sinks reported at the end */
  void *const *args;    /* per node: argument structs with the properties */
};

extern const struct sl_observer_calls sl_sinks_observer; /* its context: struct sl_sinks */

int sl_sinks_open(struct sl_sinks *sinks, struct sl_setup *s);
void sl_sinks_close(struct sl_sinks *sinks);
/* Opens the files of all sinks; the slot has their argument structs. */
int sl_sinks_begin(struct sl_sinks *sinks, const struct sl_slot *slot);
/* Begins a new file in each sink that can rotate. */
int sl_sinks_rotate(const struct sl_sinks *sinks);
/* Ends the sinks and keeps their reports. */
int sl_sinks_finish(struct sl_sinks *sinks);
/* Closes the sinks. */
void sl_sinks_end(struct sl_sinks *sinks);

#endif
