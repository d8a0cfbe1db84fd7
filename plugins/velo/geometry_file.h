/* geometry_file.h: the files velo_geometry.bin and beamline.bin (README.md, "The detector"): little-endian arrays back
 * to back, each of the first file's with its length before it as u64: z of modules, local x of pixel columns, their
 * pitches, and the sensors' transforms (two lengths: sensors, values of each), all f32. beamline.bin is x and y, f32.
 */
#ifndef VELO_GEOMETRY_FILE_H
#define VELO_GEOMETRY_FILE_H

#include "velo/event_model.h"

#define VELO_GEOMETRY_FILE "velo_geometry.bin"
#define VELO_BEAMLINE_FILE "beamline.bin"

enum {
  TRANSFORM_VALUES = 12,
  GEOMETRY_FILE_BYTES = 5 * 8 + 4 * (VELO_MODULES + 2 * VELO_SENSOR_COLUMNS + VELO_SENSORS * TRANSFORM_VALUES),
  BEAMLINE_FILE_BYTES = 2 * 4
};

#endif
