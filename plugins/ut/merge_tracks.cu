/* ut.merge_tracks: concatenates the tracks of two UT searches, event by event.
 * Cost: reads and writes 20 bytes per track and 18 per hit.
 */
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS merge_tracks_args
#define MERGE_TRACKS(M)                                                                                \
  M(IN, first, ut_tracks, "", "tracks of the first search")                                            \
  M(IN, second, ut_tracks, "", "tracks of the second search")                                          \
  M(OUT, merged, ut_tracks, "tracks of the first search, then tracks of the second search, per event", \
    SL_ITEMS(SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second))),                                     \
    SL_SUBITEMS(SL_SUM(SL_SUBITEMS_TERM(first), SL_SUBITEMS_TERM(second))))                            \
  M(SCRATCH, sources, u64, "input item and event of each selected item",                               \
    SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second)))
SL_ARGUMENTS(merge_tracks, MERGE_TRACKS);

static SL_DEVICE const struct ut_tracks_view *input_of(const struct merge_tracks_args *a, struct sl_item item) {
  return item.is_second ? &a->second : &a->first;
}

static SL_DEVICE uint32_t hit_count(const struct merge_tracks_args *a, struct sl_item item) {
  const uint32_t *hit_offsets = input_of(a, item)->hit_offsets;
  return hit_offsets[item.input_index + 1] - hit_offsets[item.input_index];
}

static SL_DEVICE void write_track(const struct merge_tracks_args *a, struct sl_item item) {
  const struct ut_tracks_view *tracks = input_of(a, item);
  a->merged.velo_track[item.output_index] = tracks->velo_track[item.input_index];
  a->merged.qop[item.output_index] = tracks->qop[item.input_index];
  a->merged.x[item.output_index] = tracks->x[item.input_index];
  a->merged.tx[item.output_index] = tracks->tx[item.input_index];
}

static SL_DEVICE void write_hit(const struct merge_tracks_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const struct ut_tracks_view *tracks = input_of(a, item);
  const uint32_t hit = tracks->hit_offsets[item.input_index] + h;
  a->merged.hit_id[to] = tracks->hit_id[hit];
  a->merged.hit_x[to] = tracks->hit_x[hit];
  a->merged.hit_y[to] = tracks->hit_y[hit];
  a->merged.hit_z[to] = tracks->hit_z[hit];
  a->merged.hit_sector[to] = tracks->hit_sector[hit];
}

SL_MERGE_WITH_SUBITEMS(merge_tracks, first, second, merged, merged.hit_offsets, 4, hit_count, write_track, write_hit)

SL_ALGORITHM(merge_tracks, "UT tracks of two searches in one collection", 64, merge_tracks_run);
