/* fuzz_calibration.c: the reader of calibrations on any text. Accepted text can be looked up everywhere, and is refused
 * if one more statement is added. */
#define _GNU_SOURCE
#include "calibration/read.h"
#include "fuzz_file.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_everywhere(const struct calibration *c) {
  static const double places[][CALIBRATION_AXES] = {
      {0, 0, 0}, {-1e30, -1e30, -1e30}, {1e30, 1e30, 1e30}, {0.1, -3, 700}};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    require(!isnan(calibration_look_up(&c->ut_integral, places[i])));
    require(!isnan(calibration_look_up(&c->ut_deflection, places[i])));
  }
  for (uint32_t k = 0; k < 12; k++) require(c->forward_y[k].count > 0 && c->forward_y[k].count <= CALIBRATION_TERMS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char more[] = "\nvalue ut.z_mid 1";
  static struct calibration c;
  char reason[256] = "";
  char *text = malloc(size + sizeof more); /* contains the whole text for the second reading */
  char *exact = malloc(size > 0 ? size : 1);
  require(text != NULL && exact != NULL);
  memcpy(exact, data, size);
  memcpy(text, data, size);
  memcpy(text + size, more, sizeof more);
  uint32_t lines = 1;
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
  const uint32_t wrong = calibration_read(exact, size, &c, reason, sizeof reason);
  require(wrong <= lines && (wrong == 0) == (reason[0] == '\0'));
  if (wrong == 0) {
    look_everywhere(&c);
    require(calibration_read(text, size + sizeof more - 1, &c, reason, sizeof reason) == lines + 1);
  }
  free(exact);
  free(text);
  return 0;
}
