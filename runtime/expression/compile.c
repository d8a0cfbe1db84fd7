/* compile.c: compiles an expression to a program (sluice/expression.h). A recursive-descent parser that emits
 * instructions while it reads (grammar: docs/expressions.md). Each part leaves its value in the result register.
 */
#include "expression/compiler.h"

#include <sluice/text.h>

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, ARGUMENTS_MAX = 4, COUNT_MAX = 1 << 23 /* above any number of items in an event */ };

static struct sl_expression_value read_expression(struct sl_expression_compiler *c);
static struct sl_expression_value read_sum(struct sl_expression_compiler *c);

static void require_type(struct sl_expression_compiler *c, const struct sl_expression_value *value, uint32_t type,
                         const char *consumer) {
  if (c->failed || value->type == type) return;
  if (type == SL_EXPRESSION_CONDITION)
    sl_expression_fail(c, value->at, "%s a condition, such as pt > 500, but this is a number", consumer);
  else
    sl_expression_fail(c, value->at, "%s a number, but this is a condition", consumer);
}

/* Parentheses, signs, `not` and functions are the only constructs that nest. */
static int too_deep(struct sl_expression_compiler *c) {
  if (c->depth < DEPTH_MAX) return 0;
  sl_expression_fail(c, c->token.at, "parentheses and signs are nested more than %d deep", DEPTH_MAX);
  return 1;
}

static struct sl_expression_value value_from(const struct sl_expression_compiler *c, uint32_t type, uint32_t at) {
  return (struct sl_expression_value){.type = type, .at = at, .end = at, .begin = c->program->count};
}

static struct sl_expression_value read_literal(struct sl_expression_compiler *c) {
  struct sl_expression_value value = value_from(c, SL_EXPRESSION_NUMBER, c->token.at);
  const float number = sl_expression_read_literal(c, &value.number);
  sl_expression_emit(c,
                     sl_expression_instruction(SL_EXPRESSION_LOAD, SL_EXPRESSION_CONSTANT, sl_bits_from_f32(number)));
  value.end = c->end;
  return value;
}

/* ---------------------------------------------------------------------------------------------------- names */

/* Reports a name without a meaning; `what` begins the message: "there is no". */
static void fail_unknown(struct sl_expression_compiler *c, const struct sl_expression_token *name, const char *what,
                         const struct sl_expression_nearest *nearest) {
  const char *best = sl_expression_nearest_name(nearest);
  sl_expression_fail(c, name->at, "%s `%.*s`%s%s%s", what, sl_expression_shown_length(name->length), c->text + name->at,
                     best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
}

static struct sl_expression_search search_for(const struct sl_expression_compiler *c,
                                              const struct sl_expression_token *name) {
  struct sl_expression_search search;
  sl_expression_search_begin(&search, c->text + name->at, name->length);
  search.at = c->frame ? c->frame->at : name->at;
  search.within = c->frame ? c->frame->function : NULL;
  return search;
}

/* Emits a parameter of the function that is being compiled; returns 0 if it has none of that name. */
static int read_parameter(struct sl_expression_compiler *c, struct sl_expression_value *value,
                          const struct sl_expression_token *name) {
  uint32_t i = 0;
  for (const char *at = c->frame ? c->frame->function->parameters : ""; *at; i++) {
    const size_t length = strcspn(at, " ");
    if (length == name->length && strncmp(at, c->text + name->at, length) == 0) {
      sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_LOAD, SL_EXPRESSION_CONSTANT,
                                                      sl_bits_from_f32(c->frame->arguments[i])));
      sl_expression_field_unit(c->frame->function->unit, &value->number.unit);
      return 1;
    }
    at += length;
    at += strspn(at, " ");
  }
  return 0;
}

static struct sl_expression_value read_field(struct sl_expression_compiler *c, const struct sl_expression_token *name) {
  struct sl_expression_value value = value_from(c, SL_EXPRESSION_NUMBER, name->at);
  struct sl_expression_search search = search_for(c, name);
  value.end = name->at + name->length;
  if (read_parameter(c, &value, name)) return value;
  const int found = c->failed ? 0 : c->language->find(c->language->context, &search);
  if (found < 0) sl_expression_fail(c, name->at, "%s", search.problem);
  if (found == 0) fail_unknown(c, name, "there is no", &search.nearest);
  if (found <= 0) return value;
  const int is_count = search.kind == SL_EXPRESSION_COUNT;
  const uint32_t of_values = search.type << (SL_EXPRESSION_TYPE_SHIFT - SL_EXPRESSION_CONSTANT_SHIFT) |
                             search.link << (SL_EXPRESSION_LINK_SHIFT - SL_EXPRESSION_CONSTANT_SHIFT);
  value.number = (struct sl_expression_number){.is_integer = 1, .high = COUNT_MAX};
  if (!is_count) {
    sl_expression_field_unit(search.unit, &value.number.unit);
    value.number.is_integer = (uint32_t)sl_expression_integer_range(search.type, &value.number.low, &value.number.high);
  }
  sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_LOAD, search.kind,
                                                  is_count ? search.place : search.place | of_values));
  return value;
}

/* ------------------------------------------------------------------------------------------------ functions */

static const struct operation {
  const char *name;
  uint32_t code, arguments;
} operations[] = {{"abs", SL_EXPRESSION_ABS, 1}, {"sqrt", SL_EXPRESSION_SQRT, 1}, {"log", SL_EXPRESSION_LOG, 1},
                  {"min", SL_EXPRESSION_MIN, 2}, {"max", SL_EXPRESSION_MAX, 2},   {"atan2", SL_EXPRESSION_ATAN2, 2},
                  {"has", SL_EXPRESSION_HAS, 2}, {"dphi", SL_EXPRESSION_DPHI, 2}};

/* Reads one argument of a function. */
typedef struct sl_expression_value read_argument(struct sl_expression_compiler *c, const void *context);

/* Reads the arguments of a function and the closing parenthesis. Too many and too few are errors. */
static void read_arguments(struct sl_expression_compiler *c, const struct sl_expression_token *name, uint32_t open,
                           uint32_t expected, read_argument *read, const void *context,
                           struct sl_expression_value values[ARGUMENTS_MAX]) {
  uint32_t count = 0;
  char consumer[SL_EXPRESSION_SHOWN_MAX + sizeof "`` needs"];
  const int length = sl_expression_shown_length(name->length);
  snprintf(consumer, sizeof consumer, "`%.*s` needs", length, c->text + name->at);
  if (!sl_expression_accept(c, ")")) {
    do {
      const struct sl_expression_value value = read(c, context);
      require_type(c, &value, SL_EXPRESSION_NUMBER, consumer);
      if (count == expected)
        sl_expression_fail(c, value.at, "`%.*s` takes %u %s, but there are more", length, c->text + name->at, count,
                           sl_plural(count, "argument", "arguments"));
      else
        values[count++] = value;
    } while (sl_expression_accept(c, ","));
    if (!sl_expression_accept(c, ")")) sl_expression_fail(c, open, "this ( has no matching )");
  }
  if (count < expected)
    sl_expression_fail(c, name->at, "`%.*s` takes %u %s, not %u", length, c->text + name->at, expected,
                       sl_plural(expected, "argument", "arguments"), count);
}

static struct sl_expression_value read_any(struct sl_expression_compiler *c, const void *context) {
  (void)context;
  return read_expression(c);
}

static struct sl_expression_value read_operation(struct sl_expression_compiler *c, const struct operation *operation,
                                                 const struct sl_expression_token *name, uint32_t open) {
  struct sl_expression_value values[ARGUMENTS_MAX] = {{.type = SL_EXPRESSION_NUMBER}};
  read_arguments(c, name, open, operation->arguments, read_any, NULL, values);
  if (c->failed) return values[0];
  return operation->arguments == 1 ? sl_expression_unary(c, values[0], operation->code)
                                   : sl_expression_binary(c, values[0], values[1], operation->code);
}

/* An argument of a function of the language: one of its names, or a literal. */
static struct sl_expression_value read_constant(struct sl_expression_compiler *c, const void *context) {
  const struct sl_function *f = context;
  struct sl_expression_value value = value_from(c, SL_EXPRESSION_NUMBER, c->token.at);
  if (c->token.kind == SL_EXPRESSION_LITERAL) {
    char consumer[SL_EXPRESSION_SHOWN_MAX];
    struct sl_expression_unit unit;
    snprintf(consumer, sizeof consumer, "`%s` needs", f->name);
    value = read_literal(c);
    sl_expression_field_unit(f->unit, &unit);
    sl_expression_require_unit(c, &value, &unit, consumer);
    sl_expression_use_as_float(c, &value);
    return value;
  }
  for (uint32_t i = 0; c->token.kind == SL_EXPRESSION_NAME && i < f->value_count; i++)
    if (sl_expression_accept(c, f->values[i].name)) {
      sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_LOAD, SL_EXPRESSION_CONSTANT,
                                                      sl_bits_from_f32(f->values[i].value)));
      return value;
    }
  sl_expression_fail(c, c->token.at, "`%s` needs %s", f->name, f->arguments);
  return value;
}

uint32_t sl_expression_parameters(const struct sl_function *function) {
  uint32_t count = 0;
  for (const char *at = function->parameters; *at; count++) {
    at += strcspn(at, " ");
    at += strspn(at, " ");
  }
  return count;
}

/* Compiles the text of a function. Its position in the expression is that of the call. */
static struct sl_expression_value expand(struct sl_expression_compiler *c, const struct sl_function *f,
                                         const float *arguments, uint32_t at) {
  const struct sl_expression_frame frame = {f, arguments, c->frame ? c->frame->at : at};
  const struct sl_expression_compiler before = *c;
  if (too_deep(c)) return value_from(c, SL_EXPRESSION_NUMBER, at);
  c->text = f->text;
  c->frame = &frame;
  c->token = (struct sl_expression_token){SL_EXPRESSION_END, 0, 0};
  c->depth++;
  sl_expression_next(c);
  struct sl_expression_value value = read_sum(c);
  if (c->token.kind != SL_EXPRESSION_END) sl_expression_fail_here(c, "an operator");
  c->text = before.text;
  c->frame = before.frame;
  c->token = before.token;
  c->end = before.end;
  c->depth = before.depth;
  if (c->failed) c->token.kind = SL_EXPRESSION_END;
  value.number.unit.written = 0;
  if (value.number.rounded_end > 0) {
    value.number.rounded_at = at;
    value.number.rounded_end = c->end;
  }
  return value;
}

static struct sl_expression_value read_function(struct sl_expression_compiler *c,
                                                const struct sl_expression_search *search,
                                                const struct sl_expression_token *name, uint32_t open) {
  const struct sl_function *f = search->function;
  struct sl_expression_value values[ARGUMENTS_MAX] = {{.type = SL_EXPRESSION_NUMBER}};
  float arguments[ARGUMENTS_MAX] = {0};
  const uint32_t begin = c->program->count, count = sl_expression_parameters(f);
  if (count > ARGUMENTS_MAX)
    sl_expression_fail(c, name->at, "`%s` has more than %d parameters", f->name, ARGUMENTS_MAX);
  read_arguments(c, name, open, count, read_constant, f, values);
  if (c->failed) return values[0];
  uint64_t *words = &c->program->words[begin];
  for (uint32_t i = 0; i < count; i++)
    arguments[i] = sl_f32_from_bits((uint32_t)(words[i] >> SL_EXPRESSION_CONSTANT_SHIFT));
  if (f->text) {
    c->program->count = begin;
    return expand(c, f, arguments, name->at);
  }
  words[0] = (words[0] & ~(uint64_t)(SL_EXPRESSION_8_BITS | SL_EXPRESSION_4_BITS << SL_EXPRESSION_OPERAND_SHIFT)) |
             SL_EXPRESSION_CALL | (uint64_t)search->call << SL_EXPRESSION_TARGET_SHIFT;
  values[0].number = (struct sl_expression_number){.is_integer = 0};
  sl_expression_field_unit(f->unit, &values[0].number.unit);
  return values[0];
}

/* Number of arguments before the closing parenthesis; the next token is the first argument. */
static uint32_t count_arguments(const struct sl_expression_compiler *c) {
  uint32_t count = c->token.kind == SL_EXPRESSION_END || sl_expression_is_token(c, &c->token, ")") ? 0 : 1, depth = 0;
  for (const char *at = c->text + c->token.at; *at && (depth > 0 || *at != ')'); at++) {
    depth = depth + (*at == '(') - (*at == ')');
    count += depth == 0 && *at == ',';
  }
  return count;
}

static struct sl_expression_value read_call(struct sl_expression_compiler *c, const struct sl_expression_token *name,
                                            uint32_t open) {
  struct sl_expression_search search = search_for(c, name);
  for (size_t i = 0; i < SL_COUNT_(operations); i++) {
    if (sl_expression_is_token(c, name, operations[i].name)) return read_operation(c, &operations[i], name, open);
    sl_expression_offer(&search.nearest, operations[i].name, "");
  }
  const struct sl_expression_language *language = c->language;
  search.arguments = count_arguments(c);
  const int found = language->find_function && !c->failed ? language->find_function(language->context, &search) : 0;
  if (found > 0) return read_function(c, &search, name, open);
  if (found < 0)
    sl_expression_fail(c, name->at, "%s", search.problem);
  else
    fail_unknown(c, name, "there is no function", &search.nearest);
  return value_from(c, SL_EXPRESSION_NUMBER, name->at);
}

static struct sl_expression_value read_name(struct sl_expression_compiler *c) {
  const struct sl_expression_token name = c->token;
  sl_expression_next(c);
  const uint32_t open = c->token.at;
  if (!sl_expression_accept(c, "(")) return read_field(c, &name);
  struct sl_expression_value value = read_call(c, &name, open);
  value.at = name.at;
  value.end = c->end;
  return value;
}

/* ---------------------------------------------------------------------------------------------- operations */

static int is_keyword(const struct sl_expression_compiler *c) {
  return sl_expression_is_token(c, &c->token, "and") || sl_expression_is_token(c, &c->token, "or") ||
         sl_expression_is_token(c, &c->token, "not");
}

static struct sl_expression_value read_primary(struct sl_expression_compiler *c) {
  const uint32_t at = c->token.at;
  if (c->token.kind == SL_EXPRESSION_LITERAL) return read_literal(c);
  if (c->token.kind == SL_EXPRESSION_NAME && !is_keyword(c)) return read_name(c);
  if (sl_expression_accept(c, "(")) {
    struct sl_expression_value value = read_expression(c);
    if (!sl_expression_accept(c, ")")) sl_expression_fail(c, at, "this ( has no matching )");
    value.at = at;
    value.end = c->end;
    return value;
  }
  sl_expression_fail_here(c, "a value");
  return value_from(c, SL_EXPRESSION_NUMBER, at);
}

/* A value and an optional power, a digit. */
static struct sl_expression_value read_power(struct sl_expression_compiler *c) {
  struct sl_expression_value value = read_primary(c);
  while (sl_expression_accept(c, "^")) {
    const char *digit = c->text + c->token.at;
    require_type(c, &value, SL_EXPRESSION_NUMBER, "`^` needs");
    if (c->token.kind != SL_EXPRESSION_LITERAL || c->token.length != 1 || *digit < '2' || *digit > '9') {
      sl_expression_fail(c, c->token.at, "`^` needs an integer from 2 to 9");
      return value;
    }
    value = sl_expression_power(c, value, (uint32_t)(*digit - '0'));
    sl_expression_next(c);
    value.end = c->end;
  }
  return value;
}

static struct sl_expression_value read_signed(struct sl_expression_compiler *c) {
  const uint32_t at = c->token.at;
  if (too_deep(c)) return value_from(c, SL_EXPRESSION_NUMBER, at);
  c->depth++;
  struct sl_expression_value value;
  if (sl_expression_accept(c, "-")) {
    value = read_signed(c);
    require_type(c, &value, SL_EXPRESSION_NUMBER, "`-` needs");
    value = sl_expression_unary(c, value, SL_EXPRESSION_NEGATE);
    value.at = at;
  } else {
    value = read_power(c);
  }
  c->depth--;
  return value;
}

static struct sl_expression_value read_product(struct sl_expression_compiler *c) {
  struct sl_expression_value left = read_signed(c);
  for (;;) {
    const uint32_t operation = sl_expression_accept(c, "*")   ? SL_EXPRESSION_MULTIPLY
                               : sl_expression_accept(c, "/") ? SL_EXPRESSION_DIVIDE
                                                              : SL_EXPRESSION_OPERATIONS;
    if (operation == SL_EXPRESSION_OPERATIONS) return left;
    const char *consumer = operation == SL_EXPRESSION_MULTIPLY ? "`*` needs" : "`/` needs";
    require_type(c, &left, SL_EXPRESSION_NUMBER, consumer);
    const struct sl_expression_value right = read_signed(c);
    require_type(c, &right, SL_EXPRESSION_NUMBER, consumer);
    left = sl_expression_binary(c, left, right, operation);
  }
}

static struct sl_expression_value read_sum(struct sl_expression_compiler *c) {
  struct sl_expression_value left = read_product(c);
  for (;;) {
    const uint32_t operation = sl_expression_accept(c, "+")   ? SL_EXPRESSION_ADD
                               : sl_expression_accept(c, "-") ? SL_EXPRESSION_SUBTRACT
                                                              : SL_EXPRESSION_OPERATIONS;
    if (operation == SL_EXPRESSION_OPERATIONS) return left;
    const char *consumer = operation == SL_EXPRESSION_ADD ? "`+` needs" : "`-` needs";
    require_type(c, &left, SL_EXPRESSION_NUMBER, consumer);
    const struct sl_expression_value right = read_product(c);
    require_type(c, &right, SL_EXPRESSION_NUMBER, consumer);
    left = sl_expression_binary(c, left, right, operation);
  }
}

/* Skips a comparison operator and returns its operation; SL_EXPRESSION_OPERATIONS if the next token is none. */
static uint32_t accept_comparison(struct sl_expression_compiler *c) {
  static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
  for (uint32_t i = 0; i < SL_COUNT_(signs); i++)
    if (sl_expression_accept(c, signs[i])) return SL_EXPRESSION_LESS + i;
  return SL_EXPRESSION_OPERATIONS;
}

static struct sl_expression_value read_comparison(struct sl_expression_compiler *c) {
  struct sl_expression_value left = read_sum(c);
  const uint32_t operation = accept_comparison(c);
  if (operation == SL_EXPRESSION_OPERATIONS) return left;
  require_type(c, &left, SL_EXPRESSION_NUMBER, "a comparison needs");
  const struct sl_expression_value right = read_sum(c);
  require_type(c, &right, SL_EXPRESSION_NUMBER, "a comparison needs");
  left = sl_expression_binary(c, left, right, operation);
  const uint32_t at = c->token.at;
  if (accept_comparison(c) != SL_EXPRESSION_OPERATIONS)
    sl_expression_fail(c, at, "comparisons cannot be chained; write 2 < eta and eta < 5 for 2 < eta < 5");
  return left;
}

static struct sl_expression_value read_negation(struct sl_expression_compiler *c) {
  const uint32_t at = c->token.at;
  if (!sl_expression_accept(c, "not")) return read_comparison(c);
  if (too_deep(c)) return value_from(c, SL_EXPRESSION_CONDITION, at);
  c->depth++;
  struct sl_expression_value value = read_negation(c);
  c->depth--;
  require_type(c, &value, SL_EXPRESSION_CONDITION, "`not` needs");
  sl_expression_emit(c, sl_expression_instruction(SL_EXPRESSION_NOT, SL_EXPRESSION_NO_OPERAND, 0));
  value.at = at;
  value.end = c->end;
  return value;
}

/* Conditions joined by `word`. The rest is skipped after a condition with the value of `condition`. */
static struct sl_expression_value read_joined(struct sl_expression_compiler *c, const char *word, uint32_t condition,
                                              struct sl_expression_value (*read)(struct sl_expression_compiler *)) {
  struct sl_expression_value left = read(c);
  uint32_t pending = 0;
  char consumer[SL_EXPRESSION_SHOWN_MAX];
  snprintf(consumer, sizeof consumer, "`%s` needs", word);
  while (sl_expression_accept(c, word)) {
    require_type(c, &left, SL_EXPRESSION_CONDITION, consumer);
    pending = sl_expression_add_jump(c, condition, pending);
    const struct sl_expression_value right = read(c);
    require_type(c, &right, SL_EXPRESSION_CONDITION, consumer);
    if (right.depth > left.depth) left.depth = right.depth;
  }
  sl_expression_end_jumps(c, pending);
  return left;
}

static struct sl_expression_value read_conjunction(struct sl_expression_compiler *c) {
  return read_joined(c, "and", SL_EXPRESSION_IF_FALSE, read_negation);
}
static struct sl_expression_value read_expression(struct sl_expression_compiler *c) {
  return read_joined(c, "or", SL_EXPRESSION_IF_TRUE, read_conjunction);
}

/* ----------------------------------------------------------------------------------------------- the whole */

/* Words of comparisons of a value of the candidate with a constant, in pairs; if one is false, the program ends. */
static uint32_t count_leading(const struct sl_expression_program *p) {
  uint32_t at = 0;
  for (; at + 2 <= p->count; at += 2) {
    const uint32_t word = (uint32_t)p->words[at], next = (uint32_t)p->words[at + 1];
    const uint32_t jump = next >> SL_EXPRESSION_JUMP_SHIFT & SL_EXPRESSION_4_BITS;
    if ((word & SL_EXPRESSION_8_BITS) != SL_EXPRESSION_TEST ||
        (word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS) != SL_EXPRESSION_OF_CANDIDATE)
      break;
    if (at + 2 < p->count && (jump != SL_EXPRESSION_IF_FALSE || next >> SL_EXPRESSION_TARGET_SHIFT < p->count)) break;
  }
  return at;
}

int sl_expression_compile(const char *text, const struct sl_expression_language *language,
                          struct sl_expression_program *program, struct sl_expression_fault *fault) {
  struct sl_expression_compiler c = {
      .text = text, .language = language, .program = program, .fault = fault, .label = UINT32_MAX};
  program->count = program->leading = program->comparison_count = 0;
  program->unit[0] = '\0';
  *fault = (struct sl_expression_fault){.at = 0};
  if (strlen(text) > SL_EXPRESSION_TEXT_MAX) {
    sl_expression_fail(&c, SL_EXPRESSION_TEXT_MAX, "the expression is too long: it has more than %d bytes",
                       SL_EXPRESSION_TEXT_MAX);
    return SL_EINVAL;
  }
  sl_expression_next(&c);
  if (c.token.kind == SL_EXPRESSION_END) return SL_OK;
  const struct sl_expression_value value = read_expression(&c);
  if (!c.failed && c.token.kind != SL_EXPRESSION_END) {
    if (sl_expression_is_token(&c, &c.token, ")"))
      sl_expression_fail(&c, c.token.at, "this ) has no matching (");
    else
      sl_expression_fail_here(&c, "an operator");
  }
  if (language->condition) require_type(&c, &value, SL_EXPRESSION_CONDITION, language->condition);
  if (!c.failed && value.type == SL_EXPRESSION_NUMBER) {
    if (value.number.rounded_end == 0) sl_expression_use_as_float(&c, &value);
    sl_expression_unit_text(&value.number.unit, program->unit);
  }
  program->leading = c.failed ? 0 : count_leading(program);
  return c.failed ? SL_EINVAL : SL_OK;
}
