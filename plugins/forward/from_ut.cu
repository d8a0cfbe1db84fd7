/* forward.from_ut: VELO-UT tracks where the UT ends, from where they are looked for in the fibre tracker. In x
 * they are the line through the UT, in y that of the VELO.
 *
 * A thread a track. Reads 36 bytes a track and writes 28.
 */
#include "forward/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS from_ut_args
#define FROM_UT(M)                                                               \
  M(IN, tracks, ut_tracks, "offsets velo_track qop x tx", "through VELO and UT") \
  M(IN, end_states, track_states, "offsets y z ty", "of all VELO tracks")        \
  M(IN, forward, forward_constants, "constants", "where the UT ends")            \
  M(OUT, inputs, forward_inputs, "all of them", SL_SHARES_OFFSETS(tracks))
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

SL_ALGORITHM(from_ut, "VELO-UT tracks where the UT ends", 64, run);
