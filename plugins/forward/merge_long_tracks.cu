/* forward.merge_long_tracks: tracks that were found among all hits, and then those that were found among the hits that
 * these left (forward.unused_hits), with the places of all their hits among all hits. Where both have tracks in the UT,
 * these are merged in the same way (ut.merge_tracks).
 *
 * Count, scan, write: a block an event, a thread a track. Reads and writes 32 bytes a track and 6 a hit, and reads 2
 * more of a hit of the second ones.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS merge_long_tracks_args
#define MERGE_LONG_TRACKS(M)                                                                                     \
  M(IN, first, long_tracks, "", "found among all hits")                                                          \
  M(IN, second, long_tracks, "", "found among the hits that are left")                                           \
  M(IN, places, scifi_hit_places, "", "of these among all hits")                                                 \
  M(OPTIONAL_IN, first_ut, ut_tracks, "offsets", "the first ones' in the UT, after which come the second ones'") \
  M(OUT, merged, long_tracks, "of each event the first ones, then the second ones",                              \
    SL_ITEMS(SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second))),                                               \
    SL_SUBITEMS(SL_SUM(SL_SUBITEMS_TERM(first), SL_SUBITEMS_TERM(second))))
SL_ARGUMENTS(merge_long_tracks, MERGE_LONG_TRACKS);

SL_KERNEL(merge_long_tracks_count, struct merge_long_tracks_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const uint32_t first = a.first.offsets[event + 1] - a.first.offsets[event];
    a.merged.offsets[event] = first + (a.second.offsets[event + 1] - a.second.offsets[event]);
  }
}

/* A track and where it is from. */
struct merge_source {
  const struct long_tracks_view *tracks;
  uint32_t track, is_second;
};

/* The i-th of an event. */
static SL_DEVICE struct merge_source source_of(const struct merge_long_tracks_args *a, uint32_t event, uint32_t i) {
  const uint32_t firsts = a->first.offsets[event + 1] - a->first.offsets[event];
  struct merge_source source;
  source.is_second = i >= firsts;
  source.tracks = source.is_second ? &a->second : &a->first;
  source.track = source.tracks->offsets[event] + (source.is_second ? i - firsts : i);
  return source;
}

SL_KERNEL(merge_long_tracks_hits, struct merge_long_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t to = a.merged.offsets[event], count = a.merged.offsets[event + 1] - to;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const struct merge_source from = source_of(&a, event, i);
      a.merged.hit_offsets[to + i] = from.tracks->hit_offsets[from.track + 1] - from.tracks->hit_offsets[from.track];
    }
  }
}

/* Hits of a track that are read at once, before the first of them is written. */
#if defined(SL_TARGET_CPU)
enum { HITS_AT_A_TIME = 1 };
#else
enum { HITS_AT_A_TIME = 4 };
#endif

static SL_DEVICE void write_hits(const struct merge_long_tracks_args *a, uint32_t event, uint32_t to,
                                 const struct merge_source *from) {
  const uint16_t *places = a->places.place + a->places.offsets[event];
  const uint32_t begin = from->tracks->hit_offsets[from->track];
  const uint32_t place = a->merged.hit_offsets[to], count = a->merged.hit_offsets[to + 1] - place;
  for (uint32_t first = 0; first < count; first += HITS_AT_A_TIME) {
    uint32_t hit[HITS_AT_A_TIME], id[HITS_AT_A_TIME];
    SL_UNROLL for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) {
      const uint32_t h = begin + (first + k < count ? first + k : first);
      hit[k] = from->tracks->hit[h];
      id[k] = from->tracks->hit_id[h];
    }
    if (from->is_second) {
      SL_UNROLL for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) hit[k] = places[hit[k]];
    }
    SL_UNROLL for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) {
      if (first + k >= count) break;
      a->merged.hit[place + first + k] = (uint16_t)hit[k];
      a->merged.hit_id[place + first + k] = id[k];
    }
  }
}

static SL_DEVICE uint32_t ut_track_of(const struct merge_long_tracks_args *a, uint32_t event,
                                      const struct merge_source *from) {
  const uint32_t track = from->tracks->ut_track[from->track];
  if (!from->is_second || track == FORWARD_NO_TRACK || !a->first_ut.offsets) return track;
  return a->first_ut.offsets[event + 1] - a->first_ut.offsets[event] + track;
}

/* All of it is read before the first field is written, so that loads do not wait for each other. */
static SL_DEVICE void write_track(const struct merge_long_tracks_args *a, uint32_t event, uint32_t to,
                                  const struct merge_source *from) {
  const uint32_t velo_track = from->tracks->velo_track[from->track], ut_track = ut_track_of(a, event, from);
  const float qop = from->tracks->qop[from->track], x = from->tracks->x[from->track], y = from->tracks->y[from->track];
  const float tx = from->tracks->tx[from->track], ty = from->tracks->ty[from->track];
  a->merged.velo_track[to] = velo_track;
  a->merged.ut_track[to] = ut_track;
  a->merged.qop[to] = qop;
  a->merged.x[to] = x;
  a->merged.y[to] = y;
  a->merged.tx[to] = tx;
  a->merged.ty[to] = ty;
}

SL_KERNEL(merge_long_tracks_write, struct merge_long_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t to = a.merged.offsets[event], count = a.merged.offsets[event + 1] - to;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const struct merge_source from = source_of(&a, event, i);
      write_track(&a, event, to + i, &from);
      write_hits(&a, event, to + i, &from);
    }
  }
}

static int run(const struct sl_launch *l, const struct merge_long_tracks_args *a) {
  int error = SL_LAUNCH(l, merge_long_tracks_count, SL_THREAD_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->merged.offsets, &a->merged.bound);
  if (!error) error = SL_LAUNCH(l, merge_long_tracks_hits, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->merged.hit_offsets, a->merged.offsets, &a->merged.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, merge_long_tracks_write, SL_PER_EVENT, *a);
  return error;
}

SL_ALGORITHM(merge_long_tracks, "tracks of one search, then those of a second one", 64, run);
