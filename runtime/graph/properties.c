/* properties.c: the values of the nodes' properties: the algorithm's defaults, then `set`, then `budgets`. Type and
 * range are checked, for arrays value by value. */
#include "document/scalar.h"
#include "graph/stages.h"
#include "plugin/property.h"
#include "plugin/tables.h"

#include <sluice/text.h>

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- types */

static const char *type_text(uint32_t type) {
  switch (type) {
    case SL_TYPE_bool:
      return "true or false";
    case SL_TYPE_string:
      return "a string";
    case SL_TYPE_enumeration:
      return "one name";
    case SL_TYPE_f32:
    case SL_TYPE_f64:
      return "a number";
    default:
      return "an integer";
  }
}

enum { FITS, WRONG_TYPE, OUT_OF_RANGE };

/* Stores an integer if the type can represent it. */
static int store_integer(uint32_t type, const struct sl_scalar *scalar, struct sl_value *value) {
  const uint64_t largest = type == SL_TYPE_u32 ? UINT32_MAX : type == SL_TYPE_i32 ? INT32_MAX : UINT64_MAX;
  const uint64_t lowest = type == SL_TYPE_i32 ? (uint64_t)INT32_MAX + 1 : 0; /* absolute value */
  if (scalar->kind != SL_SCALAR_INTEGER) return WRONG_TYPE;
  if (scalar->too_large || scalar->magnitude > (scalar->negative ? lowest : largest)) return OUT_OF_RANGE;
  value->integer = scalar->negative ? 0 : scalar->magnitude;
  value->number = scalar->negative ? -(double)scalar->magnitude : (double)scalar->magnitude;
  return FITS;
}

/* Compares the text itself, whatever type the scalar has. */
static int store_choice(const struct sl_member *property, const struct sl_tree *tree, struct sl_value *value) {
  const int choice = sl_choice_index(property, tree->text);
  value->integer = choice >= 0 ? (uint64_t)choice : 0;
  return choice >= 0;
}

static int store(uint32_t type, const struct sl_tree *tree, struct sl_value *value) {
  const struct sl_scalar scalar = sl_scalar_parse(tree->text, tree->quoted);
  switch (type) {
    case SL_TYPE_string:
      value->text = tree->text;
      return scalar.kind == SL_SCALAR_STRING ? FITS : WRONG_TYPE;
    case SL_TYPE_bool:
      value->number = scalar.truth;
      value->integer = scalar.truth;
      return scalar.kind == SL_SCALAR_BOOL ? FITS : WRONG_TYPE;
    case SL_TYPE_f32:
    case SL_TYPE_f64:
      value->number = scalar.number;
      if ((scalar.kind != SL_SCALAR_INTEGER && scalar.kind != SL_SCALAR_FLOAT) || isnan(scalar.number))
        return WRONG_TYPE;
      return isfinite(type == SL_TYPE_f64 ? scalar.number : (double)(float)scalar.number) ? FITS : OUT_OF_RANGE;
    default:
      return store_integer(type, &scalar, value);
  }
}

static const char *type_hint(struct sl_draft *draft, uint32_t type, const struct sl_tree *tree) {
  const struct sl_scalar scalar = sl_scalar_parse(tree->text, tree->quoted);
  if (type == SL_TYPE_string)
    return sl_arena_format(draft->reader->arena, "quote it: \"%s\"", sl_shown(draft->reader, tree->text));
  if (tree->quoted && scalar.kind == SL_SCALAR_STRING && sl_scalar_parse(tree->text, 0).kind != SL_SCALAR_STRING)
    return "in quotes it is a string; remove the quotes";
  if (scalar.kind == SL_SCALAR_INTEGER || scalar.kind == SL_SCALAR_FLOAT)
    return sl_arena_format(draft->reader->arena, "its type is %s", sl_type_name(type));
  return NULL;
}

/* Compares u64 as integers, because a double may round a value to the limit. */
static int in_range(const struct sl_member *property, const struct sl_value *value) {
  if (property->type == SL_TYPE_string || property->type == SL_TYPE_enumeration) return 1;
  if (property->type == SL_TYPE_u64)
    return (property->minimum <= 0 || value->integer >= (uint64_t)ceil(property->minimum)) &&
           (property->maximum >= 0x1p64 || value->integer <= (uint64_t)property->maximum);
  return value->number >= property->minimum && value->number <= property->maximum;
}

/* ------------------------------------------------------------------------------------------------ values */

static void set_number(const struct sl_member *property, double number, struct sl_value *value) {
  value->number = property->type == SL_TYPE_f32 ? (double)(float)number : number;
  value->integer = number >= 0 && number < 0x1p64 ? (uint64_t)number : 0;
}

/* The plugin's check has verified that the defaults can be parsed. */
static void set_default(struct sl_draft *draft, const struct sl_member *property, struct sl_value *value) {
  if (property->type == SL_TYPE_string) {
    value->text = property->default_text;
  } else if (property->type == SL_TYPE_enumeration) {
    value->integer = (uint64_t)sl_choice_index(property, property->default_text);
  } else if (property->count > 0) {
    double *numbers = sl_arena_get(draft->reader->arena, property->count, sizeof *numbers);
    sl_array_read(property->default_text, numbers, property->count);
    value->items = sl_arena_get(draft->reader->arena, property->count, sizeof *value->items);
    for (uint32_t i = 0; i < property->count; i++) set_number(property, numbers[i], &value->items[i]);
  } else {
    set_number(property, property->default_value, value);
  }
}

static void report_range(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                         const char *name, const struct sl_tree *tree) {
  char minimum[SL_NUMBER_TEXT_BYTES], maximum[SL_NUMBER_TEXT_BYTES];
  const char *unit = property->unit != NULL ? property->unit : "";
  sl_report_error(draft->reader, tree->mark, node->name, NULL,
                  "`%s` is out of range: it must be from %s to %s%s%s, not `%s`", name,
                  sl_number_text(property->type, property->minimum, minimum),
                  sl_number_text(property->type, property->maximum, maximum), *unit != 0 ? " " : "", unit,
                  sl_shown(draft->reader, tree->text));
}

/* Returns "first, busiest" and offers each name to `guess`. */
static const char *choices_text(struct sl_draft *draft, const struct sl_member *property, struct sl_guess *guess) {
  struct sl_arena *arena = draft->reader->arena;
  const char *list = "", *word;
  size_t length;
  for (uint32_t i = 0; *(word = sl_choice_name(property, i, &length)) != 0; i++) {
    const char *choice = sl_arena_text(arena, word, length);
    sl_guess_offer(guess, choice);
    list = i == 0 ? choice : sl_arena_format(arena, "%s, %s", list, choice);
  }
  return list;
}

static void report_choice(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                          const char *name, const struct sl_tree *tree) {
  struct sl_guess guess;
  sl_guess_begin(draft->reader, &guess, tree->text);
  const char *choices = choices_text(draft, property, &guess);
  sl_report_error(draft->reader, tree->mark, node->name, sl_guess_hint(draft->reader, &guess),
                  "`%s` must be one of %s, not `%s`", name, choices, sl_shown(draft->reader, tree->text));
}

static void warn_if_rounded(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                            const char *name, const struct sl_tree *tree, const struct sl_value *value) {
  const struct sl_scalar scalar = sl_scalar_parse(tree->text, tree->quoted);
  const double size = fabs(value->number);
  if (property->type != SL_TYPE_f32 && property->type != SL_TYPE_f64) return;
  if (scalar.kind != SL_SCALAR_INTEGER || scalar.too_large) return;
  if (size < 0x1p64 && (uint64_t)size == scalar.magnitude) return;
  sl_report(draft->reader, SL_WARNING, tree->mark, node->name, NULL,
            "`%s` is rounded to %.0f: its type is a %d-bit float", name, value->number,
            property->type == SL_TYPE_f32 ? 32 : 64);
}

/* Reads one value from a scalar; returns 0 with the error reported. `name` as written by the user. */
static int read_value(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                      const char *name, const struct sl_tree *tree, struct sl_value *value) {
  struct sl_reader *r = draft->reader;
  if (tree->conditions > 0) return sl_draft_conditional(draft, node, property, tree, value);
  if (tree->kind != SL_TREE_SCALAR) {
    sl_report_error(r, tree->mark, node->name, NULL, "`%s` must be %s, not a list", name, type_text(property->type));
  } else if (property->type == SL_TYPE_enumeration) {
    if (store_choice(property, tree, value)) return 1;
    report_choice(draft, node, property, name, tree);
  } else {
    const int stored = store(property->type, tree, value);
    if (stored == WRONG_TYPE) {
      sl_report_error(r, tree->mark, node->name, type_hint(draft, property->type, tree), "`%s` must be %s, not `%s`",
                      name, type_text(property->type), sl_shown(r, tree->text));
    } else if (stored == OUT_OF_RANGE || !in_range(property, value)) {
      report_range(draft, node, property, name, tree);
    } else {
      if (property->type == SL_TYPE_f32) value->number = (double)(float)value->number;
      warn_if_rounded(draft, node, property, name, tree, value);
      return 1;
    }
  }
  return 0;
}

/* Returns a list, or parses it from the text of an option, `--set n.p=[1, 2]`; NULL if it is not a list. */
static const struct sl_tree *read_list(struct sl_draft *draft, const struct sl_tree *tree) {
  struct sl_reader *r = draft->reader;
  if (tree->kind == SL_TREE_LIST) return tree;
  if (tree->quoted) return NULL;
  struct sl_tree *list = sl_tree_new(r, SL_TREE_LIST, tree->mark);
  const char *item, *rest = tree->text;
  size_t length;
  while ((rest = sl_next_item(rest, &item, &length)) != NULL) {
    const struct sl_mark mark = sl_mark_in_option(tree->mark, tree->text, item);
    sl_tree_add(r, list, NULL, mark, sl_tree_scalar(r, sl_arena_text(r->arena, item, length), 0, mark));
    if (*rest == ']') return list;
  }
  return NULL;
}

static int read_array(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                      const char *name, const struct sl_tree *tree, struct sl_value *value) {
  struct sl_reader *r = draft->reader;
  const struct sl_tree *list = read_list(draft, tree);
  if (list == NULL) {
    sl_report_error(r, tree->mark, node->name, NULL, "`%s` must be a list of %u %s, not `%s`", name, property->count,
                    sl_plural(property->count, "value", "values"), sl_shown(r, tree->text));
    return 0;
  }
  if (list->count != property->count) {
    sl_report_error(r, tree->mark, node->name, NULL, "`%s` must be a list of %u %s, not of %u", name, property->count,
                    sl_plural(property->count, "value", "values"), list->count);
    return 0;
  }
  value->items = sl_arena_get(r->arena, property->count, sizeof *value->items);
  uint32_t i = 0, wrong = 0;
  for (const struct sl_entry *entry = list->first; entry != NULL; entry = entry->next, i++) {
    const char *item = sl_arena_format(r->arena, "%s[%u]", name, i);
    wrong |= entry->value == NULL || !read_value(draft, node, property, item, entry->value, &value->items[i]);
  }
  return !wrong;
}

/* `name` as the user wrote it. */
static void set_value(struct sl_draft *draft, struct sl_node *node, uint32_t member, const char *name,
                      const struct sl_tree *tree) {
  const struct sl_member *property = &node->algorithm->members[member];
  struct sl_value value = {0};
  const int good = property->count > 0 ? read_array(draft, node, property, name, tree, &value)
                                       : read_value(draft, node, property, name, tree, &value);
  if (!good) return;
  node->values[member] = value;
  node->value_locations[member] = sl_mark_location(draft->reader, tree->mark);
  node->text_offsets[member] = tree->begins;
}

/* `variant`, a setting of every kernel: tuned (if there is a tuned version) or shared. */
static void set_variant(struct sl_draft *draft, struct sl_node *node, const struct sl_tree *tree) {
  const char *text = tree->kind == SL_TREE_SCALAR ? tree->text : "a list";
  node->shared = strcmp(text, "shared") == 0;
  if (!node->shared && strcmp(text, "tuned") != 0)
    sl_report_error(draft->reader, tree->mark, node->name, NULL, "`variant` must be tuned or shared, not `%s`",
                    sl_shown(draft->reader, text));
}

static void set_node(struct sl_draft *draft, struct sl_node *node, const struct sl_tree *set) {
  for (const struct sl_entry *entry = set != NULL ? set->first : NULL; entry != NULL; entry = entry->next) {
    if (entry->value == NULL) continue;
    const int32_t member = sl_member_find(node->algorithm, SL_MEMBER_PROPERTY, entry->key);
    if (member == SL_NONE && entry->value->conditions > 0)
      (void)sl_draft_conditional(draft, node, NULL, entry->value, NULL);
    else if (member != SL_NONE)
      set_value(draft, node, (uint32_t)member, entry->key, entry->value);
    else if (sl_member_find(node->algorithm, SL_MEMBER_FIELD, entry->key) != SL_NONE)
      continue; /* handled in references.c */
    else if (strcmp(entry->key, "variant") == 0 && node->algorithm->kind == SL_KIND_KERNEL)
      set_variant(draft, node, entry->value);
    else
      sl_draft_unknown_member(draft, node, SL_MEMBER_PROPERTY, entry, entry->key);
  }
}

/* ----------------------------------------------------------------------------------------------- budgets */

static void set_slice_events(struct sl_draft *draft, const struct sl_tree *tree) {
  struct sl_value value = {0};
  const int stored = store(SL_TYPE_u32, tree, &value);
  if (stored == FITS && value.integer > 0)
    draft->graph->slice_events = (uint32_t)value.integer;
  else
    sl_report_error(
        draft->reader, tree->mark, NULL, NULL, "`events` %s %u, not `%s`",
        stored == WRONG_TYPE ? "must be a number of events from 1 to" : "is out of range: it must be from 1 to",
        UINT32_MAX, sl_shown(draft->reader, tree->text));
}

static void set_budget(struct sl_draft *draft, const struct sl_entry *entry) {
  struct sl_reader *r = draft->reader;
  const char *dot = strchr(entry->key, '.');
  if (dot == NULL) {
    sl_report_error(r, entry->mark, NULL, NULL, "`%s` is not a budget: write `events` or NODE.PROPERTY", entry->key);
    return;
  }
  const char *name = sl_arena_text(r->arena, entry->key, (size_t)(dot - entry->key)), *property = dot + 1;
  const int32_t index = sl_draft_find(draft, name);
  if (index == SL_NONE) {
    if (!sl_tree_was_refused(sl_tree_get(draft->root, "nodes"), name))
      sl_report_error(r, entry->mark, NULL, sl_draft_guess_node(draft, name), "the graph has no node `%s`", name);
    return;
  }
  struct sl_node *node = &draft->graph->nodes[index];
  if (node->algorithm == NULL) return;
  const int32_t member = sl_member_find(node->algorithm, SL_MEMBER_PROPERTY, property);
  if (member == SL_NONE) {
    sl_draft_unknown_member(draft, node, SL_MEMBER_PROPERTY, entry, property);
  } else if ((node->algorithm->members[member].flags & SL_FLAG_BUDGET) == 0) {
    sl_report_error(r, entry->mark, node->name, "write it under the node's `set`", "`%s` of %s is not a budget",
                    property, node->use);
  } else if (sl_tree_get(sl_tree_get(draft->nodes[index].tree, "set"), property) != NULL) {
    sl_report_error(r, entry->mark, node->name, NULL, "`%s` is set both under `budgets` and under the node's `set`",
                    property);
  } else {
    set_value(draft, node, (uint32_t)member, property, entry->value);
  }
}

void sl_draft_properties(struct sl_draft *draft) {
  struct sl_graph *graph = draft->graph;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    struct sl_node *node = &graph->nodes[i];
    if (node->algorithm == NULL) continue;
    node->values = sl_arena_get(draft->reader->arena, node->algorithm->member_count, sizeof *node->values);
    node->value_locations =
        sl_arena_get(draft->reader->arena, node->algorithm->member_count, sizeof *node->value_locations);
    node->text_offsets = sl_arena_get(draft->reader->arena, node->algorithm->member_count, sizeof *node->text_offsets);
    for (uint32_t m = 0; m < node->algorithm->member_count; m++)
      if (node->algorithm->members[m].kind == SL_MEMBER_PROPERTY)
        set_default(draft, &node->algorithm->members[m], &node->values[m]);
    set_node(draft, node, sl_tree_get(draft->nodes[i].tree, "set"));
    sl_draft_check_header(draft, node);
  }
  const struct sl_tree *budgets = sl_tree_get(draft->root, "budgets");
  for (const struct sl_entry *entry = budgets->first; entry != NULL; entry = entry->next) {
    if (entry->value == NULL) continue;
    if (strcmp(entry->key, "events") == 0)
      set_slice_events(draft, entry->value);
    else
      set_budget(draft, entry);
  }
}
