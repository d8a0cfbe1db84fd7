/* association.h: which true particles a track matches, by the ids of its hits (README.md, "What matches").
 *
 * A struct association is used again for event after event; its memory only grows. Zero-initialise it.
 */
#ifndef TRUTH_ASSOCIATION_H
#define TRUTH_ASSOCIATION_H

#include "mc_particles.h"

/* An entry of the map from ids to particles; `next` is the place, from 1, of another with the same hash, or 0. */
struct id_of_particle {
  uint32_t id, particle, next;
};

/* How many hits of a track, in each detector. */
struct hit_counts {
  uint32_t in[MC_DETECTORS];
};

/* A particle that a track matches, and how many hits both have: its own ones. */
struct match {
  uint32_t particle;
  struct hit_counts shared;
};

struct association {
  struct id_of_particle *ids;
  uint32_t id_count, id_capacity;
  uint32_t *buckets; /* place, from 1, of the first entry with each hash; at least as many as id_capacity */
  uint32_t bucket_bits;
  uint32_t id_mask; /* bits of the ids that are compared */
  const struct mc_event *mc;
  struct hit_counts *shared; /* per particle: hits shared with the track at hand; 0 between tracks */
  uint32_t *tracks;          /* per particle: tracks that matched it so far */
  uint32_t *candidates;      /* particles that share any hit with the track at hand */
  struct match *matches;     /* result of the last association_match */
  uint32_t candidate_count, match_count, particle_capacity;
  struct hit_counts known; /* hits of that track that are of any particle */
};

/* All bits of VELO ids, or all but bits 26 and 27, which only retina clusters have. */
static inline uint32_t association_velo_mask(uint32_t mask_fraction_bits) {
  return mask_fraction_bits ? ~(3u << 26) : ~0u;
}

/* Prepares for the tracks of an event, with hits up to `last_detector`: 0 or SL_ENOMEM. Ids are compared in the bits of
 * id_mask only. The particles stay the caller's, and have to stay there. */
int association_begin(struct association *a, const struct mc_event *mc, uint32_t id_mask, uint32_t last_detector);

/* The ids of a track's hits in a detector. */
struct hit_ids {
  const uint32_t *ids;
  uint32_t count;
};
struct track_hits {
  struct hit_ids in[MC_DETECTORS];
};

/* Finds the particles that a track matches, in ascending order. Each has one track more then. */
void association_match(struct association *a, const struct track_hits *track);
void association_match_velo(struct association *a, const uint32_t *hit_ids, uint32_t hit_count);

void association_free(struct association *a);

#endif
