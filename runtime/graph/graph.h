/* graph.h: a checked graph, made from YAML by sl_graph_read. All errors that can be detected without a run are reported
 * together, with file:line:column, the source line and the nearest valid name. */
#ifndef SL_GRAPH_H
#define SL_GRAPH_H

#include "base/diagnostics.h"
#include "document/request.h"
#include "plugin/registry.h"

#include <limits.h>

enum { SL_NONE = -1 };

/* One end of a connection: member `member` of node `node`. node SL_NONE: not connected. */
struct sl_port {
  int32_t node;
  int32_t member;
};

/* The ports that feed an input: one or none; a list port: any number, each with a name. */
struct sl_wiring {
  struct sl_port *ports;
  const char **names; /* list ports only */
  uint32_t count;
  uint32_t
      is_automatic; /* not set in the graph: connected automatically to the only matching port; of a list port: `all` */
};

/* Value of a property; strings are owned by the graph. */
struct sl_value {
  double number;
  const char *text;       /* type string only */
  uint64_t integer;       /* types u32, u64, bool and enumeration: the exact value (a double is exact only up to
                           * 2^53) */
  struct sl_value *items; /* values of an array; NULL: not an array */
  const char *parts; /* a string with ${conditions}: the strings between them, each with its terminating zero; NULL:
                      * another value. `text` is the string with the path that sl_graph_set_conditions was given */
  uint32_t part_count;
};

/* Section `conditions`: files of constants for each value of an identity field of events, event.run. */
struct sl_graph_conditions {
  const char *files; /* the pattern, PREFIX%0DIGITSdSUFFIX; NULL: the graph has no conditions */
  const char *prefix, *suffix;
  uint32_t digits;             /* at least this many, with leading zeros */
  struct sl_location location; /* of the pattern */
};

struct sl_node {
  const char *name;
  const char *use;                      /* "plugin.algorithm" */
  struct sl_location location;          /* location of the node's name */
  struct sl_location use_location;      /* location of its algorithm's name */
  const struct sl_algorithm *algorithm; /* of the plugin, or a copy with the sizes of dimensions of its ports */
  const struct sl_plugin_entry *plugin;
  uint32_t block_threads;              /* from `block:`, or the algorithm's default */
  uint32_t has_block;                  /* `block:` sets a size */
  struct sl_kernel_block *blocks;      /* block size of each of the algorithm's `blocks` */
  uint32_t shared;                     /* `set: { variant: shared }`: do not use run_tuned */
  uint32_t live;                       /* an output or a sink depends on it */
  struct sl_wiring *inputs;            /* per member of the algorithm; IN members only */
  struct sl_value *values;             /* per member; PROPERTY members only */
  struct sl_location *value_locations; /* location of each value that was set; all zero for defaults */
  uint32_t *text_offsets; /* per member: for a string written without escapes, 1 + number of characters before its text;
                           * else 0 */
  const struct sl_program *program; /* of its expression; NULL: it has none */
  struct sl_port *lists;            /* event lists that it runs on, sorted, unique; empty: all events */
  uint32_t list_count;
  uint32_t any_list;     /* 1: runs on events that are on any of the lists; 0: on events that are on all */
  uint32_t order;        /* position in `order` */
  uint32_t launch_group; /* adjacent nodes in `order` with the same number, not 0, may run in one launch: a family */
};

struct sl_output {
  struct sl_port port;
  const char *name; /* "pulses", or "pulses.port" if the node has several outputs */
};

struct sl_graph {
  struct sl_node *nodes; /* in document order */
  uint32_t node_count;
  uint32_t *order; /* execution order: indices of live nodes; producers before users, otherwise document order */
  uint32_t order_count;
  struct sl_output *outputs;
  uint32_t output_count;
  uint32_t source;       /* the source node; there is exactly one */
  uint32_t slice_events; /* budgets.events; 0: not set */
  struct sl_graph_conditions conditions;
  const char *const *files; /* paths of the files read */
  uint32_t file_count;
  const char *description;
  const char *text;              /* canonical text of the merged graph, input of the digest */
  const char *text_with_origins; /* canonical text with comments that name the origin of each value; NULL: not
                                  * requested */
  void *storage;                 /* owns all memory of the graph */
};

/* Reads and checks a graph. On success, *graph must be freed with sl_graph_free. On failure the errors are in `d`. */
int sl_graph_read(const struct sl_graph_request *request, struct sl_diagnostics *d, struct sl_graph **graph);
void sl_graph_free(struct sl_graph *graph);
/* Returns the index of the node with this name, or SL_NONE. */
int32_t sl_graph_node_index(const struct sl_graph *graph, const char *name);

/* Writes the path of the conditions of a value. Returns 0 if it is too long. */
int sl_graph_conditions_path(const struct sl_graph *graph, uint32_t value, char path[PATH_MAX]);
/* Puts a path of sl_graph_conditions_path into all strings with ${conditions}. */
void sl_graph_set_conditions(struct sl_graph *graph, const char *path);

/* Writes the node's property values, the hash of its name, the sizes of dimensions, and the tables of its open ports
 * into its argument struct (args_size bytes, zeroed by the caller). The struct must not move afterwards. */
void sl_graph_fill_properties(const struct sl_node *node, void *args);

#endif
