/* services.h: functions that the runtime provides to a plugin: messages, memory of constants, output files of sinks,
 * and events fed by a program. Part of plugin.h; algorithms get struct sl_services with each call.
 */
#ifndef SLUICE_SERVICES_H
#define SLUICE_SERVICES_H

#include <sluice/collections.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A property of a node: the value set in the graph, or the default. */
struct sl_run_setting {
  const char *name;
  const char *text;             /* value of a string or a field reference ("pulses.time"), else NULL */
  double number;                /* value of any other type; of an enumeration: the index of the name, from 0 */
  const struct sl_field *field; /* of a field reference: the field it refers to, else NULL */
};

struct sl_names;
/* An output of the graph, in the order of its `outputs:`. */
struct sl_run_output {
  const char *name; /* "pulses", or "fit.states" if the node has several outputs */
  const struct sl_collection *collection;
  uint64_t items, digest; /* so far; final in a sink's `finish`. The digest is 0 if none was requested. In a run with
                           * --rotate, items, digest and totals are those of the events since the last rotation */
  /* TOTAL fields: the sums so far, field by field, `items` entries of `width` values each; else NULL. Sums of an i64
   * field are in two's complement. */
  const uint64_t *totals;
  /* The algorithm of the node that makes it ("generic.histogram"), and the node's properties and field references,
   * without arrays. Rationale: totals are bare counts; the graph defines their meaning. */
  const char *algorithm;
  const struct sl_run_setting *settings;
  uint32_t setting_count;
  uint32_t name_count;
  const char *const *names;      /* of the entries, as `naming` describes; NULL: they have none */
  const struct sl_names *naming; /* plugin.h; NULL: no names */
};

/* Identity of a run, for sinks that record it. Borrowed until the sink's `close` returns. */
struct sl_run {
  uint32_t size, plugin_count, output_count;
  uint32_t is_interrupted; /* in `finish`: the run was stopped before its end, so that no file may look complete */
  const char *sluice_version;
  const char *device;         /* "cpu", "cuda:1" */
  const char *graph_text;     /* the whole graph with all defaults, as YAML */
  uint64_t graph_digest;      /* of graph_text */
  const char *const *plugins; /* used by the graph: "velo 0.2.0 cpu" */
  const struct sl_run_output *outputs;
};

/* Output files of sinks. A file is written as PATH.part (or .part2 and so on) and renamed when it is complete; devices,
 * FIFOs and standard output ("-") are written directly. A path that is an input of the run or another output of it is
 * refused. If the disk is full or the run ends early, the file is truncated after its last whole event, and a message
 * reports how many events it contains. All functions except `open` take the file. Functions that return int return 0,
 * or an error that they have reported. May be called in `open`, `consume`, `flush`, `finish` and `close` of a sink. */
struct sl_output;
struct sl_record_calls;
struct sl_services;
enum { SL_OUTPUT_BY_PATH = 1 }; /* a library writes the file by its name: regular files only */
struct sl_output_calls {
  uint32_t size, reserved;
  /* `path` empty or NULL: an error that asks for a path. */
  int (*open)(const struct sl_services *s, const char *path, uint32_t flags, struct sl_output **file);
  /* The path that is being written; after `finish`, the final path. Valid until `rotate` or `close`. */
  const char *(*path)(const struct sl_output *file);
  uint64_t (*bytes)(const struct sl_output *file); /* written so far, in all files of a rotated run */
  /* Bytes that `reserve` can still provide without writing earlier data. */
  uint64_t (*room)(const struct sl_output *file);
  /* Provides contiguous bytes, to be filled by the caller. Writes the data added before if there is no room. */
  int (*reserve)(struct sl_output *file, uint64_t bytes, void **memory);
  void (*trim)(struct sl_output *file, uint64_t bytes); /* gives back the last bytes of a reservation */
  int (*add)(struct sl_output *file, const void *data, uint64_t bytes);
  /* Marks the end of a whole event; `events` is the number of events since the last mark. BY_PATH: so many more events
   * are complete in the file. */
  void (*mark)(struct sl_output *file, uint64_t events);
  int (*flush)(struct sl_output *file); /* passes all added data to the operating system */
  /* BY_PATH: reports that `step` ("write to it") failed, the reason, and how many events are complete. Returns
   * SL_EIO. */
  int (*fail)(struct sl_output *file, const char *step, const char *reason);
  /* Writes the remaining data to disk and renames the file to its final name; in an interrupted run, the temporary name
   * stays. */
  int (*finish)(struct sl_output *file);
  /* In a sink's `rotate` only: like `finish`, then begins the next file of the run under the same handle; `path`
   * returns the new path from now on. After an error the handle can only be closed. */
  int (*rotate)(struct sl_output *file);
  /* After `finish`, or instead of it: in that case the whole events so far are kept under the name that `path`
   * returns; a file without whole events is removed. NULL: does nothing. */
  void (*close)(struct sl_output *file);
};

/* A piece of an event in the memory of a program that feeds a run (sluice.h): for LHCb, the payload of a raw bank. The
 * program and the source agree on the meaning of the numbers. */
struct sl_feed_block {
  const void *data; /* any alignment; NULL only where there are no bytes */
  uint32_t bytes;
  uint16_t source_id;
  uint8_t type, version;
};

/* Values of one field of a port, for all events of an entry. OFFSETS and ITEM_OFFSETS fields have one value more than
 * there are events, or items; they may begin at any number. */
struct sl_feed_array {
  const char *port, *field; /* field "": the only one that holds no offsets */
  const void *values;       /* aligned to the type */
  uint64_t count;           /* number of values */
  uint32_t type;            /* SL_TYPE_...: that of the field */
  uint32_t reserved;
};

/* An entry given by a program: an event as blocks, a packet, which holds as many events as the source finds in it, or
 * arrays with the fields of one or several events. */
struct sl_feed_entry {
  uint64_t index;                     /* from 0, in the order in which the entries were given */
  const struct sl_feed_block *blocks; /* of an event; NULL: a packet, arrays, or an event without blocks */
  const void *packet;                 /* NULL: the entry is an event or arrays */
  uint64_t packet_bytes;
  uint64_t number; /* event number and run, if the event's data does not contain them */
  uint32_t run, block_count;
  const struct sl_feed_array *arrays; /* NULL: the entry is an event or a packet */
  uint64_t event_count;               /* of arrays; their event numbers begin at `number` */
  uint32_t array_count, reserved;
};

/* Where a source gets the events that a program feeds. Called from `fill` only. */
struct sl_feed_calls {
  uint32_t size, reserved;
  void *context;
  /* Gets the next entries, at most `count`, each entry once; waits up to `wait_us` for the first. Returns 1: there may
   * be more; 0: the feed has ended. The memory of an entry stays valid until `packed` is called for it. */
  int (*take)(void *context, struct sl_feed_entry *entries, uint32_t count, uint64_t wait_us, uint32_t *taken);
  /* Reports that the earliest `count` entries that were taken and not yet reported made `events_each` events each, and
   * that their memory is no longer used. */
  void (*packed)(void *context, uint64_t count, uint64_t events_each);
};

/* Services of the runtime. Passed to each call and valid until it returns; for a source or a sink, valid until its
 * `close` has returned. `context` is passed as the first argument of each function. */
struct sl_services {
  uint32_t size, reserved;
  void *context;
  /* Adds a message (printf format) to the run's diagnostics. Any thread. A message that begins with a property's name
   * and a colon, "cut: ", is shown with the location where the graph sets the property. A format that begins with the
   * name of a string property and a byte offset (uint32_t), "cut+%u: ", is shown as "cut: " with the location of that
   * byte of the string, if the string is plain or quoted without escapes and on one line. For each node, severity and
   * format, the first 20 messages are printed and further ones counted; messages that must not be counted together need
   * different formats. */
  void (*message)(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
  /* In `make` only: memory for `count` values of field `field` of output `port`, zeroed, owned by the runtime. NULL,
   * with a message, if out of memory or if there is no such field. */
  void *(*make_array)(void *context, const char *port, const char *field, uint64_t count);
  /* In `make` and `prepare` only: number of values of field `field` of input `port`, which is another constant; 0 if
   * there is none. For a list port, `port` is "PORT.NAME" with the name of the producer. */
  uint64_t (*array_count)(void *context, const char *port, const char *field);
  const struct sl_run *run; /* in sinks; NULL elsewhere */
  const char *node_name;    /* name in the graph */
  /* In `prepare` only: memory for the `count` values of SL_TABLE member `table`, zeroed, owned by the runtime; once per
   * table. NULL, with a message, if out of memory or if there is no such member. */
  void *(*make_table)(void *context, const char *table, uint64_t count);
  const struct sl_output_calls *output; /* in sinks; NULL elsewhere */
  /* In a source's `fill` only: calls body(work, i, worker) once for each i < count, in any order and concurrently, and
   * returns when all calls are done. worker < `workers`; no two concurrent calls have the same one. Must not be nested.
   * Results must not depend on the worker: messages and the order of events are decided between loops. Rationale:
   * `fill` itself is one call at a time, in input order, so that sources need no other synchronisation. */
  void (*in_parallel)(void *context, uint32_t count, void (*body)(void *work, uint32_t index, uint32_t worker),
                      void *work);
  uint32_t workers; /* in sources, including `open`: at least 1; 0 elsewhere */
  /* In sinks: 1 if the run draws events on request (sl_sink.draw), so that a sink that draws needs no file. */
  uint32_t draws;
  const struct sl_feed_calls *feed;      /* in a source that takes a feed, if the program has one; NULL elsewhere */
  const struct sl_record_calls *records; /* in sources; NULL elsewhere */
  /* The first input and its first bytes, at most 1 MiB, in `check`, `make` and `prepare`: for constants that are read
   * from the header of a file. NULL and 0 if there is no input; elsewhere NULL. */
  const char *input_path;
  const unsigned char *input_bytes;
  uint64_t input_count;
};

SL_STATIC_ASSERT(sizeof(struct sl_run_setting) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run_output) == 80, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run) == 64, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_output_calls) == 112, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_block) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_entry) == 72, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_array) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_services) == 128, "frozen by the ABI");

#ifdef __cplusplus
}
#endif
#endif
