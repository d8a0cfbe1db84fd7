/* pseudorapidity.h: on which side of a limit a track's pseudorapidity is, without a function of its own for each track.
 *
 * That of a forward track is asinh(1 / slope), of a backward one the opposite, where slope = sqrt(tx^2 + ty^2). So it
 * is compared by the slope, with the sinh of the limit, computed once for each node: 1 / slope at the limit.
 */
#ifndef VELO_PSEUDORAPIDITY_H
#define VELO_PSEUDORAPIDITY_H

#include <sluice/math.h>

/* Is it the limit or more? One that is not a number is taken for 0. */
SL_MATH_FUNCTION uint32_t velo_eta_reaches(float sinh_of_limit, float slope, uint32_t backward) {
  if (sinh_of_limit > 0.0f) return !backward && sinh_of_limit * slope <= 1.0f ? 1u : 0u;
  return backward && -sinh_of_limit * slope < 1.0f ? 0u : 1u;
}

#endif
