/* formula.h: converts polynomials of a calibration to coefficients in the fixed order of a formula's terms. Static
 * functions for host code.
 */
#ifndef CALIBRATION_FORMULA_H
#define CALIBRATION_FORMULA_H

#include "calibration/calibration.h"

#include <sluice/plugin.h>

#include <stdio.h>
#include <string.h>

/* Polynomials with the same terms, and the destination of their coefficients. A term is the powers of its variables,
 * one digit each: with three variables, 120 is the first variable times the square of the second. */
struct calibration_formula {
  const char *name;
  const struct calibration_polynomial *polynomials;
  uint32_t count, variables, term_count;
  const uint16_t *terms;
  float *coefficients;
};

static inline int calibration_refuse_term(const struct sl_services *s, const struct calibration_formula *f,
                                          uint32_t which, const uint8_t *power) {
  char number[16] = "", powers[CALIBRATION_VARIABLES * 4 + 1] = "";
  if (f->count > 1) snprintf(number, sizeof number, ".%u", which);
  for (uint32_t i = 0; i < f->variables; i++) {
    const size_t length = strlen(powers);
    snprintf(powers + length, sizeof powers - length, " %u", power[i]);
  }
  s->message(s->context, SL_ERROR, "%s%s: the formula has no term of powers%s", f->name, number, powers);
  return SL_EFORMAT;
}

static inline int calibration_take_formula(const struct sl_services *s, const struct calibration_formula *f) {
  const uint32_t base = 10;
  for (uint32_t which = 0; which < f->count; which++) {
    const struct calibration_polynomial *p = &f->polynomials[which];
    float *coefficients = f->coefficients + (size_t)f->term_count * which;
    memset(coefficients, 0, f->term_count * sizeof *coefficients);
    for (uint32_t i = 0; i < p->count; i++) {
      uint32_t digits = 0, k = 0;
      for (uint32_t v = 0; v < f->variables; v++) digits = base * digits + p->terms[i].power[v];
      while (k < f->term_count && f->terms[k] != digits) k++;
      if (k == f->term_count) return calibration_refuse_term(s, f, which, p->terms[i].power);
      coefficients[k] += (float)p->terms[i].coefficient;
    }
  }
  return SL_OK;
}

/* Writes the coefficients of all formulas. A term that the calibration lacks has the coefficient 0; a term that a
 * formula lacks is refused with a message and SL_EFORMAT. */
static inline int calibration_take_formulas(const struct sl_services *s, const struct calibration_formula *formulas,
                                            size_t count) {
  int status = SL_OK;
  for (size_t i = 0; status == SL_OK && i < count; i++) status = calibration_take_formula(s, &formulas[i]);
  return status;
}

#endif
