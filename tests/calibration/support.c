/* support.c: see support.h. */
#include "support.h"

#include "calibration/read.h"

char *text_of(const char *name) {
  char path[512];
  snprintf(path, sizeof path, CALIBRATION_FOLDER "/%s", name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  enum { BYTES_MAX = 1 << 20 };
  char *text = (char *)calloc(1, BYTES_MAX);
  assert_non_null(text);
  const size_t bytes = fread(text, 1, BYTES_MAX - 1, file);
  assert_true(bytes > 0 && bytes < BYTES_MAX - 1);
  fclose(file);
  return text;
}

struct calibration *calibration_of(const char *name) {
  char reason[256] = "", *text = text_of(name);
  struct calibration *c = (struct calibration *)calloc(1, sizeof *c);
  assert_non_null(c);
  const uint32_t line = calibration_read(text, strlen(text), c, reason, sizeof reason);
  if (line != 0) fail_msg("%s:%u: %s", name, line, reason);
  free(text);
  return c;
}

struct gun_sample sample_of(enum gun_kind kind, uint32_t shots) {
  const struct gun_settings settings = {kind, 77, 3000, 1e5, 2, 4.9, 60, 0};
  struct gun_sample sample;
  assert_int_equal(gun_shoot(&settings, shots, &sample), 0);
  assert_true(sample.count > shots / 2);
  return sample;
}
