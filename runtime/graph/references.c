/* references.c: resolves the nodes' field references. `set` names a field as NODE.FIELD or NODE.PORT.FIELD. A node with
 * references gets its own member table, in which each reference is an input fed by that port; later stages treat it as
 * an input.
 */
#include "graph/stages.h"
#include "plugin/field_ref.h"
#include "plugin/tables.h"

#include <string.h>

struct search {
  struct sl_draft *draft;
  const struct sl_tree *text;
  const struct sl_node *node; /* node with the reference */
  const char *name;           /* name of the reference */
};

static const char *head_of(const struct search *s, const char *text, const char *end) {
  return sl_arena_text(s->draft->reader->arena, text, (size_t)(end - text));
}

/* Offers all fields of a node's outputs, or of one output, to `guess`. */
static void offer_fields(const struct sl_node *from, int32_t member, struct sl_guess *guess) {
  for (uint32_t m = 0; m < from->algorithm->member_count; m++) {
    const struct sl_member *out = &from->algorithm->members[m];
    if (out->kind != SL_MEMBER_OUT || (member != SL_NONE && (int32_t)m != member)) continue;
    for (uint32_t f = 0; f < out->collection->field_count; f++) sl_guess_offer(guess, out->collection->fields[f].name);
  }
}

static void report_no_field(const struct search *s, const struct sl_node *from, int32_t member, const char *field) {
  struct sl_reader *r = s->draft->reader;
  struct sl_guess guess;
  sl_guess_begin(r, &guess, field);
  offer_fields(from, member, &guess);
  if (member == SL_NONE)
    sl_report_error(r, s->text->mark, s->node->name, sl_guess_hint(r, &guess), "`%s`: node `%s` (%s) has no field `%s`",
                    s->name, from->name, from->use, sl_shown(r, field));
  else
    sl_report_error(r, s->text->mark, s->node->name, sl_guess_hint(r, &guess), "`%s`: %s of %s (%s) has no field `%s`",
                    s->name, from->algorithm->members[member].name, from->name, from->use, sl_shown(r, field));
}

/* For NODE.FIELD: returns the port that has this field, or SL_NONE with the error reported. */
static int32_t find_only(const struct search *s, const struct sl_node *from, const char *field) {
  struct sl_reader *r = s->draft->reader;
  const char *list = NULL;
  int32_t found = SL_NONE;
  uint32_t count = 0;
  for (uint32_t m = 0; m < from->algorithm->member_count; m++) {
    const struct sl_member *out = &from->algorithm->members[m];
    if (out->kind != SL_MEMBER_OUT || sl_field_index(out->collection, field) < 0) continue;
    const char *name = sl_arena_format(r->arena, "%s.%s.%s", from->name, out->name, field);
    list = list == NULL ? name : sl_arena_format(r->arena, "%s, %s", list, name);
    found = (int32_t)m;
    count++;
  }
  if (count == 1) return found;
  if (count == 0)
    report_no_field(s, from, SL_NONE, field);
  else
    sl_report_error(r, s->text->mark, s->node->name, NULL, "`%s`: `%s` is ambiguous; choose one of: %s", s->name,
                    sl_shown(r, s->text->text), list);
  return SL_NONE;
}

/* Finds the port and its field; returns 0 with the error reported, unless an earlier error explains it. */
static int find_field(const struct search *s, struct sl_port *port, uint32_t *field) {
  struct sl_draft *draft = s->draft;
  struct sl_reader *r = draft->reader;
  const char *text = s->text->kind == SL_TREE_SCALAR ? s->text->text : "";
  const char *first = strchr(text, '.'), *last = strrchr(text, '.');
  if (first == NULL || (last != first && strchr(first + 1, '.') != last)) {
    sl_report_error(r, s->text->mark, s->node->name, NULL,
                    "`%s` must be a field, NODE.FIELD or NODE.PORT.FIELD, not `%s`", s->name,
                    s->text->kind == SL_TREE_SCALAR ? sl_shown(r, text) : "a list");
    return 0;
  }
  const char *node = head_of(s, text, first);
  const char *required_by = sl_arena_format(r->arena, "`%s`", s->name);
  const int32_t index = sl_node_find(draft, s->text, node, s->node->name, required_by);
  if (index == SL_NONE) return 0;
  const struct sl_node *from = &draft->graph->nodes[index];
  *port = (struct sl_port){index, SL_NONE};
  if (first == last) {
    port->member = find_only(s, from, last + 1);
  } else {
    const struct sl_tree *name = sl_tree_scalar(r, head_of(s, text, last), 0, s->text->mark);
    if (!sl_port_find(draft, name, s->node->name, NULL, required_by, port)) return 0;
  }
  if (port->member == SL_NONE) return 0;
  const int found = sl_field_index(sl_port_member(draft->graph, *port)->collection, last + 1);
  if (found < 0) report_no_field(s, from, port->member, last + 1);
  *field = (uint32_t)found;
  return found >= 0;
}

static void resolve(struct sl_draft *draft, struct sl_node *node, uint32_t member, const struct sl_tree *text,
                    struct sl_member *reference) {
  struct sl_reader *r = draft->reader;
  const struct search s = {draft, text, node, reference->name};
  struct sl_port port;
  uint32_t field;
  char reason[256];
  if (!find_field(&s, &port, &field)) return;
  const struct sl_collection *collection = sl_port_member(draft->graph, port)->collection;
  if (!sl_field_ref_fits(reference, collection, field, reason, sizeof reason)) {
    sl_report_error(r, text->mark, node->name, NULL, "`%s` %s", reference->name, reason);
    return;
  }
  *reference = sl_field_ref_input(reference, collection, field, sl_arena_get(r->arena, SL_FIELD_REF_TEXT_BYTES, 1));
  struct sl_wiring *wiring = &node->inputs[member];
  wiring->ports = sl_arena_get(r->arena, 1, sizeof *wiring->ports);
  wiring->ports[0] = port;
  wiring->count = 1;
}

static int has_references(const struct sl_algorithm *a) {
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_FIELD) return 1;
  return 0;
}

void sl_draft_references(struct sl_draft *draft, uint32_t index) {
  struct sl_node *node = &draft->graph->nodes[index];
  struct sl_arena *arena = draft->reader->arena;
  if (!has_references(node->algorithm)) return;
  struct sl_algorithm *own = sl_arena_get(arena, 1, sizeof *own);
  struct sl_member *members = sl_arena_get(arena, node->algorithm->member_count, sizeof *members);
  memcpy(own, node->algorithm, sizeof *own);
  memcpy(members, own->members, own->member_count * sizeof *members);
  own->members = members;
  const struct sl_tree *set = sl_tree_get(draft->nodes[index].tree, "set");
  for (uint32_t m = 0; m < own->member_count; m++) {
    if (members[m].kind != SL_MEMBER_FIELD) continue;
    const struct sl_tree *text = sl_tree_get(set, members[m].name);
    if (text != NULL && !(sl_tree_is_null(text) && (members[m].flags & SL_FLAG_OPTIONAL)))
      resolve(draft, node, m, text, &members[m]);
    else if (!(members[m].flags & (SL_FLAG_OPTIONAL | SL_FLAG_OPERAND)) && !sl_tree_was_refused(set, members[m].name) &&
             !sl_tree_was_refused(draft->nodes[index].tree, "set"))
      sl_report_error(draft->reader, draft->nodes[index].mark, node->name,
                      sl_arena_format(arena, "set it: `set: { %s: NODE.FIELD }`", members[m].name),
                      "%s needs the field `%s`", node->use, members[m].name);
  }
  node->algorithm = own;
}

/* -------------------------------------------------------------------------------------- references to the same items
 */

struct sl_port sl_items_of(const struct sl_graph *graph, struct sl_port port) {
  while (port.node != SL_NONE) {
    const struct sl_node *node = &graph->nodes[port.node];
    const char *shares = node->algorithm->members[port.member].shares;
    if (shares == NULL) return port;
    const int32_t m = sl_member_index(node->algorithm, shares);
    if (node->algorithm->members[m].kind == SL_MEMBER_OUT)
      port.member = m;
    else
      port = node->inputs[m].count > 0 ? node->inputs[m].ports[0] : (struct sl_port){SL_NONE, SL_NONE};
  }
  return port;
}

static const struct sl_field *field_of(const struct sl_member *reference) {
  return &reference->collection->fields[reference->count];
}

/* Returns why a reference does not have a value for each event or for each item of the reference `of`, or NULL. */
static const char *items_difference(struct sl_draft *draft, const struct sl_node *node, int32_t reference, int32_t of) {
  struct sl_reader *r = draft->reader;
  const struct sl_member *member = &node->algorithm->members[reference], *other = &node->algorithm->members[of];
  const struct sl_field *field = field_of(member);
  if (field->width != 1)
    return sl_arena_format(r->arena, "needs one value per event or item, but %s of %s has %u", field->name,
                           member->collection->name, field->width);
  if (field->shape == SL_SHAPE_CODE_PER_EVENT) return NULL;
  if (field->shape != SL_SHAPE_CODE_PER_ITEM || field_of(other)->shape != SL_SHAPE_CODE_PER_ITEM)
    return sl_arena_format(
        r->arena, "needs values per event, or per item if `%s` has values per item, but `%s` is %s and `%s` is %s",
        other->name, member->name, sl_shape_name(field->shape), other->name, sl_shape_name(field_of(other)->shape));
  const struct sl_port own = node->inputs[reference].ports[0], others = node->inputs[of].ports[0];
  const struct sl_port owner = sl_items_of(draft->graph, own), expected = sl_items_of(draft->graph, others);
  const int are_known = owner.node != SL_NONE && expected.node != SL_NONE;
  if (!are_known || (owner.node == expected.node && owner.member == expected.member)) return NULL;
  return sl_arena_format(r->arena, "has the items of %s, but `%s` has those of %s", sl_port_name(draft, owner),
                         other->name, sl_port_name(draft, expected));
}

void sl_draft_same_items(struct sl_draft *draft) {
  for (uint32_t n = 0; n < draft->graph->node_count; n++) {
    const struct sl_node *node = &draft->graph->nodes[n];
    for (uint32_t m = 0; node->algorithm != NULL && m < node->algorithm->member_count; m++) {
      const struct sl_member *reference = &node->algorithm->members[m];
      if (reference->items_of == NULL || node->inputs[m].count == 0) continue;
      const int32_t of = sl_member_index(node->algorithm, reference->items_of);
      const char *reason = node->inputs[of].count > 0 ? items_difference(draft, node, (int32_t)m, of) : NULL;
      if (reason == NULL) continue;
      const struct sl_tree *text = sl_tree_get(sl_tree_get(draft->nodes[n].tree, "set"), reference->name);
      sl_report_error(draft->reader, text->mark, node->name, NULL, "`%s` %s", reference->name, reason);
      draft->nodes[n].lists_unknown = 1; /* the event lists of these inputs need not agree */
    }
  }
}
