/* magnet.polarity_sink: writes the polarity as the file that magnet.polarity reads. */
#include "io/geometry_files.h"
#include "magnet/event_model.h"
#include "polarity_file.h"

#define SL_ARGS polarity_sink_args
#define POLARITY_SINK(M)                                \
  M(IN, magnet, magnet_polarity, "", "what is written") \
  M(FILE_OUT, path, "", POLARITY_FILE, "folder to write to, made if there is none; empty: that of -o")
SL_HOST_ARGUMENTS(polarity_sink, POLARITY_SINK);

static int polarity_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  static const char *const names[] = {POLARITY_FILE, NULL};
  const struct polarity_sink_args *args = (const struct polarity_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int polarity_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct polarity_sink_args *args = (const struct polarity_sink_args *)args_;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  (void)s, (void)batch;
  return io_geometry_folder_is_due(m) ? io_geometry_folder_write(m, 0, args->magnet.sign, POLARITY_FILE_BYTES) : SL_OK;
}

static const struct sl_sink polarity_sink_functions = {.open = polarity_sink_open,
                                                       .consume = polarity_sink_consume,
                                                       .finish = io_geometry_folder_finish,
                                                       .close = io_geometry_folder_close};

SL_SINK(polarity_sink, "writes the polarity as a file that magnet.polarity reads", struct io_geometry_folder,
        polarity_sink_functions);
