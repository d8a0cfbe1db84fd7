/* calibrations.h: what the tests of constants made of a calibration share. CALIBRATION_FOLDER has the two that stand.
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

/* Free what calibration_text returns. */
char *calibration_text(const char *file, size_t *bytes);
void calibration_load(const char *file, struct calibration *c);
void calibration_path(const char *file, char path[SCRATCH_PATH_MAX]);

/* A constant that is made of the nominal calibration with `term`, a line or a part of one, more behind `after` is
 * refused, in words with `name`. */
struct refused_term {
  const char *after, *term, *name;
};
/* A constant of CONSTANTS_PLUGIN fails with SL_EIO and the file's name if its path names no file. */
void calibration_is_missing(const char *algorithm);
void calibration_is_refused(const char *algorithm, const struct refused_term *refused);

#endif
