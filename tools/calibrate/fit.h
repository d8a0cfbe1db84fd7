/* fit.h: derives the constants from tracks of known momentum. */
#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include "calibration/calibration.h"
#include "gun.h"
#include "least_squares.h"

/* Result of a fit, written as a comment above the constant of this name. */
struct fit_note {
  char name[CALIBRATION_NAME_BYTES], text[120];
};
enum { FIT_NOTES = 64 };

struct derivation {
  struct gun_sample ut;        /* exact, up to the UT, with a wider range of slopes */
  struct gun_sample exact;     /* exact, through all layers */
  struct gun_sample simulated; /* with material and measurement errors */
  struct calibration *c;
  struct fit_note notes[FIT_NOTES];
  uint32_t note_count;
  double worst_forbidden; /* largest |coefficient| / error of the terms that symmetry forbids */
};

/* Call them in this order, since later ones use constants of earlier ones; 0 or an error. */
int derive_ut(struct derivation *d);
int derive_forward(struct derivation *d);
int derive_seeding(struct derivation *d);
int derive_matching(struct derivation *d);

/* Sets the constants that are given: planes, angles, and others that tracks cannot determine. */
void derive_begin(struct calibration *c);

/* ------------------------------------------------------------------------------------- for the files fit_*.c */

/* Terms of a fit: `count` rows of powers. The first `allowed` terms are the polynomial; symmetry forbids the others,
 * and their coefficients must be 0 within errors. */
struct fit_terms {
  const uint8_t (*powers)[CALIBRATION_VARIABLES];
  uint32_t allowed, count;
  const char *unit; /* unit of the residuals, in which the points have equal errors */
};
int fit_polynomial(struct derivation *d, const char *name, const struct points *points, const struct fit_terms *terms,
                   struct calibration_polynomial *polynomial);
/* If `status` is SL_OK, fits as fit_polynomial does; frees the points in any case. */
int fit_points(struct derivation *d, int status, const char *name, struct points *points, const struct fit_terms *terms,
               struct calibration_polynomial *polynomial);
void fit_note(struct derivation *d, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
