/* statements.c: reads texts of statements. */
#include "geometry/statements.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int statement_refuse(struct statement *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->reason, s->reason_size, format, arguments);
  va_end(arguments);
  return 0;
}

/* ------------------------------------------------------------------------------------------------- words */

int statement_word(struct statement *s, char *word, size_t size) {
  while (s->next < s->end && (*s->next == ' ' || *s->next == '\t' || *s->next == '\r')) s->next++;
  size_t length = 0;
  for (; s->next < s->end && *s->next != ' ' && *s->next != '\t' && *s->next != '\r' && *s->next != '#'; s->next++)
    if (length + 1 < size) word[length++] = *s->next;
  word[length] = '\0';
  if (length == 0) s->next = s->end; /* a comment, or the end of the line */
  return length > 0;
}

int statement_expect(struct statement *s, const char *keyword) {
  char word[STATEMENT_WORD_BYTES];
  if (statement_word(s, word, sizeof word) && strcmp(word, keyword) == 0) return 1;
  return statement_refuse(s, "expected \"%s\", found \"%s\"", keyword, word);
}

int statement_name(struct statement *s, const char *what, const char *const *names, uint32_t count, uint32_t *index) {
  char word[STATEMENT_WORD_BYTES], list[128] = "";
  statement_word(s, word, sizeof word);
  for (*index = 0; *index < count; ++*index)
    if (strcmp(word, names[*index]) == 0) return 1;
  for (uint32_t i = 0; i < count; i++) {
    const size_t length = strlen(list);
    const char *separator = i == 0 ? "" : i + 1 == count ? " or " : ", ";
    snprintf(list + length, sizeof list - length, "%s%s", separator, names[i]);
  }
  return statement_refuse(s, "%s is \"%s\", expected %s", what, word, list);
}

/* ----------------------------------------------------------------------------------------------- numbers */

/* Reads the exponent at `c`; returns 0 if it is none. */
static int exponent_of(const char *c, int *exponent) {
  const int is_negative = *c == '-';
  int digits = 0;
  *exponent = 0;
  for (c += *c == '-' || *c == '+'; *c >= '0' && *c <= '9' && digits < 3; c++, digits++)
    *exponent = *exponent * 10 + (*c - '0');
  if (is_negative) *exponent = -*exponent;
  return *c == '\0' && digits > 0;
}

/* Returns 1 if the word is a number that converts to the nearest double: an integer below 10^15, divided or multiplied
 * by a power of ten up to 10^22 (both are exact in double). */
static int number_of(const char *word, double *value) {
  const char *c = word + (*word == '-');
  double number = 0;
  int digits = 0, significant = 0, after_point = 0, is_after_point = 0, exponent = 0;
  for (; (*c >= '0' && *c <= '9') || (*c == '.' && !is_after_point); c++) {
    if (*c == '.') {
      is_after_point = 1;
      continue;
    }
    number = number * 10 + (*c - '0');
    digits++;
    significant += number > 0;
    after_point += is_after_point;
  }
  *value = 0;
  if (digits == 0 || significant > 15) return 0;
  if (*c != '\0' && (*c != 'e' || !exponent_of(c + 1, &exponent))) return 0;
  exponent -= after_point;
  if (exponent < -22 || exponent > 22) return number == 0;
  double power = 1;
  for (int i = 0; i < exponent || i < -exponent; i++) power *= 10;
  number = exponent < 0 ? number / power : number * power;
  *value = *word == '-' ? -number : number;
  return 1;
}

int statement_f64(struct statement *s, const char *what, double low, double high, double *value) {
  char word[STATEMENT_WORD_BYTES];
  if (!statement_word(s, word, sizeof word)) return statement_refuse(s, "%s is missing", what);
  if (!number_of(word, value)) return statement_refuse(s, "%s is not a number of at most 15 digits: %s", what, word);
  if (*value >= low && *value <= high) return 1;
  return statement_refuse(s, "%s is %s, expected %g to %g", what, word, low, high);
}

int statement_f32(struct statement *s, const char *what, double low, double high, float *value) {
  double number = 0;
  const int fine = statement_f64(s, what, low, high, &number);
  *value = (float)number;
  return fine;
}

int statement_i32(struct statement *s, const char *what, int32_t low, int32_t high, int32_t *value) {
  double number = 0;
  if (!statement_f64(s, what, low, high, &number)) return 0;
  *value = (int32_t)number;
  return *value == number ? 1 : statement_refuse(s, "%s is not an integer", what);
}

int statement_u32(struct statement *s, const char *what, uint32_t low, uint32_t high, uint32_t *value) {
  double number = 0;
  if (!statement_f64(s, what, low, high, &number)) return 0;
  *value = (uint32_t)number;
  return *value == number ? 1 : statement_refuse(s, "%s is not an integer", what);
}

/* -------------------------------------------------------------------------------------------- statements */

static uint32_t indices_of(const struct statement_kind *kind) {
  uint32_t product = 1;
  for (uint32_t i = 0; i < STATEMENT_INDICES_MAX && kind->index[i].count > 0; i++) product *= kind->index[i].count;
  return product;
}

static int read_index(struct statement *s, const struct statement_kind *kind, uint32_t *index) {
  *index = 0;
  for (uint32_t i = 0; i < STATEMENT_INDICES_MAX && kind->index[i].count > 0; i++) {
    const struct statement_index *x = &kind->index[i];
    const char *what = x->what ? x->what : kind->keyword;
    uint32_t k = 0;
    if (x->names ? !statement_name(s, what, x->names, x->count, &k)
                 : !statement_u32(s, what, x->first, x->first + x->count - 1, &k))
      return 0;
    *index = *index * x->count + k - x->first;
  }
  return 1;
}

/* Keyword and indices of a statement, as in the text. */
static const char *name_of(const struct statement_kind *kind, uint32_t index, char *name, size_t size) {
  uint32_t rest = indices_of(kind);
  snprintf(name, size, "%s", kind->keyword);
  for (uint32_t i = 0; i < STATEMENT_INDICES_MAX && kind->index[i].count > 0; i++) {
    const struct statement_index *x = &kind->index[i];
    const size_t length = strlen(name);
    rest /= x->count;
    const uint32_t k = index / rest % x->count;
    if (x->names)
      snprintf(name + length, size - length, " %s", x->names[k]);
    else
      snprintf(name + length, size - length, " %u", x->first + k);
  }
  return name;
}

static int read_field(struct statement *s, const struct statement_field *f, char *element) {
  void *value = element + f->offset;
  const char *what = f->what ? f->what : f->word;
  if (f->word && !statement_expect(s, f->word)) return 0;
  if (f->type == SL_TYPE_f32) return statement_f32(s, what, f->low, f->high, (float *)value);
  if (f->type == SL_TYPE_f64) return statement_f64(s, what, f->low, f->high, (double *)value);
  return statement_u32(s, what, (uint32_t)f->low, (uint32_t)f->high, (uint32_t *)value);
}

/* Reads the rest of a line after its keyword. `seen`: bit mask of the indices of each kind. */
static int read_statement(struct statement *s, const struct statement_format *format, void *into, uint64_t *seen) {
  char word[STATEMENT_WORD_BYTES], name[4 * STATEMENT_WORD_BYTES];
  uint32_t k = 0, index = 0;
  while (k < format->kind_count && strcmp(s->keyword, format->kinds[k].keyword) != 0) k++;
  if (k == format->kind_count) return statement_refuse(s, "there is no statement \"%s\"", s->keyword);
  const struct statement_kind *kind = &format->kinds[k];
  if (!read_index(s, kind, &index)) return 0;
  if (!kind->repeats && seen[k] >> index & 1)
    return statement_refuse(s, "%s a second time", name_of(kind, index, name, sizeof name));
  s->seen = seen[k] |= 1ull << index;
  char *element = (char *)into + kind->offset + (size_t)kind->stride * index;
  for (uint32_t i = 0; i < STATEMENT_FIELDS_MAX && (kind->fields[i].word || kind->fields[i].what); i++)
    if (!read_field(s, &kind->fields[i], element)) return 0;
  if (kind->read && !kind->read(s, into, index)) return 0;
  return statement_word(s, word, sizeof word) ? statement_refuse(s, "\"%s\" is one word too many", word) : 1;
}

static int is_complete(struct statement *s, const struct statement_format *format, const uint64_t *seen) {
  char name[4 * STATEMENT_WORD_BYTES];
  for (uint32_t k = 0; k < format->kind_count; k++)
    for (uint32_t i = 0; i < indices_of(&format->kinds[k]) && !format->kinds[k].repeats; i++)
      if (!(seen[k] >> i & 1))
        return statement_refuse(s, "the text ends without %s", name_of(&format->kinds[k], i, name, sizeof name));
  return 1;
}

uint32_t statements_read(const struct statement_format *format, const char *text, size_t bytes, void *into,
                         char *reason, size_t reason_size) {
  struct statement s = {.reason = reason, .reason_size = reason_size};
  uint64_t seen[STATEMENT_KINDS_MAX] = {0};
  uint32_t line = 0;
  if (!text) {
    text = format->text;
    bytes = strlen(text);
  }
  memset(into, 0, format->size);
  const size_t mark = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* UTF-8 byte order mark */
  for (const char *at = text + mark; at < text + bytes; at = s.end + 1) {
    const char *newline = (const char *)memchr(at, '\n', (size_t)(text + bytes - at));
    s.next = at;
    s.end = newline ? newline : text + bytes;
    line++;
    if (statement_word(&s, s.keyword, sizeof s.keyword) && !read_statement(&s, format, into, seen)) return line;
  }
  const int fine = is_complete(&s, format, seen) && (!format->complete || format->complete(&s, into));
  return fine ? 0 : line > 0 ? line : 1;
}

/* ------------------------------------------------------------------------------------------------- files */

/* Opens a text; returns NULL and the reason if it is not a regular file. Opening a pipe would wait for its writer. */
static FILE *open_text(const char *path, const char **reason) {
  struct stat about;
  const int is_there = stat(path, &about) == 0, is_other = is_there && !S_ISREG(about.st_mode);
  *reason = is_other ? "is no regular file" : is_there ? "cannot be opened" : "there is no such file";
  return is_other ? NULL : fopen(path, "rb");
}

int statements_text(const struct sl_services *s, const char *path, char **text, size_t *bytes) {
  enum { BYTES_MAX = 1 << 20 };
  const char *fault = NULL;
  FILE *file = open_text(path, &fault);
  *bytes = 0;
  *text = file ? (char *)malloc(BYTES_MAX) : NULL;
  if (*text) *bytes = fread(*text, 1, BYTES_MAX, file);
  if (file && !*text) fault = "cannot be read: out of memory";
  if (*text && ferror(file)) fault = "cannot be read";
  if (*text && *bytes == BYTES_MAX) fault = "is too long for a description";
  const int is_fine = *text && !ferror(file) && *bytes < BYTES_MAX;
  if (file) fclose(file);
  if (is_fine) return SL_OK;
  s->message(s->context, SL_ERROR, "%s: %s", path, fault);
  free(*text);
  *text = NULL;
  return SL_EIO;
}

int statements_load(const struct statement_format *format, const struct sl_services *s, const char *path, void *into) {
  char reason[256], *text = NULL;
  const int is_file = path && *path;
  size_t bytes = 0;
  const int status = is_file ? statements_text(s, path, &text, &bytes) : SL_OK;
  if (status < 0) return status;
  const uint32_t line = statements_read(format, text, bytes, into, reason, sizeof reason);
  free(text);
  if (line == 0) return SL_OK;
  s->message(s->context, SL_ERROR, "%s:%u: %s", is_file ? path : format->name, line, reason);
  return SL_EFORMAT;
}
