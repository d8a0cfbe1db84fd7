/* velo.select_tracks: selects tracks that meet all requirements, and copies them with their hits, in input order.
 * Direction and distances are computed from the line through the first and the last hit.
 *
 * The output has room for all tracks and hits of the input and cannot overflow. Cost: reads 32 bytes per track, twice,
 * and 16 per selected hit; writes 4 per selected track and 16 per hit.
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
#define SELECT_TRACKS(M)                                                                                    \
  M(IN, tracks, velo_tracks, "", "VELO tracks with hits by descending z")                                   \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                       \
  M(OUT, selected, velo_tracks, "selected tracks, in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(tracks))), \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(tracks))))                                                          \
  M(U32, min_hits, 1, 1, VELO_MAX_HITS_PER_TRACK, "", "minimum number of hits")                             \
  M(U32, max_hits, VELO_MAX_HITS_PER_TRACK, 1, VELO_MAX_HITS_PER_TRACK, "", "maximum number of hits")       \
  M(ENUM, direction, "any",                                                                                 \
    "direction of the tracks; a backward track lies upstream of its point nearest to the beam line",        \
    "any forward backward")                                                                                 \
  M(F32, min_eta, -100.0, -100.0, 100.0, "",                                                                \
    "lower limit of the pseudorapidity, which is negative for backward tracks; -100: no limit")             \
  M(F32, max_eta, 100.0, -100.0, 100.0, "", "upper limit (exclusive) of the pseudorapidity; 100: no limit") \
  M(F32, min_z, -1e6, -1e6, 1e6, "mm", "lower limit of z at the point nearest to the beam line")            \
  M(F32, max_z, 1e6, -1e6, 1e6, "mm", "upper limit of z at the point nearest to the beam line")             \
  M(F32, max_distance, 1e6, 0.0, 1e6, "mm", "largest distance between track and beam line")                 \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(tracks)))     \
  M(COMPUTED, limits, struct select_limits, "sinh of min_eta and max_eta, to compare slopes with")
SL_ARGUMENTS(select_tracks, SELECT_TRACKS);

static int check(const struct sl_services *s, const void *args) {
  const struct select_tracks_args *a = (const struct select_tracks_args *)args;
  const char *empty = a->min_hits > a->max_hits ? "hits" : a->min_eta >= a->max_eta ? "eta" : NULL;
  if (!empty && a->min_z > a->max_z) empty = "z";
  if (empty) s->message(s->context, SL_ERROR, "no track can satisfy both min_%s and max_%s", empty, empty);
  return empty ? SL_EINVAL : SL_OK;
}

static int prepare(const struct sl_services *s, void *args) {
  struct select_tracks_args *a = (struct select_tracks_args *)args;
  (void)s;
  a->limits.sinh_of_min_eta = sl_sinhf(a->min_eta);
  a->limits.sinh_of_max_eta = sl_sinhf(a->max_eta);
  return SL_OK;
}

/* 1 if the line from the first to the last hit meets the requirements. velo.kalman_filter starts from this line, too.
 */
static SL_DEVICE uint32_t is_line_selected(const struct select_tracks_args *a, uint32_t first, uint32_t last) {
  const float x = a->tracks.hit_x[last], y = a->tracks.hit_y[last], z = a->tracks.hit_z[last];
  const float dx = x - a->tracks.hit_x[first], dy = y - a->tracks.hit_y[first], dz = z - a->tracks.hit_z[first];
  const float tx = dz == 0.0f ? 0.0f : dx / dz, ty = dz == 0.0f ? 0.0f : dy / dz;
  const float slope = sqrtf(tx * tx + ty * ty);
  const float to_beam = velo_distance_to_beam(a->geometry.beam, x, y, tx, ty), nearest_z = z + to_beam;
  const float from_x = x + to_beam * tx - a->geometry.beam[0], from_y = y + to_beam * ty - a->geometry.beam[1];
  const uint32_t backward = nearest_z > a->tracks.hit_z[first] ? 1u : 0u;
  return a->direction != (backward ? FORWARD : BACKWARD) && nearest_z >= a->min_z && nearest_z <= a->max_z &&
         sqrtf(from_x * from_x + from_y * from_y) <= a->max_distance &&
         velo_eta_at_least(a->limits.sinh_of_min_eta, slope, backward) &&
         !velo_eta_at_least(a->limits.sinh_of_max_eta, slope, backward);
}

static SL_DEVICE uint32_t hit_count(const struct select_tracks_args *a, struct sl_item item) {
  const uint32_t first = a->tracks.hit_offsets[item.input_index],
                 count = a->tracks.hit_offsets[item.input_index + 1] - first;
  const uint32_t is_selected =
      count >= a->min_hits && count <= a->max_hits && is_line_selected(a, first, first + count - 1);
  return is_selected ? count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct select_tracks_args *a, struct sl_item item) {
  (void)a, (void)item; /* a track has no fields besides its hits */
}

static SL_DEVICE void write_hit(const struct select_tracks_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t hit = a->tracks.hit_offsets[item.input_index] + h;
  a->selected.hit_id[to] = a->tracks.hit_id[hit];
  a->selected.hit_x[to] = a->tracks.hit_x[hit];
  a->selected.hit_y[to] = a->tracks.hit_y[hit];
  a->selected.hit_z[to] = a->tracks.hit_z[hit];
}

SL_SELECT_WITH_SUBITEMS(select_tracks, tracks, selected, selected.hit_offsets, 8, hit_count, write_track, write_hit)

SL_ALGORITHM(select_tracks, "VELO tracks by hits, direction, pseudorapidity and distance to the beam line", 128,
             select_tracks_run, SL_CHECK(check), SL_PREPARE(prepare));
