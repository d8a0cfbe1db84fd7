/* where.h: lines without code. The cuts stand in the graph, as a text, where: "pt > 2 GeV and chi2 < 20"; before the
 * first event they become a program for a small machine (where_compile.c), which the kernels run on each candidate.
 * README.md, "Lines without code", has the language.
 *
 * The machine has one number, the result so far, and a few numbers put aside. An instruction is a word of 64 bits:
 *
 *   bits 0..7    what to do with the result, and mostly an operand
 *   bits 8..11   where the operand is: a constant, a number put aside, or a value of which collection
 *   bits 12..15  jump then, if the result is false, or true
 *   bits 16..31  where to, an instruction further on
 *   bits 32..63  the constant, or where the pointer to the values is in the arguments, and their type
 *
 * A truth is 1 or 0. Each instruction rounds once, to float32, so that nothing is contracted and all targets agree.
 *
 * Integers that a float32 may not hold are compared by one instruction of 3 to 5 words. Each of its two operands is a
 * word as of WHERE_TAKE; after one for a constant, which has only its type, u64 or i64, the constant follows. */
#ifndef SELECTIONS_WHERE_H
#define SELECTIONS_WHERE_H

#include <sluice/math.h>
#include <sluice/plugin.h>

/* Bounds, and what the first word of bits 0..7 says. */
enum { WHERE_WORDS_MAX = 512, WHERE_ASIDE_MAX = 8 };
enum {
  WHERE_TAKE, /* the operand becomes the result */
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
  WHERE_JUMP, /* nothing else */
  WHERE_PUT_ASIDE,
  WHERE_MASS,     /* of the children; the masses are the constants of this word and of the next one */
  WHERE_INTEGERS, /* compares two operands exactly, which are in the next words; bits 32.. have the comparison */
  WHERE_OPERATIONS
};
enum {
  WHERE_NOTHING,
  WHERE_CONSTANT,
  WHERE_ASIDE, /* the left operand, if there are two: the result is the right one */
  WHERE_OF_CANDIDATE,
  WHERE_OF_FIRST,
  WHERE_OF_SECOND,
  WHERE_OF_EVENT,
  WHERE_COUNT, /* of items in the event; the pointer is that of the offsets */
  WHERE_OPERANDS
};
enum { WHERE_STAY, WHERE_IF_FALSE, WHERE_IF_TRUE };
enum {
  WHERE_OPERAND_SHIFT = 8,
  WHERE_JUMP_SHIFT = 12,
  WHERE_TARGET_SHIFT = 16,
  WHERE_CONSTANT_SHIFT = 32,
  WHERE_TYPE_SHIFT = 48, /* of a value; below it the pointer's place in the arguments */
  WHERE_4_BITS = 0xF,
  WHERE_8_BITS = 0xFF,
  WHERE_16_BITS = 0xFFFF
};

/* ---------------------------------------------------------------------------------------------- compiling */

struct where_program {
  uint64_t words[WHERE_WORDS_MAX];
  uint32_t count;
};

/* Names that a text can have: `prefix` and then a field of the collection, as far as it has one value for each item or,
 * of events, for each event; without a collection `prefix` alone, a count. */
struct where_scope {
  const char *prefix;
  const struct sl_collection *collection;
  uint32_t args_offset; /* of the port in the arguments */
  uint32_t operand;     /* WHERE_OF_..., WHERE_COUNT */
  const char *port;     /* of a count: an optional input, whose bound is at `bound_offset`; NULL: it is there */
  uint32_t bound_offset;
};
struct where_language {
  const struct where_scope *scopes;
  uint32_t scope_count;
  uint32_t has_masses; /* candidates have children */
};

/* What is wrong with a text, or probably is, and with which byte of it. */
enum { WHERE_FAULT_BYTES = 320 };
struct where_fault {
  uint32_t at, is_warning;
  char text[WHERE_FAULT_BYTES];
};

#ifdef __cplusplus
extern "C" {
#endif
/* `args`: as a check gets them, to see which inputs are connected; NULL: all that are asked for. SL_OK, or SL_EINVAL
 * with the error in `fault`, which is empty otherwise, or has a warning. Of a text without anything the program is
 * empty, and true. */
int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct where_program *program, struct where_fault *fault);
/* An SL_CHECK: says what is wrong with the property `where`. */
int where_check(const struct sl_services *s, const char *text, const void *args, const struct where_language *language);
/* An SL_PREPARE: the table `program`, and how many words it has. */
int where_prepare(const struct sl_services *s, const char *text, const struct where_language *language,
                  uint32_t *count);
/* The candidate nearest to `word`, of `length` bytes, in edit distance, or NULL: offer one after another. */
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
