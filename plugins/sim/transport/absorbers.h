/* absorbers.h: calorimeters and iron behind the ECAL's face, and the muon stations between them. */
#ifndef SIM_ABSORBERS_H
#define SIM_ABSORBERS_H

#include "spectrometer.h"

/* The flock goes on from the ECAL's face to the muon stations, where it leaves passages. 0 or SL_ENOMEM. */
int sim_absorb(const struct sim_spectrometer *spectrometer, struct sim_event *event);

#endif
