/* truth.match_velo: finds the true particle of each VELO track, by the rules of truth.velo_check (match.h). */
#include "match.h"
#include "velo/event_model.h"

#define SL_ARGS match_velo_args
#define MATCH_VELO(M)                                                     \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks") \
  MATCH_PORTS(M) MATCH_MASK(M)
SL_ARGUMENTS(match_velo, MATCH_VELO);

static SL_DEVICE struct match_hits hits_of(const struct match_velo_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  (void)event;
  match_set_hits(&hits, TRUTH_VELO, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

MATCH_ALGORITHM(match_velo, TRUTH_VELO, TRUTH_VELO, a.mask_fraction_bits,
                "finds the true particle that each VELO track matches");
