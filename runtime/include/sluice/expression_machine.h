/* expression_machine.h: interprets the program of an expression (expression.h) for a candidate, in a kernel. */
#ifndef SLUICE_EXPRESSION_MACHINE_H
#define SLUICE_EXPRESSION_MACHINE_H

#include <sluice/expression.h>
#include <sluice/kernel.h>

/* The candidate that a program runs on. */
struct sl_expression_subject {
  const void *args;
  const struct sl_expression_link *links;
  uint32_t event, item;
};

/* The pointer at an offset of the argument struct. CUDA would read it byte by byte if it did not know the alignment. */
static SL_DEVICE const void *sl_expression_pointer(const void *args, size_t offset) {
  const void *pointer;
  memcpy(&pointer, __builtin_assume_aligned((const unsigned char *)args + offset, sizeof pointer), sizeof pointer);
  return pointer;
}

static SL_DEVICE uint32_t sl_expression_first(const struct sl_expression_subject *s, uint32_t offsets) {
  return ((const uint32_t *)sl_expression_pointer(s->args, offsets))[s->event];
}

/* The item that a link of `item` refers to. */
static SL_DEVICE uint32_t sl_expression_follow(const struct sl_expression_subject *s,
                                               const struct sl_expression_link *l, uint32_t item) {
  const uint32_t *indices = (const uint32_t *)sl_expression_pointer(s->args, l->indices & SL_EXPRESSION_16_BITS);
  return sl_expression_first(s, l->offsets) + indices[item];
}

static SL_DEVICE uint32_t sl_expression_linked(const struct sl_expression_subject *s, uint32_t link) {
  const struct sl_expression_link *l = &s->links[link];
  const uint32_t through = l->indices >> 16;
  if ((l->indices & SL_EXPRESSION_16_BITS) == 0)
    return sl_expression_first(s, l->offsets) + s->item - sl_expression_first(s, through);
  return sl_expression_follow(s, l, through > 0 ? sl_expression_follow(s, &s->links[through - 1], s->item) : s->item);
}

static SL_DEVICE uint32_t sl_expression_index(const struct sl_expression_subject *s, uint32_t operand, uint64_t word) {
  if (operand == SL_EXPRESSION_OF_LINK) return sl_expression_linked(s, (uint32_t)(word >> SL_EXPRESSION_LINK_SHIFT));
  return operand == SL_EXPRESSION_OF_EVENT ? s->event : s->item;
}

static SL_DEVICE uint32_t sl_expression_type(uint64_t word) {
  return (uint32_t)(word >> SL_EXPRESSION_TYPE_SHIFT) & SL_EXPRESSION_8_BITS;
}

#define SL_EXPRESSION_NUMBER_(name, c_type, bytes) \
  case SL_TYPE_##name:                             \
    return (float)((const c_type *)values)[index];
static SL_DEVICE float sl_expression_number(const void *values, uint32_t type, uint32_t index) {
  switch (type) {
    SL_TYPES(SL_EXPRESSION_NUMBER_)
    default:
      return 0.0f;
  }
}

static SL_DEVICE const void *sl_expression_values(const struct sl_expression_subject *s, uint64_t word) {
  return sl_expression_pointer(s->args, word >> SL_EXPRESSION_CONSTANT_SHIFT & SL_EXPRESSION_16_BITS);
}

/* Value of an operand that is not on the stack. */
static SL_DEVICE float sl_expression_operand(const struct sl_expression_subject *s, uint32_t operand, uint64_t word) {
  if (operand == SL_EXPRESSION_CONSTANT) return sl_f32_from_bits((uint32_t)(word >> SL_EXPRESSION_CONSTANT_SHIFT));
  const void *values = sl_expression_values(s, word);
  if (operand < SL_EXPRESSION_COUNT)
    return sl_expression_number(values, sl_expression_type(word), sl_expression_index(s, operand, word));
  const uint32_t *offsets = (const uint32_t *)values;
  return (float)(offsets[s->event + 1] - offsets[s->event]);
}

/* A 64-bit integer, signed or unsigned. */
struct sl_expression_integer {
  uint64_t bits; /* two's complement */
  uint32_t is_negative;
};

#define SL_EXPRESSION_UNSIGNED_(type, c_type) \
  case SL_TYPE_##type:                        \
    v.bits = ((const c_type *)values)[index]; \
    break;
#define SL_EXPRESSION_SIGNED_(type, c_type)                       \
  case SL_TYPE_##type:                                            \
    v.bits = (uint64_t)(int64_t)((const c_type *)values)[index];  \
    v.is_negative = ((const c_type *)values)[index] < 0 ? 1u : 0; \
    break;
static SL_DEVICE uint32_t sl_expression_integer_words(uint64_t word) {
  return ((uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS) == SL_EXPRESSION_CONSTANT ? 2 : 1;
}

/* Value of an integer operand, which takes one or two words. */
static SL_DEVICE struct sl_expression_integer sl_expression_integer(const struct sl_expression_subject *s,
                                                                    const uint64_t *words) {
  const uint64_t word = words[0];
  const uint32_t operand = (uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  const uint32_t type = sl_expression_type(word);
  struct sl_expression_integer v = {0, 0};
  if (operand == SL_EXPRESSION_CONSTANT) {
    v.bits = words[1];
    v.is_negative = type == SL_TYPE_i64 ? 1u : 0;
    return v;
  }
  const void *values = sl_expression_values(s, word);
  if (operand == SL_EXPRESSION_COUNT) {
    const uint32_t *offsets = (const uint32_t *)values;
    v.bits = offsets[s->event + 1] - offsets[s->event];
    return v;
  }
  const uint32_t index = sl_expression_index(s, operand, word);
  switch (type) {
    SL_EXPRESSION_UNSIGNED_(u8, uint8_t)
    SL_EXPRESSION_UNSIGNED_(u16, uint16_t)
    SL_EXPRESSION_UNSIGNED_(u32, uint32_t)
    SL_EXPRESSION_UNSIGNED_(u64, uint64_t)
    SL_EXPRESSION_SIGNED_(i8, int8_t)
    SL_EXPRESSION_SIGNED_(i16, int16_t)
    SL_EXPRESSION_SIGNED_(i32, int32_t)
    SL_EXPRESSION_SIGNED_(i64, int64_t)
    default:
      break;
  }
  return v;
}

static SL_DEVICE float sl_expression_integers(const struct sl_expression_subject *s, uint32_t comparison,
                                              const uint64_t *left_words, const uint64_t *right_words) {
  const struct sl_expression_integer left = sl_expression_integer(s, left_words),
                                     right = sl_expression_integer(s, right_words);
  const int is_equal = left.bits == right.bits && left.is_negative == right.is_negative;
  const int is_less = left.is_negative != right.is_negative ? left.is_negative != 0 : left.bits < right.bits;
  switch (comparison) {
    case SL_EXPRESSION_LESS:
      return is_less ? 1.0f : 0.0f;
    case SL_EXPRESSION_LESS_EQUAL:
      return is_less || is_equal ? 1.0f : 0.0f;
    case SL_EXPRESSION_GREATER:
      return !is_less && !is_equal ? 1.0f : 0.0f;
    case SL_EXPRESSION_GREATER_EQUAL:
      return !is_less ? 1.0f : 0.0f;
    case SL_EXPRESSION_EQUAL:
      return is_equal ? 1.0f : 0.0f;
    case SL_EXPRESSION_UNEQUAL:
      return !is_equal ? 1.0f : 0.0f;
    default: /* SL_EXPRESSION_HAS */
      return (left.bits & right.bits) != 0 ? 1.0f : 0.0f;
  }
}

#define SL_EXPRESSION_PI 3.14159265f /* nearest to pi */

/* a - b for angles from -pi to pi, from -pi (exclusive) to pi. */
static SL_DEVICE float sl_expression_dphi(float a, float b) {
  const float difference = a - b;
  if (difference > SL_EXPRESSION_PI) return difference - 2.0f * SL_EXPRESSION_PI;
  return difference <= -SL_EXPRESSION_PI ? difference + 2.0f * SL_EXPRESSION_PI : difference;
}

static SL_DEVICE float sl_expression_product(float factor, float count) {
  float product = factor;
  for (uint32_t i = 1; i < (uint32_t)count; i++) product = product * factor;
  return product;
}

/* Result of an operation. All comparisons with NaN are false, including !=. */
static SL_DEVICE float sl_expression_result(uint32_t operation, float left, float right) {
  switch (operation) {
    case SL_EXPRESSION_LOAD:
    case SL_EXPRESSION_TEST:
      return right;
    case SL_EXPRESSION_ADD:
      return left + right;
    case SL_EXPRESSION_SUBTRACT:
      return left - right;
    case SL_EXPRESSION_MULTIPLY:
      return left * right;
    case SL_EXPRESSION_DIVIDE:
      return left / right;
    case SL_EXPRESSION_MIN:
      return sl_min_f32(left, right);
    case SL_EXPRESSION_MAX:
      return sl_max_f32(left, right);
    case SL_EXPRESSION_ATAN2:
      return sl_atan2f(left, right);
    case SL_EXPRESSION_DPHI:
      return sl_expression_dphi(left, right);
    case SL_EXPRESSION_POWER:
      return sl_expression_product(left, right);
    case SL_EXPRESSION_LESS:
      return left < right ? 1.0f : 0.0f;
    case SL_EXPRESSION_LESS_EQUAL:
      return left <= right ? 1.0f : 0.0f;
    case SL_EXPRESSION_GREATER:
      return left > right ? 1.0f : 0.0f;
    case SL_EXPRESSION_GREATER_EQUAL:
      return left >= right ? 1.0f : 0.0f;
    case SL_EXPRESSION_EQUAL:
      return left == right ? 1.0f : 0.0f;
    case SL_EXPRESSION_UNEQUAL:
      return left < right || left > right ? 1.0f : 0.0f;
    case SL_EXPRESSION_HAS:
      return (sl_to_u32(left) & sl_to_u32(right)) != 0 ? 1.0f : 0.0f;
    case SL_EXPRESSION_NEGATE:
      return -left;
    case SL_EXPRESSION_ABS:
      return sl_abs_f32(left);
    case SL_EXPRESSION_SQRT:
      return sl_sqrtf(left);
    case SL_EXPRESSION_LOG:
      return sl_logf(left);
    case SL_EXPRESSION_NOT:
      return left != 0.0f ? 0.0f : 1.0f;
    default:
      return left;
  }
}

/* State of the machine. The stack is an array of its own, so that the other members stay in registers. */
struct sl_expression_state {
  float result;
  uint32_t depth, at; /* at: the next word */
  float *stack;       /* SL_EXPRESSION_STACK_MAX */
};

/* Runs the instruction at m->at, without its jump; not that of a plugin's function (SL_EXPRESSION_CALL). The compiler
 * guarantees that the stack does not overflow. */
static SL_DEVICE void sl_expression_step(const struct sl_expression_subject *s, const uint64_t *program,
                                         struct sl_expression_state *m) {
  const uint64_t word = program[m->at++];
  const uint32_t operation = (uint32_t)word & SL_EXPRESSION_8_BITS;
  const uint32_t operand = (uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  if (operation == SL_EXPRESSION_PUSH) {
    m->stack[m->depth++] = m->result;
  } else if (operand == SL_EXPRESSION_STACK) {
    m->result = sl_expression_result(operation, m->stack[--m->depth], m->result);
  } else if (operation == SL_EXPRESSION_INTEGERS) {
    const uint32_t right = m->at + sl_expression_integer_words(program[m->at]);
    m->result =
        sl_expression_integers(s, (uint32_t)(word >> SL_EXPRESSION_CONSTANT_SHIFT), program + m->at, program + right);
    m->at = right + sl_expression_integer_words(program[right]);
  } else {
    const float right = operand == SL_EXPRESSION_NO_OPERAND ? 0.0f : sl_expression_operand(s, operand, word);
    m->result = sl_expression_result(operation, m->result, right);
  }
}

/* Does the jump of an instruction that was run. The compiler guarantees that jumps go forward. */
static SL_DEVICE void sl_expression_jump(uint64_t word, struct sl_expression_state *m) {
  const uint32_t jump = (uint32_t)word >> SL_EXPRESSION_JUMP_SHIFT & SL_EXPRESSION_4_BITS;
  if (jump != SL_EXPRESSION_NO_JUMP && (jump == SL_EXPRESSION_IF_TRUE) == (m->result != 0.0f))
    m->at = (uint32_t)word >> SL_EXPRESSION_TARGET_SHIFT & SL_EXPRESSION_16_BITS;
}

/* A number; most are of type f32. */
static SL_DEVICE float sl_expression_load(const void *values, uint32_t type, uint32_t index) {
  return type == SL_TYPE_f32 ? ((const float *)values)[index] : sl_expression_number(values, type, index);
}

/* Compares the value that `word`, SL_EXPRESSION_TEST, has loaded with the constant of the next instruction. */
static SL_DEVICE uint32_t sl_expression_compare(float left, uint64_t word, uint64_t next) {
  const float right = sl_f32_from_bits((uint32_t)(next >> SL_EXPRESSION_CONSTANT_SHIFT));
  const uint32_t is_true =
      (uint32_t)word & ((left < right ? SL_EXPRESSION_IF_LESS : 0u) | (left == right ? SL_EXPRESSION_IF_EQUAL : 0u) |
                        (left > right ? SL_EXPRESSION_IF_GREATER : 0u));
  const uint32_t has = ((uint32_t)next & SL_EXPRESSION_8_BITS) == SL_EXPRESSION_HAS;
  return (has ? sl_to_u32(left) & sl_to_u32(right) : is_true) != 0;
}

/* Runs the pair of instructions `word`, SL_EXPRESSION_TEST, and `next`: most instructions of conditions are such
 * pairs. The result is that of sl_expression_step for both. */
static SL_DEVICE void sl_expression_test(const struct sl_expression_subject *s, uint64_t word, uint64_t next,
                                         struct sl_expression_state *m) {
  const uint32_t operand = (uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  const uint32_t index = sl_expression_index(s, operand, word);
  const float left = sl_expression_load(sl_expression_values(s, word), sl_expression_type(word), index);
  m->result = sl_expression_compare(left, word, next) ? 1.0f : 0.0f;
  m->at += 2;
  sl_expression_jump(next, m);
}

static SL_DEVICE uint32_t sl_expression_is_test(uint64_t word) {
  return ((uint32_t)word & SL_EXPRESSION_8_BITS) == SL_EXPRESSION_TEST ? 1u : 0u;
}

/* Runs the comparison of a value of the candidate with a constant: SL_EXPRESSION_TEST and the next instruction. */
static SL_DEVICE uint32_t sl_expression_holds(const void *args, uint32_t item, const uint64_t *words) {
  const uint64_t word = words[0], next = words[1];
  const void *values = sl_expression_pointer(args, word >> SL_EXPRESSION_CONSTANT_SHIFT & SL_EXPRESSION_16_BITS);
  return sl_expression_compare(sl_expression_load(values, sl_expression_type(word), item), word, next);
}

/* Runs the first `leading` words of a program, which are comparisons of values of the candidate with constants, all of
 * which must be true; returns 1 if they are. This is faster than the machine, and decides about most candidates. */
static SL_DEVICE SL_UNUSED uint32_t sl_expression_lead(const void *args, uint32_t item, const uint64_t *program,
                                                       uint32_t leading) {
  for (uint32_t at = 0; at < leading; at += 2)
    if (!sl_expression_holds(args, item, program + at)) return 0;
  return 1;
}

/* Runs a program without functions of a plugin; returns the result, of a condition 1 or 0. */
static SL_DEVICE SL_UNUSED float sl_expression_evaluate(const uint64_t *program, uint32_t words,
                                                        const struct sl_expression_subject *s) {
  float stack[SL_EXPRESSION_STACK_MAX];
  struct sl_expression_state m = {1.0f, 0, 0, stack};
  while (m.at < words) {
    const uint64_t word = program[m.at];
    if (sl_expression_is_test(word)) {
      sl_expression_test(s, word, program[m.at + 1], &m);
      continue;
    }
    sl_expression_step(s, program, &m);
    sl_expression_jump(word, &m);
  }
  return m.result;
}

#endif
