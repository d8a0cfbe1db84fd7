/* program.c: emits the instructions of an expression, and decides which numbers are compared as integers.
 *
 * A right operand that is a single value becomes the operand of the operation. If the right operand is computed, the
 * left one is pushed on the stack before. `a and b` jumps past b if a is false, `a or b` if a is true. The last
 * instruction of a has the jump, unless it is itself the target of a jump. Pending jumps form a linked list in their
 * target bits.
 *
 * Integers of magnitude below 2^24 are exact as floats, and so is the comparison of any integer with such an integer.
 * Two larger fields or literals are compared as integers. A larger integer that is rounded gives a warning where the
 * rounding may change a sum, a difference, a product of integers or a condition. In other results it is as small as the
 * rounding of any operation.
 */
#include "expression/compiler.h"

#include <string.h>

#define FLOAT_INTEGERS  16777216.0         /* 2^24 */
#define DOUBLE_INTEGERS 9007199254740992.0 /* 2^53 */

/* ------------------------------------------------------------------------------------------------ writing */

uint64_t sl_expression_instruction(uint32_t operation, uint32_t operand, uint32_t rest) {
  return operation | (uint64_t)operand << SL_EXPRESSION_OPERAND_SHIFT | (uint64_t)rest << SL_EXPRESSION_CONSTANT_SHIFT;
}

void sl_expression_emit(struct sl_expression_compiler *c, uint64_t word) {
  if (c->program->count == c->language->words_max)
    sl_expression_fail(c, c->token.at, "the expression is too long: it has more than %u instructions",
                       c->language->words_max);
  if (c->failed) return;
  c->last = c->program->count;
  c->program->words[c->program->count++] = word;
}

static uint64_t *last_word(struct sl_expression_compiler *c) { return &c->program->words[c->last]; }

static int is_value(uint64_t word) { return ((uint32_t)word & SL_EXPRESSION_8_BITS) == SL_EXPRESSION_LOAD; }

/* Inserts a push before the word `begin`. */
static void push_before(struct sl_expression_compiler *c, uint32_t begin) {
  uint64_t *words = c->program->words;
  sl_expression_emit(c, 0);
  if (c->failed) return;
  memmove(words + begin + 1, words + begin, (c->program->count - 1 - begin) * sizeof *words);
  words[begin] = sl_expression_instruction(SL_EXPRESSION_PUSH, SL_EXPRESSION_NO_OPERAND, 0);
}

static void emit_operation(struct sl_expression_compiler *c, struct sl_expression_value *left,
                           const struct sl_expression_value *right, uint32_t operation) {
  if (c->program->count == right->begin + 1 && is_value(*last_word(c))) {
    *last_word(c) = (*last_word(c) & ~(uint64_t)SL_EXPRESSION_8_BITS) | operation;
    return;
  }
  push_before(c, right->begin);
  sl_expression_emit(c, sl_expression_instruction(operation, SL_EXPRESSION_STACK, 0));
  if (right->depth + 1 > left->depth) left->depth = right->depth + 1;
  if (left->depth > SL_EXPRESSION_STACK_MAX)
    sl_expression_fail(c, right->at,
                       "more than %d intermediate results must be stored; write this operand before the other one",
                       SL_EXPRESSION_STACK_MAX);
}

uint32_t sl_expression_add_jump(struct sl_expression_compiler *c, uint32_t condition, uint32_t pending) {
  if (c->label == c->program->count)
    sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_JUMP, SL_EXPRESSION_NO_OPERAND, 0));
  if (c->failed) return 0;
  *last_word(c) |= (uint64_t)condition << SL_EXPRESSION_JUMP_SHIFT | (uint64_t)pending << SL_EXPRESSION_TARGET_SHIFT;
  return c->last + 1;
}

void sl_expression_end_jumps(struct sl_expression_compiler *c, uint32_t pending) {
  const uint64_t target = (uint64_t)SL_EXPRESSION_16_BITS << SL_EXPRESSION_TARGET_SHIFT;
  while (!c->failed && pending > 0) {
    uint64_t *word = &c->program->words[pending - 1];
    pending = (uint32_t)((*word & target) >> SL_EXPRESSION_TARGET_SHIFT);
    *word = (*word & ~target) | (uint64_t)c->program->count << SL_EXPRESSION_TARGET_SHIFT;
    c->label = c->program->count;
  }
}

/* ------------------------------------------------------------------------------------------------ integers */

#define RANGE_(name, lowest, highest) [SL_TYPE_##name] = {(double)(lowest), (double)(highest)}
int sl_expression_integer_range(uint32_t type, double *low, double *high) {
  static const struct {
    double low, high;
  } ranges[] = {RANGE_(u8, 0, UINT8_MAX),          RANGE_(u16, 0, UINT16_MAX),       RANGE_(u32, 0, UINT32_MAX),
                RANGE_(u64, 0, UINT64_MAX),        RANGE_(i8, INT8_MIN, INT8_MAX),   RANGE_(i16, INT16_MIN, INT16_MAX),
                RANGE_(i32, INT32_MIN, INT32_MAX), RANGE_(i64, INT64_MIN, INT64_MAX)};
  if (type >= SL_COUNT_(ranges) || !(ranges[type].high > 0)) return 0;
  *low = ranges[type].low;
  *high = ranges[type].high;
  return 1;
}

static int is_in_float(double low, double high) { return low > -FLOAT_INTEGERS && high < FLOAT_INTEGERS; }
static int is_small(const struct sl_expression_number *n) { return n->is_integer && is_in_float(n->low, n->high); }

/* Reports an error or a warning if a 32-bit float cannot represent a literal. */
static void round_literal(struct sl_expression_compiler *c, const struct sl_expression_value *value) {
  const struct sl_expression_number *n = &value->number;
  const int length = sl_expression_shown_length(value->end - value->at);
  const char *text = c->text + value->at;
  if (n->is_literal && n->digits == SL_EXPRESSION_TOO_MANY_DIGITS)
    sl_expression_fail(c, value->at,
                       "a number has at most 15 digits and an exponent within 22, except in a comparison of integers");
  else if (n->is_literal && n->digits == SL_EXPRESSION_ONLY_DIGITS && (double)(float)n->low != n->low)
    sl_expression_warn(c, value->at, "`%.*s` is rounded to %.0f, because it is used as a 32-bit float", length, text,
                       (double)(float)n->low);
}

/* Notes in `result` that the value, or one that it was computed from, was rounded. */
static void note_rounded(const struct sl_expression_value *value, struct sl_expression_number *result) {
  const struct sl_expression_number *n = &value->number;
  const int is_large = n->is_integer && !n->is_literal && !is_small(n);
  if (result->rounded_end == 0 && (n->rounded_end > 0 || is_large)) {
    result->rounded_at = is_large ? value->at : n->rounded_at;
    result->rounded_end = is_large ? value->end : n->rounded_end;
  }
}

void sl_expression_use_as_float(struct sl_expression_compiler *c, const struct sl_expression_value *value) {
  struct sl_expression_number rounded = {.rounded_end = 0};
  round_literal(c, value);
  note_rounded(value, &rounded);
  if (rounded.rounded_end > 0)
    sl_expression_warn(c, rounded.rounded_at, "`%.*s` is rounded above 2^24; only comparisons with integers are exact",
                       sl_expression_shown_length(rounded.rounded_end - rounded.rounded_at),
                       c->text + rounded.rounded_at);
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* Range of the result of an operation on integers. Returns 0 if the result is not an integer. `low` and `high` are
 * exact within 2^53. */
static int combine_ranges(uint32_t operation, const struct sl_expression_number *a,
                          const struct sl_expression_number *b, struct sl_expression_number *result) {
  const double p = a->low * b->low, q = a->low * b->high, r = a->high * b->low, s = a->high * b->high;
  switch (operation) {
    case SL_EXPRESSION_ADD:
      result->low = a->low + b->low;
      result->high = a->high + b->high;
      return 1;
    case SL_EXPRESSION_SUBTRACT:
      result->low = a->low - b->high;
      result->high = a->high - b->low;
      return 1;
    case SL_EXPRESSION_MULTIPLY:
      result->low = least(least(p, q), least(r, s));
      result->high = most(most(p, q), most(r, s));
      return 1;
    case SL_EXPRESSION_MIN:
    case SL_EXPRESSION_MAX:
      result->low = least(a->low, b->low);
      result->high = most(a->high, b->high);
      return 1;
    default:
      return 0;
  }
}

/* 1 if the rounding of an integer operand changes the result as little as the rounding of the operation. */
static int is_relative(uint32_t operation, const struct sl_expression_number *l, const struct sl_expression_number *r) {
  return operation == SL_EXPRESSION_DIVIDE || operation == SL_EXPRESSION_MIN || operation == SL_EXPRESSION_MAX ||
         operation == SL_EXPRESSION_ATAN2 || (operation == SL_EXPRESSION_MULTIPLY && !(l->is_integer && r->is_integer));
}

/* Properties of the result of an arithmetic operation, without its unit. */
static struct sl_expression_number arithmetic(struct sl_expression_compiler *c, const struct sl_expression_value *left,
                                              const struct sl_expression_value *right, uint32_t operation) {
  const struct sl_expression_number *l = &left->number, *r = &right->number;
  struct sl_expression_number result = {.is_integer = l->is_integer && r->is_integer};
  result.is_integer = result.is_integer && combine_ranges(operation, l, r, &result);
  const int is_known = l->is_literal && r->is_literal && (double)(float)result.low == result.low;
  if (is_small(l) && is_small(r) && result.is_integer && !is_small(&result) && !is_known)
    sl_expression_warn(c, left->at, "the result can exceed 2^24, above which 32-bit floats round integers");
  if (is_small(l) && is_small(r) && is_small(&result)) return result;
  result.is_integer = 0;
  if (is_relative(operation, l, r)) {
    round_literal(c, left);
    round_literal(c, right);
    note_rounded(left, &result);
    note_rounded(right, &result);
    return result;
  }
  sl_expression_use_as_float(c, left);
  sl_expression_use_as_float(c, right);
  return result;
}

/* ---------------------------------------------------------------------------------------------- comparisons */

/* Replaces a fraction that is compared with an integer by the next lower integer; returns the comparison to use. */
static uint32_t compare_with_floor(struct sl_expression_compiler *c, struct sl_expression_value *literal, int is_right,
                                   uint32_t operation) {
  struct sl_expression_number *n = &literal->number;
  const int length = sl_expression_shown_length(literal->end - literal->at);
  const char *text = c->text + literal->at;
  if (n->low >= DOUBLE_INTEGERS || n->low <= -DOUBLE_INTEGERS) { /* no fraction: it has 15 digits */
    sl_expression_fail(c, literal->at, "`%.*s` is outside the range of 64-bit integers", length, text);
    return operation;
  }
  if (operation == SL_EXPRESSION_EQUAL || operation == SL_EXPRESSION_UNEQUAL)
    sl_expression_fail(c, literal->at, "an integer is never equal to `%.*s`", length, text);
  const int64_t towards_0 = (int64_t)n->low, below = towards_0 - ((double)towards_0 > n->low);
  n->is_integer = 1;
  n->low = n->high = (double)below;
  n->bits = (uint64_t)below;
  c->program->words[literal->begin] =
      sl_expression_instruction(SL_EXPRESSION_LOAD, SL_EXPRESSION_CONSTANT, sl_bits_from_f32((float)below));
  if (operation == SL_EXPRESSION_LESS || operation == SL_EXPRESSION_LESS_EQUAL)
    return is_right ? SL_EXPRESSION_LESS_EQUAL : SL_EXPRESSION_LESS;
  return is_right ? SL_EXPRESSION_GREATER : SL_EXPRESSION_GREATER_EQUAL;
}

static void emit_integer(struct sl_expression_compiler *c, const struct sl_expression_number *n, uint64_t word) {
  const uint32_t type = n->low < 0 ? SL_TYPE_i64 : SL_TYPE_u64;
  if (!n->is_literal) {
    sl_expression_emit(c, word);
    return;
  }
  sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_LOAD, SL_EXPRESSION_CONSTANT,
                                                  type << (SL_EXPRESSION_TYPE_SHIFT - SL_EXPRESSION_CONSTANT_SHIFT)));
  sl_expression_emit(c, n->bits);
}

/* Emits the exact comparison of two fields or literals. Their words are the last words of the program. */
static void emit_integers(struct sl_expression_compiler *c, const struct sl_expression_value *left,
                          const struct sl_expression_value *right, uint32_t operation) {
  const uint64_t left_word = c->program->words[left->begin], right_word = c->program->words[right->begin];
  c->program->count = left->begin;
  sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_INTEGERS, SL_EXPRESSION_NO_OPERAND, operation));
  emit_integer(c, &left->number, left_word);
  emit_integer(c, &right->number, right_word);
  c->last = left->begin;
}

/* When a comparison, from LESS to HAS, is true. */
static const uint32_t true_bits[] = {SL_EXPRESSION_IF_LESS,
                                     SL_EXPRESSION_IF_LESS | SL_EXPRESSION_IF_EQUAL,
                                     SL_EXPRESSION_IF_GREATER,
                                     SL_EXPRESSION_IF_GREATER | SL_EXPRESSION_IF_EQUAL,
                                     SL_EXPRESSION_IF_EQUAL,
                                     SL_EXPRESSION_IF_LESS | SL_EXPRESSION_IF_GREATER,
                                     0};

/* Makes the instruction that loads a field a test, if a constant follows: the next instruction compares both. */
static void mark_test(const struct sl_expression_compiler *c, uint32_t at, uint32_t comparison) {
  uint64_t *word = &c->program->words[at];
  const uint32_t operand = (uint32_t)*word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  const uint32_t next = (uint32_t)word[1] >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  if (operand >= SL_EXPRESSION_OF_CANDIDATE && operand <= SL_EXPRESSION_OF_EVENT && next == SL_EXPRESSION_CONSTANT)
    *word += SL_EXPRESSION_TEST - SL_EXPRESSION_LOAD + true_bits[comparison - SL_EXPRESSION_LESS];
}

static void compare(struct sl_expression_compiler *c, struct sl_expression_value *left,
                    struct sl_expression_value *right, uint32_t operation) {
  struct sl_expression_number *l = &left->number, *r = &right->number;
  if (operation != SL_EXPRESSION_HAS && l->is_literal && !l->is_integer && r->is_integer && !r->is_literal)
    operation = compare_with_floor(c, left, 0, operation);
  if (operation != SL_EXPRESSION_HAS && r->is_literal && !r->is_integer && l->is_integer && !l->is_literal)
    operation = compare_with_floor(c, right, 1, operation);
  const uint64_t *words = c->program->words;
  const int is_exact = operation == SL_EXPRESSION_HAS ? is_small(l) && is_small(r) && l->low >= 0 && r->low >= 0
                                                      : is_small(l) || is_small(r);
  const int are_values = right->begin == left->begin + 1 && c->program->count == right->begin + 1 &&
                         is_value(words[left->begin]) && is_value(words[right->begin]);
  if (c->failed) return;
  if (l->is_integer && r->is_integer && !is_exact && are_values) {
    emit_integers(c, left, right, operation);
    return;
  }
  if (!l->is_integer || !r->is_integer || !is_exact) {
    sl_expression_use_as_float(c, left);
    sl_expression_use_as_float(c, right);
  }
  if (are_values) mark_test(c, left->begin, operation);
  emit_operation(c, left, right, operation);
}

static void note_comparison(struct sl_expression_compiler *c, const struct sl_expression_value *left,
                            const struct sl_expression_value *right) {
  struct sl_expression_program *p = c->program;
  if (c->failed) return;
  p->comparisons[p->comparison_count++] =
      (struct sl_expression_comparison){c->last, left->at, left->end, right->at, right->end};
}

/* ---------------------------------------------------------------------------------------------- operations */

static const struct sl_expression_unit none; /* no dimension */

struct sl_expression_value sl_expression_binary(struct sl_expression_compiler *c, struct sl_expression_value left,
                                                struct sl_expression_value right, uint32_t operation) {
  struct sl_expression_number result = {.is_integer = 0};
  if (c->failed) return left;
  if (operation == SL_EXPRESSION_HAS) {
    sl_expression_require_unit(c, &left, &none, "`has` needs");
    sl_expression_require_unit(c, &right, &none, "`has` needs");
  } else if (operation == SL_EXPRESSION_DPHI) {
    sl_expression_require_unit(c, &left, &none, "`dphi` needs");
    sl_expression_require_unit(c, &right, &none, "`dphi` needs");
  } else if (operation == SL_EXPRESSION_MULTIPLY || operation == SL_EXPRESSION_DIVIDE) {
    result.unit = sl_expression_unit_of_product(&left.number.unit, &right.number.unit,
                                                operation == SL_EXPRESSION_DIVIDE ? -1 : 1);
  } else {
    result.unit = sl_expression_unit_of_both(c, &left, &right);
  }
  if (operation == SL_EXPRESSION_ATAN2) result.unit = none;
  if (operation >= SL_EXPRESSION_LESS && operation <= SL_EXPRESSION_HAS) {
    left.type = SL_EXPRESSION_CONDITION;
    compare(c, &left, &right, operation);
    note_comparison(c, &left, &right);
  } else {
    const struct sl_expression_unit unit = result.unit;
    result = arithmetic(c, &left, &right, operation);
    result.unit = unit;
    emit_operation(c, &left, &right, operation);
  }
  left.number = result;
  left.end = c->end;
  return left;
}

struct sl_expression_value sl_expression_power(struct sl_expression_compiler *c, struct sl_expression_value value,
                                               uint32_t exponent) {
  struct sl_expression_value result = value;
  if (c->failed) return value;
  for (uint32_t i = 1; i < exponent; i++) {
    const struct sl_expression_unit unit = sl_expression_unit_of_product(&result.number.unit, &value.number.unit, 1);
    result.number = arithmetic(c, &result, &value, SL_EXPRESSION_MULTIPLY);
    result.number.unit = unit;
  }
  sl_expression_emit(
      c, sl_expression_instruction(SL_EXPRESSION_POWER, SL_EXPRESSION_CONSTANT, sl_bits_from_f32((float)exponent)));
  return result;
}

/* Changes the sign of a literal. */
static struct sl_expression_value negate_literal(struct sl_expression_compiler *c, struct sl_expression_value value) {
  struct sl_expression_number *n = &value.number;
  if (n->low > 0 && n->bits > UINT64_C(1) << 63) n->is_integer = 0;
  n->low = n->high = -n->low;
  n->bits = ~n->bits + 1;
  *last_word(c) ^= (uint64_t)0x80000000u << SL_EXPRESSION_CONSTANT_SHIFT;
  return value;
}

struct sl_expression_value sl_expression_unary(struct sl_expression_compiler *c, struct sl_expression_value value,
                                               uint32_t operation) {
  struct sl_expression_number *n = &value.number;
  if (c->failed) return value;
  if (operation == SL_EXPRESSION_NEGATE && n->is_literal) return negate_literal(c, value);
  if (operation == SL_EXPRESSION_SQRT) n->unit = sl_expression_unit_of_root(&n->unit);
  if (operation == SL_EXPRESSION_LOG) {
    sl_expression_require_unit(c, &value, &none, "`log` needs");
    n->unit = (struct sl_expression_unit){.is_bare = n->unit.is_bare};
  }
  if (!is_small(n)) {
    round_literal(c, &value);
    note_rounded(&value, n);
  }
  n->is_integer = is_small(n) && (operation == SL_EXPRESSION_NEGATE || operation == SL_EXPRESSION_ABS);
  n->is_literal = 0;
  const double low = n->low, high = n->high;
  n->low = operation == SL_EXPRESSION_NEGATE ? -high : 0;
  n->high = operation == SL_EXPRESSION_NEGATE ? -low : most(-low, high);
  sl_expression_emit(c, sl_expression_instruction(operation, SL_EXPRESSION_NO_OPERAND, 0));
  return value;
}
