/* generator.h: collisions of a crossing, their particles and decays. */
#ifndef SIM_GENERATOR_H
#define SIM_GENERATOR_H

#include "event/event.h"

struct sim_settings {
  uint64_t seed;
  float mu;                  /* mean number of collisions in a crossing of two bunches */
  float luminosity_fraction; /* fraction of events */
  float beam_gas_fraction, empty_fraction;
  int32_t signal; /* species of the heavy hadron in each event, or SIM_NO_SPECIES */
  uint32_t run;
  float efficiency;       /* of a VELO sensor, per track */
  int32_t polarity;       /* of the magnet: SIM_POLARITY_... */
  float ut_efficiency;    /* of a UT sensor, per track */
  float scifi_efficiency; /* of a SciFi layer, per track */
  float muon_efficiency;  /* of a muon chamber, per track */
  float calo_background;  /* scale of the background added in the calorimeter; 1: as in full simulation */
};

/* Signals: S(name, species). */
enum { SIM_NO_SPECIES = -1 };
#define SIM_SIGNALS(S)             \
  S(none, SIM_NO_SPECIES)          \
  S(B0_Kpi, SIM_B_0)               \
  S(Bs_phiphi, SIM_B_S)            \
  S(D0_Kpi, SIM_D_0)               \
  S(Jpsi_mumu, SIM_JPSI)           \
  S(Bplus_JpsiK, SIM_B_PLUS)       \
  S(Dst_D0pi, SIM_D_STAR)          \
  S(Bs_mumu, SIM_B_S_TO_MUONS)     \
  S(Z_mumu, SIM_Z)                 \
  S(Lambdab_Lambdac, SIM_LAMBDA_B) \
  S(Ks_pipi, SIM_KAON_SHORT)       \
  S(B_KstarGamma, SIM_B_0_TO_K_STAR)
#define SIM_SIGNAL_ENUM_(name, species) SIM_SIGNAL_##name,
enum sim_signal { SIM_SIGNALS(SIM_SIGNAL_ENUM_) SIM_SIGNAL_COUNT };
#define SIM_SIGNAL_NAME_(name, species) #name " "
#define SIM_SIGNAL_NAMES                SIM_SIGNALS(SIM_SIGNAL_NAME_)
extern const int32_t sim_signal_species[SIM_SIGNAL_COUNT];

/* Makes collisions, their particles, and decays. 0 or SL_ENOMEM. */
int sim_generate(const struct sim_settings *settings, struct sim_event *event);

/* decay.c: decays particle `index` and its daughters; stable particles do not change. 0 or SL_ENOMEM. */
int sim_decay(struct sim_event *event, uint32_t index);

/* Decays pion or kaon `index` of momentum p, MeV, at `at`. 0 or SL_ENOMEM. */
int sim_flight_decay(struct sim_event *event, uint32_t index, const struct sim_state *at, float p);

#endif
