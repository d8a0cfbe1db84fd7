/* setup.h: all constant data of a run: options, graph, layout, devices, constants, node states. Filled when the session
 * is opened, then read by the executor, results and observers.
 */
#ifndef SL_SETUP_H
#define SL_SETUP_H

#include "backend/backend.h"
#include "base/output.h"
#include "base/workers.h"
#include "layout/layout.h"

#include <stdatomic.h>

struct sl_conditions;
struct sl_files;
struct sl_keep;
struct sl_memory_check;

enum { SL_DEVICES_MAX = 32 };

/* A device of the run: one of those named by --device, all of one backend. */
struct sl_device_state {
  struct sl_device *device;       /* device of the backend */
  uint32_t number;                /* 1 in "cuda:1" */
  uint32_t index;                 /* index in sl_setup.devices */
  int node;                       /* NUMA node of the device; negative: unknown or any */
  char name[32];                  /* "cuda:1" */
  atomic_uint_fast64_t next_kept; /* later passes: next kept slice in the memory near this device */
  int is_lost;                    /* a call has failed; the device runs no more slices; protected by the order lock */
};

/* Context of the services of a node. */
struct sl_node_context {
  struct sl_setup *setup;
  uint32_t node;
  _Atomic uint32_t errors; /* number of errors that the node has reported */
  struct sl_services services;
};

/* An array of a constant or a table, with a copy on each device. On the host the copies are the array itself. */
struct sl_array {
  void *values, *device_values[SL_DEVICES_MAX];
  uint64_t count, bytes;
};

/* Result of `prepare`: the argument struct of the node, and its tables by member. */
struct sl_prepared {
  unsigned char *args;
  struct sl_array *tables;
};

struct sl_setup {
  struct sl_options options;
  struct sl_diagnostics *diagnostics;
  struct sl_registry registry;
  struct sl_graph *graph;
  struct sl_layout *layout;
  const struct sl_backend *backend;
  struct sl_device_state devices[SL_DEVICES_MAX];
  uint32_t device_count;
  uint32_t families; /* nodes of a family run in one launch */
  uint32_t branches; /* maximum number of branches of steps; 0: not set */
  uint32_t slot_count, slice_events, source_threads, repeat;
  uint32_t splits_runs;                       /* parts of slices end where the run number changes */
  uint32_t replan;                            /* SL_REPLAN_...; OFF with --guard and --race */
  uint64_t arena_bytes_max;                   /* of a slot: its share of --memory, or of the available memory */
  struct sl_node_context **contexts;          /* per node; those of the source and of sinks keep their address when the
                                               * configuration changes */
  struct sl_array *arrays;                    /* of constants, per storage */
  struct sl_prepared *prepared;               /* per node; empty where the algorithm has no `prepare` */
  struct sl_conditions *conditions;           /* NULL: no constant depends on events */
  void **states;                              /* of the source and sinks, per node */
  uint8_t *opened;                            /* per node: its state is open */
  uint64_t first_record;                      /* number of the first record of the input, for record sources */
  const char *closing_path;                   /* followed folder: the file that the source closes; NULL: none */
  void *source_args;                          /* argument struct for the source's `open`: properties only */
  uint8_t *source_fields;                     /* fields that the source fills in all configurations (layout.h); NULL:
                                               * fields that the graph reads */
  struct sl_graph *source_graph;              /* owner of the texts in `source_args` if the configuration has changed */
  struct sl_keep *keep;                       /* options.keep_device: blocks of memory for batches; NULL: not set */
  unsigned char *zeros;                       /* the fields of an event with an error */
  struct sl_workers *workers;                 /* threads that share the work of the source */
  uint32_t is_short_reported;                 /* missing worker threads were reported */
  const struct sl_memory_check *memory_check; /* --guard or --race; NULL: neither */
  const struct sl_algorithm *race_algorithm;  /* --race: the only algorithm that is checked; NULL: all are */
  const struct sl_output_calls *output_calls; /* calls that sinks use to write files, and the files of the run */
  struct sl_files *files;
  const struct sl_record_calls *record_calls; /* reader of record sources */
  uint32_t is_received;                       /* inputs are zmq:ENDPOINT: the source reads their merged stream */
  const char *const *received_paths, *const *received_names; /* its path and its name in messages, or NULL */
  const char *first_input; /* name of the first input, or NULL; of a followed folder the path of its first file */
  const char *input_path;  /* the first input and its first bytes, until all nodes are prepared */
  const unsigned char *input_bytes;
  uint64_t input_count;
  uint64_t open_ns, begin_ns; /* time when opening began, and when the run began */
};

/* Maximum number of branches for the layout. */
uint32_t sl_setup_branches(const struct sl_setup *s);
/* Factor on the size of blocks with one event each: sl_launch.widen. */
uint32_t sl_setup_widen(const struct sl_setup *s, struct sl_device *device);
/* Reports that `what` failed, unless an error was reported since there were `errors` of them. Does nothing if
 * `status` is not a failure. Returns `status`. */
int sl_report_failure(const struct sl_setup *s, int status, size_t errors, const char *what);
/* Reports that a function of a node failed, as "`what`: STATUS: `reason`", unless the node has reported an error
 * itself or the run was stopped. `reason` may be NULL. */
void sl_report_node_failure(const struct sl_setup *s, uint32_t node, int status, const char *what, const char *reason);

#endif
