/* graph.h: a checked graph. Made from YAML by sl_graph_read; everything that can be wrong without running is reported
 * here, all errors at once, with file:line:column, the source line and the nearest right name. */
#ifndef SL_GRAPH_H
#define SL_GRAPH_H

#include "base/diagnostics.h"
#include "plugin/registry.h"

enum { SL_NONE = -1 };

/* One end of a connection: member `member` of node `node`; node SL_NONE: not connected. */
struct sl_port {
  int32_t node;
  int32_t member;
};

/* What feeds an input: one port, or none; a list port, any number, each with a name. */
struct sl_wiring {
  struct sl_port *ports;
  const char **names; /* list ports only */
  uint32_t count;
  uint32_t chosen; /* not given: the only port that fits; of a list port, all that fit */
};

/* A property's value; strings are owned by the graph. */
struct sl_value {
  double number;
  const char *text;       /* type string only */
  uint64_t integer;       /* types u32, u64, bool and enumeration: the same number; exact, which a double is not beyond
                             2^53 */
  struct sl_value *items; /* of an array; NULL: it is none */
};

struct sl_node {
  const char *name;
  const char *use;           /* "plugin.algorithm" */
  struct sl_place place;     /* of the node's name */
  struct sl_place use_place; /* of its algorithm */
  const struct sl_algorithm *algorithm;
  const struct sl_plugin_entry *plugin;
  uint32_t block_threads;         /* from `block:`, or the algorithm's default */
  struct sl_kernel_block *blocks; /* the same for each of the algorithm's `blocks` */
  uint32_t shared;                /* `set: { variant: shared }`: do not use run_tuned */
  uint32_t live;                  /* some output, sink or check depends on it */
  struct sl_wiring *inputs;       /* per member of the algorithm; IN members only */
  struct sl_value *values;        /* per member; PROPERTY members only */
  struct sl_place *places;        /* where each value was given; all zero for defaults */
  uint32_t *text_begins; /* per member: characters from there to a string that stands there as it is, and 1; else 0 */
  struct sl_port *lists; /* event lists it runs on, sorted, none twice; empty: all events */
  uint32_t list_count;
  uint32_t any_list; /* of several lists: on events that are on any of them; else on those that are on all */
  uint32_t order;    /* position in `order` */
  uint32_t together; /* neighbours in `order` with the same number, not 0, may run in one launch: a family */
};

struct sl_output {
  struct sl_port port;
  const char *name; /* "tracks" or "tracks.port" where the node has several */
};

struct sl_graph {
  struct sl_node *nodes; /* in the order of the document */
  uint32_t node_count;
  uint32_t *order; /* execution order: indices of live nodes; inputs come before users, else document order */
  uint32_t order_count;
  struct sl_output *outputs;
  uint32_t output_count;
  uint32_t source;          /* the source node; there is exactly one */
  uint32_t slice_events;    /* budgets.events, 0 if not given */
  const char *const *files; /* paths of the files that it was read from */
  uint32_t file_count;
  const char *description;
  const char *text;              /* canonical text of the merged graph: the digest's input */
  const char *text_with_origins; /* the same with comments that say where each value came from; NULL: not asked for */
  void *storage;                 /* owns all of it */
};

struct sl_override {
  const char *key;   /* NODE.PROPERTY, PARAMETER, or NODE for --use */
  const char *value; /* YAML scalar, or PLUGIN.ALGORITHM */
};

struct sl_graph_request {
  const char *path; /* file, used in messages */
  const char *text; /* if not NULL, the document itself */
  size_t text_bytes;
  const char *const *with_paths; /* files that are merged after it, NULL-terminated, or NULL */
  const char *target;
  struct sl_registry *registry;          /* plugins that the graph needs are loaded */
  const struct sl_override *sets, *uses; /* in the order of the command line */
  uint32_t set_count, use_count;
  uint32_t origins; /* the graph's text_with_origins is wanted */
  /* The first bytes of the first input, or input_name NULL where there is none: if the graph's source reads no files, a
   * source that recognises them takes its place, unless --use says which one. */
  const char *input_name;
  const unsigned char *input_bytes;
  size_t input_count;
  int input_is_pipe; /* further bytes may follow, also where there are none */
  int is_fed;        /* events come from the program's memory, with no input: the source is one that takes a feed */
};

/* Reads and checks. On success *graph is to be freed with sl_graph_free. On failure the reasons are in `d`. */
int sl_graph_read(const struct sl_graph_request *request, struct sl_diagnostics *d, struct sl_graph **graph);
void sl_graph_free(struct sl_graph *graph);

/* Writes the property values of a node and the hash of its name into its argument struct (args_size bytes, zeroed by
 * the caller), and where the ports of its open ports are; the struct then stays where it is. */
void sl_graph_fill_properties(const struct sl_node *node, void *args);

#endif
