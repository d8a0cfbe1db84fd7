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
  SL_REQUIRE_THAT("both are electrons", (pairs->leptons[i] & PARTICLE_IS_ELECTRON) != 0);
  REQUIRE_SIGN(a, pairs, i);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], <, a->max_ip_chi2);
  REQUIRE_VERTEX_FROM_Z(a, i);
  const struct vertex_children of = children_of(pairs, &a->particles, event, i);
  const float pt1 = a->particles.pt_corrected[of.first], pt2 = a->particles.pt_corrected[of.second];
  SL_REQUIRE("smaller pt, with bremsstrahlung", sl_min_f32(pt1, pt2), >=, a->min_child_pt);
  SL_REQUIRE("sum of pt, with bremsstrahlung", pt1 + pt2, >=, a->min_sum_pt);
  const float gain = pt1 / a->particles.pt[of.first] * (pt2 / a->particles.pt[of.second]);
  const float mass = mass_of(pairs, &a->particles, event, i, ELECTRON_MASS, ELECTRON_MASS) * sqrtf(gain);
  SL_REQUIRE("mass of the pair", mass, >=, a->min_mass);
  SL_REQUIRE("mass of the pair", mass, <, a->max_mass);
  return 1;
}

#undef SL_ARGS
