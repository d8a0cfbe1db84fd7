/* state.h: track state, for kernels and host code. */
#ifndef FORWARD_STATE_H
#define FORWARD_STATE_H

#include "forward/event_model.h"
#include "velo/event_model.h"

#include <sluice/math.h>

/* Position and slopes. */
struct forward_state {
  float x, y, z, tx, ty;
};

/* State of VELO track `i` of the slice. */
SL_MATH_FUNCTION struct forward_state forward_velo_state(const struct track_states_view *states, uint32_t i) {
  struct forward_state s;
  s.x = states->x[i];
  s.y = states->y[i];
  s.z = states->z[i];
  s.tx = states->tx[i];
  s.ty = states->ty[i];
  return s;
}

/* State of best candidate `i` of the slice at FORWARD_Z_REFERENCE, but y of its line at z = 0, as forward_qop takes it.
 */
SL_MATH_FUNCTION struct forward_state forward_scifi_state(const struct forward_best_candidates_view *best,
                                                          const struct forward_constants_view *forward, uint32_t i) {
  struct forward_state s;
  s.x = best->c[i];
  s.y = best->y[i];
  s.z = forward->constants[FORWARD_Z_REFERENCE];
  s.tx = best->b[i];
  s.ty = best->ty[i];
  return s;
}

#endif
