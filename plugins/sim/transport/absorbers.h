/* absorbers.h: particles through the calorimeters, the iron filters and the muon stations. */
#ifndef SIM_ABSORBERS_H
#define SIM_ABSORBERS_H

#include "spectrometer.h"

/* Follows the tracks from the face of the ECAL to the muon stations and adds their passages. 0 or SL_ENOMEM. */
int sim_absorb(const struct sim_spectrometer *spectrometer, struct sim_event *event);

#endif
