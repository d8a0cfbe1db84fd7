/* crossing.h: crossing type, bunch and time of an event, and its ODIN bank. */
#ifndef SIM_CROSSING_H
#define SIM_CROSSING_H

#include "event/bank_list.h"
#include "generator.h"

/* Fills `crossing` for event `number`. */
void sim_crossing_make(const struct sim_settings *settings, uint64_t number, struct sim_crossing *crossing);

/* Versions 6 and 7; plugins/odin/README.md has the layout. 0 or SL_ENOMEM. */
int sim_odin_bank(struct sim_bank_list *list, const struct sim_crossing *crossing, uint32_t version);

#endif
