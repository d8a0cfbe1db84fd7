/* collections.h: the data that algorithms pass to each other: collections of fields, lists of events, and capacities;
 * and the error codes of functions. Part of plugin.h, which describes algorithms.
 */
#ifndef SLUICE_COLLECTIONS_H
#define SLUICE_COLLECTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SL_STATIC_ASSERT(condition, text) static_assert(condition, text)
extern "C" {
#else
#define SL_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define SL_UNUSED __attribute__((unused))

/* ------------------------------------------------------------------------------------------------ errors */

/* Return values of functions: 0 or one of these. The text for users goes through `message` of struct sl_services. */
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

/* Shapes: the number of entries of a field, for a slice of E events.
 *   PER_SLICE         1
 *   PER_EVENT         E                  (PER_EVENT_OF(n): n values for each event)
 *   OFFSETS           E + 1, u32         items of event e are [offsets[e], offsets[e+1]); first entry need not be 0
 *   PER_ITEM          item capacity      (PER_ITEM_OF(n): n values for each item)
 *   ITEM_OFFSETS      item capacity + 1, u32: subitems of item i are [o[i], o[i+1])
 *   PER_SUBITEM       subitem capacity
 *   BYTES             subitem capacity   a pool of u32 words (raw bank payloads). If the collection has the PER_ITEM
 *                     fields `first_word`, u32, and `size_bytes`, u16 or u32, item i has the size_bytes[i] bytes from
 *                     pool[first_word[i]] on, the words are in any order, and the port can be an output
 *   ARRAY             number of values that `make` allocates; constants only
 *   TOTAL             item capacity      (TOTAL_OF(n): n values for each) u32, u64 or i64: counts over the run
 *   PER_EVENT_BY(d, ...), PER_ITEM_BY(d, ...)  an array for each event or item; its axes are the dimensions d, ..., and
 *                     the last axis is contiguous
 *   DIMENSION         no entries: `uint32_t NAME` in the struct, the size of an axis, equal for all events of a run
 * A collection may have up to SL_GROUPS_MAX groups of subitems, each with its own capacity: an ITEM_OFFSETS field
 * begins a group, which contains the PER_SUBITEM fields after it; a BYTES field is a group by itself. An output with
 * TOTAL fields has no fields of other shapes, and only kernels write it. The fields are 0 before the kernel runs on a
 * slice; the kernel adds to them with sl_total_add (kernel.h), and the runtime sums them over the run, counting each
 * event once. Indices stored in any other field are relative to the event. Only OFFSETS and ITEM_OFFSETS are relative
 * to the slice. An algorithm that writes ITEM_OFFSETS also writes entry 0, even if no event is on its list. */
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
#define SL_SHAPE_PER_SLICE         SL_SHAPE_CODE_PER_SLICE, 1, 0, NULL
#define SL_SHAPE_PER_EVENT         SL_SHAPE_CODE_PER_EVENT, 1, 0, NULL
#define SL_SHAPE_PER_EVENT_OF(n)   SL_SHAPE_CODE_PER_EVENT, n, 0, NULL
#define SL_SHAPE_PER_EVENT_BY(...) SL_SHAPE_CODE_PER_EVENT, 0, 0, #__VA_ARGS__
#define SL_SHAPE_OFFSETS           SL_SHAPE_CODE_OFFSETS, 1, 0, NULL
#define SL_SHAPE_PER_ITEM          SL_SHAPE_CODE_PER_ITEM, 1, 0, NULL
#define SL_SHAPE_PER_ITEM_OF(n)    SL_SHAPE_CODE_PER_ITEM, n, 0, NULL
#define SL_SHAPE_PER_ITEM_BY(...)  SL_SHAPE_CODE_PER_ITEM, 0, 0, #__VA_ARGS__
#define SL_SHAPE_ITEM_OFFSETS      SL_SHAPE_CODE_ITEM_OFFSETS, 1, 0, NULL
#define SL_SHAPE_PER_SUBITEM       SL_SHAPE_CODE_PER_SUBITEM, 1, 0, NULL
#define SL_SHAPE_BYTES             SL_SHAPE_CODE_BYTES, 1, 0, NULL
#define SL_SHAPE_ARRAY             SL_SHAPE_CODE_ARRAY, 1, 0, NULL
#define SL_SHAPE_TOTAL             SL_SHAPE_CODE_TOTAL, 1, 0, NULL
#define SL_SHAPE_TOTAL_OF(n)       SL_SHAPE_CODE_TOTAL, n, 0, NULL
enum { SL_GROUPS_MAX = 4, SL_DIMENSIONS_MAX = 4 };

struct sl_field {
  const char *name;
  uint32_t type;  /* SL_TYPE_... */
  uint32_t shape; /* SL_SHAPE_CODE_... */
  uint32_t width; /* values per entry; of a field by dimensions: their product, 0 in the tables of a plugin */
  uint32_t reserved;
  const char *dimensions; /* "time, channels": the axes, slowest first; NULL: none */
  const char *unit;       /* "" for none */
  const char *doc;
};

/* An axis of fields. Each output port has sizes of its own: see SL_DIMENSIONS in members.h. */
struct sl_dimension {
  const char *name;
  const char *unit;
  const char *doc;
  uint32_t size; /* 0 in the tables of a plugin; resolved for each port of a graph */
  uint32_t reserved;
};

/* Common properties of a kind of collections, so that algorithms that do not know the collections by name can fill or
 * read them through an open port (members.h). The owner of the trait provides a macro that declares a collection with
 * it. Rationale: a file reader is built once, and later plugins declare which parts of an event they need. */
struct sl_trait {
  const char *name; /* "io.raw_banks" */
  const char *port; /* name of the open port's port for this collection; unique */
  /* The port as an output, with its capacities, then the budgets used in them; empty if no open port writes it. */
  const struct sl_member *members;
  uint32_t member_count;
  uint32_t data_bytes;
  const void *data; /* plain bytes, defined by the owner of the trait; identical in all plugins that declare the
                     * collection */
};

struct sl_collection {
  const char *name;
  const char *doc;
  const struct sl_field *fields;
  uint32_t field_count;
  uint32_t dimension_count;
  const struct sl_trait *trait; /* or NULL */
  const struct sl_dimension *dimensions;
};

/* The capacity that the planner gave a port, and its use. `used` records the most items that any launch of the slice
 * needed; NULL if nothing is bounded. used > capacity is an overflow: the runtime runs the slice again in smaller
 * parts. Writers never write at or beyond `capacity`. No event may have more than `event_limit` items, which is the
 * capacity of a slice of one event. Sources, and the scans of struct sl_launch, refuse events that need more.
 * Rationale: whether an event is refused depends on the event only. */
struct sl_bound {
  uint32_t capacity;
  uint32_t event_limit;
  uint32_t *used;
  uint64_t limit_error; /* set by the runtime: error word of an event that exceeds event_limit, without the count */
};

/* Declares a collection. F(name, type, shape, unit, doc) for each field gives `struct NAME` (pointers for writing),
 * `struct NAME_view` (pointers for reading), `struct NAME_views` (for a list port: the views of its producers), and
 * `NAME_collection`, their description. The first two consist of the field pointers in order, then `bound` (items),
 * then FIELD_bound for each ITEM_OFFSETS field (its subitems) or BYTES field, then the sizes of the dimensions. In the
 * third, `at` is in the memory that the algorithm reads (a kernel's: on the device), `names` in host memory: for check,
 * make and sinks, not for kernels. */
#define SL_COLLECTION(name_, FIELDS, doc_) SL_COLLECTION_WITH_TRAIT(name_, FIELDS, doc_, NULL)
#define SL_COLLECTION_WITH_TRAIT(name_, FIELDS, doc_, trait_)                                                         \
  SL_COLLECTION_(name_, doc_, trait_, FIELDS(SL_POINTER_), FIELDS(SL_CONST_POINTER_), FIELDS(SL_BOUND_),              \
                 FIELDS(SL_DIMENSION_), FIELDS(SL_FIELD_ENTRY_), FIELDS(SL_DIMENSION_ENTRY_), FIELDS(SL_PLUS_BOUND_), \
                 FIELDS(SL_PLUS_DIMENSION_))
/* A collection with parameters in its table, because several collections differ only in a type, a unit, a name or a
 * doc: the table takes them after F, FIELDS(F, type, unit), and the arguments here follow the doc. */
#define SL_COLLECTION_OF(name_, FIELDS, doc_, ...)                                                            \
  SL_COLLECTION_(name_, doc_, NULL, FIELDS(SL_POINTER_, __VA_ARGS__), FIELDS(SL_CONST_POINTER_, __VA_ARGS__), \
                 FIELDS(SL_BOUND_, __VA_ARGS__), FIELDS(SL_DIMENSION_, __VA_ARGS__),                          \
                 FIELDS(SL_FIELD_ENTRY_, __VA_ARGS__), FIELDS(SL_DIMENSION_ENTRY_, __VA_ARGS__),              \
                 FIELDS(SL_PLUS_BOUND_, __VA_ARGS__), FIELDS(SL_PLUS_DIMENSION_, __VA_ARGS__))
#define SL_COLLECTION_(name_, doc_, trait_, pointers_, const_pointers_, bounds_, dimensions_, entries_,           \
                       dimension_entries_, plus_bounds_, plus_dimensions_)                                        \
  struct name_ {                                                                                                  \
    pointers_ struct sl_bound bound;                                                                              \
    bounds_ dimensions_                                                                                           \
  };                                                                                                              \
  struct name_##_view {                                                                                           \
    const_pointers_ struct sl_bound bound;                                                                        \
    bounds_ dimensions_                                                                                           \
  };                                                                                                              \
  struct name_##_views {                                                                                          \
    const struct name_##_view *at;                                                                                \
    const char *const *names;                                                                                     \
    uint32_t count, reserved;                                                                                     \
  };                                                                                                              \
  static const struct sl_field name_##_fields[] SL_UNUSED = {entries_};                                           \
  static const struct sl_dimension name_##_dimensions[] SL_UNUSED = {dimension_entries_{NULL, NULL, NULL, 0, 0}}; \
  static const struct sl_collection name_##_collection SL_UNUSED = {                                              \
      #name_,                                                                                                     \
      doc_,                                                                                                       \
      name_##_fields,                                                                                             \
      sizeof(name_##_fields) / sizeof(name_##_fields[0]),                                                         \
      0 plus_dimensions_,                                                                                         \
      trait_,                                                                                                     \
      name_##_dimensions};                                                                                        \
  SL_STATIC_ASSERT(sizeof(struct name_) == sizeof(name_##_fields) / sizeof(name_##_fields[0]) * sizeof(void *) +  \
                                               (1 plus_bounds_) * sizeof(struct sl_bound) +                       \
                                               (1 + (0 plus_dimensions_)) / 2 * 2 * sizeof(uint32_t),             \
                   "a collection holds pointers, bounds and dimensions only")
#define SL_POINTER_(name, type, shape, unit, doc) SL_PASTE_(SL_FIELD_IF_, SL_KIND_##shape)(sl_c_##type * name;)
#define SL_CONST_POINTER_(name, type, shape, unit, doc) \
  SL_PASTE_(SL_FIELD_IF_, SL_KIND_##shape)(const sl_c_##type *name;)
#define SL_DIMENSION_(name, type, shape, unit, doc) SL_PASTE_(SL_DIMENSION_IF_, SL_KIND_##shape)(uint32_t name;)
/* The bound of a group. */
#define SL_BOUND_(name, type, shape, unit, doc) SL_PASTE_(SL_BOUND_IF_, SL_KIND_##shape)(struct sl_bound name##_bound;)
#define SL_FIELD_ENTRY_(name, type, shape, unit, doc) \
  SL_PASTE_(SL_FIELD_IF_, SL_KIND_##shape)({#name, SL_TYPE_##type, SL_SHAPE_##shape, unit, doc}, )
#define SL_DIMENSION_ENTRY_(name, type, shape, unit, doc) \
  SL_PASTE_(SL_DIMENSION_IF_, SL_KIND_##shape)({#name, unit, doc, 0, 0}, )
#define SL_PLUS_BOUND_(name, type, shape, unit, doc)     SL_PASTE_(SL_BOUND_IF_, SL_KIND_##shape)(+1)
#define SL_PLUS_DIMENSION_(name, type, shape, unit, doc) SL_PASTE_(SL_DIMENSION_IF_, SL_KIND_##shape)(+1)
#define SL_PASTE_(a, b)                                  SL_PASTE__(a, b)
#define SL_PASTE__(a, b)                                 a##b
/* Kinds of entries of the table: a field, a field that begins a group of subitems, a dimension. */
#define SL_KIND_PER_SLICE         a_field
#define SL_KIND_PER_EVENT         a_field
#define SL_KIND_PER_EVENT_OF(n)   a_field
#define SL_KIND_PER_EVENT_BY(...) a_field
#define SL_KIND_OFFSETS           a_field
#define SL_KIND_PER_ITEM          a_field
#define SL_KIND_PER_ITEM_OF(n)    a_field
#define SL_KIND_PER_ITEM_BY(...)  a_field
#define SL_KIND_ITEM_OFFSETS      a_group
#define SL_KIND_PER_SUBITEM       a_field
#define SL_KIND_BYTES             a_group
#define SL_KIND_ARRAY             a_field
#define SL_KIND_TOTAL             a_field
#define SL_KIND_TOTAL_OF(n)       a_field
#define SL_KIND_DIMENSION         a_dimension
#define SL_FIELD_IF_a_field(...)  __VA_ARGS__
#define SL_FIELD_IF_a_group(...)  __VA_ARGS__
#define SL_FIELD_IF_a_dimension(...)
#define SL_BOUND_IF_a_field(...)
#define SL_BOUND_IF_a_group(...) __VA_ARGS__
#define SL_BOUND_IF_a_dimension(...)
#define SL_DIMENSION_IF_a_field(...)
#define SL_DIMENSION_IF_a_group(...)
#define SL_DIMENSION_IF_a_dimension(...) __VA_ARGS__

/* Sizes of the axes of a field, slowest first, and their number: 0 for one value per entry, 1 for _OF(n), or one for
 * each dimension. For collections of a run. */
static inline SL_UNUSED uint32_t sl_field_axes(const struct sl_collection *c, const struct sl_field *f,
                                               uint32_t sizes[SL_DIMENSIONS_MAX]) {
  uint32_t count = 0;
  sizes[0] = f->width;
  if (!f->dimensions) return f->width > 1;
  for (const char *name = f->dimensions; *name && count < SL_DIMENSIONS_MAX; count++) {
    const size_t length = __builtin_strcspn(name, ",");
    for (uint32_t d = 0; d < c->dimension_count; d++)
      if (__builtin_strncmp(c->dimensions[d].name, name, length) == 0 && c->dimensions[d].name[length] == 0)
        sizes[count] = c->dimensions[d].size;
    name += length + __builtin_strspn(name + length, ", ");
  }
  return count;
}

/* The runtime's own collection: a list of events, in ascending order. */
#define SL_EVENT_LIST_FIELDS(F)                                \
  F(count, u32, PER_SLICE, "", "number of events on the list") \
  F(numbers, u32, PER_EVENT, "", "their numbers in the slice, ascending; `count` of them are valid")
SL_COLLECTION(sl_event_list, SL_EVENT_LIST_FIELDS, "a list of events, on which nodes can run");

/* The events that a node processes; member `events` of the argument struct of every kernel algorithm. `numbers` is NULL
 * if the node processes all events of the slice. */
struct sl_events {
  const uint32_t *count;   /* one value, on the device */
  const uint32_t *numbers; /* ascending */
  uint64_t *errors;        /* per event of the slice: 0, or the error word with the highest priority so far */
  uint64_t error_base;     /* set by the runtime: identifies the node in error words */
  uint32_t max;            /* E: the largest number of events in a slice */
  uint32_t reserved;
};

/* --------------------------------------------------------------------------------------------- capacities */

/* Capacities are data: the minimum, maximum, sum or product of up to SL_TERMS_MAX terms. E is the largest number of
 * events in a slice. The capacity of a list port is the sum over its producers. */
enum {
  SL_TERM_NONE,
  SL_TERM_CONSTANT,      /* add */
  SL_TERM_EVENTS,        /* E * multiply / divide + add */
  SL_TERM_ITEMS,         /* item capacity of port `of` * multiply / divide + add */
  SL_TERM_SUBITEMS,      /* subitem capacity of port and group `of` * multiply / divide + add */
  SL_TERM_BUDGET,        /* property `of` * E * multiply / divide, and at least `add`, the limit of one event */
  SL_TERM_ENTRIES,       /* producers of list port `of` * multiply / divide + add */
  SL_TERM_EVENT_ENTRIES, /* producers of list port `of` * E * multiply / divide + add */
  SL_TERM_PROPERTY,      /* u32 property `of`, not a budget, * multiply / divide + add */
  SL_TERM_DIMENSION      /* dimension `of`, "PORT.NAME", * multiply / divide + add */
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
  struct sl_term terms[SL_TERMS_MAX]; /* unused terms, at the end, are SL_TERM_NONE */
};

SL_STATIC_ASSERT(sizeof(struct sl_field) == 48, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_dimension) == 32, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_trait) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_collection) == 48, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_bound) == 24, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_events) == 40, "frozen by the ABI");
SL_STATIC_ASSERT(sizeof(struct sl_capacity) == 104, "frozen by the ABI");

#ifdef __cplusplus
}
#endif
#endif
