/* where_compile.c: compiles the expression of a line without code to a program (where.h). A recursive-descent parser
 * that emits instructions while it reads (grammar: expressions.md). Each part leaves its value in the result register.
 */
#include "selections/masses.h"
#include "where_compiler.h"

#include <sluice/text.h>

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, ARGUMENTS_MAX = 2, COUNT_MAX = 1 << 23 /* above any number of items in an event */ };

static struct where_value read_expression(struct where_compiler *c);

static void require_type(struct where_compiler *c, const struct where_value *value, uint32_t type,
                         const char *consumer) {
  if (c->failed || value->type == type) return;
  if (type == WHERE_CONDITION)
    where_fail(c, value->at, "%s a condition, such as pt > 500, but this is a number", consumer);
  else
    where_fail(c, value->at, "%s a number, but this is a condition", consumer);
}

static struct where_value value_from(const struct where_compiler *c, uint32_t type, uint32_t at) {
  return (struct where_value){.type = type, .at = at, .end = at, .begin = c->program->count};
}

static struct where_value read_literal(struct where_compiler *c) {
  struct where_value value = value_from(c, WHERE_NUMBER, c->token.at);
  const float number = where_read_literal(c, &value.number);
  where_emit(c, where_instruction(WHERE_LOAD, WHERE_CONSTANT, sl_bits_from_f32(number)));
  value.end = c->end;
  return value;
}

/* ---------------------------------------------------------------------------------------------------- names */

/* Whether an expression may use the field. */
static int is_readable(const struct where_scope *scope, const struct sl_field *field) {
  const uint32_t shape = scope->operand == WHERE_OF_EVENT ? SL_SHAPE_CODE_PER_EVENT : SL_SHAPE_CODE_PER_ITEM;
  return field->shape == shape && field->width == 1;
}

/* Looks a name up in a scope. Returns 1 with bits 32..63 of the instruction in `rest`, and unit and range in `number`;
 * 0 if the scope has no such name. */
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

/* Reports a count without a connected input. In a check a connected input has a bound, but its pointer is not set.
 */
static void check_input(struct where_compiler *c, const struct where_scope *scope, const struct where_token *name) {
  const uint32_t *offsets;
  struct sl_bound bound;
  if (!c->args || !scope->port || scope->collection) return;
  memcpy(&offsets, (const unsigned char *)c->args + scope->args_offset, sizeof offsets);
  memcpy(&bound, (const unsigned char *)c->args + scope->bound_offset, sizeof bound);
  if (!offsets && bound.capacity == 0)
    where_fail(c, name->at, "`%s` needs an input that is not connected; add in: { %s: NODE }", scope->prefix,
               scope->port);
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
    where_emit(c, where_instruction(WHERE_LOAD, scope->operand, rest));
    return value;
  }
  const char *best = where_nearest_result(&nearest);
  where_fail(c, name->at, "there is no `%.*s`%s%s%s", where_shown_length(name->length), c->text + name->at,
             best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
  return value;
}

/* ------------------------------------------------------------------------------------------------ functions */

static const struct function {
  const char *name;
  uint32_t operation, arguments;
} functions[] = {{"abs", WHERE_ABS, 1}, {"sqrt", WHERE_SQRT, 1}, {"log", WHERE_LOG, 1},  {"min", WHERE_MIN, 2},
                 {"max", WHERE_MAX, 2}, {"has", WHERE_HAS, 2},   {"mass", WHERE_MASS, 2}};

/* An argument of `mass`: the name of a particle, or a mass in MeV. */
static struct where_value read_hypothesis(struct where_compiler *c) {
  struct where_value value = value_from(c, WHERE_NUMBER, c->token.at);
  if (c->token.kind == WHERE_LITERAL) {
    value = read_literal(c);
    where_require_unit(c, &value, 1, "`mass` needs");
    where_use_as_float(c, &value);
    return value;
  }
  for (size_t i = 0; c->token.kind == WHERE_NAME && i < SL_COUNT_(mass_hypotheses); i++)
    if (where_accept(c, mass_hypotheses[i].name)) {
      where_emit(c, where_instruction(WHERE_LOAD, WHERE_CONSTANT, sl_bits_from_f32(mass_hypotheses[i].mass)));
      return value;
    }
  where_fail(c, c->token.at, "`mass` needs particles (e, mu, pi, K, p) or masses in MeV");
  return value;
}

/* Emits the operation of a function. The two arguments of `mass` become the two words of one instruction. */
static struct where_value call(struct where_compiler *c, const struct function *function, struct where_value first,
                               struct where_value second) {
  if (c->failed) return first;
  if (function->operation == WHERE_MASS) {
    uint64_t *words = &c->program->words[first.begin];
    words[0] = (words[0] & ~(uint64_t)(WHERE_8_BITS | WHERE_4_BITS << WHERE_OPERAND_SHIFT)) | WHERE_MASS;
    first.number = (struct where_number){.unit.power[WHERE_ENERGY] = 1};
  } else if (function->arguments == 1) {
    first = where_unary(c, first, function->operation);
  } else {
    first = where_binary(c, first, second, function->operation);
  }
  first.end = c->end;
  return first;
}

/* Compiles the arguments of a function; its name and the opening parenthesis have been read. */
static struct where_value read_call(struct where_compiler *c, const struct function *function,
                                    const struct where_token *name, uint32_t open) {
  struct where_value values[ARGUMENTS_MAX] = {{.type = WHERE_NUMBER}};
  uint32_t count = 0;
  char consumer[WHERE_SHOWN_MAX];
  snprintf(consumer, sizeof consumer, "`%s` needs", function->name);
  if (function->operation == WHERE_MASS && !c->language->has_masses)
    where_fail(c, name->at, "`mass` is only available for pairs of particles");
  if (!where_accept(c, ")")) {
    do {
      const struct where_value value = function->operation == WHERE_MASS ? read_hypothesis(c) : read_expression(c);
      require_type(c, &value, WHERE_NUMBER, consumer);
      if (count == function->arguments)
        where_fail(c, value.at, "`%s` takes %u %s, but there are more", function->name, count,
                   sl_plural(count, "argument", "arguments"));
      else
        values[count++] = value;
    } while (where_accept(c, ","));
    if (!where_accept(c, ")")) where_fail(c, open, "this ( has no matching )");
  }
  if (count < function->arguments)
    where_fail(c, name->at, "`%s` takes %u %s, not %u", function->name, function->arguments,
               sl_plural(function->arguments, "argument", "arguments"), count);
  struct where_value value = call(c, function, values[0], values[1]);
  value.at = name->at;
  return value;
}

static struct where_value read_name(struct where_compiler *c) {
  const struct where_token name = c->token;
  where_next(c);
  const uint32_t open = c->token.at;
  if (!where_accept(c, "(")) return read_field(c, &name);
  struct where_nearest nearest = {c->text + name.at, name.length, UINT32_MAX, ""};
  for (size_t i = 0; i < SL_COUNT_(functions); i++) {
    if (where_is_token(c, &name, functions[i].name)) return read_call(c, &functions[i], &name, open);
    where_nearest_offer(&nearest, functions[i].name, "");
  }
  const char *best = where_nearest_result(&nearest);
  where_fail(c, name.at, "there is no function `%.*s`%s%s%s", where_shown_length(name.length), c->text + name.at,
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
  if (where_accept(c, "(")) {
    struct where_value value = read_expression(c);
    if (!where_accept(c, ")")) where_fail(c, at, "this ( has no matching )");
    value.at = at;
    value.end = c->end;
    return value;
  }
  where_fail_here(c, "a value");
  return value_from(c, WHERE_NUMBER, at);
}

/* Parentheses, signs and `not` are the only constructs that nest. */
static int too_deep(struct where_compiler *c) {
  if (c->depth < DEPTH_MAX) return 0;
  where_fail(c, c->token.at, "parentheses and signs are nested more than %d deep", DEPTH_MAX);
  return 1;
}

static struct where_value read_signed(struct where_compiler *c) {
  const uint32_t at = c->token.at;
  if (too_deep(c)) return value_from(c, WHERE_NUMBER, at);
  c->depth++;
  struct where_value value;
  if (where_accept(c, "-")) {
    value = read_signed(c);
    require_type(c, &value, WHERE_NUMBER, "`-` needs");
    value = where_unary(c, value, WHERE_NEGATE);
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
    const uint32_t operation = where_accept(c, "*")   ? WHERE_MULTIPLY
                               : where_accept(c, "/") ? WHERE_DIVIDE
                                                      : WHERE_OPERATIONS;
    if (operation == WHERE_OPERATIONS) return left;
    const char *consumer = operation == WHERE_MULTIPLY ? "`*` needs" : "`/` needs";
    require_type(c, &left, WHERE_NUMBER, consumer);
    const struct where_value right = read_signed(c);
    require_type(c, &right, WHERE_NUMBER, consumer);
    left = where_binary(c, left, right, operation);
  }
}

static struct where_value read_sum(struct where_compiler *c) {
  struct where_value left = read_product(c);
  for (;;) {
    const uint32_t operation = where_accept(c, "+")   ? WHERE_ADD
                               : where_accept(c, "-") ? WHERE_SUBTRACT
                                                      : WHERE_OPERATIONS;
    if (operation == WHERE_OPERATIONS) return left;
    const char *consumer = operation == WHERE_ADD ? "`+` needs" : "`-` needs";
    require_type(c, &left, WHERE_NUMBER, consumer);
    const struct where_value right = read_product(c);
    require_type(c, &right, WHERE_NUMBER, consumer);
    left = where_binary(c, left, right, operation);
  }
}

/* Skips a comparison operator and returns its operation; WHERE_OPERATIONS if the next token is none. */
static uint32_t accept_comparison(struct where_compiler *c) {
  static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
  for (uint32_t i = 0; i < SL_COUNT_(signs); i++)
    if (where_accept(c, signs[i])) return WHERE_LESS + i;
  return WHERE_OPERATIONS;
}

static struct where_value read_comparison(struct where_compiler *c) {
  struct where_value left = read_sum(c);
  const uint32_t operation = accept_comparison(c);
  if (operation == WHERE_OPERATIONS) return left;
  require_type(c, &left, WHERE_NUMBER, "a comparison needs");
  const struct where_value right = read_sum(c);
  require_type(c, &right, WHERE_NUMBER, "a comparison needs");
  left = where_binary(c, left, right, operation);
  const uint32_t at = c->token.at;
  if (accept_comparison(c) != WHERE_OPERATIONS)
    where_fail(c, at, "comparisons cannot be chained; write 2 < eta and eta < 5 for 2 < eta < 5");
  return left;
}

static struct where_value read_negation(struct where_compiler *c) {
  const uint32_t at = c->token.at;
  if (!where_accept(c, "not")) return read_comparison(c);
  if (too_deep(c)) return value_from(c, WHERE_CONDITION, at);
  c->depth++;
  struct where_value value = read_negation(c);
  c->depth--;
  require_type(c, &value, WHERE_CONDITION, "`not` needs");
  where_emit(c, where_instruction(WHERE_NOT, WHERE_NO_OPERAND, 0));
  value.at = at;
  value.end = c->end;
  return value;
}

/* Conditions joined by `word`. The rest is skipped after a condition with the value of `condition`. */
static struct where_value read_joined(struct where_compiler *c, const char *word, uint32_t condition,
                                      struct where_value (*read)(struct where_compiler *)) {
  struct where_value left = read(c);
  uint32_t pending = 0;
  char consumer[WHERE_SHOWN_MAX];
  snprintf(consumer, sizeof consumer, "`%s` needs", word);
  while (where_accept(c, word)) {
    require_type(c, &left, WHERE_CONDITION, consumer);
    pending = where_add_jump(c, condition, pending);
    const struct where_value right = read(c);
    require_type(c, &right, WHERE_CONDITION, consumer);
    if (right.depth > left.depth) left.depth = right.depth;
  }
  where_end_jumps(c, pending);
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
  program->count = program->comparison_count = 0;
  *fault = (struct where_fault){.at = 0};
  if (strlen(text) > WHERE_TEXT_MAX) {
    where_fail(&c, WHERE_TEXT_MAX, "the expression is too long: it has more than %d bytes", WHERE_TEXT_MAX);
    return SL_EINVAL;
  }
  where_next(&c);
  if (c.token.kind == WHERE_END) return SL_OK;
  const struct where_value value = read_expression(&c);
  if (!c.failed && c.token.kind != WHERE_END) {
    if (where_is_token(&c, &c.token, ")"))
      where_fail(&c, c.token.at, "this ) has no matching (");
    else
      where_fail_here(&c, "an operator");
  }
  require_type(&c, &value, WHERE_CONDITION, "a line needs");
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
  if (status < 0) return status; /* where_check has reported the error */
  const uint32_t bytes = (uint32_t)strlen(text), texts = (bytes + 7) / 8;
  const uint64_t size = program.count + 1 + 2 * (uint64_t)program.comparison_count + texts;
  uint64_t *words = (uint64_t *)s->make_table(s->context, "program", size);
  if (!words) return SL_ENOMEM;
  memset(words, 0, size * sizeof *words);
  memcpy(words, program.words, program.count * sizeof *words);
  words += program.count;
  *words++ = program.comparison_count | (uint64_t)bytes << 32;
  for (uint32_t i = 0; i < program.comparison_count; i++) {
    const struct where_comparison *c = &program.comparisons[i];
    *words++ = c->word;
    *words++ = c->left_at | (uint64_t)c->left_end << 16 | (uint64_t)c->right_at << 32 | (uint64_t)c->right_end << 48;
  }
  memcpy(words, text, bytes);
  return SL_OK;
}
