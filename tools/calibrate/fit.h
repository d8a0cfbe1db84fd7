/* fit.h: the constants, derived from tracks of known momentum. */
#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include "calibration/calibration.h"
#include "gun.h"
#include "least_squares.h"

/* What a fit leaves to say, beside the name in the file. */
struct fit_note {
  char name[CALIBRATION_NAME_BYTES], text[120];
};
enum { FIT_NOTES = 64 };

struct derivation {
  struct gun_sample ut;        /* exact, to the UT only, and steeper */
  struct gun_sample exact;     /* through all layers */
  struct gun_sample simulated; /* with material and errors */
  struct calibration *c;
  struct fit_note notes[FIT_NOTES];
  uint32_t note_count;
  double worst_forbidden; /* the largest coefficient of a term that symmetry forbids, over its error */
};

/* Each in this order, since later ones use earlier ones' constants; 0 or an error. */
int derive_ut(struct derivation *d);
int derive_forward(struct derivation *d);
int derive_seeding(struct derivation *d);
int derive_matching(struct derivation *d);

/* Sets what is given: planes, angles, and what no track of a gun can tell. */
void derive_begin(struct calibration *c);

/* ------------------------------------------------------------------------------------ for the files of this stage */

/* Terms: `count` rows of powers, of which the first `allowed` make the polynomial; the rest are those that symmetry
 * forbids, whose coefficients are found to be 0 within errors. */
struct fit_terms {
  const uint8_t (*powers)[CALIBRATION_VARIABLES];
  uint32_t allowed, count;
  const char *unit; /* of what the fit leaves, in which the points have equal errors */
};
int fit_polynomial(struct derivation *d, const char *name, const struct points *points, const struct fit_terms *terms,
                   struct calibration_polynomial *polynomial);
/* The same if `status` is SL_OK, and frees the points in any case. */
int fit_points(struct derivation *d, int status, const char *name, struct points *points, const struct fit_terms *terms,
               struct calibration_polynomial *polynomial);
void fit_note(struct derivation *d, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
