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

#include <sluice/plugin.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SL_API __attribute__((visibility("default")))

/* --------------------------------------------------------------------------------------------- diagnostics */

struct sl_diagnostic {
  uint32_t severity;     /* SL_NOTE, SL_WARNING, SL_ERROR */
  uint32_t line, column; /* from 1; 0: unknown. A column without a line is one of source_line, an option's value */
  uint32_t reserved;
  const char *file, *source_line, *node, *message, *hint; /* NULL where absent */
};
struct sl_diagnostics;

SL_API struct sl_diagnostics *sl_diagnostics_new(void); /* NULL when memory is out */
SL_API void sl_diagnostics_free(struct sl_diagnostics *d);
SL_API size_t sl_diagnostics_count(const struct sl_diagnostics *d);
SL_API size_t sl_diagnostics_errors(const struct sl_diagnostics *d);
SL_API const struct sl_diagnostic *sl_diagnostics_at(const struct sl_diagnostics *d, size_t index);
/* As text: "file:line:column: error: message", the source line with a caret, the hint. */
SL_API void sl_diagnostics_print(const struct sl_diagnostics *d, FILE *file);
SL_API void sl_diagnostic_print(const struct sl_diagnostic *message, FILE *file);
/* As JSON, an object on a line of its own: severity, node, file, line, column, message, hint; null and 0 where absent.
 * SL_ENOMEM, SL_EIO. */
SL_API int sl_diagnostic_write_json(const struct sl_diagnostic *message, FILE *file);
/* At most 1,000 messages of each severity are kept: the lines that say how many more there were. */
SL_API void sl_diagnostics_print_dropped(const struct sl_diagnostics *d, FILE *file);
/* From here on `on_message` gets each message that is kept, as it is added: by one thread at a time, but any. It must
 * not use `d`. */
SL_API void sl_diagnostics_follow(struct sl_diagnostics *d,
                                  void (*on_message)(void *context, const struct sl_diagnostic *message),
                                  void *context);

/* ------------------------------------------------------------------------------------------ events from memory */

/* A program can hand over events that are in its memory, from threads of its own, while a session runs: see
 * docs/embedding.md. The feed goes to a session as options.feed; the graph's source then is one that takes a feed.
 *
 *   struct sl_feed *feed = sl_feed_new(NULL);
 *   options.feed = feed;
 *   ... sl_session_open; in a thread of its own: sl_session_run ...
 *   while (...) sl_feed_give_event(feed, &event, -1, NULL);
 *   sl_feed_end(feed);
 *
 * Nothing is copied but into slices: what an entry points to, the array of blocks too, is borrowed until the entry is
 * released, by on_release or, where the caller waits for it, by sl_feed_wait. Any thread may call the functions,
 * several at a time; entries are in the order of the calls. From callbacks of the run and from on_release nobody may
 * wait (a timeout other than 0), since what is waited for may need the callback to return.
 */
struct sl_feed;

struct sl_feed_options {
  uint32_t size;        /* sizeof(struct sl_feed_options) */
  uint32_t entries_max; /* that are not packed yet: whoever gives another one waits. 0: 4,096 */
  void *context;
  /* Once for each entry that was taken, in order, as soon as nobody looks at its memory any more: when its events are
   * in slices, or when the run ended before. From a thread of the run, or that of sl_session_close or sl_feed_free, one
   * at a time. */
  void (*on_release)(void *context, void *owner);
};
/* Options NULL: the defaults. NULL when memory is out, or options.size is another one. */
SL_API struct sl_feed *sl_feed_new(const struct sl_feed_options *options);
/* Ends the feed, and releases what no session will take. Nobody else may be in a call of it or call it again; a session
 * that has it may still be open, and run. NULL does nothing. */
SL_API void sl_feed_free(struct sl_feed *feed);

/* An event as blocks (sluice/plugin.h). For io.feed_source a block is the payload of a raw bank. */
struct sl_feed_event {
  uint32_t size; /* sizeof(struct sl_feed_event) */
  uint32_t block_count;
  const struct sl_feed_block *blocks;
  uint64_t number; /* where the event does not say it itself (LHCb's do, in ODIN), and its run */
  uint32_t run, reserved;
  void *owner; /* for on_release */
};
/* Gives an entry; `index`, if not NULL, becomes its number, counted from 0. Waits up to `timeout_ms` for room,
 * negative: as long as it takes. 1: it was taken, 0: there was no room in that time, SL_EINTERRUPTED: the feed was
 * ended, or its run is over, SL_EINVAL: the entry is none (size; NULL where there are blocks), SL_ENOMEM. What was not
 * taken is not released. What is wrong with the event's data is no error here, but one of the event, in the run. */
SL_API int sl_feed_give_event(struct sl_feed *feed, const struct sl_feed_event *event, int32_t timeout_ms,
                              uint64_t *index);
/* The same with a packet of events: for io.feed_source one of the event builder (MEP), without anything around it. */
SL_API int sl_feed_give_packet(struct sl_feed *feed, const void *packet, uint64_t bytes, void *owner,
                               int32_t timeout_ms, uint64_t *index);
/* That was all: the run goes on to the end of what was given. A second call does nothing. */
SL_API void sl_feed_end(struct sl_feed *feed);
/* Waits until all events of entry `index`, and of those before, have gone through sinks and on_batch. 1: they have, 0:
 * not in that time, SL_EINTERRUPTED: the run is over, and they did not. */
SL_API int sl_feed_wait(struct sl_feed *feed, uint64_t index, int32_t timeout_ms);

/* ------------------------------------------------------------------------------------------------- session */

/* All pointers are borrowed until sl_session_close. Begin with sl_options_default(). */
struct sl_options {
  uint32_t size;         /* sizeof(struct sl_options) */
  uint32_t slots;        /* slices in flight; 0: the default, one a device; no fewer than devices */
  uint32_t slice_events; /* largest number of events in a slice; 0: the graph's budget, else the target's default */
  uint32_t repeat;       /* passes over the prepared slices; 0 and 1: one */
  uint64_t events;       /* read the first so many events; 0: all */
  const char
      *graph_path; /* where there is no such file, it is looked for as sl_write_graph_list says; with_paths too */
  const char *graph_text; /* the graph itself, if not NULL; graph_path then only names it */
  size_t graph_text_bytes;
  const char *device;             /* "cpu", "cuda", "cuda:1"; "cuda:0,1", "cuda:all": slots are spread over several */
  const char *const *input_paths; /* files or patterns as in a shell, which stand for what they match, in ascending
                                   * order; NULL-terminated; NULL: the graph's own source makes the events; an
                                   * array without a name is SL_EINVAL */
  /* What is read of each of input_paths, which then are names and no patterns, such as sl_index_files finds; NULL:
   * whole files. A range that does not begin and end with a record is an error of the run. */
  const struct sl_input_range *input_ranges;
  const char *const *sets;         /* "NODE.PROPERTY=VALUE" or "PARAMETER=VALUE", NULL-terminated, or NULL */
  const char *const *uses;         /* "NODE=PLUGIN.ALGORITHM" */
  const char *const *with_paths;   /* graph files merged after the graph, in this order; before `uses`, `sets` */
  const char *const *plugin_paths; /* folders searched first */
  const char *output_path;         /* for a sink that writes a file; an error where none does */
  const char *trace_path;          /* write what ran when, as Chrome trace JSON; devices are profiled then */
  const char *metrics_path;        /* keep a text file for Prometheus fresh */
  const char *report_path;         /* opened when the run starts, for sl_session_write_report */
  const char *const *command_line; /* for the report: who started the run, and how; NULL-terminated, or NULL */
  uint32_t digest;                 /* 1: digests of the outputs; 2: also of each event, through on_event_digest */
  uint32_t profile;                /* times of single nodes also where that costs speed (devices other than cpu) */
  uint32_t resident;               /* repeats run on inputs that are on the device already: no uploads */
  uint32_t guard;                  /* every field in an allocation of its own, with canaries and poison */
  uint32_t try_plugins;            /* open plugins of other folders in a process of their own first, also those that the
                                    * graph names */
  uint32_t look_only;              /* the session is looked at and does not run: no memory is taken for slices */
  uint32_t output_is_offered;      /* output_path is for a sink that wants one: where none does, that is no error */
  uint32_t source_threads;         /* that read and simulate; 0: the processors that there are, at most 8 */
  uint32_t race;                   /* device "simt": look for races, and for memory that is not written or not theirs */
  void *context;                   /* first argument of the callbacks */
  /* In input order, from one thread at a time; an event with an error has no items. A return value other than 0 ends
   * the run with it. */
  int (*on_batch)(void *context, const struct sl_batch *batch);
  void (*on_event_digest)(void *context, const char *output, const struct sl_event *event, uint64_t digest);
  /* A few times a second. `done` and `total` in events, or in the source's units where events are not known; total 0:
   * unknown. */
  void (*on_progress)(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds);
  struct sl_feed *feed; /* events from memory, in place of input_paths; of one session only, also if it fails to open */
};
SL_API struct sl_options sl_options_default(void);

struct sl_session;

/* Compares the files that are read and written, and refuses those that cannot be written or are one and the same; finds
 * plugins, reads and checks the graph, makes constants, plans memory and takes it. Reads no input. Where there is too
 * little memory, slices that nobody asked for get fewer events, with a note; else SL_ENOMEM. */
SL_API int sl_session_open(const struct sl_options *options, struct sl_diagnostics *d, struct sl_session **session);
/* Runs the graph over the input, once a session. Finishes the slices in flight when stopped, or when a node fails:
 * everything before the failure has been delivered, and the summary is valid. A run of which every event has an error
 * is a failure too, SL_EFORMAT. */
SL_API int sl_session_run(struct sl_session *session);
/* Ends sl_session_run early. May be called from a signal handler or another thread. */
SL_API void sl_session_stop(struct sl_session *session);
/* The same because of a signal, which table, report and messages then name. */
SL_API void sl_session_stop_by(struct sl_session *session, int signal_number);
SL_API void sl_session_close(struct sl_session *session);
/* Adds a file that the program itself writes beside the run, named by `option` in messages, to those of the session,
 * before sl_session_run. Both texts are borrowed until sl_session_close. SL_EINVAL with a message that names both where
 * the session reads or writes that file, or where it cannot be written. `appends`: it is not replaced, and its folder
 * need not be writable. */
SL_API int sl_session_claim_output(struct sl_session *session, const char *option, const char *path, uint32_t appends);
/* Does something of it go to standard output? Known of a sink's own property `path` when it runs. */
SL_API int sl_session_writes_stdout(const struct sl_session *session);
/* Writes a file as sinks write theirs: under another name until it is whole and on the disk; devices, FIFOs and
 * standard output ("-") as they are. */
SL_API int sl_write_file(const char *path, const void *data, size_t bytes, struct sl_diagnostics *d);

enum { SL_STRETCHES = 5 };

struct sl_node_summary {
  const char *name, *algorithm;
  uint64_t events, calls;
  /* Of the fields that it names, as far as they were filled, of events on its list; constants do not count. UINT64_MAX:
   * not known, of nodes with an event list on a device. */
  uint64_t bytes_in, bytes_out;
  uint32_t together;                    /* how many nodes run in one launch with it, itself too; 1: it runs alone */
  uint32_t block_threads;               /* of the kernels that are not named in `blocks` */
  const struct sl_kernel_block *blocks; /* sluice/plugin.h: kernels whose block size can be set alone */
  uint32_t block_count, reserved;
  double microseconds;             /* in total, over all slots and passes; an even share where it does not run alone */
  double share;                    /* of the time of all nodes */
  double stretch_us[SL_STRETCHES]; /* in each timed stretch of the repeats, an event of the run */
};
struct sl_output_summary {
  const char *port;
  uint64_t items, digest; /* digest 0 where none was asked for */
};
/* A TOTAL field of an output: sums over the run. */
struct sl_total_summary {
  const char *port, *field;
  uint32_t entries, width; /* `width` values for each entry */
  uint32_t is_signed;      /* values are int64_t */
  const uint64_t *values;
};
struct sl_budget_summary {
  char port[256];
  uint64_t capacity, used_max; /* a slice */
  uint64_t overflows;          /* slices, or parts of them, that wanted more and were run again in parts */
  uint64_t wanted_max;         /* that a whole slice would have used */
  char advice[256];            /* an option with which nothing would overflow, "" where nothing would */
};
/* Where time went. */
enum {
  SL_TIME_IN_THREADS, /* of the slots' threads: these rows add up to slots x seconds */
  SL_TIME_ON_DEVICE,  /* kernels of a device with a memory of its own, while threads do something else */
  SL_TIME_BEFORE,     /* the parts of sl_session_open */
  SL_TIME_BESIDE      /* of a thread beside the slots */
};
struct sl_time_summary {
  const char *what;             /* "source", "kernels", "sink", or what else is done */
  const char *node, *algorithm; /* of these three; else NULL */
  double seconds, share;        /* share of slots x seconds; 0 of what is before and beside */
  uint64_t calls, events;       /* of nodes */
  uint64_t bytes_in, bytes_out; /* as in struct sl_node_summary */
  uint32_t where, together;
};
/* A device that the run went over. */
struct sl_device_summary {
  const char *name;      /* "cuda:1" */
  char description[128]; /* "NVIDIA H200, 132 multiprocessors"; "" where nothing is said of it */
  uint64_t slices;       /* that it ran, all passes */
  uint32_t slots, is_lost;
};
/* Events with an error, by the node that found it and its reason. */
struct sl_error_summary {
  const char *node, *reason;
  uint64_t count;
  struct sl_event first;
};
struct sl_summary {
  uint32_t size; /* the library's sizeof(struct sl_summary): members beyond it are not there */
  uint32_t reserved;
  uint64_t events, error_events, retries, slices;
  double seconds; /* of the whole run */
  /* Rates, in events per second; 0: not measured. */
  double throughput_hz;            /* kernels only: over the repeats or, on the host, the time in which some ran */
  double stretch_hz[SL_STRETCHES]; /* the same over fifths of the repeats, to show the spread; stretch_count of them */
  double source_hz;                /* reading and packing alone */
  double wall_hz;                  /* events over seconds */
  uint64_t bytes_up, bytes_down;   /* moved to and from the device, all passes; 0 on cpu */
  uint64_t arena_bytes, live_bytes_max, input_bytes, peak_rss_bytes;
  uint64_t graph_digest;
  uint32_t slots, source_threads, slice_events, repeat, host_syncs_per_slice, device_count;
  uint32_t node_count, output_count, budget_count, stretch_count, total_count, error_count, time_count, cut_count;
  uint32_t
      exit_status; /* of a program that does nothing but run it: 0; 1; 2: refused; 128 + the signal that stopped it */
  uint32_t stop_signal; /* that stopped it, or 0 */
  uint32_t interrupted; /* stopped before its end */
  uint32_t failed;      /* ended by an error; the diagnostics have it */
  const char *status;   /* "ok", "all events in error", "interrupted", "failed", "refused" */
  const char *started;  /* ISO 8601, UTC */
  const struct sl_node_summary *nodes;
  const struct sl_output_summary *outputs;
  const struct sl_budget_summary *budgets;
  const struct sl_total_summary *totals;
  const struct sl_error_summary *errors;
  const struct sl_error_summary *cuts; /* events that are no errors, but of which a node left out something */
  const struct sl_time_summary *times;
  const struct sl_device_summary *devices;
};
/* Digests of runs over the parts of an input, one after the other (options.input_ranges): join(digest of A, digest of
 * B, events of B) is the digest of one run over A and then B. Every output has one of all events that its run
 * delivered, `events` of the summary, also those with errors and those that are not on the list of the node that makes
 * it. 0 where either is 0, that is not there. */
enum { SL_DIGEST_EMPTY = 1 }; /* of no events: joined with another, that one */
SL_API uint64_t sl_digest_join(uint64_t first, uint64_t second, uint64_t events_of_second);
/* Outputs of totals have another one, which is not joined: that of their sums, field after field as struct
 * sl_run_output has them. Add up those of the parts, and take it of the result. */
SL_API uint64_t sl_digest_totals(const uint64_t *values, uint64_t count);
/* Valid until the session is closed. */
SL_API const struct sl_summary *sl_session_summary(const struct sl_session *session);

/* What the run is, as sinks get it: its device, its graph, its plugins, and the graph's outputs with their collections,
 * the nodes that make them, and sums over the run so far. Not while sl_session_run runs; valid until the session is
 * closed. */
SL_API const struct sl_run *sl_session_identity(const struct sl_session *session);

/* The run as a table, and as JSON for programs. `details`: SL_TABLE_PROFILE adds the time of each node; SL_TABLE_SHORT
 * leaves out constants, totals, and outputs without a digest if the graph has sinks, and has one line per sink. */
enum { SL_TABLE_PROFILE = 1, SL_TABLE_SHORT = 2 };
SL_API void sl_session_write_table(const struct sl_session *session, uint32_t details, FILE *file);
SL_API int sl_session_write_json(const struct sl_session *session, FILE *file);
/* Writes that JSON to options.report_path, once, after sl_session_run, whatever that returned. */
SL_API int sl_session_write_report(struct sl_session *session);
SL_API void sl_session_write_wiring(const struct sl_session *session, FILE *file);
/* The whole graph as YAML, of which the summary has the digest: includes, with_paths, uses and sets are merged, all
 * defaults and connections written out. Read as a graph it gives the same digest. `origins`: with a comment at each
 * value, where it came from; only of a session with look_only, else SL_EINVAL. */
SL_API int sl_session_write_graph(const struct sl_session *session, int origins, FILE *file);
SL_API void sl_session_write_plan(const struct sl_session *session, FILE *file);
SL_API int sl_session_write_plan_svg(const struct sl_session *session, FILE *file);
/* The graph as boxes and arrows. Long lists of similar nodes, and nodes of a family, are one box. Pictures of few boxes
 * have ports, collections and planned bytes per event. */
enum { SL_DRAWING_DOT, SL_DRAWING_MERMAID };
struct sl_drawing_options {
  uint32_t size;                 /* sizeof(struct sl_drawing_options) */
  uint32_t format;               /* SL_DRAWING_DOT for Graphviz, SL_DRAWING_MERMAID */
  uint32_t constants;            /* draw constants too */
  uint32_t ports;                /* ports in a picture of any size */
  uint32_t depth;                /* most arrows from the nodes of `from`, else of `to`, else the source; 0: any number */
  uint32_t ungrouped;            /* each node is a box */
  const char *const *from;       /* only these nodes and the nodes after them; NULL-terminated, or NULL */
  const char *const *to;         /* only these nodes and the nodes before them */
};
SL_API struct sl_drawing_options sl_drawing_options_default(void);
/* `options` NULL: the default. SL_EINVAL with a message if a node does not exist or no node is left. */
SL_API int sl_session_write_drawing(const struct sl_session *session, const struct sl_drawing_options *options,
                                    struct sl_diagnostics *d, FILE *file);

/* ------------------------------------------------------------------------------------------- parts of files */

/* Files cut at the begins of records, so that several runs can read them: a run over each part, and the digests joined
 * (sl_digest_join), sums added, give what one run over all files gives. */
struct sl_part {
  const char *path; /* as it was given */
  struct sl_input_range range;
  uint64_t events;      /* that a run makes of it, those with an error included */
  uint64_t bad_records; /* of which a header is wrong; a wrong checksum is not seen */
};
struct sl_index;
/* Walks the headers of files, without the payloads, with the source that recognises each: parts of at least
 * `part_events` events (0: 10,000), but for the last of a file. A part ends before a record that is sound. What is
 * wrong with headers is a warning with the byte; a run makes an event with an error of it. A file that cannot be read
 * in parts (a pipe, one that is compressed as a whole) is an error. */
SL_API int sl_index_files(const char *const *plugin_paths, const char *const *paths, uint64_t part_events,
                          struct sl_diagnostics *d, struct sl_index **index);
/* The same of a range of each file, which must begin and end with a record; NULL: whole files. */
SL_API int sl_index_ranges(const char *const *plugin_paths, const char *const *paths,
                           const struct sl_input_range *ranges, uint64_t part_events, struct sl_diagnostics *d,
                           struct sl_index **index);
/* All parts, in the order of the files; `count` of them. Valid until sl_index_close. */
SL_API const struct sl_part *sl_index_parts(const struct sl_index *index, uint64_t *count);
/* {"parts": [{"path", "first_byte", "bytes", "first_record", "events", "bad_records"}], "events", "bad_records"} */
SL_API int sl_index_write_json(const struct sl_index *index, FILE *file);
SL_API void sl_index_close(struct sl_index *index);

/* ---------------------------------------------------------------------------------------- the planner alone */

/* Offsets in one arena for buffers with known sizes and lifetimes: a problem read from a CSV file with the columns
 * id, lower, upper, size and, if there is one, alignment; a buffer is live in the steps [lower, upper). */
struct sl_allocation;
struct sl_allocation_summary {
  uint64_t arena_bytes;       /* the highest end of a buffer */
  uint64_t lower_bound_bytes; /* the most bytes live at once, with what alignments leave free */
  uint64_t least_bytes;       /* proved: no plan has fewer; the lower bound or above */
  uint64_t steps;             /* of the search; 0: it was not needed */
  double seconds;
  uint32_t buffers;
  uint32_t optimal; /* no plan has a smaller arena */
};
SL_API int sl_allocation_open(const char *csv_path, struct sl_diagnostics *d, struct sl_allocation **allocation);
/* Looks for a plan of at most `capacity_bytes` (0: the smallest) until there is one, a proof that there is none, or the
 * time is over or so many steps were taken (0: without that limit; without either, a fixed number of steps), and keeps
 * the best found. A checker that shares no code with the planner goes over it. */
SL_API int sl_allocation_solve(struct sl_allocation *allocation, uint64_t capacity_bytes, double seconds,
                               uint64_t steps, struct sl_diagnostics *d);
SL_API struct sl_allocation_summary sl_allocation_summarize(const struct sl_allocation *allocation);
SL_API void sl_allocation_write_csv(const struct sl_allocation *allocation, FILE *file); /* with a column `offset` */
SL_API int sl_allocation_write_svg(const struct sl_allocation *allocation, FILE *file);
SL_API void sl_allocation_close(struct sl_allocation *allocation);

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
/* An algorithm ("velo.decode_retina"), a plugin ("velo") or a collection ("velo_hits"). SL_EINVAL if there is none. */
SL_API int sl_write_description(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                                FILE *file);
/* The same as JSON. */
SL_API int sl_write_description_json(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                                     FILE *file);
/* A JSON Schema (draft-07) of graphs that use the plugins found; those that are refused are named in a warning. */
SL_API int sl_write_schema(const char *const *plugin_paths, struct sl_diagnostics *d, FILE *file);

/* What `sluice test` checks, without code of the author's: the file and its tables, then each algorithm on inputs taken
 * from a graph, on every target present. Plugin code runs in child processes; call it from a process with one thread.
 */
struct sl_trial_options {
  uint32_t size;    /* sizeof(struct sl_trial_options) */
  uint32_t events;  /* taken from a graph, as one slice */
  uint32_t seconds; /* that a single way of running may take */
  uint32_t reserved;
  const char *target;             /* NULL: all */
  const char *const *graph_paths; /* NULL-terminated; NULL: those that are found by name, without folders */
  const char *const *input_paths; /* as in struct sl_options, like the next two */
  const char *const *sets;
  const char *const *plugin_paths;
};
SL_API struct sl_trial_options sl_trial_options_default(void);
/* Of algorithms, once for each target. */
struct sl_trial_counts {
  uint32_t passed, wrong, not_run;
};
/* PLUGIN is a name ("velo", "velo.decode_retina") or a file ("build/plugins/velo.cpu.so"). Writes a line for each
 * algorithm and target. 0 whatever was found; an error where it could not be looked at. */
SL_API int sl_test_plugin(const struct sl_trial_options *options, const char *plugin, struct sl_diagnostics *d,
                          FILE *file, struct sl_trial_counts *counts);
/* NULL, or, as text, which instructions of this build the processor lacks: "this build needs x86-64-v3, and this
 * processor lacks AVX2". Then nothing else of the library works: what opens something fails, with this message where
 * there are diagnostics. */
SL_API const char *sl_processor_lacks(void);
SL_API const char *sl_version(void);
/* The commit that the library was built from: "4717563d1e0a", "4717563d1e0a-dirty" where files differed from it, or
 * "unknown". */
SL_API const char *sl_commit(void);
/* Version, build, targets and libraries, as text. */
SL_API void sl_write_version(FILE *file);
/* Targets that this build has a backend for: "cpu simt cuda". A GPU may still be missing. */
SL_API const char *sl_devices(void);

#ifdef __cplusplus
}
#endif
#endif
