/* steps.h: takes all tracks of an event through the spectrometer, node by node.
 * At each node:
 *   1. The tracks make a step from the previous node; some leave the aperture or decay there.
 *   2. Tracks that start at the node are added.
 *   3. If a detector layer is there, the tracks leave passages; then they cross the material (material.h).
 * From the face of the ECAL on, tracks are straight lines through absorbers (absorbers.h). */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include "spectrometer.h"

/* Fills the event's passages from the particles with `reached_end`, and adds particles. 0 or SL_ENOMEM. */
int sim_spectrometer_run(struct sim_spectrometer *spectrometer, struct sim_event *event);

#endif
