/* where_compiler.h: types and functions shared by the parts of the compiler for lines without code.
 *
 *   where_tokens.c    tokens, errors and warnings
 *   where_units.c     literals, dimensions of numbers
 *   where_program.c   instructions, exact integers
 *   where_compile.c   the grammar */
#ifndef SELECTIONS_WHERE_COMPILER_H
#define SELECTIONS_WHERE_COMPILER_H

#include "where.h"

enum { WHERE_SHOWN_MAX = 40 }; /* bytes of the expression that a message quotes */

struct where_token {
  enum { WHERE_END, WHERE_LITERAL, WHERE_NAME, WHERE_SIGN, WHERE_INVALID } kind;
  uint32_t at, length;
};

/* Powers of MeV, mm, us, and of any other unit. */
enum { WHERE_ENERGY, WHERE_LENGTH, WHERE_TIME, WHERE_OTHER, WHERE_DIMENSIONS };
struct where_unit {
  float power[WHERE_DIMENSIONS];
  uint32_t is_bare;   /* a literal without a unit, or computed from such literals: fits any unit */
  uint32_t is_scaled; /* multiplied by a bare number, which may stand for a quantity with a unit */
  uint32_t written;   /* 1 + byte offset of the first unit in the expression; 0: no unit is written */
};

/* Literal without point, exponent and unit; literal with more digits than a float may have. */
enum { WHERE_ONLY_DIGITS = 1, WHERE_TOO_MANY_DIGITS };

/* A number of the expression, during compilation. */
struct where_number {
  struct where_unit unit;
  uint32_t is_literal;
  uint32_t is_integer; /* an integer in [low, high]: a field, a literal, or a result that is exact in float32 */
  uint32_t digits;     /* literal: WHERE_ONLY_DIGITS, ... */
  double low, high;    /* range; both are the value of a literal, also of a fraction */
  uint64_t bits;       /* integer literal, in two's complement */
};

struct where_value {
  enum { WHERE_NUMBER, WHERE_CONDITION } type;
  uint32_t at, end; /* bytes of the expression */
  uint32_t begin;   /* first word of the program */
  uint32_t depth;   /* stack entries that the computation needs */
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
/* where_tokens.c. Only the first error is reported, and it ends the compilation; without an error, the first warning.
 */
void where_fail(struct where_compiler *c, uint32_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void where_warn(struct where_compiler *c, uint32_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reports that `expected` is missing before the next token. */
void where_fail_here(struct where_compiler *c, const char *expected);
int where_shown_length(uint32_t length);
void where_next(struct where_compiler *c);
int where_is_token(const struct where_compiler *c, const struct where_token *token, const char *text);
/* If the next token is `text`, skips it and returns 1; otherwise returns 0. */
int where_accept(struct where_compiler *c, const char *text);

/* where_units.c. Reads a literal with its unit; returns its value as a float. */
float where_read_literal(struct where_compiler *c, struct where_number *number);
void where_field_unit(const char *text, struct where_unit *unit);
/* The common unit of two numbers that are added or compared. Reports an error if the units differ. */
struct where_unit where_unit_of_both(struct where_compiler *c, const struct where_value *left,
                                     const struct where_value *right);
struct where_unit where_unit_of_product(const struct where_unit *left, const struct where_unit *right, float sign);
struct where_unit where_unit_of_root(const struct where_unit *unit);
/* Reports an error unless the value has no dimension (`is_energy`: unless it is an energy). `consumer` begins the
 * message. */
void where_require_unit(struct where_compiler *c, const struct where_value *value, int is_energy, const char *consumer);

/* where_program.c. Reports an error or a warning if a 32-bit float cannot represent the number. */
void where_use_as_float(struct where_compiler *c, const struct where_value *value);
uint64_t where_instruction(uint32_t operation, uint32_t operand, uint32_t rest);
void where_emit(struct where_compiler *c, uint64_t word);
uint64_t *where_last_word(struct where_compiler *c);
/* Adds a jump on the last condition to the list `pending` of jumps without a target; returns the new list. */
uint32_t where_add_jump(struct where_compiler *c, uint32_t condition, uint32_t pending);
/* Sets the target of all pending jumps to the next instruction. */
void where_end_jumps(struct where_compiler *c, uint32_t pending);
/* Emits an operation on two numbers; the right one was compiled last. */
struct where_value where_binary(struct where_compiler *c, struct where_value left, struct where_value right,
                                uint32_t operation);
/* Emits an operation on the number that was compiled last. */
struct where_value where_unary(struct where_compiler *c, struct where_value value, uint32_t operation);
/* Gets the range of an integer type; returns 0 for floats. */
int where_integer_range(uint32_t type, double *low, double *high);
#ifdef __cplusplus
}
#endif

#endif
