/* generator.h: collisions of a crossing, their particles and decays. */
#ifndef SIM_GENERATOR_H
#define SIM_GENERATOR_H

#include "event/event.h"
#include "signals.h"

struct sim_settings {
  uint64_t seed;
  float mu;     /* mean number of visible collisions in a crossing of two bunches */
  float gas_mu; /* mean number of collisions of beam 1 with gas in the storage cell, in each of its crossings */
  float luminosity_fraction; /* fraction of events */
  float beam_gas_fraction, empty_fraction;
  enum sim_signal signal;
  uint32_t signal_in_gas; /* the signal is in a collision with gas */
  uint32_t run;
  float efficiency;       /* of a VELO sensor, per track */
  int32_t polarity;       /* of the magnet: SIM_POLARITY_... */
  float ut_efficiency;    /* of a UT sensor, per track */
  float scifi_efficiency; /* of a SciFi layer, per track */
  float muon_efficiency;  /* of a muon chamber, per track */
  float calo_background;  /* scale of the background added in the calorimeter; 1: as in full simulation */
};

/* Conditions of data taking: C(name, mu). LHCb's working points: 2024, with 7.6 collisions of any kind; Run 2,
 * with 1.6. */
#define SIM_CONDITIONS(C)              C(pp_2024, 5.3f) C(pp_2018, 1.1f)
#define SIM_CONDITIONS_ENUM_(name, mu) SIM_CONDITIONS_##name,
enum sim_conditions { SIM_CONDITIONS(SIM_CONDITIONS_ENUM_) SIM_CONDITIONS_COUNT };
#define SIM_CONDITIONS_NAME_(name, mu) #name " "
#define SIM_CONDITIONS_NAMES           SIM_CONDITIONS(SIM_CONDITIONS_NAME_)
extern const float sim_conditions_mu[SIM_CONDITIONS_COUNT];

/* Makes collisions, their particles, and decays. 0 or SL_ENOMEM. */
int sim_generate(const struct sim_settings *settings, struct sim_event *event);

/* decay.c: decays particle `index` if it decays at once; its daughters are added. 0 or SL_ENOMEM. */
int sim_decay(struct sim_event *event, uint32_t index);

/* Decays particle `index` of momentum p, MeV, that was followed to `at`, and its daughters. 0 or SL_ENOMEM. */
int sim_flight_decay(struct sim_event *event, uint32_t index, const struct sim_state *at, float p);

#endif
