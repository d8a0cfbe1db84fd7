/* ut.geometry_sink: writes the geometry, wherever it comes from, as the two binary files that ut.geometry reads from a
 * folder (geometry_file.h).
 */
#include "geometry_file.h"
#include "io/geometry_files.h"

#define SL_ARGS geometry_sink_args
#define GEOMETRY_SINK(M)                                     \
  M(IN, geometry, ut_geometry, "", "what is written")        \
  M(FILE_OUT, path, "", UT_GEOMETRY_FILE " " UT_BOARDS_FILE, \
    "folder to write to, made if there is none; empty: that of -o")
SL_HOST_ARGUMENTS(geometry_sink, GEOMETRY_SINK);

static void pack_sectors(const struct ut_geometry_view *g, unsigned char bytes[GEOMETRY_FILE_BYTES]) {
  const float *const arrays[] = {g->pitch, g->dy, g->dx_di, g->dy_di, g->dz_di, g->x0, g->y0, g->z0, g->cosine};
  unsigned char *at = io_geometry_put_u32(bytes, UT_SECTORS);
  at = io_geometry_put(at, g->first_strip, 4 * UT_SECTORS);
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) at = io_geometry_put(at, arrays[i], 4 * UT_SECTORS);
}

static void pack_boards(const struct ut_geometry_view *g, unsigned char bytes[BOARDS_FILE_BYTES]) {
  const uint32_t *const arrays[LANE_ARRAYS] = {g->lane_sector, g->lane_module, g->lane_face, g->lane_stave,
                                               g->lane_layer,  g->lane_side,   g->lane_type, g->lane_channel};
  unsigned char *at = io_geometry_put_u32(bytes, UT_BOARDS);
  at = io_geometry_put_u32(at, BOARDS_FORMAT);
  at = io_geometry_put(at, g->board_strips, 4 * UT_BOARDS);
  for (size_t i = 0; i < LANE_ARRAYS; i++) at = io_geometry_put(at, arrays[i], 4 * UT_LANES);
}

static int geometry_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  static const char *const names[] = {UT_GEOMETRY_FILE, UT_BOARDS_FILE, NULL};
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  unsigned char sectors[GEOMETRY_FILE_BYTES], boards[BOARDS_FILE_BYTES];
  (void)s, (void)batch;
  if (!io_geometry_folder_is_due(m)) return SL_OK;
  pack_sectors(&args->geometry, sectors);
  pack_boards(&args->geometry, boards);
  const int status = io_geometry_folder_write(m, 0, sectors, sizeof sectors);
  return status < 0 ? status : io_geometry_folder_write(m, 1, boards, sizeof boards);
}

static const struct sl_sink geometry_sink_functions = {.open = geometry_sink_open,
                                                       .consume = geometry_sink_consume,
                                                       .finish = io_geometry_folder_finish,
                                                       .close = io_geometry_folder_close};

SL_SINK(geometry_sink, "writes the geometry as files that ut.geometry reads", struct io_geometry_folder,
        geometry_sink_functions);
