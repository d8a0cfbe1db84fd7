/* calibrations.h: shared by tests of constants that are made from a calibration. CALIBRATION_FOLDER has the two
 * calibrations of the repository.
 */
#ifndef TEST_CALIBRATION_CALIBRATIONS_H
#define TEST_CALIBRATION_CALIBRATIONS_H

#include "calibration/read.h"
#include "scratch.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const calibration_files[] = {"nominal.calibration", "lhcb.calibration"};

/* The caller frees the results of calibration_text. */
char *calibration_text(const char *file, size_t *bytes);
void calibration_load(const char *file, struct calibration *c);
void calibration_path(const char *file, char path[SCRATCH_PATH_MAX]);

/* Checks that a constant made from the nominal calibration is refused, with `name` in the message, if `term` (a line or
 * a part of one) is inserted after `after`. */
struct refused_term {
  const char *after, *term, *name;
};
/* Checks that a constant of CONSTANTS_PLUGIN fails with SL_EIO and the file's name if its path does not exist. */
void calibration_is_missing(const char *algorithm);
void calibration_is_refused(const char *algorithm, const struct refused_term *refused);

#endif
