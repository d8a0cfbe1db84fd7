/* where_compile.c: the text of a line without code to a program (where.h). Recursive descent writes the instructions as
 * it reads; README.md has the grammar.
 *
 * What is read leaves its value as the result. Of an operation on two numbers the right one is mostly a single value,
 * which becomes the operand of the operation; of others the left one is put aside before the right one is worked out.
 * `a and b` jumps behind b where a is false, `a or b` where it is true: the instruction that makes a says so, unless
 * another jump ends behind it. Jumps that wait for the place to go to are a list, each with the one before it in the
 * place of its target. */
#include "selections/masses.h"
#include "where.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, DIGITS_MAX = 15, POWERS = 23, NAME_SHOWN_MAX = 40, ARGUMENTS_MAX = 2 };
enum { NUMBER, TRUTH };
enum { END, A_NUMBER, NAME, SIGN, WRONG };

struct token {
  uint32_t kind, at, length;
};

struct compiler {
  const char *text;
  const void *args;
  const struct where_language *language;
  struct where_program *program;
  struct where_fault *fault;
  struct token token; /* the next one */
  uint32_t depth, label, failed;
};

/* What was read. */
struct value {
  uint32_t type, at; /* byte of the text */
  uint32_t begin;    /* first word */
  uint32_t aside;    /* how many numbers are put aside meanwhile */
};

static struct value read_expression(struct compiler *c);

/* -------------------------------------------------------------------------------------------------- faults */

/* The first one counts; after it there is nothing more to read. */
static void fail(struct compiler *c, uint32_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void fail(struct compiler *c, uint32_t at, const char *format, ...) {
  va_list arguments;
  if (!c->failed) {
    c->fault->at = at;
    va_start(arguments, format);
    vsnprintf(c->fault->text, sizeof c->fault->text, format, arguments);
    va_end(arguments);
  }
  c->failed = 1;
  c->token.kind = END;
}

static int shown(uint32_t length) { return (int)(length < NAME_SHOWN_MAX ? length : NAME_SHOWN_MAX); }

static void want(struct compiler *c, const struct value *value, uint32_t type, const char *who) {
  if (c->failed || value->type == type) return;
  if (type == TRUTH)
    fail(c, value->at, "%s a truth, such as pt > 500, and this is a number", who);
  else
    fail(c, value->at, "%s a number, and this is a truth", who);
}

/* -------------------------------------------------------------------------------------------------- tokens */

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static uint32_t number_length(const char *at) {
  const char *c = at;
  while (is_digit(*c)) c++;
  if (*c == '.') c++;
  while (is_digit(*c)) c++;
  if (*c != 'e' && *c != 'E') return (uint32_t)(c - at);
  const char *exponent = c + 1 + (c[1] == '-' || c[1] == '+');
  if (!is_digit(*exponent)) return (uint32_t)(c - at);
  while (is_digit(*exponent)) exponent++;
  return (uint32_t)(exponent - at);
}

static uint32_t name_length(const char *at) {
  const char *c = at;
  while (is_letter(*c) || is_digit(*c) || (*c == '.' && is_letter(c[1]))) c++;
  return (uint32_t)(c - at);
}

static uint32_t sign_length(const char *at) {
  if (strchr("<>=!", *at)) return at[1] == '=' ? 2 : *at == '<' || *at == '>';
  return strchr("+-*/(),", *at) ? 1 : 0;
}

static void next(struct compiler *c) {
  if (c->failed) return;
  const uint32_t end = c->token.at + c->token.length;
  const uint32_t at = end + (uint32_t)strspn(c->text + end, " \t\r\n");
  const char *text = c->text + at;
  if (!*text)
    c->token = (struct token){END, at, 0};
  else if (is_digit(*text) || (*text == '.' && is_digit(text[1])))
    c->token = (struct token){A_NUMBER, at, number_length(text)};
  else if (is_letter(*text))
    c->token = (struct token){NAME, at, name_length(text)};
  else if (sign_length(text) > 0)
    c->token = (struct token){SIGN, at, sign_length(text)};
  else
    c->token = (struct token){WRONG, at, 1};
}

static int is_token(const struct compiler *c, const struct token *token, const char *text) {
  return strlen(text) == token->length && strncmp(c->text + token->at, text, token->length) == 0;
}

/* Goes beyond it if it is the next one. */
static int take(struct compiler *c, const char *text) {
  if (c->failed || c->token.kind == END || !is_token(c, &c->token, text)) return 0;
  next(c);
  return 1;
}

/* What stands where it cannot. */
static void fail_here(struct compiler *c, const char *wanted) {
  static const struct { const char *wrong, *right; } habits[] = {{"&", "and"}, {"|", "or"}, {"!", "not"}, {"=", "=="}};
  const char *text = c->text + c->token.at;
  for (size_t i = 0; c->token.kind == WRONG && i < SL_COUNT_(habits); i++)
    if (*text == *habits[i].wrong) {
      fail(c, c->token.at, "`%c` means nothing here; write %s", *text, habits[i].right);
      return;
    }
  uint32_t length = c->token.length;
  while (c->token.kind == WRONG && ((unsigned char)text[length] & 0xC0) == 0x80) length++;
  if (c->token.kind == END)
    fail(c, c->token.at, "%s is missing at the end", wanted);
  else
    fail(c, c->token.at, "%s is missing before `%.*s`", wanted, shown(length), text);
}

/* ------------------------------------------------------------------------------------------------- programs */

static uint64_t instruction(uint32_t operation, uint32_t operand, uint32_t rest) {
  return operation | (uint64_t)operand << WHERE_OPERAND_SHIFT | (uint64_t)rest << WHERE_CONSTANT_SHIFT;
}

static void emit(struct compiler *c, uint64_t word) {
  if (c->program->count == WHERE_WORDS_MAX)
    fail(c, c->token.at, "up to here there are %d instructions, and no room for more", WHERE_WORDS_MAX);
  if (!c->failed) c->program->words[c->program->count++] = word;
}

static uint64_t *last_word(struct compiler *c) { return &c->program->words[c->program->count - 1]; }

static uint32_t operation_of(uint64_t word) { return (uint32_t)word & WHERE_8_BITS; }
static uint32_t operand_of(uint64_t word) { return (uint32_t)word >> WHERE_OPERAND_SHIFT & WHERE_4_BITS; }

/* Is it no more than a constant, or a value of a collection? */
static int is_single(const struct compiler *c, uint32_t begin) {
  return c->program->count == begin + 1 && operation_of(c->program->words[begin]) == WHERE_TAKE;
}

static void put_aside_before(struct compiler *c, uint32_t begin) {
  uint64_t *words = c->program->words;
  emit(c, 0);
  if (c->failed) return;
  memmove(words + begin + 1, words + begin, (c->program->count - 1 - begin) * sizeof *words);
  words[begin] = instruction(WHERE_PUT_ASIDE, WHERE_NOTHING, 0);
}

/* The operation on two numbers, of which the right one was read last. */
static struct value join_numbers(struct compiler *c, struct value left, struct value right, uint32_t operation) {
  if (c->failed) return left;
  if (is_single(c, right.begin)) {
    *last_word(c) = (*last_word(c) & ~(uint64_t)WHERE_8_BITS) | operation;
    return left;
  }
  put_aside_before(c, right.begin);
  emit(c, instruction(operation, WHERE_ASIDE, 0));
  if (right.aside + 1 > left.aside) left.aside = right.aside + 1;
  if (left.aside > WHERE_ASIDE_MAX)
    fail(c, right.at, "more than %d numbers must be kept for what follows; put this before what it is combined with",
         WHERE_ASIDE_MAX);
  return left;
}

/* A jump on the truth that was read last, in the list `waiting`. */
static uint32_t add_jump(struct compiler *c, uint32_t condition, uint32_t waiting) {
  if (c->label == c->program->count) emit(c, instruction(WHERE_JUMP, WHERE_NOTHING, 0));
  if (c->failed) return 0;
  *last_word(c) |= (uint64_t)condition << WHERE_JUMP_SHIFT | (uint64_t)waiting << WHERE_TARGET_SHIFT;
  return c->program->count;
}

static void end_jumps(struct compiler *c, uint32_t waiting) {
  const uint64_t target = (uint64_t)WHERE_16_BITS << WHERE_TARGET_SHIFT;
  while (!c->failed && waiting > 0) {
    uint64_t *word = &c->program->words[waiting - 1];
    waiting = (uint32_t)((*word & target) >> WHERE_TARGET_SHIFT);
    *word = (*word & ~target) | (uint64_t)c->program->count << WHERE_TARGET_SHIFT;
    c->label = c->program->count;
  }
}

static struct value value_from(const struct compiler *c, uint32_t type, uint32_t at) {
  return (struct value){type, at, c->program->count, 0};
}

/* ------------------------------------------------------------------------------------------------- constants */

/* Digits as one number, and the power of ten that it is to be multiplied by; 0 if that is not exact. */
static int read_digits(const char *text, uint32_t length, uint64_t *digits, int32_t *power) {
  uint32_t after_point = 0, i = 0, count = 0;
  for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
    if (text[i] == '.') {
      after_point = 1;
      continue;
    }
    *digits = 10 * *digits + (uint64_t)(text[i] - '0');
    *power -= (int32_t)after_point;
    count += *digits > 0;
    if (count > DIGITS_MAX) return 0;
  }
  int32_t exponent = 0;
  const int is_negative = i + 1 < length && text[i + 1] == '-';
  for (i += 1 + (i + 1 < length && !is_digit(text[i + 1])); i < length; i++)
    if (exponent < 1000) exponent = 10 * exponent + (text[i] - '0');
  *power += is_negative ? -exponent : exponent;
  return 1;
}

/* A number and its unit, if there is one, rounded once to double, then to float as properties are. */
static float read_constant(struct compiler *c) {
  static const struct {
    const char *name;
    int32_t power;
  } units[] = {{"MeV", 0}, {"GeV", 3}, {"TeV", 6}, {"mm", 0}, {"cm", 1}, {"um", -3}};
  static const double powers[POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const struct token number = c->token;
  uint64_t digits = 0;
  int32_t power = 0;
  const int fits = read_digits(c->text + number.at, number.length, &digits, &power);
  next(c);
  for (size_t i = 0; c->token.kind == NAME && i < SL_COUNT_(units); i++)
    if (take(c, units[i].name)) {
      power += units[i].power;
      break;
    }
  if (!fits || power >= POWERS || power <= -POWERS) {
    fail(c, number.at, "a number has at most %d digits, and an exponent within %d", DIGITS_MAX, POWERS - 1);
    return 0.0f;
  }
  return (float)(power < 0 ? (double)digits / powers[-power] : (double)digits * powers[power]);
}

static struct value read_number(struct compiler *c) {
  const struct value value = value_from(c, NUMBER, c->token.at);
  emit(c, instruction(WHERE_TAKE, WHERE_CONSTANT, sl_bits_from_f32(read_constant(c))));
  if (c->token.kind == NAME && !is_token(c, &c->token, "and") && !is_token(c, &c->token, "or"))
    fail(c, c->token.at, "`%.*s` is no unit; there are MeV, GeV, TeV, mm, cm and um", shown(c->token.length),
         c->text + c->token.at);
  return value;
}

/* ---------------------------------------------------------------------------------------------------- names */

/* Is that field one that a text can name? */
static int is_readable(const struct where_scope *scope, const struct sl_field *field) {
  const uint32_t shape = scope->operand == WHERE_OF_EVENT ? SL_SHAPE_CODE_PER_EVENT : SL_SHAPE_CODE_PER_ITEM;
  return field->shape == shape && field->width == 1;
}

/* The operand and the rest of the word for a name, or 0. */
static int find_in_scope(const struct compiler *c, const struct where_scope *scope, const struct token *name,
                         struct where_nearest *nearest, uint32_t *rest) {
  const uint32_t length = (uint32_t)strlen(scope->prefix);
  if (!scope->collection) {
    where_nearest_offer(nearest, scope->prefix, "");
    *rest = scope->args_offset;
    return is_token(c, name, scope->prefix);
  }
  for (uint32_t f = 0; f < scope->collection->field_count; f++) {
    const struct sl_field *field = &scope->collection->fields[f];
    if (!is_readable(scope, field)) continue;
    where_nearest_offer(nearest, scope->prefix, field->name);
    const struct token own = {NAME, name->at + length, name->length - length};
    if (name->length <= length || strncmp(c->text + name->at, scope->prefix, length) != 0) continue;
    if (!is_token(c, &own, field->name)) continue;
    *rest = (scope->args_offset + f * (uint32_t)sizeof(void *)) | field->type
                                                                      << (WHERE_TYPE_SHIFT - WHERE_CONSTANT_SHIFT);
    return 1;
  }
  return 0;
}

/* A check sees no pointers, but which inputs are connected; the test harness has both. */
static void check_input(struct compiler *c, const struct where_scope *scope, const struct token *name) {
  const uint32_t *offsets;
  struct sl_bound bound;
  if (!c->args || !scope->port || scope->collection) return;
  memcpy(&offsets, (const unsigned char *)c->args + scope->args_offset, sizeof offsets);
  memcpy(&bound, (const unsigned char *)c->args + scope->bound_offset, sizeof bound);
  if (!offsets && bound.capacity == 0)
    fail(c, name->at, "`%s` is asked for, and its input is not: in: { %s: NODE }", scope->prefix, scope->port);
}

static struct value read_field(struct compiler *c, const struct token *name) {
  const struct value value = value_from(c, NUMBER, name->at);
  struct where_nearest nearest = {c->text + name->at, name->length, UINT32_MAX, ""};
  for (uint32_t i = 0; i < c->language->scope_count; i++) {
    const struct where_scope *scope = &c->language->scopes[i];
    uint32_t rest;
    if (!find_in_scope(c, scope, name, &nearest, &rest)) continue;
    check_input(c, scope, name);
    emit(c, instruction(WHERE_TAKE, scope->operand, rest));
    return value;
  }
  const char *best = where_nearest_result(&nearest);
  fail(c, name->at, "there is no `%.*s`%s%s%s", shown(name->length), c->text + name->at, best ? "; did you mean " : "",
       best ? best : "", best ? "?" : "");
  return value;
}

/* ------------------------------------------------------------------------------------------------ functions */

static const struct function {
  const char *name;
  uint32_t operation, arguments, type;
} functions[] = {{"abs", WHERE_ABS, 1, NUMBER},  {"sqrt", WHERE_SQRT, 1, NUMBER}, {"log", WHERE_LOG, 1, NUMBER},
                 {"min", WHERE_MIN, 2, NUMBER},  {"max", WHERE_MAX, 2, NUMBER},   {"has", WHERE_HAS, 2, TRUTH},
                 {"mass", WHERE_MASS, 2, NUMBER}};

/* Of a child: a particle, or MeV. */
static struct value read_hypothesis(struct compiler *c) {
  static const struct {
    const char *name;
    float mass;
  } particles[] = {{"e", ELECTRON_MASS}, {"mu", MUON_MASS}, {"pi", PION_MASS}, {"K", KAON_MASS}, {"p", PROTON_MASS}};
  if (c->token.kind == A_NUMBER) return read_number(c);
  const struct value value = value_from(c, NUMBER, c->token.at);
  for (size_t i = 0; c->token.kind == NAME && i < SL_COUNT_(particles); i++)
    if (take(c, particles[i].name)) {
      emit(c, instruction(WHERE_TAKE, WHERE_CONSTANT, sl_bits_from_f32(particles[i].mass)));
      return value;
    }
  fail(c, c->token.at, "mass takes what the children are: e, mu, pi, K, p, or a mass in MeV");
  return value;
}

/* Those of `mass` stay where they are, as the two words of one instruction. */
static struct value call(struct compiler *c, const struct function *function, struct value first, struct value second) {
  first.type = function->type;
  if (c->failed) return first;
  if (function->operation == WHERE_MASS) {
    uint64_t *words = &c->program->words[first.begin];
    words[0] = (words[0] & ~(uint64_t)(WHERE_8_BITS | WHERE_4_BITS << WHERE_OPERAND_SHIFT)) | WHERE_MASS;
  } else if (function->arguments == 1) {
    emit(c, instruction(function->operation, WHERE_NOTHING, 0));
  } else {
    first = join_numbers(c, first, second, function->operation);
    first.type = function->type;
  }
  return first;
}

/* Beyond its name and the parenthesis after it. */
static struct value read_call(struct compiler *c, const struct function *function, const struct token *name,
                              uint32_t open) {
  struct value values[ARGUMENTS_MAX] = {{0, 0, 0, 0}};
  uint32_t count = 0;
  char who[NAME_SHOWN_MAX];
  snprintf(who, sizeof who, "%s takes", function->name);
  if (function->operation == WHERE_MASS && !c->language->has_masses)
    fail(c, name->at, "mass is of pairs of particles, and here are none");
  if (!take(c, ")")) {
    do {
      const struct value value = function->operation == WHERE_MASS ? read_hypothesis(c) : read_expression(c);
      want(c, &value, NUMBER, who);
      if (count == function->arguments)
        fail(c, value.at, "%s takes %u argument%s, and this is one more", function->name, count, count == 1 ? "" : "s");
      else
        values[count++] = value;
    } while (take(c, ","));
    if (!take(c, ")")) fail(c, open, "this ( is never closed");
  }
  if (count < function->arguments)
    fail(c, name->at, "%s takes %u argument%s, not %u", function->name, function->arguments,
         function->arguments == 1 ? "" : "s", count);
  values[0].at = name->at;
  return call(c, function, values[0], values[1]);
}

static struct value read_name(struct compiler *c) {
  const struct token name = c->token;
  next(c);
  const uint32_t open = c->token.at;
  if (!take(c, "(")) return read_field(c, &name);
  struct where_nearest nearest = {c->text + name.at, name.length, UINT32_MAX, ""};
  for (size_t i = 0; i < SL_COUNT_(functions); i++) {
    if (is_token(c, &name, functions[i].name)) return read_call(c, &functions[i], &name, open);
    where_nearest_offer(&nearest, functions[i].name, "");
  }
  const char *best = where_nearest_result(&nearest);
  fail(c, name.at, "there is no function `%.*s`%s%s%s", shown(name.length), c->text + name.at,
       best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
  return value_from(c, NUMBER, name.at);
}

/* ---------------------------------------------------------------------------------------------- operations */

static int is_keyword(const struct compiler *c) {
  return is_token(c, &c->token, "and") || is_token(c, &c->token, "or") || is_token(c, &c->token, "not");
}

static struct value read_primary(struct compiler *c) {
  const uint32_t at = c->token.at;
  if (c->token.kind == A_NUMBER) return read_number(c);
  if (c->token.kind == NAME && !is_keyword(c)) return read_name(c);
  if (take(c, "(")) {
    struct value value = read_expression(c);
    value.at = at;
    if (!take(c, ")")) fail(c, at, "this ( is never closed");
    return value;
  }
  fail_here(c, "a value");
  return value_from(c, NUMBER, at);
}

/* Parentheses, signs and `not` go deeper; so does nothing else. */
static int too_deep(struct compiler *c) {
  if (c->depth < DEPTH_MAX) return 0;
  fail(c, c->token.at, "parentheses and signs are more than %d deep", DEPTH_MAX);
  return 1;
}

static struct value read_signed(struct compiler *c) {
  const uint32_t at = c->token.at;
  if (too_deep(c)) return value_from(c, NUMBER, at);
  c->depth++;
  struct value value;
  if (take(c, "-")) {
    value = read_signed(c);
    want(c, &value, NUMBER, "- takes");
    value.at = at;
    const int is_constant = !c->failed && is_single(c, value.begin) && operand_of(*last_word(c)) == WHERE_CONSTANT;
    if (is_constant)
      *last_word(c) ^= (uint64_t)0x80000000u << WHERE_CONSTANT_SHIFT;
    else
      emit(c, instruction(WHERE_NEGATE, WHERE_NOTHING, 0));
  } else {
    value = read_primary(c);
  }
  c->depth--;
  return value;
}

static struct value read_product(struct compiler *c) {
  struct value left = read_signed(c);
  for (;;) {
    const uint32_t operation = take(c, "*") ? WHERE_MULTIPLY : take(c, "/") ? WHERE_DIVIDE : WHERE_OPERATIONS;
    if (operation == WHERE_OPERATIONS) return left;
    const char *who = operation == WHERE_MULTIPLY ? "* takes" : "/ takes";
    want(c, &left, NUMBER, who);
    const struct value right = read_signed(c);
    want(c, &right, NUMBER, who);
    left = join_numbers(c, left, right, operation);
  }
}

static struct value read_sum(struct compiler *c) {
  struct value left = read_product(c);
  for (;;) {
    const uint32_t operation = take(c, "+") ? WHERE_ADD : take(c, "-") ? WHERE_SUBTRACT : WHERE_OPERATIONS;
    if (operation == WHERE_OPERATIONS) return left;
    const char *who = operation == WHERE_ADD ? "+ takes" : "- takes";
    want(c, &left, NUMBER, who);
    const struct value right = read_product(c);
    want(c, &right, NUMBER, who);
    left = join_numbers(c, left, right, operation);
  }
}

/* The operation of the next token, if it compares; else WHERE_OPERATIONS. */
static uint32_t take_comparison(struct compiler *c) {
  static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
  for (uint32_t i = 0; i < SL_COUNT_(signs); i++)
    if (take(c, signs[i])) return WHERE_LESS + i;
  return WHERE_OPERATIONS;
}

static struct value read_comparison(struct compiler *c) {
  struct value left = read_sum(c);
  const uint32_t operation = take_comparison(c);
  if (operation == WHERE_OPERATIONS) return left;
  want(c, &left, NUMBER, "a comparison takes");
  const struct value right = read_sum(c);
  want(c, &right, NUMBER, "a comparison takes");
  left = join_numbers(c, left, right, operation);
  left.type = TRUTH;
  const uint32_t at = c->token.at;
  if (take_comparison(c) != WHERE_OPERATIONS) fail(c, at, "write 2 < eta and eta < 5 for 2 < eta < 5");
  return left;
}

static struct value read_negation(struct compiler *c) {
  const uint32_t at = c->token.at;
  if (!take(c, "not")) return read_comparison(c);
  if (too_deep(c)) return value_from(c, TRUTH, at);
  c->depth++;
  struct value value = read_negation(c);
  c->depth--;
  want(c, &value, TRUTH, "not takes");
  emit(c, instruction(WHERE_NOT, WHERE_NOTHING, 0));
  value.at = at;
  return value;
}

/* Truths with `word` between them; after one that is `condition` the others do not count. */
static struct value read_joined(struct compiler *c, const char *word, uint32_t condition,
                                struct value (*read)(struct compiler *)) {
  struct value left = read(c);
  uint32_t waiting = 0;
  char who[NAME_SHOWN_MAX];
  snprintf(who, sizeof who, "%s takes", word);
  while (take(c, word)) {
    want(c, &left, TRUTH, who);
    waiting = add_jump(c, condition, waiting);
    const struct value right = read(c);
    want(c, &right, TRUTH, who);
    if (right.aside > left.aside) left.aside = right.aside;
  }
  end_jumps(c, waiting);
  return left;
}

static struct value read_conjunction(struct compiler *c) {
  return read_joined(c, "and", WHERE_IF_FALSE, read_negation);
}
static struct value read_expression(struct compiler *c) {
  return read_joined(c, "or", WHERE_IF_TRUE, read_conjunction);
}

/* ----------------------------------------------------------------------------------------------- the whole */

int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct where_program *program, struct where_fault *fault) {
  struct compiler c = {text, args, language, program, fault, {END, 0, 0}, 0, UINT32_MAX, 0};
  program->count = 0;
  next(&c);
  if (c.token.kind == END) return SL_OK;
  const struct value value = read_expression(&c);
  if (!c.failed && c.token.kind != END) {
    if (is_token(&c, &c.token, ")"))
      fail(&c, c.token.at, "this ) closes nothing");
    else
      fail_here(&c, "an operation");
  }
  want(&c, &value, TRUTH, "a line takes");
  return c.failed ? SL_EINVAL : SL_OK;
}

int where_check(const struct sl_services *s, const char *text, const void *args,
                const struct where_language *language) {
  struct where_program program;
  struct where_fault fault;
  const int status = where_compile(text, args, language, &program, &fault);
  if (status < 0) s->message(s->context, SL_ERROR, "where+%u: %s", fault.at, fault.text);
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
