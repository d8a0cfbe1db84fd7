/* truth.match_velo: for each VELO track, the true particle that it matches, as truth.velo_check has it; match.h
 * says how. */
#include "match.h"
#include "velo/event_model.h"

#define SL_ARGS match_velo_args
#define MATCH_VELO(M)                                                   \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "any order") \
  MATCH_PORTS(M) MATCH_MASK(M)
SL_ARGUMENTS(match_velo, MATCH_VELO);

static SL_DEVICE struct match_hits hits_of(const struct match_velo_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  (void)event;
  match_take_hits(&hits, TRUTH_VELO, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

SL_KERNEL(match_velo_tracks, struct match_velo_args) {
  __shared__ uint32_t ends[MATCH_HASHES];
  SL_FOR_EVENTS (event, a.events) {
    const struct match_table t = match_table(&a.particles, event, TRUTH_VELO, TRUTH_VELO, a.mask_fraction_bits,
                                             a.entry_ids, a.entry_particles, ends);
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x) {
      const struct match_hits hits = hits_of(&a, event, i);
      match_track(&t, &hits, &a.matches, i);
    }
    __syncthreads(); /* before the next event's table */
  }
}

static int run(const struct sl_launch *l, const struct match_velo_args *a) {
  return SL_LAUNCH(l, match_velo_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(match_velo, "which true particles VELO tracks match", 128, run);
