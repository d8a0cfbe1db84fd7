/* where_tokens.c: the text of a line without code as tokens; literals with their units; what is wrong, and where. */
#include "where_compiler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 15, POWERS = 23 }; /* so that a double holds the digits and the power of ten exactly */

/* -------------------------------------------------------------------------------------------------- faults */

static void write_fault(struct where_compiler *c, uint32_t at, uint32_t is_warning, const char *format,
                        va_list arguments) {
  c->fault->at = at;
  c->fault->is_warning = is_warning;
  vsnprintf(c->fault->text, sizeof c->fault->text, format, arguments);
}

void where_fail(struct where_compiler *c, uint32_t at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!c->failed) write_fault(c, at, 0, format, arguments);
  va_end(arguments);
  c->failed = 1;
  c->token.kind = WHERE_END;
}

void where_warn(struct where_compiler *c, uint32_t at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!c->failed && !*c->fault->text) write_fault(c, at, 1, format, arguments);
  va_end(arguments);
}

int where_shown(uint32_t length) { return (int)(length < WHERE_SHOWN_MAX ? length : WHERE_SHOWN_MAX); }

void where_fail_here(struct where_compiler *c, const char *wanted) {
  static const struct { const char *wrong, *right; } habits[] = {{"&", "and"}, {"|", "or"}, {"!", "not"}, {"=", "=="}};
  const char *text = c->text + c->token.at;
  for (size_t i = 0; c->token.kind == WHERE_WRONG && i < SL_COUNT_(habits); i++)
    if (*text == *habits[i].wrong) {
      where_fail(c, c->token.at, "`%c` means nothing here; write %s", *text, habits[i].right);
      return;
    }
  uint32_t length = c->token.length;
  while (c->token.kind == WHERE_WRONG && ((unsigned char)text[length] & 0xC0) == 0x80) length++;
  if (c->token.kind == WHERE_END)
    where_fail(c, c->token.at, "%s is missing at the end", wanted);
  else
    where_fail(c, c->token.at, "%s is missing before `%.*s`", wanted, where_shown(length), text);
}

/* -------------------------------------------------------------------------------------------------- tokens */

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static uint32_t literal_length(const char *at) {
  const char *c = at;
  while (is_digit(*c)) c++;
  if (*c == '.') c++;
  while (is_digit(*c)) c++;
  if (*c != 'e' && *c != 'E') return (uint32_t)(c - at);
  const char *exponent = c + 1 + (c[1] == '-' || c[1] == '+');
  if (!is_digit(*exponent)) return (uint32_t)(c - at);
  while (is_digit(*exponent)) exponent++;
  return (uint32_t)(exponent - at);
}

static uint32_t name_length(const char *at) {
  const char *c = at;
  while (is_letter(*c) || is_digit(*c) || (*c == '.' && is_letter(c[1]))) c++;
  return (uint32_t)(c - at);
}

static uint32_t sign_length(const char *at) {
  if (strchr("<>=!", *at)) return at[1] == '=' ? 2 : *at == '<' || *at == '>';
  return strchr("+-*/(),", *at) ? 1 : 0;
}

void where_next(struct where_compiler *c) {
  if (c->failed) return;
  c->end = c->token.at + c->token.length;
  const uint32_t at = c->end + (uint32_t)strspn(c->text + c->end, " \t\r\n");
  const char *text = c->text + at;
  if (!*text)
    c->token = (struct where_token){WHERE_END, at, 0};
  else if (is_digit(*text) || (*text == '.' && is_digit(text[1])))
    c->token = (struct where_token){WHERE_LITERAL, at, literal_length(text)};
  else if (is_letter(*text))
    c->token = (struct where_token){WHERE_NAME, at, name_length(text)};
  else if (sign_length(text) > 0)
    c->token = (struct where_token){WHERE_SIGN, at, sign_length(text)};
  else
    c->token = (struct where_token){WHERE_WRONG, at, 1};
}

int where_is_token(const struct where_compiler *c, const struct where_token *token, const char *text) {
  return strlen(text) == token->length && strncmp(c->text + token->at, text, token->length) == 0;
}

int where_take(struct where_compiler *c, const char *text) {
  if (c->failed || c->token.kind == WHERE_END || !where_is_token(c, &c->token, text)) return 0;
  where_next(c);
  return 1;
}

/* ------------------------------------------------------------------------------------------------ literals */

/* digits * 10^power. */
struct decimal {
  uint64_t digits;
  int32_t power;
  uint32_t count;        /* of digits without leading zeros */
  uint32_t is_too_long;  /* the digits need more than 64 bits */
  uint32_t has_exponent; /* or a point */
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
  for (i += i + 1 < length && !is_digit(text[i + 1]) ? 2 : 1; i < length; i++)
    if (exponent < 1000) exponent = 10 * exponent + (text[i] - '0');
  d.power += is_negative ? -exponent : exponent;
  d.has_exponent = 1;
  return d;
}

/* Is it an integer of 64 bits? */
static int is_integer(struct decimal d, uint64_t *value) {
  for (; d.digits > 0 && d.power < 0 && d.digits % 10 == 0; d.power++) d.digits /= 10;
  for (; d.digits > 0 && d.power > 0 && d.digits <= UINT64_MAX / 10; d.power--) d.digits *= 10;
  *value = d.digits;
  return !d.is_too_long && (d.digits == 0 || d.power == 0);
}

/* Rounded once to double, then to float as properties are. */
float where_read_literal(struct where_compiler *c, struct where_number *number) {
  static const double powers[POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const struct where_token token = c->token;
  struct decimal d = read_decimal(c->text + token.at, token.length);
  where_next(c);
  const int32_t unit_power = where_read_unit(c, &number->unit);
  d.power += unit_power;
  const int is_long = d.count > DIGITS_MAX || d.power >= POWERS || d.power <= -POWERS;
  number->is_literal = 1;
  number->is_integer = (uint32_t)is_integer(d, &number->bits);
  number->digits = is_long ? WHERE_TOO_MANY_DIGITS : !d.has_exponent && unit_power == 0 ? WHERE_ONLY_DIGITS : 0;
  if (is_long && !number->is_integer)
    where_fail(c, token.at, "a number has at most %d digits, and an exponent within %d; an integer has at most 64 bits",
               DIGITS_MAX, POWERS - 1);
  else if (is_long)
    number->low = (double)number->bits;
  else
    number->low = d.power < 0 ? (double)d.digits / powers[-d.power] : (double)d.digits * powers[d.power];
  number->high = number->low;
  return (float)number->low;
}
