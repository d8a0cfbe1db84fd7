/* lines/ks.h: requirements for a Ks of high pt, for lines over one Ks and over pairs of Ks. */
#ifndef SELECTIONS_LINES_KS_H
#define SELECTIONS_LINES_KS_H

#include "lines/vertices.h"

/* Properties of the requirements; the arguments are the defaults that differ between the lines. */
#define KS_REQUIREMENTS(M, pt, child_pt, child_p, ip_chi2, ip_product)                                    \
  M(F32, min_mass, 455.0, 0.0, 1e9, "MeV", "minimum mass as two pions")                                   \
  M(F32, max_mass, 545.0, 0.0, 1e9, "MeV", "maximum mass as two pions")                                   \
  M(F32, min_pt, pt, 0.0, 1e9, "MeV", "minimum pt of the pair")                                           \
  M(F32, max_chi2, 20.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit")                                  \
  M(F32, max_opening, 0.01, 0.0, 2.0, "", "maximum 1 - cos of the angle between the two tracks")          \
  M(F32, min_dira, 0.99, -1.0, 1.0, "", "minimum cosine of the angle between flight vector and momentum") \
  M(F32, min_eta, 2.0, -1e9, 1e9, "", "minimum pseudorapidity of the flight vector")                      \
  M(F32, max_eta, 4.2, -1e9, 1e9, "", "maximum pseudorapidity of the flight vector")                      \
  M(F32, min_child_pt, child_pt, 0.0, 1e9, "MeV", "minimum pt of both particles")                         \
  M(F32, min_child_p, child_p, 0.0, 1e9, "MeV", "minimum momentum of both particles")                     \
  M(F32, min_ip_chi2, ip_chi2, -1e9, 1e9, "", "minimum ip_chi2 of both particles")                        \
  M(F32, min_ip_product, ip_product, 0.0, 1e9, "mm",                                                      \
    "minimum product of the two impact parameters, over the ip of the pair")                              \
  VERTEX_SIGN(M, "opposite")

/* Defines `name(a, pairs, event, i, explanation)` for arguments of `type`, which have KS_REQUIREMENTS and the input
 * `particles`. */
#define KS_FUNCTION(name, type)                                                                                 \
  static LINE_INLINE_ uint32_t name(const type *a, const struct secondary_vertices_view *pairs, uint32_t event, \
                                    uint32_t i, struct sl_explanation *explanation) {                           \
    SL_REQUIRE("pt of the pair", pairs->pt[i], >=, a->min_pt);                                                  \
    SL_REQUIRE("smaller IP chi2", pairs->min_ip_chi2[i], >=, a->min_ip_chi2);                                   \
    SL_REQUIRE("DIRA", pairs->dira[i], >=, a->min_dira);                                                        \
    SL_REQUIRE("1 - cos of the opening angle", pairs->opening[i], <, a->max_opening);                           \
    SL_REQUIRE("chi2 of the vertex", pairs->chi2[i], <, a->max_chi2);                                           \
    SL_REQUIRE("smaller pt", pairs->min_pt[i], >=, a->min_child_pt);                                            \
    SL_REQUIRE("smaller momentum", pairs->min_p[i], >=, a->min_child_p);                                        \
    SL_REQUIRE("eta of the flight vector", pairs->eta[i], >=, a->min_eta);                                      \
    SL_REQUIRE("eta of the flight vector", pairs->eta[i], <, a->max_eta);                                       \
    REQUIRE_SIGN(a, pairs, i);                                                                                  \
    const struct vertex_children of = children_of(pairs, &a->particles, event, i);                              \
    SL_REQUIRE("product of both IPs", a->particles.ip[of.first] * a->particles.ip[of.second], >=,               \
               a->min_ip_product * pairs->ip[i]);                                                               \
    const float mass = mass_of(pairs, &a->particles, event, i, PION_MASS, PION_MASS);                           \
    SL_REQUIRE("mass as two pions", mass, >=, a->min_mass);                                                     \
    SL_REQUIRE("mass as two pions", mass, <, a->max_mass);                                                      \
    return 1;                                                                                                   \
  }

#endif
