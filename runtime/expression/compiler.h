/* compiler.h: types and functions shared by the parts of the compiler of expressions (sluice/expression.h).
 *
 *   tokens.c    tokens, errors and warnings
 *   units.c     literals, dimensions of numbers
 *   program.c   instructions, exact integers
 *   compile.c   the grammar
 *   nearest.c   the nearest name */
#ifndef SL_EXPRESSION_COMPILER_H
#define SL_EXPRESSION_COMPILER_H

#include <sluice/expression.h>
#include <sluice/math.h>

enum { SL_EXPRESSION_SHOWN_MAX = 40 }; /* bytes of the expression that a message quotes */

struct sl_expression_token {
  enum { SL_EXPRESSION_END, SL_EXPRESSION_LITERAL, SL_EXPRESSION_NAME, SL_EXPRESSION_SIGN, SL_EXPRESSION_INVALID } kind;
  uint32_t at, length;
};

struct sl_expression_unit {
  float power[SL_EXPRESSION_DIMENSIONS];
  uint32_t is_bare;   /* a literal without a unit, or computed from such literals: fits any unit */
  uint32_t is_scaled; /* multiplied by a bare number, which may stand for a quantity with a unit */
  uint32_t written;   /* 1 + byte offset of the first unit in the expression; 0: no unit is written */
};

/* Literal without point, exponent and unit; literal with more digits than a float may have. */
enum { SL_EXPRESSION_ONLY_DIGITS = 1, SL_EXPRESSION_TOO_MANY_DIGITS };

/* A number of the expression, during compilation. */
struct sl_expression_number {
  struct sl_expression_unit unit;
  uint32_t is_literal;
  uint32_t is_integer; /* an integer in [low, high]: a field, a literal, or a result that is exact in float32 */
  uint32_t digits;     /* literal: SL_EXPRESSION_ONLY_DIGITS, ... */
  double low, high;    /* range; both are the value of a literal, also of a fraction */
  uint64_t bits;       /* integer literal, in two's complement */
  uint32_t rounded_at, rounded_end; /* bytes of an integer that was rounded to compute the number; end 0: none was */
};

struct sl_expression_value {
  enum { SL_EXPRESSION_NUMBER, SL_EXPRESSION_CONDITION } type;
  uint32_t at, end; /* bytes of the expression */
  uint32_t begin;   /* first word of the program */
  uint32_t depth;   /* stack entries that the computation needs */
  struct sl_expression_number number;
};

/* The function of the language that is being compiled, and its arguments. */
struct sl_expression_frame {
  const struct sl_function *function;
  const float *arguments;
  uint32_t at; /* the call in the expression, where errors are reported */
};

struct sl_expression_compiler {
  const char *text;                        /* the expression, or the text of the function `frame` */
  const struct sl_expression_frame *frame; /* NULL: none */
  const struct sl_expression_language *language;
  struct sl_expression_program *program;
  struct sl_expression_fault *fault;
  struct sl_expression_token token; /* the next one */
  uint32_t end;                     /* of the token before it */
  uint32_t last;                    /* first word of the last instruction */
  uint32_t depth, label, failed;
};

/* tokens.c. Only the first error is reported, and it ends the compilation; without an error, the first warning.
 */
void sl_expression_fail(struct sl_expression_compiler *c, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sl_expression_warn(struct sl_expression_compiler *c, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that `expected` is missing before the next token. */
void sl_expression_fail_here(struct sl_expression_compiler *c, const char *expected);
int sl_expression_shown_length(uint32_t length);
void sl_expression_next(struct sl_expression_compiler *c);
int sl_expression_is_token(const struct sl_expression_compiler *c, const struct sl_expression_token *token,
                           const char *text);
/* If the next token is `text`, skips it and returns 1; otherwise returns 0. */
int sl_expression_accept(struct sl_expression_compiler *c, const char *text);

/* units.c. Reads a literal with its unit; returns its value as a float. */
float sl_expression_read_literal(struct sl_expression_compiler *c, struct sl_expression_number *number);
void sl_expression_field_unit(const char *text, struct sl_expression_unit *unit);
/* The common unit of two numbers that are added or compared. Reports an error if the units differ. */
struct sl_expression_unit sl_expression_unit_of_both(struct sl_expression_compiler *c,
                                                     const struct sl_expression_value *left,
                                                     const struct sl_expression_value *right);
struct sl_expression_unit sl_expression_unit_of_product(const struct sl_expression_unit *left,
                                                        const struct sl_expression_unit *right, float sign);
struct sl_expression_unit sl_expression_unit_of_root(const struct sl_expression_unit *unit);
/* Reports an error unless the value has the unit `expected`. `consumer` begins the message. */
void sl_expression_require_unit(struct sl_expression_compiler *c, const struct sl_expression_value *value,
                                const struct sl_expression_unit *expected, const char *consumer);
/* Writes the unit of a field with such values: "MeV", "mm2/MeV"; "" if there is none or it is not known. */
void sl_expression_unit_text(const struct sl_expression_unit *unit, char text[SL_EXPRESSION_UNIT_BYTES]);

/* program.c. Reports an error or a warning if a 32-bit float cannot represent the number, or an integer was rounded to
 * compute it. */
void sl_expression_use_as_float(struct sl_expression_compiler *c, const struct sl_expression_value *value);
uint64_t sl_expression_instruction(uint32_t operation, uint32_t operand, uint32_t rest);
void sl_expression_emit(struct sl_expression_compiler *c, uint64_t word);
/* Adds a jump on the last condition to the list `pending` of jumps without a target; returns the new list. */
uint32_t sl_expression_add_jump(struct sl_expression_compiler *c, uint32_t condition, uint32_t pending);
/* Sets the target of all pending jumps to the next instruction. */
void sl_expression_end_jumps(struct sl_expression_compiler *c, uint32_t pending);
/* Emits an operation on two numbers; the right one was compiled last. */
struct sl_expression_value sl_expression_binary(struct sl_expression_compiler *c, struct sl_expression_value left,
                                                struct sl_expression_value right, uint32_t operation);
/* Emits an operation on the number that was compiled last. */
struct sl_expression_value sl_expression_unary(struct sl_expression_compiler *c, struct sl_expression_value value,
                                               uint32_t operation);
/* Emits the product of `exponent` factors of the number that was compiled last. */
struct sl_expression_value sl_expression_power(struct sl_expression_compiler *c, struct sl_expression_value value,
                                               uint32_t exponent);
/* Marks the fields that are compared with constants: SL_EXPRESSION_TEST. */
void sl_expression_mark_tests(struct sl_expression_program *program);
/* Gets the range of an integer type; returns 0 for floats. */
int sl_expression_integer_range(uint32_t type, double *low, double *high);

#endif
