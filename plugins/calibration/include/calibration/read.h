/* read.h: reads a calibration, a text like nominal.calibration (README.md, "The file"), for host code.
 *
 * A calibration is complete or refused: each name of calibration.h must appear once, and nothing else. Link
 * Sluice::geometry.
 */
#ifndef CALIBRATION_READ_H
#define CALIBRATION_READ_H

#include "calibration/calibration.h"

#include <sluice/plugin.h>

#include <stddef.h>

/* The entries that a file must have. */
enum { CALIBRATION_VALUE, CALIBRATION_POLYNOMIAL, CALIBRATION_TABLE };
struct calibration_entry {
  const char *name, *variables;
  size_t offset;        /* in struct calibration */
  uint32_t kind, count; /* number of values or polynomials */
};
#define CALIBRATION_COUNT_(...) +1
enum {
  CALIBRATION_ENTRY_COUNT = 0 CALIBRATION_VALUES(CALIBRATION_COUNT_) CALIBRATION_LISTS(CALIBRATION_COUNT_)
      CALIBRATION_POLYNOMIALS(CALIBRATION_COUNT_) CALIBRATION_TABLES(CALIBRATION_COUNT_)
};
extern const struct calibration_entry calibration_entries[CALIBRATION_ENTRY_COUNT];

/* Returns 0, or the number of the wrong line (the last line if something is missing) with the reason. */
uint32_t calibration_read(const char *text, size_t bytes, struct calibration *c, char *reason, size_t reason_size);

/* Fills `c` for a property `path`: LHCb's calibration for a folder, the nominal one for an empty path, else the file.
 * Returns SL_OK or an error after a message. */
int calibration_load_path(const struct sl_services *s, const char *path, struct calibration *c);

#endif
