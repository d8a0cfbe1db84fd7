/* species.c: see species.h. Species with many decays have the frequent ones; modes with several pions represent sums of
 * rare and unknown ones. Shares of beauty hadrons are inclusive rates of charm,
 * leptons and charmonium (PDG, "Production and Decay of b-flavored Hadrons"). The first mode of a species is the one
 * that daughters of signals have. */
#include "species.h"

/* Short names, for lists of daughters. */
enum {
  GAMMA = SIM_PHOTON,
  E = SIM_ELECTRON,
  MU = SIM_MUON,
  TAU = SIM_TAU,
  NU = SIM_NEUTRINO,
  PI = SIM_PION,
  PI0 = SIM_PION_0,
  ETA = SIM_ETA,
  K = SIM_KAON,
  KS = SIM_KAON_SHORT,
  KL = SIM_KAON_LONG,
  P = SIM_PROTON,
  N = SIM_NEUTRON,
  L = SIM_LAMBDA,
  SP = SIM_SIGMA_PLUS,
  SM = SIM_SIGMA_MINUS,
  X0 = SIM_XI_0,
  XM = SIM_XI_MINUS,
  PHI = SIM_PHI,
  KST = SIM_K_STAR,
  D0 = SIM_D_0,
  DP = SIM_D_PLUS,
  DST = SIM_D_STAR,
  DS = SIM_D_S,
  LC = SIM_LAMBDA_C,
  JPSI = SIM_JPSI
};

static const struct sim_mode of_pion[] = {
    {1.0f, {-MU, NU}},
};
static const struct sim_mode of_pion_0[] = {
    {0.98823f, {GAMMA, GAMMA}},
    {0.01174f, {GAMMA, E, -E}},
};
static const struct sim_mode of_eta[] = {
    {0.3936f, {GAMMA, GAMMA}},   {0.3257f, {PI0, PI0, PI0}}, {0.2302f, {PI, -PI, PI0}},
    {0.0428f, {PI, -PI, GAMMA}}, {0.0069f, {GAMMA, E, -E}},
};
static const struct sim_mode of_kaon[] = {
    {0.6356f, {-MU, NU}},     {0.2067f, {PI, PI0}},      {0.0558f, {PI, PI, -PI}},
    {0.0507f, {PI0, -E, NU}}, {0.0335f, {PI0, -MU, NU}}, {0.0176f, {PI, PI0, PI0}},
};
static const struct sim_mode of_kaon_short[] = {
    {0.692f, {PI, -PI}},
    {0.3069f, {PI0, PI0}},
};
static const struct sim_mode of_lambda[] = {
    {0.641f, {P, -PI}},
    {0.359f, {N, PI0}},
};
static const struct sim_mode of_sigma_plus[] = {
    {0.5147f, {P, PI0}},
    {0.4843f, {N, PI}},
};
static const struct sim_mode of_sigma_minus[] = {
    {1.0f, {N, -PI}},
};
static const struct sim_mode of_xi_0[] = {
    {1.0f, {L, PI0}},
};
static const struct sim_mode of_xi_minus[] = {
    {1.0f, {L, -PI}},
};
static const struct sim_mode of_omega[] = {
    {0.678f, {L, -K}},
    {0.243f, {X0, -PI}},
    {0.0855f, {XM, PI0}},
};
static const struct sim_mode of_phi[] = {
    {0.491f, {K, -K}},
    {0.339f, {KS, KL}},
    {0.154f, {PI, -PI, PI0}},
};
static const struct sim_mode of_k_star[] = {
    {0.6667f, {K, -PI}},
    {0.1667f, {KS, PI0}},
    {0.1667f, {KL, PI0}},
};
static const struct sim_mode of_tau[] = {
    {0.2549f, {-PI, PI0, NU}},
    {0.1782f, {E, NU, NU}},
    {0.1739f, {MU, NU, NU}},
    {0.1082f, {-PI, NU}},
    {0.0931f, {-PI, -PI, PI, NU}},
    {0.0926f, {-PI, PI0, PI0, NU}},
    {0.0462f, {-PI, -PI, PI, PI0, NU}},
};
static const struct sim_mode of_d_0[] = {
    {0.0395f, {-K, PI}},
    {0.144f, {-K, PI, PI0}},
    {0.0886f, {-K, PI, PI0, PI0}},
    {0.0822f, {-K, PI, PI, -PI}},
    {0.043f, {-K, PI, PI, -PI, PI0}},
    {0.0354f, {-K, -E, NU}},
    {0.0341f, {-K, -MU, NU}},
    {0.0108f, {-K, PI0, -E, NU}},
    {0.0102f, {-K, PI0, -MU, NU}},
    {0.0072f, {KS, -PI, -E, NU}},
    {0.0068f, {KS, -PI, -MU, NU}},
    {0.0072f, {KL, -PI, -E, NU}},
    {0.0068f, {KL, -PI, -MU, NU}},
    {0.0029f, {-PI, -E, NU}},
    {0.0027f, {-PI, -MU, NU}},
    {0.0124f, {KS, PI0}},
    {0.01f, {KL, PI0}},
    {0.028f, {KS, PI, -PI}},
    {0.028f, {KL, PI, -PI}},
    {0.052f, {KS, PI, -PI, PI0}},
    {0.052f, {KL, PI, -PI, PI0}},
    {0.0091f, {KS, PI0, PI0}},
    {0.0041f, {K, -K}},
    {0.0044f, {KS, K, -K}},
    {0.00145f, {PI, -PI}},
    {0.0149f, {PI, -PI, PI0}},
    {0.0076f, {PI, PI, -PI, -PI}},
};
static const struct sim_mode of_d_plus[] = {
    {0.0938f, {-K, PI, PI}},   {0.0625f, {-K, PI, PI, PI0}}, {0.0057f, {-K, PI, PI, PI, -PI}},
    {0.0156f, {KS, PI}},       {0.0146f, {KL, PI}},          {0.0736f, {KS, PI, PI0}},
    {0.0736f, {KL, PI, PI0}},  {0.031f, {KS, PI, PI, -PI}},  {0.031f, {KL, PI, PI, -PI}},
    {0.0437f, {KS, -E, NU}},   {0.0437f, {KL, -E, NU}},      {0.0438f, {KS, -MU, NU}},
    {0.0438f, {KL, -MU, NU}},  {0.0399f, {-K, PI, -E, NU}},  {0.0365f, {-K, PI, -MU, NU}},
    {0.0097f, {K, -K, PI}},    {0.0033f, {PI, PI, -PI}},     {0.0117f, {PI, PI, -PI, PI0}},
    {0.0047f, {PI, PI0, PI0}}, {0.0038f, {ETA, PI}},         {0.003f, {KS, K}},
};
static const struct sim_mode of_d_star[] = {
    {0.677f, {D0, PI}},
    {0.307f, {DP, PI0}},
    {0.016f, {DP, GAMMA}},
};
static const struct sim_mode of_d_s[] = {
    {0.0538f, {K, -K, PI}},
    {0.055f, {K, -K, PI, PI0}},
    {0.0068f, {K, -K, PI, PI, -PI}},
    {0.0239f, {PHI, -E, NU}},
    {0.019f, {PHI, -MU, NU}},
    {0.0232f, {ETA, -E, NU}},
    {0.024f, {ETA, -MU, NU}},
    {0.0532f, {-TAU, NU}},
    {0.0054f, {-MU, NU}},
    {0.0146f, {KS, K}},
    {0.0146f, {KL, K}},
    {0.0152f, {KS, K, PI0}},
    {0.0168f, {ETA, PI}},
    {0.095f, {ETA, PI, PI0}},
    {0.0394f, {ETA, PI, PI, -PI}},
    {0.0566f, {ETA, PI, PI, -PI, PI0}},
    {0.0108f, {PI, PI, -PI}},
    {0.0065f, {K, PI, -PI}},
    {0.0165f, {KS, -K, PI, PI}},
};
static const struct sim_mode of_lambda_c[] = {
    {0.0628f, {P, -K, PI}},  {0.0446f, {P, -K, PI, PI0}}, {0.0159f, {P, KS}},          {0.0159f, {P, KL}},
    {0.0196f, {P, KS, PI0}}, {0.0196f, {P, KL, PI0}},     {0.016f, {P, KS, PI, -PI}},  {0.016f, {P, KL, PI, -PI}},
    {0.013f, {L, PI}},       {0.071f, {L, PI, PI0}},      {0.0364f, {L, PI, PI, -PI}}, {0.022f, {L, PI, PI, -PI, PI0}},
    {0.0356f, {L, -E, NU}},  {0.0348f, {L, -MU, NU}},     {0.0129f, {SM, PI, PI}},     {0.045f, {SP, PI, -PI}},
    {0.0125f, {SP, PI0}},    {0.0155f, {SP, PI0, PI0}},   {0.0062f, {XM, K, PI}},      {0.035f, {N, PI, PI, -PI}},
    {0.0182f, {N, KS, PI}},  {0.0182f, {N, KL, PI}},
};
static const struct sim_mode of_eta_c[] = {
    {0.00145f, {P, -P}},           {0.014f, {K, -K, PI0}},        {0.024f, {KS, K, -PI}},
    {0.0097f, {PI, PI, -PI, -PI}}, {0.032f, {PI, -PI, PI0, PI0}},
};
static const struct sim_mode of_jpsi[] = {
    {0.05961f, {MU, -MU}},
    {0.05971f, {E, -E}},
    {0.34f, {PI, PI, -PI, -PI, PI0}},
    {0.1f, {PI, PI, -PI, -PI, PI0, PI0}},
    {0.15f, {K, -K, PI, -PI}},
    {0.15f, {PI, -PI, PI0}},
    {0.05f, {P, -P, PI, -PI}},
};
static const struct sim_mode of_b_0[] = {
    {0.0511f, {-DP, -E, NU}},     {0.0511f, {-DP, -MU, NU}},        {0.0497f, {-DST, -E, NU}},
    {0.0497f, {-DST, -MU, NU}},   {0.0108f, {-DST, -TAU, NU}},      {0.0025f, {-DP, PI}},
    {0.0076f, {-DP, PI, PI0}},    {0.011f, {-DP, PI, PI, -PI}},     {0.07f, {-DP, PI, PI, -PI, PI0}},
    {0.0027f, {-DST, PI}},        {0.015f, {-DST, PI, PI0}},        {0.0176f, {-DST, PI, PI, -PI, PI0}},
    {0.08f, {-D0, PI, -PI, PI0}}, {0.1f, {-D0, PI, -PI, PI0, PI0}}, {0.08f, {-DP, PI, PI0, PI0}},
    {0.0072f, {-DP, DS}},         {0.04f, {-DST, DS, PI0}},         {0.025f, {-DP, DS, PI0}},
    {0.03f, {-DST, D0, K}},       {0.02f, {-DP, D0, K, PI0}},       {0.03f, {-LC, P, PI, -PI}},
    {0.00089f, {JPSI, KS}},       {0.00127f, {JPSI, KST}},          {0.007f, {JPSI, K, -PI, PI0}},
    {0.01f, {K, -PI, PI, -PI}},   {0.01f, {KS, PI, -PI, PI0}},
};
static const struct sim_mode of_b_plus[] = {
    {0.079f, {-D0, -E, NU}},
    {0.079f, {-D0, -MU, NU}},
    {0.02f, {-D0, PI0, -E, NU}},
    {0.02f, {-D0, PI0, -MU, NU}},
    {0.006f, {-DST, PI, -E, NU}},
    {0.006f, {-DST, PI, -MU, NU}},
    {0.02f, {-D0, -TAU, NU}},
    {0.0047f, {-D0, PI}},
    {0.0134f, {-D0, PI, PI0}},
    {0.01f, {-D0, PI, PI, -PI}},
    {0.09f, {-D0, PI, PI, -PI, PI0}},
    {0.0049f, {-D0, PI, PI0, PI0}},
    {0.1f, {-D0, PI, PI, -PI, PI0, PI0}},
    {0.015f, {-DST, PI, PI, PI0}},
    {0.05f, {-DST, PI, PI, PI0, PI0}},
    {0.05f, {-DP, PI, PI, PI0}},
    {0.017f, {-D0, DS}},
    {0.05f, {-D0, DS, PI0}},
    {0.04f, {-D0, D0, K}},
    {0.03f, {-DP, D0, K, PI}},
    {0.03f, {-LC, P, PI, PI0}},
    {0.00102f, {JPSI, K}},
    {0.0014f, {JPSI, K, PI0}},
    {0.008f, {JPSI, K, PI, -PI}},
    {0.01f, {K, PI, -PI, PI0}},
    {0.005f, {KS, PI, PI, -PI}},
};
static const struct sim_mode of_b_s[] = {
    {0.08f, {-DS, -E, NU}},
    {0.08f, {-DS, -MU, NU}},
    {0.02f, {-DS, -TAU, NU}},
    {0.015f, {-DS, PI0, -MU, NU}},
    {0.015f, {-DS, PI0, -E, NU}},
    {0.003f, {-DS, PI}},
    {0.02f, {-DS, PI, PI0}},
    {0.0061f, {-DS, PI, PI, -PI}},
    {0.12f, {-DS, PI, PI, -PI, PI0}},
    {0.12f, {-DS, PI, PI0, PI0}},
    {0.1f, {-DS, PI, PI, -PI, PI0, PI0}},
    {0.04f, {-DS, DS, PI0}},
    {0.03f, {-DS, D0, K}},
    {0.03f, {-DS, DP, KS}},
    {0.00104f, {JPSI, PHI}},
    {0.007f, {JPSI, K, -K}},
    {0.01f, {K, -K, PI, -PI}},
};
static const struct sim_mode of_lambda_b[] = {
    {0.062f, {LC, E, NU}},          {0.062f, {LC, MU, NU}},        {0.04f, {LC, PI, -PI, E, NU}},
    {0.04f, {LC, PI, -PI, MU, NU}}, {0.019f, {LC, TAU, NU}},       {0.0049f, {LC, -PI}},
    {0.02f, {LC, -PI, PI0}},        {0.0076f, {LC, -PI, -PI, PI}}, {0.2f, {LC, -PI, -PI, PI, PI0}},
    {0.15f, {LC, -PI, PI0, PI0}},   {0.011f, {LC, -DS}},           {0.05f, {LC, -DS, PI0}},
    {0.04f, {LC, -D0, -K}},         {0.06f, {D0, P, -PI, PI0}},    {0.006f, {JPSI, P, -K}},
    {0.005f, {JPSI, L, PI0}},       {0.01f, {P, -K, PI, -PI}},
};
static const struct sim_mode of_upsilon[] = {
    {1.0f, {MU, -MU}},
};
static const struct sim_mode of_z[] = {
    {1.0f, {MU, -MU}},
};
static const struct sim_mode of_dark_photon[] = {
    {1.0f, {E, -E}},
};
static const struct sim_mode of_scalar_500[] = {
    {1.0f, {PI, -PI}},
};
static const struct sim_mode of_scalar_1500[] = {
    {1.0f, {K, -K}},
};
static const struct sim_mode of_scalar_4000[] = {
    {1.0f, {MU, -MU}},
};

/* Members of a species with these modes. */
#define MODES(list) .mode_count = sizeof(list) / sizeof(list)[0], .modes = (list)
const struct sim_species sim_species[SIM_SPECIES_COUNT] = {
    [SIM_PHOTON] = {.pdg = 22, .is_own_antiparticle = 1},
    [SIM_ELECTRON] = {.pdg = 11, .charge = -1, .mass = 0.511f},
    [SIM_MUON] = {.pdg = 13, .charge = -1, .mass = 105.658f},
    [SIM_TAU] = {.pdg = 15, .charge = -1, .mass = 1776.86f, .ctau = 0.08703f, MODES(of_tau)},
    [SIM_NEUTRINO] = {.pdg = 12},
    [SIM_PION] = {.pdg = 211, .charge = 1, .is_hadron = 1, .mass = 139.57f, .ctau_in_flight = 7804.5f, MODES(of_pion)},
    [SIM_PION_0] = {.pdg = 111, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 134.977f, MODES(of_pion_0)},
    [SIM_ETA] = {.pdg = 221, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 547.862f, MODES(of_eta)},
    [SIM_KAON] = {.pdg = 321, .charge = 1, .is_hadron = 1, .mass = 493.677f, .ctau_in_flight = 3711.0f, MODES(of_kaon)},
    [SIM_KAON_SHORT] =
        {.pdg = 310, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 497.611f, .ctau = 26.844f, MODES(of_kaon_short)},
    [SIM_KAON_LONG] = {.pdg = 130, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 497.611f},
    [SIM_PROTON] = {.pdg = 2212, .charge = 1, .is_hadron = 1, .mass = 938.272f},
    [SIM_NEUTRON] = {.pdg = 2112, .is_hadron = 1, .mass = 939.565f},
    [SIM_LAMBDA] = {.pdg = 3122, .is_hadron = 1, .mass = 1115.683f, .ctau = 78.9f, MODES(of_lambda)},
    [SIM_SIGMA_PLUS] =
        {.pdg = 3222, .charge = 1, .is_hadron = 1, .mass = 1189.37f, .ctau_in_flight = 24.04f, MODES(of_sigma_plus)},
    [SIM_SIGMA_MINUS] =
        {.pdg = 3112, .charge = -1, .is_hadron = 1, .mass = 1197.45f, .ctau_in_flight = 44.34f, MODES(of_sigma_minus)},
    [SIM_XI_0] = {.pdg = 3322, .is_hadron = 1, .mass = 1314.86f, .ctau = 87.1f, MODES(of_xi_0)},
    [SIM_XI_MINUS] =
        {.pdg = 3312, .charge = -1, .is_hadron = 1, .mass = 1321.71f, .ctau_in_flight = 49.1f, MODES(of_xi_minus)},
    [SIM_OMEGA] =
        {.pdg = 3334, .charge = -1, .is_hadron = 1, .mass = 1672.45f, .ctau_in_flight = 24.61f, MODES(of_omega)},
    [SIM_PHI] = {.pdg = 333, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 1019.461f, MODES(of_phi)},
    [SIM_K_STAR] = {.pdg = 313, .is_hadron = 1, .mass = 895.55f, MODES(of_k_star)},
    [SIM_D_0] = {.pdg = 421, .is_hadron = 1, .mass = 1864.84f, .ctau = 0.1229f, MODES(of_d_0)},
    [SIM_D_PLUS] = {.pdg = 411, .charge = 1, .is_hadron = 1, .mass = 1869.66f, .ctau = 0.3118f, MODES(of_d_plus)},
    [SIM_D_STAR] = {.pdg = 413, .charge = 1, .is_hadron = 1, .mass = 2010.26f, MODES(of_d_star)},
    [SIM_D_S] = {.pdg = 431, .charge = 1, .is_hadron = 1, .mass = 1968.35f, .ctau = 0.1512f, MODES(of_d_s)},
    [SIM_LAMBDA_C] = {.pdg = 4122, .charge = 1, .is_hadron = 1, .mass = 2286.46f, .ctau = 0.0604f, MODES(of_lambda_c)},
    [SIM_ETA_C] = {.pdg = 441, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 2983.9f, MODES(of_eta_c)},
    [SIM_JPSI] = {.pdg = 443, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 3096.9f, MODES(of_jpsi)},
    [SIM_B_0] = {.pdg = 511, .is_hadron = 1, .mass = 5279.65f, .ctau = 0.4554f, MODES(of_b_0)},
    [SIM_B_PLUS] = {.pdg = 521, .charge = 1, .is_hadron = 1, .mass = 5279.34f, .ctau = 0.4911f, MODES(of_b_plus)},
    [SIM_B_S] = {.pdg = 531, .is_hadron = 1, .mass = 5366.88f, .ctau = 0.4542f, MODES(of_b_s)},
    [SIM_LAMBDA_B] = {.pdg = 5122, .is_hadron = 1, .mass = 5619.6f, .ctau = 0.441f, MODES(of_lambda_b)},
    [SIM_UPSILON] = {.pdg = 553, .is_own_antiparticle = 1, .is_hadron = 1, .mass = 9460.3f, MODES(of_upsilon)},
    [SIM_Z] = {.pdg = 23, .is_own_antiparticle = 1, .mass = 91187.6f, MODES(of_z)},
    [SIM_DARK_PHOTON] = {.pdg = 9900022, .is_own_antiparticle = 1, .mass = 100.0f, MODES(of_dark_photon)},
    [SIM_SCALAR_500] = {.pdg = 9900054, .is_own_antiparticle = 1, .mass = 500.0f, MODES(of_scalar_500)},
    [SIM_SCALAR_1500] = {.pdg = 9910054, .is_own_antiparticle = 1, .mass = 1500.0f, MODES(of_scalar_1500)},
    [SIM_SCALAR_4000] = {.pdg = 9920054, .is_own_antiparticle = 1, .mass = 4000.0f, MODES(of_scalar_4000)},
};
