/* seeding.match_consolidate: matches as tracks, with the hits and the state of their seeds, and with the tracks in the
 * UT of their VELO tracks, if the graph names such.
 *
 * Count, scan, list with a block an event and a thread a match, scan, write with a thread a hit of the slice, whose
 * busiest events would keep a block long after all others. All matches are tracks. The tracks have offsets of their
 * own, since events that are not on the node's list have matches, but no tracks. Reads 32 bytes a match, 6 of each of
 * its hits, and 4 of each of the event's tracks in the UT; writes 32 and 6.
 */
#include "forward/event_model.h"
#include "listed_items.h"
#include "seeding/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS match_consolidate_args
#define MATCH_CONSOLIDATE(M)                                                                           \
  M(IN, matches, seed_matches, "offsets velo_track seed qop", "which VELO tracks and seeds")           \
  M(IN, seeds, seeds, "offsets hit_offsets x y tx ty hit hit_id", "which they are matches of")         \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets velo_track", "what there is in the UT, in any order")  \
  M(OUT, tracks, long_tracks, "in the order of the matches", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(matches))), \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(seeds))))                                                      \
  M(SCRATCH, hits_begin, u32, "of each track's seed", SL_ONE(SL_ITEMS_TERM(matches)))
SL_ARGUMENTS(match_consolidate, MATCH_CONSOLIDATE);

SL_KERNEL(match_consolidate_count, struct match_consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.tracks.offsets[event] = a.matches.offsets[event + 1] - a.matches.offsets[event];
}

enum { STAGED = 256 }; /* tracks in the UT that are looked through at a time */

/* All of a track but its hits, and ut_track. */
static SL_DEVICE void write_track(const struct match_consolidate_args *a, uint32_t i, uint32_t match, uint32_t seed) {
  const uint32_t begin = a->seeds.hit_offsets[seed];
  a->tracks.hit_offsets[i] = a->seeds.hit_offsets[seed + 1] - begin; /* which waits to be summed */
  a->hits_begin[i] = begin;
  a->tracks.velo_track[i] = a->matches.velo_track[match];
  a->tracks.qop[i] = a->matches.qop[match];
  a->tracks.x[i] = a->seeds.x[seed];
  a->tracks.y[i] = a->seeds.y[seed];
  a->tracks.tx[i] = a->seeds.tx[seed];
  a->tracks.ty[i] = a->seeds.ty[seed];
}

/* The track in the UT of each track's VELO track: the last of those that are its. Every thread of the block comes here.
 */
static SL_DEVICE void find_ut_tracks(const struct match_consolidate_args *a, uint32_t event, uint32_t *staged) {
  const uint32_t from = a->matches.offsets[event], to = a->tracks.offsets[event];
  const uint32_t tracks = a->tracks.offsets[event + 1] - to;
  const uint32_t first = a->ut_tracks.offsets ? a->ut_tracks.offsets[event] : 0;
  const uint32_t count = a->ut_tracks.offsets ? a->ut_tracks.offsets[event + 1] - first : 0;
  for (uint32_t begin = 0; begin == 0 || begin < count; begin += STAGED) {
    const uint32_t size = count - begin < STAGED ? count - begin : (uint32_t)STAGED;
    __syncthreads(); /* those before are done with */
    for (uint32_t k = threadIdx.x; k < size; k += blockDim.x) staged[k] = a->ut_tracks.velo_track[first + begin + k];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < tracks; i += blockDim.x) {
      const uint32_t velo_track = a->matches.velo_track[from + i];
      uint32_t found = begin == 0 ? (uint32_t)FORWARD_NO_TRACK : a->tracks.ut_track[to + i];
      for (uint32_t k = 0; k < size; k++) found = staged[k] == velo_track ? begin + k : found;
      a->tracks.ut_track[to + i] = found;
    }
  }
}

SL_KERNEL(match_consolidate_list, struct match_consolidate_args) {
  __shared__ uint32_t staged[STAGED];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t seeds = a.seeds.offsets[event], from = a.matches.offsets[event], to = a.tracks.offsets[event];
    for (uint32_t i = threadIdx.x; i < a.tracks.offsets[event + 1] - to; i += blockDim.x)
      write_track(&a, to + i, from + i, seeds + a.matches.seed[from + i]);
    find_ut_tracks(&a, event, staged);
  }
}

/* A thread a hit, of the whole slice. */
SL_KERNEL(match_consolidate_write, struct match_consolidate_args) {
  const uint32_t hits = SCIFI_TRACK_HITS_MAX * seeding_listed_items(&a.events, a.tracks.offsets);
  for (uint32_t i = sl_grid_thread(); i < hits; i += sl_grid_threads()) {
    const uint32_t track = i / SCIFI_TRACK_HITS_MAX, h = i % SCIFI_TRACK_HITS_MAX;
    const uint32_t from = a.hits_begin[track] + h, to = a.tracks.hit_offsets[track] + h;
    if (to >= a.tracks.hit_offsets[track + 1]) continue;
    a.tracks.hit[to] = a.seeds.hit[from];
    a.tracks.hit_id[to] = a.seeds.hit_id[from];
  }
}

static int run(const struct sl_launch *l, const struct match_consolidate_args *a) {
  int error = SL_LAUNCH(l, match_consolidate_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->tracks.offsets, &a->tracks.bound);
  if (!error) error = SL_LAUNCH(l, match_consolidate_list, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->tracks.hit_offsets, a->tracks.offsets, &a->tracks.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, match_consolidate_write, SL_PER_SUBITEM(a->tracks, hit_offsets), *a);
  return error;
}

SL_ALGORITHM(match_consolidate, "matches as tracks, with the hits of their seeds", 64, run);
