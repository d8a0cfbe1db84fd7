/* forward.unused_velo_tracks: lists the selected VELO tracks that no long track uses.
 *
 * One thread per VELO track compares it with all long tracks of the event, twice. Cost: reads 4 bytes per comparison.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS unused_velo_tracks_args
#define UNUSED_VELO_TRACKS(M)                                                            \
  M(IN, selected, ut_selected_tracks, "", "selected VELO tracks")                        \
  M(IN, tracks, long_tracks, "offsets velo_track", "long tracks, which use VELO tracks") \
  M(OUT, unused, ut_selected_tracks, "unused VELO tracks, in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(selected))))
SL_ARGUMENTS(unused_velo_tracks, UNUSED_VELO_TRACKS);

static SL_DEVICE uint32_t is_unused(const struct unused_velo_tracks_args *a, struct sl_item item) {
  const uint32_t track = a->selected.track[item.input_index], end = a->tracks.offsets[item.event + 1];
  uint32_t used = 0;
  for (uint32_t k = a->tracks.offsets[item.event]; k < end; k++) used |= a->tracks.velo_track[k] == track ? 1u : 0u;
  return used == 0;
}

static SL_DEVICE void write_track(const struct unused_velo_tracks_args *a, struct sl_item item) {
  a->unused.track[item.output_index] = a->selected.track[item.input_index];
}

SL_SELECT_ITEMS(unused_velo_tracks, selected, unused, is_unused, write_track)

SL_ALGORITHM(unused_velo_tracks, "lists the selected VELO tracks that no long track uses", 128, unused_velo_tracks_run);
