/* association.h: true particles that a track matches, by the ids of its hits (README.md, "Matching").
 * A struct association is reused for all events; its memory only grows. Initialise it with zeros. */
#ifndef TRUTH_ASSOCIATION_H
#define TRUTH_ASSOCIATION_H

#include "mc_particles.h"

/* An entry of the map from ids to particles; `next` is 1 + index of another entry with the same hash, or 0. */
struct id_of_particle {
  uint32_t id, particle, next;
};

/* Numbers of hits per detector. */
struct hit_counts {
  uint32_t in[MC_DETECTORS];
};

/* A particle that a track matches, and the number of hits that they share. */
struct match {
  uint32_t particle;
  struct hit_counts shared;
};

struct association {
  struct id_of_particle *ids;
  uint32_t id_count, id_capacity;
  uint32_t *buckets; /* 1 + index of the first entry per hash; at least id_capacity buckets */
  uint32_t bucket_bits;
  uint32_t id_mask; /* bits of the ids that are compared */
  const struct mc_event *mc;
  struct hit_counts *shared; /* per particle: hits shared with the current track; 0 between tracks */
  uint32_t *tracks;          /* per particle: number of tracks that matched it */
  uint32_t *candidates;      /* particles that share a hit with the current track */
  struct match *matches;     /* result of the last association_match */
  uint32_t candidate_count, match_count, particle_capacity;
  struct hit_counts known; /* hits of that track that belong to any particle */
};

/* Mask for VELO ids: all bits, or all but bits 26 and 27, which only ids of retina clusters have. */
static inline uint32_t association_velo_mask(uint32_t mask_fraction_bits) {
  return mask_fraction_bits ? ~(3u << 26) : ~0u;
}

/* Prepares for the tracks of an event, with hits up to `last_detector`: 0 or SL_ENOMEM. Ids are compared in the bits
 * of id_mask. `mc` must stay valid until the next call. */
int association_begin(struct association *a, const struct mc_event *mc, uint32_t id_mask, uint32_t last_detector);

/* Ids of a track's hits in a detector. */
struct hit_ids {
  const uint32_t *ids;
  uint32_t count;
};
struct track_hits {
  struct hit_ids in[MC_DETECTORS];
};

/* Finds the particles that a track matches, in ascending order, and increments their number of tracks. */
void association_match(struct association *a, const struct track_hits *track);
void association_match_velo(struct association *a, const uint32_t *hit_ids, uint32_t hit_count);

void association_free(struct association *a);

#endif
