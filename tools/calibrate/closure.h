/* closure.h: compares constants with tracks of known momentum. */
#ifndef CALIBRATE_CLOSURE_H
#define CALIBRATE_CLOSURE_H

#include "calibration/calibration.h"
#include "gun.h"

struct closure_row {
  const char *name, *unit;
  double median, width; /* width: half of the central 68 % */
  double inside;        /* fraction with an absolute value below 1 */
  uint32_t is_window;   /* values are in units of half the search window; `inside` is the result */
  uint32_t count;
};
enum { CLOSURE_ROWS_MAX = 80 };
struct closure {
  struct closure_row rows[CLOSURE_ROWS_MAX];
  uint32_t count, reserved;
};

/* Measures all quantities. 0 or SL_ENOMEM. */
int closure_measure(const struct calibration *c, const struct gun_sample *sample, struct closure *closure);
/* Returns the row with this name, or NULL. */
const struct closure_row *closure_find(const struct closure *closure, const char *name);

#endif
