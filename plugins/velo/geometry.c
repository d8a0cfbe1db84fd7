/* velo.geometry: the constant with the VELO geometry and the beam line. It is made from nominal.velo, from another
 * description in that format, or from a folder with velo_geometry.bin and optionally beamline.bin (README.md, "The
 * detector"). velo.geometry_sink writes these two files.
 *
 * Values from files are checked: they are finite and small enough that no position can overflow.
 */
#include "geometry/files.h"
#include "geometry/sink.h"
#include "velo/description.h"
#include "velo/event_model.h"

#include <string.h>

#define FILES "velo_geometry.bin beamline.bin"

static const struct geometry_field sensor_fields[] = {
    GEOMETRY_NUMBER(u64, VELO_MODULES, "modules"),
    GEOMETRY_LENGTHS(velo_geometry, module_z, VELO_MODULES, "z of module", .is_ascending = 1),
    GEOMETRY_NUMBER(u64, VELO_SENSOR_COLUMNS, "pixel columns"),
    GEOMETRY_LENGTHS(velo_geometry, local_x, VELO_SENSOR_COLUMNS, "x of column", .is_ascending = 1),
    GEOMETRY_NUMBER(u64, VELO_SENSOR_COLUMNS, "column pitches"),
    GEOMETRY_LENGTHS(velo_geometry, x_pitch, VELO_SENSOR_COLUMNS, "pitch of column"),
    GEOMETRY_NUMBER(u64, VELO_SENSORS, "sensors"),
    GEOMETRY_NUMBER(u64, VELO_TRANSFORM_VALUES, "values of a sensor's transform"),
    GEOMETRY_LENGTHS(velo_geometry, transform, VELO_SENSORS *VELO_TRANSFORM_VALUES, "transform value")};
static const struct geometry_field beam_fields[] = {GEOMETRY_LENGTHS(velo_geometry, beam, 2, "beam line coordinate")};

static const struct geometry_layout files[] = {
    {"velo_geometry.bin", GEOMETRY_FIELDS(sensor_fields)},
    {"beamline.bin", GEOMETRY_FIELDS(beam_fields), .if_absent = "the beam line is taken to be at x = 0, y = 0"},
    {0}};

/* --------------------------------------------------------------------------------------------- the constant */

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                       \
  M(FILE_IN, path, "", FILES,                                                                             \
    "folder with velo_geometry.bin and, optionally, beamline.bin; or a description file; empty: nominal") \
  M(OUT, geometry, velo_geometry, "geometry and beam line")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

static int make(const struct sl_services *s, const struct geometry_args *args) {
  struct velo_description d;
  struct velo_geometry g = {0};
  if (geometry_is_folder(args->path)) return geometry_read(files, s, "geometry", args->path, &g);
  int status = statements_load(&velo_description_format, s, args->path, &d);
  if (status == SL_OK) status = geometry_make(files, s, "geometry", &g);
  if (status != SL_OK) return status;
  memcpy(g.module_z, d.module_z, sizeof d.module_z);
  memcpy(g.local_x, d.local_x, sizeof d.local_x);
  memcpy(g.x_pitch, d.x_pitch, sizeof d.x_pitch);
  memcpy(g.transform, d.transform, sizeof d.transform);
  return SL_OK; /* g.beam stays 0, 0 */
}

SL_CONSTANT(geometry, "VELO geometry and beam line: nominal, from a description, or from files", make);

/* ------------------------------------------------------------------------------------------------- the sink */

#undef SL_ARGS
#define SL_ARGS geometry_sink_args
#define SINK(M) GEOMETRY_SINK_ARGUMENTS(M, geometry, velo_geometry, FILES)
SL_HOST_ARGUMENTS(geometry_sink, SINK);
GEOMETRY_SINK_CONSUME(geometry_sink, geometry)
GEOMETRY_SINK(geometry_sink, "writes the geometry as files that velo.geometry reads", files);
