/* velo.geometry: the VELO's geometry and the beam line: the nominal ones (nominal.velo), those of another description
 * of that kind, or those of a folder with velo_geometry.bin and, if it is known, beamline.bin (README.md, "The
 * detector").
 *
 * Of both binary files (geometry_file.h) the whole is read at once, since its size is fixed; then every length is
 * compared and every value checked, so that what kernels get is finite and small enough that no position can overflow.
 */
#include "geometry_file.h"
#include "velo/description.h"
#include "velo/event_model.h"
#include "velo_nominal_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No detector of ours is larger than this, in mm; it keeps all positions far from overflow. */
static const float largest_length = 1e5f;

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                          \
  M(STRING, path, "",                                                                                        \
    "folder with velo_geometry.bin and, optionally, beamline.bin; or a description; empty: the nominal one") \
  M(OUT, geometry, velo_geometry, "geometry and beam line")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

/* A file's bytes while they are taken apart. */
struct reader {
  const struct sl_services *services;
  const char *path;
  const unsigned char *bytes;
  size_t position;
};

/* Reads exactly `expected` bytes. Returns 1 if the file is there, 0 if there is none, or an error. */
static int read_file(const struct sl_services *s, const char *path, unsigned char *bytes, size_t expected) {
  struct stat about;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for the writer of a pipe */
  if (descriptor < 0 && errno == ENOENT) return 0;
  const int is_regular = descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  FILE *file = is_regular ? fdopen(descriptor, "rb") : NULL;
  if (file == NULL) {
    s->message(s->context, SL_ERROR, "%s: cannot be opened: %s", path,
               descriptor >= 0 && !is_regular ? "it is no regular file" : strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return SL_EIO;
  }
  int status = SL_EFORMAT;
  const size_t got = fread(bytes, 1, expected, file);
  if (ferror(file)) {
    s->message(s->context, SL_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    status = SL_EIO;
  } else if (got < expected) {
    s->message(s->context, SL_ERROR, "%s: has %zu bytes, expected %zu", path, got, expected);
  } else if (fgetc(file) != EOF) {
    s->message(s->context, SL_ERROR, "%s: has more than the %zu bytes expected", path, expected);
  } else {
    status = 1;
  }
  fclose(file);
  return status;
}

static int expect_length(struct reader *r, uint64_t expected, const char *what) {
  uint64_t length;
  memcpy(&length, r->bytes + r->position, sizeof length);
  if (length != expected) {
    r->services->message(r->services->context, SL_ERROR, "%s: byte %zu: number of %s is %llu, expected %llu", r->path,
                         r->position, what, (unsigned long long)length, (unsigned long long)expected);
    return SL_EFORMAT;
  }
  r->position += sizeof length;
  return SL_OK;
}

static int read_floats(struct reader *r, float *values, size_t count, const char *what) {
  memcpy(values, r->bytes + r->position, count * sizeof *values);
  for (size_t i = 0; i < count; i++) {
    if (!(fabsf(values[i]) <= largest_length)) {
      r->services->message(r->services->context, SL_ERROR,
                           "%s: byte %zu: %s number %zu is %g, expected a number between %g and %g", r->path,
                           r->position + i * sizeof *values, what, i, (double)values[i], (double)-largest_length,
                           (double)largest_length);
      return SL_EFORMAT;
    }
  }
  r->position += count * sizeof *values;
  return SL_OK;
}

static int expect_ascending(const struct reader *r, const float *values, size_t count, const char *what) {
  for (size_t i = 1; i < count; i++) {
    if (!(values[i] > values[i - 1])) {
      r->services->message(r->services->context, SL_ERROR, "%s: %s number %zu is %g after %g, expected them to ascend",
                           r->path, what, i, (double)values[i], (double)values[i - 1]);
      return SL_EFORMAT;
    }
  }
  return SL_OK;
}

/* `geometry` holds the arrays to fill. */
static int parse_geometry(struct reader *r, const struct velo_geometry *geometry) {
  int status;
  if ((status = expect_length(r, VELO_MODULES, "modules")) < 0) return status;
  if ((status = read_floats(r, geometry->module_z, VELO_MODULES, "z of module")) < 0) return status;
  if ((status = expect_ascending(r, geometry->module_z, VELO_MODULES, "z of module")) < 0) return status;
  if ((status = expect_length(r, VELO_SENSOR_COLUMNS, "pixel columns")) < 0) return status;
  if ((status = read_floats(r, geometry->local_x, VELO_SENSOR_COLUMNS, "x of column")) < 0) return status;
  if ((status = expect_ascending(r, geometry->local_x, VELO_SENSOR_COLUMNS, "x of column")) < 0) return status;
  if ((status = expect_length(r, VELO_SENSOR_COLUMNS, "column pitches")) < 0) return status;
  if ((status = read_floats(r, geometry->x_pitch, VELO_SENSOR_COLUMNS, "pitch of column")) < 0) return status;
  if ((status = expect_length(r, VELO_SENSORS, "sensors")) < 0) return status;
  if ((status = expect_length(r, TRANSFORM_VALUES, "values of a sensor's transform")) < 0) return status;
  return read_floats(r, geometry->transform, VELO_SENSORS * TRANSFORM_VALUES, "transform value");
}

static int make_path(const struct sl_services *s, char *path, size_t size, const char *folder, const char *name) {
  const int length = snprintf(path, size, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= size) {
    s->message(s->context, SL_ERROR, "path: longer than %zu characters", size - 1);
    return SL_EINVAL;
  }
  return SL_OK;
}

static int make_beam(const struct sl_services *s, const char *folder, float *beam) {
  char path[PATH_MAX];
  unsigned char bytes[BEAMLINE_FILE_BYTES];
  int status = make_path(s, path, sizeof path, folder, VELO_BEAMLINE_FILE);
  if (status < 0) return status;
  if ((status = read_file(s, path, bytes, sizeof bytes)) < 0) return status;
  if (status == 0) {
    s->message(s->context, SL_NOTE, "%s: there is none; the beam line is taken to be at x = 0, y = 0", path);
    return SL_OK; /* arrays come zeroed */
  }
  struct reader r = {s, path, bytes, 0};
  return read_floats(&r, beam, 2, "beam line coordinate");
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
  char path[PATH_MAX];
  unsigned char bytes[GEOMETRY_FILE_BYTES];
  struct velo_geometry geometry;
  int status = make_path(s, path, sizeof path, folder, VELO_GEOMETRY_FILE);
  if (status < 0) return status;
  if ((status = read_file(s, path, bytes, sizeof bytes)) < 0) return status;
  if (status == 0) {
    s->message(s->context, SL_ERROR, "%s: there is no such file", path);
    return SL_EIO;
  }
  if ((status = make_arrays(s, &geometry)) < 0) return status;
  struct reader r = {s, path, bytes, 0};
  if ((status = parse_geometry(&r, &geometry)) < 0) return status;
  return make_beam(s, folder, geometry.beam);
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
  struct stat status;
  const int is_empty = args->path == NULL || args->path[0] == '\0';
  const int is_file = !is_empty && stat(args->path, &status) == 0 && S_ISREG(status.st_mode);
  return is_empty || is_file ? make_from_description(s, args->path) : make_from_files(s, args->path);
}

SL_CONSTANT(geometry, "VELO geometry and beam line: nominal, from a description, or from files", make);
