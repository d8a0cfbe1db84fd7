/* ports.c: resolves NODE and NODE.PORT in a graph. NODE alone means its only output, or its only output of the expected
 * collection. */
#include "graph/stages.h"

#include <string.h>

enum { NAMED_MAX = 8 }; /* candidates listed in a message */

const struct sl_member *sl_port_member(const struct sl_graph *graph, struct sl_port port) {
  return &graph->nodes[port.node].algorithm->members[port.member];
}

const char *sl_port_name(struct sl_draft *draft, struct sl_port port) {
  return sl_arena_format(draft->reader->arena, "%s.%s", draft->graph->nodes[port.node].name,
                         sl_port_member(draft->graph, port)->name);
}

/* Search for an output of `node`. */
struct search {
  struct sl_draft *draft;
  const struct sl_tree *text;             /* text in the graph */
  const char *user;                       /* name of the node that refers to it, or NULL */
  const char *required_by;                /* "input `pulses`", "`outputs`" */
  const struct sl_collection *collection; /* the expected one, or NULL */
  int32_t index;
  const struct sl_node *node;
};

static const char *list_outputs(const struct search *s, const char *collection) {
  struct sl_reader *r = s->draft->reader;
  const char *list = "";
  uint32_t named = 0;
  for (uint32_t m = 0; m < s->node->algorithm->member_count; m++) {
    const struct sl_member *member = &s->node->algorithm->members[m];
    if (member->kind != SL_MEMBER_OUT || (collection != NULL && strcmp(member->collection->name, collection) != 0))
      continue;
    if (named++ == NAMED_MAX) return sl_arena_format(r->arena, "%s, ...", list);
    list = sl_arena_format(r->arena, "%s%s%s.%s (%s)", list, *list != 0 ? ", " : "", s->node->name, member->name,
                           member->collection->name);
  }
  return list;
}

/* For NODE.PORT: returns the member, or SL_NONE with the error reported. */
static int32_t find_named(const struct search *s, const char *port) {
  struct sl_reader *r = s->draft->reader;
  const int32_t member = sl_member_find(s->node->algorithm, SL_MEMBER_OUT, port);
  if (member != SL_NONE) return member;
  struct sl_guess guess;
  sl_guess_begin(r, &guess, port);
  for (uint32_t m = 0; m < s->node->algorithm->member_count; m++)
    if (s->node->algorithm->members[m].kind == SL_MEMBER_OUT)
      sl_guess_offer(&guess, s->node->algorithm->members[m].name);
  sl_report_error(r, s->text->mark, s->user, sl_guess_hint(r, &guess),
                  "node `%s` (%s) has no output `%s`; its outputs are %s", s->node->name, s->node->use,
                  sl_shown(r, port), list_outputs(s, NULL));
  return SL_NONE;
}

/* For NODE: returns the member, or SL_NONE with the error reported. */
static int32_t find_only(const struct search *s) {
  struct sl_reader *r = s->draft->reader;
  int32_t only = SL_NONE, fitting = SL_NONE;
  uint32_t outputs = 0, fits = 0;
  for (uint32_t m = 0; m < s->node->algorithm->member_count; m++) {
    const struct sl_member *member = &s->node->algorithm->members[m];
    if (member->kind != SL_MEMBER_OUT) continue;
    outputs++;
    only = (int32_t)m;
    if (s->collection == NULL || strcmp(member->collection->name, s->collection->name) != 0) continue;
    fits++;
    fitting = (int32_t)m;
  }
  if (fits == 1) return fitting;
  if (outputs == 1) return only;
  if (fits > 1)
    sl_report_error(r, s->text->mark, s->user, NULL, "%s: `%s` is ambiguous; choose one of: %s", s->required_by,
                    s->node->name, list_outputs(s, s->collection->name));
  else if (s->collection != NULL)
    sl_report_error(r, s->text->mark, s->user, NULL, "%s needs %s, but node `%s` provides %s", s->required_by,
                    s->collection->name, s->node->name, list_outputs(s, NULL));
  else
    sl_report_error(r, s->text->mark, s->user, NULL, "%s: `%s` is ambiguous; choose one of: %s", s->required_by,
                    s->node->name, list_outputs(s, NULL));
  return SL_NONE;
}

/* Returns the node, or SL_NONE with the error reported unless an earlier error explains it. */
static int32_t find_producer(struct search *s, const char *name) {
  struct sl_reader *r = s->draft->reader;
  s->index = sl_draft_find(s->draft, name);
  if (s->index == SL_NONE) {
    if (!sl_tree_was_refused(sl_tree_get(s->draft->root, "nodes"), name))
      sl_report_error(r, s->text->mark, s->user, sl_draft_guess_node(s->draft, name), "%s: the graph has no node `%s`",
                      s->required_by, sl_shown(r, name));
    return SL_NONE;
  }
  s->node = &s->draft->graph->nodes[s->index];
  if (s->node->algorithm == NULL) return SL_NONE;
  if (s->node->algorithm->kind == SL_KIND_SINK) {
    sl_report_error(r, s->text->mark, s->user, NULL, "%s: node `%s` is a sink, which has no outputs", s->required_by,
                    s->node->name);
    return SL_NONE;
  }
  return s->index;
}

int32_t sl_node_find(struct sl_draft *draft, const struct sl_tree *text, const char *name, const char *user,
                     const char *required_by) {
  struct search s = {draft, text, user, required_by, NULL, SL_NONE, NULL};
  return find_producer(&s, name);
}

int sl_port_find(struct sl_draft *draft, const struct sl_tree *text, const char *user,
                 const struct sl_collection *collection, const char *required_by, struct sl_port *port) {
  struct search s = {draft, text, user, required_by, collection, SL_NONE, NULL};
  const char *dot = strchr(text->text, '.');
  const size_t bytes = dot != NULL ? (size_t)(dot - text->text) : strlen(text->text);
  const char *name = sl_arena_text(draft->reader->arena, text->text, bytes);
  *port = (struct sl_port){SL_NONE, SL_NONE};
  if (find_producer(&s, name) == SL_NONE) return 0;
  const int32_t member = dot != NULL ? find_named(&s, dot + 1) : find_only(&s);
  if (member == SL_NONE) return 0;
  *port = (struct sl_port){s.index, member};
  return 1;
}

int sl_port_fits(struct sl_draft *draft, struct sl_mark mark, const struct sl_node *user, uint32_t member,
                 struct sl_port port) {
  const struct sl_member *input = &user->algorithm->members[member];
  const struct sl_collection *expected = input->collection, *given = sl_port_member(draft->graph, port)->collection;
  char difference[256];
  if (expected == given) return 1;
  if (strcmp(expected->name, given->name) != 0) {
    sl_report_error(draft->reader, mark, user->name, NULL, "input `%s` needs %s, but %s provides %s", input->name,
                    expected->name, sl_port_name(draft, port), given->name);
    return 0;
  }
  if (sl_collection_compare(expected, given, difference, sizeof difference) == 0) return 1;
  sl_report_error(draft->reader, mark, user->name, "build both plugins against the same event model",
                  "input `%s` and %s have different definitions of %s, in plugin %s and plugin %s: %s", input->name,
                  sl_port_name(draft, port), expected->name, user->plugin->plugin->name,
                  draft->graph->nodes[port.node].plugin->plugin->name, difference);
  return 0;
}
