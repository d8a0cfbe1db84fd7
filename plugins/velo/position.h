/* position.h: makes a hit (global position, azimuth, LHCbID) from a local position on a sensor.
 * Formulas: README.md, "The detector" and "Azimuth and order". Everything is float32 and evaluated from left to right,
 * so that all targets and all versions of a kernel give identical bits.
 */
#ifndef VELO_POSITION_H
#define VELO_POSITION_H

#include "velo/event_model.h"

#include <sluice/kernel.h>
#include <sluice/math.h>

/* Side of a pixel in mm. Pixels next to a border between chips are wider in x. */
#define VELO_PIXEL_PITCH 0.055f

struct velo_hit {
  uint32_t id, order; /* order: third key of the sort, after phi and id */
  float x, y, z;
  int16_t phi;
};

/* Four values of a transform, for one load. */
struct velo_four {
  float v[4];
} __attribute__((aligned(16), may_alias));

/* Azimuth in units of pi/32768, in the diamond metric: monotone in the true angle, exact at multiples of pi/4, one
 * division. x and y are finite (checked in geometry.c). The product with 8192 is exact. pi wraps to -32768; the azimuth
 * of (0, 0) is 0. */
static SL_DEVICE int16_t velo_phi(float x, float y) {
  const float abs_x = sl_abs_f32(x), abs_y = sl_abs_f32(y), sum = abs_x + abs_y;
  const float part = 8192.0f * ((abs_x - abs_y) / sum); /* NaN at (0, 0) */
  const float upper = x > 0.0f ? 8192.0f - part : 24576.0f + part;
  const float phi = y < 0.0f ? -upper : upper;
  /* At most 32768, and 0 instead of NaN, so that the conversion is defined on every target. */
  return (int16_t)(uint16_t)(int32_t)(phi <= 32768.0f ? phi : 0.0f);
}

/* `transform`: the 12 values of the sensor. The third column of the rotation is not needed, because local z is 0. */
static SL_DEVICE struct velo_hit velo_make_hit(const float *transform, float local_x, float local_y, uint32_t id,
                                               uint32_t order) {
  const struct velo_four *t = (const struct velo_four *)transform;
  const struct velo_four t0 = t[0], t4 = t[1], t8 = t[2];
  struct velo_hit hit;
  hit.id = id;
  hit.order = order;
  hit.x = t0.v[0] * local_x + t0.v[1] * local_y + t8.v[1];
  hit.y = t0.v[3] * local_x + t4.v[0] * local_y + t8.v[2];
  hit.z = t4.v[2] * local_x + t4.v[3] * local_y + t8.v[3];
  hit.phi = velo_phi(hit.x, hit.y);
  return hit;
}

/* `column` counts the columns of all three chips, 256 each, so that its upper bits are the chip number. */
static SL_DEVICE uint32_t velo_id(uint32_t sensor, uint32_t column, uint32_t row) {
  return 2u << 28 | sensor << 18 | column << 8 | row;
}

#endif
