/* velo.geometry_sink: writes the geometry, wherever it comes from, as the two binary files that velo.geometry reads
 * from a folder (geometry_file.h). It takes no events: the first slice that comes is the sign to write. Each file gets
 * its name when it is complete.
 */
#include "geometry_file.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SL_ARGS geometry_sink_args
#define GEOMETRY_SINK(M)                                \
  M(IN, geometry, velo_geometry, "", "what is written") \
  M(STRING, path, "", "folder to write to, made if there is none; empty: that of -o")
SL_HOST_ARGUMENTS(geometry_sink, GEOMETRY_SINK);

struct geometry_sink {
  char folder[PATH_MAX];
  struct sl_output *geometry, *beam;
  const struct sl_output_calls *to;
  uint32_t is_written, reserved;
};

static int complain(const struct sl_services *s, const char *path, const char *step) {
  s->message(s->context, SL_ERROR, "%s: cannot %s: %s", path, step, strerror(errno));
  return SL_EIO;
}

static int open_file(struct geometry_sink *m, const struct sl_services *s, const char *name, struct sl_output **file) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", m->folder, name);
  return m->to->open(s, path, 0, file);
}

static int write_file(const struct geometry_sink *m, struct sl_output *file, const void *bytes, size_t size) {
  const int status = m->to->add(file, bytes, size);
  return status == SL_OK ? m->to->finish(file) : status;
}

static unsigned char *put_length(unsigned char *at, uint64_t length) {
  memcpy(at, &length, sizeof length);
  return at + sizeof length;
}

static unsigned char *put_floats(unsigned char *at, const float *values, size_t count) {
  memcpy(at, values, count * sizeof *values);
  return at + count * sizeof *values;
}

static void pack_geometry(const struct velo_geometry_view *g, unsigned char bytes[GEOMETRY_FILE_BYTES]) {
  unsigned char *at = put_length(bytes, VELO_MODULES);
  at = put_floats(at, g->module_z, VELO_MODULES);
  at = put_length(at, VELO_SENSOR_COLUMNS);
  at = put_floats(at, g->local_x, VELO_SENSOR_COLUMNS);
  at = put_length(at, VELO_SENSOR_COLUMNS);
  at = put_floats(at, g->x_pitch, VELO_SENSOR_COLUMNS);
  at = put_length(at, VELO_SENSORS);
  at = put_length(at, TRANSFORM_VALUES);
  put_floats(at, g->transform, VELO_SENSORS * TRANSFORM_VALUES);
}

static int geometry_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct geometry_sink *m = (struct geometry_sink *)state;
  const char *folder = *args->path ? args->path : output_path;
  if (!folder || !*folder) {
    s->message(s->context, SL_ERROR, "no output folder is given: use -o, or the property path");
    return SL_EINVAL;
  }
  if (strlen(folder) >= sizeof m->folder) {
    s->message(s->context, SL_ERROR, "path: longer than %zu characters", sizeof m->folder - 1);
    return SL_EINVAL;
  }
  if (strcmp(folder, "-") == 0) {
    s->message(s->context, SL_ERROR, "a geometry is a folder with two files, and cannot go to standard output");
    return SL_EINVAL;
  }
  memcpy(m->folder, folder, strlen(folder) + 1);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return complain(s, folder, "make this folder");
  m->to = s->output;
  const int status = open_file(m, s, VELO_GEOMETRY_FILE, &m->geometry);
  return status == SL_OK ? open_file(m, s, VELO_BEAMLINE_FILE, &m->beam) : status;
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct geometry_sink *m = (struct geometry_sink *)state;
  unsigned char bytes[GEOMETRY_FILE_BYTES];
  (void)s, (void)batch;
  if (m->is_written) return SL_OK;
  pack_geometry(&args->geometry, bytes);
  int status = write_file(m, m->geometry, bytes, sizeof bytes);
  if (status == SL_OK) status = write_file(m, m->beam, args->geometry.beam, BEAMLINE_FILE_BYTES);
  m->is_written = status == SL_OK;
  return status;
}

static int geometry_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct geometry_sink *m = (const struct geometry_sink *)state;
  if (!m->is_written) {
    s->message(s->context, SL_ERROR, "there was no event, so that nothing was written to %s", m->folder);
    return SL_EINVAL;
  }
  report->text(report->context, "folder", m->folder);
  report->line(report->context, "%s/" VELO_GEOMETRY_FILE " and " VELO_BEAMLINE_FILE " written", m->folder);
  return SL_OK;
}

static void geometry_sink_close(void *state) {
  const struct geometry_sink *m = (const struct geometry_sink *)state;
  if (!m->to) return;
  m->to->close(m->geometry);
  m->to->close(m->beam);
}

static const struct sl_sink geometry_sink_functions = {.open = geometry_sink_open,
                                                       .consume = geometry_sink_consume,
                                                       .finish = geometry_sink_finish,
                                                       .close = geometry_sink_close};

SL_SINK(geometry_sink, "writes the geometry as files that velo.geometry reads", struct geometry_sink,
        geometry_sink_functions);
