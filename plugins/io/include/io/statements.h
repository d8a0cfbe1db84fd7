/* statements.h: reads texts that describe a detector, as velo's nominal.velo is one: a statement a line, of words and
 * numbers, with comments from # to the line's end.
 *
 * For host code: static functions, no library. Numbers are decimal, whatever the locale. A description is complete or
 * refused, which its reader sees to: it has a function for a line, as
 *
 *   static int read_line(struct io_statement *line, void *into) {
 *     struct rich_description *d = (struct rich_description *)into;
 *     if (io_statement_is(line, "channels")) return io_statement_index(line, "channels", 64, &d->channels);
 *     ...
 *     return io_statement_unknown(line);
 *   }
 *
 * and one for the text, which calls io_statements_read and then asks whether all is there.
 */
#ifndef IO_STATEMENTS_H
#define IO_STATEMENTS_H

#include <sluice/plugin.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IO_STATEMENT_WORD_BYTES = 32 };

/* A line that has at least a word. */
struct io_statement {
  const char *next, *end;                /* rest of the line */
  char keyword[IO_STATEMENT_WORD_BYTES]; /* its first word */
  char *reason;                          /* why it is wrong */
  size_t reason_size;
};

/* Says why: 0, which stands for a line that is wrong. */
static inline int io_statement_refuse(struct io_statement *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline int io_statement_refuse(struct io_statement *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->reason, s->reason_size, format, arguments);
  va_end(arguments);
  return 0;
}

/* The next word of the line, cut to the buffer; 0 at the line's end. */
static inline int io_statement_word(struct io_statement *s, char *word, size_t size) {
  while (s->next < s->end && (*s->next == ' ' || *s->next == '\t' || *s->next == '\r')) s->next++;
  size_t length = 0;
  for (; s->next < s->end && *s->next != ' ' && *s->next != '\t' && *s->next != '\r' && *s->next != '#'; s->next++)
    if (length + 1 < size) word[length++] = *s->next;
  word[length] = '\0';
  if (length == 0) s->next = s->end; /* a comment, or nothing */
  return length > 0;
}

static inline int io_statement_is(const struct io_statement *s, const char *keyword) {
  return strcmp(s->keyword, keyword) == 0;
}

static inline int io_statement_unknown(struct io_statement *s) {
  return io_statement_refuse(s, "there is no statement \"%s\"", s->keyword);
}

/* A number, and the word that it is. */
static inline int io_statement_parse(struct io_statement *s, const char *what, char *word, size_t size, double *value) {
  if (!io_statement_word(s, word, size)) return io_statement_refuse(s, "%s is missing", what);
  const char *c = word + (*word == '-');
  double number = 0, scale = 1;
  int digits = 0, after_point = 0;
  for (; *c; c++) {
    if (*c == '.' && !after_point) {
      after_point = 1;
    } else if (*c >= '0' && *c <= '9' && digits < 15) {
      number = number * 10 + (*c - '0');
      if (after_point) scale *= 10;
      digits++;
    } else {
      return io_statement_refuse(s, "%s is no number: %s", what, word);
    }
  }
  if (digits == 0) return io_statement_refuse(s, "%s is no number: %s", what, word);
  *value = *word == '-' ? -number / scale : number / scale;
  return 1;
}

static inline int io_statement_number(struct io_statement *s, const char *what, float low, float high, float *value) {
  char word[IO_STATEMENT_WORD_BYTES];
  double number = 0;
  if (!io_statement_parse(s, what, word, sizeof word, &number)) return 0;
  *value = (float)number;
  if (*value >= low && *value <= high) return 1;
  return io_statement_refuse(s, "%s is %s, expected %g to %g", what, word, (double)low, (double)high);
}

/* The same for what more is computed of than a float can hold. */
static inline int io_statement_double(struct io_statement *s, const char *what, double low, double high,
                                      double *value) {
  char word[IO_STATEMENT_WORD_BYTES];
  if (!io_statement_parse(s, what, word, sizeof word, value)) return 0;
  if (*value >= low && *value <= high) return 1;
  return io_statement_refuse(s, "%s is %s, expected %g to %g", what, word, low, high);
}

static inline int io_statement_expect(struct io_statement *s, const char *keyword) {
  char word[IO_STATEMENT_WORD_BYTES];
  if (io_statement_word(s, word, sizeof word) && strcmp(word, keyword) == 0) return 1;
  return io_statement_refuse(s, "expected \"%s\", found \"%s\"", keyword, word);
}

/* KEYWORD VALUE */
static inline int io_statement_pair(struct io_statement *s, const char *keyword, float low, float high, float *value) {
  return io_statement_expect(s, keyword) && io_statement_number(s, keyword, low, high, value);
}

/* An integer below `count`. */
static inline int io_statement_index(struct io_statement *s, const char *what, uint32_t count, uint32_t *index) {
  double value = 0;
  if (!io_statement_double(s, what, 0, (double)(count - 1), &value)) return 0;
  *index = (uint32_t)value;
  return (double)*index == value ? 1 : io_statement_refuse(s, "%s is no integer", what);
}

/* A statement that may come once: `seen` keeps which have been, a bit each. */
static inline int io_statement_once(struct io_statement *s, uint32_t *seen, uint32_t bit) {
  if (*seen >> bit & 1) return io_statement_refuse(s, "%s a second time", s->keyword);
  *seen |= 1u << bit;
  return 1;
}

/* Reads a text, perhaps with a byte-order mark of UTF-8, line by line, with `read_line`, which gets `into` and returns
 * 0 for one that is wrong: 0, or the number of the line that is wrong, with the reason. `lines`: how many there are, at
 * least 1. */
static inline uint32_t io_statements_read(const char *text, size_t bytes,
                                          int (*read_line)(struct io_statement *line, void *into), void *into,
                                          char *reason, size_t reason_size, uint32_t *lines) {
  struct io_statement s;
  char rest[IO_STATEMENT_WORD_BYTES];
  uint32_t line = 0;
  memset(&s, 0, sizeof s);
  s.reason = reason;
  s.reason_size = reason_size;
  const size_t mark = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  for (const char *at = text + mark; at < text + bytes;) {
    const char *newline = (const char *)memchr(at, '\n', (size_t)(text + bytes - at));
    s.next = at;
    s.end = newline ? newline : text + bytes;
    line++;
    if (io_statement_word(&s, s.keyword, sizeof s.keyword)) {
      if (!read_line(&s, into)) return line;
      if (io_statement_word(&s, rest, sizeof rest)) {
        io_statement_refuse(&s, "\"%s\" is one word too many", rest);
        return line;
      }
    }
    at = s.end + 1;
  }
  *lines = line > 0 ? line : 1;
  return 0;
}

/* NULL with the reason, if there is no such regular file. To open a pipe would be to wait for its writer. */
static inline FILE *io_statements_open(const char *path, const char **reason) {
  struct stat about;
  const int is_there = stat(path, &about) == 0, is_other = is_there && !S_ISREG(about.st_mode);
  *reason = is_other ? "is no regular file" : is_there ? "cannot be opened" : "there is no such file";
  return is_other ? NULL : fopen(path, "rb");
}

/* The text of file `path`, or an error with its message. The caller frees it. */
static inline int io_statements_text(const struct sl_services *s, const char *path, char **text, size_t *bytes) {
  enum { BYTES_MAX = 1 << 20 };
  const char *fault = NULL;
  FILE *file = io_statements_open(path, &fault);
  *bytes = 0;
  *text = file ? (char *)malloc(BYTES_MAX) : NULL;
  if (*text) *bytes = fread(*text, 1, BYTES_MAX, file);
  if (file && !*text) fault = "is not read: no memory";
  if (*text && ferror(file)) fault = "cannot be read";
  if (*text && *bytes == BYTES_MAX) fault = "is no description: too long";
  const int is_fine = *text && !ferror(file) && *bytes < BYTES_MAX;
  if (file) fclose(file);
  if (is_fine) return SL_OK;
  s->message(s->context, SL_ERROR, "%s: %s", path, fault);
  free(*text);
  *text = NULL;
  return SL_EIO;
}

/* A description's reader: 0, or the number of the line that is wrong, with the reason. */
typedef uint32_t io_description_read(const char *text, size_t bytes, void *description, char *reason,
                                     size_t reason_size);

/* What `read` makes of the file `path`, or of `nominal`, called `name`, where the path is empty: 0, or an error with
 * its message. */
static inline int io_description_load(const struct sl_services *s, const char *path, const char *nominal,
                                      const char *name, io_description_read *read, void *description) {
  char reason[256], *text = NULL;
  const int is_nominal = path == NULL || path[0] == '\0';
  size_t bytes = is_nominal ? strlen(nominal) : 0;
  const int status = is_nominal ? SL_OK : io_statements_text(s, path, &text, &bytes);
  if (status < 0) return status;
  const uint32_t line = read(is_nominal ? nominal : text, bytes, description, reason, sizeof reason);
  free(text);
  if (line == 0) return SL_OK;
  s->message(s->context, SL_ERROR, "%s:%u: %s", is_nominal ? name : path, line, reason);
  return SL_EFORMAT;
}

/* What a description's header ends with, after `uint32_t NAME_description_read(text, bytes, struct NAME_description *,
 * reason, reason_size)`, a reader as above but for the type: NAME_description_load(services, path, nominal,
 * description) is io_description_load with it and the name "nominal.NAME". */
#define IO_DESCRIPTION(name_)                                                                                       \
  static inline uint32_t name_##_description_read_(const char *text, size_t bytes, void *description, char *reason, \
                                                   size_t reason_size) {                                            \
    return name_##_description_read(text, bytes, (struct name_##_description *)description, reason, reason_size);   \
  }                                                                                                                 \
  static inline int name_##_description_load(const struct sl_services *s, const char *path, const char *nominal,    \
                                             struct name_##_description *d) {                                       \
    return io_description_load(s, path, nominal, "nominal." #name_, name_##_description_read_, d);                  \
  }

#endif
