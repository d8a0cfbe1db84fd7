/* lines/hadrons.h: lines over pairs of hadrons: decays of heavy hadrons selected by a network, and charm decays. */
#include "lines/vertices.h"

/* -------------------------------------------------------------------------------------------- two_track_mva */

#define SL_ARGS two_track_mva_args
#define TWO_TRACK_MVA(M)                                                                                       \
  LINE_OVER(M, secondary_vertices)                                                                             \
  M(IN, scores, vertex_scores, "offsets logit", "network responses of the candidates")                         \
  M(F32, min_logit, 3.100176, -1e6, 1e6, "", "minimum logit of the network; 3.100176 is a response of 0.9569") \
  M(F32, max_chi2, 20.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                       \
  M(F32, max_doca, 0.2, 0.0, 1e9, "mm", "maximum distance of closest approach")                                \
  M(F32, min_pt, 1000.0, 0.0, 1e9, "MeV", "minimum pt of the pair")                                            \
  M(F32, min_m_corrected, 1000.0, 0.0, 1e9, "MeV", "minimum corrected mass")                                   \
  M(F32, min_eta, 2.0, -1e9, 1e9, "", "minimum pseudorapidity of the flight vector")                           \
  M(F32, max_eta, 5.0, -1e9, 1e9, "", "maximum pseudorapidity of the flight vector")                           \
  M(F32, min_child_pt, 200.0, 0.0, 1e9, "MeV", "minimum pt of both particles")                                 \
  M(F32, min_ip_chi2, 4.0, -1e9, 1e9, "", "minimum ip_chi2 of both particles")                                 \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(two_track_mva, TWO_TRACK_MVA);

LINE(two_track_mva, "two tracks of a heavy-hadron decay, selected by the network", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  const uint32_t score = line_item_index(&a->events, pairs->offsets, a->scores.offsets, event, i);
  SL_REQUIRE_FIRST("the network was evaluated", score != LINE_NO_ITEM);
  SL_REQUIRE("logit of the network", a->scores.logit[score], >=, a->min_logit);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("pt of the pair", pairs->pt[i], >=, a->min_pt);
  SL_REQUIRE("corrected mass", pairs->m_corrected[i], >=, a->min_m_corrected);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], >=, a->min_eta);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], <, a->max_eta);
  SL_REQUIRE("smaller pt", pairs->min_pt[i], >=, a->min_child_pt);
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);
  REQUIRE_VERTEX_FROM_Z(a, i);
  return 1;
}

/* -------------------------------------------------------------------------------------------- two_track_charm */

#undef SL_ARGS
#define SL_ARGS two_track_charm_args
#define TWO_TRACK_CHARM(M)                                                                                         \
  LINE_OVER(M, secondary_vertices)                                                                                 \
  M(IN, particles, particles, "offsets p", "particles of the candidate pairs")                                     \
  M(IN, scores, vertex_scores, "offsets logit", "network responses of the candidates")                             \
  M(F32, min_logit, 2.495845, -1e6, 1e6, "", "minimum logit of the network; 2.495845 is a response of 0.92385")    \
  M(F32, min_logit_low_pt, 0.847298, -1e6, 1e6, "", "minimum logit below `low_pt`; 0.847298 is a response of 0.7") \
  M(F32, low_pt, 1500.0, 0.0, 1e9, "MeV", "pt of the pair below which min_logit_low_pt applies")                   \
  M(F32, max_mass_difference, 100.0, 0.0, 1e9, "MeV",                                                              \
    "maximum |m(K pi) - m(D0)|, for the better of the two assignments")                                            \
  M(F32, max_mass, 1830.0, 0.0, 1e9, "MeV",                                                                        \
    "pairs with a smaller m(K pi), in either assignment, are accepted as well")                                    \
  M(F32, max_chi2, 20.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                           \
  M(F32, max_doca, 0.2, 0.0, 1e9, "mm", "maximum distance of closest approach")                                    \
  M(F32, min_child_pt, 250.0, 0.0, 1e9, "MeV", "minimum pt of both particles")                                     \
  M(F32, min_child_p, 2000.0, 0.0, 1e9, "MeV", "minimum momentum of both particles")                               \
  M(F32, min_ip_chi2, 4.0, -1e9, 1e9, "", "minimum ip_chi2 of both particles")                                     \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(two_track_charm, TWO_TRACK_CHARM);

LINE(two_track_charm, "two tracks of a charm decay, selected by the network and their mass", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  const uint32_t score = line_item_index(&a->events, pairs->offsets, a->scores.offsets, event, i);
  SL_REQUIRE_FIRST("the network was evaluated", score != LINE_NO_ITEM);
  if (pairs->pt[i] < a->low_pt)
    SL_REQUIRE("logit of the network", a->scores.logit[score], >=, a->min_logit_low_pt);
  else
    SL_REQUIRE("logit of the network", a->scores.logit[score], >=, a->min_logit);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("smaller pt", pairs->min_pt[i], >=, a->min_child_pt);
  SL_REQUIRE("smaller momentum", pairs->min_p[i], >=, a->min_child_p);
  SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);
  REQUIRE_VERTEX_FROM_Z(a, i);
  const float one = mass_of(pairs, &a->particles, event, i, KAON_MASS, PION_MASS);
  const float other = mass_of(pairs, &a->particles, event, i, PION_MASS, KAON_MASS);
  SL_REQUIRE_EITHER("smaller m(K pi)", sl_min_f32(one, other), <, a->max_mass, "|m(K pi) - m(D0)|",
                    sl_min_f32(sl_abs_f32(one - D0_MASS), sl_abs_f32(other - D0_MASS)), <, a->max_mass_difference);
  return 1;
}

/* --------------------------------------------------------------------------------------------- two_body_decay */

#undef SL_ARGS
#define SL_ARGS two_body_decay_args
#define TWO_BODY_DECAY(M)                                                                                           \
  LINE_OVER(M, secondary_vertices)                                                                                  \
  M(IN, particles, particles, "offsets p", "particles of the candidate pairs")                                      \
  M(F32, mass, 1864.83, 1.0, 1e6, "MeV", "mass of the decaying particle")                                           \
  M(F32, max_mass_difference, 100.0, 0.0, 1e9, "MeV", "maximum difference between the mass of the pair and `mass`") \
  M(F32, one_mass, 493.677, 0.0, 1e6, "MeV", "mass of one decay product; the better assignment counts")             \
  M(F32, other_mass, 139.57018, 0.0, 1e6, "MeV", "mass of the other decay product")                                 \
  M(F32, min_ctau, 0.06, -1e9, 1e9, "mm", "minimum c tau = mass * flight distance / momentum")                      \
  M(F32, min_pt, 2000.0, 0.0, 1e9, "MeV", "minimum pt of the pair")                                                 \
  M(F32, min_chi2, 0.0, -1e9, 1e9, "", "minimum chi2 of the vertex fit")                                            \
  M(F32, max_chi2, 20.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                            \
  M(F32, max_doca, 0.2, 0.0, 1e9, "mm", "maximum distance of closest approach")                                     \
  M(F32, min_eta, 2.0, -1e9, 1e9, "", "minimum pseudorapidity of the flight vector")                                \
  M(F32, max_eta, 5.0, -1e9, 1e9, "", "maximum pseudorapidity of the flight vector")                                \
  M(F32, min_child_pt, 800.0, 0.0, 1e9, "MeV", "minimum pt of both particles")                                      \
  M(F32, min_ip, 0.06, -1e9, 1e9, "mm", "minimum impact parameter of both particles")                               \
  VERTEX_SIGN(M, "opposite")                                                                                        \
  VERTICES_FROM_Z(M)
SL_ARGUMENTS(two_body_decay, TWO_BODY_DECAY);

LINE(two_body_decay, "decays into two particles of known masses", secondary_vertices) {
  const struct secondary_vertices_view *pairs = &a->candidates;
  SL_REQUIRE("smaller pt", pairs->min_pt[i], >=, a->min_child_pt);
  SL_REQUIRE("pt of the pair", pairs->pt[i], >=, a->min_pt);
  REQUIRE_SIGN(a, pairs, i);
  SL_REQUIRE("DOCA", pairs->doca[i], <, a->max_doca);
  SL_REQUIRE("smaller IP", pairs->min_ip[i], >=, a->min_ip);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], >=, a->min_chi2);
  SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], >=, a->min_eta);
  SL_REQUIRE("eta of the flight vector", pairs->eta[i], <, a->max_eta);
  REQUIRE_VERTEX_FROM_Z(a, i);
  const float dz = pairs->dz[i], rho = pairs->rho[i];
  SL_REQUIRE("mass * flight distance", a->mass * sqrtf(dz * dz + rho * rho), >=, a->min_ctau * pairs->p[i]);
  const float one = mass_of(pairs, &a->particles, event, i, a->one_mass, a->other_mass) - a->mass;
  const float other = mass_of(pairs, &a->particles, event, i, a->other_mass, a->one_mass) - a->mass;
  SL_REQUIRE("|mass of the pair - mass|", sl_min_f32(sl_abs_f32(one), sl_abs_f32(other)), <, a->max_mass_difference);
  return 1;
}

#undef SL_ARGS
