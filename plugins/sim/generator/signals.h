/* signals.h: what can be added to each event: a particle with its decay, or a pair of jets. */
#ifndef SIM_SIGNALS_H
#define SIM_SIGNALS_H

#include "event/species.h"

/* Signals: S(name, species, first_z, last_z, daughters...); the decay is at a z between the two, mm, if they are not
 * both 0, and after the particle's lifetime otherwise. A signal without daughters decays as its species. */
#define SIM_SIGNALS(S)                                             \
  S(B0_Kpi, B_0, 0, 0, SIM_KAON, -SIM_PION)                        \
  S(Bs_phiphi, B_S, 0, 0, SIM_PHI, SIM_PHI)                        \
  S(D0_Kpi, D_0, 0, 0, -SIM_KAON, SIM_PION)                        \
  S(Jpsi_mumu, JPSI, 0, 0, SIM_MUON, -SIM_MUON)                    \
  S(Bplus_JpsiK, B_PLUS, 0, 0, SIM_JPSI, SIM_KAON)                 \
  S(Dst_D0pi, D_STAR, 0, 0, SIM_D_0, SIM_PION)                     \
  S(Bs_mumu, B_S, 0, 0, SIM_MUON, -SIM_MUON)                       \
  S(Z_mumu, Z, 0, 0, SIM_MUON, -SIM_MUON)                          \
  S(Lambdab_Lambdac, LAMBDA_B, 0, 0, SIM_LAMBDA_C, -SIM_PION)      \
  S(Ks_pipi, KAON_SHORT, 0, 0, SIM_PION, -SIM_PION)                \
  S(B_KstarGamma, B_0, 0, 0, SIM_K_STAR, SIM_PHOTON)               \
  S(Jpsi_ee, JPSI, 0, 0, SIM_ELECTRON, -SIM_ELECTRON)              \
  S(Z_ee, Z, 0, 0, SIM_ELECTRON, -SIM_ELECTRON)                    \
  S(Upsilon_mumu, UPSILON, 0, 0, SIM_MUON, -SIM_MUON)              \
  S(A_ee, DARK_PHOTON, 0, 0, SIM_ELECTRON, -SIM_ELECTRON)          \
  S(Lambda_ppi, LAMBDA, 0, 0, SIM_PROTON, -SIM_PION)               \
  S(Xi_LambdaPi, XI_MINUS, 0, 0, SIM_LAMBDA, -SIM_PION)            \
  S(Omega_LambdaK, OMEGA, 0, 0, SIM_LAMBDA, -SIM_KAON)             \
  S(Kplus_3pi, KAON, 0, 600, SIM_PION, SIM_PION, -SIM_PION)        \
  S(D0_KK, D_0, 0, 0, SIM_KAON, -SIM_KAON)                         \
  S(D0_pipi, D_0, 0, 0, SIM_PION, -SIM_PION)                       \
  S(D0_KsPiPi, D_0, 0, 0, SIM_KAON_SHORT, SIM_PION, -SIM_PION)     \
  S(tau_PhiMu, TAU, 0, 0, SIM_PHI, SIM_MUON)                       \
  S(etac_ppbar, ETA_C, 0, 0, SIM_PROTON, -SIM_PROTON)              \
  S(pi0_GammaGamma, PION_0, 0, 0, SIM_PHOTON, SIM_PHOTON)          \
  S(Bs_GammaGamma, B_S, 0, 0, SIM_PHOTON, SIM_PHOTON)              \
  S(S500_pipi, SCALAR_500, 200, 2500, SIM_PION, -SIM_PION)         \
  S(S500_mumu, SCALAR_500, 200, 2500, SIM_MUON, -SIM_MUON)         \
  S(S1500_KK, SCALAR_1500, 200, 2500, SIM_KAON, -SIM_KAON)         \
  S(S1500_ee, SCALAR_1500, 200, 2500, SIM_ELECTRON, -SIM_ELECTRON) \
  S(S4000_mumu, SCALAR_4000, 200, 2500, SIM_MUON, -SIM_MUON)       \
  S(S4000_KK, SCALAR_4000, 200, 2500, SIM_KAON, -SIM_KAON)         \
  S(jets, NOTHING, 0, 0, SIM_NOTHING)
#define SIM_SIGNAL_ENUM_(name, ...) SIM_SIGNAL_##name,
enum sim_signal { SIM_SIGNAL_none, SIM_SIGNALS(SIM_SIGNAL_ENUM_) SIM_SIGNAL_COUNT };
#define SIM_SIGNAL_NAME_(name, ...) #name " "
#define SIM_SIGNAL_NAMES            "none " SIM_SIGNALS(SIM_SIGNAL_NAME_)

struct sim_signal_decay {
  enum sim_species_id species; /* SIM_NOTHING: two jets */
  float first_z, last_z;       /* mm */
  struct sim_mode mode;
};

extern const struct sim_signal_decay sim_signal_decays[SIM_SIGNAL_COUNT];

#endif
