/* stages.h: the stages of sl_graph_read, in the order in which graph.c calls them. Each reports all the errors that it
 * finds and goes on; a later stage skips what an earlier one refused. */
#ifndef SL_STAGES_H
#define SL_STAGES_H

#include "graph/yaml_tree.h"

/* ---- documents: trees of YAML values, until they are merged into one, `root`, with all sections present */

/* shape.c: refuses keys and kinds of values that no graph has. What is refused is gone from the tree. */
void sl_shape_check(struct sl_reader *r, struct sl_tree *document);
int sl_is_name(const char *text); /* [A-Za-z_][A-Za-z0-9_]* */

/* load.c: reads the graph's file and its includes, each merged into `root` in order. */
void sl_load(struct sl_reader *r, struct sl_tree *root);
/* The document of one file alone, or NULL with the error reported. */
struct sl_tree *sl_load_document(struct sl_reader *r, const char *path);

/* merge.c */
struct sl_tree *sl_merge_root(struct sl_reader *r); /* a document with its sections empty */
void sl_merge(struct sl_reader *r, struct sl_tree *root, const struct sl_tree *document);
/* The map of a node's block sizes by kernel, made if there is none. A number for all kernels that was there before goes
 * on for those that the map does not name: it stands under SL_BLOCK_ALL, which no kernel's name can be. */
#define SL_BLOCK_ALL "(all)"
struct sl_tree *sl_block_map(struct sl_reader *r, struct sl_tree *node, struct sl_mark mark);

/* overrides.c: --use, then, after the choice of a source, --set. */
void sl_apply_uses(struct sl_reader *r, struct sl_tree *root);
void sl_apply_sets(struct sl_reader *r, struct sl_tree *root);
void sl_change_use(struct sl_reader *r, struct sl_tree *root, const char *node, struct sl_tree *use);

/* plugins.c: opens the plugins that the nodes of `root` name; one entry of the registry; all of them. Once those that
 * the graph needs are there, their open ports are expanded. */
void sl_load_named_plugins(struct sl_reader *r, const struct sl_tree *root);
void sl_load_plugin(struct sl_reader *r, size_t index);
void sl_load_all_plugins(struct sl_reader *r);
void sl_expand_plugins(struct sl_reader *r);

/* input.c: gives a source node that cannot read the input an algorithm that can. */
void sl_choose_source(struct sl_reader *r, struct sl_tree *root);

/* parameters.c: ${name} in all values of `root`. */
void sl_substitute_parameters(struct sl_reader *r, struct sl_tree *root);

/* ---- the draft of a graph: nodes with their algorithms, and the trees that describe them */

struct sl_draft_node {
  struct sl_tree *tree; /* of the node */
  struct sl_mark mark;
  uint32_t lists_given;   /* it has `events` */
  uint32_t lists_unknown; /* after an error: nothing follows from its list */
};

struct sl_draft {
  struct sl_reader *reader;
  struct sl_tree *root;
  struct sl_graph *graph;
  struct sl_draft_node *nodes; /* beside graph->nodes */
  uint32_t unknown_algorithms; /* nodes whose algorithm was not found: what they offer is unknown */
};

/* nodes.c: names, algorithms and block sizes. An error only where there are too many nodes to go on. */
int sl_draft_nodes(struct sl_draft *draft);
/* A node by name, or SL_NONE. */
int32_t sl_draft_find(const struct sl_draft *draft, const char *name);
/* The nearest name of a node, as a hint. */
const char *sl_draft_guess_node(struct sl_draft *draft, const char *name);
/* A member of that kind and name, or SL_NONE. */
int32_t sl_member_find(const struct sl_algorithm *algorithm, uint32_t kind, const char *name);
/* Says that the algorithm has no such property, input...; a note where the value was meant for another algorithm. */
void sl_draft_unknown_member(struct sl_draft *draft, const struct sl_node *node, uint32_t kind,
                             const struct sl_entry *entry, const char *name);

/* properties.c: the values of all properties, from defaults, `set` and `budgets`. */
void sl_draft_properties(struct sl_draft *draft);

/* ports.c: finds the port that `text` (NODE or NODE.PORT) names. `collection`: what it should be, or NULL. `user`: the
 * node that asks, or NULL. 1 if found; else 0, with the error reported unless an earlier one explains it. */
int sl_port_find(struct sl_draft *draft, const struct sl_tree *text, const char *user,
                 const struct sl_collection *collection, const char *wanted_by, struct sl_port *port);
/* The node of that name, if it has outputs; else SL_NONE, with the error reported unless an earlier one explains it. */
int32_t sl_node_find(struct sl_draft *draft, const struct sl_tree *text, const char *name, const char *user,
                     const char *wanted_by);
const struct sl_member *sl_port_member(const struct sl_graph *graph, struct sl_port port);
/* "node.port" */
const char *sl_port_name(struct sl_draft *draft, struct sl_port port);
/* Compares layouts; 0 with the error reported where they differ. */
int sl_port_fits(struct sl_draft *draft, struct sl_mark mark, const struct sl_node *user, uint32_t member,
                 struct sl_port port);

/* links.c: which nodes each node needs (for its inputs and event lists), or is needed by; those of node i are
 * nodes[first[i]] up to nodes[first[i + 1]]. */
struct sl_links {
  uint32_t *first, *nodes;
};
enum { SL_LINKS_NEEDED, SL_LINKS_USERS };
struct sl_links sl_links_new(const struct sl_draft *draft, int direction);
/* Marks all nodes that are reached from `start`, itself too, with `stamp`. `stack` has room for all nodes. */
void sl_links_reach(const struct sl_links *links, uint32_t start, uint32_t stamp, uint32_t *marks, uint32_t *stack);

/* lists.c: event lists as given; later, on a graph without cycles, inherited ones. */
void sl_draft_lists(struct sl_draft *draft);
void sl_draft_inherit_lists(struct sl_draft *draft, const uint32_t *sorted);

/* wiring.c: inputs as given, then those that only one port can satisfy, then list ports that take all. */
void sl_draft_wiring(struct sl_draft *draft);

/* Is it `all`, which stands for whatever there is? */
int sl_says_all(const struct sl_tree *text);

/* references.c: the fields that a node's `set` refers to, which become inputs; its inputs are there. */
void sl_draft_references(struct sl_draft *draft, uint32_t index);

/* outputs.c: the source and the outputs. An output is named for its node, if that has no other one. */
const char *sl_output_name(struct sl_draft *draft, struct sl_port port);
void sl_draft_source(struct sl_draft *draft);
void sl_draft_outputs(struct sl_draft *draft);

/* families.c: per node, the number of its family from 1; 0: no other node is of its family, or it has none. */
uint32_t *sl_draft_families(struct sl_draft *draft);

/* order.c: sl_draft_sort gives all nodes, inputs before users, or NULL with the cycles reported; sl_draft_order keeps
 * those that are live. */
uint32_t *sl_draft_sort(struct sl_draft *draft);
void sl_draft_order(struct sl_draft *draft, const uint32_t *sorted);

/* unused.c: before parameters are put in, who refers to those that --set names; at the end, what the command line gave
 * and has no effect. */
void sl_find_mentions(struct sl_reader *r, const struct sl_tree *root);
void sl_draft_unused(struct sl_draft *draft);

/* canonical.c: the graph as text: sorted keys, all values and connections resolved. Itself a graph that means the
 * same. The description is left out, since nothing depends on it. `origins`: with a comment at each value. */
const char *sl_draft_canonical(struct sl_draft *draft, int origins);

#endif
