/* truth.match_seeds: for each track in the fibre tracker alone, the true particle that it matches, as
 * truth.seed_check has it; match.h says how. */
#include "match.h"
#include "scifi/event_model.h"

#define SL_ARGS match_seeds_args
#define MATCH_SEEDS(M)                                                  \
  M(IN, tracks, scifi_seeds, "offsets hit_offsets hit_id", "any order") \
  MATCH_PORTS(M)
SL_ARGUMENTS(match_seeds, MATCH_SEEDS);

static SL_DEVICE struct match_hits hits_of(const struct match_seeds_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  (void)event;
  match_take_hits(&hits, TRUTH_SCIFI, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

SL_KERNEL(match_seeds_tracks, struct match_seeds_args) {
  __shared__ uint32_t ends[MATCH_HASHES];
  SL_FOR_EVENTS (event, a.events) {
    const struct match_table t =
        match_table(&a.particles, event, TRUTH_SCIFI, TRUTH_SCIFI, 0, a.entry_ids, a.entry_particles, ends);
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x) {
      const struct match_hits hits = hits_of(&a, event, i);
      match_track(&t, &hits, &a.matches, i);
    }
    __syncthreads(); /* before the next event's table */
  }
}

static int run(const struct sl_launch *l, const struct match_seeds_args *a) {
  return SL_LAUNCH(l, match_seeds_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(match_seeds, "which true particles tracks in the fibre tracker match", 128, run);
