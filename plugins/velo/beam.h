/* beam.h: where a straight line is nearest to the beam line. For kernels. */
#ifndef VELO_BEAM_H
#define VELO_BEAM_H

#include <sluice/kernel.h>

/* Below this tx^2 + ty^2 a track is parallel to the beam line, which then has no nearest point. */
#define VELO_PARALLEL 1e-12f

/* Distance in z from the point to where the line is nearest to the beam line, in the transverse plane. */
static SL_DEVICE float velo_distance_to_beam(const float *beam, float x, float y, float tx, float ty) {
  const float slope2 = tx * tx + ty * ty, distance = (tx * (beam[0] - x) + ty * (beam[1] - y)) / slope2;
  return slope2 < VELO_PARALLEL ? 0.0f : distance;
}

#endif
