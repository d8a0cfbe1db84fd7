/* lines/strange.h: lines over displaced pairs of hadrons: decays of strange particles. */
#include "lines/ks.h"

/* ------------------------------------------------------------------------------------------------ ks_to_pipi */

#define SL_ARGS ks_to_pipi_args
#define KS_TO_PIPI(M)                                                             \
  LINE_OVER(M, secondary_vertices)                                                \
  M(IN, particles, particles, "offsets p", "particles of the candidate pairs")    \
  M(F32, min_mass, 400.0, 0.0, 1e9, "MeV", "minimum mass as two pions")           \
  M(F32, max_mass, 600.0, 0.0, 1e9, "MeV", "maximum mass as two pions")           \
  M(F32, max_chi2, 10.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")          \
  M(F32, max_ip, 0.3, 0.0, 1e9, "mm", "maximum impact parameter of the pair")     \
  M(F32, min_ip_chi2, 100.0, -1e9, 1e9, "", "minimum ip_chi2 of both particles")  \
  M(F32, min_child_p, 0.0, 0.0, 1e9, "MeV", "minimum momentum of both particles") \
  M(BOOL, muons, 0, "require both particles to be identified as muons")           \
  VERTEX_SIGN(M, "opposite")                                                      \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(ks_to_pipi, KS_TO_PIPI);

LINE(ks_to_pipi, "Ks that decay into two pions", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);
  SL_REQUIRE("IP of the pair", pairs->ip[i], <, a->max_ip);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE_THAT("both are muons, or muons is false", !a->muons || (pairs->leptons[i] & PARTICLE_IS_MUON));
  SL_REQUIRE("smaller momentum", pairs->min_p[i], >=, a->min_child_p);
  REQUIRE_SIGN(a, pairs, i);
  REQUIRE_VERTEX_FROM_Z(a, i);
  const float mass = mass_of(pairs, &a->particles, event, i, PION_MASS, PION_MASS);
  SL_REQUIRE("mass as two pions", mass, >=, a->min_mass);
  SL_REQUIRE("mass as two pions", mass, <, a->max_mass);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- two_track_ks */

#undef SL_ARGS
#define SL_ARGS two_track_ks_args
#define TWO_TRACK_KS(M)                                                           \
  LINE_OVER(M, secondary_vertices)                                                \
  M(IN, particles, particles, "offsets p ip", "particles of the candidate pairs") \
  KS_REQUIREMENTS(M, 2500.0, 470.0, 5000.0, 50.0, 0.72)                           \
  M(F32, min_chi2, 0.0, -1e9, 1e9, "", "minimum chi2 of the vertex fit")          \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(two_track_ks, TWO_TRACK_KS);

KS_FUNCTION(two_track_ks_is_ks, struct two_track_ks_args)

LINE(two_track_ks, "Ks of high pt that decay into two pions", secondary_vertices) {
  SL_REQUIRE("chi2 of the vertex", a->candidates.chi2[i], >=, a->min_chi2);
  REQUIRE_VERTEX_FROM_Z(a, i);
  return two_track_ks_is_ks(a, &a->candidates, event, i, explanation);
}

/* --------------------------------------------------------------------------------------------- lambda_to_ppi */

#undef SL_ARGS
#define SL_ARGS lambda_to_ppi_args
#define LAMBDA_TO_PPI(M)                                                                                    \
  LINE_OVER(M, secondary_vertices)                                                                          \
  M(IN, particles, particles, "offsets p pt ip ip_chi2", "particles of the candidate pairs")                \
  M(F32, max_mass, 1140.0, 0.0, 1e9, "MeV",                                                                 \
    "maximum mass as proton and pion; the proton is the particle of higher momentum")                       \
  M(F32, min_proton_pt, 450.0, 0.0, 1e9, "MeV", "minimum pt of the proton")                                 \
  M(F32, min_proton_ip_chi2, 12.0, -1e9, 1e9, "", "minimum ip_chi2 of the proton")                          \
  M(F32, min_proton_ip, 0.08, -1e9, 1e9, "mm", "minimum impact parameter of the proton")                    \
  M(F32, min_pion_pt, 80.0, 0.0, 1e9, "MeV", "minimum pt of the pion")                                      \
  M(F32, min_pion_ip_chi2, 32.0, -1e9, 1e9, "", "minimum ip_chi2 of the pion")                              \
  M(F32, min_pion_ip, 0.2, -1e9, 1e9, "mm", "minimum impact parameter of the pion")                         \
  M(F32, min_pt, 500.0, 0.0, 1e9, "MeV", "minimum pt of the pair")                                          \
  M(F32, max_chi2, 16.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                    \
  M(F32, max_doca, 0.5, 0.0, 1e9, "mm", "maximum distance of closest approach")                             \
  M(F32, min_z, -80.0, -1e9, 1e9, "mm", "minimum z of the pair")                                            \
  M(F32, max_z, 650.0, -1e9, 1e9, "mm", "maximum z of the pair")                                            \
  M(F32, min_dz, 12.0, -1e9, 1e9, "mm", "minimum z component of the flight vector")                         \
  M(F32, min_rho, 2.0, 0.0, 1e9, "mm", "minimum transverse length of the flight vector")                    \
  M(F32, min_fd_chi2, 180.0, -1e9, 1e9, "", "minimum chi2 of the flight distance")                          \
  M(F32, min_dira, 0.9997, -1.0, 1.0, "", "minimum cosine of the angle between flight vector and momentum") \
  VERTEX_SIGN(M, "opposite")
SL_ARGUMENTS(lambda_to_ppi, LAMBDA_TO_PPI);

/* Requirements for the pair; those for proton and pion follow in the line. */
static LINE_INLINE_ uint32_t is_lambda_vertex(const struct lambda_to_ppi_args *a, uint32_t i,
                                              struct sl_explanation *explanation) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  SL_REQUIRE("DIRA", pairs->dira[i], >=, a->min_dira);
  SL_REQUIRE("chi2 of the flight distance", pairs->fd_chi2[i], >=, a->min_fd_chi2);
  SL_REQUIRE("transverse flight distance", pairs->rho[i], >=, a->min_rho);
  SL_REQUIRE("flight distance in z", pairs->dz[i], >=, a->min_dz);
  SL_REQUIRE("z of the pair", pairs->z[i], >=, a->min_z);
  SL_REQUIRE("z of the pair", pairs->z[i], <, a->max_z);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("pt of the pair", pairs->pt[i], >=, a->min_pt);
  REQUIRE_SIGN(a, pairs, i);
  return 1;
}

LINE(lambda_to_ppi, "Lambdas that decay into a proton and a pion", secondary_vertices) {
  const struct particles_view *particles = &a->particles;
  if (!is_lambda_vertex(a, i, explanation)) return 0;
  const struct vertex_children of = children_of(&a->candidates, particles, event, i);
  const uint32_t first_is_proton = particles->p[of.first] >= particles->p[of.second];
  const uint32_t proton = first_is_proton ? of.first : of.second, pion = first_is_proton ? of.second : of.first;
  SL_REQUIRE("pt of the proton", particles->pt[proton], >=, a->min_proton_pt);
  SL_REQUIRE("IP chi2 of the proton", particles->ip_chi2[proton], >=, a->min_proton_ip_chi2);
  SL_REQUIRE("IP of the proton", particles->ip[proton], >=, a->min_proton_ip);
  SL_REQUIRE("pt of the pion", particles->pt[pion], >=, a->min_pion_pt);
  SL_REQUIRE("IP chi2 of the pion", particles->ip_chi2[pion], >=, a->min_pion_ip_chi2);
  SL_REQUIRE("IP of the pion", particles->ip[pion], >=, a->min_pion_ip);
  SL_REQUIRE(
      "mass as proton and pion",
      selections_mass(particles->p[proton], PROTON_MASS, particles->p[pion], PION_MASS, a->candidates.opening[i]), <,
      a->max_mass);
  return 1;
}

#undef SL_ARGS
