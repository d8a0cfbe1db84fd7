/* read.h: reads a calibration, a text as nominal.calibration is one (README.md, "The file").
 *
 * For host code: static functions, no library. A calibration is complete or refused: each name of calibration.h must
 * appear once, and nothing else. Numbers have at most 15 digits and powers of ten that make them exact to the last bit.
 */
#ifndef CALIBRATION_READ_H
#define CALIBRATION_READ_H

#include "calibration/calibration.h"
#include "io/statements.h"

#include <stddef.h>

enum calibration_kind { CALIBRATION_VALUE, CALIBRATION_POLYNOMIAL, CALIBRATION_TABLE };

/* What a file must hold. */
struct calibration_entry {
  const char *name, *variables;
  size_t offset;
  uint32_t kind, count; /* of numbers, or polynomials */
};
static const struct calibration_entry calibration_entries[] = {
#define CALIBRATION_ENTRY_(member, name) {name, "", offsetof(struct calibration, member), CALIBRATION_VALUE, 1},
    CALIBRATION_VALUES(CALIBRATION_ENTRY_)
#undef CALIBRATION_ENTRY_
#define CALIBRATION_ENTRY_(member, name, count) \
  {name, "", offsetof(struct calibration, member), CALIBRATION_VALUE, count},
        CALIBRATION_LISTS(CALIBRATION_ENTRY_)
#undef CALIBRATION_ENTRY_
#define CALIBRATION_ENTRY_(member, name, count, variables) \
  {name, variables, offsetof(struct calibration, member), CALIBRATION_POLYNOMIAL, count},
            CALIBRATION_POLYNOMIALS(CALIBRATION_ENTRY_)
#undef CALIBRATION_ENTRY_
#define CALIBRATION_ENTRY_(member, name, axes) {name, axes, offsetof(struct calibration, member), CALIBRATION_TABLE, 1},
                CALIBRATION_TABLES(CALIBRATION_ENTRY_)
#undef CALIBRATION_ENTRY_
};
enum { CALIBRATION_ENTRY_COUNT = sizeof calibration_entries / sizeof calibration_entries[0] };

struct calibration_reader {
  struct calibration *into;
  uint32_t seen[CALIBRATION_ENTRY_COUNT]; /* a bit each of several polynomials */
  uint32_t has_begun;
  struct calibration_polynomial *polynomial; /* whose terms come now */
  struct calibration_table *table;           /* whose rows come now */
  uint32_t variables, filled, wanted;
};

/* ------------------------------------------------------------------------------------------------- words */

/* Power of ten of an exponent that begins at `c`: 0 if it is none. */
static inline int calibration_exponent(const char *c, int *exponent) {
  const int is_negative = *c == '-';
  int digits = 0;
  *exponent = 0;
  for (c += *c == '-' || *c == '+'; *c >= '0' && *c <= '9' && digits < 3; c++, digits++)
    *exponent = *exponent * 10 + (*c - '0');
  if (is_negative) *exponent = -*exponent;
  return *c == '\0' && digits > 0;
}

/* 1 if the word is a number that a double has exactly or nearest to it: integers below 10^15, over or times a power of
 * ten up to 10^22, both of which doubles have exactly. */
static inline int calibration_number_of(const char *word, double *value) {
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
  if (digits == 0 || significant > 15) return 0;
  if (*c != '\0' && (*c != 'e' || !calibration_exponent(c + 1, &exponent))) return 0;
  exponent -= after_point;
  if (exponent < -22 || exponent > 22) return number == 0;
  double power = 1;
  for (int i = 0; i < exponent || i < -exponent; i++) power *= 10;
  number = exponent < 0 ? number / power : number * power;
  *value = *word == '-' ? -number : number;
  return 1;
}

static inline int calibration_number(struct io_statement *s, double *value) {
  char word[IO_STATEMENT_WORD_BYTES];
  *value = 0;
  if (!io_statement_word(s, word, sizeof word)) return io_statement_refuse(s, "a number is missing");
  return calibration_number_of(word, value) ? 1 : io_statement_refuse(s, "%s is no number, or too long a one", word);
}

/* The entry of that name and kind, and which of several it is. */
static inline const struct calibration_entry *calibration_find(struct io_statement *s, uint32_t kind, uint32_t *index) {
  char word[IO_STATEMENT_WORD_BYTES] = "";
  io_statement_word(s, word, sizeof word);
  for (uint32_t i = 0; i < CALIBRATION_ENTRY_COUNT; i++) {
    const struct calibration_entry *e = &calibration_entries[i];
    const size_t length = strlen(e->name);
    if (e->kind != kind || strncmp(word, e->name, length) != 0) continue;
    const int is_one_of_several = kind == CALIBRATION_POLYNOMIAL && e->count > 1;
    *index = 0;
    if (!is_one_of_several && word[length] == '\0') return e;
    if (!is_one_of_several || word[length] != '.') continue;
    const char *digits = word + length + 1;
    if (digits[0] < '0' || digits[0] > '9' || strlen(digits) > 2 || (digits[0] == '0' && digits[1])) continue;
    *index = (uint32_t)(digits[0] - '0');
    if (digits[1]) *index = digits[1] >= '0' && digits[1] <= '9' ? *index * 10 + (uint32_t)(digits[1] - '0') : e->count;
    if (*index < e->count) return e;
  }
  io_statement_refuse(s, "there is no %s \"%s\"", s->keyword, word);
  return NULL;
}

static inline int calibration_once(struct io_statement *s, struct calibration_reader *r,
                                   const struct calibration_entry *e, uint32_t index) {
  uint32_t *seen = &r->seen[e - calibration_entries];
  if (*seen >> index & 1) return io_statement_refuse(s, "%s a second time", e->name);
  *seen |= 1u << index;
  return 1;
}

/* The next of some names with blanks between, as the reader has it. */
static inline int calibration_expect_name(struct io_statement *s, const char **names) {
  char word[IO_STATEMENT_WORD_BYTES] = "";
  const size_t length = strcspn(*names, " ");
  io_statement_word(s, word, sizeof word);
  if (strlen(word) != length || strncmp(word, *names, length) != 0)
    return io_statement_refuse(s, "expected the variable %.*s, found \"%s\"", (int)length, *names, word);
  *names += length + ((*names)[length] == ' ');
  return 1;
}

/* ------------------------------------------------------------------------------------------------ statements */

/* value NAME NUMBER... */
static inline int calibration_value(struct io_statement *s, struct calibration_reader *r) {
  uint32_t index;
  const struct calibration_entry *e = calibration_find(s, CALIBRATION_VALUE, &index);
  if (!e || !calibration_once(s, r, e, 0)) return 0;
  double *at = (double *)(void *)((char *)r->into + e->offset);
  for (uint32_t i = 0; i < e->count; i++)
    if (!calibration_number(s, &at[i])) return 0;
  return 1;
}

/* polynomial NAME VARIABLE... */
static inline int calibration_polynomial_begin(struct io_statement *s, struct calibration_reader *r) {
  uint32_t index;
  const struct calibration_entry *e = calibration_find(s, CALIBRATION_POLYNOMIAL, &index);
  if (!e || !calibration_once(s, r, e, index)) return 0;
  r->polynomial = (struct calibration_polynomial *)(void *)((char *)r->into + e->offset) + index;
  r->variables = 0;
  for (const char *names = e->variables; *names != '\0'; r->variables++)
    if (!calibration_expect_name(s, &names)) return 0;
  return 1;
}

/* term COEFFICIENT POWER..., a power for each variable */
static inline int calibration_term_line(struct io_statement *s, struct calibration_reader *r) {
  if (!r->polynomial) return io_statement_refuse(s, "a term without a polynomial");
  if (r->polynomial->count == CALIBRATION_TERMS) return io_statement_refuse(s, "more than %d terms", CALIBRATION_TERMS);
  struct calibration_term *term = &r->polynomial->terms[r->polynomial->count++];
  if (!calibration_number(s, &term->coefficient)) return 0;
  for (uint32_t k = 0; k < r->variables; k++) {
    uint32_t power = 0;
    if (!io_statement_index(s, "a power", 16, &power)) return 0;
    term->power[k] = (uint8_t)power;
  }
  return 1;
}

/* table NAME, and for each axis: NAME LOW HIGH ENTRIES */
static inline int calibration_table_begin(struct io_statement *s, struct calibration_reader *r) {
  uint32_t index, k = 0;
  const struct calibration_entry *e = calibration_find(s, CALIBRATION_TABLE, &index);
  if (!e || !calibration_once(s, r, e, 0)) return 0;
  r->table = (struct calibration_table *)(void *)((char *)r->into + e->offset);
  r->filled = 0;
  r->wanted = 1;
  for (const char *names = e->variables; *names != '\0'; k++) {
    struct calibration_axis *axis = &r->table->axes[k];
    if (!calibration_expect_name(s, &names) || !calibration_number(s, &axis->low) ||
        !calibration_number(s, &axis->high) || !io_statement_index(s, "entries", 1000, &axis->count))
      return 0;
    if (axis->count == 0 || (axis->count > 1 && axis->high <= axis->low))
      return io_statement_refuse(s, "an axis without room");
    r->wanted *= axis->count;
    if (r->wanted > CALIBRATION_ENTRIES) return io_statement_refuse(s, "more than %d entries", CALIBRATION_ENTRIES);
  }
  for (; k < CALIBRATION_AXES; k++) r->table->axes[k].count = 1;
  return 1;
}

/* row NUMBER..., one for each entry of the first axis */
static inline int calibration_row(struct io_statement *s, struct calibration_reader *r) {
  if (!r->table || r->filled == r->wanted) return io_statement_refuse(s, "a row without a table, or one too many");
  for (uint32_t i = 0; i < r->table->axes[0].count; i++)
    if (!calibration_number(s, &r->table->at[r->filled++])) return 0;
  return 1;
}

/* calibration FORMAT NAME */
static inline int calibration_begin(struct io_statement *s, struct calibration_reader *r) {
  uint32_t format = 0;
  if (r->has_begun) return io_statement_refuse(s, "calibration a second time");
  r->has_begun = 1;
  if (!io_statement_index(s, "format", 1000, &format)) return 0;
  if (format != CALIBRATION_FORMAT) return io_statement_refuse(s, "format %u, expected %d", format, CALIBRATION_FORMAT);
  if (!io_statement_word(s, r->into->name, sizeof r->into->name)) return io_statement_refuse(s, "a name is missing");
  return 1;
}

/* What the lines before began is complete: 0 with the reason if not. */
static inline int calibration_is_complete(struct io_statement *s, const struct calibration_reader *r) {
  if (r->polynomial && r->polynomial->count == 0) return io_statement_refuse(s, "a polynomial without terms");
  if (r->table && r->filled < r->wanted)
    return io_statement_refuse(s, "a table has %u of %u entries", r->filled, r->wanted);
  return 1;
}

static inline int calibration_line(struct io_statement *s, void *reader) {
  struct calibration_reader *r = (struct calibration_reader *)reader;
  if (io_statement_is(s, "calibration")) return calibration_begin(s, r);
  if (!r->has_begun) return io_statement_refuse(s, "expected \"calibration\", found \"%s\"", s->keyword);
  if (io_statement_is(s, "term")) return calibration_term_line(s, r);
  if (io_statement_is(s, "row")) return calibration_row(s, r);
  if (!calibration_is_complete(s, r)) return 0;
  r->polynomial = NULL;
  r->table = NULL;
  if (io_statement_is(s, "value")) return calibration_value(s, r);
  if (io_statement_is(s, "polynomial")) return calibration_polynomial_begin(s, r);
  if (io_statement_is(s, "table")) return calibration_table_begin(s, r);
  return io_statement_unknown(s);
}

/* Reads a calibration, a struct calibration: 0, or the number of the line that is wrong (the last one, if something is
 * missing), with the reason. An io_description_read. */
static inline uint32_t calibration_read(const char *text, size_t bytes, void *calibration, char *reason,
                                        size_t reason_size) {
  struct calibration_reader r;
  struct io_statement end;
  uint32_t lines = 0;
  memset(&r, 0, sizeof r);
  memset(&end, 0, sizeof end);
  memset(calibration, 0, sizeof(struct calibration));
  r.into = (struct calibration *)calibration;
  end.reason = reason;
  end.reason_size = reason_size;
  const uint32_t line = io_statements_read(text, bytes, calibration_line, &r, reason, reason_size, &lines);
  if (line != 0) return line;
  if (!calibration_is_complete(&end, &r)) return lines;
  for (uint32_t i = 0; i < CALIBRATION_ENTRY_COUNT; i++) {
    const struct calibration_entry *e = &calibration_entries[i];
    const uint32_t of_several = e->kind == CALIBRATION_POLYNOMIAL ? (1u << e->count) - 1 : 1;
    if (r.seen[i] == of_several) continue;
    io_statement_refuse(&end, "%s is missing", e->name);
    return lines;
  }
  return 0;
}

#endif
