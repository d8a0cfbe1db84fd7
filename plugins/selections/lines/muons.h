/* lines/muons.h: lines over pairs of muons. */
#include "lines/vertices.h"

/* Both particles are muons, with charges as the property `sign` requires. */
#define REQUIRE_MUONS(a, pairs, i)                                                \
  SL_REQUIRE_THAT("both are muons", (pairs->leptons[i] & PARTICLE_IS_MUON) != 0); \
  REQUIRE_SIGN(a, pairs, i)

/* ---------------------------------------------------------------------------------------------------- dimuon */

#define SL_ARGS dimuon_args
#define DIMUON(M)                                                                     \
  LINE_OVER(M, secondary_vertices)                                                    \
  M(IN, particles, particles, "offsets p", "particles of the candidate pairs")        \
  M(F32, min_mass, 2700.0, 0.0, 1e9, "MeV", "minimum mass of the muon pair")          \
  M(F32, min_chi2, 0.0, -1e9, 1e9, "", "chi2 of the vertex fit must be above this")   \
  M(F32, max_chi2, 25.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")              \
  M(F32, max_doca, 0.2, 0.0, 1e9, "mm", "maximum distance of closest approach")       \
  M(F32, min_eta, -1e9, -1e9, 1e9, "", "minimum pseudorapidity of the flight vector") \
  M(F32, max_eta, 1e9, -1e9, 1e9, "", "maximum pseudorapidity of the flight vector")  \
  M(F32, min_child_pt, 300.0, 0.0, 1e9, "MeV", "minimum pt of both muons")            \
  M(F32, min_child_p, 6000.0, 0.0, 1e9, "MeV", "minimum momentum of both muons")      \
  M(F32, min_ip, -1.0, -1.0, 1e9, "mm", "minimum impact parameter of both muons")     \
  M(F32, min_ip_chi2, 0.0, -1e9, 1e9, "", "minimum ip_chi2 of both muons")            \
  VERTEX_SIGN(M, "opposite")                                                          \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(dimuon, DIMUON);

LINE(dimuon, "pairs of muons", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  REQUIRE_MUONS(a, pairs, i);
  SL_REQUIRE("smaller pt", pairs->min_pt[i], >=, a->min_child_pt);
  SL_REQUIRE("smaller momentum", pairs->min_p[i], >=, a->min_child_p);
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);
  SL_REQUIRE("smaller IP", pairs->min_ip[i], >=, a->min_ip);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], >, a->min_chi2);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], >=, a->min_eta);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], <, a->max_eta);
  REQUIRE_VERTEX_FROM_Z(a, i);
  SL_REQUIRE("mass of the pair", mass_of(pairs, &a->particles, event, i, MUON_MASS, MUON_MASS), >=, a->min_mass);
  return 1;
}

/* ----------------------------------------------------------------------------------------------- dimuon_soft */

#undef SL_ARGS
#define SL_ARGS dimuon_soft_args
#define DIMUON_SOFT(M)                                                                                              \
  LINE_OVER(M, secondary_vertices)                                                                                  \
  M(IN, particles, particles, "offsets p", "particles of the candidate pairs")                                      \
  M(F32, max_mass, 600.0, 0.0, 1e9, "MeV", "maximum mass of the muon pair")                                         \
  M(F32, veto_begin, 400.0, 0.0, 1e9, "MeV", "lower end of the vetoed mass range, which contains misidentified Ks") \
  M(F32, veto_end, 475.0, 0.0, 1e9, "MeV", "upper end of the vetoed mass range")                                    \
  M(F32, min_chi2, 0.0, -1e9, 1e9, "", "chi2 of the vertex fit must be above this")                                 \
  M(F32, max_doca, 0.1, 0.0, 1e9, "mm", "maximum distance of closest approach")                                     \
  M(F32, min_sin2, 4e-6, 0.0, 1.0, "",                                                                              \
    "minimum squared sine of the angle between the tracks; rejects one track found twice")                          \
  M(F32, min_radius, 3.0, 0.0, 1e9, "mm", "minimum distance of the pair from the z axis")                           \
  M(F32, min_z, -375.0, -1e9, 1e9, "mm", "minimum z of the pair")                                                   \
  M(F32, max_z, 635.0, -1e9, 1e9, "mm", "maximum z of the pair")                                                    \
  M(F32, max_ip_over_dz, 0.04, 0.0, 1e9, "", "maximum impact parameter of the pair over dz of the flight vector")   \
  M(F32, min_eta, 0.0, -1e9, 1e9, "", "minimum pseudorapidity of the flight vector")                                \
  M(F32, min_ip_chi2, 100.0, -1e9, 1e9, "", "minimum ip_chi2 of both muons")                                        \
  VERTEX_SIGN(M, "opposite")
SL_ARGUMENTS(dimuon_soft, DIMUON_SOFT);

LINE(dimuon_soft, "pairs of muons of low mass, far from the beam", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  const float x = pairs->x[i], y = pairs->y[i], opening = pairs->opening[i];
  REQUIRE_MUONS(a, pairs, i);
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);
  SL_REQUIRE("x^2 + y^2 of the pair", x * x + y * y, >=, a->min_radius * a->min_radius);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], >, a->min_chi2);
  SL_REQUIRE("z of the pair", pairs->z[i], >=, a->min_z);
  SL_REQUIRE("z of the pair", pairs->z[i], <, a->max_z);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], >=, a->min_eta);
  SL_REQUIRE("IP of the pair", pairs->ip[i], <, a->max_ip_over_dz * pairs->dz[i]);
  SL_REQUIRE("sin^2 of the opening angle", opening * (2.0f - opening), >=, a->min_sin2);
  const float mass = mass_of(pairs, &a->particles, event, i, MUON_MASS, MUON_MASS);
  SL_REQUIRE("mass of the pair", mass, <, a->max_mass);
  SL_REQUIRE_EITHER("mass of the pair", mass, <, a->veto_begin, "mass of the pair", mass, >=, a->veto_end);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- dimuon_no_ip */

#undef SL_ARGS
#define SL_ARGS dimuon_no_ip_args
#define DIMUON_NO_IP(M)                                                                                         \
  LINE_OVER(M, secondary_vertices)                                                                              \
  M(IN, particles, particles, "offsets pt chi2_ndof", "particles of the candidate pairs")                       \
  M(F32, min_pt, 1000.0, 0.0, 1e9, "MeV", "minimum pt of the pair")                                             \
  M(F32, min_pt_product, 1e6, 0.0, 1e18, "MeV2", "minimum product of the pt of both muons")                     \
  M(F32, min_child_p, 5000.0, 0.0, 1e9, "MeV", "minimum momentum of both muons")                                \
  M(F32, min_chi2_ndof, 0.0, -1e9, 1e9, "", "chi2 per degree of freedom of both track fits must be above this") \
  M(F32, max_chi2_ndof, 3.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of both track fits")             \
  M(F32, min_chi2, 0.0, -1e9, 1e9, "", "chi2 of the vertex fit must be above this")                             \
  M(F32, max_chi2, 9.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                         \
  M(F32, max_doca, 0.3, 0.0, 1e9, "mm", "maximum distance of closest approach")                                 \
  VERTEX_SIGN(M, "opposite")                                                                                    \
  M(F32, min_z, -341.0, -1e9, 1e9, "mm", "minimum z of the pair")
SL_ARGUMENTS(dimuon_no_ip, DIMUON_NO_IP);

LINE(dimuon_no_ip, "pairs of muons without requirements on impact parameters", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  REQUIRE_MUONS(a, pairs, i);
  SL_REQUIRE("smaller momentum", pairs->min_p[i], >=, a->min_child_p);
  SL_REQUIRE("pt of the pair", pairs->pt[i], >=, a->min_pt);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], >, a->min_chi2);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("z of the pair", pairs->z[i], >=, a->min_z);
  const struct vertex_children of = children_of(pairs, &a->particles, event, i);
  const float *pt = a->particles.pt, *fit = a->particles.chi2_ndof;
  SL_REQUIRE("product of both pt", pt[of.first] * pt[of.second], >=, a->min_pt_product);
  SL_REQUIRE("chi2/ndof of the first track", fit[of.first], >, a->min_chi2_ndof);
  SL_REQUIRE("chi2/ndof of the second track", fit[of.second], >, a->min_chi2_ndof);
  SL_REQUIRE("chi2/ndof of the first track", fit[of.first], <, a->max_chi2_ndof);
  SL_REQUIRE("chi2/ndof of the second track", fit[of.second], <, a->max_chi2_ndof);
  return 1;
}

/* ------------------------------------------------------------------------------------------------- drell_yan */

#undef SL_ARGS
#define SL_ARGS drell_yan_args
#define DRELL_YAN(M)                                                                \
  LINE_OVER(M, secondary_vertices)                                                  \
  M(IN, particles, particles, "offsets p eta", "particles of the candidate pairs")  \
  M(F32, min_mass, 5000.0, 0.0, 1e9, "MeV", "minimum mass of the muon pair")        \
  M(F32, max_mass, 250000.0, 0.0, 1e9, "MeV", "maximum mass of the muon pair")      \
  M(F32, max_chi2, 16.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")            \
  M(F32, max_doca, 0.15, 0.0, 1e9, "mm", "maximum distance of closest approach")    \
  M(F32, min_child_pt, 1200.0, 0.0, 1e9, "MeV", "minimum pt of both muons")         \
  M(F32, min_child_p, 15000.0, 0.0, 1e9, "MeV", "minimum momentum of both muons")   \
  M(F32, max_child_eta, 4.9, -1e9, 1e9, "", "maximum pseudorapidity of both muons") \
  VERTEX_SIGN(M, "opposite")                                                        \
  M(F32, min_vertex_z, -341.0, -1e9, 1e9, "mm", "minimum z of the primary vertex; -1e9: no primary vertex needed")
SL_ARGUMENTS(drell_yan, DRELL_YAN);

LINE(drell_yan, "pairs of muons of high mass, from the Drell-Yan process", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  REQUIRE_MUONS(a, pairs, i);
  SL_REQUIRE("smaller pt", pairs->min_pt[i], >=, a->min_child_pt);
  SL_REQUIRE("smaller momentum", pairs->min_p[i], >=, a->min_child_p);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("z of the primary vertex", pairs->vertex_z[i], >=, a->min_vertex_z);
  const struct vertex_children of = children_of(pairs, &a->particles, event, i);
  const float mass = mass_of(pairs, &a->particles, event, i, MUON_MASS, MUON_MASS);
  SL_REQUIRE("eta of the first muon", a->particles.eta[of.first], <, a->max_child_eta);
  SL_REQUIRE("eta of the second muon", a->particles.eta[of.second], <, a->max_child_eta);
  SL_REQUIRE("mass of the pair", mass, >=, a->min_mass);
  SL_REQUIRE("mass of the pair", mass, <, a->max_mass);
  return 1;
}

#undef SL_ARGS
