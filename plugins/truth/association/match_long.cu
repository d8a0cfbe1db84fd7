/* truth.match_long: finds the true particle of each long track, by the rules of truth.long_check (match.h). UT hits
 * are used if ut_tracks is connected. */
#include "forward/event_model.h"
#include "match.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#define SL_ARGS match_long_args
#define MATCH_LONG(M)                                                                                     \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track hit_id", "long tracks")             \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers") \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id",                                      \
    "UT tracks to which ut_track refers; adds their hits")                                                \
  MATCH_PORTS(M) MATCH_MASK(M)
SL_ARGUMENTS(match_long, MATCH_LONG);

static SL_DEVICE struct match_hits hits_of(const struct match_long_args *a, uint32_t event, uint32_t track) {
  struct match_hits hits = match_no_hits();
  match_set_hits(&hits, TRUTH_VELO, a->velo_tracks.hit_offsets, a->velo_tracks.hit_id,
                 a->velo_tracks.offsets[event] + a->tracks.velo_track[track]);
  if (a->ut_tracks.offsets && a->tracks.ut_track[track] != FORWARD_NO_TRACK)
    match_set_hits(&hits, TRUTH_UT, a->ut_tracks.hit_offsets, a->ut_tracks.hit_id,
                   a->ut_tracks.offsets[event] + a->tracks.ut_track[track]);
  match_set_hits(&hits, TRUTH_SCIFI, a->tracks.hit_offsets, a->tracks.hit_id, track);
  return hits;
}

MATCH_ALGORITHM(match_long, TRUTH_VELO, TRUTH_SCIFI, a.mask_fraction_bits,
                "finds the true particle that each long track matches");
