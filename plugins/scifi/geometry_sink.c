/* scifi.geometry_sink: writes the geometry, wherever it comes from, as the file that scifi.geometry reads from a folder
 * (geometry_file.h), in the format that it had, or in another.
 */
#include "geometry_file.h"
#include "io/geometry_files.h"

#define SL_ARGS geometry_sink_args
#define GEOMETRY_SINK(M)                                                                                        \
  M(IN, geometry, scifi_geometry, "", "what is written")                                                        \
  M(FILE_OUT, path, "", SCIFI_GEOMETRY_FILE, "folder to write to, made if there is none; empty: that of -o")    \
  M(ENUM, format, "as_read",                                                                                    \
    "format_0: first channels of banks, for versions 4 to 6; format_1: those of links, for 7 and 8; nominally " \
    "format_0",                                                                                                 \
    "as_read format_0 format_1")
SL_HOST_ARGUMENTS(geometry_sink, GEOMETRY_SINK);

static size_t pack(const struct scifi_geometry_view *g, uint32_t format, unsigned char bytes[FORMAT_1_BYTES]) {
  const uint32_t numbers[] = {SCIFI_STATIONS, SCIFI_STATION_LAYERS, SCIFI_LAYERS, SCIFI_LAYER_QUARTERS, SCIFI_QUARTERS};
  unsigned char *at = io_geometry_put(bytes, numbers, sizeof numbers);
  for (uint32_t quarter = 0; quarter < SCIFI_QUARTERS; quarter++) at = io_geometry_put_u32(at, modules_of(quarter));
  at = io_geometry_put_u32(at, SCIFI_MODULE_MATS);
  at = io_geometry_put_u32(at, SCIFI_MATS);
  at = io_geometry_put_u32(at, SCIFI_BANKS);
  at = io_geometry_put_u32(at, format);
  if (format == 0) {
    for (uint32_t bank = 0; bank < SCIFI_BANKS; bank++)
      at = io_geometry_put_u32(at, g->link_channel[bank * SCIFI_BANK_LINKS]);
  } else {
    at = io_geometry_put(at, g->source_id, 4 * SCIFI_BANKS);
    at = io_geometry_put(at, g->link_channel, 4 * SCIFI_BANKS * SCIFI_BANK_LINKS);
  }
  at = io_geometry_put_u32(at, SCIFI_MAT_TABLE);
#define PUT(name, type, shape, unit, doc) at = io_geometry_put(at, g->name, 4 * SCIFI_MAT_TABLE);
  SCIFI_MAT_FIELDS(PUT)
  return (size_t)(at - bytes);
}

static int geometry_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  static const char *const names[] = {SCIFI_GEOMETRY_FILE, NULL};
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  const uint32_t format = args->format == 0 ? args->geometry.format[0] : args->format - 1;
  (void)s, (void)batch;
  if (!io_geometry_folder_is_due(m)) return SL_OK;
  unsigned char *bytes = malloc(FORMAT_1_BYTES);
  if (!bytes) return SL_ENOMEM;
  const int status = io_geometry_folder_write(m, 0, bytes, pack(&args->geometry, format, bytes));
  free(bytes);
  return status;
}

static const struct sl_sink geometry_sink_functions = {.open = geometry_sink_open,
                                                       .consume = geometry_sink_consume,
                                                       .finish = io_geometry_folder_finish,
                                                       .close = io_geometry_folder_close};

SL_SINK(geometry_sink, "writes the geometry as the file that scifi.geometry reads", struct io_geometry_folder,
        geometry_sink_functions);
