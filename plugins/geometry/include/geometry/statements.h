/* statements.h: reads texts of statements, one a line: descriptions of detectors, calibrations, weights of networks.
 *
 * A statement is a keyword followed by words and numbers; a comment begins with # and ends with the line. A format is a
 * constant table of the statements that a text must have, with the fields of a struct that their numbers go to:
 *
 *   static const struct statement_kind kinds[] = {
 *       {"gas", .fields = {STATEMENT_FIELD("pressure", NULL, f32, 0, 2, struct rich_description, pressure)}},
 *       {"mirror", .index = {{.count = 4}}, STATEMENT_ELEMENTS(struct rich_description, mirrors),
 *        .fields = {STATEMENT_FIELD("x", NULL, f32, -9, 9, struct rich_mirror, x)}}};
 *
 * reads `gas pressure 1.5` once, and `mirror 0 x 3` to `mirror 3 x 3` in any order. A text is complete or refused, with
 * the number of a line and the reason. Numbers are decimal, whatever the locale. For host code in C; link
 * Sluice::geometry.
 */
#ifndef GEOMETRY_STATEMENTS_H
#define GEOMETRY_STATEMENTS_H

#include <sluice/plugin.h>

#include <stddef.h>

enum { STATEMENT_WORD_BYTES = 32, STATEMENT_FIELDS_MAX = 7, STATEMENT_INDICES_MAX = 3, STATEMENT_KINDS_MAX = 16 };

/* The line that is being read. */
struct statement {
  const char *next, *end; /* rest of the line */
  char keyword[STATEMENT_WORD_BYTES];
  uint64_t seen; /* bit mask of the indices of this kind so far, including this one */
  char *reason;  /* why the text is refused */
  size_t reason_size;
};

/* A value of a statement: SL_TYPE_f32, SL_TYPE_f64 or SL_TYPE_u32 at `offset` in the struct. */
struct statement_field {
  const char *word; /* word before the value; NULL: none */
  const char *what; /* name of the value in messages; NULL: `word` */
  double low, high; /* inclusive */
  uint32_t type, offset;
};
#define STATEMENT_FIELD(word_, what_, type_, low_, high_, struct_, member_) \
  { word_, what_, low_, high_, SL_TYPE_##type_, offsetof(struct_, member_) }

/* A number from `first` on, or a name, that distinguishes statements of a kind. */
struct statement_index {
  uint32_t count, first;
  const char *const *names; /* or NULL */
  const char *what;         /* NULL: the keyword */
};

struct statement_kind {
  const char *keyword;
  uint32_t repeats;                                    /* 1: may occur any number of times; 0: once for each index */
  struct statement_index index[STATEMENT_INDICES_MAX]; /* after the keyword; the combined index has 64 values at most */
  /* Optional: reads further words or checks the fields. Returns 1, or the result of statement_refuse. */
  int (*read)(struct statement *s, void *into, uint32_t index);
  uint32_t offset, stride; /* location of the struct of the fields: element `index` of an array */
  struct statement_field fields[STATEMENT_FIELDS_MAX];
};
#define STATEMENT_ELEMENTS(struct_, array_) \
  .offset = offsetof(struct_, array_), .stride = sizeof(((struct_ *)0)->array_[0])

struct statement_format {
  const char *name, *text; /* text that is used without a file, and its name in messages */
  const struct statement_kind *kinds;
  uint32_t kind_count, size; /* bytes of the struct that is filled */
  /* Optional: computes derived data after the last line. Returns as `read` does. */
  int (*complete)(struct statement *s, void *into);
};

/* Defines the format of `struct NAME_description` with the text NAME_nominal_text. */
#define STATEMENT_DESCRIPTION(name_, kinds_, complete_)                                           \
  const struct statement_format name_##_description_format = {"nominal." #name_,                  \
                                                              name_##_nominal_text,               \
                                                              kinds_,                             \
                                                              sizeof(kinds_) / sizeof(kinds_[0]), \
                                                              sizeof(struct name_##_description), \
                                                              complete_}

/* Zeroes `into` and fills it from a text, or from the format's own text if `text` is NULL. Returns 0, or the number of
 * the wrong line (the last line if something is missing) with the reason. */
uint32_t statements_read(const struct statement_format *format, const char *text, size_t bytes, void *into,
                         char *reason, size_t reason_size);

/* Fills `into` from the file `path`, or from the format's own text if the path is NULL or empty. Returns SL_OK or an
 * error after a message. */
int statements_load(const struct statement_format *format, const struct sl_services *s, const char *path, void *into);

/* Reads the text of a file. Returns SL_OK or an error after a message. The caller frees the text. */
int statements_text(const struct sl_services *s, const char *path, char **text, size_t *bytes);

/* Reads the next word of the line, truncated to the buffer. Returns 0 at the end of the line. */
int statement_word(struct statement *s, char *word, size_t size);
/* For functions `read` and `complete`. They return 1, or 0 after the reason. */
int statement_refuse(struct statement *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
int statement_expect(struct statement *s, const char *keyword);
int statement_f64(struct statement *s, const char *what, double low, double high, double *value);
int statement_f32(struct statement *s, const char *what, double low, double high, float *value);
int statement_u32(struct statement *s, const char *what, uint32_t low, uint32_t high, uint32_t *value);
int statement_i32(struct statement *s, const char *what, int32_t low, int32_t high, int32_t *value);
int statement_name(struct statement *s, const char *what, const char *const *names, uint32_t count, uint32_t *index);

#endif
