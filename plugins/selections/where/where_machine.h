/* where_machine.h: interprets the program of a line without code (where.h) for a candidate. */
#ifndef SELECTIONS_WHERE_MACHINE_H
#define SELECTIONS_WHERE_MACHINE_H

#include "selections/masses.h"
#include "where.h"

#include <sluice/expression_machine.h>

/* The candidate, its decay and those of its children. */
struct where_subject {
  struct sl_expression_subject of;
  const struct where_decay *decays;
};

static SL_DEVICE struct where_subject where_subject_of(const uint64_t *table, const void *args, uint32_t event,
                                                       uint32_t item) {
  const struct where_children *children = (const struct where_children *)(const void *)table;
  const struct where_subject s = {{args, children->links, event, item}, children->decays};
  return s;
}

static SL_DEVICE float where_value(const struct where_subject *s, uint32_t offset, uint32_t item) {
  const float *values = (const float *)sl_expression_pointer(s->of.args, offset);
  return values[item > 0 ? sl_expression_linked(&s->of, item - 1) : s->of.item];
}

/* Mass of a decay, or, if `is_difference`, its mass less m1. */
static SL_DEVICE float where_mass_of(const struct where_subject *s, const struct where_decay *d, float m1, float m2,
                                     uint32_t is_difference) {
  if (!sl_expression_pointer(s->of.args, d->first_p)) d++;
  const float p1 = where_value(s, d->first_p, d->first), p2 = where_value(s, d->second_p, d->second);
  const float opening = where_value(s, d->opening, d->own);
  return is_difference ? selections_mass_difference(p1, m1, p2, m2, opening) : selections_mass(p1, m1, p2, m2, opening);
}

static SL_DEVICE uint32_t where_arguments(uint64_t word) {
  return (uint32_t)word >> (SL_EXPRESSION_TARGET_SHIFT + WHERE_ARGUMENTS_SHIFT) & SL_EXPRESSION_4_BITS;
}

/* Result of a call; the constants of its words are the arguments. */
static SL_DEVICE float where_mass(const struct where_subject *s, const uint64_t *words) {
  const uint32_t count = where_arguments(*words);
  const uint32_t kind = (uint32_t)*words >> (SL_EXPRESSION_TARGET_SHIFT + WHERE_KIND_SHIFT);
  const struct where_decay *d = &s->decays[*words >> SL_EXPRESSION_TARGET_SHIFT & SL_EXPRESSION_4_BITS];
#define WHERE_ARGUMENT_(k) sl_f32_from_bits((uint32_t)(words[k] >> SL_EXPRESSION_CONSTANT_SHIFT))
  if (kind == WHERE_MASS_OF_BOTH) {
    const float m1 = where_mass_of(s, d + 1, WHERE_ARGUMENT_(0), WHERE_ARGUMENT_(1), 0);
    const float m2 = where_mass_of(s, d + 2, WHERE_ARGUMENT_(2), WHERE_ARGUMENT_(3), 0);
    return where_mass_of(s, d, m1, m2, 0);
  }
  float mass = WHERE_ARGUMENT_(0);
  for (uint32_t k = 1; k < count; k++)
    mass = where_mass_of(s, d + (count - 1 - k), mass, WHERE_ARGUMENT_(k),
                         kind == WHERE_MASS_DIFFERENCE && k == count - 1);
  return mass;
#undef WHERE_ARGUMENT_
}

/* Runs the instruction at m->at, without its jump. */
static SL_DEVICE void where_step(const struct where_subject *s, const uint64_t *program,
                                 struct sl_expression_state *m) {
  const uint64_t word = program[m->at];
  if (((uint32_t)word & SL_EXPRESSION_8_BITS) == SL_EXPRESSION_CALL) {
    m->result = where_mass(s, program + m->at);
    m->at += where_arguments(word);
  } else {
    sl_expression_step(&s->of, program, m);
  }
}

/* Runs the program of a table; returns 1 or 0. where_sift runs its leading comparisons (sl_expression_lead), where_rest
 * all other instructions. */
static SL_DEVICE SL_UNUSED uint32_t where_sift(const uint64_t *table, struct where_size size, const void *args,
                                               uint32_t item) {
  return sl_expression_lead(args, item, table + WHERE_PROGRAM, size.leading);
}

static SL_DEVICE uint32_t where_rest(const uint64_t *table, struct where_size size, const void *args, uint32_t event,
                                     uint32_t item) {
  const struct where_subject s = where_subject_of(table, args, event, item);
  const uint64_t *program = table + WHERE_PROGRAM;
  float stack[SL_EXPRESSION_STACK_MAX];
  struct sl_expression_state m = {1.0f, 0, size.leading, stack};
  while (m.at < size.words) {
    const uint64_t word = program[m.at], next = program[m.at + 1]; /* a word follows the program: where_prepare */
    if (sl_expression_is_test(word)) {
      sl_expression_test(&s.of, word, next, &m);
      continue;
    }
    where_step(&s, program, &m);
    sl_expression_jump(word, &m);
  }
  return m.result != 0.0f ? 1u : 0u;
}

static SL_DEVICE SL_UNUSED uint32_t where_evaluate(const uint64_t *table, struct where_size size, const void *args,
                                                   uint32_t event, uint32_t item) {
  return where_sift(table, size, args, item) && where_rest(table, size, args, event, item);
}

#endif
