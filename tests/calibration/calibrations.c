/* calibrations.c: see calibrations.h. */
#include "calibrations.h"

enum { TEXT_BYTES = 1 << 20 };

void calibration_path(const char *file, char path[SCRATCH_PATH_MAX]) {
  snprintf(path, SCRATCH_PATH_MAX, "%s/%s", CALIBRATION_FOLDER, file);
}

char *calibration_text(const char *file, size_t *bytes) {
  char path[SCRATCH_PATH_MAX];
  calibration_path(file, path);
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *text = calloc(1, TEXT_BYTES);
  *bytes = fread(text, 1, TEXT_BYTES - 1, f);
  fclose(f);
  return text;
}

void calibration_load(const char *file, struct calibration *c) {
  char reason[256];
  size_t bytes;
  char *text = calibration_text(file, &bytes);
  assert_int_equal(calibration_read(text, bytes, c, reason, sizeof reason), 0);
  free(text);
}

void calibration_is_missing(const char *algorithm) {
  char path[SCRATCH_PATH_MAX + 16];
  scratch_folder(path);
  strcat(path, "/none");
  struct sl_test *t = sl_test_new(CONSTANTS_PLUGIN, algorithm);
  sl_test_set_text(t, "path", path);
  assert_int_equal(sl_test_run(t), SL_EIO);
  assert_non_null(strstr(sl_test_messages(t), "/none: there is no such file"));
  sl_test_free(t);
}

void calibration_is_refused(const char *algorithm, const struct refused_term *refused) {
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 32];
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/x.calibration", folder);
  size_t bytes;
  char *text = calibration_text(calibration_files[0], &bytes), *edited = calloc(1, bytes + 64);
  const char *at = strstr(text, refused->after);
  assert_non_null(at);
  at += strlen(refused->after);
  memcpy(edited, text, (size_t)(at - text));
  strcat(edited, refused->term);
  strcat(edited, at);
  scratch_write(folder, "x.calibration", edited, strlen(edited));
  struct sl_test *t = sl_test_new(CONSTANTS_PLUGIN, algorithm);
  sl_test_set_text(t, "path", path);
  assert_int_equal(sl_test_run(t), SL_EFORMAT);
  if (!strstr(sl_test_messages(t), refused->name)) fail_msg("expected %s in: %s", refused->name, sl_test_messages(t));
  sl_test_free(t);
  free(text);
  free(edited);
}
