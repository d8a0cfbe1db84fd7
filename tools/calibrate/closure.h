/* closure.h: how well constants describe tracks of known momentum. */
#ifndef CALIBRATE_CLOSURE_H
#define CALIBRATE_CLOSURE_H

#include "calibration/calibration.h"
#include "gun.h"

struct closure_row {
  const char *name, *unit;
  double median, width; /* width: half of what the central 68 % span */
  double inside;        /* share of sizes below 1 */
  uint32_t is_window;   /* in units of half the window: `inside` is what counts */
  uint32_t count;
};
enum { CLOSURE_ROWS_MAX = 80 };
struct closure {
  struct closure_row rows[CLOSURE_ROWS_MAX];
  uint32_t count, reserved;
};

int closure_measure(const struct calibration *c, const struct gun_sample *sample, struct closure *closure);
/* NULL if there is none of that name. */
const struct closure_row *closure_find(const struct closure *closure, const char *name);

#endif
