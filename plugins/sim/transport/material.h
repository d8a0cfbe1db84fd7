/* material.h: effect of the material in a plane on charged particles. */
#ifndef SIM_MATERIAL_H
#define SIM_MATERIAL_H

#include "spectrometer.h"

/* All tracks cross the material at the node, and the wall of the beam pipe if they left the pipe since the previous
 * node. 0 or SL_ENOMEM. */
int sim_material_cross(struct sim_spectrometer *spectrometer, struct sim_event *event, uint32_t node);

#endif
