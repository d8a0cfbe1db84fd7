/* expression.h: expressions of fields, such as sqrt(x^2 + y^2) and pt > 2 GeV and chi2 < 20 (docs/expressions.md: the
 * language). An expression is compiled once, on the host, to a program that kernels interpret for each candidate
 * (expression_machine.h). The compiler is the static library Sluice::expression, which plugins may link.
 *
 * The machine has one result register and a small stack. An instruction is a 64-bit word:
 *   bits 0..7    operation
 *   bits 8..11   kind of the operand: constant, top of the stack, or field of a collection
 *   bits 12..15  jump after the operation: never, if the result is false, or if it is true
 *   bits 16..31  target of the jump, a later instruction
 *   bits 32..63  the constant; or 16 bits: offset of the pointer to the values in the arguments, 8 bits: type of the
 *                values, 8 bits: number of the link
 * A condition is 1 or 0. Each instruction rounds once to float32, so that all targets have identical results.
 * Large integers are compared by one instruction of 3 to 5 words. Each of its two operands is a word as for LOAD. The
 * word of a constant has only its type, u64 or i64, and the constant is the next word. */
#ifndef SLUICE_EXPRESSION_H
#define SLUICE_EXPRESSION_H

#include <sluice/plugin.h>

/* Limits, and the operations in bits 0..7. */
enum { SL_EXPRESSION_WORDS_MAX = 512, SL_EXPRESSION_STACK_MAX = 8, SL_EXPRESSION_TEXT_MAX = 65535 };
enum {
  SL_EXPRESSION_LOAD, /* result = operand */
  SL_EXPRESSION_ADD,
  SL_EXPRESSION_SUBTRACT,
  SL_EXPRESSION_MULTIPLY,
  SL_EXPRESSION_DIVIDE,
  SL_EXPRESSION_MIN,
  SL_EXPRESSION_MAX,
  SL_EXPRESSION_ATAN2,
  SL_EXPRESSION_DPHI,  /* difference of two angles, from -pi to pi */
  SL_EXPRESSION_POWER, /* product of as many factors as the constant says, multiplied from the left */
  SL_EXPRESSION_LESS,
  SL_EXPRESSION_LESS_EQUAL,
  SL_EXPRESSION_GREATER,
  SL_EXPRESSION_GREATER_EQUAL,
  SL_EXPRESSION_EQUAL,
  SL_EXPRESSION_UNEQUAL,
  SL_EXPRESSION_HAS,
  SL_EXPRESSION_NEGATE,
  SL_EXPRESSION_ABS,
  SL_EXPRESSION_SQRT,
  SL_EXPRESSION_LOG,
  SL_EXPRESSION_NOT,
  SL_EXPRESSION_JUMP,     /* no operation */
  SL_EXPRESSION_PUSH,     /* push the result */
  SL_EXPRESSION_CALL,     /* function of a plugin, `call` in bits 16..31; its arguments are the constants of this and
                           * the next words */
  SL_EXPRESSION_TEST,     /* as LOAD; the next instruction compares the result with a constant: SL_EXPRESSION_IF_... */
  SL_EXPRESSION_INTEGERS, /* exact comparison of the operands in the next words; the comparison is in bits 32..63 */
  SL_EXPRESSION_OPERATIONS
};
enum {
  SL_EXPRESSION_NO_OPERAND,
  SL_EXPRESSION_CONSTANT,
  SL_EXPRESSION_STACK, /* pop the stack: left operand; the result is the right operand */
  SL_EXPRESSION_OF_CANDIDATE,
  SL_EXPRESSION_OF_LINK, /* of the item that an index of the candidate refers to */
  SL_EXPRESSION_OF_EVENT,
  SL_EXPRESSION_COUNT, /* number of items in the event; the pointer is that of the offsets */
  SL_EXPRESSION_OPERANDS
};
enum { SL_EXPRESSION_NO_JUMP, SL_EXPRESSION_IF_FALSE, SL_EXPRESSION_IF_TRUE };
/* Bits of SL_EXPRESSION_TEST instead of a target: when the comparison is true, if it is not SL_EXPRESSION_HAS. */
enum { SL_EXPRESSION_IF_LESS = 1 << 16, SL_EXPRESSION_IF_EQUAL = 1 << 17, SL_EXPRESSION_IF_GREATER = 1 << 18 };
enum {
  SL_EXPRESSION_OPERAND_SHIFT = 8,
  SL_EXPRESSION_JUMP_SHIFT = 12,
  SL_EXPRESSION_TARGET_SHIFT = 16,
  SL_EXPRESSION_CONSTANT_SHIFT = 32,
  SL_EXPRESSION_TYPE_SHIFT = 48,
  SL_EXPRESSION_LINK_SHIFT = 56,
  SL_EXPRESSION_4_BITS = 0xF,
  SL_EXPRESSION_8_BITS = 0xFF,
  SL_EXPRESSION_16_BITS = 0xFFFF
};

/* ---------------------------------------------------------------------------------------------- compiling */

/* Powers of MeV, mm, us, and of any other unit. */
enum { SL_EXPRESSION_ENERGY, SL_EXPRESSION_LENGTH, SL_EXPRESSION_TIME, SL_EXPRESSION_OTHER, SL_EXPRESSION_DIMENSIONS };
enum { SL_EXPRESSION_UNIT_BYTES = 128 };

struct sl_expression_program {
  uint64_t words[SL_EXPRESSION_WORDS_MAX];
  uint32_t count;
  uint32_t leading; /* words at the beginning that sl_expression_lead can run */
  struct sl_expression_comparison {
    uint32_t word;                                   /* its instruction */
    uint32_t left_at, left_end, right_at, right_end; /* bytes of its operands in the expression */
  } comparisons[SL_EXPRESSION_WORDS_MAX];
  uint32_t comparison_count;
  char unit[SL_EXPRESSION_UNIT_BYTES]; /* of the result: "MeV", "mm2/MeV"; "" for none, and if it is not known */
};

/* The name nearest to `word` (`length` bytes) in edit distance among the names that are offered one by one. The result
 * is NULL if no name is near enough. */
struct sl_expression_nearest {
  const char *word;
  uint32_t length, distance;
  char best[64];
};

/* The search for the meaning of a name. */
enum { SL_EXPRESSION_PROBLEM_BYTES = 256 };
struct sl_expression_search {
  const char *name; /* `length` bytes */
  uint32_t length;
  uint32_t arguments;               /* of a function: their number */
  uint32_t at;                      /* byte of the expression */
  const struct sl_function *within; /* the function with the name in its text; NULL: none */
  struct sl_expression_nearest nearest;
  /* Results: an operand, or a function. */
  uint32_t kind;    /* SL_EXPRESSION_OF_..., SL_EXPRESSION_COUNT */
  uint32_t place;   /* offset of the pointer to its values in the arguments, below 2^16 */
  uint32_t type;    /* SL_TYPE_...; not of a count */
  uint32_t link;    /* OF_LINK: its number */
  const char *unit; /* "" for none */
  const struct sl_function *function;
  uint32_t call;                             /* of a function without text: its number in instructions, below 2^16 */
  char problem[SL_EXPRESSION_PROBLEM_BYTES]; /* the error, if the name cannot be used */
};

/* The names that an expression may use. The functions return 1 if there is the name, 0 if not, after names were offered
 * to `nearest`, and SL_EINVAL with the reason in `problem` if it cannot be used. */
struct sl_expression_language {
  void *context;
  int (*find)(void *context, struct sl_expression_search *search);          /* a value */
  int (*find_function)(void *context, struct sl_expression_search *search); /* NULL: there are none */
  const char *condition; /* begins the message if the result is a number: "a line needs"; NULL: numbers are allowed */
  uint32_t words_max;    /* up to SL_EXPRESSION_WORDS_MAX */
};

/* An error or a warning, with the offset of the byte of the expression that it refers to. */
enum { SL_EXPRESSION_FAULT_BYTES = 320 };
struct sl_expression_fault {
  uint32_t at, is_warning;
  char text[SL_EXPRESSION_FAULT_BYTES];
};

#ifdef __cplusplus
extern "C" {
#endif
/* Compiles an expression. Returns SL_OK, possibly with a warning in `fault`, or SL_EINVAL with the error in `fault`. An
 * empty expression gives an empty program, which is true. Thread-safe; keeps no pointers. */
int sl_expression_compile(const char *text, const struct sl_expression_language *language,
                          struct sl_expression_program *program, struct sl_expression_fault *fault);
/* Begins a search; offers the name PREFIX NAME; the nearest name, or NULL. */
void sl_expression_search_begin(struct sl_expression_search *search, const char *name, uint32_t length);
void sl_expression_offer(struct sl_expression_nearest *nearest, const char *prefix, const char *name);
const char *sl_expression_nearest_name(const struct sl_expression_nearest *nearest);
/* Number of parameters of a function. Functions of one name differ in it: a language finds the one with as many
 * parameters as the search has `arguments`, or else one with the name. */
uint32_t sl_expression_parameters(const struct sl_function *function);
#ifdef __cplusplus
}
#endif

#endif
