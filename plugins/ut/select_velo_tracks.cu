/* ut.select_velo_tracks: selects forward VELO tracks that may pass the UT: extrapolated from the beam line, they are
 * outside the hole around the beam at the middle of the UT and not too steep.
 * Parallelism: one thread per track. Determinism: output in input order. Cost: reads 21 bytes per track, twice.
 */
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS select_velo_tracks_args
#define SELECT_VELO_TRACKS(M)                                                                                          \
  M(IN, beamline_states, track_states, "offsets x y z tx ty backward", "states of all VELO tracks at the beam line")   \
  M(OUT, selected, ut_selected_tracks, "selected VELO tracks, in input order",                                         \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(beamline_states))))                                                                  \
  M(F32, hole_radius, 33.0, 0.0, 1000.0, "mm", "smallest distance of a track from the z axis at the middle of the UT") \
  M(F32, max_tx, 0.35, 0.0, 10.0, "", "largest slope |dx/dz| of a track")                                              \
  M(F32, max_ty, 0.3, 0.0, 10.0, "", "largest slope |dy/dz| of a track")
SL_ARGUMENTS(select_velo_tracks, SELECT_VELO_TRACKS);

static SL_DEVICE uint32_t is_selected(const struct select_velo_tracks_args *a, struct sl_item item) {
  const uint32_t i = item.input_index;
  const float tx = a->beamline_states.tx[i], ty = a->beamline_states.ty[i], dz = UT_MIDDLE_Z - a->beamline_states.z[i];
  const float x = a->beamline_states.x[i] + tx * dz, y = a->beamline_states.y[i] + ty * dz;
  return a->beamline_states.backward[i] == 0 && x * x + y * y >= a->hole_radius * a->hole_radius &&
                 sl_abs_f32(tx) <= a->max_tx && sl_abs_f32(ty) <= a->max_ty
             ? 1u
             : 0u;
}

static SL_DEVICE void write_track(const struct select_velo_tracks_args *a, struct sl_item item) {
  a->selected.track[item.output_index] = item.input_index - a->beamline_states.offsets[item.event];
}

SL_SELECT_ITEMS(select_velo_tracks, beamline_states, selected, is_selected, write_track)

SL_ALGORITHM(select_velo_tracks, "VELO tracks that may have hits in the UT", 128, select_velo_tracks_run);
