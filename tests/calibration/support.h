/* support.h: shared by the tests of the calibration. */
#ifndef TEST_CALIBRATION_SUPPORT_H
#define TEST_CALIBRATION_SUPPORT_H

#include "calibration/calibration.h"
#include "gun.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text of a file of the calibration folder; the caller frees it. */
char *text_of(const char *name);
/* The content of the file; the caller frees it. */
struct calibration *calibration_of(const char *name);
/* Tracks with 3 to 100 GeV and 2 < eta < 4.9. */
struct gun_sample sample_of(enum gun_kind kind, uint32_t shots);

#endif
