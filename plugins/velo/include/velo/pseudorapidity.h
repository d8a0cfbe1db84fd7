/* pseudorapidity.h: compares the pseudorapidity of a track with a limit without computing asinh for each track.
 *
 * eta = asinh(1 / slope) for forward tracks and -asinh(1 / slope) for backward tracks, with slope = sqrt(tx^2 + ty^2).
 * Therefore 1 / slope is compared with sinh(limit), which is computed once per node.
 */
#ifndef VELO_PSEUDORAPIDITY_H
#define VELO_PSEUDORAPIDITY_H

#include <sluice/math.h>

/* 1 if eta >= limit. A NaN slope counts as eta = 0. */
SL_MATH_FUNCTION uint32_t velo_eta_at_least(float sinh_of_limit, float slope, uint32_t backward) {
  if (sinh_of_limit > 0.0f) return !backward && sinh_of_limit * slope <= 1.0f ? 1u : 0u;
  return backward && -sinh_of_limit * slope < 1.0f ? 0u : 1u;
}

#endif
