/* description.c: reads a description of the VELO and computes column positions and transforms of the sensors. */
#include "velo/description.h"

#include "velo_nominal_text.h"

#include <sluice/math.h>

#include <string.h>

static int read_module(struct statement *s, void *into, uint32_t m) {
  static const char *const sides[] = {"left", "right"};
  const float *z = ((struct velo_description *)into)->module_z;
  uint32_t side = 0;
  if (m > 0 && s->seen >> (m - 1) & 1 && z[m] <= z[m - 1])
    return statement_refuse(s, "module %u is not downstream of module %u", m, m - 1);
  if (!statement_name(s, "side", sides, 2, &side)) return 0;
  if (side == m % 2) return 1;
  return statement_refuse(s, "even modules are left, odd ones are right, but module %u is %s", m, sides[side]);
}

#define FIELD(word, what, low, high, member) \
  STATEMENT_FIELD(word, what, f32, low, high, struct velo_description, member)
#define SENSOR(word, what, low, high, member) STATEMENT_FIELD(word, what, f32, low, high, struct velo_sensor, member)

static const struct statement_kind kinds[] = {
    {"pixel", .fields = {FIELD(NULL, "pixel", 0.01, 1, pixel)}},
    {"wide_pixel", .fields = {FIELD(NULL, "wide_pixel", 0.01, 1, wide_pixel)}},
    {"silicon", .fields = {FIELD(NULL, "silicon", 0.01, 2, silicon)}},
    {"sensor_material", .fields = {FIELD(NULL, "radiation", 0, 1, sensor_radiation),
                                   FIELD(NULL, "interaction", 0, 1, sensor_interaction)}},
    {"foil", .fields = {FIELD("radius", NULL, 0.1, 5.2, foil_radius), FIELD("thickness", NULL, 0, 2, foil_thickness),
                        FIELD("longest", NULL, 0, 100, foil_longest),
                        FIELD("radiation_length", NULL, 1, 1e6, foil_radiation_length),
                        FIELD("interaction_length", NULL, 1, 1e6, foil_interaction_length)}},
    {"sensor", .index = {{.count = VELO_MODULE_SENSORS}}, STATEMENT_ELEMENTS(struct velo_description, sensor),
     .fields = {SENSOR("x_axis", NULL, -180, 180, x_axis), SENSOR("y_axis", NULL, -180, 180, y_axis),
                SENSOR("corner", "x of the corner", -100, 100, corner[0]),
                SENSOR(NULL, "y of the corner", -100, 100, corner[1]),
                SENSOR(NULL, "z of the corner", -5, 5, corner[2])}},
    {"module", .index = {{.count = VELO_MODULES}}, STATEMENT_ELEMENTS(struct velo_description, module_z),
     .fields = {{"z", NULL, -2000, 2000, SL_TYPE_f32, 0}}, .read = read_module}};

/* -------------------------------------------------------------------------------------- derived quantities */

static void place_columns(struct velo_description *d) {
  d->column_edge[0] = 0;
  uint32_t wide = 0;
  for (uint32_t c = 0; c < VELO_SENSOR_COLUMNS; c++) {
    const uint32_t in_chip = c % VELO_CHIP_COLUMNS, chip = c / VELO_CHIP_COLUMNS;
    wide += (in_chip == 0 && chip > 0) || (in_chip == VELO_CHIP_COLUMNS - 1 && chip + 1 < VELO_CHIPS);
    d->column_edge[c + 1] = (float)(c + 1 - wide) * d->pixel + (float)wide * d->wide_pixel;
  }
  for (uint32_t c = 0; c < VELO_SENSOR_COLUMNS; c++) d->local_x[c] = 0.5f * (d->column_edge[c] + d->column_edge[c + 1]);
  for (uint32_t c = 0; c + 1 < VELO_SENSOR_COLUMNS; c++) d->x_pitch[c] = d->local_x[c + 1] - d->local_x[c];
  d->x_pitch[VELO_SENSOR_COLUMNS - 1] = d->pixel;
}

/* Rotation by rows, then translation; the third axis completes a right-handed frame. */
static void make_transform(struct velo_description *d, uint32_t sensor) {
  const uint32_t k = sensor % VELO_MODULE_SENSORS, module = sensor / VELO_MODULE_SENSORS;
  const float degree = 0.0174532925f, turn = module % 2 ? -1.0f : 1.0f;
  float xx, xy, yx, yy; /* local axis, global component */
  sl_sincosf(d->sensor[k].x_axis * degree, &xy, &xx);
  sl_sincosf(d->sensor[k].y_axis * degree, &yy, &yx);
  const float values[VELO_TRANSFORM_VALUES] = {turn * xx,
                                               turn * yx,
                                               0,
                                               turn * xy,
                                               turn * yy,
                                               0,
                                               0,
                                               0,
                                               xx * yy - xy * yx > 0 ? 1.0f : -1.0f,
                                               turn * d->sensor[k].corner[0],
                                               turn * d->sensor[k].corner[1],
                                               d->module_z[module] + d->sensor[k].corner[2]};
  memcpy(d->transform[sensor], values, sizeof values);
}

static int complete(struct statement *s, void *into) {
  struct velo_description *d = (struct velo_description *)into;
  for (uint32_t m = 1; m < VELO_MODULES; m++)
    if (d->module_z[m] <= d->module_z[m - 1])
      return statement_refuse(s, "module %u is not downstream of module %u", m, m - 1);
  place_columns(d);
  for (uint32_t sensor = 0; sensor < VELO_SENSORS; sensor++) make_transform(d, sensor);
  return 1;
}

STATEMENT_DESCRIPTION(velo, kinds, complete);
