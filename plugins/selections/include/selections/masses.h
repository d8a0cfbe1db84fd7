/* masses.h: particle masses in MeV, and the invariant mass of two particles. */
#ifndef SELECTIONS_MASSES_H
#define SELECTIONS_MASSES_H

#include <sluice/math.h>
#include <sluice/plugin.h>

#define ELECTRON_MASS 0.510999f
#define MUON_MASS     105.65837f
#define PION_MASS     139.57018f
#define KAON_MASS     493.677f
#define PROTON_MASS   938.27203f
#define K0_MASS       497.611f
#define D0_MASS       1864.83f
#define LAMBDA_MASS   1115.683f
#define PHI_MASS      1019.461f
#define XI_MASS       1321.71f
#define OMEGA_MASS    1672.45f

/* Mass hypotheses of particles, with their names in graphs. */
#define MASS_HYPOTHESES(H) H(e, ELECTRON_MASS) H(mu, MUON_MASS) H(pi, PION_MASS) H(K, KAON_MASS) H(p, PROTON_MASS)

/* Particles that decay, as further arguments of masses in expressions. */
#define MASS_DECAYS(H)   \
  H(K0, K0_MASS)         \
  H(D0, D0_MASS)         \
  H(Lambda, LAMBDA_MASS) \
  H(phi, PHI_MASS)       \
  H(Xi, XI_MASS)         \
  H(Omega, OMEGA_MASS)

#define MASS_HYPOTHESIS_(name, mass)      {#name, mass},
#define MASS_HYPOTHESIS_NAME_(name, mass) #name " "
#define MASS_HYPOTHESIS_NAMES             MASS_HYPOTHESES(MASS_HYPOTHESIS_NAME_)
/* The hypotheses, and after them the particles that decay. */
static const struct sl_named_value mass_hypotheses[] SL_UNUSED = {MASS_HYPOTHESES(MASS_HYPOTHESIS_)
                                                                      MASS_DECAYS(MASS_HYPOTHESIS_)};

/* A function of masses in expressions. */
#define MASS_FUNCTION(name_, doc_, parameters_, text_)                                        \
  {                                                                                           \
    name_, doc_, parameters_, text_, mass_hypotheses, SL_COUNT_(mass_hypotheses), 0,          \
        "particles (e, mu, pi, K, p, K0, D0, Lambda, phi, Xi, Omega) or masses in MeV", "MeV" \
  }
#define MASS_OF_PAIR(text_) \
  MASS_FUNCTION("mass", "mass of the pair if `first` has the mass one and `second` the mass other", "one other", text_)

/* Names in expressions of pairs of particles: first.NAME, second.NAME, and `mass` with the operations of
 * selections_mass below. MASS_TEXT: the names of both momenta and of 1 - cos. */
#define ENERGY_EXCESS_TEXT(p, m) "(" m " * " m " / (sqrt(" p " * " p " + " m " * " m ") + " p "))"
#define MASS_TEXT(p1, p2, opening)                                                                                     \
  "sqrt(one * one + other * other + 2 * (" p1 " * " ENERGY_EXCESS_TEXT(p2, "other") " + " p2 " * " ENERGY_EXCESS_TEXT( \
      p1, "one") " + " ENERGY_EXCESS_TEXT(p1, "one") " * " ENERGY_EXCESS_TEXT(p2, "other") ") + 2 * (" p1 " * " p2     \
                                                                                           " * " opening "))"
static const struct sl_link pair_links[] SL_UNUSED = {{"first", "particles"}, {"second", "particles"}};
static const struct sl_function pair_functions[] SL_UNUSED = {
    MASS_OF_PAIR(MASS_TEXT("first.p", "second.p", "opening"))};
static const struct sl_vocabulary pair_vocabulary SL_UNUSED = {pair_links, pair_functions, SL_COUNT_(pair_links),
                                                               SL_COUNT_(pair_functions)};

/* E - p, computed as m^2 / (E + p) to avoid cancellation. p and m must not both be 0. */
SL_MATH_FUNCTION float selections_energy_excess(float p, float m) { return m * m / (sqrtf(p * p + m * m) + p); }

/* Invariant mass of two particles with momenta p1, p2 and masses m1, m2; `opening` is 1 - cos of the angle between
 * them. m^2 = m1^2 + m2^2 + 2 (E1 E2 - p1 p2) + 2 p1 p2 opening, where E1 E2 - p1 p2 = p1 e2 + p2 e1 + e1 e2 with e = E
 * - p. All terms are positive, so that the error is a few roundings at any momentum and angle. */
SL_MATH_FUNCTION float selections_mass(float p1, float m1, float p2, float m2, float opening) {
  const float e1 = selections_energy_excess(p1, m1), e2 = selections_energy_excess(p2, m2);
  const float energies = p1 * e2 + p2 * e1 + e1 * e2;
  return sqrtf(m1 * m1 + m2 * m2 + 2.0f * energies + 2.0f * (p1 * p2 * opening));
}

/* The mass of the two particles less m1, without cancellation: (m^2 - m1^2) / (m + m1). */
SL_MATH_FUNCTION float selections_mass_difference(float p1, float m1, float p2, float m2, float opening) {
  const float e1 = selections_energy_excess(p1, m1), e2 = selections_energy_excess(p2, m2);
  const float energies = p1 * e2 + p2 * e1 + e1 * e2;
  const float more = m2 * m2 + 2.0f * energies + 2.0f * (p1 * p2 * opening);
  return more / (sqrtf(m1 * m1 + more) + m1);
}

#endif
