/* where_compile.c: the text of a line without code to a program (where.h). Recursive descent writes the instructions as
 * it reads; README.md has the grammar. What is read leaves its value as the result. */
#include "selections/masses.h"
#include "where_compiler.h"

#include <sluice/text.h>

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, ARGUMENTS_MAX = 2, COUNT_MAX = 1 << 23 /* far more items than memory for an event holds */ };

static struct where_value read_expression(struct where_compiler *c);

static void want(struct where_compiler *c, const struct where_value *value, uint32_t type, const char *taker) {
  if (c->failed || value->type == type) return;
  if (type == WHERE_TRUTH)
    where_fail(c, value->at, "%s a truth, such as pt > 500, and this is a number", taker);
  else
    where_fail(c, value->at, "%s a number, and this is a truth", taker);
}

static struct where_value value_from(const struct where_compiler *c, uint32_t type, uint32_t at) {
  return (struct where_value){.type = type, .at = at, .end = at, .begin = c->program->count};
}

static struct where_value read_literal(struct where_compiler *c) {
  struct where_value value = value_from(c, WHERE_NUMBER, c->token.at);
  const float number = where_read_literal(c, &value.number);
  where_emit(c, where_instruction(WHERE_TAKE, WHERE_CONSTANT, sl_bits_from_f32(number)));
  value.end = c->end;
  return value;
}

/* ---------------------------------------------------------------------------------------------------- names */

/* Is that field one that a text can name? */
static int is_readable(const struct where_scope *scope, const struct sl_field *field) {
  const uint32_t shape = scope->operand == WHERE_OF_EVENT ? SL_SHAPE_CODE_PER_EVENT : SL_SHAPE_CODE_PER_ITEM;
  return field->shape == shape && field->width == 1;
}

/* The rest of the word for a name, and its number without a range. Returns 0 if the scope has no such name. */
static int find_in_scope(const struct where_compiler *c, const struct where_scope *scope,
                         const struct where_token *name, struct where_nearest *nearest, uint32_t *rest,
                         struct where_number *number) {
  const uint32_t length = (uint32_t)strlen(scope->prefix);
  if (!scope->collection) {
    where_nearest_offer(nearest, scope->prefix, "");
    *rest = scope->args_offset;
    *number = (struct where_number){.is_integer = 1, .high = COUNT_MAX};
    return where_is_token(c, name, scope->prefix);
  }
  for (uint32_t f = 0; f < scope->collection->field_count; f++) {
    const struct sl_field *field = &scope->collection->fields[f];
    if (!is_readable(scope, field)) continue;
    where_nearest_offer(nearest, scope->prefix, field->name);
    const struct where_token own = {WHERE_NAME, name->at + length, name->length - length};
    if (name->length <= length || strncmp(c->text + name->at, scope->prefix, length) != 0) continue;
    if (!where_is_token(c, &own, field->name)) continue;
    *rest = (scope->args_offset + f * (uint32_t)sizeof(void *)) | field->type
                                                                      << (WHERE_TYPE_SHIFT - WHERE_CONSTANT_SHIFT);
    where_field_unit(field->unit, &number->unit);
    number->is_integer = (uint32_t)where_integer_range(field->type, &number->low, &number->high);
    return 1;
  }
  return 0;
}

/* A check sees no pointers, but which inputs are connected; the test harness has both. */
static void check_input(struct where_compiler *c, const struct where_scope *scope, const struct where_token *name) {
  const uint32_t *offsets;
  struct sl_bound bound;
  if (!c->args || !scope->port || scope->collection) return;
  memcpy(&offsets, (const unsigned char *)c->args + scope->args_offset, sizeof offsets);
  memcpy(&bound, (const unsigned char *)c->args + scope->bound_offset, sizeof bound);
  if (!offsets && bound.capacity == 0)
    where_fail(c, name->at, "`%s` is asked for, and its input is not: in: { %s: NODE }", scope->prefix, scope->port);
}

static struct where_value read_field(struct where_compiler *c, const struct where_token *name) {
  struct where_value value = value_from(c, WHERE_NUMBER, name->at);
  value.end = name->at + name->length;
  struct where_nearest nearest = {c->text + name->at, name->length, UINT32_MAX, ""};
  for (uint32_t i = 0; i < c->language->scope_count; i++) {
    const struct where_scope *scope = &c->language->scopes[i];
    uint32_t rest;
    if (!find_in_scope(c, scope, name, &nearest, &rest, &value.number)) continue;
    check_input(c, scope, name);
    where_emit(c, where_instruction(WHERE_TAKE, scope->operand, rest));
    return value;
  }
  const char *best = where_nearest_result(&nearest);
  where_fail(c, name->at, "there is no `%.*s`%s%s%s", where_shown(name->length), c->text + name->at,
             best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
  return value;
}

/* ------------------------------------------------------------------------------------------------ functions */

static const struct function {
  const char *name;
  uint32_t operation, arguments;
} functions[] = {{"abs", WHERE_ABS, 1}, {"sqrt", WHERE_SQRT, 1}, {"log", WHERE_LOG, 1},  {"min", WHERE_MIN, 2},
                 {"max", WHERE_MAX, 2}, {"has", WHERE_HAS, 2},   {"mass", WHERE_MASS, 2}};

/* Of a child: a particle, or MeV. */
static struct where_value read_hypothesis(struct where_compiler *c) {
  static const struct {
    const char *name;
    float mass;
  } particles[] = {{"e", ELECTRON_MASS}, {"mu", MUON_MASS}, {"pi", PION_MASS}, {"K", KAON_MASS}, {"p", PROTON_MASS}};
  struct where_value value = value_from(c, WHERE_NUMBER, c->token.at);
  if (c->token.kind == WHERE_LITERAL) {
    value = read_literal(c);
    where_want_unit(c, &value, 1, "mass takes");
    where_use_as_float(c, &value);
    return value;
  }
  for (size_t i = 0; c->token.kind == WHERE_NAME && i < SL_COUNT_(particles); i++)
    if (where_take(c, particles[i].name)) {
      where_emit(c, where_instruction(WHERE_TAKE, WHERE_CONSTANT, sl_bits_from_f32(particles[i].mass)));
      return value;
    }
  where_fail(c, c->token.at, "mass takes what the children are: e, mu, pi, K, p, or a mass in MeV");
  return value;
}

/* Those of `mass` stay where they are, as the two words of one instruction. */
static struct where_value call(struct where_compiler *c, const struct function *function, struct where_value first,
                               struct where_value second) {
  if (c->failed) return first;
  if (function->operation == WHERE_MASS) {
    uint64_t *words = &c->program->words[first.begin];
    words[0] = (words[0] & ~(uint64_t)(WHERE_8_BITS | WHERE_4_BITS << WHERE_OPERAND_SHIFT)) | WHERE_MASS;
    first.number = (struct where_number){.unit.power[WHERE_ENERGY] = 1};
  } else if (function->arguments == 1) {
    first = where_change(c, first, function->operation);
  } else {
    first = where_join(c, first, second, function->operation);
  }
  first.end = c->end;
  return first;
}

/* Beyond its name and the parenthesis after it. */
static struct where_value read_call(struct where_compiler *c, const struct function *function,
                                    const struct where_token *name, uint32_t open) {
  struct where_value values[ARGUMENTS_MAX] = {{.type = WHERE_NUMBER}};
  uint32_t count = 0;
  char taker[WHERE_SHOWN_MAX];
  snprintf(taker, sizeof taker, "%s takes", function->name);
  if (function->operation == WHERE_MASS && !c->language->has_masses)
    where_fail(c, name->at, "mass is of pairs of particles, and here are none");
  if (!where_take(c, ")")) {
    do {
      const struct where_value value = function->operation == WHERE_MASS ? read_hypothesis(c) : read_expression(c);
      want(c, &value, WHERE_NUMBER, taker);
      if (count == function->arguments)
        where_fail(c, value.at, "%s takes %u %s, and this is one more", function->name, count,
                   sl_plural(count, "argument", "arguments"));
      else
        values[count++] = value;
    } while (where_take(c, ","));
    if (!where_take(c, ")")) where_fail(c, open, "this ( is never closed");
  }
  if (count < function->arguments)
    where_fail(c, name->at, "%s takes %u %s, not %u", function->name, function->arguments,
               sl_plural(function->arguments, "argument", "arguments"), count);
  struct where_value value = call(c, function, values[0], values[1]);
  value.at = name->at;
  return value;
}

static struct where_value read_name(struct where_compiler *c) {
  const struct where_token name = c->token;
  where_next(c);
  const uint32_t open = c->token.at;
  if (!where_take(c, "(")) return read_field(c, &name);
  struct where_nearest nearest = {c->text + name.at, name.length, UINT32_MAX, ""};
  for (size_t i = 0; i < SL_COUNT_(functions); i++) {
    if (where_is_token(c, &name, functions[i].name)) return read_call(c, &functions[i], &name, open);
    where_nearest_offer(&nearest, functions[i].name, "");
  }
  const char *best = where_nearest_result(&nearest);
  where_fail(c, name.at, "there is no function `%.*s`%s%s%s", where_shown(name.length), c->text + name.at,
             best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
  return value_from(c, WHERE_NUMBER, name.at);
}

/* ---------------------------------------------------------------------------------------------- operations */

static int is_keyword(const struct where_compiler *c) {
  return where_is_token(c, &c->token, "and") || where_is_token(c, &c->token, "or") ||
         where_is_token(c, &c->token, "not");
}

static struct where_value read_primary(struct where_compiler *c) {
  const uint32_t at = c->token.at;
  if (c->token.kind == WHERE_LITERAL) return read_literal(c);
  if (c->token.kind == WHERE_NAME && !is_keyword(c)) return read_name(c);
  if (where_take(c, "(")) {
    struct where_value value = read_expression(c);
    if (!where_take(c, ")")) where_fail(c, at, "this ( is never closed");
    value.at = at;
    value.end = c->end;
    return value;
  }
  where_fail_here(c, "a value");
  return value_from(c, WHERE_NUMBER, at);
}

/* Parentheses, signs and `not` go deeper; so does nothing else. */
static int too_deep(struct where_compiler *c) {
  if (c->depth < DEPTH_MAX) return 0;
  where_fail(c, c->token.at, "parentheses and signs are more than %d deep", DEPTH_MAX);
  return 1;
}

static struct where_value read_signed(struct where_compiler *c) {
  const uint32_t at = c->token.at;
  if (too_deep(c)) return value_from(c, WHERE_NUMBER, at);
  c->depth++;
  struct where_value value;
  if (where_take(c, "-")) {
    value = read_signed(c);
    want(c, &value, WHERE_NUMBER, "- takes");
    value = where_change(c, value, WHERE_NEGATE);
    value.at = at;
  } else {
    value = read_primary(c);
  }
  c->depth--;
  return value;
}

static struct where_value read_product(struct where_compiler *c) {
  struct where_value left = read_signed(c);
  for (;;) {
    const uint32_t operation = where_take(c, "*")   ? WHERE_MULTIPLY
                               : where_take(c, "/") ? WHERE_DIVIDE
                                                    : WHERE_OPERATIONS;
    if (operation == WHERE_OPERATIONS) return left;
    const char *taker = operation == WHERE_MULTIPLY ? "* takes" : "/ takes";
    want(c, &left, WHERE_NUMBER, taker);
    const struct where_value right = read_signed(c);
    want(c, &right, WHERE_NUMBER, taker);
    left = where_join(c, left, right, operation);
  }
}

static struct where_value read_sum(struct where_compiler *c) {
  struct where_value left = read_product(c);
  for (;;) {
    const uint32_t operation = where_take(c, "+") ? WHERE_ADD : where_take(c, "-") ? WHERE_SUBTRACT : WHERE_OPERATIONS;
    if (operation == WHERE_OPERATIONS) return left;
    const char *taker = operation == WHERE_ADD ? "+ takes" : "- takes";
    want(c, &left, WHERE_NUMBER, taker);
    const struct where_value right = read_product(c);
    want(c, &right, WHERE_NUMBER, taker);
    left = where_join(c, left, right, operation);
  }
}

/* The operation of the next token, if it compares; else WHERE_OPERATIONS. */
static uint32_t take_comparison(struct where_compiler *c) {
  static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
  for (uint32_t i = 0; i < SL_COUNT_(signs); i++)
    if (where_take(c, signs[i])) return WHERE_LESS + i;
  return WHERE_OPERATIONS;
}

static struct where_value read_comparison(struct where_compiler *c) {
  struct where_value left = read_sum(c);
  const uint32_t operation = take_comparison(c);
  if (operation == WHERE_OPERATIONS) return left;
  want(c, &left, WHERE_NUMBER, "a comparison takes");
  const struct where_value right = read_sum(c);
  want(c, &right, WHERE_NUMBER, "a comparison takes");
  left = where_join(c, left, right, operation);
  const uint32_t at = c->token.at;
  if (take_comparison(c) != WHERE_OPERATIONS) where_fail(c, at, "write 2 < eta and eta < 5 for 2 < eta < 5");
  return left;
}

static struct where_value read_negation(struct where_compiler *c) {
  const uint32_t at = c->token.at;
  if (!where_take(c, "not")) return read_comparison(c);
  if (too_deep(c)) return value_from(c, WHERE_TRUTH, at);
  c->depth++;
  struct where_value value = read_negation(c);
  c->depth--;
  want(c, &value, WHERE_TRUTH, "not takes");
  where_emit(c, where_instruction(WHERE_NOT, WHERE_NOTHING, 0));
  value.at = at;
  value.end = c->end;
  return value;
}

/* Truths with `word` between them; after one that is `condition` the others do not count. */
static struct where_value read_joined(struct where_compiler *c, const char *word, uint32_t condition,
                                      struct where_value (*read)(struct where_compiler *)) {
  struct where_value left = read(c);
  uint32_t waiting = 0;
  char taker[WHERE_SHOWN_MAX];
  snprintf(taker, sizeof taker, "%s takes", word);
  while (where_take(c, word)) {
    want(c, &left, WHERE_TRUTH, taker);
    waiting = where_add_jump(c, condition, waiting);
    const struct where_value right = read(c);
    want(c, &right, WHERE_TRUTH, taker);
    if (right.aside > left.aside) left.aside = right.aside;
  }
  where_end_jumps(c, waiting);
  return left;
}

static struct where_value read_conjunction(struct where_compiler *c) {
  return read_joined(c, "and", WHERE_IF_FALSE, read_negation);
}
static struct where_value read_expression(struct where_compiler *c) {
  return read_joined(c, "or", WHERE_IF_TRUE, read_conjunction);
}

/* ----------------------------------------------------------------------------------------------- the whole */

int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct where_program *program, struct where_fault *fault) {
  struct where_compiler c = {text, args, language, program, fault, {WHERE_END, 0, 0}, 0, 0, 0, UINT32_MAX, 0};
  program->count = 0;
  *fault = (struct where_fault){.at = 0};
  where_next(&c);
  if (c.token.kind == WHERE_END) return SL_OK;
  const struct where_value value = read_expression(&c);
  if (!c.failed && c.token.kind != WHERE_END) {
    if (where_is_token(&c, &c.token, ")"))
      where_fail(&c, c.token.at, "this ) closes nothing");
    else
      where_fail_here(&c, "an operation");
  }
  want(&c, &value, WHERE_TRUTH, "a line takes");
  return c.failed ? SL_EINVAL : SL_OK;
}

int where_check(const struct sl_services *s, const char *text, const void *args,
                const struct where_language *language) {
  struct where_program program;
  struct where_fault fault;
  const int status = where_compile(text, args, language, &program, &fault);
  if (*fault.text)
    s->message(s->context, fault.is_warning ? SL_WARNING : SL_ERROR, "where+%u: %s", fault.at, fault.text);
  return status;
}

int where_prepare(const struct sl_services *s, const char *text, const struct where_language *language,
                  uint32_t *count) {
  struct where_program program;
  struct where_fault fault;
  const int status = where_compile(text, NULL, language, &program, &fault);
  *count = program.count;
  if (status < 0) return status; /* where_check said why */
  uint64_t *words = (uint64_t *)s->make_table(s->context, "program", program.count);
  if (!words) return SL_ENOMEM;
  memcpy(words, program.words, program.count * sizeof *words);
  return SL_OK;
}
