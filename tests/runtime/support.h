/* support.h: helpers of the tests in this folder. */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Returns the path of `name` in the folder of this program. */
static inline const char *beside_program(const char *name, char path[PATH_MAX + 256]) {
  char program[PATH_MAX];
  assert_non_null(realpath("/proc/self/exe", program));
  *strrchr(program, '/') = '\0';
  snprintf(path, PATH_MAX + 256, "%s/%s", program, name);
  return path;
}

/* Returns the whole file, zero-terminated, to be freed, and its size in *size. */
static inline char *read_whole_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  bytes[*size] = '\0';
  fclose(file);
  return bytes;
}

static inline void write_whole_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file) fail_msg("cannot write %s", path);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

#endif
