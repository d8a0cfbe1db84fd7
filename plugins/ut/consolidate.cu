/* ut.consolidate: those selected VELO tracks for which hits in the UT were found, with these hits.
 *
 * Count, scan, write: a block an event, a thread a candidate. There is room for every candidate with four hits, so that
 * nothing overflows. Reads 21 bytes a candidate, writes 20 a track and 18 a hit.
 */
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                                    \
  M(IN, selected, ut_selected_tracks, "", "which VELO track each candidate is of")                        \
  M(IN, candidates, ut_track_candidates, "hit_count hits qop x tx", "from the search")                    \
  M(IN, hits, ut_hits, "offsets id x y z sector", "the hits that were searched")                          \
  M(OUT, tracks, ut_tracks, "in the order of the VELO tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(selected))), \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(selected, UT_TRACK_HITS_MAX, 1, 0))))                              \
  M(SCRATCH, from, u32, "which candidate each track is", SL_ONE(SL_ITEMS_TERM(selected)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

SL_KERNEL(consolidate_count, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_COUNT_WANTED(i, event, a.selected.offsets, a.tracks.offsets, a.candidates.hit_count[i] > 0);
}

/* Tracks have their places; their numbers of hits wait to be summed. */
SL_KERNEL(consolidate_tracks, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (from, track, event, a.selected.offsets, a.tracks.offsets, a.candidates.hit_count[from] > 0) {
      a.tracks.velo_track[track] = a.selected.track[from];
      a.tracks.qop[track] = a.candidates.qop[from];
      a.tracks.x[track] = a.candidates.x[from];
      a.tracks.tx[track] = a.candidates.tx[from];
      a.tracks.hit_offsets[track] = a.candidates.hit_count[from];
      a.from[track] = from;
    }
}

/* A thread for each place that a track has for a hit, so that hits' loads do not wait for each other. */
SL_KERNEL(consolidate_hits, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t event_hits = a.hits.offsets[event], first = a.tracks.offsets[event];
    const uint32_t places = UT_TRACK_HITS_MAX * (a.tracks.offsets[event + 1] - first);
    for (uint32_t i = threadIdx.x; i < places; i += blockDim.x) {
      const uint32_t track = first + i / UT_TRACK_HITS_MAX, h = i % UT_TRACK_HITS_MAX;
      const uint32_t to = a.tracks.hit_offsets[track] + h;
      const uint32_t hit = event_hits + a.candidates.hits[UT_TRACK_HITS_MAX * (size_t)a.from[track] + h];
      if (to >= a.tracks.hit_offsets[track + 1]) continue;
      a.tracks.hit_id[to] = a.hits.id[hit];
      a.tracks.hit_x[to] = a.hits.x[hit];
      a.tracks.hit_y[to] = a.hits.y[hit];
      a.tracks.hit_z[to] = a.hits.z[hit];
      a.tracks.hit_sector[to] = a.hits.sector[hit];
    }
  }
}

static int run(const struct sl_launch *l, const struct consolidate_args *a) {
  int error = SL_LAUNCH(l, consolidate_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->tracks.offsets, &a->tracks.bound);
  if (!error) error = SL_LAUNCH(l, consolidate_tracks, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->tracks.hit_offsets, a->tracks.offsets, &a->tracks.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, consolidate_hits, SL_PER_EVENT, *a);
  return error;
}

SL_ALGORITHM(consolidate, "VELO tracks with their hits in the UT", 128, run);
