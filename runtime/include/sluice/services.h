/* services.h: what the runtime does for a plugin: messages, memory of constants, files that sinks write, and what a
 * program feeds. A part of plugin.h; algorithms get struct sl_services with each call.
 */
#ifndef SLUICE_SERVICES_H
#define SLUICE_SERVICES_H

#include <sluice/collections.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A property of a node as the graph has it, or its default. */
struct sl_run_setting {
  const char *name;
  const char *text;             /* of a string or a field reference ("tracks.tx"), else NULL */
  double number;                /* of any other type; of a choice which one, from 0 */
  const struct sl_field *field; /* of a field reference: what it refers to, else NULL */
};

/* An output of the graph, in the order of its `outputs:`. */
struct sl_run_output {
  const char *name; /* "tracks", or "fit.end_states" of a node with several */
  const struct sl_collection *collection;
  uint64_t items, digest; /* so far; whole in a sink's `finish`. The digest is 0 where nobody asked for one */
  /* Of TOTAL fields: the sums so far, field by field, `items` entries of `width` values each; else NULL. Those of an
   * i64 are its two's complement. */
  const uint64_t *totals;
  /* The node that makes it: "generic.histogram", and its properties and field references, arrays excepted.
   * Rationale: totals are bare counts; what they are counts of stands in the graph. */
  const char *algorithm;
  const struct sl_run_setting *settings;
  uint32_t setting_count, reserved;
};

/* What a run is, for sinks that write it down. Borrowed until the sink's `close` returns. */
struct sl_run {
  uint32_t size, plugin_count, output_count;
  uint32_t is_interrupted; /* in `finish`: the run was stopped before its end, and no file may look complete */
  const char *sluice_version;
  const char *device;         /* "cpu", "cuda:1" */
  const char *graph_text;     /* the whole graph with all defaults, as YAML */
  uint64_t graph_digest;      /* of that text */
  const char *const *plugins; /* that the graph uses: "velo 0.2.0 cpu" */
  const struct sl_run_output *outputs;
};

/* Files that sinks write. All go through these functions, so that they behave alike: a file is written as PATH.part
 * (or .part2 and so on) and gets its name when it is whole; devices, FIFOs and standard output ("-") are written as
 * they are; a path that is an input of the run, or another of its outputs, is refused. When the disk is full or the run
 * ends early, the file is cut back to its last whole event, and a message says how many it keeps. All but `open` take
 * the file; those that return int return 0, or an error that they have reported. In `open`, `consume`, `flush`,
 * `finish` and `close` of a sink. */
struct sl_output;
struct sl_services;
enum { SL_OUTPUT_BY_PATH = 1 }; /* a library writes it by its name: regular files only */
struct sl_output_calls {
  uint32_t size, reserved;
  /* `path` empty or NULL: an error that says to name one. */
  int (*open)(const struct sl_services *s, const char *path, uint32_t flags, struct sl_output **file);
  /* Where it is written, and, when finished, what it is called. Valid until `close`. */
  const char *(*place)(const struct sl_output *file);
  uint64_t (*bytes)(const struct sl_output *file); /* so far */
  /* Bytes that `reserve` can still give without writing what it gave before. */
  uint64_t (*room)(const struct sl_output *file);
  /* Contiguous bytes to be filled by the caller. What was added before is written first if there is no room. */
  int (*reserve)(struct sl_output *file, uint64_t bytes, void **place);
  void (*trim)(struct sl_output *file, uint64_t bytes); /* gives back the last of what was reserved */
  int (*add)(struct sl_output *file, const void *data, uint64_t bytes);
  /* What was added so far ends with a whole event; `events` more of them since the last mark. BY_PATH: so many more are
   * safe in the file. */
  void (*mark)(struct sl_output *file, uint64_t events);
  int (*flush)(struct sl_output *file); /* hands all that was added to the system */
  /* BY_PATH: says that `step` ("write to it") failed, why, and how many events are safe. Returns SL_EIO. */
  int (*fail)(struct sl_output *file, const char *step, const char *reason);
  /* Writes the rest, to the disk, and gives the file its name; in an interrupted run, leaves it the other one. */
  int (*finish)(struct sl_output *file);
  /* After `finish`, or instead of it: then the whole events so far are kept under the name of `place`, or, where there
   * are none, nothing. NULL does nothing. */
  void (*close)(struct sl_output *file);
};

/* A piece of an event in the memory of a program that feeds a run (sluice.h): for LHCb, the payload of a raw bank. What
 * the numbers mean is between the program and the source. */
struct sl_feed_block {
  const void *data; /* any alignment; NULL only where there are no bytes */
  uint32_t bytes;
  uint16_t source_id;
  uint8_t type, version;
};

/* What a program gave: an event as blocks, or a packet, which holds as many events as the source finds in it. */
struct sl_feed_entry {
  uint64_t index;                     /* from 0, in the order in which entries were given */
  const struct sl_feed_block *blocks; /* of an event; NULL: it is a packet, or an event without blocks */
  const void *packet;                 /* NULL: it is an event */
  uint64_t packet_bytes;
  uint64_t number; /* of an event that does not say it itself, and its run */
  uint32_t run, block_count;
};

/* Where a source gets what a program feeds. Called from `fill` only. */
struct sl_feed_calls {
  uint32_t size, reserved;
  void *context;
  /* The next entries, `count` at most and each once; waits up to `wait_us` for the first. 1: there may be more, 0: that
   * was the end. What they point to stays until they are packed. */
  int (*take)(void *context, struct sl_feed_entry *entries, uint32_t count, uint64_t wait_us, uint32_t *taken);
  /* The earliest `count` entries that were taken and not yet said to be packed made `events_each` events each, and
   * nobody will look at their memory any more. */
  void (*packed)(void *context, uint64_t count, uint64_t events_each);
};

/* What the runtime does for a plugin. Passed to each call; valid until the call returns, those of a source or a sink
 * until its `close` has returned. `context` goes back as the first argument. */
struct sl_services {
  uint32_t size, reserved;
  void *context;
  /* Adds a message (printf format) to the run's diagnostics. Any thread. One that begins with a property's name and a
   * colon, "cut: ", is shown with the place where the graph sets it. A format that begins with the name of a string,
   * "cut+%u: ", is shown as "cut: ", with the place of that byte of its text (uint32_t), if the text stands in one line
   * as it is: plain, or in quotes without escapes. Of one node, severity and format the first 20 are printed, further
   * ones counted: what must not be counted together has a format of its own. */
  void (*message)(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
  /* In `make` only: memory for `count` values of field `field` of output `port`, zeroed, owned by the runtime.
   * NULL (with a message) when there is none or no such field. */
  void *(*make_array)(void *context, const char *port, const char *field, uint64_t count);
  /* In `make` and `prepare` only: how many values field `field` of input `port`, another constant's, has; 0 if there is
   * none. `port` is "PORT.NAME" for a producer of a list port, by its name. */
  uint64_t (*array_count)(void *context, const char *port, const char *field);
  const struct sl_run *run; /* in sinks; NULL elsewhere */
  const char *node_name;    /* in the graph */
  /* In `prepare` only: memory for the `count` values of SL_TABLE member `table`, zeroed, owned by the runtime; once.
   * NULL (with a message) when there is none or no such member. */
  void *(*make_table)(void *context, const char *table, uint64_t count);
  const struct sl_output_calls *output; /* in sinks; NULL elsewhere */
  /* In a source's `fill` only: calls body(work, i, worker) for each i < count, once, in any order and several at a
   * time, and returns when all are done; worker < `workers`, and never twice at a time. Not from within another such
   * loop. Results must not depend on who does what: what is told, and in which order events come, is decided between
   * loops. Rationale: `fill` stays one call at a time, in input order, so that a source need not think of anything
   * else. */
  void (*in_parallel)(void *context, uint32_t count, void (*body)(void *work, uint32_t index, uint32_t worker),
                      void *work);
  uint32_t workers; /* in sources, `open` too, 1 or more; 0 elsewhere */
  uint32_t reserved_workers;
  const struct sl_feed_calls *feed; /* in a source that takes a feed, where the program has one; NULL elsewhere */
};

SL_STATIC_ASSERT(sizeof(struct sl_run_setting) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run_output) == 64, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run) == 64, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_output_calls) == 104, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_block) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_entry) == 48, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_services) == 96, "frozen by the ABI");

#ifdef __cplusplus
}
#endif
#endif
