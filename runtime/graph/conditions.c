/* conditions.c: section `conditions: { by: event.run, files: "conditions/%d" }`, and strings with ${conditions}, which
 * stands for the path of the files of a value. The graph's text and digest contain the pattern; the path is put in
 * before constants are made. */
#include "graph/stages.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 20 };

/* -------------------------------------------------------------------------------------------- the section */

static void check_field(struct sl_reader *r, const struct sl_tree *by) {
  if (strcmp(by->text, "event.run") == 0) return;
  if (strcmp(by->text, "event.number") == 0) {
    sl_report_error(r, by->mark, NULL, "write event.run",
                    "conditions cannot depend on event.number: it differs from event to event");
    return;
  }
  struct sl_guess guess;
  sl_guess_begin(r, &guess, by->text);
  sl_guess_offer(&guess, "event.run");
  const char *hint = sl_guess_hint(r, &guess);
  sl_report_error(r, by->mark, NULL, hint ? hint : "write event.run", "events have no identity field `%s`",
                  sl_shown(r, by->text));
}

/* Parses "%d", "%u", "%07d", at `at`. Returns the text after it, or NULL. */
static const char *parse_number(const char *at, uint32_t *digits) {
  const char *c = at + 1;
  *digits = 0;
  if (*c == '0')
    while (*c >= '0' && *c <= '9' && *digits <= DIGITS_MAX) *digits = *digits * 10 + (uint32_t)(*c++ - '0');
  return (*c == 'd' || *c == 'u') && *digits <= DIGITS_MAX ? c + 1 : NULL;
}

static void check_pattern(struct sl_draft *draft, const struct sl_tree *files) {
  struct sl_reader *r = draft->reader;
  struct sl_graph_conditions *c = &draft->graph->conditions;
  const char *percent = strchr(files->text, '%');
  const char *suffix = percent ? parse_number(percent, &c->digits) : NULL;
  if (suffix == NULL || strchr(suffix, '%') != NULL) {
    sl_report_error(r, files->mark, NULL, "for example \"conditions/%d\" or \"conditions/%07d.txt\"",
                    "`files` must contain one %%d, or %%0Nd with N digits from 1 to %d, and no other %%: `%s`",
                    DIGITS_MAX, sl_shown(r, files->text));
    return;
  }
  if (strlen(files->text) + DIGITS_MAX >= PATH_MAX) {
    sl_report_error(r, files->mark, NULL, NULL, "`files` is too long for a path");
    return;
  }
  c->files = files->text;
  c->prefix = sl_arena_text(r->arena, files->text, (size_t)(percent - files->text));
  c->suffix = suffix;
  c->location = sl_mark_location(r, files->mark);
}

void sl_draft_conditions(struct sl_draft *draft) {
  struct sl_reader *r = draft->reader;
  const struct sl_entry *section = sl_tree_find(draft->root, "conditions");
  if (section == NULL || section->value == NULL) return;
  static const char *const keys[] = {"by", "files"};
  for (uint32_t i = 0; i < SL_COUNT_(keys); i++)
    if (sl_tree_get(section->value, keys[i]) == NULL && !sl_tree_was_refused(section->value, keys[i]))
      sl_report_error(r, section->mark, NULL, NULL, "`conditions` has no `%s`", keys[i]);
  const struct sl_tree *by = sl_tree_get(section->value, "by"), *files = sl_tree_get(section->value, "files");
  if (by != NULL) check_field(r, by);
  if (files != NULL) check_pattern(draft, files);
}

/* ------------------------------------------------------------------------------------------- the properties */

/* The longest path has as many characters as the pattern and the digits. */
static char *text_for(struct sl_draft *draft, const struct sl_value *value) {
  const struct sl_graph_conditions *c = &draft->graph->conditions;
  size_t bytes = 1;
  const char *part = value->parts;
  for (uint32_t i = 0; i < value->part_count; i++, part += strlen(part) + 1) bytes += strlen(part);
  if (c->files != NULL) bytes += value->part_count * (strlen(c->prefix) + strlen(c->suffix) + DIGITS_MAX);
  return sl_arena_get(draft->reader->arena, bytes, 1);
}

int sl_draft_conditional(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                         const struct sl_tree *tree, struct sl_value *value) {
  struct sl_reader *r = draft->reader;
  if (node->algorithm->kind != SL_KIND_CONSTANT || property == NULL || (property->flags & SL_FLAG_READ) == 0) {
    sl_report_error(r, tree->use.text != NULL ? tree->use : tree->mark, node->name, NULL,
                    "`${conditions}` can be used only in properties of constants that name files");
    return 0;
  }
  value->parts = tree->text;
  value->part_count = tree->conditions + 1;
  value->text = text_for(draft, value);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- the values */

int sl_graph_conditions_path(const struct sl_graph *graph, uint32_t value, char path[PATH_MAX]) {
  const struct sl_graph_conditions *c = &graph->conditions;
  const int bytes = snprintf(path, PATH_MAX, "%s%0*u%s", c->prefix, (int)c->digits, value, c->suffix);
  return bytes > 0 && bytes < PATH_MAX;
}

static void set_value(struct sl_value *value, const char *path) {
  char *text = (char *)(uintptr_t)value->text;
  const char *part = value->parts;
  for (uint32_t i = 0; i < value->part_count; i++, part += strlen(part) + 1) {
    if (i > 0) text = stpcpy(text, path);
    text = stpcpy(text, part);
  }
}

void sl_graph_set_conditions(struct sl_graph *graph, const char *path) {
  for (uint32_t n = 0; n < graph->node_count; n++)
    for (uint32_t m = 0; m < graph->nodes[n].algorithm->member_count; m++)
      if (graph->nodes[n].values[m].parts != NULL) set_value(&graph->nodes[n].values[m], path);
}
