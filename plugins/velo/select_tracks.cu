/* velo.select_tracks: those tracks, with their hits, that are all that is asked for. Only hits are looked at: a track's
 * direction and distances are those of the line from its first to its last hit.
 *
 * A thread a track decides; a block an event gives places to tracks; a scan over tracks, to hits; a thread a track
 * lists where its hits come from, and a thread a hit copies it, so that neighbours write side by side. There is room
 * for all tracks and hits of the input, so that nothing can overflow. Reads 36 bytes a track, and 20 a hit that is
 * selected.
 */
#include "beam.h"
#include "velo/event_model.h"
#include "velo/pseudorapidity.h"

#include <sluice/kernel.h>

enum { ANY, FORWARD, BACKWARD }; /* values of `direction` */

struct select_limits {
  float sinh_of_min_eta, sinh_of_max_eta;
};

#define SL_ARGS select_tracks_args
#define SELECT_TRACKS(M)                                                                               \
  M(IN, tracks, velo_tracks, "", "hits by descending z")                                               \
  M(IN, geometry, velo_geometry, "beam", "where the beam line is")                                     \
  M(OUT, selected, velo_tracks, "in the order of the tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(tracks))), \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(tracks))))                                                     \
  M(U32, min_hits, 1, 1, VELO_MAX_HITS_PER_TRACK, "", "least number of hits")                          \
  M(U32, max_hits, VELO_MAX_HITS_PER_TRACK, 1, VELO_MAX_HITS_PER_TRACK, "", "greatest number of hits") \
  M(ENUM, direction, "any", "backward tracks are upstream of where they are nearest to the beam line", \
    "any forward backward")                                                                            \
  M(F32, min_eta, -100.0, -100.0, 100.0, "",                                                           \
    "pseudorapidity, of backward tracks negative, from this on; -100: no limit")                       \
  M(F32, max_eta, 100.0, -100.0, 100.0, "", "below this; 100: no limit")                               \
  M(F32, min_z, -1e6, -1e6, 1e6, "mm", "where it is nearest to the beam line: from this on")           \
  M(F32, max_z, 1e6, -1e6, 1e6, "mm", "the same: up to this")                                          \
  M(F32, max_distance, 1e6, 0.0, 1e6, "mm", "how far it is from the beam line there: up to this")      \
  M(SCRATCH, wanted, u8, "1 for tracks that are selected", SL_ONE(SL_ITEMS_TERM(tracks)))              \
  M(SCRATCH, track_from, u32, "which track each selected one is", SL_ONE(SL_ITEMS_TERM(tracks)))       \
  M(SCRATCH, hit_from, u32, "the same of hits", SL_ONE(SL_SUBITEMS_TERM(tracks)))                      \
  M(COMPUTED, limits, struct select_limits, "of pseudorapidity, to compare slopes with")
SL_ARGUMENTS(select_tracks, SELECT_TRACKS);

static int check(const struct sl_services *s, const void *args) {
  const struct select_tracks_args *a = (const struct select_tracks_args *)args;
  const char *empty = a->min_hits > a->max_hits ? "hits" : a->min_eta >= a->max_eta ? "eta" : NULL;
  if (!empty && a->min_z > a->max_z) empty = "z";
  if (empty) s->message(s->context, SL_ERROR, "min_%s: no track can have that and max_%s too", empty, empty);
  return empty ? SL_EINVAL : SL_OK;
}

static int prepare(const struct sl_services *s, void *args) {
  struct select_tracks_args *a = (struct select_tracks_args *)args;
  (void)s;
  a->limits.sinh_of_min_eta = sl_sinhf(a->min_eta);
  a->limits.sinh_of_max_eta = sl_sinhf(a->max_eta);
  return SL_OK;
}

/* The line from the first to the last hit, as velo.kalman_filter begins with it. */
static SL_DEVICE uint32_t is_line_wanted(const struct select_tracks_args *a, uint32_t first, uint32_t last) {
  const float x = a->tracks.hit_x[last], y = a->tracks.hit_y[last], z = a->tracks.hit_z[last];
  const float dx = x - a->tracks.hit_x[first], dy = y - a->tracks.hit_y[first], dz = z - a->tracks.hit_z[first];
  const float tx = dz == 0.0f ? 0.0f : dx / dz, ty = dz == 0.0f ? 0.0f : dy / dz;
  const float slope = sqrtf(tx * tx + ty * ty);
  const float to_beam = velo_distance_to_beam(a->geometry.beam, x, y, tx, ty), nearest_z = z + to_beam;
  const float from_x = x + to_beam * tx - a->geometry.beam[0], from_y = y + to_beam * ty - a->geometry.beam[1];
  const uint32_t backward = nearest_z > a->tracks.hit_z[first] ? 1u : 0u;
  return a->direction != (backward ? FORWARD : BACKWARD) && nearest_z >= a->min_z && nearest_z <= a->max_z &&
         sqrtf(from_x * from_x + from_y * from_y) <= a->max_distance &&
         velo_eta_reaches(a->limits.sinh_of_min_eta, slope, backward) &&
         !velo_eta_reaches(a->limits.sinh_of_max_eta, slope, backward);
}

SL_KERNEL(select_tracks_decide, struct select_tracks_args) {
  SL_FOR_ITEMS (track, a.events, a.tracks.offsets) {
    const uint32_t first = a.tracks.hit_offsets[track], end = a.tracks.hit_offsets[track + 1];
    a.wanted[track] = end - first >= a.min_hits && end - first <= a.max_hits && is_line_wanted(&a, first, end - 1);
  }
}

SL_KERNEL(select_tracks_count, struct select_tracks_args) {
  SL_FOR_EVENTS (event, a.events) SL_COUNT_WANTED(i, event, a.tracks.offsets, a.selected.offsets, a.wanted[i]);
}

/* Tracks have their places in the event; their numbers of hits wait to be summed. */
SL_KERNEL(select_tracks_place, struct select_tracks_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (from, track, event, a.tracks.offsets, a.selected.offsets, a.wanted[from]) {
      a.track_from[track] = from;
      a.selected.hit_offsets[track] = a.tracks.hit_offsets[from + 1] - a.tracks.hit_offsets[from];
    }
}

SL_KERNEL(select_tracks_list_hits, struct select_tracks_args) {
  SL_FOR_ITEMS (track, a.events, a.selected.offsets) {
    const uint32_t to = a.selected.hit_offsets[track], count = a.selected.hit_offsets[track + 1] - to;
    const uint32_t from = a.tracks.hit_offsets[a.track_from[track]];
    for (uint32_t i = 0; i < count; i++) a.hit_from[to + i] = from + i;
  }
}

SL_KERNEL(select_tracks_copy_hits, struct select_tracks_args) {
  SL_FOR_SUBITEMS (hit, a.events, a.selected.offsets, a.selected.hit_offsets) {
    const uint32_t from = a.hit_from[hit];
    a.selected.hit_id[hit] = a.tracks.hit_id[from];
    a.selected.hit_x[hit] = a.tracks.hit_x[from];
    a.selected.hit_y[hit] = a.tracks.hit_y[from];
    a.selected.hit_z[hit] = a.tracks.hit_z[from];
  }
}

static int run(const struct sl_launch *l, const struct select_tracks_args *a) {
  int error = SL_LAUNCH(l, select_tracks_decide, SL_PER_ITEM(a->tracks), *a);
  if (!error) error = SL_LAUNCH(l, select_tracks_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->selected.offsets, &a->selected.bound);
  if (!error) error = SL_LAUNCH(l, select_tracks_place, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->selected.hit_offsets, a->selected.offsets, &a->selected.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, select_tracks_list_hits, SL_PER_ITEM(a->selected), *a);
  if (!error) error = SL_LAUNCH(l, select_tracks_copy_hits, SL_PER_SUBITEM(a->selected, hit_offsets), *a);
  return error;
}

SL_ALGORITHM(select_tracks, "VELO tracks by hits, direction, pseudorapidity and distance to the beam line", 128, run,
             SL_CHECK(check), SL_PREPARE(prepare));
