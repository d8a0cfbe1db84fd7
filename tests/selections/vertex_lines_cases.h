/* vertex_lines_cases.h: the requirements of the lines over pairs of particles, as in the tables of the README. */
#ifndef TEST_SELECTIONS_VERTEX_LINES_CASES_H
#define TEST_SELECTIONS_VERTEX_LINES_CASES_H

#include "selections/event_model.h"
#include "selections/masses.h"

/* The columns of a candidate, with default values that pass most lines: columns of pairs, ... */
#define PAIR_COLUMNS(F)               \
  F(X, "x", 5)                        \
  F(Y, "y", 0)                        \
  F(Z, "z", 50)                       \
  F(CHI2, "chi2", 1)                  \
  F(DOCA, "doca", 0.05f)              \
  F(OPENING, "opening", 0)            \
  F(P, "p", 70000)                    \
  F(PT, "pt", 10000)                  \
  F(SUM_PT, "sum_pt", 11000)          \
  F(VERTEX_Z, "vertex_z", 0)          \
  F(IP, "ip", 0.001f)                 \
  F(DZ, "dz", 50)                     \
  F(RHO, "rho", 5)                    \
  F(FD_CHI2, "fd_chi2", 1000)         \
  F(DIRA, "dira", 0.9999f)            \
  F(ETA, "eta", 3)                    \
  F(M_CORRECTED, "m_corrected", 3000) \
  F(MIN_P, "min_p", 30000)            \
  F(MIN_PT, "min_pt", 5000)           \
  F(MIN_IP, "min_ip", 0.5f)           \
  F(MIN_IP_CHI2, "min_ip_chi2", 200)
/* ... further columns, ... */
#define OTHER_COLUMNS(F) \
  F(LOGIT, "logit", 5)   \
  F(CHARGE, "charge", 0) \
  F(LEPTONS, "leptons", 3)
/* ... and columns of the two particles. */
#define PARTICLE_COLUMNS(F)                                   \
  F(P1, P2, "p", 40000, 30000)                                \
  F(PT1, PT2, "pt", 6000, 5000)                               \
  F(PT_CORRECTED1, PT_CORRECTED2, "pt_corrected", 9000, 5500) \
  F(IP1, IP2, "ip", 0.6f, 0.5f)                               \
  F(IP_CHI2_1, IP_CHI2_2, "ip_chi2", 300, 200)                \
  F(CHI2_NDOF1, CHI2_NDOF2, "chi2_ndof", 1, 1.5f)             \
  F(ETA1, ETA2, "eta", 3, 4)

#define FIELD_OF_(field, name, value)                      field,
#define FIELDS_OF_(field1, field2, name, value1, value2)   field1, field2,
#define NAME_OF_(field, name, value)                       name,
#define NAMES_OF_(field1, field2, name, value1, value2)    name, name,
#define ONE_NAME_OF_(field1, field2, name, value1, value2) name,
#define VALUE_OF_(field, name, value)                      value,
#define VALUES_OF_(field1, field2, name, value1, value2)   value1, value2,
/* The columns, then quantities that are computed from several columns. */
enum field {
  PAIR_COLUMNS(FIELD_OF_) OTHER_COLUMNS(FIELD_OF_) PARTICLE_COLUMNS(FIELDS_OF_) FIELDS,
  MASS = FIELDS,
  CTAU,
  RADIUS,
  IP_OVER_DZ,
  SIN2,
  IP_PRODUCT,
  PT_PRODUCT,
  SUM_PT_CORRECTED,
  NOTHING = X /* ends a list; no case changes X, except through RADIUS */
};
static const char *const field_names[] = {PAIR_COLUMNS(NAME_OF_) OTHER_COLUMNS(NAME_OF_)
                                              PARTICLE_COLUMNS(NAMES_OF_) "mass",
                                          "ctau",
                                          "radius",
                                          "ip / dz",
                                          "squared sine",
                                          "product of impact parameters",
                                          "product of pt",
                                          "sum of corrected pt"};
static const char *const particle_names[] = {PARTICLE_COLUMNS(ONE_NAME_OF_)};
enum { PARTICLE_FIELDS = sizeof particle_names / sizeof particle_names[0] };
static const float good_candidate[FIELDS] = {PAIR_COLUMNS(VALUE_OF_) OTHER_COLUMNS(VALUE_OF_)
                                                 PARTICLE_COLUMNS(VALUES_OF_)};

struct change {
  enum field field;
  float value;
};
static const struct change without_vertex[] = {{VERTEX_Z, SELECTIONS_NO_Z},
                                               {IP, 0},
                                               {DZ, 0},
                                               {RHO, 0},
                                               {FD_CHI2, -1},
                                               {DIRA, 0},
                                               {ETA, 0},
                                               {M_CORRECTED, 0},
                                               {MIN_IP, -1},
                                               {MIN_IP_CHI2, -1},
                                               {LOGIT, SELECTIONS_NO_LOGIT},
                                               {IP1, -1},
                                               {IP2, -1},
                                               {IP_CHI2_1, -1},
                                               {IP_CHI2_2, -1},
                                               {NOTHING, 0}};

/* A requirement, the property that sets it, and further changes to a candidate so that only this requirement decides.
 */
enum kind { NO_REQUIREMENT, AT_LEAST, ABOVE, BELOW, OPPOSITE, SAME, MUONS, ELECTRONS };
struct requirement {
  enum kind kind;
  enum field field;
  float limit;
  const char *property;
  struct change with[2];
};

enum { PARTICLES = 1, SCORES = 2 }; /* further inputs of a line */
struct line {
  const char *name;
  uint32_t uses;
  float masses[2], mass; /* masses of the particles; mass of the pair, unless the mass is tested */
  int without_vertex;    /* 1: accepts candidates without a primary vertex */
  const struct change *changes;
  const struct requirement *requirements;
  const char *setting; /* property that is set to 0 */
};

static const struct change no_changes[] = {{NOTHING, 0}};

#define FROM_Z                                  \
  {AT_LEAST, Z, -341, "min_z", {{0}}}, {        \
    AT_LEAST, VERTEX_Z, -341, "min_vertex_z", { \
      { 0 }                                     \
    }                                           \
  }
#define NO_MORE                      \
  {                                  \
    NO_REQUIREMENT, NOTHING, 0, 0, { \
      { 0 }                          \
    }                                \
  }
#define OPPOSITE_CHARGE            \
  {                                \
    OPPOSITE, CHARGE, 0, "sign", { \
      { 0 }                        \
    }                              \
  }
#define SAME_CHARGE            \
  {                            \
    SAME, CHARGE, 0, "sign", { \
      { 0 }                    \
    }                          \
  }
#define LEAST(field, limit, property)   \
  {                                     \
    AT_LEAST, field, limit, property, { \
      { 0 }                             \
    }                                   \
  }
#define MORE(field, limit, property) \
  {                                  \
    ABOVE, field, limit, property, { \
      { 0 }                          \
    }                                \
  }
#define LESS(field, limit, property) \
  {                                  \
    BELOW, field, limit, property, { \
      { 0 }                          \
    }                                \
  }

/* --------------------------------------------------------------------------------------------------- hadrons */

static const struct requirement two_track_mva[] = {LEAST(LOGIT, 3.100176f, "min_logit"),
                                                   LESS(CHI2, 20, "max_chi2"),
                                                   LESS(DOCA, 0.2f, "max_doca"),
                                                   LEAST(PT, 1000, "min_pt"),
                                                   LEAST(M_CORRECTED, 1000, "min_m_corrected"),
                                                   LEAST(ETA, 2, "min_eta"),
                                                   LESS(ETA, 5, "max_eta"),
                                                   LEAST(MIN_PT, 200, "min_child_pt"),
                                                   LEAST(MIN_IP_CHI2, 4, "min_ip_chi2"),
                                                   FROM_Z,
                                                   NO_MORE};
static const struct requirement two_track_charm[] = {LEAST(LOGIT, 2.495845f, "min_logit"),
                                                     {AT_LEAST, LOGIT, 0.847298f, "min_logit_low_pt", {{PT, 1499}}},
                                                     {BELOW, PT, 1500, "low_pt", {{LOGIT, 1}}},
                                                     LESS(MASS, 1964.83f, "max_mass_difference"),
                                                     LESS(CHI2, 20, "max_chi2"),
                                                     LESS(DOCA, 0.2f, "max_doca"),
                                                     LEAST(MIN_PT, 250, "min_child_pt"),
                                                     LEAST(MIN_P, 2000, "min_child_p"),
                                                     LEAST(MIN_IP_CHI2, 4, "min_ip_chi2"),
                                                     FROM_Z,
                                                     NO_MORE};
/* The lower of the two masses is that with the first (second) particle as the kaon. */
static const struct change first_is_faster[] = {{P1, 40000}, {P2, 30000}, {NOTHING, 0}};
static const struct change second_is_faster[] = {{P1, 30000}, {P2, 40000}, {NOTHING, 0}};
static const struct requirement two_track_charm_mass[] = {LESS(MASS, 1830, "max_mass"), NO_MORE};
static const struct requirement two_track_charm_difference[] = {LEAST(MASS, 1764.83f, "max_mass_difference"), NO_MORE};
#define TWO_BODY                                                                                                   \
  OPPOSITE_CHARGE, LEAST(CTAU, 0.06f, "min_ctau"), LEAST(PT, 2000, "min_pt"), LEAST(CHI2, 0, "min_chi2"),          \
      LESS(CHI2, 20, "max_chi2"), LESS(DOCA, 0.2f, "max_doca"), LEAST(ETA, 2, "min_eta"), LESS(ETA, 5, "max_eta"), \
      LEAST(MIN_PT, 800, "min_child_pt"), LEAST(MIN_IP, 0.06f, "min_ip"), FROM_Z
static const struct requirement two_body_decay[] = {LESS(MASS, 1964.83f, "max_mass_difference"), TWO_BODY, NO_MORE};
static const struct requirement two_body_decay_lower[] = {LEAST(MASS, 1764.83f, "max_mass_difference"), NO_MORE};

#define KS_LIKE                                                                                           \
  OPPOSITE_CHARGE, LEAST(MASS, 400, "min_mass"), LESS(MASS, 600, "max_mass"), LESS(CHI2, 10, "max_chi2"), \
      LESS(IP, 0.3f, "max_ip"), LEAST(MIN_IP_CHI2, 100, "min_ip_chi2"), FROM_Z
static const struct requirement ks_to_pipi[] = {KS_LIKE, NO_MORE};
static const struct requirement ks_double_misid[] = {
    KS_LIKE, LEAST(MIN_P, 10000, "min_child_p"), {MUONS, LEPTONS, 0, "muons", {{0}}}, NO_MORE};
#define KS_OF_HIGH_PT(pt, child_pt, child_p, ip_chi2, ip_product)                                      \
  OPPOSITE_CHARGE, LEAST(MASS, 455, "min_mass"), LESS(MASS, 545, "max_mass"), LEAST(PT, pt, "min_pt"), \
      LESS(CHI2, 20, "max_chi2"), LESS(OPENING, 0.01f, "max_opening"), LEAST(DIRA, 0.99f, "min_dira"), \
      LEAST(ETA, 2, "min_eta"), LESS(ETA, 4.2f, "max_eta"), LEAST(MIN_PT, child_pt, "min_child_pt"),   \
      LEAST(MIN_P, child_p, "min_child_p"), LEAST(MIN_IP_CHI2, ip_chi2, "min_ip_chi2"),                \
      LEAST(IP_PRODUCT, ip_product, "min_ip_product")
static const struct requirement two_track_ks[] = {KS_OF_HIGH_PT(2500, 470, 5000, 50, 0.72f), LEAST(CHI2, 0, "min_chi2"),
                                                  FROM_Z, NO_MORE};
static const struct requirement two_ks[] = {KS_OF_HIGH_PT(1150, 425, 3000, 15, 0.23f), MORE(CHI2, 0, "min_chi2"),
                                            NO_MORE};

static const struct change proton_first[] = {{P1, 40000}, {P2, 7000}, {NOTHING, 0}};
static const struct change proton_second[] = {{P1, 7000}, {P2, 40000}, {NOTHING, 0}};
#define LAMBDA(proton_pt, proton_ip_chi2, proton_ip, pion_pt, pion_ip_chi2, pion_ip)                        \
  OPPOSITE_CHARGE, LESS(MASS, 1140, "max_mass"), LEAST(proton_pt, 450, "min_proton_pt"),                    \
      LEAST(proton_ip_chi2, 12, "min_proton_ip_chi2"), LEAST(proton_ip, 0.08f, "min_proton_ip"),            \
      LEAST(pion_pt, 80, "min_pion_pt"), LEAST(pion_ip_chi2, 32, "min_pion_ip_chi2"),                       \
      LEAST(pion_ip, 0.2f, "min_pion_ip"), LEAST(PT, 500, "min_pt"), LESS(CHI2, 16, "max_chi2"),            \
      LESS(DOCA, 0.5f, "max_doca"), LEAST(Z, -80, "min_z"), LESS(Z, 650, "max_z"), LEAST(DZ, 12, "min_dz"), \
      LEAST(RHO, 2, "min_rho"), LEAST(FD_CHI2, 180, "min_fd_chi2"), LEAST(DIRA, 0.9997f, "min_dira"), NO_MORE
static const struct requirement lambda_first[] = {LAMBDA(PT1, IP_CHI2_1, IP1, PT2, IP_CHI2_2, IP2)};
static const struct requirement lambda_second[] = {LAMBDA(PT2, IP_CHI2_2, IP2, PT1, IP_CHI2_1, IP1)};

/* ----------------------------------------------------------------------------------------------------- muons */

#define BOTH_MUONS          \
  {                         \
    MUONS, LEPTONS, 0, 0, { \
      { 0 }                 \
    }                       \
  }
#define DIMUON(child_pt, ip_chi2, chi2)                                                                         \
  BOTH_MUONS, MORE(CHI2, 0, "min_chi2"), LESS(CHI2, chi2, "max_chi2"), LEAST(MIN_PT, child_pt, "min_child_pt"), \
      LEAST(MIN_IP_CHI2, ip_chi2, "min_ip_chi2"), LEAST(Z, -341, "min_z")
#define DIMUON_NEAR(mass, child_pt, child_p, ip_chi2)                                                          \
  DIMUON(child_pt, ip_chi2, 25), OPPOSITE_CHARGE, LESS(DOCA, 0.2f, "max_doca"), LEAST(MASS, mass, "min_mass"), \
      LEAST(MIN_P, child_p, "min_child_p"), LEAST(VERTEX_Z, -341, "min_vertex_z")
static const struct requirement high_mass[] = {DIMUON_NEAR(2700, 300, 6000, 0), NO_MORE};
static const struct requirement low_mass[] = {/* any mass */
                                              DIMUON(500, 4, 25),
                                              OPPOSITE_CHARGE,
                                              LESS(DOCA, 0.2f, "max_doca"),
                                              LEAST(MIN_P, 3000, "min_child_p"),
                                              LEAST(VERTEX_Z, -341, "min_vertex_z"),
                                              NO_MORE};
static const struct requirement low_pt[] = {DIMUON_NEAR(220, 80, 3000, 1), LEAST(MIN_IP, 0.1f, "min_ip"), NO_MORE};
static const struct requirement high_mass_alignment[] = {DIMUON_NEAR(9000, 300, 6000, 0), NO_MORE};
static const struct requirement jpsi_alignment[] = {DIMUON_NEAR(2500, 300, 6000, 0), NO_MORE};
#define DISPLACED(mass) \
  DIMUON(500, 6, 6), LEAST(MASS, mass, "min_mass"), LEAST(ETA, 2, "min_eta"), LESS(ETA, 5, "max_eta")
static const struct requirement displaced[] = {DISPLACED(215), NO_MORE};
static const struct requirement displaced_alignment[] = {DISPLACED(2700), OPPOSITE_CHARGE, NO_MORE};
static const struct requirement soft[] = {BOTH_MUONS,
                                          OPPOSITE_CHARGE,
                                          LEAST(MIN_IP_CHI2, 100, "min_ip_chi2"),
                                          MORE(CHI2, 0, "min_chi2"),
                                          LESS(MASS, 400, "veto_begin"),
                                          LEAST(MASS, 475, "veto_end"),
                                          LESS(MASS, 600, "max_mass"),
                                          LEAST(ETA, 0, "min_eta"),
                                          LEAST(RADIUS, 3, "min_radius"),
                                          LEAST(Z, -375, "min_z"),
                                          LESS(Z, 635, "max_z"),
                                          LESS(DOCA, 0.1f, "max_doca"),
                                          LESS(IP_OVER_DZ, 0.04f, "max_ip_over_dz"),
                                          LEAST(SIN2, 4e-6f, "min_sin2"),
                                          NO_MORE};
#define NO_IP                                                                                                   \
  BOTH_MUONS, MORE(CHI2_NDOF1, 0, "min_chi2_ndof"), MORE(CHI2_NDOF2, 0, "min_chi2_ndof"),                       \
      LESS(CHI2_NDOF1, 3, "max_chi2_ndof"), LESS(CHI2_NDOF2, 3, "max_chi2_ndof"), LESS(DOCA, 0.3f, "max_doca"), \
      LEAST(PT_PRODUCT, 1e6f, "min_pt_product"), LEAST(MIN_P, 5000, "min_child_p"), MORE(CHI2, 0, "min_chi2"),  \
      LESS(CHI2, 9, "max_chi2"), LEAST(PT, 1000, "min_pt"), LEAST(Z, -341, "min_z")
static const struct requirement no_ip[] = {NO_IP, OPPOSITE_CHARGE, NO_MORE};
static const struct requirement no_ip_same[] = {NO_IP, SAME_CHARGE, NO_MORE};
#define DRELL_YAN(low, high)                                                                                    \
  BOTH_MUONS, LESS(CHI2, 16, "max_chi2"), LESS(DOCA, 0.15f, "max_doca"), LEAST(MIN_PT, 1200, "min_child_pt"),   \
      LEAST(MIN_P, 15000, "min_child_p"), LESS(ETA1, 4.9f, "max_child_eta"), LESS(ETA2, 4.9f, "max_child_eta"), \
      LEAST(MASS, low, "min_mass"), LESS(MASS, high, "max_mass"), LEAST(VERTEX_Z, -341, "min_vertex_z")
static const struct requirement drell_yan_low[] = {DRELL_YAN(2900, 5000), OPPOSITE_CHARGE, NO_MORE};
static const struct requirement drell_yan_low_same[] = {DRELL_YAN(2900, 5000), SAME_CHARGE, NO_MORE};
static const struct requirement drell_yan[] = {DRELL_YAN(5000, 250000), OPPOSITE_CHARGE, NO_MORE};
static const struct requirement drell_yan_same[] = {DRELL_YAN(5000, 250000), SAME_CHARGE, NO_MORE};
static const struct change same_charge[] = {{CHARGE, -2}, {NOTHING, 0}};
static const struct change fast[] = {{P1, 400000}, {P2, 300000}, {NOTHING, 0}};
static const struct change fast_of_same_charge[] = {{P1, 400000}, {P2, 300000}, {CHARGE, 2}, {NOTHING, 0}};

/* ------------------------------------------------------------------------------------------------- electrons */

#define DIELECTRON                                                                                 \
  {ELECTRONS, LEPTONS, 0, 0, {{0}}}, LESS(CHI2, 7.4f, "max_chi2"), LESS(DOCA, 0.082f, "max_doca"), \
      LEAST(Z, -341, "min_z")
#define OF_PT LEAST(PT_CORRECTED1, 500, "min_child_pt"), LEAST(PT_CORRECTED2, 500, "min_child_pt")
static const struct requirement displaced_dielectron[] = {
    DIELECTRON,      OF_PT,  LEAST(MIN_IP_CHI2, 7.4f, "min_ip_chi2"), LEAST(VERTEX_Z, -341, "min_vertex_z"),
    OPPOSITE_CHARGE, NO_MORE};
/* Two entries per mass range: opposite and same charge. The sum of pt does not decide if both pt are at least 500 MeV.
 */
#define PROMPT(low, high)                                                                 \
  {DIELECTRON,                                                                            \
   OF_PT,                                                                                 \
   LESS(MIN_IP_CHI2, 2, "max_ip_chi2"),                                                   \
   LEAST(MASS, low, "min_mass"),                                                          \
   LESS(MASS, high, "max_mass"),                                                          \
   OPPOSITE_CHARGE,                                                                       \
   NO_MORE},                                                                              \
  {                                                                                       \
    DIELECTRON, OF_PT, LESS(MIN_IP_CHI2, 2, "max_ip_chi2"), LEAST(MASS, low, "min_mass"), \
        LESS(MASS, high, "max_mass"), SAME_CHARGE, NO_MORE                                \
  }
#define SECONDARY(low, high)                                                                       \
  {DIELECTRON,                                                                                     \
   LEAST(SUM_PT_CORRECTED, 1000, "min_sum_pt"),                                                    \
   LEAST(MIN_IP_CHI2, 2, "min_ip_chi2"),                                                           \
   LEAST(MASS, low, "min_mass"),                                                                   \
   LESS(MASS, high, "max_mass"),                                                                   \
   OPPOSITE_CHARGE,                                                                                \
   NO_MORE},                                                                                       \
  {                                                                                                \
    DIELECTRON, LEAST(SUM_PT_CORRECTED, 1000, "min_sum_pt"), LEAST(MIN_IP_CHI2, 2, "min_ip_chi2"), \
        LEAST(MASS, low, "min_mass"), LESS(MASS, high, "max_mass"), SAME_CHARGE, NO_MORE           \
  }
enum { SLICES = 8, SLICE_REQUIREMENTS_MAX = 12 };
static const struct requirement prompt[SLICES][SLICE_REQUIREMENTS_MAX] = {PROMPT(5, 30), PROMPT(30, 100),
                                                                          PROMPT(100, 200), PROMPT(200, 300)};
static const struct requirement secondary[SLICES][SLICE_REQUIREMENTS_MAX] = {SECONDARY(5, 30), SECONDARY(30, 100),
                                                                             SECONDARY(100, 200), SECONDARY(200, 300)};
static const struct change from_vertex[] = {{MIN_IP_CHI2, 1}, {NOTHING, 0}};
static const struct change from_vertex_of_same_charge[] = {{MIN_IP_CHI2, 1}, {CHARGE, 2}, {NOTHING, 0}};

/* ----------------------------------------------------------------------------------------------------- lines */

#define OF_D  {KAON_MASS, PION_MASS}, 1864.83f
#define OF_KS {PION_MASS, PION_MASS}, 500
#define OF_MUONS \
  { MUON_MASS, MUON_MASS }
#define SLICE_(kind, name, uses, k, mass, vertex, changes, same_changes)                                             \
  {                                                                                                                  \
      "Hlt1LowMassNoipDielectron_massSlice" name,                                                                    \
      uses,                                                                                                          \
      {ELECTRON_MASS, ELECTRON_MASS},                                                                                \
      mass,                                                                                                          \
      vertex,                                                                                                        \
      changes,                                                                                                       \
      kind[k],                                                                                                       \
      0},                                                                                                            \
  {                                                                                                                  \
    "Hlt1LowMassNoipDielectron_SS_massSlice" name, uses, {ELECTRON_MASS, ELECTRON_MASS}, mass, vertex, same_changes, \
        kind[(k) + 1], 0                                                                                             \
  }
#define PROMPT_LINES(name, k, mass) \
  SLICE_(prompt, name "_prompt", PARTICLES, k, mass, 1, from_vertex, from_vertex_of_same_charge)
#define SECONDARY_LINES(name, k, mass) \
  SLICE_(secondary, name "_displaced", PARTICLES, k, mass, 0, no_changes, same_charge)
static const struct line lines[] = {
    {"Hlt1TwoTrackMVACharmXSec", PARTICLES | SCORES, OF_D, 0, first_is_faster, two_track_charm, 0},
    {"Hlt1TwoTrackMVACharmXSec",
     PARTICLES | SCORES,
     {PION_MASS, KAON_MASS},
     1000,
     0,
     second_is_faster,
     two_track_charm_mass,
     "max_mass_difference"},
    {"Hlt1TwoTrackMVACharmXSec", PARTICLES | SCORES, OF_D, 0, second_is_faster, two_track_charm_difference, "max_mass"},
    {"Hlt1TwoTrackMVA", SCORES, OF_D, 0, no_changes, two_track_mva, 0},
    {"Hlt1D2KK", PARTICLES, {KAON_MASS, KAON_MASS}, 1864.83f, 0, no_changes, two_body_decay, 0},
    {"Hlt1D2KK", PARTICLES, {KAON_MASS, KAON_MASS}, 1864.83f, 0, no_changes, two_body_decay_lower, 0},
    {"Hlt1D2KPi", PARTICLES, OF_D, 0, first_is_faster, two_body_decay, 0},
    {"Hlt1D2KPi", PARTICLES, {PION_MASS, KAON_MASS}, 1864.83f, 0, first_is_faster, two_body_decay_lower, 0},
    {"Hlt1D2KPi", PARTICLES, {PION_MASS, KAON_MASS}, 1864.83f, 0, second_is_faster, two_body_decay, 0},
    {"Hlt1D2KPi", PARTICLES, OF_D, 0, second_is_faster, two_body_decay_lower, 0},
    {"Hlt1D2PiPi", PARTICLES, {PION_MASS, PION_MASS}, 1864.83f, 0, no_changes, two_body_decay, 0},
    {"Hlt1D2PiPi", PARTICLES, {PION_MASS, PION_MASS}, 1864.83f, 0, no_changes, two_body_decay_lower, 0},
    {"Hlt1D2KPiAlignment", PARTICLES, OF_D, 0, first_is_faster, two_body_decay, 0},
    {"Hlt1KsToPiPi", PARTICLES, OF_KS, 0, no_changes, ks_to_pipi, 0},
    {"Hlt1KsToPiPiDoubleMuonMisID", PARTICLES, OF_KS, 0, no_changes, ks_double_misid, 0},
    {"Hlt1TwoTrackKs", PARTICLES, OF_KS, 0, no_changes, two_track_ks, 0},
    {"Hlt1TwoKs", PARTICLES, OF_KS, 0, no_changes, two_ks, 0},
    {"Hlt1L02PPi", PARTICLES, {PROTON_MASS, PION_MASS}, 1116, 0, proton_first, lambda_first, 0},
    {"Hlt1L02PPi", PARTICLES, {PION_MASS, PROTON_MASS}, 1116, 0, proton_second, lambda_second, 0},
    {"Hlt1DiMuonHighMass", PARTICLES, OF_MUONS, 3097, 0, no_changes, high_mass, 0},
    {"Hlt1DiMuonLowMass", PARTICLES, OF_MUONS, 250, 0, no_changes, low_mass, 0},
    {"Hlt1DiMuonSoft", PARTICLES, OF_MUONS, 300, 0, no_changes, soft, 0},
    {"Hlt1LowPtDiMuon", PARTICLES, OF_MUONS, 300, 0, no_changes, low_pt, 0},
    {"Hlt1DiMuonNoIP", PARTICLES, OF_MUONS, 300, 1, no_changes, no_ip, 0},
    {"Hlt1DiMuonNoIP_ss", PARTICLES, OF_MUONS, 300, 1, same_charge, no_ip_same, 0},
    {"Hlt1DiMuonDrellYan_VLowMass", PARTICLES, OF_MUONS, 4000, 0, fast, drell_yan_low, 0},
    {"Hlt1DiMuonDrellYan_VLowMass_SS", PARTICLES, OF_MUONS, 4000, 0, fast_of_same_charge, drell_yan_low_same, 0},
    {"Hlt1DiMuonDrellYan", PARTICLES, OF_MUONS, 20000, 0, fast, drell_yan, 0},
    {"Hlt1DiMuonDrellYan_SS", PARTICLES, OF_MUONS, 20000, 0, fast_of_same_charge, drell_yan_same, 0},
    {"Hlt1DisplacedDiMuon", PARTICLES, OF_MUONS, 300, 0, no_changes, displaced, 0},
    {"Hlt1DisplacedDiMuon", PARTICLES, OF_MUONS, 300, 0, same_charge, displaced, 0},
    {"Hlt1DiMuonHighMassAlignment", PARTICLES, OF_MUONS, 9460, 0, no_changes, high_mass_alignment, 0},
    {"Hlt1DiMuonJpsiMassAlignment", PARTICLES, OF_MUONS, 3097, 0, no_changes, jpsi_alignment, 0},
    {"Hlt1DisplacedDiMuonAlignment", PARTICLES, OF_MUONS, 3097, 0, no_changes, displaced_alignment, 0},
    {"Hlt1DisplacedDielectron",
     PARTICLES,
     {ELECTRON_MASS, ELECTRON_MASS},
     1000,
     0,
     no_changes,
     displaced_dielectron,
     0},
    PROMPT_LINES("1", 0, 10),
    PROMPT_LINES("2", 2, 50),
    PROMPT_LINES("3", 4, 150),
    PROMPT_LINES("4", 6, 250),
    SECONDARY_LINES("1", 0, 10),
    SECONDARY_LINES("2", 2, 50),
    SECONDARY_LINES("3", 4, 150),
    SECONDARY_LINES("4", 6, 250),
};
enum { LINES = sizeof lines / sizeof lines[0] };

#endif
