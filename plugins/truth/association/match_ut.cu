/* truth.match_ut: for each track through VELO and UT, the true particle that it matches, as truth.ut_check has it;
 * match.h says how. */
#include "match.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#define SL_ARGS match_ut_args
#define MATCH_UT(M)                                                                 \
  M(IN, tracks, ut_tracks, "offsets hit_offsets velo_track hit_id", "any order")    \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "those that go on") \
  MATCH_PORTS(M) MATCH_MASK(M)
SL_ARGUMENTS(match_ut, MATCH_UT);

static SL_DEVICE struct match_hits hits_of(const struct match_ut_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  match_take_hits(&hits, TRUTH_VELO, a->velo_tracks.hit_offsets, a->velo_tracks.hit_id,
                  a->velo_tracks.offsets[event] + a->tracks.velo_track[track]);
  match_take_hits(&hits, TRUTH_UT, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

MATCH_ALGORITHM(match_ut, TRUTH_VELO, TRUTH_UT, a.mask_fraction_bits,
                "which true particles tracks through VELO and UT match");
