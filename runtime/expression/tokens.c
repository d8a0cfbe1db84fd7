/* tokens.c: splits an expression into tokens; errors and warnings with positions. */
#include "expression/compiler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- faults */

static void write_fault(struct sl_expression_compiler *c, uint32_t at, uint32_t is_warning, const char *format,
                        va_list arguments) {
  c->fault->at = c->frame ? c->frame->at : at;
  c->fault->is_warning = is_warning;
  vsnprintf(c->fault->text, sizeof c->fault->text, format, arguments);
}

void sl_expression_fail(struct sl_expression_compiler *c, uint32_t at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!c->failed) write_fault(c, at, 0, format, arguments);
  va_end(arguments);
  c->failed = 1;
  c->token.kind = SL_EXPRESSION_END;
}

void sl_expression_warn(struct sl_expression_compiler *c, uint32_t at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!c->failed && !*c->fault->text) write_fault(c, at, 1, format, arguments);
  va_end(arguments);
}

int sl_expression_shown_length(uint32_t length) {
  return (int)(length < SL_EXPRESSION_SHOWN_MAX ? length : SL_EXPRESSION_SHOWN_MAX);
}

void sl_expression_fail_here(struct sl_expression_compiler *c, const char *expected) {
  static const struct {
    const char *wrong, *right;
  } replacements[] = {{"&", "and"}, {"|", "or"}, {"!", "not"}, {"=", "=="}};
  const char *text = c->text + c->token.at;
  for (size_t i = 0; c->token.kind == SL_EXPRESSION_INVALID && i < SL_COUNT_(replacements); i++)
    if (*text == *replacements[i].wrong) {
      sl_expression_fail(c, c->token.at, "`%c` is not an operator; write %s", *text, replacements[i].right);
      return;
    }
  uint32_t length = c->token.length;
  while (c->token.kind == SL_EXPRESSION_INVALID && ((unsigned char)text[length] & 0xC0) == 0x80) length++;
  if (c->token.kind == SL_EXPRESSION_END)
    sl_expression_fail(c, c->token.at, "%s is missing at the end", expected);
  else
    sl_expression_fail(c, c->token.at, "%s is missing before `%.*s`", expected, sl_expression_shown_length(length),
                       text);
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
  return strchr("+-*/^(),", *at) ? 1 : 0;
}

void sl_expression_next(struct sl_expression_compiler *c) {
  if (c->failed) return;
  c->end = c->token.at + c->token.length;
  const uint32_t at = c->end + (uint32_t)strspn(c->text + c->end, " \t\r\n");
  const char *text = c->text + at;
  if (!*text)
    c->token = (struct sl_expression_token){SL_EXPRESSION_END, at, 0};
  else if (is_digit(*text) || (*text == '.' && is_digit(text[1])))
    c->token = (struct sl_expression_token){SL_EXPRESSION_LITERAL, at, literal_length(text)};
  else if (is_letter(*text))
    c->token = (struct sl_expression_token){SL_EXPRESSION_NAME, at, name_length(text)};
  else if (sign_length(text) > 0)
    c->token = (struct sl_expression_token){SL_EXPRESSION_SIGN, at, sign_length(text)};
  else
    c->token = (struct sl_expression_token){SL_EXPRESSION_INVALID, at, 1};
}

int sl_expression_is_token(const struct sl_expression_compiler *c, const struct sl_expression_token *token,
                           const char *text) {
  return strlen(text) == token->length && strncmp(c->text + token->at, text, token->length) == 0;
}

int sl_expression_accept(struct sl_expression_compiler *c, const char *text) {
  if (c->failed || c->token.kind == SL_EXPRESSION_END || !sl_expression_is_token(c, &c->token, text)) return 0;
  sl_expression_next(c);
  return 1;
}
