/* where_explain.h: explains a line without code (where.h, sluice/explain.h). All comparisons of the expression are
 * evaluated; a run skips comparisons that cannot change the result. In an expression of comparisons joined
 * by `and` each comparison is a requirement; in any other one they are parts of the whole condition. */
#ifndef SELECTIONS_WHERE_EXPLAIN_H
#define SELECTIONS_WHERE_EXPLAIN_H

#include "where_machine.h"

#ifdef SL_TARGET_CPU
enum { WHERE_SHOWN_BYTES = 160 }; /* of an operand */

/* Table after the program: see where_prepare. */
struct where_source {
  const uint64_t *comparisons; /* two words each */
  const char *text;
  uint32_t count, bytes;
};

static SL_UNUSED struct where_source where_source_of(const uint64_t *program, uint32_t words) {
  struct where_source s;
  s.count = (uint32_t)program[words];
  s.bytes = (uint32_t)(program[words] >> 32);
  s.comparisons = program + words + 1;
  s.text = (const char *)(s.comparisons + 2 * (size_t)s.count);
  return s;
}

/* Copies a part of the expression without blanks at its ends. */
static SL_UNUSED const char *where_part(const struct where_source *s, uint32_t at, uint32_t end, char *to) {
  while (at < end && s->text[at] == ' ') at++;
  while (at < end && s->text[end - 1] == ' ') end--;
  snprintf(to, WHERE_SHOWN_BYTES, "%.*s", (int)(end - at), s->text + at);
  return to;
}

/* The operands of the comparison at m->at, as numbers. */
static SL_UNUSED void where_operands(const struct where_subject *s, const uint64_t *program,
                                     const struct sl_expression_state *m, double *left, double *right) {
  const uint64_t word = program[m->at];
  const uint32_t operand = (uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  if (((uint32_t)word & SL_EXPRESSION_8_BITS) == SL_EXPRESSION_INTEGERS) {
    const uint64_t *words = program + m->at + 1;
    const struct sl_expression_integer a = sl_expression_integer(&s->of, words),
                                       b = sl_expression_integer(&s->of, words + sl_expression_integer_words(*words));
    *left = a.is_negative ? (double)(int64_t)a.bits : (double)a.bits;
    *right = b.is_negative ? (double)(int64_t)b.bits : (double)b.bits;
  } else {
    *left = (double)(operand == SL_EXPRESSION_STACK ? m->stack[m->depth - 1] : m->result);
    *right = (double)(operand == SL_EXPRESSION_STACK ? m->result : sl_expression_operand(&s->of, operand, word));
  }
}

/* 1 if the expression has only comparisons joined by `and`. */
static SL_UNUSED uint32_t where_is_conjunction(const uint64_t *program, uint32_t words, const struct where_source *s) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const uint64_t word = program[s->comparisons[2 * i]];
    if (((uint32_t)word >> SL_EXPRESSION_JUMP_SHIFT & SL_EXPRESSION_4_BITS) == SL_EXPRESSION_IF_TRUE) return 0;
  }
  while (at < words) {
    const uint64_t word = program[at++];
    const uint32_t operation = (uint32_t)word & SL_EXPRESSION_8_BITS;
    if (operation == SL_EXPRESSION_NOT || operation == SL_EXPRESSION_JUMP) return 0;
    if (operation == SL_EXPRESSION_CALL) at += where_arguments(word) - 1;
    if (operation == SL_EXPRESSION_INTEGERS) {
      at += sl_expression_integer_words(program[at]);
      at += sl_expression_integer_words(program[at]);
    }
  }
  return 1;
}

/* Explains a program; returns 1 or 0 as where_evaluate does. */
static SL_UNUSED uint32_t where_explain(const uint64_t *table, struct where_size size, const void *args, uint32_t event,
                                        uint32_t item, struct sl_explanation *explanation) {
  const struct where_subject subject = where_subject_of(table, args, event, item);
  const uint64_t *program = table + WHERE_PROGRAM;
  const struct where_source source = where_source_of(program, size.words);
  const uint32_t is_accepted = where_evaluate(table, size, args, event, item);
  const uint32_t role = where_is_conjunction(program, size.words, &source) ? SL_ROLE_REQUIREMENT : SL_ROLE_PART;
  float stack[SL_EXPRESSION_STACK_MAX];
  struct sl_expression_state m = {1.0f, 0, 0, stack};
  for (uint32_t i = 0; m.at < size.words;) {
    const uint64_t *comparison = source.comparisons + 2 * (size_t)i;
    if (i == source.count || m.at != comparison[0]) {
      where_step(&subject, program, &m);
      continue;
    }
    char name[WHERE_SHOWN_BYTES], sign[WHERE_SHOWN_BYTES], limit[WHERE_SHOWN_BYTES];
    const uint32_t left_at = comparison[1] & SL_EXPRESSION_16_BITS,
                   left_end = comparison[1] >> 16 & SL_EXPRESSION_16_BITS;
    const uint32_t right_at = comparison[1] >> 32 & SL_EXPRESSION_16_BITS, right_end = (uint32_t)(comparison[1] >> 48);
    struct sl_requirement r = {where_part(&source, left_at, left_end, name),
                               where_part(&source, left_end, right_at, sign),
                               where_part(&source, right_at, right_end, limit),
                               0,
                               0,
                               0,
                               role};
    where_operands(&subject, program, &m, &r.value, &r.limit);
    where_step(&subject, program, &m);
    r.is_met = m.result != 0.0f;
    explanation->requirement(explanation->context, &r);
    i++;
  }
  if (role == SL_ROLE_PART) {
    char text[WHERE_SHOWN_BYTES];
    struct sl_requirement r = {
        where_part(&source, 0, source.bytes, text), "", NULL, is_accepted, 1, is_accepted, SL_ROLE_REQUIREMENT};
    explanation->requirement(explanation->context, &r);
  }
  return is_accepted;
}
#endif

#endif
