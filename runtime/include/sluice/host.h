/* host.h: algorithms that run on the host: sources, which fill slices with events, and sinks, which see finished ones.
 * A part of plugin.h.
 */
#ifndef SLUICE_HOST_H
#define SLUICE_HOST_H

#include <sluice/services.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event as a source knows it. */
struct sl_event {
  uint64_t number; /* event number in the run */
  uint64_t offset; /* where its record begins in the file, bytes; of a fed event, the index of its entry */
  uint32_t run;
  uint32_t file;  /* index of the input file */
  uint32_t error; /* SL_EVENT_...; an event with an error has no items but its record, if any */
  uint32_t reserved;
};
enum {
  SL_EVENT_OK,
  SL_EVENT_CORRUPT,   /* the source could not read it */
  SL_EVENT_TRUNCATED, /* the file ends within it */
  SL_EVENT_TOO_LARGE, /* its input has more than an event may have (event_limit) */
  SL_EVENT_OVERFLOW,  /* an algorithm found more than an event may have */
  SL_EVENT_REFUSED    /* a kernel found its data wrong; see its message */
};

/* A slice being filled by a source. The runtime owns `events` (events_max entries). */
struct sl_fill {
  uint32_t events_max; /* stop here */
  uint32_t event_count;
  struct sl_event *events;
  uint64_t progress_done, progress_total; /* set by the source; total 0 if unknown; any unit */
};

/* A part of a file: the records that begin in it, all of them whole. A record is what a source reads at a time: of MDF
 * an event, of MEP a packet of events. {0}: the whole file. */
struct sl_input_range {
  uint64_t first_byte, bytes; /* bytes 0: to the end of the file */
  uint64_t first_record;      /* records of the file before it: events without a number of their own are numbered so */
};
#define SL_RECORD_UNKNOWN UINT64_MAX /* as first_record: the source counts, and looks at all headers before */

struct sl_inputs {
  const char *const *paths; /* as given with -i, globs expanded; borrowed for the whole run */
  uint32_t path_count;
  uint32_t reserved;
  const char *const *names; /* messages name inputs so */
  /* Of each path what is to be read; NULL: whole files, as always for a source without `index`. */
  const struct sl_input_range *ranges;
};

/* A record, as its headers have it. */
struct sl_index_record {
  uint64_t first_byte, bytes;
  uint64_t events;      /* that a run makes of it, those with an error included */
  uint32_t begins_part; /* can a range begin with it? */
  uint32_t reserved;
  const char *fault; /* what is wrong with it, NULL if nothing is; until `add` returns */
};
/* Who wants to know which records a file has. */
struct sl_index_calls {
  uint32_t size, reserved;
  void *context;
  /* A record, in the order of the file. What it returns other than 0 ends the walk. */
  int (*add)(void *context, const struct sl_index_record *record);
  /* As that of struct sl_services. */
  void (*message)(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
};

struct sl_source {
  /* Optional: opens the inputs. args: properties set, ports not. Called once, before the first fill. */
  int (*open)(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs);
  /* Appends events to an empty slice until the next one would exceed events_max or a port's capacity, or the input
   * ends. args: properties and output ports, whose pointers are null for fields that nobody reads. Fills OFFSETS from
   * 0, and says in each port's bound.used and FIELD_bound.used how many items, and subitems or bytes, there are. A bad
   * event is appended with its error and no items, but for what it hands on as it was read; one that has more than a
   * bound's event_limit is bad. Returns 1 if there may be more, 0 at the end, or an error. Calls never overlap, but
   * come from several threads. With 1 comes an event at least: one that has none yet waits for it, or is called again
   * at once, a thousand times at most; one that waited a millisecond, as often as it likes. */
  int (*fill)(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill);
  void (*close)(void *state); /* optional */
  /* Optional, for sources that read files: are these the first bytes of a file that it reads? 1 or 0. Called before
   * anything else, without a state; `count` may be 0. A source without it reads no files, and `-i` with it is an error;
   * one whose files nothing tells apart has one that returns 0, and reads those that a graph or --use names it for.
   * Rationale: `-i FILE` chooses the source by the file, so that a graph need not say what its input will be. */
  int (*probe)(const unsigned char *bytes, size_t count);
  /* Optional, with `probe`: tells all records of a file from their headers, without a state, and before anything else.
   * A source that has it reads the ranges of struct sl_inputs. Returns 0, what `add` returned, or an error that it
   * told. */
  int (*index)(const char *path, const struct sl_index_calls *calls);
};

/* Where sinks and checks put their figures: JSON under results.NODE, and lines of the final table. */
struct sl_report {
  uint32_t size, reserved;
  void *context;
  void (*begin_object)(void *context, const char *key); /* key NULL inside an array */
  void (*end_object)(void *context);
  void (*begin_array)(void *context, const char *key);
  void (*end_array)(void *context);
  void (*integer)(void *context, const char *key, int64_t value);
  void (*number)(void *context, const char *key, double value);
  void (*text)(void *context, const char *key, const char *value);
  void (*line)(void *context, const char *format, ...) __attribute__((format(printf, 2, 3))); /* terminal */
};

/* One output of the graph in a finished batch. fields[i] points to the values of collection->fields[i] in host memory;
 * items of event e are [offsets[e], offsets[e + 1]). */
struct sl_output_view {
  const char *name;
  const struct sl_collection *collection;
  const void *const *fields;
};

/* A finished slice, or a part of one, as sinks see it. Ports and outputs are there for all its events; a sink with an
 * event list is to see those that are selected. */
struct sl_batch {
  uint32_t event_count;
  uint32_t output_count;
  const struct sl_event *events;
  const struct sl_output_view *outputs; /* of the graph, in the order of services->run->outputs */
  const uint32_t *selected;             /* ascending; NULL: all events */
  uint32_t selected_count, reserved;
};

#define SL_BATCH_COUNT(batch)    ((batch)->selected ? (batch)->selected_count : (batch)->event_count)
#define SL_BATCH_EVENT(batch, i) ((batch)->selected ? (batch)->selected[i] : (i))
/* Goes through the events that a sink is to see. */
#define SL_FOR_BATCH(event, batch)         \
  for (uint32_t event##_at = 0, event = 0; \
       event##_at < SL_BATCH_COUNT(batch) && ((event = SL_BATCH_EVENT(batch, event##_at)), 1); event##_at++)

struct sl_sink {
  /* Optional: one that takes output_path opens it here, or a file in it, so that a path that nobody takes is refused
   * before anything runs. */
  int (*open)(void *state, const struct sl_services *s, const void *args, const char *output_path);
  /* Called in input order, never twice at a time; for each batch, selected events or not. args: properties and input
   * ports, pointing to host memory, valid until the call returns. An event with an error has no items in any port but
   * the source's, which are as they were read. */
  int (*consume)(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch);
  /* Optional: after the last batch, if no call failed. */
  int (*finish)(void *state, const struct sl_services *s, const struct sl_report *report);
  void (*close)(void *state); /* optional */
  /* 1: it reads the batch's outputs, whatever they are, beside its ports, if any. A graph with such a sink needs
   * outputs, and computes their digests.
   * Rationale: a writer of any collection cannot name its ports. */
  uint32_t takes_outputs, reserved;
  /* Optional: hands what was consumed to the system, so that it outlives the process. About once a second, between
   * calls of `consume`, from any thread.
   * Rationale: input may come slowly, and a sink that nobody calls cannot look at the clock. */
  int (*flush)(void *state, const struct sl_services *s);
};

SL_STATIC_ASSERT(sizeof(struct sl_event) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_fill) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_inputs) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_input_range) == 24, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_index_record) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_index_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_source) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_report) == 80, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_batch) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_sink) == 48, "frozen by the ABI");

#ifdef __cplusplus
}
#endif
#endif
