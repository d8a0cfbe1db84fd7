/* truth.match_seeds: for each track in the fibre tracker alone, the true particle that it matches, as
 * truth.seed_check has it; match.h says how. */
#include "match.h"
#include "seeding/event_model.h"

#define SL_ARGS match_seeds_args
#define MATCH_SEEDS(M)                                            \
  M(IN, tracks, seeds, "offsets hit_offsets hit_id", "any order") \
  MATCH_PORTS(M)
SL_ARGUMENTS(match_seeds, MATCH_SEEDS);

static SL_DEVICE struct match_hits hits_of(const struct match_seeds_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  (void)event;
  match_take_hits(&hits, TRUTH_SCIFI, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

MATCH_ALGORITHM(match_seeds, TRUTH_SCIFI, TRUTH_SCIFI, 0, "which true particles tracks in the fibre tracker match");
