/* identity.h: identity of a run, for sinks that store it. See identity.c. */
#ifndef SL_IDENTITY_H
#define SL_IDENTITY_H

#include "execute/setup.h"

struct sl_identity {
  struct sl_run run;
  char version[64]; /* run.sluice_version */
  struct sl_run_output *outputs;
  char **plugins;
};

/* Fills the identity, and gives it to the services of all sinks. */
int sl_identity_open(struct sl_identity *identity, const struct sl_setup *s);
void sl_identity_close(struct sl_identity *identity);

#endif
