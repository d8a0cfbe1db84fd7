/* slopes.h: slopes dx/dz and dy/dz of a direction; near the transverse plane they are limited to 1000. */
#ifndef TRUTH_SLOPES_H
#define TRUTH_SLOPES_H

#include <sluice/math.h>

SL_MATH_FUNCTION void truth_slopes(float eta, float phi, float *tx, float *ty) {
  const float size = eta < 0 ? -eta : eta;
  const float sinh = 0.5f * (sl_expf(size < 20 ? size : 20) - sl_expf(size < 20 ? -size : -20));
  const float transverse = 1 / (sinh > 1e-3f ? sinh : 1e-3f);
  float sin_phi, cos_phi;
  sl_sincosf(phi, &sin_phi, &cos_phi);
  *tx = (eta < 0 ? -transverse : transverse) * cos_phi;
  *ty = (eta < 0 ? -transverse : transverse) * sin_phi;
}

#endif
