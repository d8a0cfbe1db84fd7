/* steps.h: takes all tracks of an event through the spectrometer, node by node.
 *
 * At each node the tracks
 *   1. make a step from the previous node; some leave the aperture or decay there;
 *   2. are joined by the tracks that start at the node;
 *   3. leave passages, if a detector stands there, and cross the material (material.h).
 * Behind the ECAL's face, tracks are straight lines through absorbers (absorbers.h).
 */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include "spectrometer.h"

/* Fills the event's passages, from the particles that have `reached_end`, and adds particles; 0 or SL_ENOMEM. */
int sim_spectrometer_run(struct sim_spectrometer *spectrometer, struct sim_event *event);

#endif
