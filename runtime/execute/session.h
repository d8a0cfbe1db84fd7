/* session.h: the state of a run, shared by the parts of execute/ and report/.
 *
 *   session.c    opening: plugins, graph, constants, layout; closing
 *   slot.c       one slot: its memory, argument structs, and running one slice through the graph
 *   deliver.c    a finished slice: sinks, digests, callbacks, in input order
 *   run.c        threads, source, order of slices, statistics
 */
#ifndef SL_SESSION_H
#define SL_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/backend.h"
#include "execute/layout.h"
#include "report/digest.h"
#include "report/json.h"

/* What a node's services point back to. */
struct sl_node_context {
  struct sl_session *session;
  uint32_t node;
  struct sl_services services;
};

/* A constant's array, by storage index. */
struct sl_array {
  void *values;
  uint64_t count, bytes;
};

/* Input of a slice: one block that holds all source fields (offsets from the layout), and the events. */
struct sl_input {
  unsigned char *block;
  struct sl_event *events;
  void *source_args;
  uint32_t event_count;
  uint64_t progress_done, progress_total;
};

/* A pointer in an argument struct that depends on the slice's input block and first event. */
struct sl_patch {
  void **pointer;
  uint64_t offset, event_stride_bytes;
};

struct sl_slot {
  struct sl_session *session;
  pthread_t thread;
  uint32_t index;
  int started;
  uint64_t ticket; /* of the slice that it runs: slices deliver in the order of their tickets */
  unsigned char *arena;
  void **storage;        /* pointer of each storage, NULL for inputs */
  unsigned char *arguments;
  void **args;           /* per node */
  void **empty_args;     /* per node, sinks only: as args, for an event with an error */
  struct sl_patch *patches;
  uint32_t patch_count;
  struct sl_launch *launches; /* per node */
  struct sl_stream stream;
  uint32_t event_count;  /* of the part that runs; what the kernels see */
  uint64_t *errors;
  uint32_t *used, *used_max;
  struct sl_input input; /* its own, where slices are not kept */
  uint64_t *node_ns, *node_events, *node_calls;
  uint64_t graph_ns, retries, slices;
};

struct sl_session {
  struct sl_options options;
  struct sl_diagnostics *diagnostics;
  struct sl_registry registry;
  struct sl_graph *graph;
  struct sl_layout *layout;
  const struct sl_backend *backend;
  struct sl_node_context *contexts; /* per node */
  struct sl_array *arrays;          /* constants, per storage */
  void **states;                    /* sources and sinks, per node */
  uint8_t *opened;                  /* per node */
  struct sl_slot *slots;
  uint32_t slot_count, slice_events;
  unsigned char *zeros; /* what an event with an error has in every field */

  pthread_mutex_t source_lock;
  uint64_t next_ticket, events_read;
  int source_ended, source_status;
  uint64_t source_ns;

  pthread_mutex_t turn_lock;
  pthread_cond_t turn_changed;
  uint64_t turn;         /* the ticket whose results come next */
  uint64_t failed_ticket; /* slices from here on are not delivered */
  atomic_int status; /* of the earliest failure so far */
  atomic_int stopped;

  struct sl_input *kept; /* with repeat: all slices */
  uint64_t kept_count, kept_turns; /* turns: executions of kept slices in this phase */
  atomic_uint_fast64_t next_kept;
  int delivering; /* 0 in the repeats */

  struct sl_output_digest *digests; /* per output */
  uint64_t *output_items;
  struct sl_output_view *views;     /* of the part being delivered, and their field pointers */
  const void **view_pointers;
  uint64_t *used_max, *overflows;   /* per used word */
  uint64_t begin_ns, last_progress_ns, delivered_events, error_events;
  char **sink_json, **sink_lines;   /* per node */
  struct sl_summary summary;
  struct sl_node_summary *node_summaries;
  uint32_t *kernel_nodes; /* per node summary */
  struct sl_output_summary *output_summaries;
  struct sl_budget_summary *budget_summaries;
  uint32_t *budget_words; /* per budget summary */
};

uint64_t sl_now_ns(void);

/* slot.c */
int sl_slot_open(struct sl_session *s, struct sl_slot *slot, uint32_t index);
void sl_slot_close(struct sl_slot *slot);
int sl_input_open(struct sl_session *s, struct sl_input *input);
void sl_input_close(struct sl_session *s, struct sl_input *input);
/* Runs the events of an input through the graph, in parts where it must, and delivers each part. */
int sl_slot_execute(struct sl_slot *slot, struct sl_input *input);

/* run.c: blocks until all earlier slices are delivered; an error where one of them failed. */
int sl_wait_for_turn(struct sl_slot *slot);

/* deliver.c: one slot at a time, in its turn. */
int sl_deliver(struct sl_slot *slot, const struct sl_input *input, uint32_t first, uint32_t count, int empty);
/* Ends the sinks and keeps what they report. */
int sl_finish_sinks(struct sl_session *s);

/* services.c: what plugins get; and the constants, which need them. */
void sl_services_open(struct sl_session *s, uint32_t node);
int sl_constants_make(struct sl_session *s);
int sl_properties_check(struct sl_session *s);

#endif
