/* forward.from_ut: extrapolates VELO-UT tracks to the end of the UT, the start of the search in the fibre tracker. x
 * follows the line through the UT, y the line of the VELO.
 *
 * One thread per track. Cost: reads 36 bytes per track and writes 28.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS from_ut_args
#define FROM_UT(M)                                                                                      \
  M(IN, tracks, ut_tracks, "offsets velo_track qop x tx", "VELO-UT tracks")                             \
  M(IN, end_states, track_states, "offsets y z ty", "states of all VELO tracks at the end of the VELO") \
  M(IN, forward, forward_constants, "constants", "z of the end of the UT")                              \
  M(OUT, inputs, forward_inputs, "the tracks at the end of the UT, in input order", SL_SHARES_OFFSETS(tracks))
SL_ARGUMENTS(from_ut, FROM_UT);

SL_KERNEL(from_ut_move, struct from_ut_args) {
  const float z = a.forward.constants[FORWARD_Z_UT];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.tracks.offsets[event], end = a.tracks.offsets[event + 1];
    for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) {
      const uint32_t state = a.end_states.offsets[event] + a.tracks.velo_track[i];
      a.inputs.velo_track[i] = a.tracks.velo_track[i];
      a.inputs.ut_track[i] = i - first;
      a.inputs.x[i] = a.tracks.x[i] + a.tracks.tx[i] * (z - UT_MIDDLE_Z);
      a.inputs.y[i] = a.end_states.y[state] + a.end_states.ty[state] * (z - a.end_states.z[state]);
      a.inputs.tx[i] = a.tracks.tx[i];
      a.inputs.ty[i] = a.end_states.ty[state];
      a.inputs.qop[i] = a.tracks.qop[i];
    }
  }
}

static int run(const struct sl_launch *l, const struct from_ut_args *a) {
  return SL_LAUNCH(l, from_ut_move, SL_PER_EVENT, *a);
}

SL_ALGORITHM(from_ut, "extrapolates VELO-UT tracks to the end of the UT", 64, run);
