/* wiring.c: connects ports to inputs.
 *
 * 1. Connect the inputs that `in` sets. A null leaves an optional input unconnected.
 * 2. Connect each required input that is not set to the only port of its collection in the graph. If there are several,
 *    all of one node, take the port with the input's name. Ports of the node itself and of nodes that depend on it are
 *    not candidates. Several candidates are an error. Event lists are never connected automatically, because different
 *    lists are not interchangeable.
 * 3. Connect automatic inputs of sinks (SL_AUTO_IN) by the same rule. Dependencies are computed before step 2 and
 * before step 3, so that the
 *    result does not depend on document order.
 * 4. Connect list ports with `all`: all ports of their collection except those of the node itself and of nodes that
 *    depend on it, in document order. Other list ports need an explicit list.
 */
#include "graph/stages.h"
#include "plugin/tables.h"

#include <string.h>

enum { NAMED_MAX = 8 /* candidates listed in a message */, END = -1 };

/* --------------------------------------------------------------------------------------------- as given */

static int constant_can_take(const struct sl_draft *draft, const struct sl_node *node, struct sl_port port) {
  return node->algorithm->kind != SL_KIND_CONSTANT ||
         draft->graph->nodes[port.node].algorithm->kind == SL_KIND_CONSTANT;
}

/* Finds the port that `text` names for an input; returns 0 with the error reported. */
static int find_given(struct sl_draft *draft, const struct sl_node *node, uint32_t member, const struct sl_tree *text,
                      struct sl_port *port) {
  struct sl_reader *r = draft->reader;
  const struct sl_member *input = &node->algorithm->members[member];
  const char *required_by = sl_arena_format(r->arena, "input `%s`", input->name);
  if (!sl_port_find(draft, text, node->name, input->collection, required_by, port)) return 0;
  if (!sl_port_fits(draft, text->mark, node, member, *port)) return 0;
  if (constant_can_take(draft, node, *port)) return 1;
  sl_report_error(
      r, text->mark, node->name, NULL,
      "input `%s`: a constant is made before the first event, so it cannot take %s, which is not a constant",
      input->name, sl_port_name(draft, *port));
  return 0;
}

static void connect(struct sl_draft *draft, struct sl_wiring *wiring, struct sl_port port) {
  wiring->ports = sl_arena_get(draft->reader->arena, 1, sizeof *wiring->ports);
  wiring->ports[0] = port;
  wiring->count = 1;
}

static void connect_given(struct sl_draft *draft, struct sl_node *node, uint32_t member, const struct sl_tree *text) {
  struct sl_port port;
  if (text->kind != SL_TREE_SCALAR)
    sl_report_error(draft->reader, text->mark, node->name, NULL, "input `%s` takes one port, but this is %s",
                    node->algorithm->members[member].name, sl_tree_kind_text(text->kind));
  else if (find_given(draft, node, member, text, &port))
    connect(draft, &node->inputs[member], port);
}

static void open_list_port(struct sl_draft *draft, struct sl_wiring *wiring, uint32_t count) {
  wiring->ports = sl_arena_get(draft->reader->arena, count, sizeof *wiring->ports);
  wiring->names = sl_arena_get(draft->reader->arena, count, sizeof *wiring->names);
}

/* Adds a producer of a list port. `name` NULL: it is named like an output. */
static void add_producer(struct sl_draft *draft, struct sl_node *node, uint32_t member, const struct sl_tree *text,
                         const char *name) {
  struct sl_wiring *wiring = &node->inputs[member];
  struct sl_port port;
  if (!find_given(draft, node, member, text, &port)) return;
  for (uint32_t k = 0; k < wiring->count; k++) {
    if (wiring->ports[k].node != port.node || wiring->ports[k].member != port.member) continue;
    sl_report_error(draft->reader, text->mark, node->name, NULL, "input `%s` has %s twice",
                    node->algorithm->members[member].name, sl_port_name(draft, port));
    return;
  }
  wiring->names[wiring->count] = name != NULL ? name : sl_output_name(draft, port);
  wiring->ports[wiring->count++] = port;
}

/* Connects a list of ports, a map of ports by name, or a single port. */
static void connect_producers(struct sl_draft *draft, struct sl_node *node, uint32_t member,
                              const struct sl_tree *given) {
  open_list_port(draft, &node->inputs[member], given->kind == SL_TREE_SCALAR ? 1 : given->count);
  if (given->kind == SL_TREE_SCALAR) add_producer(draft, node, member, given, NULL);
  for (const struct sl_entry *entry = given->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL) add_producer(draft, node, member, entry->value, entry->key);
}

static void wire_given(struct sl_draft *draft, uint32_t index) {
  struct sl_node *node = &draft->graph->nodes[index];
  const uint32_t member_count = node->algorithm->member_count;
  node->inputs = sl_arena_get(draft->reader->arena, member_count, sizeof *node->inputs);
  const struct sl_tree *in = sl_tree_get(draft->nodes[index].tree, "in");
  for (const struct sl_entry *entry = in != NULL ? in->first : NULL; entry != NULL; entry = entry->next) {
    if (entry->value == NULL) continue;
    const int32_t member = sl_member_find(node->algorithm, SL_MEMBER_IN, entry->key);
    if (member == SL_NONE)
      sl_draft_unknown_member(draft, node, SL_MEMBER_IN, entry, entry->key);
    else if (sl_tree_is_null(entry->value))
      continue;
    else if ((node->algorithm->members[member].flags & SL_FLAG_LIST) == 0)
      connect_given(draft, node, (uint32_t)member, entry->value);
    else if (!sl_tree_is_all(entry->value))
      connect_producers(draft, node, (uint32_t)member, entry->value);
  }
  sl_draft_references(draft, index);
}

/* ---------------------------------------------------------------------------------------------- automatic connections
 */

/* All outputs in the graph, linked by collection in document order. */
struct provided_port {
  struct sl_port port;
  int32_t next;
};

struct provided_collection {
  const char *name;
  int32_t first, last;
  struct provided_collection *next;
};

struct choice {
  struct sl_draft *draft;
  struct provided_port *provided_ports;
  struct provided_collection *collections; /* one per collection: a short list */
  struct sl_links users;
  uint32_t *marks, *stack; /* marks[i] == stamp: node i depends on the node that is being connected */
  uint32_t stamp;
};

static const struct provided_collection *find_provided(const struct choice *c, const char *name) {
  for (const struct provided_collection *o = c->collections; o != NULL; o = o->next)
    if (strcmp(o->name, name) == 0) return o;
  return NULL;
}

static void add_output(struct choice *c, int32_t provided_port, const char *name) {
  struct provided_collection *o = (struct provided_collection *)find_provided(c, name);
  if (o == NULL) {
    o = sl_arena_get(c->draft->reader->arena, 1, sizeof *o);
    *o = (struct provided_collection){name, provided_port, provided_port, c->collections};
    c->collections = o;
    return;
  }
  c->provided_ports[o->last].next = provided_port;
  o->last = provided_port;
}

static void collect_outputs(struct choice *c) {
  const struct sl_graph *graph = c->draft->graph;
  uint32_t count = 0;
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].algorithm != NULL) count += graph->nodes[i].algorithm->member_count;
  c->provided_ports = sl_arena_get(c->draft->reader->arena, count, sizeof *c->provided_ports);
  int32_t provided_port = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_algorithm *algorithm = graph->nodes[i].algorithm;
    for (uint32_t m = 0; algorithm != NULL && m < algorithm->member_count; m++) {
      if (algorithm->members[m].kind != SL_MEMBER_OUT) continue;
      c->provided_ports[provided_port] = (struct provided_port){{(int32_t)i, (int32_t)m}, END};
      add_output(c, provided_port++, algorithm->members[m].collection->name);
    }
  }
}

struct candidates {
  uint32_t count;
  uint32_t of_others;             /* number of these that belong to other nodes than the first one */
  uint32_t dependent;             /* number of further ports, of nodes that depend on the input's node */
  struct sl_port first, namesake; /* namesake: port with the input's name; node SL_NONE if there is none */
  const char *list;               /* for a message; lists the dependent ports if there are no others */
};

static void add_to_list(const struct choice *c, struct candidates *found, struct sl_port port, uint32_t number) {
  struct sl_reader *r = c->draft->reader;
  if (number == 1)
    found->list = sl_port_name(c->draft, port);
  else if (number <= NAMED_MAX)
    found->list = sl_arena_format(r->arena, "%s, %s", found->list, sl_port_name(c->draft, port));
  else if (number == NAMED_MAX + 1)
    found->list = sl_arena_format(r->arena, "%s, ...", found->list);
}

static struct candidates find_candidates(struct choice *c, uint32_t index, const struct sl_member *input) {
  struct sl_draft *draft = c->draft;
  struct candidates found = {.namesake = {SL_NONE, SL_NONE}, .list = ""};
  const struct provided_collection *provided = find_provided(c, input->collection->name);
  if (provided == NULL) return found;
  c->stamp = index + 1;
  sl_links_reach(&c->users, index, c->stamp, c->marks, c->stack);
  for (int32_t o = provided->first; o != END; o = c->provided_ports[o].next) {
    const struct sl_port port = c->provided_ports[o].port;
    if (port.node == (int32_t)index || !constant_can_take(draft, &draft->graph->nodes[index], port)) continue;
    if (c->marks[port.node] == c->stamp) {
      if (found.count == 0) add_to_list(c, &found, port, found.dependent + 1);
      found.dependent++;
      continue;
    }
    if (found.count++ == 0) found.first = port;
    if (port.node != found.first.node) found.of_others++;
    if (strcmp(draft->graph->nodes[port.node].algorithm->members[port.member].name, input->name) == 0)
      found.namesake = port;
    add_to_list(c, &found, port, found.count);
    if (found.count > NAMED_MAX && found.of_others > 0) break; /* more than a message lists */
  }
  return found;
}

/* Returns a hint with the algorithms that provide a collection, or NULL. */
static const char *provider_hint(struct sl_draft *draft, const char *collection) {
  struct sl_reader *r = draft->reader;
  const struct sl_registry *registry = r->request->registry;
  const char *list = NULL;
  uint32_t count = 0;
  sl_load_all_plugins(r);
  for (size_t e = 0; e < registry->entry_count; e++) {
    const struct sl_plugin *plugin =
        registry->entries[e].status == SL_PLUGIN_LOADED ? registry->entries[e].plugin : NULL;
    const struct sl_plugin_entry *entry = NULL;
    for (uint32_t a = 0; plugin != NULL && a < plugin->algorithm_count && count < NAMED_MAX; a++) {
      const struct sl_algorithm *algorithm = plugin->algorithms[a];
      int provided_ports = 0;
      for (uint32_t m = 0; m < algorithm->member_count; m++)
        provided_ports |= algorithm->members[m].kind == SL_MEMBER_OUT &&
                          strcmp(algorithm->members[m].collection->name, collection) == 0;
      const char *name = sl_arena_format(r->arena, "%s.%s", plugin->name, algorithm->name);
      if (!provided_ports || sl_registry_find(registry, name, r->request->target, &entry) == NULL) continue;
      if (entry != &registry->entries[e]) continue; /* for this target, another plugin provides the algorithm */
      list = count++ == 0 ? name : sl_arena_format(r->arena, "%s, %s", list, name);
    }
  }
  if (list == NULL) return NULL;
  return sl_arena_format(r->arena, "%s: add a node that uses %s",
                         count > 1 ? "several algorithms provide it" : "one algorithm provides it", list);
}

static void report_missing(struct choice *c, uint32_t index, const struct sl_member *input,
                           const struct candidates *found) {
  struct sl_draft *draft = c->draft;
  struct sl_reader *r = draft->reader;
  const struct sl_draft_node *source = &draft->nodes[index];
  const char *node = draft->graph->nodes[index].name, *collection = input->collection->name;
  const int optional = (input->flags & SL_FLAG_OPTIONAL) != 0;
  if (found->count > 0) {
    const int is_list = sl_is_event_list(input->collection);
    const char *hint =
        sl_arena_format(r->arena, "name the port: `in: { %s: ... }`%s", input->name,
                        optional ? sl_arena_format(r->arena, ", or `in: { %s: null }`", input->name) : "");
    sl_report_error(r, source->mark, node, hint,
                    is_list ? "input `%s` (%s) must be set, because event lists are never connected automatically: %s"
                            : "input `%s` (%s) could come from several ports: %s",
                    input->name, collection, found->list);
  } else if (optional || draft->unknown_algorithms > 0 || r->error_count > SL_LIMIT_ERRORS) {
    return; /* a node with an unknown algorithm may provide it */
  } else if (found->dependent > 0) {
    sl_report_error(r, source->mark, node, NULL,
                    "no port can feed input `%s` (%s): the ports that provide it depend on this node: %s", input->name,
                    collection, found->list);
  } else {
    sl_report_error(r, source->mark, node, provider_hint(draft, collection),
                    "no node of the graph provides %s, which input `%s` needs", collection, input->name);
  }
}

/* How an input is set in the graph: not at all, to a port (valid or not), or to null. */
enum { SET_NOT, SET_TO_PORT, SET_TO_NULL };
static int find_setting(const struct sl_draft *draft, uint32_t index, const char *input) {
  const struct sl_tree *in = sl_tree_get(draft->nodes[index].tree, "in");
  const struct sl_tree *value = sl_tree_get(in, input);
  if (value != NULL) return sl_tree_is_null(value) ? SET_TO_NULL : SET_TO_PORT;
  const int refused = sl_tree_was_refused(in, input) || sl_tree_was_refused(draft->nodes[index].tree, "in");
  return refused ? SET_TO_PORT : SET_NOT;
}

static void choose_input(struct choice *c, uint32_t index, uint32_t member) {
  struct sl_draft *draft = c->draft;
  struct sl_node *node = &draft->graph->nodes[index];
  const struct sl_member *input = &node->algorithm->members[member];
  const struct candidates found = find_candidates(c, index, input);
  const int is_by_name = found.count > 1 && found.of_others == 0 && found.namesake.node != SL_NONE;
  const struct sl_port port = is_by_name ? found.namesake : found.first;
  if ((found.count != 1 && !is_by_name) || sl_is_event_list(input->collection)) {
    report_missing(c, index, input, &found);
  } else if (sl_port_fits(draft, draft->nodes[index].mark, node, member, port)) {
    connect(draft, &node->inputs[member], port);
    node->inputs[member].is_automatic = 1;
  }
}

/* Computes the dependencies of the connections made so far. */
static void begin_pass(struct choice *c) {
  c->users = sl_links_new(c->draft, SL_LINKS_USERS);
  memset(c->marks, 0, c->draft->graph->node_count * sizeof *c->marks);
}

/* Connects required inputs (`flags` 0) or automatic inputs of sinks. */
static void choose_inputs(struct choice *c, uint32_t flags) {
  struct sl_graph *graph = c->draft->graph;
  begin_pass(c);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_node *node = &graph->nodes[i];
    for (uint32_t m = 0; node->algorithm != NULL && m < node->algorithm->member_count; m++) {
      const struct sl_member *input = &node->algorithm->members[m];
      const uint32_t need = input->flags & (SL_FLAG_OPTIONAL | SL_FLAG_AUTO);
      if (input->kind != SL_MEMBER_IN || (input->flags & (SL_FLAG_LIST | SL_FLAG_FIELD)) || need != flags) continue;
      const int what = find_setting(c->draft, i, input->name);
      if (what == SET_NOT || (what == SET_TO_NULL && flags == 0)) choose_input(c, i, m);
    }
  }
}

/* ----------------------------------------------------------------------------------------------- list ports */

static void take_all(struct choice *c, uint32_t index, uint32_t member) {
  struct sl_draft *draft = c->draft;
  struct sl_node *node = &draft->graph->nodes[index];
  struct sl_wiring *wiring = &node->inputs[member];
  const struct provided_collection *provided = find_provided(c, node->algorithm->members[member].collection->name);
  uint32_t count = 0;
  for (int32_t o = provided != NULL ? provided->first : END; o != END; o = c->provided_ports[o].next) count++;
  open_list_port(draft, wiring, count);
  wiring->is_automatic = 1;
  c->stamp = index + 1;
  sl_links_reach(&c->users, index, c->stamp, c->marks, c->stack);
  for (int32_t o = count > 0 ? provided->first : END; o != END; o = c->provided_ports[o].next) {
    const struct sl_port port = c->provided_ports[o].port;
    if (c->marks[port.node] == c->stamp || !constant_can_take(draft, node, port)) continue;
    if (!sl_port_fits(draft, draft->nodes[index].mark, node, member, port)) return;
    wiring->names[wiring->count] = sl_output_name(draft, port);
    wiring->ports[wiring->count++] = port;
  }
}

static void report_unset_list(struct choice *c, uint32_t index, const struct sl_member *input) {
  struct sl_reader *r = c->draft->reader;
  sl_report_error(
      r, c->draft->nodes[index].mark, c->draft->graph->nodes[index].name,
      sl_arena_format(r->arena, "name the ports: `in: { %s: [...] }`, or `in: { %s: all }`", input->name, input->name),
      "input `%s` takes any number of ports (%s), but was not set", input->name, input->collection->name);
}

static void wire_list_ports(struct choice *c) {
  const struct sl_graph *graph = c->draft->graph;
  begin_pass(c);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_node *node = &graph->nodes[i];
    for (uint32_t m = 0; node->algorithm != NULL && m < node->algorithm->member_count; m++) {
      const struct sl_member *input = &node->algorithm->members[m];
      if (input->kind != SL_MEMBER_IN || (input->flags & SL_FLAG_LIST) == 0) continue;
      const struct sl_tree *given = sl_tree_get(sl_tree_get(c->draft->nodes[i].tree, "in"), input->name);
      if (find_setting(c->draft, i, input->name) != SET_TO_PORT)
        report_unset_list(c, i, input);
      else if (given != NULL && sl_tree_is_all(given))
        take_all(c, i, m);
    }
  }
}

void sl_draft_wiring(struct sl_draft *draft) {
  const struct sl_graph *graph = draft->graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].algorithm != NULL) wire_given(draft, i);
  struct choice c = {.draft = draft};
  c.marks = sl_arena_get(draft->reader->arena, graph->node_count, sizeof *c.marks);
  c.stack = sl_arena_get(draft->reader->arena, graph->node_count, sizeof *c.stack);
  collect_outputs(&c);
  choose_inputs(&c, 0);
  choose_inputs(&c, SL_FLAG_OPTIONAL | SL_FLAG_AUTO);
  wire_list_ports(&c);
}
