/* ut.merge_tracks: tracks of one search in the UT, and then those of a second one.
 *
 * Count, scan, write: a block an event, a thread a track. Reads and writes 20 bytes a track and 18 a hit.
 */
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS merge_tracks_args
#define MERGE_TRACKS(M)                                                           \
  M(IN, first, ut_tracks, "", "found first")                                      \
  M(IN, second, ut_tracks, "", "found afterwards")                                \
  M(OUT, merged, ut_tracks, "of each event the first ones, then the second ones", \
    SL_ITEMS(SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second))),                \
    SL_SUBITEMS(SL_SUM(SL_SUBITEMS_TERM(first), SL_SUBITEMS_TERM(second))))
SL_ARGUMENTS(merge_tracks, MERGE_TRACKS);

SL_KERNEL(merge_tracks_count, struct merge_tracks_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const uint32_t first = a.first.offsets[event + 1] - a.first.offsets[event];
    a.merged.offsets[event] = first + (a.second.offsets[event + 1] - a.second.offsets[event]);
  }
}

/* A track and where it is from. */
struct merge_source {
  const struct ut_tracks_view *tracks;
  uint32_t track;
};

/* The i-th of an event. */
static SL_DEVICE struct merge_source source_of(const struct merge_tracks_args *a, uint32_t event, uint32_t i) {
  const uint32_t firsts = a->first.offsets[event + 1] - a->first.offsets[event];
  struct merge_source source;
  source.tracks = i < firsts ? &a->first : &a->second;
  source.track = source.tracks->offsets[event] + (i < firsts ? i : i - firsts);
  return source;
}

SL_KERNEL(merge_tracks_hits, struct merge_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t to = a.merged.offsets[event], count = a.merged.offsets[event + 1] - to;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const struct merge_source from = source_of(&a, event, i);
      a.merged.hit_offsets[to + i] = from.tracks->hit_offsets[from.track + 1] - from.tracks->hit_offsets[from.track];
    }
  }
}

static SL_DEVICE void write_track(const struct merge_tracks_args *a, uint32_t to, const struct merge_source *from) {
  const uint32_t begin = from->tracks->hit_offsets[from->track];
  const uint32_t place = a->merged.hit_offsets[to], count = a->merged.hit_offsets[to + 1] - place;
  a->merged.velo_track[to] = from->tracks->velo_track[from->track];
  a->merged.qop[to] = from->tracks->qop[from->track];
  a->merged.x[to] = from->tracks->x[from->track];
  a->merged.tx[to] = from->tracks->tx[from->track];
  for (uint32_t h = 0; h < count; h++) {
    a->merged.hit_id[place + h] = from->tracks->hit_id[begin + h];
    a->merged.hit_x[place + h] = from->tracks->hit_x[begin + h];
    a->merged.hit_y[place + h] = from->tracks->hit_y[begin + h];
    a->merged.hit_z[place + h] = from->tracks->hit_z[begin + h];
    a->merged.hit_sector[place + h] = from->tracks->hit_sector[begin + h];
  }
}

SL_KERNEL(merge_tracks_write, struct merge_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t to = a.merged.offsets[event], count = a.merged.offsets[event + 1] - to;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const struct merge_source from = source_of(&a, event, i);
      write_track(&a, to + i, &from);
    }
  }
}

static int run(const struct sl_launch *l, const struct merge_tracks_args *a) {
  int error = SL_LAUNCH(l, merge_tracks_count, SL_THREAD_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->merged.offsets, &a->merged.bound);
  if (!error) error = SL_LAUNCH(l, merge_tracks_hits, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->merged.hit_offsets, a->merged.offsets, &a->merged.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, merge_tracks_write, SL_PER_EVENT, *a);
  return error;
}

SL_ALGORITHM(merge_tracks, "tracks in the UT of one search, then those of a second one", 64, run);
