/* beam.h: the point of a straight line that is nearest to the beam line. For kernels. */
#ifndef VELO_BEAM_H
#define VELO_BEAM_H

#include <sluice/kernel.h>

/* A track with a smaller tx^2 + ty^2 counts as parallel to the beam line and has no nearest point. */
#define VELO_PARALLEL 1e-12f

/* Distance in z from (x, y) on the line to the point nearest to the beam line in the transverse plane; 0 if parallel.
 */
static SL_DEVICE float velo_distance_to_beam(const float *beam, float x, float y, float tx, float ty) {
  const float slope2 = tx * tx + ty * ty, distance = (tx * (beam[0] - x) + ty * (beam[1] - y)) / slope2;
  return slope2 < VELO_PARALLEL ? 0.0f : distance;
}

#endif
