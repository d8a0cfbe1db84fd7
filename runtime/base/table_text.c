/* table_text.c: see table_text.h. Processes one conversion after the other, by the type of its argument. */
#include "base/table_text.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_BYTES = 64 };

/* A conversion such as "%-8.3f". */
struct conversion {
  char spec[SPEC_BYTES]; /* with numbers in place of `*` */
  size_t bytes, flags;   /* length of the spec; length of its `%` and flags */
  int width, is_left;
  char length, letter; /* letter of the length modifier, 'L' also for ll; 0: none */
};

static void add(struct conversion *c, const char *text, size_t bytes) {
  if (c->bytes + bytes >= SPEC_BYTES) return;
  memcpy(c->spec + c->bytes, text, bytes);
  c->bytes += bytes;
  c->spec[c->bytes] = '\0';
}

/* Reads a width or a precision: digits, or `*` with its argument. */
static const char *add_number(struct conversion *c, const char *at, va_list *arguments, int *number) {
  char text[16];
  const size_t digits = strspn(at, "0123456789");
  if (*at != '*') {
    add(c, at, digits);
    *number = digits ? atoi(at) : 0;
    return at + digits;
  }
  *number = va_arg(*arguments, int);
  snprintf(text, sizeof text, "%d", *number);
  add(c, text, strlen(text));
  return at + 1;
}

/* Reads the conversion that begins at `at` with `%`; returns the text after it. */
static const char *read_conversion(struct conversion *c, const char *at, va_list *arguments) {
  int precision;
  *c = (struct conversion){0};
  c->flags = 1 + strspn(at + 1, "-+ #0");
  c->is_left = memchr(at, '-', c->flags) != NULL;
  add(c, at, c->flags);
  at = add_number(c, at + c->flags, arguments, &c->width);
  if (*at == '.') {
    add(c, at++, 1);
    at = add_number(c, at, arguments, &precision);
  }
  const size_t length = strspn(at, "hljztL");
  c->length = length == 2 && *at == 'l' ? 'L' : length == 1 ? *at : '\0';
  add(c, at, length);
  at += length;
  c->letter = *at;
  if (*at) add(c, at++, 1);
  return at;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_integer(FILE *f, const struct conversion *c, va_list *arguments) {
  switch (c->length) {
    case 'l': /* NOLINT(bugprone-branch-clone): the types differ */
      fprintf(f, c->spec, va_arg(*arguments, long));
      break;
    case 'L':
      fprintf(f, c->spec, va_arg(*arguments, long long));
      break;
    case 'j':
      fprintf(f, c->spec, va_arg(*arguments, intmax_t));
      break;
    case 'z':
      fprintf(f, c->spec, va_arg(*arguments, size_t));
      break;
    case 't':
      fprintf(f, c->spec, va_arg(*arguments, ptrdiff_t));
      break;
    default:
      fprintf(f, c->spec, va_arg(*arguments, int));
  }
}

static void put_float(FILE *f, const struct conversion *c, va_list *arguments) {
  const long double wide = c->length == 'L' ? va_arg(*arguments, long double) : 0;
  const double value = c->length == 'L' ? (double)wide : va_arg(*arguments, double);
  if (!isfinite(value))
    fprintf(f, "%*s", c->is_left ? -c->width : c->width, "-");
  else if (c->length == 'L')
    fprintf(f, c->spec, wide);
  else
    fprintf(f, c->spec, value);
}

static void put_conversion(FILE *f, const struct conversion *c, va_list *arguments) {
  if (c->letter == '%')
    fputc('%', f);
  else if (c->letter && strchr("diouxXc", c->letter))
    put_integer(f, c, arguments);
  else if (c->letter && strchr("aAeEfFgG", c->letter))
    put_float(f, c, arguments);
  else if (c->letter == 's' || c->letter == 'p')
    fprintf(f, c->spec, va_arg(*arguments, void *));
}
#pragma GCC diagnostic pop

char *sl_table_text(const char *format, va_list given) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *f = open_memstream(&text, &bytes);
  if (!f) return NULL;
  va_list arguments;
  va_copy(arguments, given);
  while (*format) {
    struct conversion c;
    const size_t plain = strcspn(format, "%");
    fwrite(format, 1, plain, f);
    format += plain;
    if (*format != '%') continue;
    format = read_conversion(&c, format, &arguments);
    put_conversion(f, &c, &arguments);
  }
  va_end(arguments);
  const int failed = ferror(f);
  if (fclose(f) == 0 && !failed) return text;
  free(text);
  return NULL;
}
