/* truth.match_ut: finds the true particle of each VELO-UT track, by the rules of truth.ut_check (match.h). */
#include "match.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#define SL_ARGS match_ut_args
#define MATCH_UT(M)                                                                                       \
  M(IN, tracks, ut_tracks, "offsets hit_offsets velo_track hit_id", "VELO-UT tracks")                     \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers") \
  MATCH_PORTS(M) MATCH_MASK(M)
SL_ARGUMENTS(match_ut, MATCH_UT);

static SL_DEVICE struct match_hits hits_of(const struct match_ut_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  match_set_hits(&hits, TRUTH_VELO, a->velo_tracks.hit_offsets, a->velo_tracks.hit_id,
                 a->velo_tracks.offsets[event] + a->tracks.velo_track[track]);
  match_set_hits(&hits, TRUTH_UT, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

MATCH_ALGORITHM(match_ut, TRUTH_VELO, TRUTH_UT, a.mask_fraction_bits,
                "finds the true particle that each VELO-UT track matches");
