/* near_tracks.cu: selects VELO tracks with a last hit near the z axis, with their hits.
 *
 * The macro at the end makes the kernels that count, sum and write; the three functions state what belongs to this
 * algorithm. There is room for all tracks and hits of the input, so that nothing can overflow. Reads 16 bytes a track
 * and 16 a selected hit.
 */
#include <sluice/kernel.h>

#include <velo/event_model.h>

#define SL_ARGS near_tracks_args
#define NEAR_TRACKS(M)                                                                                             \
  M(IN, tracks, velo_tracks, "", "hits by descending z")                                                           \
  M(OUT, selected, velo_tracks, "tracks near the z axis, in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(tracks))), \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(tracks))))                                                                 \
  M(F32, max_radius, 10.0, 0.0, 100.0, "mm", "largest distance of a track's last hit from the z axis")             \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(near_tracks, NEAR_TRACKS);

/* The number of hits of a track, or SL_NOT_SELECTED. */
static SL_DEVICE uint32_t hit_count(const struct near_tracks_args *a, struct sl_item item) {
  const uint32_t first = a->tracks.hit_offsets[item.input_index], end = a->tracks.hit_offsets[item.input_index + 1];
  const float x = a->tracks.hit_x[end - 1], y = a->tracks.hit_y[end - 1];
  return x * x + y * y <= a->max_radius * a->max_radius ? end - first : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct near_tracks_args *a, struct sl_item item) {
  (void)a, (void)item; /* a VELO track has no fields beside those of its hits */
}

/* Hit h of the track goes to index `to`. */
static SL_DEVICE void write_hit(const struct near_tracks_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t from = a->tracks.hit_offsets[item.input_index] + h;
  a->selected.hit_id[to] = a->tracks.hit_id[from];
  a->selected.hit_x[to] = a->tracks.hit_x[from];
  a->selected.hit_y[to] = a->tracks.hit_y[from];
  a->selected.hit_z[to] = a->tracks.hit_z[from];
}

SL_SELECT_WITH_SUBITEMS(near_tracks, tracks, selected, selected.hit_offsets, 8, hit_count, write_track, write_hit)

SL_ALGORITHM(near_tracks, "VELO tracks near the z axis, with their hits", 64, near_tracks_run);
