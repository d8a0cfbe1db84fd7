/* truth.match_seeds: finds the true particle of each SciFi seed, by the rules of truth.seed_check (match.h). */
#include "match.h"
#include "seeding/event_model.h"

#define SL_ARGS match_seeds_args
#define MATCH_SEEDS(M)                                              \
  M(IN, tracks, seeds, "offsets hit_offsets hit_id", "SciFi seeds") \
  MATCH_PORTS(M)
SL_ARGUMENTS(match_seeds, MATCH_SEEDS);

static SL_DEVICE struct match_hits hits_of(const struct match_seeds_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  (void)event;
  match_set_hits(&hits, TRUTH_SCIFI, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

MATCH_ALGORITHM(match_seeds, TRUTH_SCIFI, TRUTH_SCIFI, 0, "finds the true particle that each SciFi seed matches");
