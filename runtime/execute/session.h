/* session.h: the state of a run, shared by the parts of execute/. Others see it through inspect.h and watch.h.
 *
 *   session.c    opening: plugins, graph, constants, layout; closing
 *   slot.c       one slot: its memory and argument structs (slot.h)
 *   streams.c    the streams of a slot's branches
 *   marks.c      time stamps of a device
 *   family.c     families of nodes in one launch, and what is cleared before a step
 *   execute.c    running one slice through the graph, in parts where it must
 *   budgets.c    what is learned where an output overflowed
 *   report_file.c  the file of --json, from the start of the run on
 *   files.c      which files are read and written, and what sinks write with
 *   event_errors.c  events with an error, by node and reason
 *   deliver.c    a finished part of a slice: sinks, digests, callbacks, in input order
 *   run.c        threads, source, slices through slots
 *   turns.c      whose results come next; slices that a lost device left (turns.h)
 *   devices.c    which devices a run goes over (devices.h)
 *   prepare.c    what nodes compute once, before the first event
 *   inspect.c    what others may see of a session
 *   source.c     slices from the source
 *   feed.c       events from the memory of the program (feed.h)
 *   guard.c      --guard: memory of its own for each field; validity.c: can what was written be valid?
 *   race.c       --race: places, names and rights of memory
 *   watch.c      a look at a run, step by step
 *   identity.c   what the run is, for sinks that write it down
 *   statistics.c sums over slots, for the summary
 *   totals.c     sums over the run of what kernels count
 *   ticker.c     what is done every second
 *   metrics.c    how the run goes, for --metrics
 *   traffic.c    bytes that nodes read and write
 *   times.c      where the time goes
 *   trace.c      what ran when, for --trace
 */
#ifndef SL_SESSION_H
#define SL_SESSION_H

#include "backend/backend.h"
#include "base/file_identity.h"
#include "base/input.h"
#include "base/json.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/thread.h"
#include "base/workers.h"
#include "execute/devices.h"
#include "execute/digest.h"
#include "execute/feed.h"
#include "layout/layout.h"
#include "execute/slot.h"
#include "execute/turns.h"
#include "execute/watch.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

/* What a node's services point back to. */
struct sl_node_context {
  struct sl_session *session;
  uint32_t node;
  _Atomic uint32_t errors; /* that the node has reported */
  struct sl_services services;
};

/* A constant's array, by storage index, and its copy on each device; where devices have no memory of their own, these
 * are the array itself. */
struct sl_array {
  void *values, *device_values[SL_DEVICES_MAX];
  uint64_t count, bytes;
};

/* What a node's `prepare` computed: its argument struct, and its tables, per member. */
struct sl_prepared {
  unsigned char *args;
  struct sl_array *tables;
};

/* Sums over slots for the file of --metrics, changed by a slot in its turn only. */
enum { SL_METRICS_EDGES = 15 };
struct sl_metrics {
  int is_open;
  uint64_t *node_ns, *node_events; /* per node summary */
  uint64_t *times;                 /* per row, then per node */
  uint64_t *used_max;              /* per budget summary */
  uint64_t slices[SL_METRICS_EDGES + 1], slice_ns, retries;
  uint64_t device_slices[SL_DEVICES_MAX];
  uint64_t written_ns, written_events; /* when the file was last written, and how many events there were */
};

/* The source, and what it has given: one slot at a time reads. */
struct sl_reading {
  pthread_mutex_t lock;
  void *args; /* properties only */
  struct sl_workers *workers;
  uint32_t is_short_told; /* of workers that could not be started */
  uint32_t idle_calls;    /* of the source, without an event since */
  uint64_t idle_ns;       /* that they took */
  uint64_t next_ticket, events, ns;
  int ended, status;
  uint64_t room_bytes;              /* with repeat: that were left for slices to keep when it was last asked */
  struct sl_input *kept;            /* with repeat: all slices */
  uint64_t kept_count, kept_passes; /* passes over the kept slices in this stretch */
  atomic_uint_fast64_t next_kept;   /* in the first pass */
};

enum { SL_STOPPED = -1 };

/* Who looks on: watch.h. NULL: nobody. */
struct sl_watch {
  sl_look *look;
  void *context;
};

/* What the run is, for sinks that write it down. */
struct sl_identity {
  struct sl_run run;
  char version[64]; /* run.sluice_version */
  struct sl_run_output *outputs;
  char **plugins;
};

/* TOTAL fields of all outputs, summed over the run, and where those of each field are. */
struct sl_totals {
  uint64_t *values;
  struct sl_total_summary *summaries;
  uint32_t count;
};

/* What becomes of the results of a part, changed by a slot in its turn only. */
struct sl_delivery {
  pthread_mutex_t lock; /* held while sinks, callbacks and the metrics are at work */
  int active;           /* 0 in the repeats */
  uint32_t wants_digests;
  uint64_t *digests;            /* per output, of events so far */
  struct sl_output_view *views; /* of the part being delivered, and their field pointers */
  const void **view_pointers;
  uint64_t events, error_events, last_progress_ns;
  char **sink_json, **sink_lines; /* per node, when the sinks have finished */
};

/* What overflows have taught: budgets.c. `parts` and `calm` with the lock of the turns held, the rest by a slot in its
 * turn. */
struct sl_learned {
  uint32_t parts;               /* of the largest slice that slices are closed at; 0 and 1: all of it */
  uint32_t calm;                /* slices in a row for which fewer parts would have done */
  uint64_t *window, *slice;     /* per used word: of the slice, had none been closed earlier; of the one delivered */
  uint64_t *wanted_max;         /* the most that any window wanted */
  uint64_t *raw, window_events; /* per bound of the source, in the window */
  uint32_t is_full, is_over;    /* the window ends with this slice, or within it */
  uint32_t is_ever_over;
};

/* Events with an error, by node and reason, in the order in which reasons came up; changed by a slot in its turn only.
 */
struct sl_event_errors {
  struct sl_error_summary *summaries;
  uint32_t count;
};

/* Whose budget it is. */
struct sl_budget_place {
  uint32_t word, node; /* `used` word */
  const struct sl_capacity *capacity;
};

/* Sums over slots and what is made of them: statistics.c. */
struct sl_statistics {
  struct sl_summary summary;
  struct sl_node_summary *nodes;
  uint64_t *stretched_ns; /* per node summary: before the stretch under way */
  uint32_t *kernel_nodes; /* per node summary */
  struct sl_output_summary *outputs;
  struct sl_budget_summary *budgets;
  struct sl_time_summary *times;
  struct sl_device_summary devices[SL_DEVICES_MAX];
  struct sl_budget_place *budget_places; /* per budget summary */
  uint64_t *used_max, *overflows;        /* per used word */
};

/* The time in which kernels run on the host, in one slot or several: what the rate of the graph is over where no repeat
 * is timed. */
struct sl_graph_clock {
  pthread_mutex_t lock;
  uint32_t slots; /* that are in the graph now */
  uint64_t since_ns, ns;
};

struct sl_trace {
  struct sl_output *file;
  pthread_mutex_t lock;
};

/* A file that the run reads or writes: what for, as words in a message. */
struct sl_file {
  struct sl_file_identity identity;
  char *path;         /* as it is named */
  char what[160];     /* it is, behind a comma */
  const char *option; /* that names it, or the property of `node`; NULL of a file that is read */
  int32_t node;       /* whose property names it, or SL_NONE */
  uint32_t member;    /* that property */
  int is_for_sink;    /* of -o: for the first sink that opens it */
  int is_open;        /* a sink writes it */
};
struct sl_files {
  struct sl_file *at;
  uint32_t count, capacity;
  int writes_stdout;
  int output_is_taken; /* a sink writes what -o names, or into it */
  char **found; /* paths of graph files, those of the options: the graph, then those merged after it, then NULL */
  struct sl_paths inputs; /* those of the options, patterns expanded */
  char *directory;        /* the working directory when the session was opened; NULL: unknown */
  struct sl_begin begin;  /* of the first input; a pipe is held until the source has opened it */
};

/* The file of --json, and when the run started. */
struct sl_report_file {
  struct sl_output *file;
  char started[32];
  int is_refused; /* the run did not begin, since it would not do what was asked for */
};

struct sl_ticker {
  struct sl_thread thread;
  pthread_cond_t wake;
  int ended;
  uint64_t ns; /* at work */
};

/* Parts of the opening, and how long each took. */
enum { SL_OPENING_GRAPH, SL_OPENING_PLAN, SL_OPENING_CONSTANTS, SL_OPENING_MEMORY, SL_OPENING_PARTS };
struct sl_opening {
  uint64_t begin_ns, since_ns, ns[SL_OPENING_PARTS];
};

/* A run: what it is made of, then its parts at work. Who shows a run sees it through inspect.h. */
struct sl_session {
  struct sl_options options;
  struct sl_diagnostics *diagnostics;
  struct sl_registry registry;
  struct sl_graph *graph;
  struct sl_layout *layout;
  const struct sl_algorithm *race_algorithm; /* --race: the one that is looked at; NULL: all are */
  const struct sl_backend *backend;
  struct sl_device_place devices[SL_DEVICES_MAX];
  uint32_t device_count;
  uint32_t families;                /* nodes of a family run together */
  uint32_t branches;                /* of steps that run side by side, at most; 0: nobody said */
  struct sl_node_context *contexts; /* per node */
  struct sl_array *arrays;          /* constants, per storage */
  struct sl_prepared *prepared;     /* per node; empty where the algorithm has no `prepare` */
  void **states;                    /* sources and sinks, per node */
  uint8_t *opened;                  /* per node */
  unsigned char *zeros;             /* what an event with an error has in every field */
  struct sl_slot *slots;
  uint32_t slot_count, slice_events, source_threads;
  uint64_t begin_ns; /* of the run */
  struct sl_opening opening;

  struct sl_reading reading;
  struct sl_turns turns;
  struct sl_watch watch;
  struct sl_identity identity;
  struct sl_totals totals;
  struct sl_delivery delivery;
  struct sl_learned learned;
  struct sl_event_errors errors, cuts;
  struct sl_statistics statistics;
  struct sl_metrics metrics;
  struct sl_trace trace;
  struct sl_graph_clock graph_clock;
  struct sl_files files;
  struct sl_report_file report;
  struct sl_ticker ticker;
};

/* times.c. By the slot's own thread, or by nobody else's while that one does not run. */
uint64_t sl_now_ns(void);
void sl_times_begin(struct sl_session *s);
void sl_times_end(struct sl_session *s, uint64_t end_ns);
/* The thread is at something else from now on; returns what it was at. */
uint32_t sl_time_enter(struct sl_slot *slot, uint32_t row);
/* The time so far is the row's that the thread is in, or that of these nodes, evenly. Returns now. */
uint64_t sl_time_settle(struct sl_slot *slot);
uint64_t sl_time_share_out(struct sl_slot *slot, const uint32_t *nodes, uint32_t node_count);
/* A part of the opening has ended; and all of them as spans of the trace. */
void sl_time_opened(struct sl_session *s, uint32_t part);
void sl_trace_opening(struct sl_session *s);
const char *sl_time_name(uint32_t row);
uint32_t sl_times_most(const struct sl_session *s); /* rows of the summary */
void sl_times_sum(struct sl_session *s, uint64_t wall_ns);

/* session.c: how many branches of steps the layout may have. */
uint32_t sl_session_branches(const struct sl_session *s);
/* session.c: nothing fails without a word. Where `status` is a failure and nobody has told one since there were
 * `errors` messages of errors, tells that `what` failed. Returns `status`. */
int sl_say_failure(struct sl_session *s, int status, size_t errors, const char *what);
/* Reports that a function of a node failed, as "`what`: STATUS: `reason`", unless the node has reported an error, which
 * is the cause, or the run was stopped. `reason` may be NULL. */
void sl_say_node_failure(struct sl_session *s, uint32_t n, int status, const char *what, const char *reason);

/* slot.c */
int sl_slot_open(struct sl_session *s, struct sl_slot *slot, uint32_t index);
void sl_slot_close(struct sl_slot *slot);
uint64_t sl_arena_bytes(const struct sl_session *s);                  /* of a slot's fields */
uint64_t sl_counters_bytes(const struct sl_session *s);               /* of a slot's error words and used words */
uint64_t sl_node_views_bytes(const struct sl_node *node);             /* of the views of a node's list ports */
int sl_tables_upload(struct sl_slot *slot, struct sl_flight *flight); /* after a patch; the kernels wait for it */
int sl_input_open(struct sl_session *s, const struct sl_device_place *place, struct sl_input *input);
void sl_input_close(struct sl_session *s, struct sl_input *input);

/* streams.c: `point` says what the next slice's kernels find their number of events at. `fork` comes after the counters
 * were cleared, `join` before the results are packed; around each step in between `await` and `reached`. With one
 * branch all do nothing. */
int sl_streams_open(struct sl_slot *slot);
void sl_streams_close(struct sl_slot *slot);
void sl_streams_point(struct sl_slot *slot, const uint32_t *event_count);
int sl_streams_fork(struct sl_slot *slot);
int sl_streams_join(struct sl_slot *slot);
int sl_step_await(struct sl_slot *slot, uint32_t step);
int sl_step_reached(struct sl_slot *slot, uint32_t step);
struct sl_stream *sl_step_stream(const struct sl_slot *slot, uint32_t step);

/* marks.c: time stamps before and after a step, and of a slice; what is done with them when the slice is there: time of
 * nodes, spans of a trace. `set_epoch`: from then on the device's marks have a time of the host. */
enum { SL_SLICE_STEPS_END, SL_SLICE_PACKED, SL_SLICE_UPLOAD_BEGIN, SL_SLICE_UPLOAD_END, SL_SLICE_MARKS };
int sl_marks_are_taken(const struct sl_session *s);
int sl_mark_before_step(struct sl_slot *slot, uint32_t flight, uint32_t step);
int sl_mark_after_step(struct sl_slot *slot, uint32_t flight, uint32_t step);
int sl_mark_slice(struct sl_slot *slot, uint32_t flight, uint32_t which);
int sl_marks_set_epoch(struct sl_slot *slot);
int sl_marks_count(struct sl_slot *slot, uint32_t flight, uint32_t count);
int sl_marks_trace(struct sl_slot *slot, uint32_t flight, uint32_t count);

/* family.c: how much the argument structs of all families take, and their places at the start of a flight's tables. */
uint64_t sl_families_bytes(const struct sl_session *s);
void sl_families_place(const struct sl_session *s, struct sl_flight *flight);
int sl_family_run(struct sl_slot *slot, const struct sl_flight *flight, const struct sl_step *step);
/* Clears what nodes do not write of events that are not on their lists, totals, and on a device the counters: what must
 * be clear before the step and was not before an earlier one. With a `note`, that byte gets the value; see
 * sl_backend.note. */
int sl_clears_open(struct sl_slot *slot);
void sl_clears_close(struct sl_slot *slot);
int sl_clears_run(struct sl_slot *slot, struct sl_stream *stream, uint32_t step, uint8_t *note, uint8_t value);

/* execute.c: `start` enqueues a whole slice where the backend runs beside the host; `finish` waits for it, or runs it,
 * in parts where it must, and delivers each part. */
int sl_flight_start(struct sl_slot *slot, uint32_t flight);
int sl_flight_finish(struct sl_slot *slot, uint32_t flight);

/* source.c: the next slice, of at most `events_max` events, of a source with that state: what its `fill` returned, or
 * SL_EPLUGIN, with the reason said, if it broke its promises. No event comes with 0, an error, or, where it may not
 * wait for one, 1. */
int sl_source_fill(struct sl_session *s, void *state, struct sl_input *input, uint32_t events_max, int may_wait,
                   struct sl_fill *fill);

/* watch.c: asks who looks on before a step; 0 where nobody does. */
int sl_watch_step(const struct sl_slot *slot, const struct sl_flight *flight, const struct sl_step *step,
                  uint32_t node);

/* files.c: has the options name the graph's files where they are found, and the inputs that patterns match. */
int sl_files_find(struct sl_session *s);
/* The path of a file to be written, relative to the working directory in which the session was opened: `path` itself,
 * or, if the program has changed its working directory since, an absolute path in `whole`. */
const char *sl_files_resolve(const struct sl_session *s, const char *path, char whole[PATH_MAX]);
/* files.c: enters the files that the options name, those of the graph and its plugins, and those that properties name,
 * and refuses what is two of them, or cannot be written; ends a file that was, so that none of a run that was stopped
 * looks complete; what sinks write with. */
int sl_files_check(struct sl_session *s);
int sl_files_check_graph(struct sl_session *s);
/* Where all sinks are open: does one take what -o gives? */
int sl_files_check_output(struct sl_session *s);
void sl_files_close(struct sl_session *s);
int sl_files_finish(const struct sl_session *s, struct sl_output *file);
extern const struct sl_output_calls sl_session_output;

/* ticker.c: from when the sinks are open until they finish. */
int sl_ticker_start(struct sl_session *s);
void sl_ticker_stop(struct sl_session *s);

/* race.c */
uint64_t sl_race_gap_bytes(void);
uint64_t sl_race_arena_bytes(const struct sl_session *s);
int sl_race_open(struct sl_slot *slot); /* places all storage of the arena */
void sl_race_mark_input(struct sl_session *s, const struct sl_input *input);
void sl_race_forget(struct sl_slot *slot, uint32_t step); /* what the step is about to write */
int sl_race_begin(struct sl_slot *slot, const struct sl_flight *flight, const uint32_t *nodes, uint32_t count);
int sl_race_tell(struct sl_session *s); /* SL_EPLUGIN if there is a finding */

/* execute.c: how many entries of an input field are filled. */
uint64_t sl_filled_entries(const struct sl_session *s, const struct sl_input *input, const struct sl_storage *storage);

/* guard.c */
int sl_guard_open(struct sl_slot *slot); /* all storage of the arena; SL_ENOMEM leaves it to sl_guard_close */
void sl_guard_close(struct sl_slot *slot);
void sl_guard_poison_input(const struct sl_session *s, struct sl_input *input); /* before the source fills it */
int sl_guard_check_input(const struct sl_session *s, const struct sl_input *input, const struct sl_fill *fill);
/* For AddressSanitizer, where present: what the source did not fill is out of bounds, or nothing is. */
void sl_guard_forbid_input(const struct sl_session *s, const struct sl_input *input);
void sl_guard_permit_input(const struct sl_session *s, const struct sl_input *input);
void sl_guard_poison(struct sl_slot *slot, uint32_t step);
int sl_guard_check(struct sl_slot *slot, const struct sl_flight *flight, uint32_t node);
int sl_guard_check_output(struct sl_session *s, const struct sl_output_view *v, const struct sl_batch *batch);
uint64_t sl_guard_bytes(const struct sl_session *s); /* of a slot's fields with all that is around them */

/* fit.c: does the run fit into the memory that there is? May make the slices smaller, and so the layout another one.
 * SL_ENOMEM, with a message. */
int sl_fit(struct sl_session *s);
/* Is there memory for one more slice that --repeat keeps? SL_ENOMEM, without a message. */
int sl_fit_kept(struct sl_session *s);
/* Reports that memory ran out while slices were kept. */
void sl_fit_report_kept(struct sl_session *s);

/* pack.c: backends with a memory of their own */
uint64_t sl_pack_output_bytes(const struct sl_session *s); /* host memory that the results of a slice may need */
int sl_pack_open(struct sl_slot *slot);
void sl_pack_close(struct sl_slot *slot);
/* Tells the packing where offsets are for parts that begin at event `first` of the input. */
int sl_pack_point(struct sl_slot *slot, uint32_t k, uint32_t first);
int sl_pack_enqueue(struct sl_slot *slot, uint32_t flight);
void sl_pack_read(struct sl_slot *slot, uint32_t flight);

/* deliver.c: events [first, first + count) of the flight's input, in its turn. `empty`: they have an error, and no
 * items. */
int sl_deliver(struct sl_slot *slot, uint32_t flight, uint32_t first, uint32_t count, int empty);
/* Ends the sinks and keeps what they report. */
int sl_finish_sinks(struct sl_session *s);

/* budgets.c: a part of `count` events of the input wanted more of something than there is room for: how many events
 * should fit; or one did fit. */
uint32_t sl_budget_overflowed(struct sl_slot *slot, struct sl_input *input, uint32_t count, uint64_t used,
                              uint64_t capacity);
void sl_budget_fits(struct sl_slot *slot, uint32_t count);
uint32_t sl_budget_slice_events(struct sl_session *s); /* at most, of the next slice to be read */
int sl_budgets_open(struct sl_session *s);
void sl_budgets_close(struct sl_session *s);
/* A part that begins at event `first` of the input; `empty`: of events with an error. */
void sl_budgets_delivered(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty);
/* With what nothing would have overflowed. */
void sl_budget_advise(const struct sl_session *s, const struct sl_budget_place *place, struct sl_budget_summary *b);

/* event_errors.c: tells of an event with an error, and counts it. */
int sl_event_error_add(struct sl_session *s, const struct sl_input *input, uint32_t index);
/* The same of an event of which a kernel left out something, as `word` says. */
int sl_event_cut_add(struct sl_session *s, const struct sl_event *event, uint64_t word);
void sl_event_errors_close(struct sl_session *s);

/* identity.c: s->run; and the outputs' digests so far put into it. */
int sl_identity_open(struct sl_session *s);
void sl_identity_update(struct sl_session *s);
void sl_identity_close(struct sl_session *s);

/* totals.c: s->totals, after the identity. `add`: what a part of a slice counted for output `o`. */
int sl_totals_open(struct sl_session *s);
void sl_totals_add(struct sl_session *s, uint32_t o, const struct sl_output_view *view);
void sl_totals_close(struct sl_session *s);
/* The digest of an output so far: of its events one by one, or of its totals. */
uint64_t sl_session_output_digest(const struct sl_session *s, uint32_t o);

/* traffic.c: counts of a part that went well, and of the input of a slice; at the end, the bytes that a node read and
 * wrote; UINT64_MAX: not known, of nodes on event lists on a device. */
int sl_traffic_open(struct sl_slot *slot); /* its arguments are bound */
void sl_traffic_close(struct sl_slot *slot);
void sl_traffic_count_part(struct sl_slot *slot, uint32_t events);
void sl_traffic_count_input(struct sl_slot *slot, const struct sl_input *input);
void sl_traffic_count_listed(struct sl_slot *slot, const struct sl_flight *flight, uint32_t node); /* it has run */
void sl_traffic_sum(const struct sl_session *s, uint32_t node, uint64_t *bytes_in, uint64_t *bytes_out);

/* trace.c: all do nothing unless options.trace_path is given. A span of a track; `key` and `value` say more of it, if
 * not NULL. Spans of a track nest. Any thread. */
#define SL_TRACK_HOST(slot)   (3 * (slot) + 1)
#define SL_TRACK_DEVICE(slot) (3 * (slot) + 2)
#define SL_TRACK_UPLOAD(slot) (3 * (slot) + 3)
uint32_t sl_track_of_branch(const struct sl_session *s, uint32_t slot, uint32_t branch); /* 0: SL_TRACK_DEVICE */
int sl_trace_open(struct sl_session *s);
void sl_trace_span(struct sl_session *s, uint32_t track, const char *name, uint64_t begin_ns, uint64_t end_ns,
                   const char *key, uint64_t value);
void sl_trace_flush(struct sl_session *s);
int sl_trace_close(struct sl_session *s);

/* files.c: a message about the file of an option. */
void sl_say_of_option(const struct sl_session *s, const char *option, uint32_t severity, const char *format,
                      va_list arguments) __attribute__((format(printf, 4, 0)));

/* report_file.c: opens the file of --json; notes the time, too. How the run ended, for the summary, and in words. */
int sl_report_open(struct sl_session *s);
int sl_report_tell_end(struct sl_session *s, int status);
void sl_report_close(struct sl_session *s);

/* metrics.c: all do nothing unless options.metrics_path is given. sl_metrics_slice: by a slot in its turn.
 * sl_metrics_write: with the lock of the delivery held, which it gives back while the file is written. */
int sl_metrics_open(struct sl_session *s);
void sl_metrics_slice(struct sl_slot *slot, uint64_t slice_ns);
void sl_metrics_write(struct sl_session *s);
void sl_metrics_close(struct sl_session *s); /* writes the file once more */

/* statistics.c */
uint32_t sl_nodes_together(const struct sl_session *s, uint32_t node); /* in one launch with the node, itself too */
int sl_summary_open(struct sl_session *s);
/* The passes that were timed: stretches that ran to their end. */
struct sl_repeated {
  uint64_t events, ns;
};
void sl_summary_sum(struct sl_session *s, const struct sl_repeated *repeated);
/* Events that went through the graph so far, each pass counted; events with an error did not. */
uint64_t sl_events_in_graph(const struct sl_session *s);
/* A stretch of the repeats has ended, the `index`th, of so many events. */
void sl_summary_stretch(struct sl_session *s, uint32_t index, uint64_t events);
void sl_summary_close(struct sl_session *s);

/* services.c: what plugins get; and the constants, which need them. */
void sl_services_open(struct sl_session *s, uint32_t node);
int sl_constants_make(struct sl_session *s);
/* An array in host memory, zeroed; NULL if there is none. Its copies on the devices: SL_ENOMEM, or what the backend
 * says; *failed: of which device. */
void *sl_array_open(struct sl_session *s, struct sl_array *array, uint64_t count, uint64_t bytes);
int sl_array_upload(struct sl_session *s, struct sl_array *array, const struct sl_device_place **failed);
void sl_array_close(struct sl_session *s, struct sl_array *array);
int sl_properties_check(struct sl_session *s);
/* Points the node's inputs to the arrays of constants, in host memory, and others nowhere. The views of list ports are
 * taken from `views`, sl_node_views_bytes of them, zeroed. */
void sl_constants_bind(const struct sl_session *s, uint32_t node, void *args, unsigned char *views);

/* prepare.c: all nodes' constants; what they are put into an argument struct for kernels; and what they cost, back. */
int sl_nodes_prepare(struct sl_session *s);
void sl_prepared_copy(const struct sl_slot *slot, uint32_t node, void *args);
void sl_prepared_close(struct sl_session *s, uint32_t node);
void *sl_make_table(void *context, const char *table, uint64_t count); /* the service */

#endif
