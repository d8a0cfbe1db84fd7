/* event_model.h: collections of the selections plugin that other plugins may use. Lengths in mm, momenta in MeV.
 * README.md has the formulas. */
#ifndef SELECTIONS_EVENT_MODEL_H
#define SELECTIONS_EVENT_MODEL_H

#include "velo/event_model.h"

#include <sluice/plugin.h>

/* States of long tracks at the point of closest approach to the beam line. x and y are fitted independently, so that
 * their covariance is 0. A track without a fit has zeros. */
#define LONG_STATES_FIELDS(F)                                                                                  \
  F(offsets, u32, OFFSETS, "", "index of the first track of an event")                                         \
  TRACK_LINE_FIELDS(F)                                                                                         \
  F(qop, f32, PER_ITEM, "1/MeV", "q/p at the beam line, before energy loss in the VELO")                       \
  TRACK_COVARIANCE_FIELDS(F)                                                                                   \
  F(chi2, f32, PER_ITEM, "", "chi2 of the fit: of selections.fit to the VELO hits, of kalman.fit to all hits") \
  F(ndof, u32, PER_ITEM, "",                                                                                   \
    "degrees of freedom: selections.fit: 2 VELO hits - 4; kalman.fit: 2 VELO + UT + SciFi hits - 5; 0: no fit")
SL_COLLECTION(long_states, LONG_STATES_FIELDS, "states of long tracks at the beam line");

#define PARTICLE_NO_VERTEX UINT32_MAX
#define SELECTIONS_NO_Z    -1e9f /* z of the primary vertex if there is none; fails every requirement */
enum { PARTICLE_IS_MUON = 1, PARTICLE_IS_ELECTRON = 2 }; /* bits of `leptons` */

/* A particle without a fit has zeros and no primary vertex. */
#define PARTICLES_FIELDS(F)                                                                                         \
  F(offsets, u32, OFFSETS, "", "index of the first particle of an event")                                           \
  F(made_by, u64, PER_SLICE, "", "hash of the name of the node that made the particles")                            \
  F(velo_track, u32, PER_ITEM, "", "index of the VELO track in the event")                                          \
  F(vertex, u32, PER_ITEM, "", "index in the event of the primary vertex with the least ip_chi2; UINT32_MAX: none") \
  F(vertex_z, f32, PER_ITEM, "mm", "z of the primary vertex; -1e9: none")                                           \
  F(z, f32, PER_ITEM, "mm", "z of the point of closest approach to the beam line")                                  \
  F(tx, f32, PER_ITEM, "", "slope dx/dz")                                                                           \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                                           \
  F(ip, f32, PER_ITEM, "mm", "impact parameter with respect to the primary vertex; -1: none")                       \
  F(ip_chi2, f32, PER_ITEM, "", "chi2 of the impact parameter; -1: none")                                           \
  F(chi2_ndof, f32, PER_ITEM, "", "chi2 per degree of freedom of the track fit; 0 if there are none")               \
  F(p, f32, PER_ITEM, "MeV", "momentum")                                                                            \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum")                                                                \
  F(eta, f32, PER_ITEM, "", "pseudorapidity")                                                                       \
  F(p_corrected, f32, PER_ITEM, "MeV", "momentum plus the energy of bremsstrahlung")                                \
  F(pt_corrected, f32, PER_ITEM, "MeV", "transverse momentum plus the transverse energy of bremsstrahlung")         \
  F(charge, i8, PER_ITEM, "e", "1 or -1")                                                                           \
  F(leptons, u8, PER_ITEM, "", "1: a muon, 2: an electron, 3: both")                                                \
  F(ghost, f32, PER_ITEM, "", "probability that the track is a ghost; no network: 0")                               \
  F(nn, f32, PER_ITEM, "", "probability of a muon; not a muon: 0; no network: 1")                                   \
  F(nn_e, f32, PER_ITEM, "", "probability of an electron; no compatible energy: 0; no network: 1")                  \
  F(chi2corr, f32, PER_ITEM, "",                                                                                    \
    "log10 of chi2 per muon hit with correlated scattering; not a muon: 10; not computed: -6")
SL_COLLECTION(particles, PARTICLES_FIELDS, "long tracks with the quantities that selection lines use");

/* Pairs of particles and their vertex, by ascending `first`, then `second`. The flight vector points from the primary
 * vertex to the secondary vertex. A pair with a value that is not finite is left out. Without a primary vertex vertex_z
 * is -1e9, fd_chi2 is -1, and ip, dz, rho, dira, eta and m_corrected are 0. */
#define SECONDARY_VERTICES_FIELDS(F)                                                                              \
  F(offsets, u32, OFFSETS, "", "index of the first pair of an event")                                             \
  F(made_by, u64, PER_SLICE, "", "hash of the name of the node that made the pairs")                              \
  F(first, u32, PER_ITEM, "", "index in the event of the first particle")                                         \
  F(second, u32, PER_ITEM, "", "index in the event of the second particle, larger than `first`")                  \
  F(x, f32, PER_ITEM, "mm", "x of the vertex")                                                                    \
  F(y, f32, PER_ITEM, "mm", "y of the vertex")                                                                    \
  F(z, f32, PER_ITEM, "mm", "z of the vertex")                                                                    \
  F(chi2, f32, PER_ITEM, "", "chi2 of the vertex fit")                                                            \
  F(doca, f32, PER_ITEM, "mm", "distance of closest approach of the two tracks")                                  \
  F(opening, f32, PER_ITEM, "", "1 - cos of the angle between the two tracks")                                    \
  F(p, f32, PER_ITEM, "MeV", "momentum of the pair")                                                              \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum of the pair")                                                  \
  F(sum_pt, f32, PER_ITEM, "MeV", "sum of the transverse momenta of the two particles")                           \
  F(vertex, u32, PER_ITEM, "", "index in the event of the primary vertex with the least ip; UINT32_MAX: none")    \
  F(vertex_z, f32, PER_ITEM, "mm", "z of the primary vertex; -1e9: none")                                         \
  F(ip, f32, PER_ITEM, "mm", "impact parameter of the pair with respect to the primary vertex")                   \
  F(dz, f32, PER_ITEM, "mm", "z component of the flight vector, from the primary vertex to the pair")             \
  F(rho, f32, PER_ITEM, "mm", "transverse length of the flight vector")                                           \
  F(fd_chi2, f32, PER_ITEM, "", "chi2 of the flight distance; -1: no primary vertex")                             \
  F(dira, f32, PER_ITEM, "", "cosine of the angle between flight vector and momentum")                            \
  F(eta, f32, PER_ITEM, "", "pseudorapidity of the flight vector")                                                \
  F(m_corrected, f32, PER_ITEM, "MeV", "corrected mass: as two pions, with the missing transverse momentum")      \
  F(min_p, f32, PER_ITEM, "MeV", "smaller momentum of the two particles")                                         \
  F(min_pt, f32, PER_ITEM, "MeV", "smaller transverse momentum of the two particles")                             \
  F(min_ip, f32, PER_ITEM, "mm", "smaller ip of the two particles; -1: a particle has no primary vertex")         \
  F(min_ip_chi2, f32, PER_ITEM, "", "smaller ip_chi2 of the two particles; -1: a particle has no primary vertex") \
  F(charge, i8, PER_ITEM, "e", "charge of the pair: 2, 0 or -2")                                                  \
  F(leptons, u8, PER_ITEM, "", "bits: 1 both particles are muons, 2 both are electrons")                          \
  F(shared_muon_hits, u8, PER_ITEM, "", "number of muon hits that both particles have; hits not connected: 0")
SL_COLLECTION(secondary_vertices, SECONDARY_VERTICES_FIELDS, "pairs of particles with their common vertex");

/* One item per secondary vertex; the offsets are shared. */
#define VERTEX_MASSES_FIELDS(F)                                       \
  F(offsets, u32, OFFSETS, "", "index of the first pair of an event") \
  F(mass, f32, PER_ITEM, "MeV", "invariant mass of the two particles")
SL_COLLECTION(vertex_masses, VERTEX_MASSES_FIELDS, "masses of secondary vertices");

/* Secondary vertices, or composites, with a further particle: by ascending vertex or composite, then particle. A
 * composite of a composite has four particles. The flight vector points from the primary vertex to the composite. All
 * values are finite. Without a primary vertex vertex_z is -1e9, and ip, dz, rho, dira, eta and m_corrected are 0. */
#define COMPOSITE_NONE UINT32_MAX
#define COMPOSITES_FIELDS(F)                                                                                       \
  F(offsets, u32, OFFSETS, "", "index of the first composite of an event")                                         \
  F(made_by, u64, PER_SLICE, "", "hash of the name of the node that made the composites")                          \
  F(sv, u32, PER_ITEM, "", "index in the event of the secondary vertex of `first` and `second`")                   \
  F(composite, u32, PER_ITEM, "",                                                                                  \
    "index in the event of the composite that `track` is added to; UINT32_MAX: `track` is added to `sv`")          \
  F(track, u32, PER_ITEM, "", "index in the event of the added particle: the last one of the particles")           \
  F(first, u32, PER_ITEM, "", "index in the event of the first particle")                                          \
  F(second, u32, PER_ITEM, "", "index in the event of the second particle")                                        \
  F(third, u32, PER_ITEM, "", "index in the event of the third particle, the first one that was added")            \
  F(fourth, u32, PER_ITEM, "", "index in the event of the fourth particle; UINT32_MAX: none")                      \
  F(x, f32, PER_ITEM, "mm", "x of the point halfway between the two lines at their closest approach")              \
  F(y, f32, PER_ITEM, "mm", "y of the point halfway between the two lines at their closest approach")              \
  F(z, f32, PER_ITEM, "mm", "z of the point halfway between the two lines at their closest approach")              \
  F(doca, f32, PER_ITEM, "mm", "distance of closest approach of the line of the child and the added particle")     \
  F(max_doca, f32, PER_ITEM, "mm", "largest distance of closest approach of two particles; 1e6: two are parallel") \
  F(opening, f32, PER_ITEM, "", "1 - cos of the angle between the momentum of the child and the added particle")   \
  F(child_p, f32, PER_ITEM, "MeV", "momentum of the child: the vertex or composite that the particle is added to") \
  F(p, f32, PER_ITEM, "MeV", "momentum of the composite")                                                          \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum of the composite")                                              \
  F(sum_pt, f32, PER_ITEM, "MeV", "sum of the transverse momenta of the particles")                                \
  F(vertex, u32, PER_ITEM, "", "index in the event of the primary vertex with the least ip; UINT32_MAX: none")     \
  F(vertex_z, f32, PER_ITEM, "mm", "z of the primary vertex; -1e9: none")                                          \
  F(ip, f32, PER_ITEM, "mm", "impact parameter of the composite with respect to the primary vertex")               \
  F(dz, f32, PER_ITEM, "mm", "z component of the flight vector, from the primary vertex to the composite")         \
  F(rho, f32, PER_ITEM, "mm", "transverse length of the flight vector")                                            \
  F(dira, f32, PER_ITEM, "", "cosine of the angle between flight vector and momentum")                             \
  F(eta, f32, PER_ITEM, "", "pseudorapidity of the flight vector")                                                 \
  F(m_corrected, f32, PER_ITEM, "MeV", "corrected mass: as pions, with the missing transverse momentum")           \
  F(min_p, f32, PER_ITEM, "MeV", "least momentum of the particles")                                                \
  F(min_pt, f32, PER_ITEM, "MeV", "least transverse momentum of the particles")                                    \
  F(min_ip, f32, PER_ITEM, "mm", "least ip of the particles; -1: a particle has no primary vertex")                \
  F(min_ip_chi2, f32, PER_ITEM, "", "least ip_chi2 of the particles; -1: a particle has no primary vertex")        \
  F(charge, i8, PER_ITEM, "e", "charge of the composite: -4 to 4")                                                 \
  F(leptons, u8, PER_ITEM, "", "bits: 1 all particles are muons, 2 all are electrons")
SL_COLLECTION(composites, COMPOSITES_FIELDS, "secondary vertices with one or two further particles");

/* Pairs of secondary vertices that share no particle, by ascending `first`, then `second`. */
#define VERTEX_PAIRS_FIELDS(F)                                                                              \
  F(offsets, u32, OFFSETS, "", "index of the first pair of an event")                                       \
  F(first, u32, PER_ITEM, "", "index in the event of the first secondary vertex")                           \
  F(second, u32, PER_ITEM, "",                                                                              \
    "index in the event of the second secondary vertex; larger than `first` if both are of one container")  \
  F(doca, f32, PER_ITEM, "mm", "distance of closest approach of the lines of both vertices; 1e6: parallel") \
  F(opening, f32, PER_ITEM, "", "1 - cos of the angle between the momenta of both vertices")                \
  F(p, f32, PER_ITEM, "MeV", "momentum of both vertices together")                                          \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum of both vertices together")
SL_COLLECTION(vertex_pairs, VERTEX_PAIRS_FIELDS, "pairs of secondary vertices");

/* Jets, by the pt of their first track, descending. */
#define JETS_FIELDS(F)                                                                                    \
  F(offsets, u32, OFFSETS, "", "index of the first jet of an event")                                      \
  F(first, u32, PER_ITEM, "", "index in the event of the first track, that of largest pt")                \
  F(pt, f32, PER_ITEM, "MeV", "sum of the pt of the tracks and of the transverse energy of the clusters") \
  F(eta, f32, PER_ITEM, "", "pseudorapidity: mean over tracks and clusters, weighted by pt")              \
  F(phi, f32, PER_ITEM, "rad", "azimuth: mean over tracks and clusters, weighted by pt")                  \
  F(particles, u32, PER_ITEM, "", "number of tracks")                                                     \
  F(clusters, u32, PER_ITEM, "", "number of neutral clusters")
SL_COLLECTION(jets, JETS_FIELDS, "jets of long tracks and neutral clusters");

/* Pairs of neutral clusters, taken as photons from the origin, by ascending `first`, then `second`. */
enum { CLUSTER_PAIR_OUTER = 1, CLUSTER_PAIR_MIDDLE = 2, CLUSTER_PAIR_INNER = 4 }; /* bits of `areas` */
#define CLUSTER_PAIRS_FIELDS(F)                                                                 \
  F(offsets, u32, OFFSETS, "", "index of the first pair of an event")                           \
  F(first, u32, PER_ITEM, "", "index in the event of the first cluster")                        \
  F(second, u32, PER_ITEM, "", "index in the event of the second cluster, larger than `first`") \
  F(mass, f32, PER_ITEM, "MeV", "invariant mass of the two photons")                            \
  F(energy, f32, PER_ITEM, "MeV", "sum of the energies of the two clusters")                    \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum of the pair")                                \
  F(eta, f32, PER_ITEM, "", "pseudorapidity of the momentum of the pair")                       \
  F(min_et, f32, PER_ITEM, "MeV", "smaller transverse energy of the two clusters")              \
  F(sum_et, f32, PER_ITEM, "MeV", "sum of the transverse energies of the two clusters")         \
  F(min_highest_share, f32, PER_ITEM, "",                                                       \
    "smaller share of the highest cell in the energy of the cluster, of the two clusters")      \
  F(areas, u8, PER_ITEM, "",                                                                    \
    "areas of the two clusters, as bits: 1 outer, 2 middle, 4 inner; 3: one outer, one middle") \
  F(on_velo_line, u8, PER_ITEM, "", "number of the two clusters, 0 to 2, that are straight ahead of a VELO track")
SL_COLLECTION(cluster_pairs, CLUSTER_PAIRS_FIELDS, "pairs of neutral clusters in the calorimeter");

#define SELECTIONS_NO_LOGIT -1e9f /* no response of the network; fails every requirement */

/* One item per secondary vertex; the offsets are shared. */
#define VERTEX_SCORES_FIELDS(F)                                       \
  F(offsets, u32, OFFSETS, "", "index of the first pair of an event") \
  F(logit, f32, PER_ITEM, "", "response of the network: log of the odds of a signal; -1e9: none")
SL_COLLECTION(vertex_scores, VERTEX_SCORES_FIELDS, "response of the two-track network to secondary vertices");

/* Decisions of a line (line.h). */
enum { LINE_PASSED = 1, LINE_BEFORE_SCALE = 2 }; /* bits of `passed` */
#define LINE_DECISIONS_FIELDS(F)                                                                          \
  F(offsets, u32, OFFSETS, "", "index of the first candidate of an event")                                \
  F(made_by, u64, PER_SLICE, "",                                                                          \
    "hash of the name of the node that made the candidates; 0: neither particles nor secondary vertices") \
  F(pre_scale, f32, PER_SLICE, "", "fraction of the events that the line evaluates")                      \
  F(post_scale, f32, PER_SLICE, "", "fraction of the events with an accepted candidate that pass")        \
  F(passed, u8, PER_EVENT, "", "bits: 1 the event passed, 2 it would have passed with post_scale 1")      \
  F(accepted, u8, PER_ITEM, "", "1 if the line accepts the candidate, independent of post_scale")
SL_COLLECTION(line_decisions, LINE_DECISIONS_FIELDS, "events and candidates that a line accepts");

/* Size of an event, from its banks before they are decoded. */
#define SELECTIONS_NOT_COUNTED UINT32_MAX
#define GEC_COUNTS_FIELDS(F)                                                                                \
  F(scifi, u32, PER_EVENT, "",                                                                              \
    "half-words of all SciFi banks, less two: clusters plus most bank headers; 2^32 - 1: no SciFi banks")   \
  F(ut, u32, PER_EVENT, "", "UT hits, as given in the bank headers; 2^32 - 1: not counted")                 \
  F(velo, u32, PER_EVENT, "",                                                                               \
    "VELO clusters, as given in the bank headers; of super-pixels groups of adjacent pixels, at least the " \
    "number of clusters; 2^32 - 1: not counted")
SL_COLLECTION(gec_counts, GEC_COUNTS_FIELDS, "approximate number of hits per event, from raw banks");

#endif
