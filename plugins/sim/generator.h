/* generator.h: what a crossing makes: collisions and their particles, decays included. */
#ifndef SIM_GENERATOR_H
#define SIM_GENERATOR_H

#include "event.h"

struct sim_settings {
  uint64_t seed;
  float mu;                  /* mean number of collisions in a crossing of two bunches */
  float luminosity_fraction; /* of the events */
  float beam_gas_fraction, empty_fraction;
  int32_t signal;
  uint32_t run;
  float efficiency; /* of the VELO's pixels, a track and sensor */
};

/* The species behind a signal's name ("Jpsi_mumu"), SIM_SIGNAL_NONE for "none" and "", or SIM_SIGNAL_UNKNOWN. */
enum { SIM_SIGNAL_NONE = -1, SIM_SIGNAL_UNKNOWN = -2 };
int32_t sim_signal_find(const char *name);
/* The names, separated by ", ". */
const char *sim_signal_names(void);

/* crossing.c: kind, bunch and time of event `number`. */
void sim_crossing_make(const struct sim_settings *settings, uint64_t number, struct sim_crossing *crossing);

/* Collisions, their particles, and the decays of these; 0 or SL_ENOMEM. */
int sim_generate(const struct sim_settings *settings, struct sim_event *event);

/* decay.c: lets particle `index` decay, and its daughters. Stable ones stay. */
int sim_decay(struct sim_event *event, uint32_t index);

#endif
