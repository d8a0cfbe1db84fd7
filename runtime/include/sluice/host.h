/* host.h: algorithms that run on the host: sources, which fill slices with events, and sinks, which get finished
 * slices. Part of plugin.h.
 */
#ifndef SLUICE_HOST_H
#define SLUICE_HOST_H

#include <sluice/services.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Identity and status of an event. */
struct sl_event {
  uint64_t number; /* event number in the run */
  uint64_t offset; /* byte offset of its record in the file; of a fed event: the index of its entry */
  uint32_t run;
  uint32_t file;  /* index of the input file; in a followed folder: in the order in which files were taken */
  uint32_t error; /* SL_EVENT_...; an event with an error has no items except its record, if any */
  uint32_t reserved;
};
enum {
  SL_EVENT_OK,
  SL_EVENT_CORRUPT,   /* the source could not read it */
  SL_EVENT_TRUNCATED, /* the file ends within it */
  SL_EVENT_TOO_LARGE, /* its input has more items than event_limit allows */
  SL_EVENT_OVERFLOW,  /* an algorithm found more items than event_limit allows */
  SL_EVENT_REFUSED    /* a kernel rejected its data; see the kernel's message */
};

/* A slice being filled by a source. The runtime owns `events` (events_max entries). */
struct sl_fill {
  uint32_t events_max; /* at most this many events */
  uint32_t event_count;
  struct sl_event *events;
  uint64_t progress_done, progress_total; /* set by the source, in any unit; total 0 if unknown */
};

/* A part of a file: all records that begin in it, each of them whole. A record is the unit that a source reads: an
 * event of an MDF file, a packet of events of an MEP file. {0}: the whole file. */
struct sl_input_range {
  uint64_t first_byte, bytes; /* bytes 0: to the end of the file */
  uint64_t first_record;      /* records before the range; used to number events without a number of their own */
};
/* As first_record: unknown; the source counts the records before the range by reading their headers. */
#define SL_RECORD_UNKNOWN UINT64_MAX

struct sl_inputs {
  const char *const *paths; /* as given with -i, patterns expanded; borrowed until `close` returns */
  uint32_t path_count;
  uint32_t reserved;
  const char *const *names; /* the inputs' names in messages */
  /* range of each path; NULL: whole files. Always NULL for a source without `index`. */
  const struct sl_input_range *ranges;
};

/* A record, as described by its headers. */
struct sl_index_record {
  uint64_t first_byte, bytes;
  uint64_t events;      /* events that a run makes of it, including those with an error */
  uint32_t begins_part; /* 1: a range can begin with it */
  uint32_t reserved;
  const char *fault; /* what is wrong with it, or NULL; valid until `add` returns */
};
/* Receiver of the records of a file. */
struct sl_index_calls {
  uint32_t size, reserved;
  void *context;
  /* Receives one record, in file order. A nonzero return value ends the walk. */
  int (*add)(void *context, const struct sl_index_record *record);
  /* See struct sl_services. */
  void (*message)(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
};

/* Receiver of the values of an input's header. */
struct sl_header_calls {
  uint32_t size, reserved;
  void *context;
  /* Sets a property of the source that is declared as a value of the input (SL_INPUT_U32, SL_INPUT_F64 and so on). */
  void (*set)(void *context, const char *property, double value);
  /* See struct sl_services. */
  void (*message)(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
};

struct sl_source {
  /* Optional: opens the inputs. args: properties set, ports not set. Called once, before the first fill. In a followed
   * folder each file is a single input: `close` is called at its end, and `open` with a zeroed state for the next. */
  int (*open)(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs);
  /* Appends events to an empty slice until the next event would exceed events_max or a port's capacity, or the input
   * ends. args: properties and output ports; pointers are NULL for fields that no node reads. Fills OFFSETS from 0, and
   * sets bound.used and FIELD_bound.used of each port to the number of items, and of subitems or bytes. A bad event, or
   * one with more than a bound's event_limit, is appended with its error and no items, except for raw data that is
   * passed on unchanged. Returns 1 if there may be more, 0 at the end, or an error. Calls never overlap, but come from
   * several threads. With 1, the slice should have at least one event; a source without one is called again at once, up
   * to 1,000 times, or without limit if each call waited at least a millisecond. */
  int (*fill)(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill);
  void (*close)(void *state); /* optional */
  /* Optional, for sources that read files: returns 1 if these are the first bytes of a file that it reads, else 0.
   * Called before all other functions, without a state; `count` may be 0. A source without `probe` reads no files: `-i`
   * with it is an error. A source of files that cannot be recognised returns 0; it is used when a graph or --use names
   * it. Rationale: `-i FILE` selects the source by the file, so that graphs are independent of the format. */
  int (*probe)(const unsigned char *bytes, size_t count);
  /* Optional, with `probe`: reports all records of a file from their headers, without a state and before all other
   * functions. A source with `index` reads the ranges of struct sl_inputs. Returns 0, the value that `add` returned, or
   * an error that it reported. */
  int (*index)(const char *path, const struct sl_index_calls *calls);
  /* Optional, with `probe`: reads the values of an input's header, without a state and before memory is planned.
   * `bytes`: the first `count` bytes; `path`: for libraries that read files by name. Returns the size of the header in
   * bytes; if that is more than `count`, it has set nothing and is called again with so many bytes, if the input has
   * them. Or an error that it reported. */
  int64_t (*header)(const char *path, const unsigned char *bytes, size_t count, const struct sl_header_calls *calls);
  /* Optional, with `probe`: a string with which all files begin that `probe` recognises. The runtime reads it from the
   * plugin's file, and does not open the plugin for other files. Rationale: a library for one format may be large. */
  const char *signature;
};

/* --------------------------------------------------------------------------------------------- record sources */

/* A record source turns records into events: one record is one event. The runtime reads files and pipes, takes packets
 * from a program (sl_feed_give_packet: one or several records), and keeps offsets, capacities and errors. */

/* The record that is being read. */
struct sl_unpack {
  uint32_t size;
  uint32_t event;         /* index of the event in the slice: of PER_EVENT fields */
  struct sl_event *about; /* number: the index of the record in all inputs, run: 0; the source may set both */
  /* For `length`: bytes from this record to the next; 0: the length of the record. Smaller than the length: records
   * overlap. */
  uint64_t step;
  /* Refuses the record with a text about its data (printf format): the event has an error and no items. */
  void (*fail)(struct sl_unpack *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
  uint32_t result, reserved; /* set by sl_unpack_items: SL_UNPACK_... */
  const struct sl_bound *exceeded;
  uint64_t needed;
  char text[256];
};
enum { SL_UNPACK_OK, SL_UNPACK_FAILED, SL_UNPACK_FULL, SL_UNPACK_TOO_LARGE };

struct sl_records {
  int (*probe)(const unsigned char *bytes, size_t count); /* as in struct sl_source */
  /* Optional: as in struct sl_source. Called for each input; values that differ from those of the run are an error. */
  int64_t (*header)(const char *path, const unsigned char *bytes, size_t count, const struct sl_header_calls *calls);
  /* Optional: returns the length in bytes of the record that begins at `bytes`, at least 1. If that is more than
   * `count`, it is called again with so many bytes, if the input has them, so it may return a lower limit. After
   * u->fail, the rest of the input is skipped. NULL: an input without its header, or a packet, is one record. */
  uint64_t (*length)(void *state, const void *args, const unsigned char *bytes, size_t count, struct sl_unpack *u);
  /* Fills the event u->event from a record. args: properties and output ports; pointers are NULL for fields that no
   * node reads. Items are reserved with sl_unpack_items first; if it returns SL_NO_ROOM, the function returns, and is
   * called again later. If no output has items, calls for several events run at the same time, and must not change the
   * state. */
  void (*unpack)(void *state, const void *args, const unsigned char *record, size_t bytes, struct sl_unpack *u);
  int (*open)(void *state, const struct sl_services *s, const void *args); /* optional: before the first record */
  void (*close)(void *state);                                              /* optional */
  /* 1: the last record of an input may be shorter than `length` returns. Otherwise it is a truncated event, unless its
   * bytes were all part of the record before. */
  uint32_t takes_rest, reserved;
};

#define SL_NO_ROOM UINT32_MAX
/* Reserves `count` items of an output for the event, or with FIELD_bound subitems or bytes of a group. Returns the
 * index of the first, or SL_NO_ROOM. */
static inline SL_UNUSED uint32_t sl_unpack_items(struct sl_unpack *u, const struct sl_bound *bound, uint64_t count) {
  const uint32_t first = *bound->used;
  u->exceeded = bound;
  u->needed = count;
  if (u->result == SL_UNPACK_OK && count > bound->event_limit) u->result = SL_UNPACK_TOO_LARGE;
  if (u->result == SL_UNPACK_OK && count > bound->capacity - first) u->result = SL_UNPACK_FULL;
  if (u->result != SL_UNPACK_OK) return SL_NO_ROOM;
  *bound->used = first + (uint32_t)count;
  return first;
}
/* Reserves the `count` subitems of item `item`, in ascending order of items; every item needs a call. */
static inline SL_UNUSED uint32_t sl_unpack_subitems(struct sl_unpack *u, uint32_t *item_offsets,
                                                    const struct sl_bound *bound, uint32_t item, uint64_t count) {
  const uint32_t first = sl_unpack_items(u, bound, count);
  if (first != SL_NO_ROOM && item_offsets) item_offsets[item + 1] = first + (uint32_t)count;
  return first;
}

/* The runtime's reader of a record source; see SL_RECORD_SOURCE. */
struct sl_record_reader {
  void (*close)(struct sl_record_reader *reader);
};
struct sl_record_calls {
  uint32_t size, reserved;
  int (*open)(const struct sl_services *s, const void *args, const struct sl_inputs *inputs,
              const struct sl_records *records, void *state, struct sl_record_reader **reader);
  int (*fill)(struct sl_record_reader *reader, const struct sl_services *s, const void *args, struct sl_fill *fill);
};

/* Receiver of the figures of sinks and checks: JSON under results.NODE, and lines of the final table. */
struct sl_report {
  uint32_t size, reserved;
  void *context;
  void (*begin_object)(void *context, const char *key); /* `key` is NULL inside an array */
  void (*end_object)(void *context);
  void (*begin_array)(void *context, const char *key);
  void (*end_array)(void *context);
  void (*integer)(void *context, const char *key, int64_t value);
  void (*number)(void *context, const char *key, double value);
  void (*text)(void *context, const char *key, const char *value);
  void (*line)(void *context, const char *format, ...) __attribute__((format(printf, 2, 3))); /* a line of the table */
};

/* One output of the graph in a finished batch. fields[i] points to the values of collection->fields[i] in host memory;
 * items of event e are [offsets[e], offsets[e + 1]). */
struct sl_output_view {
  const char *name;
  const struct sl_collection *collection;
  const void *const *fields;
};

/* A constant of the graph: fields[i] points to the counts[i] values of collection->fields[i] in host memory. */
struct sl_constant {
  const char *name; /* "geometry", or "geometry.sensors" if the node has several outputs */
  const struct sl_collection *collection;
  const void *const *fields;
  const uint64_t *counts;
};

/* A finished slice, or a part of one, as passed to sinks. Ports and outputs cover all its events; a sink with an event
 * list processes the selected events. */
struct sl_batch {
  uint32_t event_count;
  uint32_t output_count;
  const struct sl_event *events;
  const struct sl_output_view *outputs; /* of the graph, in the order of services->run->outputs */
  const uint32_t *selected;             /* ascending; NULL: all events */
  uint32_t selected_count;
  uint32_t configuration; /* number of changes of the configuration before it (sl_session_reload) */
};

#define SL_BATCH_COUNT(batch)    ((batch)->selected ? (batch)->selected_count : (batch)->event_count)
#define SL_BATCH_EVENT(batch, i) ((batch)->selected ? (batch)->selected[i] : (i))
/* Loops over the events that a sink must process. */
#define SL_FOR_BATCH(event, batch)         \
  for (uint32_t event##_at = 0, event = 0; \
       event##_at < SL_BATCH_COUNT(batch) && ((event = SL_BATCH_EVENT(batch, event##_at)), 1); event##_at++)

/* Receiver of a text. Above SL_TEXT_BYTES_MAX in all, or if memory is short, the text is dropped with a warning. */
#define SL_TEXT_BYTES_MAX (16u << 20)
struct sl_text_calls {
  uint32_t size, reserved;
  void *context;
  /* Both append to the text. `add` returns 0, or an error if the text is dropped: the caller may stop. */
  int (*add)(void *context, const char *text, uint64_t bytes);
  void (*print)(void *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
};

struct sl_sink {
  /* Optional. A sink that uses output_path opens it here, or a file in it, so that a path that no sink uses is refused
   * before the run starts. */
  int (*open)(void *state, const struct sl_services *s, const void *args, const char *output_path);
  /* Called in input order, one call at a time, for every batch, also if it has no selected events. args: properties and
   * input ports, which point to host memory, valid until the call returns. An event with an error has no items in any
   * port except those of the source, which are as they were read. */
  int (*consume)(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch);
  /* Optional: after the last batch, if no call failed. */
  int (*finish)(void *state, const struct sl_services *s, const struct sl_report *report);
  void (*close)(void *state); /* optional */
  /* 1: it reads the batch's outputs, of any collection, in addition to its ports. A graph with such a sink must have
   * outputs, and their digests are computed. Rationale: a writer of any collection cannot name its ports. */
  uint32_t takes_outputs, reserved;
  /* Optional: passes the consumed data to the operating system, so that it survives the end of the process. Called
   * about once per second, between calls of `consume`, from any thread. Rationale: with slow input, a sink is called
   * too rarely to check the clock itself. */
  int (*flush)(void *state, const struct sl_services *s);
  /* Optional: completes the sink's file and begins the next one, in a run with --rotate: writes what `finish` would
   * write to the file, calls services->output->rotate, and writes what `open` would write. Called between calls of
   * `consume`, from any thread. args: properties, no ports. NULL: a run with --rotate is refused if the sink writes a
   * file. */
  int (*rotate)(void *state, const struct sl_services *s, const void *args);
  /* Optional: draws an event as a complete SVG document in UTF-8, in a run that draws events on request
   * (services->draws; `sluice run --serve`). Called after `consume` with the same arguments, only if a drawing was
   * requested, at most about once a second and 1 % of the time. `event`: index in the batch of a selected event without
   * error. The delivery of events waits for it, so it should return within milliseconds. It must not change what
   * `consume` and `finish` use. No text: there is nothing to draw. After an error, which becomes a warning, it is not
   * called again, and the run goes on; its messages should be warnings, too. */
  int (*draw)(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch, uint32_t event,
              const struct sl_text_calls *to);
};

SL_STATIC_ASSERT(sizeof(struct sl_event) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_fill) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_inputs) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_input_range) == 24, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_index_record) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_index_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_header_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_source) == 56, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_unpack) == 312, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_records) == 56, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_record_calls) == 24, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_report) == 80, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_batch) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_text_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_sink) == 64, "frozen by the ABI");

#ifdef __cplusplus
}
#endif
#endif
