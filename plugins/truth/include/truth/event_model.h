/* event_model.h: true particles, and the particle that a track matches, as collections. */
#ifndef TRUTH_EVENT_MODEL_H
#define TRUTH_EVENT_MODEL_H

#include <sluice/plugin.h>

/* State of the truth of an event. */
enum { TRUTH_NONE, TRUTH_READ, TRUTH_MALFORMED };

/* Detectors with hits, in the order in which tracks cross them. */
enum { TRUTH_VELO, TRUTH_UT, TRUTH_SCIFI, TRUTH_DETECTORS };

#define TRUTH_PARTICLES_FIELDS(F)                                                                         \
  F(state, u8, PER_EVENT, "", "state of the event's truth: 0 none, 1 read, 2 malformed (no particles)")   \
  F(offsets, u32, OFFSETS, "", "index of the first particle per event")                                   \
  F(key, u32, PER_ITEM, "", "key of the particle, unique in the event")                                   \
  F(pdg, i32, PER_ITEM, "", "PDG id")                                                                     \
  F(p, f32, PER_ITEM, "MeV", "momentum")                                                                  \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum")                                                      \
  F(eta, f32, PER_ITEM, "", "pseudorapidity")                                                             \
  F(phi, f32, PER_ITEM, "rad", "azimuth")                                                                 \
  F(x, f32, PER_ITEM, "mm", "x of the origin")                                                            \
  F(y, f32, PER_ITEM, "mm", "y of the origin")                                                            \
  F(z, f32, PER_ITEM, "mm", "z of the origin")                                                            \
  F(charge, f32, PER_ITEM, "e", "charge")                                                                 \
  F(flags, u32, PER_ITEM, "",                                                                             \
    "bits: 1 long, 2 downstream, 4 in the VELO, 8 in the UT, 16 in the SciFi; from 32 beauty, 64 charm, " \
    "128 strange, 256 signal")                                                                            \
  F(mother_key, u32, PER_ITEM, "", "key of the mother; the particle's own key if it has none")            \
  F(mother_pdg, i32, PER_ITEM, "", "PDG id of the mother")                                                \
  F(hit_count, u32, PER_ITEM_OF(3), "", "number of hits in the VELO, the UT and the SciFi")               \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "index of the first hit per particle")                            \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbIDs of the hits, in the order VELO, UT, SciFi")
SL_COLLECTION(truth_particles, TRUTH_PARTICLES_FIELDS, "true particles");

enum { TRUTH_GHOST = -1, TRUTH_UNKNOWN = -2 };

#define TRUTH_MATCHES_FIELDS(F)                                                                                \
  F(offsets, u32, OFFSETS, "", "index of the first track per event")                                           \
  F(particle, i32, PER_ITEM, "",                                                                               \
    "index in the event of the particle that the track matches; -1: none (ghost); -2: the event has no truth") \
  F(hits, u32, PER_ITEM, "", "number of hits of the track, in all detectors")                                  \
  F(shared, u32, PER_ITEM, "",                                                                                 \
    "hits shared with the particle; of a ghost, the largest number shared with any particle")                  \
  F(purity, f32, PER_ITEM, "", "shared / hits")                                                                \
  F(pdg, i32, PER_ITEM, "", "PDG id of the particle; 0 if the track matches none")                             \
  F(p, f32, PER_ITEM, "MeV", "momentum of the particle")                                                       \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum of the particle")                                           \
  F(eta, f32, PER_ITEM, "", "pseudorapidity of the particle")                                                  \
  F(phi, f32, PER_ITEM, "rad", "azimuth of the particle")                                                      \
  F(tx, f32, PER_ITEM, "", "true slope dx/dz of the particle")                                                 \
  F(ty, f32, PER_ITEM, "", "true slope dy/dz of the particle")                                                 \
  F(x, f32, PER_ITEM, "mm", "x of the particle's origin")                                                      \
  F(y, f32, PER_ITEM, "mm", "y of the particle's origin")                                                      \
  F(z, f32, PER_ITEM, "mm", "z of the particle's origin")                                                      \
  F(flags, u32, PER_ITEM, "", "flags of the particle, as in truth_particles")
SL_COLLECTION(truth_matches, TRUTH_MATCHES_FIELDS, "true particles that tracks match");

/* One item per true particle; the offsets are shared. */
#define TRUTH_LOSSES_FIELDS(F)                                                  \
  F(offsets, u32, OFFSETS, "", "index of the first particle per event")         \
  F(found, u32, PER_ITEM, "", "bit k: a track of stage k matches the particle") \
  F(lost, u32, PER_ITEM, "", "first stage without such a track; the number of stages: none")
SL_COLLECTION(truth_losses, TRUTH_LOSSES_FIELDS, "stages of a reconstruction that found true particles");

#endif
