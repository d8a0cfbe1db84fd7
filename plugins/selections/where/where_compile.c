/* where_compile.c: the names of lines without code (where.h), and the check and the program of the property `where`. */
#include "where.h"

#include <stdio.h>
#include <string.h>

/* The names of an expression and, in a check, the arguments that show the connected inputs. */
struct names {
  const struct where_language *language;
  const void *args;
};

/* Whether an expression may use the field. */
static int is_readable(const struct where_scope *scope, const struct sl_field *field) {
  const uint32_t shape = scope->operand == SL_EXPRESSION_OF_EVENT ? SL_SHAPE_CODE_PER_EVENT : SL_SHAPE_CODE_PER_ITEM;
  return field->shape == shape && field->width == 1;
}

static int is_name(const struct sl_expression_search *s, const char *prefix, const char *name) {
  const size_t length = strlen(prefix);
  return s->length == length + strlen(name) && strncmp(s->name, prefix, length) == 0 &&
         strncmp(s->name + length, name, s->length - length) == 0;
}

/* 1 if the optional input of a name is connected. In a check a connected input has a bound, but its pointer is not set.
 */
static int is_connected(const void *args, const char *port, uint32_t args_offset, uint32_t bound_offset) {
  const uint32_t *offsets;
  struct sl_bound bound;
  if (!args || !port) return 1;
  memcpy(&offsets, (const unsigned char *)args + args_offset, sizeof offsets);
  memcpy(&bound, (const unsigned char *)args + bound_offset, sizeof bound);
  return offsets || bound.capacity > 0;
}

static int fail_unconnected(struct sl_expression_search *s, const char *port) {
  snprintf(s->problem, sizeof s->problem, "`%.*s` needs an input that is not connected; add in: { %s: NODE }",
           (int)s->length, s->name, port);
  return SL_EINVAL;
}

static int find_count(const struct where_scope *scope, struct sl_expression_search *s) {
  sl_expression_offer(&s->nearest, scope->prefix, "");
  if (!is_name(s, scope->prefix, "")) return 0;
  s->place = scope->args_offset;
  return 1;
}

static int find_field(const struct where_scope *scope, struct sl_expression_search *s) {
  for (uint32_t f = 0; f < scope->collection->field_count; f++) {
    const struct sl_field *field = &scope->collection->fields[f];
    if (!is_readable(scope, field)) continue;
    sl_expression_offer(&s->nearest, scope->prefix, field->name);
    if (!is_name(s, scope->prefix, field->name)) continue;
    s->place = scope->args_offset + f * (uint32_t)sizeof(void *);
    s->type = field->type;
    s->unit = field->unit;
    return 1;
  }
  return 0;
}

static int find(void *context, struct sl_expression_search *s) {
  const struct names *names = context;
  for (uint32_t i = 0; i < names->language->scope_count; i++) {
    const struct where_scope *scope = &names->language->scopes[i];
    s->kind = scope->operand;
    s->link = scope->link;
    if (!(scope->collection ? find_field(scope, s) : find_count(scope, s))) continue;
    if (is_connected(names->args, scope->port, scope->args_offset, scope->bound_offset)) return 1;
    return fail_unconnected(s, scope->port);
  }
  return 0;
}

static int find_function(void *context, struct sl_expression_search *s) {
  const struct names *names = context;
  const struct where_function *found = NULL;
  for (uint32_t i = 0; i < names->language->function_count; i++) {
    const struct where_function *f = &names->language->functions[i];
    sl_expression_offer(&s->nearest, f->function.name, "");
    if (!is_name(s, f->function.name, "")) continue;
    if (!found || sl_expression_parameters(&f->function) == s->arguments) found = f;
  }
  if (!found && names->language->function_count == 0 && is_name(s, "mass", "")) {
    snprintf(s->problem, sizeof s->problem, "`mass` is only available for pairs and composites of particles");
    return SL_EINVAL;
  }
  if (!found) return 0;
  s->function = &found->function;
  s->call = found->call;
  if (is_connected(names->args, found->port, found->args_offset, found->bound_offset)) return 1;
  return fail_unconnected(s, found->port);
}

int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct sl_expression_program *program, struct sl_expression_fault *fault) {
  struct names names = {language, args};
  const struct sl_expression_language own = {&names, find, find_function, "a line needs", SL_EXPRESSION_WORDS_MAX};
  return sl_expression_compile(text, &own, program, fault);
}

int where_check(const struct sl_services *s, const char *format, const char *text, const void *args,
                const struct where_language *language) {
  struct sl_expression_program program;
  struct sl_expression_fault fault;
  const int status = where_compile(text, args, language, &program, &fault);
  if (*fault.text) s->message(s->context, fault.is_warning ? SL_WARNING : SL_ERROR, format, fault.at, fault.text);
  return status;
}

struct where_children where_children_of(const struct where_language *language) {
  struct where_children c = {.links = {{0, 0}}};
  for (uint32_t i = 0; i < language->link_count; i++) c.links[i] = language->links[i];
  for (uint32_t i = 0; i < language->decay_count; i++) c.decays[i] = language->decays[i];
  return c;
}

int where_prepare(const struct sl_services *s, const char *table, const char *text,
                  const struct where_language *language, struct where_size *size) {
  struct sl_expression_program program;
  struct sl_expression_fault fault;
  const int status = where_compile(text, NULL, language, &program, &fault);
  size->words = program.count;
  size->leading = program.leading;
  if (status < 0) return status; /* where_check has reported the error */
  const struct where_children children = where_children_of(language);
  const uint32_t bytes = (uint32_t)strlen(text), texts = (bytes + 7) / 8;
  const uint64_t all = WHERE_PROGRAM + program.count + 1 + 2 * (uint64_t)program.comparison_count + texts;
  uint64_t *words = (uint64_t *)s->make_table(s->context, table, all);
  if (!words) return SL_ENOMEM;
  memset(words, 0, all * sizeof *words);
  memcpy(words, &children, sizeof children);
  words += WHERE_PROGRAM;
  memcpy(words, program.words, program.count * sizeof *words);
  words += program.count;
  *words++ = program.comparison_count | (uint64_t)bytes << 32;
  for (uint32_t i = 0; i < program.comparison_count; i++) {
    const struct sl_expression_comparison *c = &program.comparisons[i];
    *words++ = c->word;
    *words++ = c->left_at | (uint64_t)c->left_end << 16 | (uint64_t)c->right_at << 32 | (uint64_t)c->right_end << 48;
  }
  memcpy(words, text, bytes);
  return SL_OK;
}
