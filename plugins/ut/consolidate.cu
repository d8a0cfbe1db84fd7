/* ut.consolidate: copies the selected VELO tracks for which UT hits were found, with these hits, in input order.
 * The output has room for four hits per candidate and cannot overflow.
 * Cost: reads 21 bytes per candidate; writes 20 per track and 18 per hit.
 */
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                                   \
  M(IN, selected, ut_selected_tracks, "", "VELO track of each candidate")                                \
  M(IN, candidates, ut_track_candidates, "hit_count hits qop x tx", "UT track candidates of the search") \
  M(IN, hits, ut_hits, "offsets id x y z sector", "hits of the search")                                  \
  M(OUT, tracks, ut_tracks, "tracks with UT hits, in the order of the VELO tracks",                      \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(selected))),                                                           \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(selected, UT_TRACK_HITS_MAX, 1, 0))))                             \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(selected)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

static SL_DEVICE uint32_t hit_count(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t count = a->candidates.hit_count[item.input_index];
  return count > 0 ? count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct consolidate_args *a, struct sl_item item) {
  a->tracks.velo_track[item.output_index] = a->selected.track[item.input_index];
  a->tracks.qop[item.output_index] = a->candidates.qop[item.input_index];
  a->tracks.x[item.output_index] = a->candidates.x[item.input_index];
  a->tracks.tx[item.output_index] = a->candidates.tx[item.input_index];
}

static SL_DEVICE void write_hit(const struct consolidate_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t hit =
      a->hits.offsets[item.event] + a->candidates.hits[UT_TRACK_HITS_MAX * (size_t)item.input_index + h];
  a->tracks.hit_id[to] = a->hits.id[hit];
  a->tracks.hit_x[to] = a->hits.x[hit];
  a->tracks.hit_y[to] = a->hits.y[hit];
  a->tracks.hit_z[to] = a->hits.z[hit];
  a->tracks.hit_sector[to] = a->hits.sector[hit];
}

SL_SELECT_WITH_SUBITEMS(consolidate, selected, tracks, tracks.hit_offsets, 4, hit_count, write_track, write_hit)

SL_ALGORITHM(consolidate, "VELO tracks with their hits in the UT", 128, consolidate_run);
