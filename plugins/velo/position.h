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

/* What a hit is made of. */
struct velo_place {
  uint32_t id, order; /* order: after phi and id, the third key of the sort */
  float x, y, z;
  int16_t phi;
};

/* Four values of a transform, in one load. */
struct velo_four {
  float v[4];
} __attribute__((aligned(16), may_alias));

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

/* `transform` is the sensor's: 12 values. Local z is 0, so that the third column has no part. */
static SL_DEVICE struct velo_place velo_place_of(const float *transform, float local_x, float local_y, uint32_t id,
                                                 uint32_t order) {
  const struct velo_four *t = (const struct velo_four *)transform;
  const struct velo_four t0 = t[0], t4 = t[1], t8 = t[2];
  struct velo_place place;
  place.id = id;
  place.order = order;
  place.x = t0.v[0] * local_x + t0.v[1] * local_y + t8.v[1];
  place.y = t0.v[3] * local_x + t4.v[0] * local_y + t8.v[2];
  place.z = t4.v[2] * local_x + t4.v[3] * local_y + t8.v[3];
  place.phi = velo_phi(place.x, place.y);
  return place;
}

/* `column` runs over the sensor's three chips: 256 columns each, so that it holds the chip's number too. */
static SL_DEVICE uint32_t velo_id(uint32_t sensor, uint32_t column, uint32_t row) {
  return 2u << 28 | sensor << 18 | column << 8 | row;
}

#endif
