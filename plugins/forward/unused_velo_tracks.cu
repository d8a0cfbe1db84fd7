/* forward.unused_velo_tracks: of selected VELO tracks those that are in no long track.
 *
 * A thread a VELO track looks through the event's long tracks, twice: these are few. Reads 4 bytes of each.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS unused_velo_tracks_args
#define UNUSED_VELO_TRACKS(M)                                               \
  M(IN, selected, ut_selected_tracks, "", "VELO tracks")                    \
  M(IN, tracks, long_tracks, "offsets velo_track", "what has a VELO track") \
  M(OUT, unused, ut_selected_tracks, "in the same order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(selected))))
SL_ARGUMENTS(unused_velo_tracks, UNUSED_VELO_TRACKS);

static SL_DEVICE uint32_t is_unused(const struct unused_velo_tracks_args *a, uint32_t event, uint32_t i) {
  const uint32_t track = a->selected.track[i], end = a->tracks.offsets[event + 1];
  uint32_t used = 0;
  for (uint32_t k = a->tracks.offsets[event]; k < end; k++) used |= a->tracks.velo_track[k] == track ? 1u : 0u;
  return used == 0;
}

SL_KERNEL(unused_velo_tracks_count, struct unused_velo_tracks_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_COUNT_WANTED(i, event, a.selected.offsets, a.unused.offsets, is_unused(&a, event, i));
}

SL_KERNEL(unused_velo_tracks_write, struct unused_velo_tracks_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (i, place, event, a.selected.offsets, a.unused.offsets, is_unused(&a, event, i))
      a.unused.track[place] = a.selected.track[i];
}

static int run(const struct sl_launch *l, const struct unused_velo_tracks_args *a) {
  return SL_COUNT_SCAN_WRITE(l, unused_velo_tracks_count, unused_velo_tracks_write, a->unused, *a);
}

SL_ALGORITHM(unused_velo_tracks, "selected VELO tracks that are in no long track", 128, run);
