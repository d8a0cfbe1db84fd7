/* event_model.h: what the plugin of selections offers to others. Lengths in mm, momenta in MeV. README.md has the
 * formulas. */
#ifndef SELECTIONS_EVENT_MODEL_H
#define SELECTIONS_EVENT_MODEL_H

#include <sluice/plugin.h>

/* Straight lines with covariances where long tracks are nearest to the beam line. x and y are fitted apart, so that
 * there are no covariances of these. A track that no line can be fitted to has zeros. */
#define LONG_STATES_FIELDS(F)                                                    \
  F(offsets, u32, OFFSETS, "", "first track of each event")                      \
  F(x, f32, PER_ITEM, "mm", "position")                                          \
  F(y, f32, PER_ITEM, "mm", "position")                                          \
  F(z, f32, PER_ITEM, "mm", "position")                                          \
  F(tx, f32, PER_ITEM, "", "slope dx/dz")                                        \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                        \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum, before energy was lost") \
  F(c00, f32, PER_ITEM, "mm2", "variance of x")                                  \
  F(c20, f32, PER_ITEM, "mm", "covariance of x and tx")                          \
  F(c22, f32, PER_ITEM, "", "variance of tx")                                    \
  F(c11, f32, PER_ITEM, "mm2", "variance of y")                                  \
  F(c31, f32, PER_ITEM, "mm", "covariance of y and ty")                          \
  F(c33, f32, PER_ITEM, "", "variance of ty")                                    \
  F(chi2, f32, PER_ITEM, "", "of the hits in the VELO")                          \
  F(ndof, u32, PER_ITEM, "", "degrees of freedom: twice the number of hits, less four")
SL_COLLECTION(long_states, LONG_STATES_FIELDS, "states of long tracks at the beam line");

#define PARTICLE_NO_VERTEX UINT32_MAX
enum { PARTICLE_IS_MUON = 1, PARTICLE_IS_ELECTRON = 2 }; /* bits of `leptons` */

/* What is asked of single tracks. One without a fit has zeros and no vertex. */
#define PARTICLES_FIELDS(F)                                                                           \
  F(offsets, u32, OFFSETS, "", "first particle of each event")                                        \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event")                       \
  F(vertex, u32, PER_ITEM, "", "the primary vertex of least ip_chi2, by its place; UINT32_MAX: none") \
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

#endif
