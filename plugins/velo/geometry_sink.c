/* velo.geometry_sink: writes the geometry, wherever it comes from, as the two binary files that velo.geometry reads
 * from a folder (geometry_file.h).
 */
#include "geometry_file.h"
#include "io/geometry_files.h"

#define SL_ARGS geometry_sink_args
#define GEOMETRY_SINK(M)                                           \
  M(IN, geometry, velo_geometry, "", "what is written")            \
  M(FILE_OUT, path, "", VELO_GEOMETRY_FILE " " VELO_BEAMLINE_FILE, \
    "folder to write to, made if there is none; empty: that of -o")
SL_HOST_ARGUMENTS(geometry_sink, GEOMETRY_SINK);

static void pack_geometry(const struct velo_geometry_view *g, unsigned char bytes[GEOMETRY_FILE_BYTES]) {
  unsigned char *at = io_geometry_put_length(bytes, VELO_MODULES);
  at = io_geometry_put(at, g->module_z, 4 * VELO_MODULES);
  at = io_geometry_put_length(at, VELO_SENSOR_COLUMNS);
  at = io_geometry_put(at, g->local_x, 4 * VELO_SENSOR_COLUMNS);
  at = io_geometry_put_length(at, VELO_SENSOR_COLUMNS);
  at = io_geometry_put(at, g->x_pitch, 4 * VELO_SENSOR_COLUMNS);
  at = io_geometry_put_length(at, VELO_SENSORS);
  at = io_geometry_put_length(at, TRANSFORM_VALUES);
  io_geometry_put(at, g->transform, 4 * VELO_SENSORS * TRANSFORM_VALUES);
}

static int geometry_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  static const char *const names[] = {VELO_GEOMETRY_FILE, VELO_BEAMLINE_FILE, NULL};
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  unsigned char bytes[GEOMETRY_FILE_BYTES];
  (void)s, (void)batch;
  if (!io_geometry_folder_is_due(m)) return SL_OK;
  pack_geometry(&args->geometry, bytes);
  const int status = io_geometry_folder_write(m, 0, bytes, sizeof bytes);
  return status < 0 ? status : io_geometry_folder_write(m, 1, args->geometry.beam, BEAMLINE_FILE_BYTES);
}

static const struct sl_sink geometry_sink_functions = {.open = geometry_sink_open,
                                                       .consume = geometry_sink_consume,
                                                       .finish = io_geometry_folder_finish,
                                                       .close = io_geometry_folder_close};

SL_SINK(geometry_sink, "writes the geometry as files that velo.geometry reads", struct io_geometry_folder,
        geometry_sink_functions);
