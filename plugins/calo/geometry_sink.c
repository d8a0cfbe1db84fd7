/* calo.geometry_sink: writes the geometry, wherever it comes from, as the binary file that calo.geometry reads from a
 * folder (geometry_file.h).
 */
#include "geometry_file.h"
#include "io/geometry_files.h"

#define SL_ARGS geometry_sink_args
#define GEOMETRY_SINK(M)                                                                                    \
  M(IN, geometry, calo_geometry, "", "what is written")                                                     \
  M(FILE_OUT, path, "", CALO_GEOMETRY_FILE, "folder to write to, made if there is none; empty: that of -o") \
  M(U32, format, 0, 0, 4, "", "3 or 4, which has the sources of banks of type 77; 0: as the file that was read, or 3")
SL_HOST_ARGUMENTS(geometry_sink, GEOMETRY_SINK);

static unsigned char *put_array(unsigned char *at, const void *values, uint32_t count, size_t each) {
  return io_geometry_put(io_geometry_put_u32(at, count), values, count * each);
}

/* Returns how many bytes it has. */
static size_t pack(const struct calo_geometry_view *g, uint32_t format, unsigned char *bytes) {
  const uint32_t slots = g->numbers[CALO_SOURCES] * CALO_BANK_CARDS;
  unsigned char *at = io_geometry_put_u32(bytes, format);
  at = io_geometry_put_u32(at, g->numbers[CALO_FIRST_CARD]);
  at = io_geometry_put_u32(at, CALO_CARD_CHANNELS);
  at = io_geometry_put_u32(at, CALO_CELLS);
  at = io_geometry_put(at, g->pedestal, sizeof *g->pedestal);
  at = put_array(at, g->channels, g->numbers[CALO_CARDS] * CALO_CARD_CHANNELS, sizeof *g->channels);
  at = put_array(at, g->neighbours, CALO_NEIGHBOURS * CALO_CELLS, sizeof *g->neighbours);
  at = put_array(at, g->xy, 2 * CALO_CELLS, sizeof *g->xy);
  at = put_array(at, g->gain, CALO_CELLS, sizeof *g->gain);
  at = put_array(at, g->to_local, CALO_TO_LOCAL, sizeof *g->to_local);
  at = put_array(at, g->planes, CALO_PLANE_NUMBERS, sizeof *g->planes);
  at = io_geometry_put(at, g->cell_size, sizeof *g->cell_size);
  at = put_array(at, g->area_first, CALO_AREAS + 1, sizeof *g->area_first);
  if (format >= CALO_FORMAT_SOURCES) {
    at = put_array(at, g->card_number, slots, sizeof *g->card_number);
    at = put_array(at, g->card_index, slots, sizeof *g->card_index);
  }
  return (size_t)(at - bytes);
}

static int geometry_sink_check(const struct sl_services *s, const void *args_) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  if (args->format == 0 || args->format >= CALO_FORMAT_MIN) return SL_OK;
  s->message(s->context, SL_ERROR, "format: %u, expected 0, %d or %d", args->format, CALO_FORMAT_MIN,
             CALO_FORMAT_SOURCES);
  return SL_EINVAL;
}

static int geometry_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  static const char *const names[] = {CALO_GEOMETRY_FILE, NULL};
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  const struct calo_geometry_view *g = &args->geometry;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  const uint32_t format = args->format > 0 ? args->format : g->numbers[CALO_FORMAT];
  (void)batch;
  if (!io_geometry_folder_is_due(m)) return SL_OK;
  if (format >= CALO_FORMAT_SOURCES && g->numbers[CALO_SOURCES] == 0) {
    s->message(s->context, SL_ERROR, "format: %u needs the sources of banks of type 77, which this geometry lacks",
               format);
    return SL_EINVAL;
  }
  unsigned char *bytes = (unsigned char *)malloc(CALO_FILE_BYTES_MAX);
  if (!bytes) return SL_ENOMEM;
  const size_t size = pack(g, format, bytes);
  const int status = io_geometry_folder_write(m, 0, bytes, size);
  free(bytes);
  return status;
}

static const struct sl_sink geometry_sink_functions = {.open = geometry_sink_open,
                                                       .consume = geometry_sink_consume,
                                                       .finish = io_geometry_folder_finish,
                                                       .close = io_geometry_folder_close};

SL_SINK(geometry_sink, "writes the geometry as the file that calo.geometry reads", struct io_geometry_folder,
        geometry_sink_functions, SL_CHECK(geometry_sink_check));
