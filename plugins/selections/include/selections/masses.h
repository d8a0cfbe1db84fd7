/* masses.h: masses in MeV, and what two particles weigh together. */
#ifndef SELECTIONS_MASSES_H
#define SELECTIONS_MASSES_H

#include <sluice/math.h>

#define ELECTRON_MASS 0.510999f
#define MUON_MASS     105.65837f
#define PION_MASS     139.57018f
#define KAON_MASS     493.677f
#define PROTON_MASS   938.27203f
#define D0_MASS       1864.83f

/* E - p, as m^2 / (E + p): nothing is taken from what is nearly as large. p and m not both 0. */
SL_MATH_FUNCTION float selections_energy_excess(float p, float m) { return m * m / (sqrtf(p * p + m * m) + p); }

/* The mass of two particles of momenta p1 and p2 and masses m1 and m2, with `opening`, 1 - cos of the angle between
 * them: m^2 = m1^2 + m2^2 + 2 (E1 E2 - p1 p2) + 2 p1 p2 opening, where with e = E - p the second term is
 * p1 e2 + p2 e1 + e1 e2. All terms are positive: the error is that of a few roundings at any momentum and angle. */
SL_MATH_FUNCTION float selections_mass(float p1, float m1, float p2, float m2, float opening) {
  const float e1 = selections_energy_excess(p1, m1), e2 = selections_energy_excess(p2, m2);
  const float energies = p1 * e2 + p2 * e1 + e1 * e2;
  return sqrtf(m1 * m1 + m2 * m2 + 2.0f * energies + 2.0f * (p1 * p2 * opening));
}

#endif
