/* stages.h: the stages of sl_graph_read, in the order in which graph.c calls them. Each stage reports all errors that
 * it finds and continues; later stages skip values that earlier stages refused. */
#ifndef SL_STAGES_H
#define SL_STAGES_H

#include "document/document.h"
#include "graph/graph.h"

/* ---- one tree `root`, merged from all documents (document/document.h) */

/* plugins.c: opens the plugins that the nodes of `root` name; one entry of the registry; all plugins. sl_expand_plugins
 * expands open ports after the plugins of the graph are loaded. */
void sl_load_named_plugins(struct sl_reader *r, const struct sl_tree *root);
void sl_load_plugin(struct sl_reader *r, size_t index);
void sl_load_all_plugins(struct sl_reader *r);
void sl_expand_plugins(struct sl_reader *r);

/* input.c: if the source node cannot read the input, replaces its algorithm by one that can. */
void sl_choose_source(struct sl_reader *r, struct sl_tree *root);

/* header.c: reads the header of the input and adds its values to the `set` of the source node. sl_draft_check_header:
 * reports values of the node that the graph sets otherwise. */
void sl_read_header(struct sl_reader *r, struct sl_tree *root);
struct sl_draft;
void sl_draft_check_header(struct sl_draft *draft, const struct sl_node *node);

/* parameters.c: replaces ${name}, and ${node.property}, in all values of `root`; finds ${conditions}. */
void sl_substitute_parameters(struct sl_reader *r, struct sl_tree *root);

/* derive.c: where `set` has an expression in place of a field, adds a node of generic.derive with it, and names its
 * value instead. The plugins of the nodes must be loaded. */
void sl_derive_fields(struct sl_reader *r, struct sl_tree *root);

/* ---- draft of a graph: nodes with their algorithms, and the trees that describe them */

struct sl_expression_draft;
struct sl_draft_node {
  struct sl_tree *tree;                   /* tree of the node */
  struct sl_expression_draft *expression; /* of a node with a program (expressions.c) */
  struct sl_mark mark;
  uint32_t lists_given;   /* 1: it has `events` */
  uint32_t lists_unknown; /* 1: after an error, its event list is unknown */
};

struct sl_draft {
  struct sl_reader *reader;
  struct sl_tree *root;
  struct sl_graph *graph;
  struct sl_draft_node *nodes; /* parallel to graph->nodes */
  uint32_t unknown_algorithms; /* number of nodes with unknown algorithms, and so with unknown outputs */
  uint32_t reported_target;    /* the error that no plugin is for the target has been reported */
};

/* nodes.c: names, algorithms and block sizes. Returns an error only if there are too many nodes. */
int sl_draft_nodes(struct sl_draft *draft);
/* Returns the index of a node by name, or SL_NONE. */
int32_t sl_draft_find(const struct sl_draft *draft, const char *name);
/* Returns the nearest node name as a hint. */
const char *sl_draft_guess_node(struct sl_draft *draft, const char *name);
/* Returns the index of the member of this kind and name, or SL_NONE. */
int32_t sl_member_find(const struct sl_algorithm *algorithm, uint32_t kind, const char *name);
/* Reports that the algorithm has no such property, input, ...; a note if the value was set for an earlier algorithm. */
void sl_draft_unknown_member(struct sl_draft *draft, const struct sl_node *node, uint32_t kind,
                             const struct sl_entry *entry, const char *name);

/* expressions.c: compiles the expressions of nodes with a program, and sets their operands; later, on a graph without
 * cycles, checks that operands belong to the same items. */
void sl_draft_expressions(struct sl_draft *draft);
void sl_draft_operands(struct sl_draft *draft);

/* conditions.c: checks the section `conditions`; a string with ${conditions}, in a property of a node. The latter
 * returns 0 with the error reported. */
void sl_draft_conditions(struct sl_draft *draft);
int sl_draft_conditional(struct sl_draft *draft, const struct sl_node *node, const struct sl_member *property,
                         const struct sl_tree *tree, struct sl_value *value);

/* properties.c: sets the values of all properties from defaults, `set` and `budgets`. */
void sl_draft_properties(struct sl_draft *draft);

/* ports.c: finds the port named by `text` (NODE or NODE.PORT). `collection`: the expected one, or NULL. `user`: the
 * node that refers to the port, or NULL. Returns 1 if found; else 0, with the error reported unless an earlier error
 * explains it. */
int sl_port_find(struct sl_draft *draft, const struct sl_tree *text, const char *user,
                 const struct sl_collection *collection, const char *required_by, struct sl_port *port);
/* Returns the node of that name, if it has outputs; else SL_NONE, with the error reported unless an earlier error
 * explains it. */
int32_t sl_node_find(struct sl_draft *draft, const struct sl_tree *text, const char *name, const char *user,
                     const char *required_by);
const struct sl_member *sl_port_member(const struct sl_graph *graph, struct sl_port port);
/* Returns "node.port". */
const char *sl_port_name(struct sl_draft *draft, struct sl_port port);
/* Compares the layouts of port and input; returns 0 with the error reported if they differ. */
int sl_port_fits(struct sl_draft *draft, struct sl_mark mark, const struct sl_node *user, uint32_t member,
                 struct sl_port port);

/* links.c: the dependencies of the nodes (inputs and event lists): the nodes that node i needs, or that need it, are
 * nodes[first[i]] up to nodes[first[i + 1]]. */
struct sl_links {
  uint32_t *first, *nodes;
};
enum { SL_LINKS_NEEDED, SL_LINKS_USERS };
struct sl_links sl_links_new(const struct sl_draft *draft, int direction);
/* Sets marks[n] = `stamp` for all nodes n reachable from `start`, including `start`. `stack` must have room for all
 * nodes. */
void sl_links_reach(const struct sl_links *links, uint32_t start, uint32_t stamp, uint32_t *marks, uint32_t *stack);

/* lists.c: event lists as set in the graph; later, on a graph without cycles, inherited event lists. */
void sl_draft_lists(struct sl_draft *draft);
void sl_draft_inherit_lists(struct sl_draft *draft, const uint32_t *sorted);

/* wiring.c: connects the inputs set in the graph, then inputs with exactly one matching port, then list ports with
 * `all`. */
void sl_draft_wiring(struct sl_draft *draft);

/* references.c: resolves the fields that a node's `set` refers to, and makes them inputs. The node's inputs must be
 * allocated. */
void sl_draft_references(struct sl_draft *draft, uint32_t index);
/* The port that defines the items of an output: the output itself, or the port with which it shares offsets, through
 * all nodes. Node SL_NONE: unknown after an error. */
struct sl_port sl_items_of(const struct sl_graph *graph, struct sl_port port);
/* Reports references that do not have the items that their table states (sl_member.items_of). On a graph without
 * cycles. */
void sl_draft_same_items(struct sl_draft *draft);

/* outputs.c: the source and the outputs. An output has the name of its node if it is the node's only output. */
const char *sl_output_name(struct sl_draft *draft, struct sl_port port);
void sl_draft_source(struct sl_draft *draft);
void sl_draft_outputs(struct sl_draft *draft);

/* dimensions.c: computes the sizes of the dimensions of all ports; `sorted`: producers before users. A node with
 * dimensions in its ports gets a copy of its algorithm; the collections of the copy have these sizes. */
void sl_draft_dimensions(struct sl_draft *draft, const uint32_t *sorted);

/* families.c: returns, per node, the number of its family, from 1; 0 if no other node belongs to its family. */
uint32_t *sl_draft_families(struct sl_draft *draft);

/* order.c: sl_draft_sort returns all nodes with producers before users, or NULL with the cycles reported;
 * sl_draft_order keeps the live nodes. */
uint32_t *sl_draft_sort(struct sl_draft *draft);
void sl_draft_order(struct sl_draft *draft, const uint32_t *sorted);

/* unused.c: sl_find_mentions, before parameters are replaced, records which nodes refer to the parameters of --set;
 * sl_draft_unused, at the end, reports command-line options without effect. */
void sl_find_mentions(struct sl_reader *r, const struct sl_tree *root);
void sl_draft_unused(struct sl_draft *draft);

/* canonical.c: the graph as text with sorted keys and all values and connections resolved, which is itself an
 * equivalent graph. The description is omitted, because nothing depends on it. `origins`: with a comment at each
 * value. */
const char *sl_draft_canonical(struct sl_draft *draft, int origins);

#endif
