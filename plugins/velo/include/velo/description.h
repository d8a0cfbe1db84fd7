/* description.h: contents of a text description of the VELO (sensors and material) such as nominal.velo.
 *
 * For host code that needs the detector outside a graph. statements_read and statements_load (geometry/statements.h)
 * read descriptions in velo_description_format; link Sluice::geometry.
 */
#ifndef VELO_DESCRIPTION_H
#define VELO_DESCRIPTION_H

#include "geometry/statements.h"
#include "velo/event_model.h"

enum { VELO_CHIP_COLUMNS = 256, VELO_CHIPS = 3, VELO_MODULE_SENSORS = 4, VELO_TRANSFORM_VALUES = 12 };

/* One of the four sensors of a module at x < 0. */
struct velo_sensor {
  float x_axis, y_axis; /* angles of the local axes in the global xy plane, in degrees */
  float corner[3];      /* outer corner of column 0, row 0; z relative to the module */
};

struct velo_description {
  float module_z[VELO_MODULES];
  float local_x[VELO_SENSOR_COLUMNS], x_pitch[VELO_SENSOR_COLUMNS]; /* as in velo_geometry */
  float column_edge[VELO_SENSOR_COLUMNS + 1];                       /* local x of the column borders */
  float transform[VELO_SENSORS][VELO_TRANSFORM_VALUES];             /* as in velo_geometry */
  float pixel, wide_pixel, silicon;
  float sensor_radiation, sensor_interaction; /* radiation and interaction lengths per crossing */
  float foil_radius, foil_thickness, foil_longest, foil_radiation_length, foil_interaction_length;
  struct velo_sensor sensor[VELO_MODULE_SENSORS];
};

extern const struct statement_format velo_description_format;

#endif
