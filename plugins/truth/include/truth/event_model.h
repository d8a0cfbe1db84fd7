/* event_model.h: true particles as a collection, and which of them a track matches: for sinks, histograms, filters. */
#ifndef TRUTH_EVENT_MODEL_H
#define TRUTH_EVENT_MODEL_H

#include <sluice/plugin.h>

/* What an event has of truth. */
enum { TRUTH_NONE, TRUTH_READ, TRUTH_MALFORMED };

/* Where hits are, in the order in which tracks pass. */
enum { TRUTH_VELO, TRUTH_UT, TRUTH_SCIFI, TRUTH_DETECTORS };

#define TRUTH_PARTICLES_FIELDS(F)                                                                                    \
  F(state, u8, PER_EVENT, "", "of the event's truth: 0 it has none, 1 read, 2 malformed, with no particles")         \
  F(offsets, u32, OFFSETS, "", "first particle of each event")                                                       \
  F(key, u32, PER_ITEM, "", "unique in the event")                                                                   \
  F(pdg, i32, PER_ITEM, "", "PDG id")                                                                                \
  F(p, f32, PER_ITEM, "MeV", "momentum")                                                                             \
  F(pt, f32, PER_ITEM, "MeV", "transverse momentum")                                                                 \
  F(eta, f32, PER_ITEM, "", "pseudorapidity")                                                                        \
  F(phi, f32, PER_ITEM, "rad", "azimuth")                                                                            \
  F(x, f32, PER_ITEM, "mm", "origin")                                                                                \
  F(y, f32, PER_ITEM, "mm", "origin")                                                                                \
  F(z, f32, PER_ITEM, "mm", "origin")                                                                                \
  F(charge, f32, PER_ITEM, "e", "charge")                                                                            \
  F(flags, u32, PER_ITEM, "",                                                                                        \
    "1 long, 2 downstream, 4 in the VELO, 8 in the UT, 16 in the SciFi; from 32 beauty, 64 charm, 128 strange, 256 " \
    "signal")                                                                                                        \
  F(mother_key, u32, PER_ITEM, "", "of its mother; its own, if it has none")                                         \
  F(mother_pdg, i32, PER_ITEM, "", "PDG id of its mother")                                                           \
  F(hit_count, u32, PER_ITEM_OF(3), "", "its hits in the VELO, in the UT and in the SciFi")                          \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each particle")                                                \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbID of its hits, in the same order")
SL_COLLECTION(truth_particles, TRUTH_PARTICLES_FIELDS, "true particles");

enum { TRUTH_GHOST = -1, TRUTH_UNKNOWN = -2 };

#define TRUTH_MATCHES_FIELDS(F)                                                                                   \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                                       \
  F(particle, i32, PER_ITEM, "",                                                                                  \
    "the particle that the track matches, its index in the event; -1: none, a ghost; -2: the event has no truth") \
  F(hits, u32, PER_ITEM, "", "hits of the track, in all detectors")                                               \
  F(shared, u32, PER_ITEM, "", "those that it has in common with that particle, or of a ghost with the nearest")  \
  F(purity, f32, PER_ITEM, "", "shared / hits")                                                                   \
  F(pdg, i32, PER_ITEM, "", "PDG id of the particle; this and what follows is 0 where there is none")             \
  F(p, f32, PER_ITEM, "MeV", "its momentum")                                                                      \
  F(pt, f32, PER_ITEM, "MeV", "its transverse momentum")                                                          \
  F(eta, f32, PER_ITEM, "", "its pseudorapidity")                                                                 \
  F(phi, f32, PER_ITEM, "rad", "its azimuth")                                                                     \
  F(tx, f32, PER_ITEM, "", "dx/dz of its momentum")                                                               \
  F(ty, f32, PER_ITEM, "", "dy/dz of its momentum")                                                               \
  F(x, f32, PER_ITEM, "mm", "its origin")                                                                         \
  F(y, f32, PER_ITEM, "mm", "its origin")                                                                         \
  F(z, f32, PER_ITEM, "mm", "its origin")                                                                         \
  F(flags, u32, PER_ITEM, "", "its flags")
SL_COLLECTION(truth_matches, TRUTH_MATCHES_FIELDS, "which true particles tracks match");

#endif
