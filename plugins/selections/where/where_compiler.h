/* where_compiler.h: what the parts of the compiler of lines without code share.
 *
 *   where_tokens.c    tokens, literals, faults
 *   where_units.c     dimensions of numbers
 *   where_program.c   instructions; which numbers are exact integers
 *   where_compile.c   the grammar */
#ifndef SELECTIONS_WHERE_COMPILER_H
#define SELECTIONS_WHERE_COMPILER_H

#include "where.h"

enum { WHERE_SHOWN_MAX = 40 }; /* bytes of the text that a message repeats */

struct where_token {
  enum { WHERE_END, WHERE_LITERAL, WHERE_NAME, WHERE_SIGN, WHERE_WRONG } kind;
  uint32_t at, length;
};

/* Powers of MeV, mm, us, and of a unit that texts do not have. */
enum { WHERE_ENERGY, WHERE_LENGTH, WHERE_TIME, WHERE_OTHER, WHERE_DIMENSIONS };
struct where_unit {
  float power[WHERE_DIMENSIONS];
  uint32_t is_bare;   /* a literal without a unit, or made of such literals alone: has any unit */
  uint32_t is_scaled; /* multiplied by a bare number, which may have had a unit */
  uint32_t written;   /* byte after the begin of the first unit in the text; 0: none is written */
};

/* No point, exponent or unit; more digits than a float is read from. */
enum { WHERE_ONLY_DIGITS = 1, WHERE_TOO_MANY_DIGITS };

/* A number of the text, while the program is made. */
struct where_number {
  struct where_unit unit;
  uint32_t is_literal;
  uint32_t is_integer; /* an integer in [low, high]; a field or a literal, or exact in float32 */
  uint32_t digits;     /* of a literal: WHERE_ONLY_DIGITS, ... */
  double low, high;    /* of a literal, also of one that is no integer, its value */
  uint64_t bits;       /* of an integer literal, two's complement */
};

struct where_value {
  enum { WHERE_NUMBER, WHERE_TRUTH } type;
  uint32_t at, end; /* bytes of the text */
  uint32_t begin;   /* first word */
  uint32_t aside;   /* how many numbers are put aside meanwhile */
  struct where_number number;
};

struct where_compiler {
  const char *text;
  const void *args;
  const struct where_language *language;
  struct where_program *program;
  struct where_fault *fault;
  struct where_token token; /* the next one */
  uint32_t end;             /* of the token before it */
  uint32_t last;            /* first word of the last instruction */
  uint32_t depth, label, failed;
};

#ifdef __cplusplus
extern "C" {
#endif
/* where_tokens.c. The first error counts, after which there is nothing more to read; without one, the first warning. */
void where_fail(struct where_compiler *c, uint32_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void where_warn(struct where_compiler *c, uint32_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `wanted` is missing before the next token. */
void where_fail_here(struct where_compiler *c, const char *wanted);
int where_shown(uint32_t length);
void where_next(struct where_compiler *c);
int where_is_token(const struct where_compiler *c, const struct where_token *token, const char *text);
/* Passes the next token if it is `text`; returns whether it was. */
int where_take(struct where_compiler *c, const char *text);

/* where_units.c. Reads a literal and its unit; returns its value as a float. */
float where_read_literal(struct where_compiler *c, struct where_number *number);
void where_field_unit(const char *text, struct where_unit *unit);
/* The unit of a number of two that are added or compared, which must agree. */
struct where_unit where_unit_of_both(struct where_compiler *c, const struct where_value *left,
                                     const struct where_value *right);
struct where_unit where_unit_of_product(const struct where_unit *left, const struct where_unit *right, float sign);
struct where_unit where_unit_of_root(const struct where_unit *unit);
/* A fault unless the value has no dimension, or is an energy. `taker` names the operation in the message. */
void where_want_unit(struct where_compiler *c, const struct where_value *value, int is_energy, const char *taker);

/* where_program.c. A fault where a 32-bit float cannot hold the number. */
void where_use_as_float(struct where_compiler *c, const struct where_value *value);
uint64_t where_instruction(uint32_t operation, uint32_t operand, uint32_t rest);
void where_emit(struct where_compiler *c, uint64_t word);
uint64_t *where_last_word(struct where_compiler *c);
/* A jump on the truth that was read last, in the list `waiting`. */
uint32_t where_add_jump(struct where_compiler *c, uint32_t condition, uint32_t waiting);
void where_end_jumps(struct where_compiler *c, uint32_t waiting);
/* Emits an operation on two numbers; the right one was read last. */
struct where_value where_join(struct where_compiler *c, struct where_value left, struct where_value right,
                              uint32_t operation);
/* The operation on the number that was read last. */
struct where_value where_change(struct where_compiler *c, struct where_value value, uint32_t operation);
/* The range of an integer field, or 0 for fields of floats. */
int where_integer_range(uint32_t type, double *low, double *high);
#ifdef __cplusplus
}
#endif

#endif
