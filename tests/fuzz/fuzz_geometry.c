/* fuzz_geometry.c: velo.geometry on damaged files. The files are 16 kB, nearly all of them numbers, so the input
 * describes the differences from good files:
 *   i8 extra bytes of velo_geometry.bin, u8 bytes of beamline.bin (255: no such file), then changes:
 *   u16 position (beamline.bin follows velo_geometry.bin), u8 count, bytes
 * Accepted files have finite numbers in the right order; other files are refused with a message. */
#define _GNU_SOURCE
#include "fuzz_file.h"
#include "scratch.h"
#include "velo/description.h"

#include <sluice/plugin.h>

#include <math.h>
#include <string.h>

enum {
  GEOMETRY_FILE_BYTES = 5 * 8 + 4 * (VELO_MODULES + 2 * VELO_SENSOR_COLUMNS + VELO_SENSORS * VELO_TRANSFORM_VALUES),
  SPARE_BYTES = 128,
  BEAM_BYTES_MAX = 254,
  ARRAYS_MAX = 8
};

SL_DECLARE(geometry);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct files {
  uint8_t geometry[GEOMETRY_FILE_BYTES + SPARE_BYTES];
  uint8_t beam[BEAM_BYTES_MAX];
};

/* Output of the constant. */
static struct {
  struct {
    const char *field;
    float *values;
    uint64_t count;
  } arrays[ARRAYS_MAX];
  uint32_t array_count, errors;
} made;

static void count_errors(void *context, uint32_t severity, const char *format, ...) {
  (void)context;
  require(format[0] != '\0');
  made.errors += severity == SL_ERROR;
}

static void *make_array(void *context, const char *port, const char *field, uint64_t count) {
  (void)context;
  require(strcmp(port, "geometry") == 0 && made.array_count < ARRAYS_MAX);
  float *values = calloc(count, sizeof *values);
  require(values != NULL);
  made.arrays[made.array_count].field = field;
  made.arrays[made.array_count].values = values;
  made.arrays[made.array_count++].count = count;
  return values;
}

static uint8_t *put(uint8_t *at, const void *values, size_t bytes) {
  memcpy(at, values, bytes);
  return at + bytes;
}

static void make_good(struct files *files) {
  static struct velo_description d;
  static const uint64_t lengths[] = {VELO_MODULES, VELO_SENSOR_COLUMNS, VELO_SENSOR_COLUMNS, VELO_SENSORS,
                                     VELO_TRANSFORM_VALUES};
  char reason[256];
  memset(files, 0, sizeof *files);
  require(statements_read(&velo_description_format, NULL, 0, &d, reason, sizeof reason) == 0);
  uint8_t *at = put(files->geometry, &lengths[0], 8);
  at = put(at, d.module_z, sizeof d.module_z);
  at = put(at, &lengths[1], 8);
  at = put(at, d.local_x, sizeof d.local_x);
  at = put(at, &lengths[2], 8);
  at = put(at, d.x_pitch, sizeof d.x_pitch);
  at = put(at, &lengths[3], 16);
  at = put(at, d.transform, sizeof d.transform);
  require(at == files->geometry + GEOMETRY_FILE_BYTES);
}

static void change(struct files *files, const uint8_t *data, size_t size) {
  uint8_t *const bytes = (uint8_t *)files;
  while (size > 3) {
    const size_t place = data[0] + 256u * data[1], left = size - 3;
    size_t count = data[2] < left ? data[2] : left;
    data += 3;
    if (place >= sizeof *files) return;
    if (count > sizeof *files - place) count = sizeof *files - place;
    memcpy(bytes + place, data, count);
    data += count;
    size = left - count;
  }
}

static void save(const char *folder, const char *name, const void *bytes, size_t count) {
  char path[SCRATCH_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  require(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static char folder[SCRATCH_PATH_MAX];

static void remove_files(void) {
  char path[SCRATCH_PATH_MAX + 32];
  static const char *const names[] = {"velo_geometry.bin", "beamline.bin"};
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
}

/* The arguments, with the folder as path. */
static const void *arguments(void) {
  static char *args;
  const char *path = folder;
  if (args) return args;
  scratch_folder(folder);
  args = calloc(1, sl_algorithm_geometry.args_size);
  require(args != NULL);
  for (uint32_t i = 0; i < sl_algorithm_geometry.member_count; i++) {
    const struct sl_member *m = &sl_algorithm_geometry.members[i];
    if (strcmp(m->name, "path") == 0) memcpy(args + m->args_offset, &path, sizeof path);
  }
  return args;
}

static void check_arrays(void) {
  for (uint32_t i = 0; i < made.array_count; i++) {
    const float *v = made.arrays[i].values;
    const int ascends = strcmp(made.arrays[i].field, "module_z") == 0 || strcmp(made.arrays[i].field, "local_x") == 0;
    for (uint64_t k = 0; k < made.arrays[i].count; k++)
      require(fabsf(v[k]) <= 1e5f && (!ascends || k == 0 || v[k] > v[k - 1]));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct sl_services services = {
      .size = sizeof services, .message = count_errors, .make_array = make_array};
  static struct files good, files;
  if (size < 2) return 0;
  if (good.geometry[0] == 0) make_good(&good);
  const void *args = arguments();
  files = good;
  change(&files, data + 2, size - 2);
  remove_files();
  save(folder, "velo_geometry.bin", files.geometry, (size_t)(GEOMETRY_FILE_BYTES + (int8_t)data[0]));
  if (data[1] <= BEAM_BYTES_MAX) save(folder, "beamline.bin", files.beam, data[1]);
  made.array_count = made.errors = 0;
  const int result = sl_algorithm_geometry.make(&services, args);
  require((result != SL_OK) == (made.errors > 0));
  if (result == SL_OK) {
    require(made.array_count == 5 && data[0] == 0);
    check_arrays();
  }
  for (uint32_t i = 0; i < made.array_count; i++) free(made.arrays[i].values);
  return 0;
}
