/* truth.h: truth of a simulated event, and its banks. */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include "event/bank_list.h"
#include "velo/digits.h"

/* Lists the clusters of each particle, determines in which detectors it is reconstructible, and counts the
 * reconstructible particles of each vertex. 0 or SL_ENOMEM. */
int sim_truth_make(struct sim_event *event, const struct sim_velo_digits *digits, uint32_t cluster_version);

/* Appends the banks of particles (type 32, version 2) and vertices (type 33, version 1). */
int sim_truth_banks(struct sim_bank_list *list, const struct sim_event *event);

#endif
