/* where_tokens.c: splits the expression of a line without code into tokens; errors and warnings with positions. */
#include "where_compiler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int where_shown_length(uint32_t length) { return (int)(length < WHERE_SHOWN_MAX ? length : WHERE_SHOWN_MAX); }

void where_fail_here(struct where_compiler *c, const char *expected) {
  static const struct {
    const char *wrong, *right;
  } replacements[] = {{"&", "and"}, {"|", "or"}, {"!", "not"}, {"=", "=="}};
  const char *text = c->text + c->token.at;
  for (size_t i = 0; c->token.kind == WHERE_INVALID && i < SL_COUNT_(replacements); i++)
    if (*text == *replacements[i].wrong) {
      where_fail(c, c->token.at, "`%c` is not an operator; write %s", *text, replacements[i].right);
      return;
    }
  uint32_t length = c->token.length;
  while (c->token.kind == WHERE_INVALID && ((unsigned char)text[length] & 0xC0) == 0x80) length++;
  if (c->token.kind == WHERE_END)
    where_fail(c, c->token.at, "%s is missing at the end", expected);
  else
    where_fail(c, c->token.at, "%s is missing before `%.*s`", expected, where_shown_length(length), text);
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
    c->token = (struct where_token){WHERE_INVALID, at, 1};
}

int where_is_token(const struct where_compiler *c, const struct where_token *token, const char *text) {
  return strlen(text) == token->length && strncmp(c->text + token->at, text, token->length) == 0;
}

int where_accept(struct where_compiler *c, const char *text) {
  if (c->failed || c->token.kind == WHERE_END || !where_is_token(c, &c->token, text)) return 0;
  where_next(c);
  return 1;
}
