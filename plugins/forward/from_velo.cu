/* forward.from_velo: extrapolates selected VELO tracks to the end of the UT, the start of the search in the fibre
 * tracker: as straight lines, with unknown momentum.
 *
 * One thread per track. Cost: reads 24 bytes per track and writes 28.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS from_velo_args
#define FROM_VELO(M)                                                                                         \
  M(IN, selected, ut_selected_tracks, "", "VELO tracks to extrapolate")                                      \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO") \
  M(IN, forward, forward_constants, "constants", "z of the end of the UT")                                   \
  M(OUT, inputs, forward_inputs, "the tracks at the end of the UT, in input order", SL_SHARES_OFFSETS(selected))
SL_ARGUMENTS(from_velo, FROM_VELO);

SL_KERNEL(from_velo_move, struct from_velo_args) {
  const float z = a.forward.constants[FORWARD_Z_UT];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.selected.offsets[event + 1];
    for (uint32_t i = a.selected.offsets[event] + threadIdx.x; i < end; i += blockDim.x) {
      const uint32_t state = a.end_states.offsets[event] + a.selected.track[i];
      const float dz = z - a.end_states.z[state];
      a.inputs.velo_track[i] = a.selected.track[i];
      a.inputs.ut_track[i] = FORWARD_NO_TRACK;
      a.inputs.x[i] = a.end_states.x[state] + a.end_states.tx[state] * dz;
      a.inputs.y[i] = a.end_states.y[state] + a.end_states.ty[state] * dz;
      a.inputs.tx[i] = a.end_states.tx[state];
      a.inputs.ty[i] = a.end_states.ty[state];
      a.inputs.qop[i] = 0.0f;
    }
  }
}

static int run(const struct sl_launch *l, const struct from_velo_args *a) {
  return SL_LAUNCH(l, from_velo_move, SL_PER_EVENT, *a);
}

SL_ALGORITHM(from_velo, "extrapolates selected VELO tracks to the end of the UT", 64, run);
