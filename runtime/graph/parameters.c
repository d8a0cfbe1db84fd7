/* parameters.c: replaces ${name}, a parameter, and ${node.property}, the value of a property of a node, in values. In a
 * graph with conditions, ${conditions} splits the value of a property (sl_tree.conditions).
 *
 * A value that consists of one ${name} only becomes the parameter's value with its location, for messages: a number
 * stays a number, even if YAML required quotes around ${...}. In other values the parameter's text is inserted. `$${`
 * is a literal `${`. Parameters cannot refer to each other, and a property to which another one refers cannot refer to
 * a property.
 */
#include "graph/stages.h"
#include "plugin/property.h"
#include "plugin/tables.h"

#include <string.h>

struct output {
  char *text; /* NULL in the pass that measures the result */
  size_t bytes;
  uint32_t conditions; /* number of ${conditions} */
  const char *origins; /* origins of the parameters inserted so far: see sl_tree.parameters */
};

static void emit(struct output *out, const char *text, size_t bytes) {
  if (out->text != NULL) memcpy(out->text + out->bytes, text, bytes);
  out->bytes += bytes;
}

static void unknown_parameter(struct sl_reader *r, const struct sl_tree *parameters, struct sl_mark mark,
                              const char *name) {
  struct sl_guess guess;
  sl_guess_begin(r, &guess, name);
  for (const struct sl_entry *entry = parameters->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL) sl_guess_offer(&guess, entry->key);
  const char *hint = strcmp(name, "conditions") == 0 ? "add the section `conditions`" : sl_guess_hint(r, &guess);
  sl_report_error(r, mark, NULL, hint, "the graph has no parameter `%s`", sl_shown(r, name));
}

/* Targets of references in values. parameters NULL: no references; nodes NULL: parameters only; conditions: the
 * section, or NULL. */
struct scope {
  const struct sl_tree *parameters, *nodes, *conditions;
  int is_set; /* the values are properties, which may refer to the conditions */
};

static int substitute(struct sl_reader *r, const struct scope *scope, struct sl_tree *scalar);

static const char *default_text(struct sl_reader *r, const struct sl_member *property) {
  char number[SL_NUMBER_TEXT_BYTES];
  if (property->type == SL_TYPE_bool) return property->default_value != 0 ? "true" : "false";
  if (property->default_text != NULL) return property->default_text;
  return sl_arena_format(r->arena, "%s", sl_number_text(property->type, property->default_value, number));
}

/* Returns the value of ${node.property}, or NULL with the error reported. */
static const struct sl_tree *find_property(struct sl_reader *r, const struct scope *scope, struct sl_mark mark,
                                           const char *name) {
  const char *dot = strchr(name, '.');
  const char *node = sl_arena_text(r->arena, name, (size_t)(dot - name)), *property = dot + 1;
  const struct sl_tree *tree = scope->nodes ? sl_tree_get(scope->nodes, node) : NULL;
  if (scope->nodes == NULL) {
    sl_report_error(r, mark, NULL, NULL, "`${%s}`: a value to which another one refers cannot refer to a property",
                    sl_shown(r, name));
    return NULL;
  }
  if (tree == NULL) {
    struct sl_guess guess;
    sl_guess_begin(r, &guess, node);
    for (const struct sl_entry *entry = scope->nodes->first; entry != NULL; entry = entry->next)
      if (entry->value != NULL) sl_guess_offer(&guess, entry->key);
    sl_report_error(r, mark, NULL, sl_guess_hint(r, &guess), "`${%s}`: the graph has no node `%s`", sl_shown(r, name),
                    sl_shown(r, node));
    return NULL;
  }
  struct sl_tree *set = sl_tree_get(sl_tree_get(tree, "set"), property);
  const struct scope parameters_only = {scope->parameters, NULL, scope->conditions, scope->is_set};
  if (set != NULL && set->kind == SL_TREE_SCALAR) return substitute(r, &parameters_only, set) ? set : NULL;
  const struct sl_tree *use = sl_tree_get(tree, "use");
  const struct sl_algorithm *a = use != NULL && use->kind == SL_TREE_SCALAR
                                     ? sl_registry_find(r->request->registry, use->text, r->request->target, NULL)
                                     : NULL;
  const int32_t m = a != NULL && set == NULL ? sl_member_find(a, SL_MEMBER_PROPERTY, property) : SL_NONE;
  if (m != SL_NONE && a->members[m].count == 0)
    return sl_tree_scalar(r, default_text(r, &a->members[m]), a->members[m].type == SL_TYPE_string, mark);
  sl_report_error(r, mark, NULL, NULL, "`${%s}`: node `%s` has no property `%s` with one value", sl_shown(r, name),
                  sl_shown(r, node), sl_shown(r, property));
  return NULL;
}

/* Returns 1 where ${conditions} is allowed; 0 with the error reported. */
static int takes_conditions(struct sl_reader *r, const struct scope *scope, struct sl_mark mark) {
  if (scope->is_set) return 1;
  sl_report_error(r, mark, NULL, NULL, "`${conditions}` can be used only in properties of constants that name files");
  return 0;
}

/* Returns the parameter named by `reference` ("${name}..."), or the section `conditions`, a map, and sets `end` after
 * it; NULL with the error reported. */
static const struct sl_tree *find_parameter(struct sl_reader *r, const struct scope *scope, struct sl_mark mark,
                                            const char *reference, const char **end) {
  const struct sl_tree *parameters = scope->parameters;
  const char *brace = strchr(reference, '}');
  if (brace == NULL) {
    sl_report_error(r, mark, NULL, "write $${ for a literal ${", "`${` without `}`");
    return NULL;
  }
  const char *name = sl_arena_text(r->arena, reference + 2, (size_t)(brace - reference) - 2);
  *end = brace + 1;
  if (scope->conditions != NULL && strcmp(name, "conditions") == 0) return scope->conditions;
  if (parameters == NULL) {
    sl_report_error(r, mark, NULL, "write $${ for a literal ${", "a parameter cannot refer to another parameter, `%s`",
                    sl_shown(r, name));
    return NULL;
  }
  if (strchr(name, '.') != NULL) return find_property(r, scope, mark, name);
  const struct sl_tree *value = sl_tree_get(parameters, name);
  if (value == NULL && !sl_tree_was_refused(parameters, name)) unknown_parameter(r, parameters, mark, name);
  return value;
}

/* Adds the origin of the parameter that `reference` up to `end` names. */
static void note_origin(struct sl_reader *r, const struct sl_tree *parameter, const char *reference, const char *end,
                        struct output *out) {
  if (!r->request->origins || out->text == NULL || parameter->mark.text == NULL) return;
  out->origins = sl_arena_format(r->arena, "%s, %.*s of %s", out->origins != NULL ? out->origins : "",
                                 (int)(end - reference), reference, sl_mark_text(r, parameter->mark));
}

/* Inserts the text of a value, or a zero for the conditions. */
static void insert(const struct sl_tree *value, struct output *out) {
  if (value->kind == SL_TREE_MAP) {
    emit(out, "", 1);
    out->conditions++;
    return;
  }
  const char *part = value->text;
  for (uint32_t i = 0; i <= value->conditions; i++, part += strlen(part) + 1) {
    if (i > 0) emit(out, "", 1);
    emit(out, part, strlen(part));
  }
  out->conditions += value->conditions;
}

/* Expands the text in one pass; returns 0 with the error reported. */
static int expand(struct sl_reader *r, const struct scope *scope, const struct sl_tree *scalar, struct output *out) {
  for (const char *c = scalar->text; *c != 0;) {
    if (strncmp(c, "$${", 3) == 0) {
      emit(out, "${", 2);
      c += 3;
    } else if (strncmp(c, "${", 2) == 0) {
      const char *reference = c;
      const struct sl_tree *value = find_parameter(r, scope, scalar->mark, c, &c);
      if (value == NULL) return 0;
      const int has_conditions = value->kind == SL_TREE_MAP || value->conditions > 0;
      if (has_conditions && !takes_conditions(r, scope, scalar->mark)) return 0;
      insert(value, out);
      note_origin(r, value, reference, c, out);
    } else {
      emit(out, c++, 1);
    }
  }
  return 1;
}

static int substitute(struct sl_reader *r, const struct scope *scope, struct sl_tree *scalar) {
  if (scalar->conditions > 0 || strstr(scalar->text, "${") == NULL) return 1;
  struct output measured = {0};
  if (!expand(r, scope, scalar, &measured)) return 0;
  struct output out = {.text = sl_arena_get(r->arena, measured.bytes + 1, 1)};
  expand(r, scope, scalar, &out);
  const char *brace = strchr(scalar->text, '}');
  const int whole = strncmp(scalar->text, "${", 2) == 0 && brace != NULL && brace[1] == 0;
  scalar->use = scalar->mark;
  scalar->begins = 0;
  if (whole) {
    const char *end;
    const struct sl_tree *parameter = find_parameter(r, scope, scalar->mark, scalar->text, &end);
    if (parameter->kind == SL_TREE_SCALAR) {
      scalar->quoted = parameter->quoted;
      scalar->mark = parameter->mark;
      scalar->begins = parameter->begins;
    }
  }
  scalar->text = out.text;
  scalar->conditions = out.conditions;
  scalar->parameters = out.origins;
  return 1;
}

/* `level`: 0 for the document, 2 for a node. */
static void substitute_entries(struct sl_reader *r, const struct scope *scope, struct sl_tree *tree, uint32_t level) {
  for (struct sl_entry *entry = tree->first; entry != NULL; entry = entry->next) {
    struct scope inner = *scope;
    if (entry->value == NULL) continue;
    inner.is_set |= level == 2 && strcmp(entry->key, "set") == 0;
    if (entry->value->kind != SL_TREE_SCALAR)
      substitute_entries(r, &inner, entry->value, level + 1);
    else if (!substitute(r, &inner, entry->value))
      sl_tree_refuse(entry);
  }
}

void sl_substitute_parameters(struct sl_reader *r, struct sl_tree *root) {
  struct sl_entry *section = sl_tree_find(root, "parameters");
  struct sl_tree *parameters = section->value;
  const struct sl_tree *conditions = sl_tree_get(root, "conditions");
  const struct scope nothing = {.conditions = conditions};
  const struct scope all = {.parameters = parameters, .nodes = sl_tree_get(root, "nodes"), .conditions = conditions};
  const struct sl_entry *same = conditions ? sl_tree_find(parameters, "conditions") : NULL;
  if (same != NULL && same->value != NULL)
    sl_report_error(r, same->mark, NULL, NULL,
                    "a graph with the section `conditions` cannot have a parameter of that name");
  for (struct sl_entry *entry = parameters->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL && !substitute(r, &nothing, entry->value)) sl_tree_refuse(entry);
  section->value = NULL; /* already substituted; the next call must skip this section */
  substitute_entries(r, &all, root, 0);
}
