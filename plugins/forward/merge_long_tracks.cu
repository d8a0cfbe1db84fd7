/* forward.merge_long_tracks: merges the long tracks of two searches: for each event first the tracks found among all
 * hits, then the tracks found among the unused hits (forward.unused_hits), with hit indices converted to indices among
 * all hits. UT tracks of both searches must be merged by ut.merge_tracks.
 *
 * Cost: reads and writes 36 bytes per track and 6 per hit, reads 2 more per hit of the second search.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS merge_long_tracks_args
#define MERGE_LONG_TRACKS(M)                                                                     \
  M(IN, first, long_tracks, "", "tracks found among all hits")                                   \
  M(IN, second, long_tracks, "", "tracks found among the unused hits")                           \
  M(IN, hit_indices, scifi_hit_indices, "", "indices of the unused hits among all hits")         \
  M(OPTIONAL_IN, first_ut, ut_tracks, "offsets",                                                 \
    "UT tracks of the first search, which precede those of the second search")                   \
  M(OUT, merged, long_tracks, "tracks of the first search, then of the second search, by event", \
    SL_ITEMS(SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second))),                               \
    SL_SUBITEMS(SL_SUM(SL_SUBITEMS_TERM(first), SL_SUBITEMS_TERM(second))))                      \
  M(SCRATCH, sources, u64, "input item and event of each selected item",                         \
    SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second)))
SL_ARGUMENTS(merge_long_tracks, MERGE_LONG_TRACKS);

static SL_DEVICE const struct long_tracks_view *input_of(const struct merge_long_tracks_args *a, struct sl_item item) {
  return item.is_second ? &a->second : &a->first;
}

static SL_DEVICE uint32_t hit_count(const struct merge_long_tracks_args *a, struct sl_item item) {
  const uint32_t *hit_offsets = input_of(a, item)->hit_offsets;
  return hit_offsets[item.input_index + 1] - hit_offsets[item.input_index];
}

static SL_DEVICE uint32_t ut_track_of(const struct merge_long_tracks_args *a, struct sl_item item) {
  const uint32_t track = input_of(a, item)->ut_track[item.input_index];
  if (!item.is_second || track == FORWARD_NO_TRACK || !a->first_ut.offsets) return track;
  return a->first_ut.offsets[item.event + 1] - a->first_ut.offsets[item.event] + track;
}

static SL_DEVICE void write_track(const struct merge_long_tracks_args *a, struct sl_item item) {
  const struct long_tracks_view *tracks = input_of(a, item);
  a->merged.velo_track[item.output_index] = tracks->velo_track[item.input_index];
  a->merged.ut_track[item.output_index] = ut_track_of(a, item);
  a->merged.qop[item.output_index] = tracks->qop[item.input_index];
  a->merged.ghost[item.output_index] = tracks->ghost[item.input_index];
  a->merged.x[item.output_index] = tracks->x[item.input_index];
  a->merged.y[item.output_index] = tracks->y[item.input_index];
  a->merged.tx[item.output_index] = tracks->tx[item.input_index];
  a->merged.ty[item.output_index] = tracks->ty[item.input_index];
}

static SL_DEVICE void write_hit(const struct merge_long_tracks_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const struct long_tracks_view *tracks = input_of(a, item);
  const uint32_t at = tracks->hit_offsets[item.input_index] + h, hit = tracks->hit[at];
  a->merged.hit[to] = item.is_second ? a->hit_indices.index[a->hit_indices.offsets[item.event] + hit] : (uint16_t)hit;
  a->merged.hit_id[to] = tracks->hit_id[at];
}

SL_MERGE_WITH_SUBITEMS(merge_long_tracks, first, second, merged, merged.hit_offsets, 16, hit_count, write_track,
                       write_hit)

SL_ALGORITHM(merge_long_tracks, "merges the long tracks of two searches", 64, merge_long_tracks_run);
