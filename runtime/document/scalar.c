/* scalar.c: the regular expressions of YAML 1.2, section 10.3.2, as small matchers. */
#include "document/scalar.h"

#include <stdlib.h>
#include <string.h>

static int is_one_of(const char *text, const char *a, const char *b, const char *c) {
  return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

/* Parses digits of `base` up to the end of the text; returns 0 if there are other characters. */
static int parse_digits(const char *digits, unsigned base, struct sl_scalar *scalar) {
  if (*digits == 0) return 0;
  for (; *digits != 0; digits++) {
    const int digit = digit_value(*digits);
    if (digit >= (int)base) return 0;
    scalar->too_large |= __builtin_mul_overflow(scalar->magnitude, (uint64_t)base, &scalar->magnitude);
    scalar->too_large |= __builtin_add_overflow(scalar->magnitude, (uint64_t)digit, &scalar->magnitude);
    scalar->number = scalar->number * base + digit;
  }
  scalar->kind = SL_SCALAR_INTEGER;
  return 1;
}

static const char *skip_digits(const char *c) {
  while (*c >= '0' && *c <= '9') c++;
  return c;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static int is_float(const char *c) {
  if (*c == '-' || *c == '+') c++;
  const char *end = skip_digits(c);
  int digits = end > c;
  c = end;
  if (*c == '.') {
    end = skip_digits(c + 1);
    digits |= end > c + 1;
    c = end;
  }
  if (!digits) return 0;
  if (*c == 'e' || *c == 'E') {
    c++;
    if (*c == '-' || *c == '+') c++;
    end = skip_digits(c);
    if (end == c) return 0;
    c = end;
  }
  return *c == 0;
}

static int parse_special_float(const char *text, struct sl_scalar *scalar) {
  const int negative = *text == '-';
  const char *unsigned_text = negative || *text == '+' ? text + 1 : text;
  if (is_one_of(unsigned_text, ".inf", ".Inf", ".INF"))
    scalar->number = negative ? -__builtin_inf() : __builtin_inf();
  else if (is_one_of(text, ".nan", ".NaN", ".NAN"))
    scalar->number = __builtin_nan("");
  else
    return 0;
  scalar->kind = SL_SCALAR_FLOAT;
  return 1;
}

static int parse_integer(const char *text, struct sl_scalar *scalar) {
  struct sl_scalar parsed = {0};
  int found = 0;
  if (text[0] == '0' && text[1] == 'x')
    found = parse_digits(text + 2, 16, &parsed);
  else if (text[0] == '0' && text[1] == 'o')
    found = parse_digits(text + 2, 8, &parsed);
  else {
    parsed.negative = *text == '-';
    found = parse_digits(*text == '-' || *text == '+' ? text + 1 : text, 10, &parsed);
    if (found) parsed.number = strtod(text, NULL); /* correctly rounded */
  }
  if (found) *scalar = parsed;
  return found;
}

struct sl_scalar sl_scalar_parse(const char *text, uint32_t quoted) {
  struct sl_scalar scalar = {.kind = SL_SCALAR_STRING};
  if (quoted) return scalar;
  if (*text == 0 || strcmp(text, "~") == 0 || is_one_of(text, "null", "Null", "NULL")) {
    scalar.kind = SL_SCALAR_NULL;
  } else if (is_one_of(text, "true", "True", "TRUE")) {
    scalar.kind = SL_SCALAR_BOOL;
    scalar.truth = 1;
  } else if (is_one_of(text, "false", "False", "FALSE")) {
    scalar.kind = SL_SCALAR_BOOL;
  } else if (!parse_integer(text, &scalar) && !parse_special_float(text, &scalar) && is_float(text)) {
    scalar.kind = SL_SCALAR_FLOAT;
    scalar.number = strtod(text, NULL);
  }
  return scalar;
}
