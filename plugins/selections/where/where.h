/* where.h: lines without code. The requirements are an expression in the graph, where: "pt > 2 GeV and chi2 < 20". It
 * is compiled once (where_compile.c); the kernels interpret the program for each candidate (expressions.md: the
 * language). The machine has one result register and a small stack. An instruction is a 64-bit word:
 *   bits 0..7    operation
 *   bits 8..11   kind of the operand: constant, top of the stack, or field of a collection
 *   bits 12..15  jump after the operation: never, if the result is false, or if it is true
 *   bits 16..31  target of the jump, a later instruction
 *   bits 32..63  the constant, or offset of the pointer to the values in the arguments and type of the values
 * A condition is 1 or 0. Each instruction rounds once to float32, so that all targets have identical results.
 * Large integers are compared by one instruction of 3 to 5 words. Each of its two operands is a word as for WHERE_LOAD.
 * The word of a constant has only its type, u64 or i64, and the constant is the next word. */
#ifndef SELECTIONS_WHERE_H
#define SELECTIONS_WHERE_H

#include <sluice/math.h>
#include <sluice/plugin.h>

/* Limits, and the operations in bits 0..7. */
enum { WHERE_WORDS_MAX = 512, WHERE_STACK_MAX = 8, WHERE_TEXT_MAX = 65535 };
enum {
  WHERE_LOAD, /* result = operand */
  WHERE_ADD,
  WHERE_SUBTRACT,
  WHERE_MULTIPLY,
  WHERE_DIVIDE,
  WHERE_MIN,
  WHERE_MAX,
  WHERE_LESS,
  WHERE_LESS_EQUAL,
  WHERE_GREATER,
  WHERE_GREATER_EQUAL,
  WHERE_EQUAL,
  WHERE_UNEQUAL,
  WHERE_HAS,
  WHERE_NEGATE,
  WHERE_ABS,
  WHERE_SQRT,
  WHERE_LOG,
  WHERE_NOT,
  WHERE_JUMP,     /* no operation */
  WHERE_PUSH,     /* push the result */
  WHERE_MASS,     /* mass of the pair; the masses of the children are the constants of this and the next word */
  WHERE_INTEGERS, /* exact comparison of the operands in the next words; the comparison is in bits 32..63 */
  WHERE_OPERATIONS
};
enum {
  WHERE_NO_OPERAND,
  WHERE_CONSTANT,
  WHERE_STACK, /* pop the stack: left operand; the result is the right operand */
  WHERE_OF_CANDIDATE,
  WHERE_OF_FIRST,
  WHERE_OF_SECOND,
  WHERE_OF_EVENT,
  WHERE_COUNT, /* number of items in the event; the pointer is that of the offsets */
  WHERE_OPERANDS
};
enum { WHERE_NO_JUMP, WHERE_IF_FALSE, WHERE_IF_TRUE };
enum {
  WHERE_OPERAND_SHIFT = 8,
  WHERE_JUMP_SHIFT = 12,
  WHERE_TARGET_SHIFT = 16,
  WHERE_CONSTANT_SHIFT = 32,
  WHERE_TYPE_SHIFT = 48, /* type of a value; the 16 bits below are the offset of the pointer in the arguments */
  WHERE_4_BITS = 0xF,
  WHERE_8_BITS = 0xFF,
  WHERE_16_BITS = 0xFFFF
};

/* ---------------------------------------------------------------------------------------------- compiling */

struct where_program {
  uint64_t words[WHERE_WORDS_MAX];
  uint32_t count;
  struct where_comparison {
    uint32_t word;                                   /* its instruction */
    uint32_t left_at, left_end, right_at, right_end; /* bytes of its operands in the expression */
  } comparisons[WHERE_WORDS_MAX];
  uint32_t comparison_count;
};

/* Names that an expression may use: `prefix` followed by a field of the collection with one value per item (or per
 * event, for WHERE_OF_EVENT). Without a collection: the name `prefix`, a count. */
struct where_scope {
  const char *prefix;
  const struct sl_collection *collection;
  uint32_t args_offset;  /* offset of the port in the arguments */
  uint32_t operand;      /* WHERE_OF_..., WHERE_COUNT */
  const char *port;      /* count: name of the optional input; NULL: always available */
  uint32_t bound_offset; /* count: offset of the bound of the optional input */
};
struct where_language {
  const struct where_scope *scopes;
  uint32_t scope_count;
  uint32_t has_masses; /* candidates have children */
};

/* An error or a warning, with the offset of the byte of the expression that it refers to. */
enum { WHERE_FAULT_BYTES = 320 };
struct where_fault {
  uint32_t at, is_warning;
  char text[WHERE_FAULT_BYTES];
};

#ifdef __cplusplus
extern "C" {
#endif
/* Compiles an expression. Returns SL_OK, possibly with a warning in `fault`, or SL_EINVAL with the error in `fault`.
 * `args`: arguments of a check, which show the connected inputs; NULL: all inputs count as connected. An empty
 * expression gives an empty program, which is true. */
int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct where_program *program, struct where_fault *fault);
/* An SL_CHECK: reports errors and warnings of the property `where`. */
int where_check(const struct sl_services *s, const char *text, const void *args, const struct where_language *language);
/* An SL_PREPARE: fills the table `program`; *count: number of words of the program. For explanations the table also
 * has, after the program, the number of comparisons and the bytes of the expression, each in 32 bits of a word; two
 * words for each comparison: its instruction, and the ends of its operands in 16 bits each; the bytes of the
 * expression. */
int where_prepare(const struct sl_services *s, const char *text, const struct where_language *language,
                  uint32_t *count);
/* Finds the name nearest to `word` (`length` bytes) in edit distance among the names that are offered one by one. The
 * result is NULL if no name is near enough. */
struct where_nearest {
  const char *word;
  uint32_t length, distance;
  char best[64];
};
void where_nearest_offer(struct where_nearest *nearest, const char *prefix, const char *name);
const char *where_nearest_result(const struct where_nearest *nearest);
#ifdef __cplusplus
}
#endif

#endif
