/* event_model.h: what the plugin of selections offers to others. Lengths in mm, momenta in MeV. README.md has the
 * formulas. */
#ifndef SELECTIONS_EVENT_MODEL_H
#define SELECTIONS_EVENT_MODEL_H

#include "velo/event_model.h"

#include <sluice/plugin.h>

/* Straight lines with covariances where long tracks are nearest to the beam line. x and y are fitted apart, so that
 * there are no covariances of these. A track that no line can be fitted to has zeros. */
#define LONG_STATES_FIELDS(F)                                                    \
  F(offsets, u32, OFFSETS, "", "first track of each event")                      \
  TRACK_LINE_FIELDS(F)                                                           \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum, before energy was lost") \
  TRACK_COVARIANCE_FIELDS(F)                                                     \
  F(chi2, f32, PER_ITEM, "", "of the hits in the VELO")                          \
  F(ndof, u32, PER_ITEM, "", "degrees of freedom: twice the number of hits, less four")
SL_COLLECTION(long_states, LONG_STATES_FIELDS, "states of long tracks at the beam line");

#define PARTICLE_NO_VERTEX UINT32_MAX
#define SELECTIONS_NO_Z    -1e9f /* z of the primary vertex where there is none, which no cut lets pass */
enum { PARTICLE_IS_MUON = 1, PARTICLE_IS_ELECTRON = 2 }; /* bits of `leptons` */

/* What is asked of single tracks. One without a fit has zeros and no vertex. */
#define PARTICLES_FIELDS(F)                                                                           \
  F(offsets, u32, OFFSETS, "", "first particle of each event")                                        \
  F(made_by, u64, PER_SLICE, "", "hash of the name of the node that made them")                       \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event")                       \
  F(vertex, u32, PER_ITEM, "", "the primary vertex of least ip_chi2, by its place; UINT32_MAX: none") \
  F(vertex_z, f32, PER_ITEM, "mm", "where it is; -1e9: none")                                         \
  F(z, f32, PER_ITEM, "mm", "where the track is nearest to the beam line")                            \
  F(tx, f32, PER_ITEM, "", "slope dx/dz")                                                             \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                             \
  F(ip, f32, PER_ITEM, "mm", "impact parameter with respect to it; -1: none")                         \
  F(ip_chi2, f32, PER_ITEM, "", "chi2 of the impact parameter; -1: none")                             \
  F(chi2_ndof, f32, PER_ITEM, "", "chi2 of the fit over its degrees of freedom; of 0 degrees 0")      \
  F(p, f32, PER_ITEM, "MeV", "momentum")                                                              \
  F(pt, f32, PER_ITEM, "MeV", "momentum across the z axis")                                           \
  F(eta, f32, PER_ITEM, "", "pseudorapidity")                                                         \
  F(p_corrected, f32, PER_ITEM, "MeV", "momentum with the energy of bremsstrahlung")                  \
  F(pt_corrected, f32, PER_ITEM, "MeV", "momentum across the z axis, likewise")                       \
  F(charge, i8, PER_ITEM, "e", "1 or -1")                                                             \
  F(leptons, u8, PER_ITEM, "", "1: a muon, 2: an electron, 3: both")
SL_COLLECTION(particles, PARTICLES_FIELDS, "long tracks as lines read them");

/* Pairs of particles with the point where they come from, by ascending `first`, then `second`. d is the way from the
 * primary vertex to it. A pair for which a number would not be finite is not there. Without a primary vertex what
 * refers to it is 0, but for vertex_z, and fd_chi2, which is -1. */
#define SECONDARY_VERTICES_FIELDS(F)                                                                             \
  F(offsets, u32, OFFSETS, "", "first pair of each event")                                                       \
  F(made_by, u64, PER_SLICE, "", "hash of the name of the node that made them")                                  \
  F(first, u32, PER_ITEM, "", "one particle, by its place in the event")                                         \
  F(second, u32, PER_ITEM, "", "the other one, which comes after it")                                            \
  F(x, f32, PER_ITEM, "mm", "position")                                                                          \
  F(y, f32, PER_ITEM, "mm", "position")                                                                          \
  F(z, f32, PER_ITEM, "mm", "position")                                                                          \
  F(chi2, f32, PER_ITEM, "", "of the fit")                                                                       \
  F(doca, f32, PER_ITEM, "mm", "how near the two lines come to each other")                                      \
  F(opening, f32, PER_ITEM, "", "1 - cos of the angle between them")                                             \
  F(p, f32, PER_ITEM, "MeV", "momentum, the sum of both")                                                        \
  F(pt, f32, PER_ITEM, "MeV", "of this across the z axis")                                                       \
  F(sum_pt, f32, PER_ITEM, "MeV", "sum of what each has across it")                                              \
  F(vertex, u32, PER_ITEM, "", "the primary vertex of least ip, by its place in the event; UINT32_MAX: none")    \
  F(vertex_z, f32, PER_ITEM, "mm", "where it is; -1e9: none")                                                    \
  F(ip, f32, PER_ITEM, "mm", "how far the line along the momentum passes by it")                                 \
  F(dz, f32, PER_ITEM, "mm", "d along the z axis")                                                               \
  F(rho, f32, PER_ITEM, "mm", "d across it")                                                                     \
  F(fd_chi2, f32, PER_ITEM, "", "chi2 of d; -1: no primary vertex")                                              \
  F(dira, f32, PER_ITEM, "", "cos of the angle between d and the momentum")                                      \
  F(eta, f32, PER_ITEM, "", "pseudorapidity of d")                                                               \
  F(m_corrected, f32, PER_ITEM, "MeV", "mass as two pions, with what is missing across d")                       \
  F(min_p, f32, PER_ITEM, "MeV", "the smaller of the particles' p")                                              \
  F(min_pt, f32, PER_ITEM, "MeV", "likewise")                                                                    \
  F(min_ip, f32, PER_ITEM, "mm", "likewise, each with respect to its own primary vertex; one without it has -1") \
  F(min_ip_chi2, f32, PER_ITEM, "", "likewise")                                                                  \
  F(charge, i8, PER_ITEM, "e", "sum of both: 2, 0 or -2")                                                        \
  F(leptons, u8, PER_ITEM, "", "1: both are muons, 2: both are electrons, 3: both are both")
SL_COLLECTION(secondary_vertices, SECONDARY_VERTICES_FIELDS, "pairs of particles with the point where they come from");

/* Pairs of secondary vertices that share no particle, by ascending `first`, then `second`. */
#define VERTEX_PAIRS_FIELDS(F)                                                   \
  F(offsets, u32, OFFSETS, "", "first pair of each event")                       \
  F(first, u32, PER_ITEM, "", "one secondary vertex, by its place in the event") \
  F(second, u32, PER_ITEM, "", "the other one, which comes after it")
SL_COLLECTION(vertex_pairs, VERTEX_PAIRS_FIELDS, "pairs of secondary vertices");

#define SELECTIONS_NO_LOGIT -1e9f /* where there is none, which no cut lets pass */

/* Beside secondary vertices, sharing their offsets. */
#define VERTEX_SCORES_FIELDS(F)                            \
  F(offsets, u32, OFFSETS, "", "first pair of each event") \
  F(logit, f32, PER_ITEM, "", "log of the odds of a signal, by the network; -1e9: none")
SL_COLLECTION(vertex_scores, VERTEX_SCORES_FIELDS, "what a network says of secondary vertices");

/* What a line says (line.h). */
enum { LINE_PASSED = 1, LINE_BEFORE_SCALE = 2 }; /* bits of `passed` */
#define LINE_DECISIONS_FIELDS(F)                                                                                     \
  F(offsets, u32, OFFSETS, "", "first candidate of each event")                                                      \
  F(made_by, u64, PER_SLICE, "", "whose candidates they are, as the candidates say; 0: of nobody who is in reports") \
  F(pre_scale, f32, PER_SLICE, "", "fraction of the events that the line looks at")                                  \
  F(post_scale, f32, PER_SLICE, "", "fraction of those with an accepted candidate that pass")                        \
  F(passed, u8, PER_EVENT, "", "bits: 1 the event passed, 2 it would have if post_scale were 1")                     \
  F(accepted, u8, PER_ITEM, "", "1 if the line accepts the candidate, whatever post_scale says")
SL_COLLECTION(line_decisions, LINE_DECISIONS_FIELDS, "which events and which candidates a line accepts");

/* How busy an event is, by its banks alone. */
#define SELECTIONS_NO_BANKS UINT32_MAX
#define GEC_COUNTS_FIELDS(F)                                                                                    \
  F(scifi, u32, PER_EVENT, "", "halfwords of SciFi banks, less two: clusters and most headers; 2^32 - 1: none") \
  F(ut, u32, PER_EVENT, "", "hits in the UT, as its banks' headers say")
SL_COLLECTION(gec_counts, GEC_COUNTS_FIELDS, "how many hits banks say that events have");

#endif
