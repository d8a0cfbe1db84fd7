/* sink.h: the sink of a constant, `geometry_sink` of a detector: writes a collection as the files that the constant
 * reads.
 *
 * The files are written once, with the first slice. A plugin has
 *
 *   #define SL_ARGS geometry_sink_args
 *   #define SINK(M) GEOMETRY_SINK_ARGUMENTS(M, geometry, rich_geometry, "rich_geometry.bin")
 *   SL_HOST_ARGUMENTS(geometry_sink, SINK);
 *   GEOMETRY_SINK_CONSUME(geometry_sink, geometry)
 *   GEOMETRY_SINK(geometry_sink, "writes the geometry as files that rich.geometry reads", files)
 *
 * where `geometry` is the input port and `files` a list of layouts (files.h).
 */
#ifndef GEOMETRY_SINK_H
#define GEOMETRY_SINK_H

#include "geometry/files.h"

enum { GEOMETRY_FILES_MAX = 4 };

struct geometry_files {
  char path[GEOMETRY_PATH_MAX];
  const struct geometry_layout *layouts;
  struct sl_output *files[GEOMETRY_FILES_MAX];
  const struct sl_output_calls *to;
  uint32_t count, is_written;
};

/* `path` is the property, `output` the value of -o. */
int geometry_files_open(void *sink, const struct sl_services *s, const struct geometry_layout *layouts,
                        const char *path, const char *output);
/* Writes a view of the collection once. */
int geometry_files_write(void *sink, const struct sl_services *s, const void *view);
int geometry_files_finish(void *sink, const struct sl_services *s, const struct sl_report *report);
void geometry_files_close(void *sink);

#define GEOMETRY_SINK_ARGUMENTS(M, port_, collection_, files_) \
  M(IN, port_, collection_, "", "geometry to write")           \
  M(FILE_OUT, path, "", files_, "output folder, created if missing; empty: the folder of -o")
/* The usual `consume`: writes the collection unchanged. */
#define GEOMETRY_SINK_CONSUME(name_, port_)                                              \
  static int name_##_consume(void *state, const struct sl_services *s, const void *args, \
                             const struct sl_batch *batch) {                             \
    (void)batch;                                                                         \
    return geometry_files_write(state, s, &((const struct name_##_args *)args)->port_);  \
  }
#define GEOMETRY_SINK(name_, doc_, layouts_, ...)                                                           \
  static int name_##_open(void *state, const struct sl_services *s, const void *args, const char *output) { \
    return geometry_files_open(state, s, layouts_, ((const struct name_##_args *)args)->path, output);      \
  }                                                                                                         \
  static const struct sl_sink name_##_functions = {.open = name_##_open,                                    \
                                                   .consume = name_##_consume,                              \
                                                   .finish = geometry_files_finish,                         \
                                                   .close = geometry_files_close};                          \
  SL_SINK(name_, doc_, struct geometry_files, name_##_functions, __VA_ARGS__)

#endif
