/* fuzz_description.c: the reader of detector descriptions on any text. Accepted text has finite numbers in the right
 * order, and is refused if one more statement is added. */
#define _GNU_SOURCE
#include "fuzz_file.h"
#include "velo/description.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_numbers(const struct velo_description *d) {
  for (uint32_t m = 0; m < VELO_MODULES; m++)
    require(isfinite(d->module_z[m]) && (m == 0 || d->module_z[m] > d->module_z[m - 1]));
  for (uint32_t c = 0; c < VELO_SENSOR_COLUMNS; c++)
    require(d->column_edge[c + 1] > d->column_edge[c] && d->x_pitch[c] > 0);
  for (uint32_t s = 0; s < VELO_SENSORS; s++)
    for (uint32_t k = 0; k < VELO_TRANSFORM_VALUES; k++) require(fabsf(d->transform[s][k]) < 1e4f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char more[] = "\nmodule 0 z 0 left";
  static struct velo_description d;
  char reason[256] = "";
  char *text = malloc(size + sizeof more); /* contains the whole text for the second reading */
  char *exact = malloc(size > 0 ? size : 1);
  require(text != NULL && exact != NULL);
  memcpy(exact, data, size);
  memcpy(text, data, size);
  memcpy(text + size, more, sizeof more);
  uint32_t lines = 1;
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
  const uint32_t wrong = statements_read(&velo_description_format, exact, size, &d, reason, sizeof reason);
  require(wrong <= lines && (wrong == 0) == (reason[0] == '\0'));
  if (wrong == 0) {
    check_numbers(&d);
    require(statements_read(&velo_description_format, text, size + sizeof more - 1, &d, reason, sizeof reason) ==
            lines + 1);
  }
  free(exact);
  free(text);
  return 0;
}
