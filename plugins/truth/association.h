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

/* A particle that a track shares hits with. */
struct match {
  uint32_t particle;
  uint32_t shared_hits;    /* in the VELO */
  uint32_t shared_ut_hits; /* 0 where a track has none */
};

struct association {
  struct id_of_particle *ids;
  uint32_t id_count, id_capacity;
  uint32_t *buckets; /* place, from 1, of the first entry with each hash; at least as many as id_capacity */
  uint32_t bucket_bits;
  uint32_t id_mask;      /* bits of the ids that are compared */
  uint32_t *shared;      /* per particle: hits shared with the track at hand; 0 between tracks */
  uint32_t *shared_ut;   /* the same in the UT */
  uint32_t *tracks;      /* per particle: tracks that matched it so far */
  struct match *matches; /* result of the last association_match_... */
  uint32_t match_count, particle_capacity;
  uint32_t known_hits; /* of that track: in the VELO, those of any particle */
};

/* All bits of VELO ids, or all but bits 26 and 27, which only retina clusters have. */
static inline uint32_t association_velo_mask(uint32_t mask_fraction_bits) {
  return mask_fraction_bits ? ~(3u << 26) : ~0u;
}

/* Prepares for the tracks of an event: 0 or SL_ENOMEM. Ids are compared in the bits of id_mask only. */
int association_begin(struct association *a, const struct mc_event *mc, uint32_t id_mask);

/* Finds the particles that a VELO track matches: those with at least 70 % of its hits, in ascending order. Each has one
 * track more then. */
void association_match_velo(struct association *a, const uint32_t *hit_ids, uint32_t hit_count);

/* The same for a track with hits in the UT, of which all but one have to be the particle's too. */
void association_match_ut(struct association *a, const uint32_t *velo_ids, uint32_t velo_count, const uint32_t *ut_ids,
                          uint32_t ut_count);

void association_free(struct association *a);

#endif
