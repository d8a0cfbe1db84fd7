/* plugin.h: the contract between the Sluice runtime and a plugin.
 *
 * A plugin is one shared object per target that exports one data symbol, `sluice_plugin`: constant tables that
 * name its algorithms and describe their arguments. The runtime reads the tables without calling plugin code,
 * plans all memory from them, fills each algorithm's argument struct through the offsets given in them, and calls
 * `run` (kernels), `make` (constants), or the source and sink functions.
 *
 * Everything that `sluice_plugin` reaches is frozen by SL_ABI_VERSION. The header compiles as C11, C++20 and CUDA C++.
 *
 * Rationale: tables instead of registration calls, so that `list`, `describe`, `schema` and the planner need no
 * plugin code, no GPU and no constructor order.
 */
#ifndef SLUICE_PLUGIN_H
#define SLUICE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SL_STATIC_ASSERT(condition, text) static_assert(condition, text)
extern "C" {
#else
#define SL_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define SL_PLUGIN_MAGIC 0x656369756c53554cull /* "LUSluice", little-endian */
#define SL_ABI_VERSION  8u
#define SL_UNUSED       __attribute__((unused))

/* ------------------------------------------------------------------------------------------------ errors */

/* What functions return: 0, or one of these. Text for a person goes through the services' `message`. */
#define SL_ERRORS(E)                                              \
  E(SL_ENOMEM, -1, "out of memory")                               \
  E(SL_EINVAL, -2, "a value is out of range or inconsistent")     \
  E(SL_EIO, -3, "a file could not be read or written")            \
  E(SL_EFORMAT, -4, "data has the wrong format")                  \
  E(SL_EGRAPH, -5, "the graph is wrong")                          \
  E(SL_EPLUGIN, -6, "a plugin was refused or broke its contract") \
  E(SL_EDEVICE, -7, "the device reported an error")               \
  E(SL_ESTRICT, -8, "a bad event in strict mode")                 \
  E(SL_EINTERRUPTED, -9, "stopped by a signal")
#define SL_ERROR_ENUM_(name, value, text) name = value,
enum { SL_OK = 0, SL_ERRORS(SL_ERROR_ENUM_) SL_ERROR_END_ = -1000 };

enum { SL_NOTE = 0, SL_WARNING = 1, SL_ERROR = 2 }; /* severities of messages */

/* ------------------------------------------------------------------------------------------- collections */

/* Element types: name, C type, bytes. */
#define SL_TYPES(T)   \
  T(u8, uint8_t, 1)   \
  T(i8, int8_t, 1)    \
  T(u16, uint16_t, 2) \
  T(i16, int16_t, 2)  \
  T(u32, uint32_t, 4) \
  T(i32, int32_t, 4)  \
  T(u64, uint64_t, 8) \
  T(i64, int64_t, 8)  \
  T(f32, float, 4)    \
  T(f64, double, 8)
#define SL_TYPE_ENUM_(name, c, bytes) SL_TYPE_##name,
/* bool, string and enumeration are types of properties only. */
enum { SL_TYPES(SL_TYPE_ENUM_) SL_TYPE_bool, SL_TYPE_string, SL_TYPE_enumeration, SL_TYPE_COUNT };
#define SL_TYPE_DEF_(name, c, bytes) typedef c sl_c_##name;
SL_TYPES(SL_TYPE_DEF_)

/* Shapes: how many entries a field has, for a slice of E events.
 *   PER_SLICE         1
 *   PER_EVENT         E                  (PER_EVENT_OF(n): n values for each event)
 *   OFFSETS           E + 1, u32         items of event e are [offsets[e], offsets[e+1]); first entry need not be 0
 *   PER_ITEM          item capacity      (PER_ITEM_OF(n): n values for each item)
 *   ITEM_OFFSETS      item capacity + 1, u32: subitems of item i are [o[i], o[i+1])
 *   PER_SUBITEM       subitem capacity
 *   BYTES             subitem capacity   a pool addressed by other fields (raw bank payloads); in no digest
 *   ARRAY             as many as `make` allocates; constants only
 *   TOTAL             item capacity      (TOTAL_OF(n): n values for each) u32, u64 or i64: counts of the run
 * A collection may have up to SL_GROUPS_MAX groups of subitems, each with a capacity of its own: a field ITEM_OFFSETS
 * begins one, to which the PER_SUBITEM fields after it belong; a BYTES field is one.
 * TOTAL fields stand alone in an output of a kernel. Before it runs on a slice they are 0; it adds to them with
 * sl_total_add (kernel.h), and the runtime sums what was added over the run, of each event once.
 * Indices stored in any other field are relative to the event. Only OFFSETS and ITEM_OFFSETS speak of the slice.
 * An algorithm that writes ITEM_OFFSETS writes its entry 0 too, also when no event is on its list. */
enum {
  SL_SHAPE_CODE_PER_SLICE,
  SL_SHAPE_CODE_PER_EVENT,
  SL_SHAPE_CODE_OFFSETS,
  SL_SHAPE_CODE_PER_ITEM,
  SL_SHAPE_CODE_ITEM_OFFSETS,
  SL_SHAPE_CODE_PER_SUBITEM,
  SL_SHAPE_CODE_BYTES,
  SL_SHAPE_CODE_ARRAY,
  SL_SHAPE_CODE_TOTAL
};
#define SL_SHAPE_PER_SLICE       SL_SHAPE_CODE_PER_SLICE, 1
#define SL_SHAPE_PER_EVENT       SL_SHAPE_CODE_PER_EVENT, 1
#define SL_SHAPE_PER_EVENT_OF(n) SL_SHAPE_CODE_PER_EVENT, n
#define SL_SHAPE_OFFSETS         SL_SHAPE_CODE_OFFSETS, 1
#define SL_SHAPE_PER_ITEM        SL_SHAPE_CODE_PER_ITEM, 1
#define SL_SHAPE_PER_ITEM_OF(n)  SL_SHAPE_CODE_PER_ITEM, n
#define SL_SHAPE_ITEM_OFFSETS    SL_SHAPE_CODE_ITEM_OFFSETS, 1
#define SL_SHAPE_PER_SUBITEM     SL_SHAPE_CODE_PER_SUBITEM, 1
#define SL_SHAPE_BYTES           SL_SHAPE_CODE_BYTES, 1
#define SL_SHAPE_ARRAY           SL_SHAPE_CODE_ARRAY, 1
#define SL_SHAPE_TOTAL           SL_SHAPE_CODE_TOTAL, 1
#define SL_SHAPE_TOTAL_OF(n)     SL_SHAPE_CODE_TOTAL, n
enum { SL_GROUPS_MAX = 4 };

struct sl_field {
  const char *name;
  uint32_t type;  /* SL_TYPE_... */
  uint32_t shape; /* SL_SHAPE_CODE_... */
  uint32_t width; /* values an entry */
  uint32_t reserved;
  const char *unit; /* "" for none */
  const char *doc;
};

/* What collections of one sort have in common, so that algorithms which do not know them by name can fill or read them
 * through an open port (below). Who owns the trait gives a macro that declares a collection with it.
 * Rationale: a reader of files is built once, and plugins that come later say which parts of an event they want. */
struct sl_trait {
  const char *name; /* "io.raw_banks" */
  const char *port; /* what an open port's port for this collection is called; no two collections share it */
  /* The port as an output, with its capacities, then the budgets that they name; none where no open port writes it. */
  const struct sl_member *members;
  uint32_t member_count;
  uint32_t data_bytes;
  const void *data; /* what the trait's owner wants to know, plain bytes; all plugins say the same of a collection */
};

struct sl_collection {
  const char *name;
  const char *doc;
  const struct sl_field *fields;
  uint32_t field_count;
  uint32_t reserved;
  const struct sl_trait *trait; /* or NULL */
};

/* The capacity that the planner gave a port, and where its need is recorded: `used` holds the most items that any
 * launch of the slice wanted. used > capacity means overflow: the runtime runs the slice again in smaller parts.
 * Writers never write at or beyond `capacity`. Null `used` where nothing is bounded.
 * No event may have more than `event_limit`: the capacity of a slice of one event, whatever the slice. The scans of
 * struct sl_launch refuse one that wants more, and sources do.
 * Rationale: which events are refused depends on nothing but the event. */
struct sl_bound {
  uint32_t capacity;
  uint32_t event_limit;
  uint32_t *used;
  uint64_t limit_error; /* set by the runtime: an event's error if it wants more, without how many */
};

/* Declares a collection once: F(name, type, shape, unit, doc) for each field gives `struct NAME` (pointers to write),
 * `struct NAME_view` (pointers to read), `struct NAME_each` (of a list port: views of any number of producers), and
 * `NAME_collection`, their description. The first two are the field pointers in order, then `bound` (items), then
 * FIELD_bound for each field ITEM_OFFSETS (its subitems) or BYTES. In the third, `at` is in the memory that the
 * algorithm reads (a kernel's: on the device), `names` in the host's: for check, make and sinks, not for kernels. */
#define SL_COLLECTION(name_, FIELDS, doc_) SL_COLLECTION_WITH_TRAIT(name_, FIELDS, doc_, NULL)
#define SL_COLLECTION_WITH_TRAIT(name_, FIELDS, doc_, trait_)                                            \
  SL_COLLECTION_(name_, doc_, trait_, FIELDS(SL_POINTER_), FIELDS(SL_CONST_POINTER_), FIELDS(SL_BOUND_), \
                 FIELDS(SL_FIELD_ENTRY_), FIELDS(SL_PLUS_BOUND_))
/* One of several collections whose tables differ in a type, a unit, a name or a doc: the table has these as parameters
 * after F, FIELDS(F, type, unit), and they are given here after the doc. */
#define SL_COLLECTION_OF(name_, FIELDS, doc_, ...)                                                            \
  SL_COLLECTION_(name_, doc_, NULL, FIELDS(SL_POINTER_, __VA_ARGS__), FIELDS(SL_CONST_POINTER_, __VA_ARGS__), \
                 FIELDS(SL_BOUND_, __VA_ARGS__), FIELDS(SL_FIELD_ENTRY_, __VA_ARGS__),                        \
                 FIELDS(SL_PLUS_BOUND_, __VA_ARGS__))
#define SL_COLLECTION_(name_, doc_, trait_, pointers_, const_pointers_, bounds_, entries_, plus_bounds_)         \
  struct name_ {                                                                                                 \
    pointers_ struct sl_bound bound;                                                                             \
    bounds_                                                                                                      \
  };                                                                                                             \
  struct name_##_view {                                                                                          \
    const_pointers_ struct sl_bound bound;                                                                       \
    bounds_                                                                                                      \
  };                                                                                                             \
  struct name_##_each {                                                                                          \
    const struct name_##_view *at;                                                                               \
    const char *const *names;                                                                                    \
    uint32_t count, reserved;                                                                                    \
  };                                                                                                             \
  static const struct sl_field name_##_fields[] SL_UNUSED = {entries_};                                          \
  static const struct sl_collection name_##_collection SL_UNUSED = {                                             \
      #name_, doc_, name_##_fields, sizeof(name_##_fields) / sizeof(name_##_fields[0]), 0, trait_};              \
  SL_STATIC_ASSERT(sizeof(struct name_) == sizeof(name_##_fields) / sizeof(name_##_fields[0]) * sizeof(void *) + \
                                               (1 plus_bounds_) * sizeof(struct sl_bound),                       \
                   "a collection holds pointers and bounds only")
#define SL_POINTER_(name, type, shape, unit, doc)       sl_c_##type *name;
#define SL_CONST_POINTER_(name, type, shape, unit, doc) const sl_c_##type *name;
#define SL_FIELD_ENTRY_(name, type, shape, unit, doc)   {#name, SL_TYPE_##type, SL_SHAPE_##shape, 0, unit, doc},
#define SL_BOUND_(name, type, shape, unit, doc)         SL_IF_GROUP_##shape(struct sl_bound name##_bound;)
#define SL_PLUS_BOUND_(name, type, shape, unit, doc)    SL_IF_GROUP_##shape(+1)
/* Their argument for a shape that begins a group, nothing for others. */
#define SL_IF_GROUP_PER_SLICE       SL_NO_GROUP_
#define SL_IF_GROUP_PER_EVENT       SL_NO_GROUP_
#define SL_IF_GROUP_PER_EVENT_OF(n) SL_NO_GROUP_
#define SL_IF_GROUP_OFFSETS         SL_NO_GROUP_
#define SL_IF_GROUP_PER_ITEM        SL_NO_GROUP_
#define SL_IF_GROUP_PER_ITEM_OF(n)  SL_NO_GROUP_
#define SL_IF_GROUP_ITEM_OFFSETS    SL_A_GROUP_
#define SL_IF_GROUP_PER_SUBITEM     SL_NO_GROUP_
#define SL_IF_GROUP_BYTES           SL_A_GROUP_
#define SL_IF_GROUP_ARRAY           SL_NO_GROUP_
#define SL_IF_GROUP_TOTAL           SL_NO_GROUP_
#define SL_IF_GROUP_TOTAL_OF(n)     SL_NO_GROUP_
#define SL_NO_GROUP_(text)
#define SL_A_GROUP_(text) text

/* The runtime's own collection: a list of events, in ascending order. */
#define SL_EVENT_LIST_FIELDS(F)                                \
  F(count, u32, PER_SLICE, "", "number of events on the list") \
  F(numbers, u32, PER_EVENT, "", "their numbers in the slice, ascending; `count` of them are valid")
SL_COLLECTION(sl_event_list, SL_EVENT_LIST_FIELDS, "a list of events, on which nodes can run");

/* The events that a node runs on; every argument struct of a kernel algorithm has one, as its member `events`.
 * `numbers` is null for all events of the slice. */
struct sl_events {
  const uint32_t *count;   /* one value, on the device */
  const uint32_t *numbers; /* ascending */
  uint64_t *errors;        /* per event of the slice: 0, or the worst error that a kernel found */
  uint64_t error_base;     /* set by the runtime: which node speaks */
  uint32_t max;            /* E: the largest number of events in a slice */
  uint32_t reserved;
};

/* --------------------------------------------------------------------------------------------- capacities */

/* Capacities are data: up to SL_TERMS_MAX terms, of which the least or the greatest counts, or their sum or product. E
 * is the largest number of events in a slice. The capacity of a list port is the sum over its producers. */
enum {
  SL_TERM_NONE,
  SL_TERM_CONSTANT,      /* add */
  SL_TERM_EVENTS,        /* E * multiply / divide + add */
  SL_TERM_ITEMS,         /* item capacity of port `of` * multiply / divide + add */
  SL_TERM_SUBITEMS,      /* subitem (or byte pool) capacity of `of`, PORT or PORT.FIELD, * multiply / divide + add */
  SL_TERM_BUDGET,        /* property `of` * E * multiply / divide, and at least `add`: what one event may have */
  SL_TERM_ENTRIES,       /* producers of list port `of` * multiply / divide + add */
  SL_TERM_EVENT_ENTRIES, /* producers of list port `of` * E * multiply / divide + add */
  SL_TERM_PROPERTY       /* u32 property `of`, no budget, * multiply / divide + add */
};
enum { SL_COMBINE_MIN, SL_COMBINE_MAX, SL_COMBINE_SUM, SL_COMBINE_PRODUCT };
enum { SL_TERMS_MAX = 4 };

struct sl_term {
  uint32_t kind, multiply, divide, add;
  const char *of;
};

struct sl_capacity {
  uint32_t combine;
  uint32_t reserved;
  struct sl_term terms[SL_TERMS_MAX]; /* those not used are SL_TERM_NONE, at the end */
};

/* ------------------------------------------------------------------------------------------------ members */

/* One member of an algorithm's argument struct. Only the fields that belong to its kind are set. */
enum {
  SL_MEMBER_EVENTS,
  SL_MEMBER_IN,
  SL_MEMBER_OUT,
  SL_MEMBER_SCRATCH,
  SL_MEMBER_PROPERTY,
  SL_MEMBER_OPEN_IN,
  SL_MEMBER_OPEN_OUT,
  SL_MEMBER_COMPUTED,
  SL_MEMBER_TABLE,
  SL_MEMBER_NODE_HASH,
  SL_MEMBER_FIELD
};
/* OPENED and FIELD are for the runtime: it put the member there in the place of an open port, of a field reference. */
enum {
  SL_FLAG_OPTIONAL = 1,
  SL_FLAG_BUDGET = 2,
  SL_FLAG_EACH = 4,
  SL_FLAG_WANTED = 8,
  SL_FLAG_OPENED = 16,
  SL_FLAG_TUNED = 32,
  SL_FLAG_SHARED = 64,
  SL_FLAG_FIELD = 128
};

struct sl_member {
  const char *name;
  const char *doc;
  uint32_t kind;
  uint32_t flags;
  uint32_t args_offset;
  uint32_t args_size;
  const struct sl_collection *collection; /* IN, OUT; OPEN_IN, OPEN_OUT: what all its collections look like */
  const char *fields;                     /* IN: the fields read, separated by blanks; "" means all */
  const char *shares;                     /* OUT: port (in or out) whose offsets these items use, or NULL */
  const char *in_place;                   /* OUT: input port whose dying fields of equal name may be reused, or NULL */
  const char *trait;                      /* OPEN_IN, OPEN_OUT */
  const char *unit;                       /* PROPERTY */
  const char *default_text;               /* PROPERTY: a string; a choice; the values of an array, "[1, 2]" */
  const char *choices; /* PROPERTY of type enumeration: names, separated by blanks; FIELD: types, "" for all */
  uint32_t type;       /* PROPERTY, SCRATCH, TABLE */
  uint32_t count;      /* PROPERTY: values of an array; 0: it is none. OPEN_...: ports after it, set by the runtime */
  double default_value, minimum, maximum; /* PROPERTY, numbers and bool; the range is that of each value of an array */
  struct sl_capacity capacity;            /* OUT: items; SCRATCH: elements */
  struct sl_capacity sub_capacities[SL_GROUPS_MAX]; /* OUT: subitems or bytes, a group each */
};

/* A field of any collection, which the graph names, `set: { member: NODE.FIELD }`; an input in all other respects.
 * `types`: those that it can have, "f32 f64"; "" for all. sl_field_begin and sl_field_f64 of sluice/kernel.h read it.
 */
struct sl_field_ref {
  const void *values;
  const uint32_t *offsets;      /* of items; null for values by event */
  const uint32_t *item_offsets; /* of subitems; null for values by event or item */
  uint32_t type;                /* SL_TYPE_... */
  uint32_t shape;               /* SL_SHAPE_CODE_PER_EVENT, _PER_ITEM or _PER_SUBITEM */
  uint32_t width;               /* values an entry */
  uint32_t reserved;
};

#include <sluice/members.h>

/* ----------------------------------------------------------------------------------------------- services */

struct sl_launch;

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
  const char *const *plugins; /* that the graph uses: "velo 0.1.0 cpu" */
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

/* The block size of one kernel of a node. */
struct sl_kernel_block {
  const char *kernel;
  uint32_t threads;
  uint32_t reserved;
};

/* What a kernel algorithm's `run` gets. */
struct sl_launch {
  uint32_t size;
  uint32_t block_threads;  /* the node's block size; 1 on cpu */
  uint32_t grid_blocks;    /* of SL_PER_EVENT */
  uint32_t events_max;     /* E: the largest number of events in a slice */
  uint32_t device_threads; /* that the device runs at a time: what a flat grid has at most */
  uint32_t block_count;
  const struct sl_kernel_block *blocks; /* of the kernels whose block size is not block_threads */
  const struct sl_services *services;
  void *backend; /* CUDA: the stream; simt: the emulator */
  /* Enqueues, in place: counts[0..n) become exclusive prefix sums, counts[n] their total, n = events in the slice.
   * Records the total in bound->used; where it exceeds bound->capacity, all n + 1 values become 0 instead, so that
   * whoever follows finds no items and writes nothing. Refuses events with more than bound->event_limit. `bound` may be
   * NULL. */
  int (*scan)(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound);
  /* The same over items: n = offsets[events in the slice], and the counts of items before offsets[0] are taken as 0. */
  int (*scan_items)(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets, const struct sl_bound *bound);
};

/* --------------------------------------------------------------------------------------- host algorithms */

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

/* --------------------------------------------------------------------------------------------- algorithms */

enum { SL_KIND_KERNEL, SL_KIND_CONSTANT, SL_KIND_SOURCE, SL_KIND_SINK };

/* Text of an error that kernels raise with sl_event_fail(): printed with the event's place; `detail` as "(detail N)".
 */
struct sl_event_error {
  uint32_t code; /* 1..255 */
  uint32_t reserved;
  const char *text;
};

struct sl_algorithm {
  const char *name;
  const char *doc;
  uint32_t kind;
  uint32_t args_size;
  uint32_t member_count;
  uint32_t block_threads; /* default block size of a kernel node */
  uint32_t state_size;    /* sources and sinks: bytes of state, zeroed, owned by the runtime */
  uint32_t takes_feed; /* 1: a source of what a program feeds from its memory (services->feed), and of nothing else */
  const struct sl_member *members;
  /* Enqueues the node's kernels for one slice. Does not wait, allocate, or look at device memory. */
  int (*run)(const struct sl_launch *l, const void *args);
  /* Constants: fills the arrays of the output ports, got from make_array. args: properties, inputs (other constants).
   */
  int (*make)(const struct sl_services *s, const void *args);
  const struct sl_source *source;
  const struct sl_sink *sink;
  /* What follows is optional, and NULL or 0 where there is none. */
  const struct sl_event_error *errors;
  uint32_t error_count;
  uint32_t reserved_errors;
  /* Do the properties agree with each other, with the names and number of a list port's inputs, whose `at` is NULL, and
   * with which optional inputs are connected, whose bound.capacity is not 0? Says what is wrong through `message`. */
  int (*check)(const struct sl_services *s, const void *args);
  /* Kernels: writes the SL_COMPUTED members of `args`, and the tables that it gets from make_table. Called once, on the
   * host, after the constants were made, also where nothing is run. args: properties, strings too, and inputs that are
   * constants, in host memory; everything else is zero. In `run` and in kernels strings are NULL. */
  int (*prepare)(const struct sl_services *s, void *args);
  /* A version shaped for this target, with the same results. The default if present. */
  int (*run_tuned)(const struct sl_launch *l, const void *args);
  const struct sl_kernel_block *blocks; /* kernels whose block size a graph can set alone, and its default */
  uint32_t block_count;
  uint32_t reserved_blocks;
  /* Nodes of one family whose inputs are there run together: `run_family` enqueues what `run` would for each of `count`
   * nodes. Algorithms of a plugin with the same `family` have the same run_family and args_size. `args`: their argument
   * structs, one after another, in memory that kernels read; host_args: the same where the host reads them. */
  const char *family;
  int (*run_family)(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count);
};

struct sl_plugin {
  uint64_t magic;
  uint32_t size; /* sizeof(struct sl_plugin) */
  uint32_t abi_version;
  const char *name;
  const char *version;
  const char *target; /* "cpu", "simt", "cuda", "hip" */
  const char *doc;
  const struct sl_algorithm *const *algorithms;
  uint32_t algorithm_count;
  uint32_t reserved;
};

SL_STATIC_ASSERT(sizeof(struct sl_field) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_trait) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_collection) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_bound) == 24, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_events) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_capacity) == 104, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_member) == 648, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run_setting) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run_output) == 64, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_run) == 64, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_field_ref) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_output_calls) == 104, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_block) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_entry) == 48, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_feed_calls) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_services) == 96, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_kernel_block) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_launch) == 64, "frozen by the ABI");
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
SL_STATIC_ASSERT(sizeof(struct sl_event_error) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_algorithm) == 152, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_plugin) == 64, "frozen by the ABI");

/* Definitions. Each takes NAME_members and struct NAME_args of the same file; plugin.c declares what it lists with
 * SL_DECLARE(NAME). */
#define SL_COUNT_(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))
#ifdef __cplusplus
#define SL_EXTERN_ extern "C"
#else
#define SL_EXTERN_ extern
#endif
/* hipcc would copy a constant table into device code, where the functions that it names are not. */
#if defined(__HIPCC__)
#define SL_TABLE_
#else
#define SL_TABLE_ const
#endif
#define SL_DECLARE(name) \
  SL_EXTERN_ __attribute__((visibility("hidden"))) SL_TABLE_ struct sl_algorithm sl_algorithm_##name
/* A kernel algorithm: name, doc, default block size, `int run(const struct sl_launch *, const struct NAME_args *)`;
 * then what it has of the following, in this order. */
#define SL_ALGORITHM(name_, doc_, block_, run_, ...) \
  SL_ALGORITHM_OF_SIZE(name_, sizeof(struct name_##_args), doc_, block_, run_, __VA_ARGS__)
/* One whose struct of arguments is followed by what is not used, to be as large as those of others of its family. */
#define SL_ALGORITHM_OF_SIZE(name_, size_, doc_, block_, run_, ...)                                        \
  static int name_##_run_(const struct sl_launch *l, const void *args) {                                   \
    return run_(l, (const struct name_##_args *)args);                                                     \
  }                                                                                                        \
  SL_STATIC_ASSERT(sizeof(struct name_##_args) <= (size_), "more arguments than the family has room for"); \
  SL_DECLARE(name_);                                                                                       \
  SL_TABLE_ struct sl_algorithm sl_algorithm_##name_ = {.name = #name_,                                    \
                                                        .doc = doc_,                                       \
                                                        .kind = SL_KIND_KERNEL,                            \
                                                        .args_size = (uint32_t)(size_),                    \
                                                        .member_count = SL_COUNT_(name_##_members),        \
                                                        .block_threads = block_,                           \
                                                        .members = name_##_members,                        \
                                                        .run = name_##_run_,                               \
                                                        __VA_ARGS__}
/* It can refuse events: a table of struct sl_event_error. */
#define SL_ERRORS_OF(table) .errors = table, .error_count = SL_COUNT_(table)
/* A check of its properties: int function(const struct sl_services *, const void *args). */
#define SL_CHECK(function) .check = function
/* What it computes once for a node: int function(const struct sl_services *, void *args). */
#define SL_PREPARE(function) .prepare = function
/* A version shaped for this target, or NULL: int function(const struct sl_launch *, const void *args). */
#define SL_TUNED(function) .run_tuned = function
/* Kernels whose block size can be set alone: a table of struct sl_kernel_block. */
#define SL_BLOCKS(table) .blocks = table, .block_count = SL_COUNT_(table)
/* A source of what a program feeds. */
#define SL_TAKES_FEED .takes_feed = 1
/* Many nodes run in one launch: see run_family. */
#define SL_FAMILY(name, function) .family = name, .run_family = function
/* A constant; it can have an SL_CHECK, as sources and sinks can. */
#define SL_CONSTANT(name_, doc_, make_, ...)                                                                \
  static int name_##_make_(const struct sl_services *s, const void *args) {                                 \
    return make_(s, (const struct name_##_args *)args);                                                     \
  }                                                                                                         \
  SL_DECLARE(name_);                                                                                        \
  SL_TABLE_ struct sl_algorithm sl_algorithm_##name_ = {.name = #name_,                                     \
                                                        .doc = doc_,                                        \
                                                        .kind = SL_KIND_CONSTANT,                           \
                                                        .args_size = (uint32_t)sizeof(struct name_##_args), \
                                                        .member_count = SL_COUNT_(name_##_members),         \
                                                        .members = name_##_members,                         \
                                                        .make = name_##_make_,                              \
                                                        __VA_ARGS__}
#define SL_SOURCE(name_, doc_, state_, source_, ...)                                                        \
  SL_DECLARE(name_);                                                                                        \
  SL_TABLE_ struct sl_algorithm sl_algorithm_##name_ = {.name = #name_,                                     \
                                                        .doc = doc_,                                        \
                                                        .kind = SL_KIND_SOURCE,                             \
                                                        .args_size = (uint32_t)sizeof(struct name_##_args), \
                                                        .member_count = SL_COUNT_(name_##_members),         \
                                                        .state_size = (uint32_t)sizeof(state_),             \
                                                        .members = name_##_members,                         \
                                                        .source = &(source_),                               \
                                                        __VA_ARGS__}
#define SL_SINK(name_, doc_, state_, sink_, ...)                                                            \
  SL_DECLARE(name_);                                                                                        \
  SL_TABLE_ struct sl_algorithm sl_algorithm_##name_ = {.name = #name_,                                     \
                                                        .doc = doc_,                                        \
                                                        .kind = SL_KIND_SINK,                               \
                                                        .args_size = (uint32_t)sizeof(struct name_##_args), \
                                                        .member_count = SL_COUNT_(name_##_members),         \
                                                        .state_size = (uint32_t)sizeof(state_),             \
                                                        .members = name_##_members,                         \
                                                        .sink = &(sink_),                                   \
                                                        __VA_ARGS__}

/* plugin.c: the table `algorithms` of pointers, then SL_PLUGIN(name, version, doc). The build defines SL_TARGET. */
#define SL_ENTRY(name) &sl_algorithm_##name
#define SL_PLUGIN(name_, version_, doc_)                                                  \
  SL_EXTERN_ __attribute__((visibility("default"))) const struct sl_plugin sluice_plugin; \
  const struct sl_plugin sluice_plugin = {SL_PLUGIN_MAGIC,                                \
                                          (uint32_t)sizeof(struct sl_plugin),             \
                                          SL_ABI_VERSION,                                 \
                                          name_,                                          \
                                          version_,                                       \
                                          SL_TARGET,                                      \
                                          doc_,                                           \
                                          algorithms,                                     \
                                          SL_COUNT_(algorithms),                          \
                                          0}

#ifdef __cplusplus
}
#endif
#endif
