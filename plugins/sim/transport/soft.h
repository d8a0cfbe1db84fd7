/* soft.h: soft particles in the UT and SciFi, drawn instead of followed. */
#ifndef SIM_SOFT_H
#define SIM_SOFT_H

#include "planes.h"

/* Adds soft particles and their passages to the particles and passages of the event. 0 or SL_ENOMEM. */
int sim_soft(struct sim_event *event);

#endif
