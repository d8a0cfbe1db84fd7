/* velo.geometry: the VELO's geometry and the beam line: the nominal ones (nominal.velo), those of another description
 * of that kind, or those of a folder with velo_geometry.bin and, if it is known, beamline.bin (README.md, "The
 * detector").
 *
 * What kernels get of the binary files (geometry_file.h) is finite and small enough that no position can overflow.
 */
#include "geometry_file.h"
#include "io/geometry_files.h"
#include "velo/description.h"
#include "velo/event_model.h"
#include "velo_nominal_text.h"

#include <string.h>

/* No detector of ours is larger than this, in mm; it keeps all positions far from overflow. */
static const float largest_length = 1e5f;

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                          \
  M(FILE_IN, path, "", VELO_GEOMETRY_FILE " " VELO_BEAMLINE_FILE,                                            \
    "folder with velo_geometry.bin and, optionally, beamline.bin; or a description; empty: the nominal one") \
  M(OUT, geometry, velo_geometry, "geometry and beam line")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

/* `geometry` holds the arrays to fill. */
static int parse_geometry(struct io_geometry_file *f, const struct velo_geometry *geometry) {
  int status;
  if ((status = io_geometry_length(f, VELO_MODULES, "modules")) < 0) return status;
  if ((status = io_geometry_floats(f, geometry->module_z, VELO_MODULES, largest_length, "z of module")) < 0)
    return status;
  if ((status = io_geometry_ascending(f, geometry->module_z, VELO_MODULES, "z of module")) < 0) return status;
  if ((status = io_geometry_length(f, VELO_SENSOR_COLUMNS, "pixel columns")) < 0) return status;
  if ((status = io_geometry_floats(f, geometry->local_x, VELO_SENSOR_COLUMNS, largest_length, "x of column")) < 0)
    return status;
  if ((status = io_geometry_ascending(f, geometry->local_x, VELO_SENSOR_COLUMNS, "x of column")) < 0) return status;
  if ((status = io_geometry_length(f, VELO_SENSOR_COLUMNS, "column pitches")) < 0) return status;
  if ((status = io_geometry_floats(f, geometry->x_pitch, VELO_SENSOR_COLUMNS, largest_length, "pitch of column")) < 0)
    return status;
  if ((status = io_geometry_length(f, VELO_SENSORS, "sensors")) < 0) return status;
  if ((status = io_geometry_length(f, TRANSFORM_VALUES, "values of a sensor's transform")) < 0) return status;
  return io_geometry_floats(f, geometry->transform, VELO_SENSORS * TRANSFORM_VALUES, largest_length, "transform value");
}

static int make_beam(const struct sl_services *s, const char *folder, float *beam) {
  struct io_geometry_file file;
  int status = io_geometry_read(s, folder, VELO_BEAMLINE_FILE, BEAMLINE_FILE_BYTES, &file);
  if (status < 0) return status;
  if (status == 0) {
    s->message(s->context, SL_NOTE, "%s: there is none; the beam line is taken to be at x = 0, y = 0", file.path);
    return SL_OK; /* arrays come zeroed */
  }
  status = io_geometry_floats(&file, beam, 2, largest_length, "beam line coordinate");
  io_geometry_free(&file);
  return status;
}

/* The arrays to fill, or SL_ENOMEM. */
static int make_arrays(const struct sl_services *s, struct velo_geometry *geometry) {
  *geometry = (struct velo_geometry){
      .module_z = s->make_array(s->context, "geometry", "module_z", VELO_MODULES),
      .local_x = s->make_array(s->context, "geometry", "local_x", VELO_SENSOR_COLUMNS),
      .x_pitch = s->make_array(s->context, "geometry", "x_pitch", VELO_SENSOR_COLUMNS),
      .transform = s->make_array(s->context, "geometry", "transform", VELO_SENSORS * TRANSFORM_VALUES),
      .beam = s->make_array(s->context, "geometry", "beam", 2),
  };
  const int complete =
      geometry->module_z && geometry->local_x && geometry->x_pitch && geometry->transform && geometry->beam;
  return complete ? SL_OK : SL_ENOMEM;
}

static int make_from_files(const struct sl_services *s, const char *folder) {
  struct io_geometry_file file;
  struct velo_geometry geometry;
  int status = io_geometry_require(s, folder, VELO_GEOMETRY_FILE, GEOMETRY_FILE_BYTES, &file);
  if (status < 0) return status;
  status = make_arrays(s, &geometry);
  if (status == SL_OK) status = parse_geometry(&file, &geometry);
  io_geometry_free(&file);
  return status < 0 ? status : make_beam(s, folder, geometry.beam);
}

/* The beam line is at x = 0, y = 0. */
static int make_from_description(const struct sl_services *s, const char *path) {
  struct velo_description d;
  struct velo_geometry geometry;
  int status = velo_description_load(s, path, velo_nominal_text, &d);
  if (status < 0) return status;
  if ((status = make_arrays(s, &geometry)) < 0) return status;
  memcpy(geometry.module_z, d.module_z, sizeof d.module_z);
  memcpy(geometry.local_x, d.local_x, sizeof d.local_x);
  memcpy(geometry.x_pitch, d.x_pitch, sizeof d.x_pitch);
  memcpy(geometry.transform, d.transform, sizeof d.transform);
  return SL_OK;
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  return io_geometry_is_folder(args->path) ? make_from_files(s, args->path) : make_from_description(s, args->path);
}

SL_CONSTANT(geometry, "VELO geometry and beam line: nominal, from a description, or from files", make);
