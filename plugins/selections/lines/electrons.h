/* lines/electrons.h: lines over pairs of electrons. */
#include "lines/vertices.h"

#define SL_ARGS dielectron_args
#define DIELECTRON(M)                                                                                              \
  LINE_OVER(M, secondary_vertices)                                                                                 \
  M(IN, particles, particles, "offsets p pt pt_corrected", "particles of the candidate pairs")                     \
  M(F32, min_mass, 0.0, 0.0, 1e9, "MeV", "minimum mass of the electron pair, with bremsstrahlung")                 \
  M(F32, max_mass, 1e9, 0.0, 1e9, "MeV", "maximum mass of the electron pair, with bremsstrahlung")                 \
  M(F32, min_sum_pt, 0.0, 0.0, 1e9, "MeV", "minimum sum of the pt of both electrons, with bremsstrahlung")         \
  M(F32, min_child_pt, 500.0, 0.0, 1e9, "MeV", "minimum pt of both electrons, with bremsstrahlung")                \
  M(F32, min_ip_chi2, -1.0, -1.0, 1e9, "", "minimum of the smaller ip_chi2, which is -1 without a primary vertex") \
  M(F32, max_ip_chi2, 1e9, -1.0, 1e9, "", "maximum of the smaller ip_chi2, which is -1 without a primary vertex")  \
  M(F32, max_chi2, 7.4, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                            \
  M(F32, max_doca, 0.082, 0.0, 1e9, "mm", "maximum distance of closest approach")                                  \
  VERTEX_SIGN(M, "opposite")                                                                                       \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(dielectron, DIELECTRON);

LINE(dielectron, "pairs of electrons", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  if (!((pairs->leptons[i] & PARTICLE_IS_ELECTRON) && sign_is(a->sign, pairs->charge[i]) &&
        pairs->doca[i] < a->max_doca && pairs->chi2[i] < a->max_chi2 && pairs->min_ip_chi2[i] >= a->min_ip_chi2 &&
        pairs->min_ip_chi2[i] < a->max_ip_chi2 && VERTEX_IS_FROM_Z(a, i)))
    return 0;
  const struct vertex_children of = children_of(pairs, &a->particles, event, i);
  const float pt1 = a->particles.pt_corrected[of.first], pt2 = a->particles.pt_corrected[of.second];
  if (!(sl_min_f32(pt1, pt2) >= a->min_child_pt && pt1 + pt2 >= a->min_sum_pt)) return 0;
  const float gain = pt1 / a->particles.pt[of.first] * (pt2 / a->particles.pt[of.second]);
  const float mass = mass_of(pairs, &a->particles, event, i, ELECTRON_MASS, ELECTRON_MASS) * sqrtf(gain);
  return mass >= a->min_mass && mass < a->max_mass;
}

#undef SL_ARGS
