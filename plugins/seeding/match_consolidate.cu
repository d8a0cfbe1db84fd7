/* seeding.match_consolidate: makes long tracks of matches, with the hits and the state of their seeds, and the UT
 * tracks of their VELO tracks if the graph connects `ut_tracks`.
 *
 * Every match becomes a track. The tracks have their own offsets, because events that are not on the node's list have
 * matches but no tracks. Cost: reads 36 bytes per match, 6 per hit and 4 per UT track of the event; writes 36 per track
 * and 6 per hit.
 */
#include "forward/event_model.h"
#include "seeding/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS match_consolidate_args
#define MATCH_CONSOLIDATE(M)                                                                                        \
  M(IN, matches, seed_matches, "offsets velo_track seed qop ghost", "matches of VELO tracks and seeds")             \
  M(IN, seeds, seeds, "offsets hit_offsets x y tx ty hit hit_id", "seeds of the matches")                           \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets velo_track", "UT tracks, in any order")                             \
  M(OUT, tracks, long_tracks, "long tracks, in the order of the matches", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(matches))), \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(seeds))))                                                                   \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(matches)))
SL_ARGUMENTS(match_consolidate, MATCH_CONSOLIDATE);

static SL_DEVICE uint32_t seed_of(const struct match_consolidate_args *a, struct sl_item item) {
  return a->seeds.offsets[item.event] + a->matches.seed[item.input_index];
}

static SL_DEVICE uint32_t hit_count(const struct match_consolidate_args *a, struct sl_item item) {
  const uint32_t seed = seed_of(a, item);
  return a->seeds.hit_offsets[seed + 1] - a->seeds.hit_offsets[seed];
}

/* Index in the event of the last UT track with this VELO track, or FORWARD_NO_TRACK. */
static SL_DEVICE uint32_t ut_track_of(const struct match_consolidate_args *a, uint32_t event, uint32_t velo_track) {
  const uint32_t first = a->ut_tracks.offsets ? a->ut_tracks.offsets[event] : 0;
  const uint32_t count = a->ut_tracks.offsets ? a->ut_tracks.offsets[event + 1] - first : 0;
  uint32_t found = FORWARD_NO_TRACK;
  for (uint32_t k = 0; k < count; k++) found = a->ut_tracks.velo_track[first + k] == velo_track ? k : found;
  return found;
}

static SL_DEVICE void write_track(const struct match_consolidate_args *a, struct sl_item item) {
  const uint32_t i = item.output_index, seed = seed_of(a, item);
  a->tracks.velo_track[i] = a->matches.velo_track[item.input_index];
  a->tracks.ut_track[i] = ut_track_of(a, item.event, a->matches.velo_track[item.input_index]);
  a->tracks.qop[i] = a->matches.qop[item.input_index];
  a->tracks.ghost[i] = a->matches.ghost[item.input_index];
  a->tracks.x[i] = a->seeds.x[seed];
  a->tracks.y[i] = a->seeds.y[seed];
  a->tracks.tx[i] = a->seeds.tx[seed];
  a->tracks.ty[i] = a->seeds.ty[seed];
}

static SL_DEVICE void write_hit(const struct match_consolidate_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t hit = a->seeds.hit_offsets[seed_of(a, item)] + h;
  a->tracks.hit[to] = a->seeds.hit[hit];
  a->tracks.hit_id[to] = a->seeds.hit_id[hit];
}

SL_SELECT_WITH_SUBITEMS(match_consolidate, matches, tracks, tracks.hit_offsets, 16, hit_count, write_track, write_hit)

SL_ALGORITHM(match_consolidate, "makes long tracks of matches, with the hits of their seeds", 64,
             match_consolidate_run);
