/* units.c: literals and dimensions of numbers in an expression. Numbers are in MeV, mm, us and their
 * powers; docs/expressions.md, "Units", has the rules.
 *
 * A literal without a unit fits any unit. A product with such a literal has an unknown unit and counts as scaled: a
 * unit that does not fit is then a warning instead of an error, and only if a unit is written. */
#include "expression/compiler.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  uint32_t dimension;
  int32_t power;
} units[] = {{"MeV", SL_EXPRESSION_ENERGY, 0}, {"GeV", SL_EXPRESSION_ENERGY, 3}, {"TeV", SL_EXPRESSION_ENERGY, 6},
             {"mm", SL_EXPRESSION_LENGTH, 0},  {"cm", SL_EXPRESSION_LENGTH, 1},  {"um", SL_EXPRESSION_LENGTH, -3},
             {"m", SL_EXPRESSION_LENGTH, 3},   {"us", SL_EXPRESSION_TIME, 0},    {"ns", SL_EXPRESSION_TIME, -3},
             {"ms", SL_EXPRESSION_TIME, 3},    {"s", SL_EXPRESSION_TIME, 6}};
static const char *const base_names[SL_EXPRESSION_DIMENSIONS] = {"MeV", "mm", "us", "the unit of the field"};
static const char *const dimension_names[SL_EXPRESSION_DIMENSIONS] = {"an energy", "a length", "a time", "a number"};

/* Index of a unit, written in `length` bytes as a name and an optional power; SL_COUNT_(units) if it is unknown. */
static size_t find_unit(const char *text, uint32_t length, uint32_t *power) {
  *power = 1;
  if (length > 1 && text[length - 1] >= '2' && text[length - 1] <= '9') *power = (uint32_t)(text[--length] - '0');
  if (length > 1 && text[length - 1] == '^') length--;
  size_t i = 0;
  while (i < SL_COUNT_(units) && (strlen(units[i].name) != length || strncmp(text, units[i].name, length) != 0)) i++;
  return i;
}

/* Reads the unit of a literal, if there is one. Returns its power of ten relative to MeV, mm and us. */
static int32_t read_unit(struct sl_expression_compiler *c, struct sl_expression_unit *unit) {
  const struct sl_expression_token token = c->token;
  *unit = (struct sl_expression_unit){.is_bare = 1};
  if (token.kind != SL_EXPRESSION_NAME || sl_expression_is_token(c, &token, "and") ||
      sl_expression_is_token(c, &token, "or"))
    return 0;
  uint32_t power, length = token.length;
  const char *text = c->text + token.at;
  if (text[length] == '^' && text[length + 1] >= '2' && text[length + 1] <= '9') length += 2;
  const size_t i = find_unit(text, length, &power);
  if (i == SL_COUNT_(units)) {
    sl_expression_fail(c, token.at,
                       "`%.*s` is not a unit; units are MeV, GeV, TeV, um, mm, cm, m, ns, us, ms, s and powers, mm2",
                       sl_expression_shown_length(length), text);
    return 0;
  }
  c->token.length = length;
  sl_expression_next(c);
  unit->is_bare = 0;
  unit->written = token.at + 1;
  unit->power[units[i].dimension] = (float)power;
  return units[i].power * (int32_t)power;
}

/* ------------------------------------------------------------------------------------------------ literals */

enum { DIGITS_MAX = 15, POWERS = 23 }; /* limits within which a double represents digits and powers of ten exactly */

/* digits * 10^power. */
struct decimal {
  uint64_t digits;
  int32_t power;
  uint32_t count;        /* number of digits without leading zeros */
  uint32_t is_too_long;  /* the digits need more than 64 bits */
  uint32_t has_exponent; /* there is an exponent or a point */
};

static struct decimal read_decimal(const char *text, uint32_t length) {
  struct decimal d = {0, 0, 0, 0, 0};
  uint32_t after_point = 0, i = 0;
  for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
    if (text[i] == '.') {
      after_point = d.has_exponent = 1;
      continue;
    }
    const uint64_t digit = (uint64_t)(text[i] - '0');
    if (d.digits > (UINT64_MAX - digit) / 10) d.is_too_long = 1;
    d.digits = 10 * d.digits + digit;
    d.power -= (int32_t)after_point;
    d.count += d.count > 0 || digit > 0;
  }
  if (i == length) return d;
  int32_t exponent = 0;
  const int is_negative = i + 1 < length && text[i + 1] == '-';
  for (i += i + 1 < length && (text[i + 1] == '+' || text[i + 1] == '-') ? 2 : 1; i < length; i++)
    if (exponent < 1000) exponent = 10 * exponent + (text[i] - '0');
  d.power += is_negative ? -exponent : exponent;
  d.has_exponent = 1;
  return d;
}

/* Whether `d` is an integer of at most 64 bits. */
static int is_integer(struct decimal d, uint64_t *value) {
  for (; d.digits > 0 && d.power < 0 && d.digits % 10 == 0; d.power++) d.digits /= 10;
  for (; d.digits > 0 && d.power > 0 && d.digits <= UINT64_MAX / 10; d.power--) d.digits *= 10;
  *value = d.digits;
  return !d.is_too_long && (d.digits == 0 || d.power == 0);
}

/* The value is rounded once to double, then to float, as for properties. */
float sl_expression_read_literal(struct sl_expression_compiler *c, struct sl_expression_number *number) {
  static const double powers[POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const struct sl_expression_token token = c->token;
  struct decimal d = read_decimal(c->text + token.at, token.length);
  sl_expression_next(c);
  const int32_t unit_power = read_unit(c, &number->unit);
  d.power += unit_power;
  const int is_long = d.count > DIGITS_MAX || d.power >= POWERS || d.power <= -POWERS;
  number->is_literal = 1;
  number->is_integer = (uint32_t)is_integer(d, &number->bits);
  number->digits = is_long                              ? SL_EXPRESSION_TOO_MANY_DIGITS
                   : !d.has_exponent && unit_power == 0 ? SL_EXPRESSION_ONLY_DIGITS
                                                        : 0;
  if (is_long && !number->is_integer)
    sl_expression_fail(c, token.at,
                       "a number has at most %d digits and an exponent within %d; an integer has at most 64 bits",
                       DIGITS_MAX, POWERS - 1);
  else if (is_long)
    number->low = (double)number->bits;
  else
    number->low = d.power < 0 ? (double)d.digits / powers[-d.power] : (double)d.digits * powers[d.power];
  number->high = number->low;
  return (float)number->low;
}

/* -------------------------------------------------------------------------------------------------- dimensions */

/* Reads the unit of a field, such as "MeV", "mm2" and "1/MeV". Unknown units have a separate dimension. */
void sl_expression_field_unit(const char *text, struct sl_expression_unit *unit) {
  float sign = 1;
  *unit = (struct sl_expression_unit){.is_bare = 0};
  if (strcmp(text, "e") == 0 || strcmp(text, "rad") == 0) return;
  for (const char *at = text; *at;) {
    const uint32_t length = (uint32_t)strcspn(at, " */");
    uint32_t power;
    const size_t i = find_unit(at, length, &power);
    if (i < SL_COUNT_(units) && units[i].power == 0) {
      unit->power[units[i].dimension] += sign * (float)power;
    } else if (length != 1 || *at != '1') {
      *unit = (struct sl_expression_unit){.power[SL_EXPRESSION_OTHER] = 1};
      return;
    }
    at += length;
    if (*at == '/') sign = -1;
    at += *at != '\0';
  }
}

/* ------------------------------------------------------------------------------------------------ messages */

enum { UNIT_TEXT_BYTES = 128 };

static void append_powers(char text[UNIT_TEXT_BYTES], const struct sl_expression_unit *unit, float sign,
                          const char *before) {
  for (uint32_t d = 0; d < SL_EXPRESSION_DIMENSIONS; d++) {
    const float power = sign * unit->power[d];
    const size_t length = strlen(text);
    if (!(power > 0)) continue;
    if (power == 1.0f)
      snprintf(text + length, UNIT_TEXT_BYTES - length, "%s%s", before, base_names[d]);
    else
      snprintf(text + length, UNIT_TEXT_BYTES - length, "%s%s^%g", before, base_names[d], (double)power);
    if (*before == ' ') before = "*";
  }
}

/* Describes a unit: "an energy in MeV", "in mm^2/MeV", "a number without a unit". */
static const char *describe(const struct sl_expression_unit *unit, char text[UNIT_TEXT_BYTES]) {
  uint32_t negative = 0, positive = 0, single = SL_EXPRESSION_DIMENSIONS;
  for (uint32_t d = 0; d < SL_EXPRESSION_DIMENSIONS; d++) {
    negative += unit->power[d] < 0;
    positive += unit->power[d] > 0;
    if (unit->power[d] == 1.0f) single = d;
  }
  if (negative + positive == 0) return "a number without a unit";
  const int has_name = negative == 0 && positive == 1 && single < SL_EXPRESSION_DIMENSIONS;
  snprintf(text, UNIT_TEXT_BYTES, "%s%sin%s", has_name ? dimension_names[single] : "", has_name ? " " : "",
           positive == 0 ? " 1" : "");
  append_powers(text, unit, 1, " ");
  append_powers(text, unit, -1, "/");
  return text;
}

static int is_equal(const struct sl_expression_unit *a, const struct sl_expression_unit *b) {
  for (uint32_t d = 0; d < SL_EXPRESSION_DIMENSIONS; d++)
    if (a->power[d] != b->power[d]) return 0;
  return 1;
}

/* Reports `text` as an error; for a scaled number as a warning, if a unit is written. */
static void report(struct sl_expression_compiler *c, uint32_t at, uint32_t is_scaled, uint32_t is_written,
                   const char *text) {
  if (!is_scaled)
    sl_expression_fail(c, at, "%s", text);
  else if (is_written)
    sl_expression_warn(c, at, "%s, if the factors without a unit are pure numbers; write their units", text);
}

/* --------------------------------------------------------------------------------------------- combinations */

struct sl_expression_unit sl_expression_unit_of_both(struct sl_expression_compiler *c,
                                                     const struct sl_expression_value *left,
                                                     const struct sl_expression_value *right) {
  const struct sl_expression_unit *l = &left->number.unit, *r = &right->number.unit;
  struct sl_expression_unit result = l->is_bare || (l->is_scaled && !r->is_bare) ? *r : *l;
  result.written = l->written ? l->written : r->written;
  if (c->failed || l->is_bare || r->is_bare || is_equal(l, r)) return result;
  char text[SL_EXPRESSION_FAULT_BYTES], l_text[UNIT_TEXT_BYTES], r_text[UNIT_TEXT_BYTES];
  snprintf(text, sizeof text, "`%.*s` is %s, but `%.*s` is %s", sl_expression_shown_length(left->end - left->at),
           c->text + left->at, describe(l, l_text), sl_expression_shown_length(right->end - right->at),
           c->text + right->at, describe(r, r_text));
  const uint32_t written = r->written ? r->written : l->written;
  report(c, written ? written - 1 : right->at, l->is_scaled || r->is_scaled, written, text);
  return result;
}

struct sl_expression_unit sl_expression_unit_of_product(const struct sl_expression_unit *left,
                                                        const struct sl_expression_unit *right, float sign) {
  struct sl_expression_unit result = *left;
  for (uint32_t d = 0; d < SL_EXPRESSION_DIMENSIONS; d++) result.power[d] += sign * right->power[d];
  result.is_bare = left->is_bare && right->is_bare;
  result.is_scaled = left->is_scaled || right->is_scaled || left->is_bare != right->is_bare;
  if (!result.written) result.written = right->written;
  return result;
}

struct sl_expression_unit sl_expression_unit_of_root(const struct sl_expression_unit *unit) {
  struct sl_expression_unit result = *unit;
  for (uint32_t d = 0; d < SL_EXPRESSION_DIMENSIONS; d++) result.power[d] /= 2;
  return result;
}

void sl_expression_require_unit(struct sl_expression_compiler *c, const struct sl_expression_value *value,
                                const struct sl_expression_unit *expected, const char *consumer) {
  const struct sl_expression_unit *unit = &value->number.unit;
  const struct sl_expression_unit none = {.is_bare = 0};
  if (c->failed || value->type != SL_EXPRESSION_NUMBER || unit->is_bare || is_equal(unit, expected)) return;
  char text[SL_EXPRESSION_FAULT_BYTES], unit_text[UNIT_TEXT_BYTES], expected_text[UNIT_TEXT_BYTES];
  snprintf(text, sizeof text, "%s %s, but `%.*s` is %s%s", consumer, describe(expected, expected_text),
           sl_expression_shown_length(value->end - value->at), c->text + value->at, describe(unit, unit_text),
           is_equal(expected, &none) ? "; divide it by a unit, such as 1 GeV" : "");
  report(c, unit->written ? unit->written - 1 : value->at, unit->is_scaled, unit->written, text);
}

/* 1 if a power of a dimension can be written: whole powers of the known ones. */
static int has_text(uint32_t dimension, float power) {
  if (dimension == SL_EXPRESSION_OTHER) return power == 0;
  return power > -1000 && power < 1000 && power == (float)(int32_t)power;
}

void sl_expression_unit_text(const struct sl_expression_unit *unit, char text[SL_EXPRESSION_UNIT_BYTES]) {
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t d = 0; d < SL_EXPRESSION_DIMENSIONS; d++)
    if (!has_text(d, unit->power[d])) return;
  for (int32_t sign = 1; sign >= -1; sign -= 2)
    for (uint32_t d = 0; d < SL_EXPRESSION_OTHER; d++) {
      const int32_t power = sign * (int32_t)unit->power[d];
      if (power <= 0) continue;
      const char *before = sign < 0 ? length > 0 ? "/" : "1/" : length > 0 ? " " : "";
      length += (size_t)snprintf(text + length, SL_EXPRESSION_UNIT_BYTES - length, "%s%s", before, base_names[d]);
      if (power > 1) length += (size_t)snprintf(text + length, SL_EXPRESSION_UNIT_BYTES - length, "%d", power);
    }
}
