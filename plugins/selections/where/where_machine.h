/* where_machine.h: interprets the program of a line without code (where.h) for a candidate. */
#ifndef SELECTIONS_WHERE_MACHINE_H
#define SELECTIONS_WHERE_MACHINE_H

#include "selections/masses.h"
#include "where.h"

#include <sluice/expression_machine.h>

/* For vertices: the links to the children, and the values that the mass is computed from. */
struct where_children {
  struct sl_expression_link links[WHERE_LINKS];
  const float *p, *opening; /* of particles; of vertices */
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

static SL_DEVICE float where_mass(const struct where_subject *s, uint64_t word, uint64_t next) {
  const float m1 = sl_f32_from_bits((uint32_t)(word >> SL_EXPRESSION_CONSTANT_SHIFT));
  const float m2 = sl_f32_from_bits((uint32_t)(next >> SL_EXPRESSION_CONSTANT_SHIFT));
  const float p1 = s->children->p[sl_expression_linked(&s->of, WHERE_FIRST)];
  const float p2 = s->children->p[sl_expression_linked(&s->of, WHERE_SECOND)];
  return selections_mass(p1, m1, p2, m2, s->children->opening[s->of.item]);
}

/* Runs the instruction at m->at, without its jump. */
static SL_DEVICE void where_step(const struct where_subject *s, const uint64_t *program,
                                 struct sl_expression_state *m) {
  const uint64_t word = program[m->at];
  if (((uint32_t)word & SL_EXPRESSION_8_BITS) == SL_EXPRESSION_CALL) {
    m->result = where_mass(s, word, program[m->at + 1]);
    m->at += 2;
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
