/* where_machine.h: interprets the program of a line without code (where.h) for a candidate. */
#ifndef SELECTIONS_WHERE_MACHINE_H
#define SELECTIONS_WHERE_MACHINE_H

#include "selections/masses.h"
#include "where.h"

#include <sluice/kernel.h>

/* For vertices: the indices of the children, and the values that the mass is computed from. */
struct where_children {
  const uint32_t *offsets, *first, *second; /* offsets of particles; children of vertices */
  const float *p, *opening;                 /* of particles; of vertices */
};

/* The candidate that a program runs on. */
struct where_subject {
  const void *args;
  const struct where_children *children; /* NULL: there are none */
  uint32_t event, item;
};

static SL_DEVICE uint32_t where_child(const struct where_subject *s, const uint32_t *child) {
  return s->children->offsets[s->event] + child[s->item];
}

static SL_DEVICE uint32_t where_index(const struct where_subject *s, uint32_t operand) {
  if (operand == WHERE_OF_FIRST) return where_child(s, s->children->first);
  if (operand == WHERE_OF_SECOND) return where_child(s, s->children->second);
  return operand == WHERE_OF_EVENT ? s->event : s->item;
}

#define WHERE_NUMBER_(name, c_type, bytes) \
  case SL_TYPE_##name:                     \
    return (float)((const c_type *)values)[index];
static SL_DEVICE float where_number(const void *values, uint32_t type, uint32_t index) {
  switch (type) {
    SL_TYPES(WHERE_NUMBER_)
    default:
      return 0.0f;
  }
}

static SL_DEVICE const void *where_values(const struct where_subject *s, uint64_t word) {
  const size_t offset = word >> WHERE_CONSTANT_SHIFT & WHERE_16_BITS;
  const void *values;
  memcpy(&values, (const unsigned char *)s->args + offset, sizeof values);
  return values;
}

/* Value of an operand that is not on the stack. */
static SL_DEVICE float where_operand(const struct where_subject *s, uint32_t operand, uint64_t word) {
  if (operand == WHERE_CONSTANT) return sl_f32_from_bits((uint32_t)(word >> WHERE_CONSTANT_SHIFT));
  const void *values = where_values(s, word);
  if (operand < WHERE_COUNT) return where_number(values, (uint32_t)(word >> WHERE_TYPE_SHIFT), where_index(s, operand));
  const uint32_t *offsets = (const uint32_t *)values;
  return (float)(offsets[s->event + 1] - offsets[s->event]);
}

/* A 64-bit integer, signed or unsigned. */
struct where_integer {
  uint64_t bits; /* two's complement */
  uint32_t is_negative;
};

#define WHERE_UNSIGNED_(type, c_type)         \
  case SL_TYPE_##type:                        \
    v.bits = ((const c_type *)values)[index]; \
    break;
#define WHERE_SIGNED_(type, c_type)                               \
  case SL_TYPE_##type:                                            \
    v.bits = (uint64_t)(int64_t)((const c_type *)values)[index];  \
    v.is_negative = ((const c_type *)values)[index] < 0 ? 1u : 0; \
    break;
static SL_DEVICE uint32_t where_integer_words(uint64_t word) {
  return ((uint32_t)word >> WHERE_OPERAND_SHIFT & WHERE_4_BITS) == WHERE_CONSTANT ? 2 : 1;
}

/* Value of an integer operand, which takes one or two words. */
static SL_DEVICE struct where_integer where_integer(const struct where_subject *s, const uint64_t *words) {
  const uint64_t word = words[0];
  const uint32_t operand = (uint32_t)word >> WHERE_OPERAND_SHIFT & WHERE_4_BITS;
  const uint32_t type = (uint32_t)(word >> WHERE_TYPE_SHIFT);
  struct where_integer v = {0, 0};
  if (operand == WHERE_CONSTANT) {
    v.bits = words[1];
    v.is_negative = type == SL_TYPE_i64 ? 1u : 0;
    return v;
  }
  const void *values = where_values(s, word);
  if (operand == WHERE_COUNT) {
    const uint32_t *offsets = (const uint32_t *)values;
    v.bits = offsets[s->event + 1] - offsets[s->event];
    return v;
  }
  const uint32_t index = where_index(s, operand);
  switch (type) {
    WHERE_UNSIGNED_(u8, uint8_t)
    WHERE_UNSIGNED_(u16, uint16_t)
    WHERE_UNSIGNED_(u32, uint32_t)
    WHERE_UNSIGNED_(u64, uint64_t)
    WHERE_SIGNED_(i8, int8_t)
    WHERE_SIGNED_(i16, int16_t)
    WHERE_SIGNED_(i32, int32_t)
    WHERE_SIGNED_(i64, int64_t)
    default:
      break;
  }
  return v;
}

static SL_DEVICE float where_integers(const struct where_subject *s, uint32_t comparison, const uint64_t *left_words,
                                      const uint64_t *right_words) {
  const struct where_integer left = where_integer(s, left_words), right = where_integer(s, right_words);
  const int is_equal = left.bits == right.bits && left.is_negative == right.is_negative;
  const int is_less = left.is_negative != right.is_negative ? left.is_negative != 0 : left.bits < right.bits;
  switch (comparison) {
    case WHERE_LESS:
      return is_less ? 1.0f : 0.0f;
    case WHERE_LESS_EQUAL:
      return is_less || is_equal ? 1.0f : 0.0f;
    case WHERE_GREATER:
      return !is_less && !is_equal ? 1.0f : 0.0f;
    case WHERE_GREATER_EQUAL:
      return !is_less ? 1.0f : 0.0f;
    case WHERE_EQUAL:
      return is_equal ? 1.0f : 0.0f;
    case WHERE_UNEQUAL:
      return !is_equal ? 1.0f : 0.0f;
    default: /* WHERE_HAS */
      return (left.bits & right.bits) != 0 ? 1.0f : 0.0f;
  }
}

static SL_DEVICE float where_mass(const struct where_subject *s, uint64_t word, uint64_t next) {
  const float m1 = sl_f32_from_bits((uint32_t)(word >> WHERE_CONSTANT_SHIFT));
  const float m2 = sl_f32_from_bits((uint32_t)(next >> WHERE_CONSTANT_SHIFT));
  const float p1 = s->children->p[where_child(s, s->children->first)];
  const float p2 = s->children->p[where_child(s, s->children->second)];
  return selections_mass(p1, m1, p2, m2, s->children->opening[s->item]);
}

/* Result of an operation. All comparisons with NaN are false, including !=. */
static SL_DEVICE float where_result(uint32_t operation, float left, float right) {
  switch (operation) {
    case WHERE_LOAD:
      return right;
    case WHERE_ADD:
      return left + right;
    case WHERE_SUBTRACT:
      return left - right;
    case WHERE_MULTIPLY:
      return left * right;
    case WHERE_DIVIDE:
      return left / right;
    case WHERE_MIN:
      return sl_min_f32(left, right);
    case WHERE_MAX:
      return sl_max_f32(left, right);
    case WHERE_LESS:
      return left < right ? 1.0f : 0.0f;
    case WHERE_LESS_EQUAL:
      return left <= right ? 1.0f : 0.0f;
    case WHERE_GREATER:
      return left > right ? 1.0f : 0.0f;
    case WHERE_GREATER_EQUAL:
      return left >= right ? 1.0f : 0.0f;
    case WHERE_EQUAL:
      return left == right ? 1.0f : 0.0f;
    case WHERE_UNEQUAL:
      return left < right || left > right ? 1.0f : 0.0f;
    case WHERE_HAS:
      return (sl_to_u32(left) & sl_to_u32(right)) != 0 ? 1.0f : 0.0f;
    case WHERE_NEGATE:
      return -left;
    case WHERE_ABS:
      return sl_abs_f32(left);
    case WHERE_SQRT:
      return sl_sqrtf(left);
    case WHERE_LOG:
      return sl_logf(left);
    case WHERE_NOT:
      return left != 0.0f ? 0.0f : 1.0f;
    default:
      return left;
  }
}

/* State of the machine. */
struct where_state {
  float result, stack[WHERE_STACK_MAX];
  uint32_t depth, at; /* at: the next word */
};

/* Runs the instruction at m->at, without its jump. The compiler guarantees that the stack does not overflow. */
static SL_DEVICE void where_step(const struct where_subject *s, const uint64_t *program, struct where_state *m) {
  const uint64_t word = program[m->at++];
  const uint32_t operation = (uint32_t)word & WHERE_8_BITS;
  const uint32_t operand = (uint32_t)word >> WHERE_OPERAND_SHIFT & WHERE_4_BITS;
  if (operation == WHERE_PUSH) {
    m->stack[m->depth++] = m->result;
  } else if (operation == WHERE_MASS) {
    m->result = where_mass(s, word, program[m->at++]);
  } else if (operand == WHERE_STACK) {
    m->result = where_result(operation, m->stack[--m->depth], m->result);
  } else if (operation == WHERE_INTEGERS) {
    const uint32_t right = m->at + where_integer_words(program[m->at]);
    m->result = where_integers(s, (uint32_t)(word >> WHERE_CONSTANT_SHIFT), program + m->at, program + right);
    m->at = right + where_integer_words(program[right]);
  } else {
    const float right = operand == WHERE_NO_OPERAND ? 0.0f : where_operand(s, operand, word);
    m->result = where_result(operation, m->result, right);
  }
}

/* Runs a program; returns 1 or 0. The compiler guarantees that jumps go forward. */
static SL_DEVICE uint32_t where_evaluate(const uint64_t *program, uint32_t words, const void *args,
                                         const struct where_children *children, uint32_t event, uint32_t item) {
  const struct where_subject subject = {args, children, event, item};
  struct where_state m;
  m.result = 1.0f;
  m.depth = m.at = 0;
  while (m.at < words) {
    const uint64_t word = program[m.at];
    const uint32_t jump = (uint32_t)word >> WHERE_JUMP_SHIFT & WHERE_4_BITS;
    where_step(&subject, program, &m);
    if (jump != WHERE_NO_JUMP && (jump == WHERE_IF_TRUE) == (m.result != 0.0f))
      m.at = (uint32_t)word >> WHERE_TARGET_SHIFT;
  }
  return m.result != 0.0f ? 1u : 0u;
}

#endif
