/* scifi.match_consolidate: matches as tracks, with the hits and the state of their seeds, and with the tracks in the UT
 * of their VELO tracks, if the graph names such.
 *
 * Count, scan, write: a block an event, a thread a match; all of them are tracks. The tracks have offsets of their own,
 * since events that are not on the node's list have matches, but no tracks. Reads 32 bytes a match, 6 of each of its
 * hits, and 4 of each of the event's tracks in the UT; writes 32 and 6.
 */
#include "scifi/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS match_consolidate_args
#define MATCH_CONSOLIDATE(M)                                                                           \
  M(IN, matches, scifi_matches, "offsets velo_track seed qop", "which VELO tracks and seeds")          \
  M(IN, seeds, scifi_seeds, "offsets hit_offsets x y tx ty hit hit_id", "which they are matches of")   \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets velo_track", "what there is in the UT, in any order")  \
  M(OUT, tracks, long_tracks, "in the order of the matches", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(matches))), \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(seeds))))
SL_ARGUMENTS(match_consolidate, MATCH_CONSOLIDATE);

SL_KERNEL(match_consolidate_count, struct match_consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.tracks.offsets[event] = a.matches.offsets[event + 1] - a.matches.offsets[event];
}

SL_KERNEL(match_consolidate_hits, struct match_consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t seeds = a.seeds.offsets[event], from = a.matches.offsets[event], to = a.tracks.offsets[event];
    for (uint32_t i = threadIdx.x; i < a.tracks.offsets[event + 1] - to; i += blockDim.x) {
      const uint32_t seed = seeds + a.matches.seed[from + i];
      a.tracks.hit_offsets[to + i] = a.seeds.hit_offsets[seed + 1] - a.seeds.hit_offsets[seed];
    }
  }
}

/* The track in the UT of a VELO track: there are few to look through. */
static SL_DEVICE uint32_t ut_track_of(const struct match_consolidate_args *a, uint32_t event, uint32_t velo_track) {
  uint32_t found = SCIFI_NO_TRACK;
  if (!a->ut_tracks.offsets) return found;
  const uint32_t first = a->ut_tracks.offsets[event], count = a->ut_tracks.offsets[event + 1] - first;
  for (uint32_t i = 0; i < count; i++)
    if (a->ut_tracks.velo_track[first + i] == velo_track) found = i;
  return found;
}

static SL_DEVICE void write_track(const struct match_consolidate_args *a, uint32_t event, uint32_t i, uint32_t match,
                                  uint32_t seed) {
  const uint32_t from = a->seeds.hit_offsets[seed], to = a->tracks.hit_offsets[i];
  const uint32_t count = a->tracks.hit_offsets[i + 1] - to;
  a->tracks.velo_track[i] = a->matches.velo_track[match];
  a->tracks.ut_track[i] = ut_track_of(a, event, a->matches.velo_track[match]);
  a->tracks.qop[i] = a->matches.qop[match];
  a->tracks.x[i] = a->seeds.x[seed];
  a->tracks.y[i] = a->seeds.y[seed];
  a->tracks.tx[i] = a->seeds.tx[seed];
  a->tracks.ty[i] = a->seeds.ty[seed];
  for (uint32_t h = 0; h < count; h++) {
    a->tracks.hit[to + h] = a->seeds.hit[from + h];
    a->tracks.hit_id[to + h] = a->seeds.hit_id[from + h];
  }
}

SL_KERNEL(match_consolidate_write, struct match_consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t seeds = a.seeds.offsets[event], from = a.matches.offsets[event], to = a.tracks.offsets[event];
    for (uint32_t i = threadIdx.x; i < a.tracks.offsets[event + 1] - to; i += blockDim.x)
      write_track(&a, event, to + i, from + i, seeds + a.matches.seed[from + i]);
  }
}

static int run(const struct sl_launch *l, const struct match_consolidate_args *a) {
  int error = SL_LAUNCH(l, match_consolidate_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->tracks.offsets, &a->tracks.bound);
  if (!error) error = SL_LAUNCH(l, match_consolidate_hits, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->tracks.hit_offsets, a->tracks.offsets, &a->tracks.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, match_consolidate_write, SL_PER_EVENT, *a);
  return error;
}

SL_ALGORITHM(match_consolidate, "matches as tracks, with the hits of their seeds", 64, run);
