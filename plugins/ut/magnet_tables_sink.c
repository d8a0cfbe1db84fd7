/* ut.magnet_tables_sink: writes the magnet's tables as the file that ut.magnet_tables reads (geometry_file.h). */
#include "geometry_file.h"
#include "io/geometry_files.h"

#define SL_ARGS magnet_tables_sink_args
#define MAGNET_TABLES_SINK(M)                            \
  M(IN, tables, ut_magnet_tables, "", "what is written") \
  M(FILE_OUT, path, "", UT_TABLES_FILE, "folder to write to, made if there is none; empty: that of -o")
SL_HOST_ARGUMENTS(magnet_tables_sink, MAGNET_TABLES_SINK);

static unsigned char *put_table(unsigned char *at, const uint32_t *entries_of_axis, uint32_t axes,
                                const float *entries) {
  uint64_t count = 1;
  at = io_geometry_put_u32(at, axes);
  for (uint32_t i = 0; i < axes; i++) {
    at = io_geometry_put_u32(at, entries_of_axis[i] - 1);
    count *= entries_of_axis[i];
  }
  at = io_geometry_put_length(at, count);
  return io_geometry_put(at, entries, (size_t)count * sizeof *entries);
}

static void pack_tables(const struct ut_magnet_tables_view *t, unsigned char bytes[TABLES_FILE_BYTES]) {
  static const uint32_t deflections[] = {UT_LAYERS, UT_DEFLECTION_BINS};
  static const uint32_t integrals[] = {UT_INTEGRAL_SLOPES, UT_INTEGRAL_ORIGINS, UT_INTEGRAL_DEPTHS};
  put_table(put_table(bytes, deflections, 2, t->deflection), integrals, 3, t->field_integral);
}

static int magnet_tables_sink_open(void *state, const struct sl_services *s, const void *args_,
                                   const char *output_path) {
  static const char *const names[] = {UT_TABLES_FILE, NULL};
  const struct magnet_tables_sink_args *args = (const struct magnet_tables_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int magnet_tables_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                      const struct sl_batch *batch) {
  const struct magnet_tables_sink_args *args = (const struct magnet_tables_sink_args *)args_;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  unsigned char bytes[TABLES_FILE_BYTES];
  (void)s, (void)batch;
  if (!io_geometry_folder_is_due(m)) return SL_OK;
  pack_tables(&args->tables, bytes);
  return io_geometry_folder_write(m, 0, bytes, sizeof bytes);
}

static const struct sl_sink magnet_tables_sink_functions = {.open = magnet_tables_sink_open,
                                                            .consume = magnet_tables_sink_consume,
                                                            .finish = io_geometry_folder_finish,
                                                            .close = io_geometry_folder_close};

SL_SINK(magnet_tables_sink, "writes the magnet's tables as a file that ut.magnet_tables reads",
        struct io_geometry_folder, magnet_tables_sink_functions);
