/* description.h: reads a description of the VELO, as nominal.velo is one: sensors and material, as text.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph: static functions, no library.
 * A description is complete or refused: each statement must appear once (sensors 0 to 3, modules 0 to 51). Numbers are
 * decimal, whatever the locale.
 */
#ifndef VELO_DESCRIPTION_H
#define VELO_DESCRIPTION_H

#include "io/statements.h"
#include "velo/event_model.h"

#include <sluice/math.h>

#include <stdio.h>
#include <string.h>

enum { VELO_CHIP_COLUMNS = 256, VELO_CHIPS = 3, VELO_MODULE_SENSORS = 4, VELO_TRANSFORM_VALUES = 12 };

struct velo_description {
  float module_z[VELO_MODULES];
  float local_x[VELO_SENSOR_COLUMNS], x_pitch[VELO_SENSOR_COLUMNS]; /* as in velo_geometry */
  float column_edge[VELO_SENSOR_COLUMNS + 1];                       /* local x */
  float transform[VELO_SENSORS][VELO_TRANSFORM_VALUES];             /* as in velo_geometry */
  float pixel, wide_pixel, silicon;
  float sensor_radiation, sensor_interaction; /* fractions of a length, a crossing */
  float foil_radius, foil_thickness, foil_longest, foil_radiation_length, foil_interaction_length;
};

/* --------------------------------------------------------------------------------------------- statements */

struct velo_description_reader {
  struct velo_description *d;
  float corner[VELO_MODULE_SENSORS][3], x_axis[VELO_MODULE_SENSORS], y_axis[VELO_MODULE_SENSORS];
  uint8_t is_right[VELO_MODULES];
  uint32_t seen_sensors, seen_words;
  uint64_t seen_modules;
};

static inline int velo_description_sensor(struct io_statement *s, struct velo_description_reader *r) {
  uint32_t k;
  if (!io_statement_index(s, "sensor", VELO_MODULE_SENSORS, &k)) return 0;
  if (r->seen_sensors & 1u << k) return io_statement_refuse(s, "sensor %u a second time", k);
  r->seen_sensors |= 1u << k;
  return io_statement_pair(s, "x_axis", -180, 180, &r->x_axis[k]) &&
         io_statement_pair(s, "y_axis", -180, 180, &r->y_axis[k]) && io_statement_expect(s, "corner") &&
         io_statement_number(s, "x of the corner", -100, 100, &r->corner[k][0]) &&
         io_statement_number(s, "y of the corner", -100, 100, &r->corner[k][1]) &&
         io_statement_number(s, "z of the corner", -5, 5, &r->corner[k][2]);
}

static inline int velo_description_module(struct io_statement *s, struct velo_description_reader *r) {
  uint32_t m;
  char side[8];
  if (!io_statement_index(s, "module", VELO_MODULES, &m)) return 0;
  if (r->seen_modules >> m & 1) return io_statement_refuse(s, "module %u a second time", m);
  if (!io_statement_pair(s, "z", -2000, 2000, &r->d->module_z[m])) return 0;
  if (m > 0 && r->seen_modules >> (m - 1) & 1 && r->d->module_z[m] <= r->d->module_z[m - 1])
    return io_statement_refuse(s, "module %u is not behind module %u", m, m - 1);
  r->seen_modules |= 1ull << m;
  io_statement_word(s, side, sizeof side);
  r->is_right[m] = strcmp(side, "right") == 0;
  if (r->is_right[m] != m % 2 || (!r->is_right[m] && strcmp(side, "left") != 0))
    return io_statement_refuse(s, "even modules are left, odd ones are right, but module %u is \"%s\"", m, side);
  return 1;
}

static inline int velo_description_foil(struct io_statement *s, struct velo_description *d) {
  return io_statement_pair(s, "radius", 0.1f, 5.2f, &d->foil_radius) &&
         io_statement_pair(s, "thickness", 0, 2, &d->foil_thickness) &&
         io_statement_pair(s, "longest", 0, 100, &d->foil_longest) &&
         io_statement_pair(s, "radiation_length", 1, 1e6f, &d->foil_radiation_length) &&
         io_statement_pair(s, "interaction_length", 1, 1e6f, &d->foil_interaction_length);
}

/* One line; 0 if it is wrong. */
static inline int velo_description_line(struct io_statement *s, void *into) {
  struct velo_description_reader *r = (struct velo_description_reader *)into;
  struct velo_description *d = r->d;
  static const char *const words[] = {"pixel", "wide_pixel", "silicon", "sensor_material", "foil"};
  uint32_t k = 0;
  while (k < 5 && !io_statement_is(s, words[k])) k++;
  if (k < 5 && !io_statement_once(s, &r->seen_words, k)) return 0;
  if (k == 0) return io_statement_number(s, "pixel", 0.01f, 1, &d->pixel);
  if (k == 1) return io_statement_number(s, "wide_pixel", 0.01f, 1, &d->wide_pixel);
  if (k == 2) return io_statement_number(s, "silicon", 0.01f, 2, &d->silicon);
  if (k == 3)
    return io_statement_number(s, "radiation", 0, 1, &d->sensor_radiation) &&
           io_statement_number(s, "interaction", 0, 1, &d->sensor_interaction);
  if (k == 4) return velo_description_foil(s, d);
  if (io_statement_is(s, "sensor")) return velo_description_sensor(s, r);
  if (io_statement_is(s, "module")) return velo_description_module(s, r);
  return io_statement_unknown(s);
}

/* ------------------------------------------------------------------------------------------ what follows */

static inline void velo_description_columns(struct velo_description *d) {
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
static inline void velo_description_transform(const struct velo_description_reader *r, struct velo_description *d,
                                              uint32_t sensor) {
  const uint32_t k = sensor % VELO_MODULE_SENSORS, module = sensor / VELO_MODULE_SENSORS;
  const float degree = 0.0174532925f, turn = r->is_right[module] ? -1.0f : 1.0f;
  float xx, xy, yx, yy; /* local axis, global component */
  sl_sincosf(r->x_axis[k] * degree, &xy, &xx);
  sl_sincosf(r->y_axis[k] * degree, &yy, &yx);
  const float values[VELO_TRANSFORM_VALUES] = {turn * xx,
                                               turn * yx,
                                               0,
                                               turn * xy,
                                               turn * yy,
                                               0,
                                               0,
                                               0,
                                               xx * yy - xy * yx > 0 ? 1.0f : -1.0f,
                                               turn * r->corner[k][0],
                                               turn * r->corner[k][1],
                                               d->module_z[module] + r->corner[k][2]};
  memcpy(d->transform[sensor], values, sizeof values);
}

/* Reads a description: 0, or the number of the line that is wrong (the last one, if something is missing), with the
 * reason. */
static inline uint32_t velo_description_read(const char *text, size_t bytes, struct velo_description *d, char *reason,
                                             size_t reason_size) {
  struct velo_description_reader r;
  uint32_t lines = 0;
  memset(&r, 0, sizeof r);
  memset(d, 0, sizeof *d);
  r.d = d;
  const uint32_t wrong = io_statements_read(text, bytes, velo_description_line, &r, reason, reason_size, &lines);
  if (wrong) return wrong;
  if (r.seen_words != 31 || r.seen_sensors != 15 || r.seen_modules != (1ull << VELO_MODULES) - 1) {
    snprintf(
        reason, reason_size,
        "the description ends without all of pixel, wide_pixel, silicon, sensor_material, foil, sensors 0 to 3 and "
        "modules 0 to %d",
        VELO_MODULES - 1);
    return lines;
  }
  for (uint32_t m = 1; m < VELO_MODULES; m++) {
    if (d->module_z[m] > d->module_z[m - 1]) continue;
    snprintf(reason, reason_size, "module %u is not behind module %u", m, m - 1);
    return lines;
  }
  velo_description_columns(d);
  for (uint32_t sensor = 0; sensor < VELO_SENSORS; sensor++) velo_description_transform(&r, d, sensor);
  return 0;
}

IO_DESCRIPTION(velo)

#endif
