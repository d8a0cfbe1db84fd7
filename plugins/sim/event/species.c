/* species.c: see species.h. Columns: pdg, charge, own antiparticle, number of daughters, mass, ctau, share, daughters,
 * signs of daughters, hadron, ctau in flight.
 * The sign of a daughter is 1 for a particle, -1 for an antiparticle; e-, mu-, pi+, K+, p, D0, ... are particles. A
 * hadron with two decay modes has two entries. */
#include "species.h"

const struct sim_species sim_species[SIM_SPECIES_COUNT] = {
    [SIM_PHOTON] = {.pdg = 22, .is_own_antiparticle = 1},
    [SIM_ELECTRON] = {.pdg = 11, .charge = -1, .mass = 0.511f},
    [SIM_MUON] = {.pdg = 13, .charge = -1, .mass = 105.658f},
    [SIM_PION] = {.pdg = 211, .charge = 1, .mass = 139.570f, .is_hadron = 1, .ctau_in_flight = 7804.5f},
    [SIM_PION_0] = {111, 0, 1, 2, 134.977f, 0.0f, 0.988f, {SIM_PHOTON, SIM_PHOTON}, {1, 1}, 1, 0.0f},
    [SIM_KAON] = {.pdg = 321, .charge = 1, .mass = 493.677f, .is_hadron = 1, .ctau_in_flight = 3711.0f},
    [SIM_KAON_SHORT] = {310, 0, 1, 2, 497.611f, 26.844f, 0.692f, {SIM_PION, SIM_PION}, {1, -1}, 1, 0.0f},
    [SIM_PROTON] = {.pdg = 2212, .charge = 1, .mass = 938.272f, .is_hadron = 1},
    [SIM_LAMBDA] = {3122, 0, 0, 2, 1115.683f, 78.9f, 0.639f, {SIM_PROTON, SIM_PION}, {1, -1}, 1, 0.0f},
    [SIM_PHI] = {333, 0, 1, 2, 1019.461f, 0.0f, 1.0f, {SIM_KAON, SIM_KAON}, {1, -1}, 1, 0.0f},
    [SIM_D_0] = {421, 0, 0, 2, 1864.84f, 0.1229f, 1.0f, {SIM_KAON, SIM_PION}, {-1, 1}, 1, 0.0f},
    [SIM_JPSI] = {443, 0, 1, 2, 3096.9f, 0.0f, 1.0f, {SIM_MUON, SIM_MUON}, {1, -1}, 1, 0.0f},
    [SIM_B_0] = {511, 0, 0, 2, 5279.65f, 0.4554f, 1.0f, {SIM_KAON, SIM_PION}, {1, -1}, 1, 0.0f},
    [SIM_B_PLUS] = {521, 1, 0, 2, 5279.34f, 0.4911f, 1.0f, {SIM_JPSI, SIM_KAON}, {1, 1}, 1, 0.0f},
    [SIM_B_S] = {531, 0, 0, 2, 5366.88f, 0.4542f, 1.0f, {SIM_PHI, SIM_PHI}, {1, 1}, 1, 0.0f},
    [SIM_D_STAR] = {413, 1, 0, 2, 2010.26f, 0.0f, 1.0f, {SIM_D_0, SIM_PION}, {1, 1}, 1, 0.0f},
    [SIM_B_S_TO_MUONS] = {531, 0, 0, 2, 5366.88f, 0.4542f, 1.0f, {SIM_MUON, SIM_MUON}, {1, -1}, 1, 0.0f},
    [SIM_Z] = {23, 0, 1, 2, 91187.6f, 0.0f, 1.0f, {SIM_MUON, SIM_MUON}, {1, -1}, 0, 0.0f},
    [SIM_LAMBDA_C] = {4122, 1, 0, 3, 2286.46f, 0.0604f, 1.0f, {SIM_PROTON, SIM_KAON, SIM_PION}, {1, -1, 1}, 1, 0.0f},
    [SIM_LAMBDA_B] = {5122, 0, 0, 2, 5619.60f, 0.4410f, 1.0f, {SIM_LAMBDA_C, SIM_PION}, {1, -1}, 1, 0.0f},
    [SIM_K_STAR] = {313, 0, 0, 2, 895.55f, 0.0f, 1.0f, {SIM_KAON, SIM_PION}, {1, -1}, 1, 0.0f},
    [SIM_B_0_TO_K_STAR] = {511, 0, 0, 2, 5279.65f, 0.4554f, 1.0f, {SIM_K_STAR, SIM_PHOTON}, {1, 1}, 1, 0.0f},
    [SIM_NEUTRON] = {.pdg = 2112, .mass = 939.565f, .is_hadron = 1},
};
