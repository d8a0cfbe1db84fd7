/* state.h: track state, for kernels and host code. */
#ifndef FORWARD_STATE_H
#define FORWARD_STATE_H

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

#endif
