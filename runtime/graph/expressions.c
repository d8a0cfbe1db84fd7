/* expressions.c: compiles the expressions of nodes with a program (plugin.h, struct sl_program).
 *
 * A name is a field of the node that is written before a colon, `NODE: pt / p`, or NODE.FIELD or NODE.PORT.FIELD, or a
 * field of a linked item, LINK.FIELD. Each field is an operand, a field reference of the node. Operand 0 is the first
 * field per item of the node's own items; expressions without such a field have values per event. The output of the
 * node gets a collection of its own, with the unit of the expression.
 */
#include "graph/stages.h"
#include "plugin/tables.h"

#include <sluice/expression.h>

#include <stdio.h>
#include <string.h>

static const char first_operand[] = "items"; /* the others are o1, o2, ... */

enum { OWN_ITEMS, OF_EVENTS, LINKED }; /* what a value of an operand belongs to */

struct operand {
  struct sl_port port;
  uint32_t field, of;
  uint32_t link;    /* LINKED: its number */
  uint32_t at;      /* byte of the property's text */
  uint32_t is_used; /* the slot has an operand */
};

struct link {
  struct sl_port owner, target;
  const struct sl_link *link;
  uint32_t index; /* operand with the indices */
  uint32_t first; /* an operand of the linked items */
};

enum { ACTIVE = 1, DONE, FAILED };
struct sl_expression_draft {
  uint32_t state;
  struct operand operands[SL_PROGRAM_OPERANDS];
  struct link links[SL_PROGRAM_LINKS];
  uint32_t operand_count, link_count; /* operand_count: including 0, also if it is not used */
  struct sl_program program;
};

/* The ports that functions were found at. */
enum { FUNCTIONS_MAX = 8 };
struct found_function {
  const struct sl_function *function;
  struct sl_port port;
};

struct names {
  struct sl_draft *draft;
  struct sl_node *node;
  struct sl_expression_draft *expression;
  struct sl_port base; /* node SL_NONE: no node is written before the expression */
  const struct sl_member *program;
  uint32_t skipped; /* bytes of the property's text before the expression */
  struct found_function functions[FUNCTIONS_MAX];
  uint32_t function_count;
};

static int compile(struct sl_draft *draft, uint32_t index);

/* ------------------------------------------------------------------------------------------------- messages */

/* Mark of a byte of a scalar. */
static struct sl_mark mark_of_byte(const struct sl_tree *text, uint32_t byte) {
  struct sl_mark mark = text->mark;
  if (text->begins == 0) return sl_mark_in_option(mark, text->text, text->text + byte);
  mark.column += text->begins - 1;
  for (uint32_t i = 0; i < byte; i++) mark.column += ((unsigned char)text->text[i] & 0xC0) != 0x80;
  return mark;
}

/* The program among the members of an algorithm, or NULL. Its `fields` name the property with the expression. */
static const struct sl_member *program_of(const struct sl_algorithm *a) {
  for (uint32_t m = 0; a != NULL && m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_PROGRAM) return &a->members[m];
  return NULL;
}

/* The node and the property where the user wrote the expression of a node. */
struct origin {
  const char *node, *property;
};
static struct origin origin_of(const struct sl_draft *draft, const struct sl_node *node) {
  for (const struct sl_derived *d = draft->reader->derived; d != NULL; d = d->next)
    if (strcmp(d->node, node->name) == 0) return (struct origin){d->user, d->property};
  return (struct origin){node->name, program_of(node->algorithm)->fields};
}

/* Reports an error or a warning at a byte of the expression. */
static void report(struct sl_draft *draft, const struct sl_node *node, uint32_t is_warning, uint32_t byte,
                   const char *text) {
  const struct sl_tree *set = sl_tree_get(draft->nodes[node - draft->graph->nodes].tree, "set");
  const struct sl_tree *expression = sl_tree_get(set, program_of(node->algorithm)->fields);
  const struct origin at = origin_of(draft, node);
  if (is_warning)
    sl_report(draft->reader, SL_WARNING, mark_of_byte(expression, byte), at.node, NULL, "%s: %s", at.property, text);
  else
    sl_report_error(draft->reader, mark_of_byte(expression, byte), at.node, NULL, "%s: %s", at.property, text);
}

__attribute__((format(printf, 2, 3))) static int problem(struct sl_expression_search *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->problem, sizeof s->problem, format, arguments);
  va_end(arguments);
  return SL_EINVAL;
}

/* The name cannot be used because of an error that is reported elsewhere. */
static int silent(struct sl_expression_search *s) {
  s->problem[0] = '\0';
  return SL_EINVAL;
}

/* ------------------------------------------------------------------------------------------------- operands */

static const char *operand_name(const struct names *n, uint32_t slot) {
  return slot == 0 ? first_operand : sl_arena_format(n->draft->reader->arena, "o%u", slot);
}

static uint32_t place_of(const struct names *n, uint32_t slot) {
  const int32_t member = sl_member_find(n->node->algorithm, SL_MEMBER_FIELD, operand_name(n, slot));
  return member == SL_NONE ? 0 : n->node->algorithm->members[member].args_offset;
}

static int is_same_port(struct sl_port a, struct sl_port b) { return a.node == b.node && a.member == b.member; }

/* Returns the slot of an operand, or SL_EINVAL with the problem. */
static int add_operand(const struct names *n, struct operand operand, struct sl_expression_search *s) {
  struct sl_expression_draft *e = n->expression;
  for (uint32_t i = 0; i < e->operand_count; i++) {
    const struct operand *o = &e->operands[i];
    if (o->is_used && is_same_port(o->port, operand.port) && o->field == operand.field && o->of == operand.of &&
        o->link == operand.link)
      return (int)i;
  }
  const uint32_t slot = operand.of == OWN_ITEMS && !e->operands[0].is_used ? 0 : e->operand_count;
  if (slot == SL_PROGRAM_OPERANDS) return problem(s, "the expression has more than %d fields", SL_PROGRAM_OPERANDS);
  operand.at = n->skipped + s->at;
  operand.is_used = 1;
  e->operands[slot] = operand;
  if (slot == e->operand_count) e->operand_count++;
  return (int)slot;
}

/* Adds the operand of a field of an output; `of` OWN_ITEMS: of the output's items or events. */
static int use_field(const struct names *n, struct sl_port port, uint32_t field, uint32_t of, uint32_t link,
                     struct sl_expression_search *s) {
  const struct sl_collection *c = sl_port_member(n->draft->graph, port)->collection;
  const struct sl_field *f = &c->fields[field];
  const int is_by_event = f->shape == SL_SHAPE_CODE_PER_EVENT, is_by_item = f->shape == SL_SHAPE_CODE_PER_ITEM;
  if (f->width != 1 || !(is_by_item || (is_by_event && of == OWN_ITEMS)) || (is_by_item && sl_offsets_field(c) < 0))
    return problem(s, "`%.*s` cannot be used: an expression needs one value per item%s", (int)s->length, s->name,
                   of == OWN_ITEMS ? " or event" : "");
  if (is_by_event) of = OF_EVENTS;
  const int slot = add_operand(n, (struct operand){.port = port, .field = field, .of = of, .link = link}, s);
  if (slot < 0) return slot;
  s->kind = of == OF_EVENTS ? SL_EXPRESSION_OF_EVENT
            : of == LINKED  ? SL_EXPRESSION_OF_LINK
                            : SL_EXPRESSION_OF_CANDIDATE;
  s->place = place_of(n, (uint32_t)slot);
  s->type = f->type;
  s->unit = f->unit;
  s->link = link;
  return slot;
}

/* ---------------------------------------------------------------------------------------------------- links */

/* The output that feeds an input: as set in the graph, or the only one of its collection. Node SL_NONE: not known. */
static struct sl_port producer_of(const struct sl_draft *draft, struct sl_port owner, const struct sl_member *input) {
  const struct sl_tree *set = sl_tree_get(sl_tree_get(draft->nodes[owner.node].tree, "in"), input->name);
  const struct sl_port none = {SL_NONE, SL_NONE};
  const char *text = set != NULL && set->kind == SL_TREE_SCALAR ? set->text : NULL;
  const size_t head = text != NULL ? strcspn(text, ".") : 0;
  struct sl_port found = none;
  for (uint32_t i = 0; i < draft->graph->node_count; i++) {
    const struct sl_node *node = &draft->graph->nodes[i];
    if (text != NULL && (strlen(node->name) != head || strncmp(node->name, text, head) != 0)) continue;
    for (uint32_t m = 0; node->algorithm != NULL && m < node->algorithm->member_count; m++) {
      const struct sl_member *out = &node->algorithm->members[m];
      if (out->kind != SL_MEMBER_OUT || strcmp(out->collection->name, input->collection->name) != 0) continue;
      if (text != NULL && text[head] == '.' && strcmp(out->name, text + head + 1) != 0) continue;
      if (found.node != SL_NONE) return none;
      found = (struct sl_port){(int32_t)i, (int32_t)m};
    }
  }
  return found;
}

/* 1 if the link's input is optional and the graph does not set it. */
static int is_unconnected(const struct names *n, struct sl_port owner, const struct sl_member *input) {
  const struct sl_tree *set = sl_tree_get(sl_tree_get(n->draft->nodes[owner.node].tree, "in"), input->name);
  return (input->flags & SL_FLAG_OPTIONAL) != 0 && (input->flags & SL_FLAG_AUTO) == 0 &&
         (set == NULL || sl_tree_is_null(set));
}

/* Returns the number of the link of an output, or SL_EINVAL with the problem. */
static int use_link(const struct names *n, struct sl_port owner, const struct sl_link *link,
                    struct sl_expression_search *s) {
  struct sl_expression_draft *e = n->expression;
  const struct sl_node *node = &n->draft->graph->nodes[owner.node];
  for (uint32_t i = 0; i < e->link_count; i++)
    if (e->links[i].link == link && is_same_port(e->links[i].owner, owner)) return (int)i;
  const int32_t input = sl_member_find(node->algorithm, SL_MEMBER_IN, link->port);
  const int field = sl_field_index(sl_port_member(n->draft->graph, owner)->collection, link->field);
  if (input == SL_NONE || field < 0)
    return problem(s, "the plugin of %s declares a wrong link `%s`", node->use, link->field);
  const struct sl_port target = producer_of(n->draft, owner, &node->algorithm->members[input]);
  if (target.node == SL_NONE)
    return problem(s, "`%.*s` needs the input `%s` of %s; set it: `in: { %s: NODE }`", (int)s->length, s->name,
                   link->port, node->name, link->port);
  if (e->link_count == SL_PROGRAM_LINKS)
    return problem(s, "the expression refers to items of more than %d kinds", SL_PROGRAM_LINKS);
  const int index = use_field(n, owner, (uint32_t)field, OWN_ITEMS, 0, s);
  if (index < 0) return index;
  e->links[e->link_count] = (struct link){owner, target, link, (uint32_t)index, 0};
  return (int)e->link_count++;
}

static int use_linked_field(const struct names *n, struct sl_port owner, const struct sl_link *link, const char *name,
                            struct sl_expression_search *s) {
  const int number = use_link(n, owner, link, s);
  if (number < 0) return number;
  struct link *l = &n->expression->links[number];
  const int field = sl_field_index(sl_port_member(n->draft->graph, l->target)->collection, name);
  if (field < 0) return problem(s, "there is no `%.*s`", (int)s->length, s->name);
  const int slot = use_field(n, l->target, (uint32_t)field, LINKED, (uint32_t)number, s);
  if (slot >= 0 && l->first == 0) l->first = (uint32_t)slot;
  return slot;
}

/* ---------------------------------------------------------------------------------------------------- names */

/* Finds a name among the fields and linked fields of an output, and adds its operand if `is_use`; offers names that
 * begin with `prefix`. Returns 1, 0 if there is no such name, or SL_EINVAL with the problem. */
static int find_in_port(const struct names *n, struct sl_port port, const char *prefix, const char *name, int is_use,
                        struct sl_expression_search *s) {
  const struct sl_member *out = sl_port_member(n->draft->graph, port);
  const struct sl_collection *c = out->collection;
  const int field = sl_field_index(c, name);
  if (field >= 0) return !is_use ? 1 : use_field(n, port, (uint32_t)field, OWN_ITEMS, 0, s) < 0 ? SL_EINVAL : 1;
  for (uint32_t f = 0; f < c->field_count; f++) sl_expression_offer(&s->nearest, prefix, c->fields[f].name);
  for (uint32_t i = 0; out->vocabulary != NULL && i < out->vocabulary->link_count; i++) {
    const struct sl_link *link = &out->vocabulary->links[i];
    const struct sl_algorithm *a = n->draft->graph->nodes[port.node].algorithm;
    const int32_t input = sl_member_find(a, SL_MEMBER_IN, link->port);
    const size_t length = strlen(link->field);
    if (input != SL_NONE && is_unconnected(n, port, &a->members[input])) continue;
    const struct sl_collection *target = input == SL_NONE ? c : a->members[input].collection;
    const char *linked = sl_arena_format(n->draft->reader->arena, "%s%s.", prefix, link->field);
    const int is_link = strncmp(name, link->field, length) == 0 && name[length] == '.';
    if (is_link && sl_field_index(target, name + length + 1) >= 0)
      return !is_use ? 1 : use_linked_field(n, port, link, name + length + 1, s) < 0 ? SL_EINVAL : 1;
    for (uint32_t f = 0; f < target->field_count; f++) sl_expression_offer(&s->nearest, linked, target->fields[f].name);
  }
  return 0;
}

static int find_function_in_port(struct names *n, struct sl_port port, const char *prefix, const char *name, int is_use,
                                 struct sl_expression_search *s) {
  const struct sl_vocabulary *vocabulary = sl_port_member(n->draft->graph, port)->vocabulary;
  const struct sl_function *f = NULL;
  for (uint32_t i = 0; vocabulary != NULL && i < vocabulary->function_count; i++) {
    const struct sl_function *other = &vocabulary->functions[i];
    sl_expression_offer(&s->nearest, prefix, other->name);
    if (strcmp(other->name, name) != 0) continue;
    if (f == NULL || sl_expression_parameters(other) == s->arguments) f = other;
  }
  if (f == NULL || !is_use) return f != NULL;
  uint32_t k = 0;
  while (k < n->function_count && n->functions[k].function != f) k++;
  if (k == FUNCTIONS_MAX) return problem(s, "the expression has more than %d different functions", FUNCTIONS_MAX);
  if (k == n->function_count) n->function_count++;
  n->functions[k] = (struct found_function){f, port};
  s->function = f;
  return 1;
}

static int find_at(struct names *n, struct sl_port port, const char *prefix, const char *name, int is_function,
                   int is_use, struct sl_expression_search *s) {
  return is_function ? find_function_in_port(n, port, prefix, name, is_use, s)
                     : find_in_port(n, port, prefix, name, is_use, s);
}

/* Prepares a node for being read: its own expression gives the unit of its values. */
static int compile_before(const struct names *n, int32_t node, struct sl_expression_search *s) {
  const struct sl_expression_draft *e = n->draft->nodes[node].expression;
  if (n->draft->graph->nodes[node].algorithm == NULL) return silent(s);
  if (e != NULL && e->state == ACTIVE) return problem(s, "the expression depends on its own values");
  return compile(n->draft, (uint32_t)node) == SL_OK ? SL_OK : silent(s);
}

/* Offers NODE.FIELD for the nodes that have the field; `rest` begins with the dot. */
static void offer_nodes(const struct names *n, const char *rest, struct sl_expression_search *s) {
  for (uint32_t i = 0; *rest == '.' && i < n->draft->graph->node_count; i++) {
    const struct sl_node *node = &n->draft->graph->nodes[i];
    for (uint32_t m = 0; node->algorithm != NULL && m < node->algorithm->member_count; m++)
      if (node->algorithm->members[m].kind == SL_MEMBER_OUT &&
          sl_field_index(node->algorithm->members[m].collection, rest + 1) >= 0)
        sl_expression_offer(&s->nearest, node->name, rest);
  }
}

/* Finds NODE.NAME or NODE.PORT.NAME. */
static int find_by_node(struct names *n, const char *name, int is_function, struct sl_expression_search *s) {
  struct sl_arena *arena = n->draft->reader->arena;
  const size_t head = strcspn(name, ".");
  const int32_t node = sl_draft_find(n->draft, sl_arena_text(arena, name, head));
  if (node == SL_NONE || name[head] == '\0') {
    offer_nodes(n, name + head, s);
    return 0;
  }
  if (compile_before(n, node, s) < 0) return SL_EINVAL;
  const struct sl_algorithm *a = n->draft->graph->nodes[node].algorithm;
  const char *rest = name + head + 1, *prefix = sl_arena_text(arena, name, head + 1);
  const size_t port = strcspn(rest, ".");
  const int32_t named =
      rest[port] == '.' ? sl_member_find(a, SL_MEMBER_OUT, sl_arena_text(arena, rest, port)) : SL_NONE;
  if (named != SL_NONE)
    return find_at(n, (struct sl_port){node, named}, sl_arena_text(arena, name, head + port + 2), rest + port + 1,
                   is_function, 1, s);
  struct sl_port found = {SL_NONE, SL_NONE};
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_port at = {node, (int32_t)m};
    if (a->members[m].kind != SL_MEMBER_OUT || find_at(n, at, prefix, rest, is_function, 0, s) == 0) continue;
    if (found.node != SL_NONE)
      return problem(s, "`%.*s` is ambiguous; write %s or %s, a dot, and the rest", (int)s->length, s->name,
                     sl_port_name(n->draft, found), sl_port_name(n->draft, at));
    found = at;
  }
  return found.node == SL_NONE ? 0 : find_at(n, found, prefix, rest, is_function, 1, s);
}

static int find_any(struct names *n, struct sl_expression_search *s, int is_function) {
  const char *name = sl_arena_text(n->draft->reader->arena, s->name, s->length);
  struct sl_port base = n->base;
  for (uint32_t i = 0; s->within != NULL && i < n->function_count; i++)
    if (n->functions[i].function == s->within) base = n->functions[i].port;
  const int found = base.node == SL_NONE ? 0 : find_at(n, base, "", name, is_function, 1, s);
  if (found != 0) return found;
  if (base.node == SL_NONE && !is_function && strchr(name, '.') == NULL)
    return problem(s, "`%s` is no field; write NODE.%s, or NODE: before the expression", name, name);
  return find_by_node(n, name, is_function, s);
}

static int find(void *context, struct sl_expression_search *s) { return find_any(context, s, 0); }
static int find_function(void *context, struct sl_expression_search *s) { return find_any(context, s, 1); }

/* ---------------------------------------------------------------------------------------------------- nodes */

/* Reads `NODE:` or `NODE.PORT:` before an expression. Returns 0 with the error reported. */
static int read_base(struct names *n, const struct sl_tree *text) {
  const char *begin = text->text + strspn(text->text, " ");
  const size_t length = strcspn(begin, ": +-*/^()<>=!,");
  const char *colon = begin + length + strspn(begin + length, " ");
  n->base = (struct sl_port){SL_NONE, SL_NONE};
  if (length == 0 || *colon != ':') return 1;
  struct sl_reader *r = n->draft->reader;
  const struct sl_tree *port =
      sl_tree_scalar(r, sl_arena_text(r->arena, begin, length), 0, mark_of_byte(text, (uint32_t)(begin - text->text)));
  struct sl_expression_search unused;
  sl_expression_search_begin(&unused, "", 0);
  n->skipped = (uint32_t)(colon + 1 - text->text);
  const struct origin at = origin_of(n->draft, n->node);
  if (!sl_port_find(n->draft, port, at.node, NULL, at.property, &n->base)) return 0;
  if (compile_before(n, n->base.node, &unused) == SL_OK) return 1;
  if (unused.problem[0] != '\0') report(n->draft, n->node, 0, 0, unused.problem);
  return 0;
}

/* An expression of fields per event alone has values per event: another algorithm computes them. */
static int choose_shape(struct names *n) {
  struct sl_node *node = n->node;
  const struct sl_graph_request *request = n->draft->reader->request;
  const int32_t first = sl_member_find(node->algorithm, SL_MEMBER_FIELD, first_operand);
  const int by_item = first != SL_NONE && !(node->algorithm->members[first].flags & SL_FLAG_OPTIONAL);
  if (n->expression->operand_count == 1 && !n->expression->operands[0].is_used) {
    report(n->draft, node, 0, 0, "the expression names no field");
    return 0;
  }
  if (by_item == (int)n->expression->operands[0].is_used) return 1;
  const char *use = sl_arena_format(n->draft->reader->arena, "%s_of_events", node->use);
  const struct sl_algorithm *other =
      by_item ? sl_registry_find(request->registry, use, request->target, &node->plugin) : NULL;
  if (other == NULL) {
    report(n->draft, node, 0, 0,
           by_item ? "the expression has one value per event, but this algorithm needs values per item"
                   : "the expression has values per item, but this algorithm computes values per event");
    return 0;
  }
  node->use = use;
  node->algorithm = other;
  if (!node->has_block) node->block_threads = other->block_threads;
  return 1;
}

/* Copies a node's algorithm; the field `value` of the outputs gets the unit and the text of the expression. */
static void describe_outputs(const struct names *n, const struct sl_tree *text, const char *unit) {
  struct sl_arena *arena = n->draft->reader->arena;
  const struct sl_algorithm *a = n->node->algorithm;
  struct sl_algorithm *own = sl_arena_get(arena, 1, sizeof *own);
  struct sl_member *members = sl_arena_get(arena, a->member_count, sizeof *members);
  memcpy(members, a->members, a->member_count * sizeof *members);
  *own = *a;
  own->members = members;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (members[m].kind != SL_MEMBER_OUT) continue;
    struct sl_collection *c = sl_arena_get(arena, 1, sizeof *c);
    struct sl_field *fields = sl_arena_get(arena, members[m].collection->field_count, sizeof *fields);
    *c = *members[m].collection;
    memcpy(fields, c->fields, c->field_count * sizeof *fields);
    for (uint32_t f = 0; f < c->field_count; f++)
      if (strcmp(fields[f].name, "value") == 0) {
        fields[f].unit = sl_arena_format(arena, "%s", unit);
        fields[f].doc = text->text;
      }
    c->fields = fields;
    members[m].collection = c;
  }
  n->node->algorithm = own;
}

static void fill_program(const struct names *n, const struct sl_expression_program *compiled) {
  struct sl_program *p = &n->expression->program;
  p->word_count = compiled->count;
  memcpy(p->words, compiled->words, compiled->count * sizeof *p->words);
  p->link_count = n->expression->link_count;
  for (uint32_t i = 0; i < p->link_count; i++) {
    const struct link *l = &n->expression->links[i];
    p->links[i].indices = place_of(n, l->index) + (uint32_t)offsetof(struct sl_field_ref, values);
    p->links[i].offsets = place_of(n, l->first) + (uint32_t)offsetof(struct sl_field_ref, offsets);
  }
  n->node->program = p;
}

/* Sets the operands, as references that references.c resolves. */
static void set_operands(const struct names *n, struct sl_tree *set, const struct sl_tree *text) {
  struct sl_reader *r = n->draft->reader;
  for (uint32_t i = 0; i < n->expression->operand_count; i++) {
    const struct operand *o = &n->expression->operands[i];
    if (!o->is_used) continue;
    const struct sl_collection *c = sl_port_member(n->draft->graph, o->port)->collection;
    const char *field = sl_arena_format(r->arena, "%s.%s", sl_port_name(n->draft, o->port), c->fields[o->field].name);
    const struct sl_mark mark = mark_of_byte(text, o->at);
    sl_tree_add(r, set, operand_name(n, i), mark, sl_tree_scalar(r, field, 0, mark));
  }
}

/* Reports an operand that the graph sets. */
static int check_operands_unset(struct names *n, struct sl_tree *set) {
  for (uint32_t m = 0; m < n->node->algorithm->member_count; m++) {
    const struct sl_member *member = &n->node->algorithm->members[m];
    const struct sl_entry *entry = member->flags & SL_FLAG_OPERAND ? sl_tree_find(set, member->name) : NULL;
    if (entry == NULL) continue;
    sl_report_error(n->draft->reader, entry->mark, n->node->name, NULL, "`%s` is set by the expression", member->name);
    return 0;
  }
  return 1;
}

/* Makes the items of the node before the colon those of a condition that is left out. */
static int use_items(const struct names *n) {
  struct sl_expression_search s;
  sl_expression_search_begin(&s, "", 0);
  const struct sl_collection *c = sl_port_member(n->draft->graph, n->base)->collection;
  for (uint32_t f = 0; f < c->field_count; f++)
    if (c->fields[f].shape == SL_SHAPE_CODE_PER_ITEM && use_field(n, n->base, f, OWN_ITEMS, 0, &s) == 0) return 1;
  report(n->draft, n->node, 0, 0,
         sl_arena_format(n->draft->reader->arena, "%s has no items to count; write a condition after the colon",
                         sl_port_name(n->draft, n->base)));
  return 0;
}

static int compile_text(struct names *n, struct sl_tree *set, const struct sl_tree *text) {
  struct sl_expression_program *program = sl_arena_get(n->draft->reader->arena, 1, sizeof *program);
  struct sl_expression_fault fault;
  const int is_condition = (n->program->flags & SL_FLAG_CONDITION) != 0;
  const char *needs = is_condition ? sl_arena_format(n->draft->reader->arena, "%s needs", n->node->use) : NULL;
  const struct sl_expression_language language = {n, find, find_function, needs, SL_PROGRAM_WORDS};
  if (!check_operands_unset(n, set) || !read_base(n, text)) return 0;
  const int status = sl_expression_compile(text->text + n->skipped, &language, program, &fault);
  if (*fault.text) report(n->draft, n->node, fault.is_warning, n->skipped + fault.at, fault.text);
  if (status < 0) return 0;
  if (is_condition && program->count == 0 && n->base.node != SL_NONE && !use_items(n)) return 0;
  if (!choose_shape(n)) return 0;
  fill_program(n, program);
  describe_outputs(n, text, program->unit);
  set_operands(n, set, text);
  return 1;
}

/* Compiles the expression of a node, once. Returns SL_OK if the node has none, or it was compiled. */
static int compile(struct sl_draft *draft, uint32_t index) {
  struct sl_draft_node *source = &draft->nodes[index];
  struct sl_node *node = &draft->graph->nodes[index];
  const struct sl_member *program = program_of(node->algorithm);
  if (program == NULL) return SL_OK;
  if (source->expression != NULL) return source->expression->state == DONE ? SL_OK : SL_EGRAPH;
  source->expression = sl_arena_get(draft->reader->arena, 1, sizeof *source->expression);
  source->expression->state = ACTIVE;
  source->expression->operand_count = 1;
  struct sl_tree *set = sl_tree_get(source->tree, "set");
  const struct sl_tree *text = sl_tree_get(set, program->fields);
  struct names n = {.draft = draft, .node = node, .expression = source->expression, .program = program};
  int is_good = 0;
  if (text != NULL && text->kind == SL_TREE_SCALAR)
    is_good = compile_text(&n, set, text);
  else if (!sl_tree_was_refused(set, program->fields) && !sl_tree_was_refused(source->tree, "set"))
    sl_report_error(
        draft->reader, text != NULL ? text->mark : source->mark, node->name,
        program->flags & SL_FLAG_CONDITION
            ? sl_arena_format(draft->reader->arena, "for example `set: { %s: \"NODE: x > 2\" }`", program->fields)
            : "for example `set: { expression: \"NODE: sqrt(x^2 + y^2)\" }`",
        "%s needs an expression", node->use);
  source->expression->state = is_good ? DONE : FAILED;
  return is_good ? SL_OK : SL_EGRAPH;
}

void sl_draft_expressions(struct sl_draft *draft) {
  for (uint32_t i = 0; i < draft->graph->node_count; i++) (void)compile(draft, i);
}

/* -------------------------------------------------------------------------------------------------- own items */

static const char *field_name(struct sl_draft *draft, const struct operand *o) {
  return sl_arena_format(draft->reader->arena, "%s.%s", sl_output_name(draft, o->port),
                         sl_port_member(draft->graph, o->port)->collection->fields[o->field].name);
}

/* All operands of own items have the items of the first one. */
static void check_items(struct sl_draft *draft, const struct sl_node *node, const struct sl_expression_draft *e) {
  const struct sl_port expected = sl_items_of(draft->graph, e->operands[0].port);
  for (uint32_t i = 1; i < e->operand_count; i++) {
    const struct operand *o = &e->operands[i];
    if (!o->is_used || o->of != OWN_ITEMS) continue;
    const struct sl_port own = sl_items_of(draft->graph, o->port);
    if (own.node == SL_NONE || expected.node == SL_NONE || is_same_port(own, expected)) continue;
    report(draft, node, 0, o->at,
           sl_arena_format(draft->reader->arena, "`%s` has the items of %s, but `%s` has those of %s",
                           field_name(draft, o), sl_port_name(draft, own), field_name(draft, &e->operands[0]),
                           sl_port_name(draft, expected)));
    return;
  }
}

/* The linked items are those of the input that the owner of the link is connected to. */
static void check_links(struct sl_draft *draft, const struct sl_node *node, const struct sl_expression_draft *e) {
  for (uint32_t i = 0; i < e->link_count; i++) {
    const struct link *l = &e->links[i];
    const struct sl_node *owner = &draft->graph->nodes[l->owner.node];
    const struct sl_wiring *wiring = &owner->inputs[sl_member_index(owner->algorithm, l->link->port)];
    if (wiring->count == 0 || is_same_port(wiring->ports[0], l->target)) continue;
    report(draft, node, 0, e->operands[l->index].at,
           sl_arena_format(draft->reader->arena, "`%s.` means the input `%s` of %s; set it: `in: { %s: %s }`",
                           l->link->field, l->link->port, owner->name, l->link->port,
                           sl_port_name(draft, wiring->ports[0])));
    return;
  }
}

void sl_draft_operands(struct sl_draft *draft) {
  for (uint32_t i = 0; i < draft->graph->node_count; i++) {
    const struct sl_expression_draft *e = draft->nodes[i].expression;
    if (e == NULL || e->state != DONE || !e->operands[0].is_used) continue;
    check_items(draft, &draft->graph->nodes[i], e);
    check_links(draft, &draft->graph->nodes[i], e);
  }
}
