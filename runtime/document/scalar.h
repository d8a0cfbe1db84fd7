/* scalar.h: the type and value of a plain scalar in the core schema of YAML 1.2. */
#ifndef SL_SCALAR_H
#define SL_SCALAR_H

#include <stdint.h>

enum { SL_SCALAR_NULL, SL_SCALAR_BOOL, SL_SCALAR_INTEGER, SL_SCALAR_FLOAT, SL_SCALAR_STRING };

struct sl_scalar {
  uint32_t kind;
  uint32_t negative;  /* INTEGER */
  uint32_t too_large; /* INTEGER: magnitude beyond 64 bits */
  uint32_t truth;     /* BOOL */
  uint64_t magnitude; /* INTEGER */
  double number;      /* INTEGER, FLOAT; may be infinite or NaN */
};

/* Quoted scalars are strings. Requires the C locale's decimal point (base/locale.h). */
struct sl_scalar sl_scalar_parse(const char *text, uint32_t quoted);

#endif
