/* lines/ks.h: what is asked of a Ks of high pt, alone or one of two: its cuts, and the function that makes them. */
#ifndef SELECTIONS_LINES_KS_H
#define SELECTIONS_LINES_KS_H

#include "lines/vertices.h"

/* By defaults of those that differ. */
#define KS_CUTS(M, pt, child_pt, child_p, ip_chi2, ip_product)                                                   \
  M(F32, min_mass, 455.0, 0.0, 1e9, "MeV", "as two pions")                                                       \
  M(F32, max_mass, 545.0, 0.0, 1e9, "MeV", "likewise")                                                           \
  M(F32, min_pt, pt, 0.0, 1e9, "MeV", "of the pair")                                                             \
  M(F32, max_chi2, 20.0, 0.0, 1e9, "", "of the vertex fit")                                                      \
  M(F32, max_opening, 0.01, 0.0, 2.0, "", "1 - cos of the angle between them")                                   \
  M(F32, min_dira, 0.99, -1.0, 1.0, "", "cos of the angle between momentum and the way from the primary vertex") \
  M(F32, min_eta, 2.0, -1e9, 1e9, "", "of this way")                                                             \
  M(F32, max_eta, 4.2, -1e9, 1e9, "", "likewise")                                                                \
  M(F32, min_child_pt, child_pt, 0.0, 1e9, "MeV", "of each")                                                     \
  M(F32, min_child_p, child_p, 0.0, 1e9, "MeV", "of each")                                                       \
  M(F32, min_ip_chi2, ip_chi2, -1e9, 1e9, "", "of each")                                                         \
  M(F32, min_ip_product, ip_product, 0.0, 1e9, "mm", "both impact parameters multiplied, over that of the pair") \
  VERTEX_SIGN(M, "opposite")

/* `name(a, pairs, event, i)`, of a struct with these cuts and with particles. */
#define KS_FUNCTION(name, type)                                                                                        \
  static SL_DEVICE uint32_t name(const type *a, const struct secondary_vertices_view *pairs, uint32_t event,           \
                                 uint32_t i) {                                                                         \
    if (!(pairs->pt[i] >= a->min_pt && pairs->min_ip_chi2[i] >= a->min_ip_chi2 && pairs->dira[i] >= a->min_dira &&     \
          pairs->opening[i] < a->max_opening && pairs->chi2[i] < a->max_chi2 && pairs->min_pt[i] >= a->min_child_pt && \
          pairs->min_p[i] >= a->min_child_p && pairs->eta[i] >= a->min_eta && pairs->eta[i] < a->max_eta &&            \
          sign_is(a->sign, pairs->charge[i])))                                                                         \
      return 0;                                                                                                        \
    const struct vertex_children of = children_of(pairs, &a->particles, event, i);                                     \
    if (!(a->particles.ip[of.first] * a->particles.ip[of.second] >= a->min_ip_product * pairs->ip[i])) return 0;       \
    const float mass = mass_of(pairs, &a->particles, event, i, PION_MASS, PION_MASS);                                  \
    return mass >= a->min_mass && mass < a->max_mass;                                                                  \
  }

#endif
