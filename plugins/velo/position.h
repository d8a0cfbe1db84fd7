/* position.h: from a place on a sensor to what a hit is made of: global position, azimuth, LHCbID.
 * README.md has the formulas ("The detector", "Azimuth and order"). Everything is float32, grouped from left to right,
 * so that all targets and all versions of a kernel get the same bits.
 */
#ifndef VELO_POSITION_H
#define VELO_POSITION_H

#include "velo/event_model.h"

#include <sluice/kernel.h>
#include <sluice/math.h>

/* Pixels are squares of this side, in mm, but for the elongated ones beside the chips' borders. */
#define VELO_PIXEL_PITCH 0.055f

struct velo_point {
  float x, y, z;
};

/* `t` is the sensor's transform: 12 values. Local z is 0, so that the third column has no part. */
static SL_DEVICE struct velo_point velo_global(const float *t, float local_x, float local_y) {
  struct velo_point point;
  point.x = t[0] * local_x + t[1] * local_y + t[9];
  point.y = t[3] * local_x + t[4] * local_y + t[10];
  point.z = t[6] * local_x + t[7] * local_y + t[11];
  return point;
}

/* Azimuth in units of pi/32768, in the diamond metric: first-order, monotone, exact at multiples of pi/4, one division.
 * x and y are finite, as geometry.c sees to. The product with 8192 is exact. pi itself wraps to -32768; the point 0, 0
 * has the azimuth 0. */
static SL_DEVICE int16_t velo_phi(float x, float y) {
  const float abs_x = sl_abs_f32(x), abs_y = sl_abs_f32(y), sum = abs_x + abs_y;
  const float part = 8192.0f * ((abs_x - abs_y) / sum); /* not a number for 0, 0 */
  const float upper = x > 0.0f ? 8192.0f - part : 24576.0f + part;
  const float phi = y < 0.0f ? -upper : upper;
  /* At most 32768; and 0 for what is not a number, so that the conversion is defined on every target. */
  return (int16_t)(uint16_t)(int32_t)(phi <= 32768.0f ? phi : 0.0f);
}

/* `column` runs over the sensor's three chips: 256 columns each, so that it holds the chip's number too. */
static SL_DEVICE uint32_t velo_id(uint32_t sensor, uint32_t column, uint32_t row) {
  return 2u << 28 | sensor << 18 | column << 8 | row;
}

#endif
