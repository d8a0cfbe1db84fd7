/* sluice.h: run graphs from C. The `sluice` command is a client of this header.
 *
 *   struct sl_diagnostics *d = sl_diagnostics_new();
 *   struct sl_options options = sl_options_default();
 *   options.graph_path = "graphs/velo.yaml";
 *   struct sl_session *session = NULL;
 *   if (sl_session_open(&options, d, &session) == 0 && sl_session_run(session) == 0)
 *     ... sl_session_summary(session) ...
 *   sl_session_close(session);
 *   sl_diagnostics_print(d, stderr);
 *   sl_diagnostics_free(d);
 *
 * Nothing here prints, exits or aborts. A session is used by one thread at a time; several sessions may coexist.
 * Functions return 0 or a negative SL_E... of sluice/plugin.h, with the reason in the diagnostics.
 */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <sluice/inputs.h>
#include <sluice/kept.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------- diagnostics */

struct sl_diagnostic {
  uint32_t severity;     /* SL_NOTE, SL_WARNING, SL_ERROR */
  uint32_t line, column; /* counted from 1; 0: unknown. A column without a line counts in the value of an option */
  uint32_t reserved;
  const char *file, *source_line, *node, *message, *hint; /* NULL where absent */
};
struct sl_diagnostics;

SL_API struct sl_diagnostics *sl_diagnostics_new(void); /* NULL if out of memory */
SL_API void sl_diagnostics_free(struct sl_diagnostics *d);
SL_API size_t sl_diagnostics_count(const struct sl_diagnostics *d);
SL_API size_t sl_diagnostics_errors(const struct sl_diagnostics *d);
SL_API const struct sl_diagnostic *sl_diagnostics_at(const struct sl_diagnostics *d, size_t index);
/* Prints "file:line:column: error: message", the source line with a caret, and the hint. */
SL_API void sl_diagnostics_print(const struct sl_diagnostics *d, FILE *file);
SL_API void sl_diagnostic_print(const struct sl_diagnostic *message, FILE *file);
/* Writes one line with a JSON object: severity, node, file, line, column, message, hint; null and 0 where absent.
 * Returns SL_ENOMEM or SL_EIO on failure. */
SL_API int sl_diagnostic_write_json(const struct sl_diagnostic *message, FILE *file);
/* The list keeps at most 1,000 messages of each severity. Prints how many further ones were dropped. */
SL_API void sl_diagnostics_print_dropped(const struct sl_diagnostics *d, FILE *file);
/* From now on, on_message gets each message that is kept, from any thread, one at a time. It must not use `d`. */
SL_API void sl_diagnostics_follow(struct sl_diagnostics *d,
                                  void (*on_message)(void *context, const struct sl_diagnostic *message),
                                  void *context);

/* ------------------------------------------------------------------------------------------ a page in the browser */

/* An HTTP server that shows a run while it goes on: see docs/live.md.
 *
 *   struct sl_server *server = NULL;
 *   if (sl_server_new(&server_options, d, &server) == 0) {
 *     options.server = server;
 *     ... sl_session_open, sl_session_run, sl_session_close ...
 *   }
 *   sl_server_free(server);
 *
 * It answers from a thread of its own, with texts that the run makes about once a second, so that clients do not slow
 * the run. A server shows one session at a time; after a session, it shows the last state until the next one begins.
 */
struct sl_server;
struct sl_server_options {
  uint32_t size, reserved; /* size: sizeof(struct sl_server_options) */
  /* "[ADDRESS:]PORT": "8080" is 127.0.0.1:8080, "[::1]:8080", "0.0.0.0:8080"; port 0: any free one. An address that is
   * not of the loopback network needs a token. */
  const char *address;
  /* File with a token of at least 16 characters, which only its owner can read; NULL: no request that changes something
   * is accepted. */
  const char *token_path;
  /* NULL-terminated paths of files to compare with, or NULL: the JSON of a run, and of histograms (at most one of
   * each). */
  const char *const *reference_paths;
  /* NULL-terminated limits, or NULL: "errors=1%", "silent=60", "disk=5%", "ratio=0.5..2", "rate:PATTERN=LOW..HIGH" with
   * % (of events) or Hz; "errors=off" and so on. */
  const char *const *alarms;
};
/* Starts to listen. The texts are copied; `d` is borrowed until sl_server_free. Returns SL_EINVAL if an option is wrong
 * or a reference cannot be read, SL_EIO if the address cannot be used. */
SL_API int sl_server_new(const struct sl_server_options *options, struct sl_diagnostics *d, struct sl_server **server);
/* Returns "http://127.0.0.1:8080/", with the port that is used. Valid until sl_server_free. */
SL_API const char *sl_server_url(const struct sl_server *server);
/* Stops. A session that uses it must be closed. NULL: does nothing. */
SL_API void sl_server_free(struct sl_server *server);

/* -------------------------------------------------------------------------------------------- explanations */

/* Why events were accepted or not: the requirements of the nodes that declare them (sluice/explain.h), with values and
 * limits, on device "cpu". All structs and texts are borrowed until on_event returns. */
struct sl_explained_row {
  struct sl_requirement requirement; /* limit_name: name of a property, text of a limit in an expression, or NULL */
  const char *unit, *doc;            /* of the property; NULL: the limit is no property */
};
struct sl_explained_candidate {
  uint32_t index, is_accepted; /* index in the event */
  uint32_t unmet, row_count; /* requirements that are not met; UINT32_MAX: rejected, but its algorithm declares none */
  const struct sl_explained_row *rows;
};
struct sl_explained_node {
  const char *name, *algorithm;
  const char *candidates; /* node that makes the candidates, or NULL: the node decides whole events */
  uint32_t has_run;       /* 0: the event is on none of the needed lists; all counts are 0 then */
  uint32_t is_accepted;
  uint32_t total, accepted; /* candidates of the event, and accepted ones */
  /* The best one, if there is any, or all. The best candidate has the fewest requirements that are not met; ties: it is
   * nearest, relative to the limit, to meeting the first one; then the lowest index. */
  uint32_t candidate_count;
  uint32_t row_count, unmet; /* requirements for the event */
  uint32_t best;             /* index of the best candidate in `at` */
  const struct sl_explained_candidate *at;
  const struct sl_explained_row *rows;
  const char *const *missing; /* event lists of the node that do not contain the event; NULL-terminated */
};
struct sl_explained_list {
  const char *name; /* node, or NODE.PORT */
  uint32_t has_event, reserved;
};
struct sl_explained_event {
  const struct sl_event *event;
  const char *error_node, *error; /* NULL: the event has no error; else the nodes ran before it was found */
  const struct sl_explained_node *nodes;
  const struct sl_explained_list *lists;
  uint32_t node_count,
      list_count; /* nodes in the order of sl_explain.nodes, else of the graph's file; lists in order of execution */
};
struct sl_event_id {
  uint64_t number;
  uint32_t run, any_run; /* any_run 1: the event of this number in any run */
};
struct sl_explain {
  uint32_t size;           /* sizeof(struct sl_explain) */
  uint32_t all_candidates; /* 0: the best candidate of each node */
  const struct sl_event_id *events;
  uint64_t event_count;     /* 0: all events */
  const char *const *nodes; /* NULL-terminated names; NULL: all nodes that declare requirements */
  /* Called for each of these events, in input order, one call at a time. A nonzero return value ends the run, which
   * returns it. */
  int (*on_event)(void *context, const struct sl_explained_event *event);
  void *context;
};

/* ------------------------------------------------------------------------------------------------- session */

/* All pointers are borrowed until sl_session_close. Initialise with sl_options_default(). */
struct sl_options {
  uint32_t size;         /* sizeof(struct sl_options) */
  uint32_t slots;        /* slices in flight; 0: the default, one per device; at least one per device */
  uint32_t slice_events; /* most events in a slice; 0: the graph's budget, else the target's default */
  uint32_t repeat;       /* passes over the prepared slices; 0 or 1: one */
  uint64_t events;       /* number of events to read from the start of the input; 0: all */
  const char
      *graph_path; /* graph file; a name that is not a file is searched in the graph folders, see sl_write_graph_list */
  const char *graph_text; /* the graph's YAML text; if not NULL, graph_path only names it in messages */
  size_t graph_text_bytes;
  const char *device;             /* "cpu", "cuda", "cuda:1"; "cuda:0,1", "cuda:all": slots are distributed over several
                                   * devices */
  const char *const *input_paths; /* NULL-terminated files or shell patterns, which stand for their matches in ascending
                                   * order; NULL: the graph's own source makes the events; an empty array is
                                   * SL_EINVAL. Or ZeroMQ endpoints, "zmq:tcp://127.0.0.1:5555" (docs/running.md):
                                   * sl_session_open then waits for the first message, which shows the format */
  /* One range for each of input_paths, which then are file names, not patterns; sl_index_files finds such ranges. NULL:
   * whole files. A range that does not begin and end at a record is an error of the run. */
  const struct sl_input_range *input_ranges;
  const char *const *sets;         /* NULL-terminated "NODE.PROPERTY=VALUE" or "PARAMETER=VALUE", or NULL */
  const char *const *uses;         /* NULL-terminated "NODE=PLUGIN.ALGORITHM", or NULL */
  const char *const *with_paths;   /* graph files merged after the graph, in this order, before `uses` and `sets`;
                                    * searched like graph_path */
  const char *const *plugin_paths; /* plugin folders that are searched first */
  const char *output_path;         /* file for the sink that writes one; an error if no sink does */
  /* When sinks begin new files, "1GiB,10min,run": after this many bytes, after this time, when the run number changes;
   * one or more of these. Paths are patterns then: %04d is the number of the file, from 0; %Y %m %d %H %M %S %j the UTC
   * time when it was begun; %% is %. NULL: one file per sink. A run that was stopped completes its last files. */
  const char *rotate;
  /* With `rotate`: a file that is replaced after each rotation, with the position of the input and the sums so far. An
   * error if it exists, unless `resume` is 1: then the run continues there, after a process that was killed, or begins
   * at the beginning if there is no such file. Events after the last rotation are read again. Files and followed
   * folders only. */
  const char *checkpoint_path;
  uint32_t resume;
  uint32_t keeps_batches;          /* 1: memory of a batch stays readable after a change of configuration, until
                                    * sl_session_release_batches */
  const char *trace_path;          /* Chrome trace JSON of the run's activities; implies profiling of devices */
  const char *metrics_path;        /* text file for Prometheus, rewritten during the run */
  const char *report_path;         /* opened when the run starts; sl_session_write_report writes it */
  const char *const *command_line; /* NULL-terminated arguments of the program, for the report, or NULL */
  uint32_t digest;                 /* 1: digests of the outputs; 2: also of every event (on_event_digest, report) */
  uint32_t profile;                /* 1: measure each node, even where that slows the run (devices other than cpu) */
  uint32_t resident;               /* 1: repeats use inputs that are already on the device: no uploads */
  uint32_t guard;                  /* 1: every field has its own allocation, with canaries and poison */
  uint32_t try_plugins;            /* 1: first open plugins of other folders in a child process, including the plugins
                                    * that the graph names */
  uint32_t inspect_only;           /* 1: the session is only inspected and never runs: no memory is allocated for
                                    * slices */
  uint32_t output_is_optional;     /* 1: output_path is ignored, not an error, if no sink writes a file */
  uint32_t source_threads;         /* threads that read and simulate; 0: the number of processors, at most 8 */
  uint32_t race;                   /* 1: on device "simt", detect races, reads of unwritten memory and accesses out of
                                    * bounds */
  void *context;                   /* first argument of the callbacks */
  /* Called for each batch in input order, one call at a time. An event with an error has no items. A nonzero return
   * value ends the run, which returns it. */
  int (*on_batch)(void *context, const struct sl_batch *batch);
  void (*on_event_digest)(void *context, const char *output, const struct sl_event *event, uint64_t digest);
  /* Called a few times per second. `done` and `total` are events, or units of the source if the number of events is
   * unknown; total 0: unknown. */
  void (*on_progress)(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds);
  /* Called about once a second, in a thread of its own, while the run can deliver, also if no events arrive: not while
   * a sink or callback does not return. */
  void (*on_tick)(void *context, uint64_t events, uint64_t error_events);
  struct sl_feed *feed;     /* events from memory, in place of input_paths; can be used for one session only, even if
                             * opening it fails */
  uint32_t replan;          /* SL_REPLAN_...: new memory plans during the run */
  uint32_t energy;          /* 1: measure energy, like `profile`, without timing nodes */
  uint64_t memory_bytes;    /* limit of the arenas of all slots, on each device; 0: 80 % of the free memory of a device,
                             * else what the machine has available */
  double until_idle;        /* ZeroMQ inputs: the input ends when nothing arrived for so many seconds; 0: no limit */
  uint32_t senders;         /* ZeroMQ inputs: the input ends when so many senders have ended; 0: no limit */
  uint32_t draws;           /* 1: sinks can draw events on request (sl_sink.draw); `server` implies it */
  struct sl_follow *follow; /* files of a folder, in place of input_paths; for one session at a time, after
                             * sl_follow_wait has returned 1 */
  struct sl_server *server; /* shows the run; for one session at a time. NULL: none */
  /* Explains events. Only on device "cpu", with one slot and without repeats; sinks are not called. NULL: none */
  const struct sl_explain *explain;
  uint32_t keep_device; /* 1: batches can be kept on the device (sluice/kept.h) */
  uint32_t reserved;
};
/* New memory plans, when budgets overflow or when much of the arena is unused. Results do not depend on them. */
enum {
  SL_REPLAN_ON,   /* the default; off with `guard` and `race` */
  SL_REPLAN_GROW, /* only larger budgets */
  SL_REPLAN_OFF   /* keep the first plan; slices that overflow are run in parts */
};
SL_API struct sl_options sl_options_default(void);

struct sl_session;

/* Prepares a run without reading input: checks the files to be read and written (refuses a file that cannot be written
 * or that is used twice), finds plugins, reads and checks the graph, makes constants, plans and allocates memory. If
 * memory is short, slices get fewer events, with a note; if options or graph set their size, SL_ENOMEM. */
SL_API int sl_session_open(const struct sl_options *options, struct sl_diagnostics *d, struct sl_session **session);
/* Runs the graph over the input; once per session. When stopped, or when a node fails, it finishes the slices in
 * flight: all events before the failure have been delivered, and the summary is valid. A run in which every event has
 * an error fails with SL_EFORMAT. */
SL_API int sl_session_run(struct sl_session *session);
/* Ends sl_session_run early. May be called from a signal handler or another thread. */
SL_API void sl_session_stop(struct sl_session *session);
/* Ends sl_session_run early because of a signal, which the table, the report and messages name. */
SL_API void sl_session_stop_by(struct sl_session *session, int signal_number);
SL_API void sl_session_close(struct sl_session *session);

/* Another configuration for a session that runs, as in struct sl_options; each member replaces the whole value of the
 * options. NULL: the value with which the session was opened; files are read again. */
struct sl_reload {
  uint32_t size, reserved; /* sizeof(struct sl_reload) */
  const char *graph_path, *graph_text;
  size_t graph_text_bytes;
  const char *const *sets, *const *uses, *const *with_paths;
};
/* Checks another configuration completely, and lets it take effect at the next slice boundary (docs/running.md). The
 * texts are copied. Returns 0, or an error with all reasons in `d`, and nothing has changed. From any thread while
 * sl_session_run runs, but not from its callbacks; SL_EINTERRUPTED: the run has not begun to read its input, or has
 * read all of it. A second change replaces one that has not taken effect. It may not change the source, sinks, the
 * slice size or settings of runtime and device, nor need more memory than the run may use; it needs options.rotate if a
 * sink writes a regular file. Refused with options.race and options.explain. */
SL_API int sl_session_reload(struct sl_session *session, const struct sl_reload *change, struct sl_diagnostics *d);
/* With options.keeps_batches: frees the memory of batches of configurations before the present one. From any thread,
 * also in callbacks. */
SL_API void sl_session_release_batches(struct sl_session *session);
/* Registers a file that the program itself writes during the run, before sl_session_run; messages name it by `option`.
 * Both texts are borrowed until sl_session_close. Returns SL_EINVAL, with a message that names both files, if the
 * session reads or writes that file; SL_EINVAL too if it cannot be written. `appends`: the file is not replaced, so its
 * folder need not be writable. */
SL_API int sl_session_claim_output(struct sl_session *session, const char *option, const char *path, uint32_t appends);
/* Returns 1 if the session writes to standard output. A sink's own `path` property counts once the run has started. */
SL_API int sl_session_writes_stdout(const struct sl_session *session);
/* Writes a file like a sink does: under a temporary name until it is complete and on disk. Devices, FIFOs and standard
 * output ("-") are written directly. */
SL_API int sl_write_file(const char *path, const void *data, size_t bytes, struct sl_diagnostics *d);

enum { SL_STRETCHES = 5 };

struct sl_node_summary {
  const char *name, *algorithm;
  uint64_t events, calls;
  /* Bytes of the fields that the node names, as far as they were filled, for events on its event list; without
   * constants. UINT64_MAX: unknown (nodes with an event list on a device). */
  uint64_t bytes_in, bytes_out;
  uint32_t launch_nodes;                /* nodes in the same launch, including this one; 1: it runs alone */
  uint32_t block_threads;               /* for kernels not listed in `blocks` */
  const struct sl_kernel_block *blocks; /* kernels with a block size of their own */
  uint32_t block_count, reserved;
  double microseconds;             /* total over all slots and passes; of a shared launch, an equal share */
  double share;                    /* fraction of the time of all nodes */
  double stretch_us[SL_STRETCHES]; /* per event, in each timed stretch of the repeats */
};
struct sl_output_summary {
  const char *port;
  uint64_t items, digest; /* digest 0: none was requested */
};
/* A TOTAL field of an output, summed over the run. */
struct sl_total_summary {
  const char *port, *field;
  uint32_t entries, width; /* `width` values per entry */
  uint32_t is_signed;      /* values are int64_t */
  const uint64_t *values;
  const char *const *names; /* of the entries: see struct sl_run_output; NULL: they have none */
  const char *label;        /* what an entry is ("line"), or NULL */
  const char *unit, *doc;   /* of the field */
};
struct sl_budget_summary {
  char port[256];
  uint64_t capacity, used_max; /* per slice */
  uint64_t overflows;          /* slices, or parts of slices, that needed more than the capacity and were run again in
                                * parts */
  uint64_t needed_max;         /* largest number that a whole slice needed */
  char advice[256];            /* an option that avoids the overflows; "" if there were none */
};
/* Energy, by the counters of whole devices and whole processor packages (RAPL), over the timed repeats or, without
 * repeats, over the run. Other programs on them are included. */
struct sl_energy_summary {
  double seconds;
  uint64_t events;                   /* processed in that time */
  double device_joules, host_joules; /* negative: not measured, for the reason in the texts */
  char device_missing[160], host_missing[160];
};
/* A change of the memory plan during the run. */
enum { SL_PLAN_GROWN, SL_PLAN_SHRUNK };
struct sl_budget_change {
  const char *node, *property;
  uint32_t before, after;
};
struct sl_plan_change {
  uint32_t reason;       /* SL_PLAN_GROWN: a budget had overflowed; SL_PLAN_SHRUNK: much of the arena was unused */
  uint32_t budget_count; /* budgets that changed */
  uint64_t event;        /* number of events delivered when it was requested */
  uint64_t arena_bytes_before, arena_bytes;
  double seconds; /* of planning, concurrent with the run */
  const struct sl_budget_change *budgets;
};
/* Where time was spent. */
enum {
  SL_TIME_IN_THREADS,   /* in the threads of the slots: these rows add up to slots x seconds */
  SL_TIME_ON_DEVICE,    /* kernels on a device with its own memory, concurrent with the threads */
  SL_TIME_BEFORE,       /* in sl_session_open */
  SL_TIME_OTHER_THREADS /* in a thread other than those of the slots */
};
struct sl_time_summary {
  const char *what;             /* "source", "kernels", "sink" or another activity */
  const char *node, *algorithm; /* of a source, kernel or sink row; else NULL */
  double seconds, share;        /* share of slots x seconds; 0 for SL_TIME_BEFORE and SL_TIME_OTHER_THREADS */
  uint64_t calls, events;       /* of nodes only */
  uint64_t bytes_in, bytes_out; /* see struct sl_node_summary */
  uint32_t where, launch_nodes;
};
struct sl_device_summary {
  const char *name;      /* "cuda:1" */
  char description[128]; /* "NVIDIA H200, 132 multiprocessors"; "" if unknown */
  uint64_t slices;       /* slices run on it, in all passes */
  uint32_t slots, is_lost;
};
/* Events with an error, grouped by the node that found it and the reason. */
struct sl_error_summary {
  const char *node, *reason;
  uint64_t count;
  struct sl_event first;
  const char *first_file; /* input file of `first`; NULL: it is not of a file */
};
/* A configuration of the run: from its beginning, or from a call of sl_session_reload on. */
struct sl_configuration_summary {
  uint64_t graph_digest, first_event, events, error_events; /* first_event: number of events delivered before */
  const char *changes; /* lines "NODE.PROPERTY: old -> new", since the configuration before; NULL: none */
  const char *json;    /* these values and, except for the last one, outputs, totals and reports of sinks */
};
struct sl_summary {
  uint32_t size; /* sizeof(struct sl_summary) of the library; members beyond it do not exist */
  uint32_t reserved;
  uint64_t events, error_events, retries, slices;
  uint64_t rotations; /* number of times that sinks began new files (options.rotate) */
  double seconds;     /* of the whole run */
  /* Rates, in events per second; 0: not measured. */
  double throughput_hz;            /* kernels only: over the repeats or, on the host, over the time in which at least
                                    * one kernel ran */
  double stretch_hz[SL_STRETCHES]; /* kernel rates in fifths of the repeats (stretch_count entries), to show the
                                    * spread */
  double source_hz;                /* reading and packing only */
  double wall_hz;                  /* events / seconds */
  uint64_t bytes_up, bytes_down;   /* copied to and from the device, in all passes; 0 on cpu */
  uint64_t arena_bytes, live_bytes_max, input_bytes, peak_rss_bytes; /* arena: of the last plan */
  uint64_t arena_limit_bytes;                                        /* of a slot; UINT64_MAX: unlimited */
  uint64_t arena_wanted_bytes; /* 0, or the size of an arena that would have avoided overflows, but exceeds the limit */
  uint64_t graph_digest;
  uint32_t slots, source_threads, slice_events, repeat, host_syncs_per_slice, device_count;
  uint32_t node_count, output_count, budget_count, stretch_count, total_count, error_count, time_count,
      truncation_count;
  uint32_t plan_change_count, replan; /* replan: SL_REPLAN_... in effect */
  uint32_t exit_status; /* for a program that only runs it: 0: ok; 1: failed; 2: refused; 128 + signal: stopped by it */
  uint32_t stop_signal; /* signal that stopped the run, or 0 */
  uint32_t interrupted; /* 1: stopped before the end of the input */
  uint32_t failed;      /* 1: ended by an error, which is in the diagnostics */
  const char *status;   /* "ok", "all events in error", "interrupted", "failed", "refused" */
  const char *started;  /* ISO 8601, UTC */
  const struct sl_node_summary *nodes;
  const struct sl_output_summary *outputs;
  const struct sl_budget_summary *budgets;
  const struct sl_total_summary *totals;
  const struct sl_error_summary *errors;
  const struct sl_error_summary *truncations; /* events without an error, but truncated by a node */
  const struct sl_time_summary *times;
  const struct sl_device_summary *devices;
  const struct sl_plan_change *plan_changes;
  const struct sl_energy_summary *energy; /* NULL unless options.energy or options.profile is set */
  const struct sl_follow_summary *follow; /* NULL unless options.follow is set */
  /* In order; the last one is that of the end of the run. graph_digest, outputs, totals, nodes, budgets and
   * plan_changes above are those of the last one, the other counts are of the whole run. */
  const struct sl_configuration_summary *configurations;
  uint32_t configuration_count, reserved_configurations;
};
/* Joins digests of runs over consecutive parts of an input (options.input_ranges): join(digest of A, digest of B,
 * events of B) is the digest of one run over A and then B. `events` is the number in the summary: it includes events
 * with errors and events that are not on the list of the output's node. Returns 0 if either digest is 0 (missing). */
enum { SL_DIGEST_EMPTY = 1 }; /* digest of no events, the neutral element of the join */
SL_API uint64_t sl_digest_join(uint64_t first, uint64_t second, uint64_t events_of_second);
/* Digest of an output with TOTAL fields: of its sums, field after field in the order of struct sl_run_output. To
 * combine parts, add their sums and compute the digest of the result. */
SL_API uint64_t sl_digest_totals(const uint64_t *values, uint64_t count);
/* Valid until the session is closed. */
SL_API const struct sl_summary *sl_session_summary(const struct sl_session *session);

/* Returns the identity of the run, as sinks get it: device, graph, plugins, and the graph's outputs with their
 * collections, the nodes that make them and the sums so far. Not during sl_session_run. Valid until the session is
 * closed. */
SL_API const struct sl_run *sl_session_identity(const struct sl_session *session);
/* Returns the *count constants that the graph uses, those of the present values of its conditions. Not during
 * sl_session_run. Valid until the next call and until the session is closed. NULL: out of memory. */
SL_API const struct sl_constant *sl_session_constants(struct sl_session *session, uint32_t *count);

/* The run as a table, and as JSON for programs. `details`: SL_TABLE_PROFILE adds the time of each node; SL_TABLE_SHORT
 * leaves out constants, totals without names, named entries without counts, and outputs without a digest if the
 * graph has sinks, and has one line per sink. */
enum { SL_TABLE_PROFILE = 1, SL_TABLE_SHORT = 2 };
SL_API void sl_session_write_table(const struct sl_session *session, uint32_t details, FILE *file);
SL_API int sl_session_write_json(const struct sl_session *session, FILE *file);
/* Writes the JSON of sl_session_write_json to options.report_path; once, after sl_session_run, whatever it returned. */
SL_API int sl_session_write_report(struct sl_session *session);
/* Writes a graph file, for with_paths, with the budgets that the run needed and an eighth more; a run that starts with
 * it makes no new plan on the same data. After sl_session_run. Budgets of outputs without items are left out. */
SL_API int sl_session_write_budgets(const struct sl_session *session, FILE *file);
SL_API void sl_session_write_wiring(const struct sl_session *session, FILE *file);
/* Writes the whole graph as YAML: includes, with_paths, uses and sets are merged, all defaults and connections are
 * explicit. The summary's graph_digest is the digest of this text, and reading the text as a graph gives the same
 * digest. `origins`: with a comment at each value that names its origin; only for a session with inspect_only, else
 * SL_EINVAL. */
SL_API int sl_session_write_graph(const struct sl_session *session, int origins, FILE *file);
/* The nodes that declare requirements, such as trigger lines: a page in Markdown, or JSON with all properties. */
SL_API int sl_session_write_lines(const struct sl_session *session, int as_json, FILE *file);
SL_API void sl_session_write_plan(const struct sl_session *session, FILE *file);
SL_API int sl_session_write_plan_svg(const struct sl_session *session, FILE *file);
/* The graph as boxes and arrows. Long lists of similar nodes, and nodes of a family, are one box. Pictures of few boxes
 * have ports, collections and planned bytes per event. */
enum { SL_DRAWING_DOT, SL_DRAWING_MERMAID };
struct sl_drawing_options {
  uint32_t size;           /* sizeof(struct sl_drawing_options) */
  uint32_t format;         /* SL_DRAWING_DOT for Graphviz, SL_DRAWING_MERMAID */
  uint32_t constants;      /* draw constants too */
  uint32_t ports;          /* ports in a picture of any size */
  uint32_t depth;          /* most arrows from the nodes of `from`, else of `to`, else the source; 0: any number */
  uint32_t ungrouped;      /* each node is a box */
  const char *const *from; /* only these nodes and the nodes after them; NULL-terminated, or NULL */
  const char *const *to;   /* only these nodes and the nodes before them */
};
SL_API struct sl_drawing_options sl_drawing_options_default(void);
/* `options` NULL: the default. SL_EINVAL with a message if a node does not exist or no node is left. */
SL_API int sl_session_write_drawing(const struct sl_session *session, const struct sl_drawing_options *options,
                                    struct sl_diagnostics *d, FILE *file);

/* ------------------------------------------------------------------------------------------- parts of files */

/* Files divided at record boundaries, so that several runs can process them. Runs over all parts, with their digests
 * joined (sl_digest_join) and their sums added, give the result of one run over all files. */
struct sl_part {
  const char *path; /* as given by the caller */
  struct sl_input_range range;
  uint64_t events;      /* events that a run makes of it, including those with an error */
  uint64_t bad_records; /* records with a wrong header; wrong checksums are not detected */
};
struct sl_index;
/* Reads the headers of files, not the payloads, with the source that recognises each file. Makes parts of at least
 * `part_events` events (0: 10,000); only the last part of a file may be smaller. A part ends before a valid record. A
 * wrong header is a warning with its byte offset; a run makes an event with an error of it. A file that cannot be read
 * in parts (a pipe, or a file compressed as a whole) is an error. */
SL_API int sl_index_files(const char *const *plugin_paths, const char *const *paths, uint64_t part_events,
                          struct sl_diagnostics *d, struct sl_index **index);
/* sl_index_files for one range of each file, which must begin and end at a record; `ranges` NULL: whole files. */
SL_API int sl_index_ranges(const char *const *plugin_paths, const char *const *paths,
                           const struct sl_input_range *ranges, uint64_t part_events, struct sl_diagnostics *d,
                           struct sl_index **index);
/* Returns the parts of all files, in the order of the files; *count is their number. Valid until sl_index_close. */
SL_API const struct sl_part *sl_index_parts(const struct sl_index *index, uint64_t *count);
/* {"parts": [{"path", "first_byte", "bytes", "first_record", "events", "bad_records"}], "events", "bad_records"} */
SL_API int sl_index_write_json(const struct sl_index *index, FILE *file);
SL_API void sl_index_close(struct sl_index *index);

/* ------------------------------------------------------------------------------------------------- plugins */

/* Plugins found, one line each; files of plugins that are hidden or refused, with the reason; the folders searched. */
SL_API int sl_write_plugin_list(const char *const *plugin_paths, FILE *file);
/* Algorithms found, one line each: name, kind, targets, description. `plugin`: those of this plugin, after its files;
 * SL_EINVAL if there is no such plugin. NULL: those of all plugins. */
SL_API int sl_write_algorithm_list(const char *const *plugin_paths, const char *plugin, struct sl_diagnostics *d,
                                   FILE *file);
/* Collections of all plugins found, one line each: name, description. */
SL_API int sl_write_collection_list(const char *const *plugin_paths, FILE *file);
/* Graphs that are found by name: in the folders of SLUICE_GRAPH_PATH, then in that of the library. */
SL_API int sl_write_graph_list(FILE *file);
/* Describes an algorithm ("velo.decode_retina"), a plugin ("velo") or a collection ("velo_hits"). SL_EINVAL if there is
 * none of that name. */
SL_API int sl_write_description(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                                FILE *file);
/* Describes an algorithm, plugin or collection as JSON. */
SL_API int sl_write_description_json(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                                     FILE *file);
/* Writes a JSON Schema (draft-07) of graphs that use the plugins found; a warning names the refused plugins. */
SL_API int sl_write_schema(const char *const *plugin_paths, struct sl_diagnostics *d, FILE *file);

/* Options of sl_test_plugin, which runs the checks of `sluice test` on a plugin without code of its author: the file
 * and its tables, then each algorithm on inputs from a graph, on every available target. Plugin code runs in child
 * processes; the calling process must have one thread.
 */
struct sl_trial_options {
  uint32_t size;    /* sizeof(struct sl_trial_options) */
  uint32_t events;  /* number of events taken from a graph, as one slice */
  uint32_t seconds; /* time limit of each run */
  uint32_t reserved;
  const char *target;             /* NULL: all targets */
  const char *const *graph_paths; /* NULL-terminated; NULL: the graphs found by name, without those in subfolders */
  const char *const *input_paths; /* this and the next two: see struct sl_options */
  const char *const *sets;
  const char *const *plugin_paths;
};
SL_API struct sl_trial_options sl_trial_options_default(void);
/* Counts of algorithms, each counted once per target. */
struct sl_trial_counts {
  uint32_t passed, wrong, not_run;
};
/* `plugin` is a name ("velo", "velo.decode_retina") or a file ("build/plugins/velo.cpu.so"). Writes one line for each
 * algorithm and target. Returns 0 whatever the result; an error if the plugin could not be tested. */
SL_API int sl_test_plugin(const struct sl_trial_options *options, const char *plugin, struct sl_diagnostics *d,
                          FILE *file, struct sl_trial_counts *counts);
/* `sluice capture`: runs the graph of the options on the CPU, one slice of at most options->slice_events events (0: 16)
 * at a time, until `node` runs on an event, and writes the node as a case: its inputs, properties and outputs of this
 * slice. `events`: only these, "6001,1:6007" (run 1), which must be in one slice; NULL: all events of the slice. A node
 * that crashes, in a child process, leaves a case without outputs, and a warning. Writes one line about the case. */
SL_API int sl_capture(const struct sl_options *options, const char *node, const char *events, const char *path,
                      struct sl_diagnostics *d, FILE *file);

/* Options of sl_replay. Plugin code runs in child processes; the calling process must have one thread. */
struct sl_replay_options {
  uint32_t size;    /* sizeof(struct sl_replay_options) */
  uint32_t guard;   /* 1: run twice, with other bytes around all data; detect reads of fields that are not declared */
  uint32_t race;    /* 1: on the emulator, detect races, reads of unwritten memory and accesses out of bounds */
  uint32_t repeat;  /* number of runs in one process, for profilers */
  uint32_t seconds; /* time limit of a run */
  uint32_t reserved;
  const char *device;              /* target: "cpu", "simt", "cuda", "hip" */
  const char *use;                 /* plugin file or "plugin.algorithm" to run; NULL: that of the case */
  const char *against;             /* compare with this file, algorithm or target; NULL: with the outputs of the case */
  const char *reduced_path;        /* if the case fails, write the smallest case that does here; NULL: do not reduce */
  const char *test_name;           /* write the case as the unit test NAME_test.c, without running it; or NULL */
  const char *const *sets;         /* NULL-terminated "property=value"; or NULL */
  const char *const *plugin_paths; /* NULL-terminated folders to search first; or NULL */
};
SL_API struct sl_replay_options sl_replay_options_default(void);
/* `sluice replay`: runs the node of a case alone, and writes a line about the result. *failed: 1 if it differs or
 * fails. Returns 0 whatever the result; an error if the case could not be run. */
SL_API int sl_replay(const struct sl_replay_options *options, const char *path, struct sl_diagnostics *d, FILE *file,
                     uint32_t *failed);
/* Returns NULL, or a text that names the instructions of this build that the processor lacks: "this build needs
 * x86-64-v3, and this processor lacks AVX2". In that case nothing else of the library works: functions that open
 * something fail, with this message in the diagnostics. */
SL_API const char *sl_processor_lacks(void);
SL_API const char *sl_version(void);
/* The commit from which the library was built: "4717563d1e0a", "4717563d1e0a-dirty" if files had local changes, or
 * "unknown". */
SL_API const char *sl_commit(void);
/* Writes version, build, targets and libraries as text. */
SL_API void sl_write_version(FILE *file);
/* Targets for which this build has a backend: "cpu simt cuda". A GPU may still be missing. */
SL_API const char *sl_devices(void);

#ifdef __cplusplus
}
#endif
#endif
