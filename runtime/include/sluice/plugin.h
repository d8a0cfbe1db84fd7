/* plugin.h: the contract between the Sluice runtime and a plugin.
 *
 * A plugin is one shared object per target that exports one data symbol, `sluice_plugin`: constant tables that name its
 * algorithms and describe their arguments. The runtime reads the tables without calling plugin code, plans all memory
 * from them, fills each algorithm's argument struct at the offsets given in them, and calls `run` (kernels), `make`
 * (constants), or the source and sink functions.
 *
 * Parts: collections.h (data passed between algorithms), members.h (how an algorithm declares its arguments),
 * services.h (functions that the runtime provides), host.h (sources and sinks), explain.h (requirements). Functions for
 * kernels are in kernel.h.
 *
 * Everything reachable from `sluice_plugin` is frozen by SL_ABI_VERSION. The headers compile as C11, C++20 and CUDA
 * C++. Rationale: with tables instead of registration calls, `list`, `describe`, `schema` and the planner need no
 * plugin code, no GPU and no constructor order.
 */
#ifndef SLUICE_PLUGIN_H
#define SLUICE_PLUGIN_H

#include <sluice/explain.h>
#include <sluice/host.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SL_PLUGIN_MAGIC 0x656369756c53554cull /* "LUSluice", little-endian */
#define SL_ABI_VERSION  14u

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
  SL_MEMBER_FIELD,
  SL_MEMBER_PROGRAM
};
/* Flags of a member. OPENED and FIELD are set by the runtime only, on members that replace an open port or a field
 * reference. */
enum {
  SL_FLAG_OPTIONAL = 1,
  SL_FLAG_BUDGET = 2,
  SL_FLAG_LIST = 4,
  SL_FLAG_AUTO = 8,
  SL_FLAG_OPENED = 16,
  SL_FLAG_TUNED = 32,
  SL_FLAG_SHARED = 64,
  SL_FLAG_FIELD = 128,
  SL_FLAG_READ = 256,      /* PROPERTY of type string: path of a file that is read */
  SL_FLAG_WRITTEN = 512,   /* PROPERTY of type string: path of a file that is written */
  SL_FLAG_INPUT = 1024,    /* PROPERTY of a source, a number: a value of the input's header */
  SL_FLAG_OPERAND = 2048,  /* FIELD: set by the runtime to an operand of the expression of PROGRAM */
  SL_FLAG_CONDITION = 4096 /* PROGRAM: the expression is a condition; NODE: alone is true for each item of the node */
};

/* Names of the entries of an output: those of the producers of a list port of the same algorithm. */
struct sl_names {
  const char *port;  /* the list port; NULL: the entries have no names */
  const char *label; /* what a producer stands for, in results: "line" */
  const char *field; /* BITS, INDICES: a u32 field per item; ENTRIES: NULL */
  uint32_t kind;     /* SL_NAMES_... */
  uint32_t reserved;
};
enum {
  SL_NAMES_NONE,
  SL_NAMES_OF_ENTRIES, /* totals, with one entry per producer */
  SL_NAMES_OF_BITS,    /* the items of an event are words of 32 bits, lowest bit first: one bit per producer */
  SL_NAMES_OF_INDICES  /* the values are indices of producers, from 0, ascending within an event */
};

/* An axis of a histogram, by members of the algorithm that fills it. */
struct sl_axis_members {
  const char *field;                /* a field reference: the field that is counted; NULL: no axis */
  const char *bins, *lower, *upper; /* properties: number of bins (u32), and limits (f64) in the unit of the field */
};

/* Names in expressions of the items of an output, besides its fields (docs/expressions.md): fields of the items
 * that an index refers to, and functions. */
struct sl_link {
  const char *field; /* u32 per item: the index in the event of an item of the port; in every item a valid one */
  const char *port;  /* input of the algorithm; NAME.FIELD is a field of its items */
};
struct sl_named_value {
  const char *name;
  float value;
};
struct sl_function {
  const char *name;
  const char *doc;
  const char *parameters; /* names, separated by blanks */
  /* The result, an expression of the parameters, and of fields and links of the output. NULL: the plugin that compiles
   * the expression has an operation for the function. */
  const char *text;
  /* Arguments are literals, or one of these names; `arguments` names them in messages, "masses in MeV". */
  const struct sl_named_value *values;
  uint32_t value_count;
  uint32_t reserved;
  const char *arguments, *unit; /* unit: of the arguments and, without `text`, of the result */
};
struct sl_vocabulary {
  const struct sl_link *links;
  const struct sl_function *functions;
  uint32_t link_count, function_count;
};

struct sl_member {
  const char *name;
  const char *doc;
  uint32_t kind;
  uint32_t flags;
  uint32_t args_offset;
  uint32_t args_size;
  const struct sl_collection *collection; /* IN, OUT; OPEN_IN, OPEN_OUT: the base of all its collections */
  const char *fields;                     /* IN: the fields read, separated by blanks; "" means all. PROGRAM: the
                                           * property with the expression */
  const char *shares;                     /* OUT: port (in or out) that provides the items' offsets, or NULL */
  const char *in_place;                   /* OUT: input port; its fields' memory may be reused for fields of equal name
                                           * after their last use. Or NULL */
  const char *trait;                      /* OPEN_IN, OPEN_OUT */
  const char *unit;                       /* PROPERTY */
  const char *default_text;               /* PROPERTY: default of a string, an enumeration or an array ("[1, 2]") */
  /* Separated by blanks. PROPERTY of type enumeration: its names; READ, WRITTEN: names of the files, if the path is a
   * folder; FIELD: accepted types, "" for all */
  const char *choices;
  uint32_t type;  /* PROPERTY, SCRATCH, TABLE */
  uint32_t count; /* PROPERTY: values of an array; 0: not an array. OPEN_...: ports after it, set by the runtime */
  double default_value, minimum, maximum; /* PROPERTY, numbers and bool; the range applies to each value of an array */
  struct sl_capacity capacity;            /* OUT: items; SCRATCH: elements */
  struct sl_capacity sub_capacities[SL_GROUPS_MAX]; /* OUT: subitems or bytes, one per group */
  struct sl_term dimensions[SL_DIMENSIONS_MAX];     /* OUT: sizes of the collection's dimensions */
  struct sl_names names;                            /* OUT */
  struct sl_axis_members axes[2];                   /* OUT, totals that are a histogram (struct sl_histogram): x, y */
  const char *title;                                /* OUT, such totals: property with the title; NULL: none */
  /* FIELD: another reference; this field has one value for each event, or for each item of that one. NULL: any field.
   * The runtime refuses a graph where the field has other items. */
  const char *items_of;
  const struct sl_vocabulary *vocabulary; /* OUT: or NULL */
};

/* A field of any collection, named in the graph by `set: { member: NODE.FIELD }`; in all other respects an input. Its
 * table lists the accepted types, "f32 f64"; "" for all. Kernels read it with sl_field_begin and sl_field_f64 of
 * sluice/kernel.h. `values` is NULL for an optional reference that the graph does not set.
 */
struct sl_field_ref {
  const void *values;
  const uint32_t *offsets;      /* offsets of items; NULL for values per event */
  const uint32_t *item_offsets; /* offsets of subitems; NULL for values per event or per item */
  uint32_t type;                /* SL_TYPE_... */
  uint32_t shape;               /* SL_SHAPE_CODE_PER_EVENT, _PER_ITEM or _PER_SUBITEM */
  uint32_t width;               /* values per entry */
  uint32_t reserved;
};

/* Indices of items to the items of another collection. Members are offsets of pointers in the arguments. A link without
 * indices (bits 0..15 are 0) refers to the item with the same number in the event; bits 16..31 are the offset of the
 * pointer to the offsets of the items themselves. */
struct sl_expression_link {
  uint32_t indices; /* relative to the event; bits 16..31: 0, or the number of the link to their items, plus 1 */
  uint32_t offsets; /* of the other collection */
};
/* The program of an expression (expression.h), which the runtime compiles when it reads the graph. An algorithm with a
 * program has the expression as a string property and references for its operands (SL_OPERAND). The expression has a
 * value for each item of the first operand. The field `value` of the outputs has the unit of the expression.
 * Operands in the words, and links, are offsets in the arguments. Names in the expression are those of fields, links
 * and functions of the graph (docs/expressions.md). */
enum { SL_PROGRAM_WORDS = 256, SL_PROGRAM_OPERANDS = 16, SL_PROGRAM_LINKS = 4 };
struct sl_program {
  uint32_t word_count, link_count;
  struct sl_expression_link links[SL_PROGRAM_LINKS];
  uint64_t words[SL_PROGRAM_WORDS];
};

#include <sluice/members.h>
/* ------------------------------------------------------------------------------------------------ launches */

/* The block size of one kernel of a node. */
struct sl_kernel_block {
  const char *kernel;
  uint32_t threads;
  uint32_t reserved;
};

/* Argument of a kernel algorithm's `run`. */
struct sl_launch {
  uint32_t size;
  uint32_t block_threads;  /* the node's block size; 1 on cpu */
  uint32_t grid_blocks;    /* grid size of SL_PER_EVENT */
  uint32_t events_max;     /* E: the largest number of events in a slice */
  uint32_t device_threads; /* threads that the device runs at once */
  uint32_t block_count;
  const struct sl_kernel_block *blocks; /* kernels with another block size than block_threads */
  const struct sl_services *services;
  void *backend; /* CUDA: the stream; simt: the emulator */
  /* Enqueues an exclusive prefix sum in place, n = events in the slice: counts[0..n) become the sums, counts[n] the
   * total. Records the total in bound->used. If it exceeds bound->capacity, all n + 1 values become 0 instead, so that
   * later kernels find no items and write nothing. Refuses events with more than bound->event_limit. `bound` may be
   * NULL. Returns 0 or SL_E... */
  int (*scan)(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound);
  /* Enqueues the scan over items: n = offsets[events in the slice]; the counts of items before offsets[0] are taken as
   * 0. Capacity and errors as for `scan`. */
  int (*scan_items)(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets, const struct sl_bound *bound);
  uint32_t widen; /* CUDA: blocks of SL_PER_EVENT may be this many times as large, because few events are in flight */
  /* The most bytes that sl_grid_with_shared can request, less those of the kernel's own `__shared__` variables. The
   * device has SL_SHARED_RESERVED bytes more, for the variables of collectives. */
  uint32_t shared_bytes_max;
};
enum { SL_SHARED_RESERVED = 2048 };
/* --------------------------------------------------------------------------------------------- algorithms */

enum { SL_KIND_KERNEL, SL_KIND_CONSTANT, SL_KIND_SOURCE, SL_KIND_SINK };

/* Text of an error that kernels raise with sl_event_fail(), printed with the event's location; `detail` as "(detail
 * N)". */
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
  uint32_t takes_feed;    /* 1: a source of events that a program feeds (services->feed) */
  const struct sl_member *members;
  /* Enqueues the node's kernels for one slice. Does not wait, allocate or read device memory. */
  int (*run)(const struct sl_launch *l, const void *args);
  /* Constants: fills the arrays of the output ports, which it gets from make_array. args: properties, inputs (other
   * constants). */
  int (*make)(const struct sl_services *s, const void *args);
  const struct sl_source *source;
  const struct sl_sink *sink;
  /* All following members are optional: NULL or 0 if absent. */
  const struct sl_event_error *errors;
  uint32_t error_count;
  uint32_t reserved_errors;
  /* Checks that the properties are consistent with each other, with the names and number of a list port's inputs, and
   * with the optional inputs that are connected. `at` of a list port is NULL; bound.capacity is 0 for an input that is
   * not connected. Returns 0, or an error that it has reported through `message`. */
  int (*check)(const struct sl_services *s, const void *args);
  /* Kernels: writes the SL_COMPUTED members of `args`, and the tables that it gets from make_table. Called once, on the
   * host, after the constants were made, also if the session does not run. args: properties including strings, and
   * inputs that are constants, in host memory; all other members are zero. In `run` and in kernels, strings are
   * NULL. */
  int (*prepare)(const struct sl_services *s, void *args);
  /* Version optimised for this target, with the same results. Used by default if present. */
  int (*run_tuned)(const struct sl_launch *l, const void *args);
  const struct sl_kernel_block *blocks; /* kernels with a block size that a graph can set separately, and its default */
  uint32_t block_count;
  uint32_t reserved_blocks;
  /* Nodes of one family run together when their inputs are ready: `run_family` enqueues the work that `run` would
   * enqueue for each of `count` nodes. Algorithms of a plugin with the same `family` have the same run_family and
   * args_size. `args`: the nodes' argument structs, contiguous, in memory that kernels read; host_args: a copy in host
   * memory. */
  const char *family;
  int (*run_family)(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count);
  /* Kernels on target cpu: explains what the node decided for an event of its list, for `sluice explain` (explain.h).
   * Called on the host after `run` of the slice, with its args, before memory is reused; changes nothing that they
   * point to. Returns 1 if the event or one of its candidates is accepted, and 0 if not. */
  uint32_t (*explain)(struct sl_explanation *explanation, const void *args, uint32_t event);
};

/* A former name of an algorithm of this plugin: the error about an unknown algorithm suggests the present name. */
struct sl_former_name {
  const char *former;    /* with the plugin name of that time: "pulses.fit" */
  const char *algorithm; /* present name in this plugin: "kalman_filter" */
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
  uint32_t former_count;
  const struct sl_former_name *former_names; /* optional */
};
SL_STATIC_ASSERT(sizeof(struct sl_member) == 864, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_field_ref) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_program) == 2088, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_vocabulary) == 24, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_function) == 64, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_kernel_block) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_launch) == 72, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_event_error) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_requirement) == 48, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_explanation) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_algorithm) == 160, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_former_name) == 16, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_plugin) == 72, "frozen by the ABI");

/* Definitions. Each uses NAME_members and struct NAME_args of the same file; plugin.c declares the algorithms that it
 * lists with SL_DECLARE(NAME). */
#define SL_COUNT_(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))
#ifdef __cplusplus
#define SL_EXTERN_ extern "C"
#else
#define SL_EXTERN_ extern
#endif
/* hipcc would copy a constant table into device code, where the functions in it do not exist. */
#if defined(__HIPCC__)
#define SL_TABLE_
#else
#define SL_TABLE_ const
#endif
#define SL_DECLARE(name) \
  SL_EXTERN_ __attribute__((visibility("hidden"))) SL_TABLE_ struct sl_algorithm sl_algorithm_##name
/* A kernel algorithm: name, doc, default block size, `int run(const struct sl_launch *, const struct NAME_args *)`;
 * then any of the following, in this order. */
#define SL_ALGORITHM(name_, doc_, block_, run_, ...) \
  SL_ALGORITHM_OF_SIZE(name_, sizeof(struct name_##_args), doc_, block_, run_, __VA_ARGS__)
/* An algorithm with an argument struct padded to `size_`, the size common to its family. */
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
/* The events that it can refuse: a table of struct sl_event_error. */
#define SL_ERRORS_OF(table) .errors = table, .error_count = SL_COUNT_(table)
/* Check of its properties: int function(const struct sl_services *, const void *args). */
#define SL_CHECK(function) .check = function
/* Computation of node constants, once per node: int function(const struct sl_services *, void *args). */
#define SL_PREPARE(function) .prepare = function
/* A version optimised for the target, or NULL: int function(const struct sl_launch *, const void *args). SL_CPU_TUNED:
 * a function that exists for cpu only. */
#define SL_TUNED(function) .run_tuned = function
#ifdef SL_TARGET_CPU
#define SL_CPU_TUNED(function) SL_TUNED(function)
#else
#define SL_CPU_TUNED(function) SL_TUNED(NULL)
#endif
/* Kernels with separately settable block sizes: a table of struct sl_kernel_block. */
#define SL_BLOCKS(table) .blocks = table, .block_count = SL_COUNT_(table)
/* A source of events that a program feeds. */
#define SL_TAKES_FEED .takes_feed = 1
/* Several nodes run in one launch: see run_family. */
#define SL_FAMILY(name, function) .family = name, .run_family = function
/* A constant. Constants, sources and sinks may have SL_CHECK. */
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
/* A record source: struct sl_records `records_`, in the same file. It reads files and pipes, and takes a feed. */
#define SL_RECORD_SOURCE(name_, doc_, state_, records_, ...)                                                          \
  struct name_##_reader_ {                                                                                            \
    struct sl_record_reader *reader;                                                                                  \
    state_ state;                                                                                                     \
  };                                                                                                                  \
  static int name_##_open_(void *r_, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) { \
    struct name_##_reader_ *r = (struct name_##_reader_ *)r_;                                                         \
    return s->records->open(s, args, inputs, &(records_), &r->state, &r->reader);                                     \
  }                                                                                                                   \
  static int name_##_fill_(void *r, const struct sl_services *s, const void *args, struct sl_fill *fill) {            \
    return s->records->fill(((struct name_##_reader_ *)r)->reader, s, args, fill);                                    \
  }                                                                                                                   \
  static void name_##_close_(void *r) {                                                                               \
    struct sl_record_reader *reader = ((struct name_##_reader_ *)r)->reader;                                          \
    if (reader) reader->close(reader);                                                                                \
  }                                                                                                                   \
  static int name_##_probe_(const unsigned char *bytes, size_t count) {                                               \
    return (records_).probe ? (records_).probe(bytes, count) : 0;                                                     \
  }                                                                                                                   \
  static int64_t name_##_header_(const char *path, const unsigned char *bytes, size_t count,                          \
                                 const struct sl_header_calls *calls) {                                               \
    return (records_).header ? (records_).header(path, bytes, count, calls) : 0;                                      \
  }                                                                                                                   \
  static const struct sl_source name_##_source_ = {                                                                   \
      name_##_open_, name_##_fill_, name_##_close_, name_##_probe_, NULL, name_##_header_, NULL};                     \
  SL_SOURCE(name_, doc_, struct name_##_reader_, name_##_source_, SL_TAKES_FEED, __VA_ARGS__)
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

/* plugin.c: the table `algorithms` of pointers, then SL_PLUGIN(name, version, doc), optionally followed by a table of
 * struct sl_former_name: SL_FORMER_NAMES(table). The build defines SL_TARGET. */
#define SL_ENTRY(name)         &sl_algorithm_##name
#define SL_FORMER_NAMES(table) .former_count = SL_COUNT_(table), .former_names = table
#define SL_PLUGIN(name_, version_, doc_, ...)                                             \
  SL_EXTERN_ __attribute__((visibility("default"))) const struct sl_plugin sluice_plugin; \
  const struct sl_plugin sluice_plugin = {.magic = SL_PLUGIN_MAGIC,                       \
                                          .size = (uint32_t)sizeof(struct sl_plugin),     \
                                          .abi_version = SL_ABI_VERSION,                  \
                                          .name = name_,                                  \
                                          .version = version_,                            \
                                          .target = SL_TARGET,                            \
                                          .doc = doc_,                                    \
                                          .algorithms = algorithms,                       \
                                          .algorithm_count = SL_COUNT_(algorithms),       \
                                          __VA_ARGS__}

#ifdef __cplusplus
}
#endif
#endif
