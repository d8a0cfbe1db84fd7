/* where_machine.h: interprets the program of a line without code (where.h) for a candidate. */
#ifndef SELECTIONS_WHERE_MACHINE_H
#define SELECTIONS_WHERE_MACHINE_H

#include "selections/masses.h"
#include "where.h"

#include <sluice/expression_machine.h>

/* A decay into two bodies: their momenta and 1 - cos of their angle, with the items that have these values. An item is
 * 0 for the candidate, or the number of a link plus 1. */
struct where_decay {
  const float *first_p, *second_p, *opening;
  uint32_t first, second, own;
};

/* For pairs and composites: the links to the children, and the decays of the candidate and of its children. */
struct where_children {
  struct sl_expression_link links[WHERE_LINKS];
  struct where_decay decays[WHERE_DECAYS];
};

/* The candidate, and its children or NULL. */
struct where_subject {
  struct sl_expression_subject of;
  const struct where_children *children;
};

static SL_DEVICE struct where_subject where_subject_of(const void *args, const struct where_children *children,
                                                       uint32_t event, uint32_t item) {
  struct where_subject s;
  s.of.args = args;
  s.of.links = children ? children->links : NULL;
  s.of.event = event;
  s.of.item = item;
  s.children = children;
  return s;
}

static SL_DEVICE uint32_t where_item(const struct where_subject *s, uint32_t item) {
  return item > 0 ? sl_expression_linked(&s->of, item - 1) : s->of.item;
}

/* Mass of a decay, or, if `is_difference`, its mass less m1. */
static SL_DEVICE float where_mass_of(const struct where_subject *s, const struct where_decay *d, float m1, float m2,
                                     uint32_t is_difference) {
  const float p1 = d->first_p[where_item(s, d->first)], p2 = d->second_p[where_item(s, d->second)];
  const float opening = d->opening[where_item(s, d->own)];
  return is_difference ? selections_mass_difference(p1, m1, p2, m2, opening) : selections_mass(p1, m1, p2, m2, opening);
}

static SL_DEVICE uint32_t where_arguments(uint64_t word) {
  return (uint32_t)word >> (SL_EXPRESSION_TARGET_SHIFT + WHERE_ARGUMENTS_SHIFT) & SL_EXPRESSION_4_BITS;
}

/* Result of a call; the constants of its words are the arguments. */
static SL_DEVICE float where_mass(const struct where_subject *s, const uint64_t *words) {
  const uint32_t count = where_arguments(*words);
  const uint32_t kind = (uint32_t)*words >> (SL_EXPRESSION_TARGET_SHIFT + WHERE_KIND_SHIFT);
  const struct where_decay *d = &s->children->decays[*words >> SL_EXPRESSION_TARGET_SHIFT & SL_EXPRESSION_4_BITS];
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

/* Runs a program; returns 1 or 0. */
static SL_DEVICE uint32_t where_evaluate(const uint64_t *program, uint32_t words, const void *args,
                                         const struct where_children *children, uint32_t event, uint32_t item) {
  const struct where_subject subject = where_subject_of(args, children, event, item);
  float stack[SL_EXPRESSION_STACK_MAX];
  struct sl_expression_state m = {1.0f, 0, 0, stack};
  while (m.at < words) {
    const uint64_t word = program[m.at], next = program[m.at + 1]; /* a word follows the program: where_prepare */
    if (sl_expression_is_test(word)) {
      sl_expression_test(&subject.of, word, next, &m);
      continue;
    }
    where_step(&subject, program, &m);
    sl_expression_jump(word, &m);
  }
  return m.result != 0.0f ? 1u : 0u;
}

#endif
