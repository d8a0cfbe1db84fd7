/* formula.h: polynomials of a calibration as coefficients in the fixed order of a formula's terms, for host code. */
#ifndef SCIFI_FORMULA_H
#define SCIFI_FORMULA_H

#include "calibration/calibration.h"

#include <sluice/plugin.h>

/* Polynomials of the same terms, and where their coefficients go. A term is the powers of its variables, a digit each:
 * of three variables, 120 is the first one times the square of the second one. */
struct scifi_formula {
  const char *name;
  const struct calibration_polynomial *polynomials;
  uint32_t count, variables, term_count;
  const uint16_t *terms;
  float *coefficients;
};

/* A term that is not in the calibration has the coefficient 0. One that a formula has not would be left out, and is
 * refused. */
int scifi_take_formulas(const struct sl_services *s, const struct scifi_formula *formulas, size_t count);

#endif
