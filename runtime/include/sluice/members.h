/* members.h: how an algorithm declares its arguments: the member table for the runtime, and the struct that `run`,
 * kernels, `make`, sources and sinks get. Macros only; plugin.h includes it and declares the types.
 *
 * One table gives both. An entry is M(KIND, member, ...), with the further arguments of SL_KIND below.
 *   #define SL_ARGS radius_args
 *   #define RADIUS(M)                                                       \
 *     M(IN, points, plane_points, "offsets x y", "any order")               \
 *     M(OUT, radii, plane_radii, "one per point", SL_SHARES_OFFSETS(points)) \
 *     M(F32, near, 10.0, 0.0, 50.0, "m", "largest radius that counts as near")
 *   SL_ARGUMENTS(radius, RADIUS);
 * expands to
 *   #define SL_ARGS radius_args
 *   struct radius_args {
 *     struct sl_events events;
 *     struct plane_points_view points;
 *     struct plane_radii radii;
 *     float near;
 *   };
 *   static const struct sl_member radius_members[] = {
 *     SL_EVENTS(),
 *     SL_IN(points, plane_points, "offsets x y", "any order"),
 *     SL_OUT(radii, plane_radii, "one per point", SL_SHARES_OFFSETS(points)),
 *     SL_F32(near, 10.0, 0.0, 50.0, "m", "largest radius that counts as near"),
 *   };
 * Use the second form for a struct with members that the runtime does not fill, such as a sink's own.
 */
#ifndef SLUICE_MEMBERS_H
#define SLUICE_MEMBERS_H

/* ----------------------------------------------------------------------------------------------- capacities */

#define SL_CONSTANT_TERM(n) \
  { SL_TERM_CONSTANT, 1, 1, n, NULL }
#define SL_EVENTS_TERM(multiply, add) \
  { SL_TERM_EVENTS, multiply, 1, add, NULL }
#define SL_ITEMS_TERM(port) \
  { SL_TERM_ITEMS, 1, 1, 0, #port }
#define SL_ITEMS_SCALED(port, multiply, divide, add) \
  { SL_TERM_ITEMS, multiply, divide, add, #port }
#define SL_SUBITEMS_TERM(port) \
  { SL_TERM_SUBITEMS, 1, 1, 0, #port }
#define SL_SUBITEMS_SCALED(port, multiply, divide, add) \
  { SL_TERM_SUBITEMS, multiply, divide, add, #port }
#define SL_BUDGET_TERM(property, at_least) \
  { SL_TERM_BUDGET, 1, 1, at_least, #property }
#define SL_ENTRIES_TERM(port) \
  { SL_TERM_ENTRIES, 1, 1, 0, #port }
#define SL_EVENT_ENTRIES_TERM(port) \
  { SL_TERM_EVENT_ENTRIES, 1, 1, 0, #port }
#define SL_EVENT_ENTRIES_SCALED(port, multiply, divide, add) \
  { SL_TERM_EVENT_ENTRIES, multiply, divide, add, #port }
#define SL_PROPERTY_TERM(property, add) \
  { SL_TERM_PROPERTY, 1, 1, add, #property }
#define SL_DIMENSION_TERM(port, dimension) \
  { SL_TERM_DIMENSION, 1, 1, 0, #port "." #dimension }
#define SL_DIMENSION_SCALED(port, dimension, multiply, divide, add) \
  { SL_TERM_DIMENSION, multiply, divide, add, #port "." #dimension }
/* SL_ONE: one term. SL_MIN, SL_MAX, SL_SUM, SL_PRODUCT: the minimum, maximum, sum or product of up to four. */
#define SL_ONE(term) SL_MAX(term)
#define SL_MIN(...)                    \
  {                                    \
    SL_COMBINE_MIN, 0, { __VA_ARGS__ } \
  }
#define SL_MAX(...)                    \
  {                                    \
    SL_COMBINE_MAX, 0, { __VA_ARGS__ } \
  }
#define SL_SUM(...)                    \
  {                                    \
    SL_COMBINE_SUM, 0, { __VA_ARGS__ } \
  }
#define SL_PRODUCT(...)                    \
  {                                        \
    SL_COMBINE_PRODUCT, 0, { __VA_ARGS__ } \
  }

/* -------------------------------------------------------------------------------------------------- members */

/* Further arguments of SL_OUT, in this order: SL_SHARES_OFFSETS(port), SL_IN_PLACE(port), SL_ITEMS(capacity),
 * SL_SUBITEMS(capacity, ...) with one capacity per group in the order of the fields, SL_DIMENSIONS(term, ...) with one
 * term per dimension in their order: SL_CONSTANT_TERM, SL_PROPERTY_TERM, SL_DIMENSION_TERM or SL_DIMENSION_SCALED of an
 * input. A term refers to the subitems of a port as PORT, or, if the port has several groups, as PORT.FIELD, with the
 * field that begins the group. SL_ENTRY_NAMES, SL_BIT_NAMES and SL_INDEX_NAMES give the entries the names of the
 * producers of a list port, in all results of a run (struct sl_names). SL_HISTOGRAM and SL_HISTOGRAM_2D, instead of
 * SL_ITEMS: the entries are the bins of a histogram, with the layout of struct sl_histogram. Their arguments are
 * members of the algorithm: the title (a string property), and for each axis a field reference, the number of bins, and
 * the lower and upper limit. */
#ifdef __cplusplus
#define SL_OFFSET_(member, type) (uint32_t) offsetof(struct SL_ARGS, member)
#else
/* Compile error, with the name of the member, if the member's type differs from that of its entry. */
#define SL_TEXT_(name)  SL_TEXT__(name)
#define SL_TEXT__(name) #name
#define SL_OFFSET_(member, ...)                                                                                     \
  (uint32_t)(offsetof(struct SL_ARGS, member) +                                                                     \
             0 * sizeof(struct {                                                                                    \
               _Static_assert(__builtin_types_compatible_p(__typeof__(((struct SL_ARGS *)0)->member), __VA_ARGS__), \
                              "struct " SL_TEXT_(SL_ARGS) ": the member `" #member                                  \
                                                          "` is not of the type of its entry: " #__VA_ARGS__);      \
               char unused;                                                                                         \
             }))
#endif
#define SL_SIZE_(member) (uint32_t)sizeof(((struct SL_ARGS *)0)->member)

#define SL_EVENTS()                                                                        \
  {                                                                                        \
    .name = "events", .doc = "the events to run on", .kind = SL_MEMBER_EVENTS, .flags = 0, \
    .args_offset = SL_OFFSET_(events, struct sl_events), .args_size = SL_SIZE_(events)     \
  }
#define SL_IN_(member, coll, view, fields_, doc_, flags_)                                                            \
  {                                                                                                                  \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_IN, .flags = flags_,                                             \
    .args_offset = SL_OFFSET_(member, struct view), .args_size = SL_SIZE_(member), .collection = &coll##_collection, \
    .fields = fields_                                                                                                \
  }
#define SL_IN(member, coll, fields_, doc_) SL_IN_(member, coll, coll##_view, fields_, doc_, 0)
/* An input that the graph does not set is connected automatically if exactly one port provides its collection; several
 * are an error. SL_IN: it must be connected. SL_OPTIONAL_IN: connected only if the graph sets it. SL_AUTO_IN, for
 * sinks: connected automatically if possible. An event list is connected only if the graph sets it. Rationale: the
 * results of a node do not depend on other nodes of the graph. */
#define SL_OPTIONAL_IN(member, coll, fields_, doc_) SL_IN_(member, coll, coll##_view, fields_, doc_, SL_FLAG_OPTIONAL)
#define SL_AUTO_IN(member, coll, fields_, doc_) \
  SL_IN_(member, coll, coll##_view, fields_, doc_, SL_FLAG_OPTIONAL | SL_FLAG_AUTO)
/* A list port: any number of producers, including none; the graph lists them in order. The member is a `struct
 * COLLECTION_views`. The node does not inherit the event lists of the producers: an event that is not on a producer's
 * list has no items of that producer. */
#define SL_LIST_IN(member, coll, fields_, doc_) SL_IN_(member, coll, coll##_views, fields_, doc_, SL_FLAG_LIST)
#define SL_OUT(member, coll, doc_, ...)                                                                              \
  {                                                                                                                  \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_OUT, .flags = 0, .args_offset = SL_OFFSET_(member, struct coll), \
    .args_size = SL_SIZE_(member), .collection = &coll##_collection, __VA_ARGS__                                     \
  }
/* Open ports, of sources (SL_OPEN_OUT) and sinks (SL_OPEN_IN): the runtime replaces an open port by one port for each
 * collection with the trait, in the tables of all plugins found; an input port is an SL_AUTO_IN. In all other
 * respects these are normal ports. The collections have the fields of `base`. The member is a struct BASE_ports
 * (SL_OPEN_OUT) or BASE_view_ports (SL_OPEN_IN), which SL_OPEN_PORTS(BASE) declares:
 *   at       an array with one entry per port
 *   ports    the ports' members, in ascending order of their names; ports[i].collection->trait is the trait */
#define SL_OPEN_PORTS(base)        \
  struct base##_ports {            \
    struct base *at;               \
    const struct sl_member *ports; \
    uint32_t count, reserved;      \
  };                               \
  struct base##_view_ports {       \
    struct base##_view *at;        \
    const struct sl_member *ports; \
    uint32_t count, reserved;      \
  };                               \
  SL_STATIC_ASSERT(sizeof(struct base##_ports) == 24, "the runtime fills it")
#define SL_OPEN_IN(member, base, trait_, fields_, doc_)                                         \
  {                                                                                             \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_OPEN_IN, .flags = 0,                        \
    .args_offset = SL_OFFSET_(member, struct base##_view_ports), .args_size = SL_SIZE_(member), \
    .collection = &base##_collection, .fields = fields_, .trait = trait_                        \
  }
#define SL_OPEN_OUT(member, base, trait_, doc_)                                            \
  {                                                                                        \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_OPEN_OUT, .flags = 0,                  \
    .args_offset = SL_OFFSET_(member, struct base##_ports), .args_size = SL_SIZE_(member), \
    .collection = &base##_collection, .trait = trait_                                      \
  }
/* The members of a trait: the port, with SL_ITEMS and SL_SUBITEMS as in SL_OUT, then its budgets. All struct members
 * are initialised, because headers with traits are also compiled as C++ with warnings for missing initialisers. */
#define SL_TRAIT_MEMBER_(name_, doc_, kind_, flags_, bytes_, unit_, type_, default_, min_, max_)                \
  .name = name_, .doc = doc_, .kind = kind_, .flags = flags_, .args_offset = 0, .args_size = bytes_,            \
  .collection = NULL, .fields = NULL, .shares = NULL, .in_place = NULL, .trait = NULL, .unit = unit_,           \
  .default_text = NULL, .choices = NULL, .type = type_, .count = 0, .default_value = default_, .minimum = min_, \
  .maximum = max_
#define SL_TRAIT_REST_                                                              \
  .dimensions = {{SL_TERM_NONE, 0, 0, 0, NULL}}, .names = {NULL, NULL, NULL, 0, 0}, \
  .axes = {{NULL, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL}}, .title = NULL, .items_of = NULL, .vocabulary = NULL
#define SL_TRAIT_OUT(port, ...) \
  { SL_TRAIT_MEMBER_(#port, "", SL_MEMBER_OUT, 0, 0, NULL, 0, 0, 0, 0), __VA_ARGS__, SL_TRAIT_REST_ }
#define SL_TRAIT_BUDGET(name_, default_, min_, max_, doc_)                                                            \
  {                                                                                                                   \
    SL_TRAIT_MEMBER_(#name_, doc_, SL_MEMBER_PROPERTY, SL_FLAG_BUDGET, sizeof(uint32_t), "per event", SL_TYPE_u32,    \
                     default_, min_, max_),                                                                           \
        .capacity = SL_MIN({SL_TERM_NONE, 0, 0, 0, NULL}), .sub_capacities = {SL_MIN({SL_TERM_NONE, 0, 0, 0, NULL})}, \
        SL_TRAIT_REST_                                                                                                \
  }
#define SL_SHARES_OFFSETS(port)            .shares = #port
#define SL_IN_PLACE(port)                  .in_place = #port
#define SL_VOCABULARY(table)               .vocabulary = &(table)
#define SL_ITEMS(...)                      .capacity = __VA_ARGS__
#define SL_SUBITEMS(...)                   .sub_capacities = {__VA_ARGS__}
#define SL_DIMENSIONS(...)                 .dimensions = {__VA_ARGS__}
#define SL_ENTRY_NAMES(port, label)        .names = {#port, label, NULL, SL_NAMES_OF_ENTRIES, 0}
#define SL_BIT_NAMES(port, label, field)   .names = {#port, label, #field, SL_NAMES_OF_BITS, 0}
#define SL_INDEX_NAMES(port, label, field) .names = {#port, label, #field, SL_NAMES_OF_INDICES, 0}
#define SL_HISTOGRAM(title_, of, bins, lower, upper) \
  .capacity = SL_ONE(SL_PROPERTY_TERM(bins, SL_AXIS_BESIDE)), .axes = {{#of, #bins, #lower, #upper}}, .title = #title_
#define SL_HISTOGRAM_2D(title_, x, x_bins, x_lower, x_upper, y, y_bins, y_lower, y_upper)                     \
  .capacity = SL_PRODUCT(SL_PROPERTY_TERM(x_bins, SL_AXIS_BESIDE), SL_PROPERTY_TERM(y_bins, SL_AXIS_BESIDE)), \
  .axes = {{#x, #x_bins, #x_lower, #x_upper}, {#y, #y_bins, #y_lower, #y_upper}}, .title = #title_
#define SL_SCRATCH(member, type_, doc_, ...) SL_SCRATCH_(member, type_, doc_, 0, __VA_ARGS__)
/* Scratch that only the tuned version uses, or only `run`. If the node runs the other version, it is not allocated and
 * the pointer is NULL. */
#define SL_TUNED_SCRATCH(member, type_, doc_, ...)  SL_SCRATCH_(member, type_, doc_, SL_FLAG_TUNED, __VA_ARGS__)
#define SL_SHARED_SCRATCH(member, type_, doc_, ...) SL_SCRATCH_(member, type_, doc_, SL_FLAG_SHARED, __VA_ARGS__)
#define SL_SCRATCH_(member, type_, doc_, flags_, ...)                                                          \
  {                                                                                                            \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_SCRATCH, .flags = flags_,                                  \
    .args_offset = SL_OFFSET_(member, sl_c_##type_ *), .args_size = SL_SIZE_(member), .type = SL_TYPE_##type_, \
    .capacity = __VA_ARGS__                                                                                    \
  }
#define SL_PROPERTY_(member, c_type, type_, default_, min_, max_, unit_, doc_, flags_)                                \
  {                                                                                                                   \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_PROPERTY, .flags = flags_,                                        \
    .args_offset = SL_OFFSET_(member, c_type), .args_size = SL_SIZE_(member), .unit = unit_, .type = SL_TYPE_##type_, \
    .default_value = default_, .minimum = min_, .maximum = max_                                                       \
  }
#define SL_F32(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, float, f32, default_, min_, max_, unit, doc, 0)
#define SL_F64(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, double, f64, default_, min_, max_, unit, doc, 0)
#define SL_U32(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, uint32_t, u32, default_, min_, max_, unit, doc, 0)
#define SL_I32(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, int32_t, i32, default_, min_, max_, unit, doc, 0)
#define SL_U64(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, uint64_t, u64, default_, min_, max_, unit, doc, 0)
/* Properties of sources: values of the input's header (struct sl_source). Without an input they have the default, or
 * the value that the graph sets; an input with another value than the graph sets is refused. Properties of other nodes
 * refer to them as ${NODE.PROPERTY}. */
#define SL_INPUT_U32(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, uint32_t, u32, default_, min_, max_, unit, doc, SL_FLAG_INPUT)
#define SL_INPUT_U64(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, uint64_t, u64, default_, min_, max_, unit, doc, SL_FLAG_INPUT)
#define SL_INPUT_F64(member, default_, min_, max_, unit, doc) \
  SL_PROPERTY_(member, double, f64, default_, min_, max_, unit, doc, SL_FLAG_INPUT)
/* Properties that the reader of a record source uses, if the source has them. */
#define SL_RECORD_PROPERTIES(M)                                                                                       \
  M(BOOL, strict, 0, "end the run at the first record that cannot be read")                                           \
  M(U32, linger_us, 1000, 0, 10000000, "us", "longest time that a slice with events waits for more events of a feed") \
  M(U32, timeout_s, 0, 0, 1000000, "s", "the run fails if a feed gives nothing for this time; 0: no limit")
#define SL_BOOL(member, default_, doc) SL_PROPERTY_(member, uint32_t, bool, default_, 0, 1, "", doc, 0)
/* A fixed number of values: `float member[count]`. The default is a text, "[1.5, 2, -3]"; the range applies to each
 * value. */
#define SL_ARRAY_(member, c_type, type_, count_, default_, min_, max_, unit_, doc_)                                   \
  {                                                                                                                   \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_PROPERTY, .flags = 0, .args_offset = SL_OFFSET_(member, c_type),  \
    .args_size = SL_SIZE_(member), .unit = unit_, .default_text = default_, .type = SL_TYPE_##type_, .count = count_, \
    .minimum = min_, .maximum = max_                                                                                  \
  }
#define SL_F32_ARRAY(member, count, default_, min_, max_, unit, doc) \
  SL_ARRAY_(member, float[count], f32, count, default_, min_, max_, unit, doc)
#define SL_F64_ARRAY(member, count, default_, min_, max_, unit, doc) \
  SL_ARRAY_(member, double[count], f64, count, default_, min_, max_, unit, doc)
#define SL_U32_ARRAY(member, count, default_, min_, max_, unit, doc) \
  SL_ARRAY_(member, uint32_t[count], u32, count, default_, min_, max_, unit, doc)
#define SL_I32_ARRAY(member, count, default_, min_, max_, unit, doc) \
  SL_ARRAY_(member, int32_t[count], i32, count, default_, min_, max_, unit, doc)
/* One of several names, given as "first busiest". The argument struct contains the index of the chosen name as
 * uint32_t. */
#define SL_ENUM(member, default_, doc_, choices_)                                                                      \
  {                                                                                                                    \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_PROPERTY, .flags = 0, .args_offset = SL_OFFSET_(member, uint32_t), \
    .args_size = SL_SIZE_(member), .unit = "", .default_text = default_, .choices = choices_,                          \
    .type = SL_TYPE_enumeration                                                                                        \
  }
/* A budget: a u32 property, per event, that capacities refer to. */
#define SL_BUDGET(member, default_, min_, max_, doc) \
  SL_PROPERTY_(member, uint32_t, u32, default_, min_, max_, "per event", doc, SL_FLAG_BUDGET)
#define SL_STRING_(member, default_, doc_, flags_, names_)                                      \
  {                                                                                             \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_PROPERTY, .flags = flags_,                  \
    .args_offset = SL_OFFSET_(member, const char *), .args_size = SL_SIZE_(member), .unit = "", \
    .default_text = default_, .choices = names_, .type = SL_TYPE_string                         \
  }
#define SL_STRING(member, default_, doc) SL_STRING_(member, default_, doc, 0, NULL)
/* The path of a file that the algorithm reads (constants, sources) or writes (sinks), or of a folder that contains
 * files named `names_`, separated by blanks; names_ "": never a folder. A run that would write a file that it reads is
 * refused at the start. */
#define SL_FILE_IN(member, default_, names_, doc)  SL_STRING_(member, default_, doc, SL_FLAG_READ, names_)
#define SL_FILE_OUT(member, default_, names_, doc) SL_STRING_(member, default_, doc, SL_FLAG_WRITTEN, names_)

/* Node constants, written by the algorithm's `prepare`: a value of any fixed size, and an array that kernels read,
 * `const float *member`. */
#define SL_COMPUTED(member, c_type, doc_)                                                                            \
  {                                                                                                                  \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_COMPUTED, .flags = 0, .args_offset = SL_OFFSET_(member, c_type), \
    .args_size = SL_SIZE_(member)                                                                                    \
  }
#define SL_TABLE(member, type_, doc_)                                                                               \
  {                                                                                                                 \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_TABLE, .flags = 0,                                              \
    .args_offset = SL_OFFSET_(member, const sl_c_##type_ *), .args_size = SL_SIZE_(member), .type = SL_TYPE_##type_ \
  }
/* `uint64_t member`: XXH3 hash of the node's name, set by the runtime; seeds random numbers that differ by node. */
#define SL_NODE_HASH(member)                                                                    \
  {                                                                                             \
    .name = #member, .doc = "hash of the node's name", .kind = SL_MEMBER_NODE_HASH, .flags = 0, \
    .args_offset = SL_OFFSET_(member, uint64_t), .args_size = SL_SIZE_(member)                  \
  }

#define SL_FIELD_REF_(member, types, doc_, flags_, items_of_)                                                \
  {                                                                                                          \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_FIELD, .flags = flags_,                                  \
    .args_offset = SL_OFFSET_(member, struct sl_field_ref), .args_size = SL_SIZE_(member), .choices = types, \
    .items_of = items_of_                                                                                    \
  }
#define SL_FIELD_REF(member, types, doc_) SL_FIELD_REF_(member, types, doc_, 0, NULL)
/* An optional reference to a field with one value for each event, or for each item of the reference `of`. */
#define SL_OPTIONAL_FIELD_REF(member, of, types, doc_) SL_FIELD_REF_(member, types, doc_, SL_FLAG_OPTIONAL, #of)

/* The program of an expression: `struct sl_program member`, compiled from the string property `expression`.
 * SL_CONDITION: the program of a condition; a number is an error of the graph. */
#define SL_PROGRAM_(member, expression, doc_, flags_)                                                          \
  {                                                                                                            \
    .name = #member, .doc = doc_, .kind = SL_MEMBER_PROGRAM, .flags = flags_,                                  \
    .args_offset = SL_OFFSET_(member, struct sl_program), .args_size = SL_SIZE_(member), .fields = #expression \
  }
#define SL_PROGRAM(member, expression, doc_)   SL_PROGRAM_(member, expression, doc_, 0)
#define SL_CONDITION(member, expression, doc_) SL_PROGRAM_(member, expression, doc_, SL_FLAG_CONDITION)
/* The operands of the program. The first operand is required: the expression has a value for each of its items. An
 * algorithm of values per event has no such operand. */
#define SL_FIRST_OPERAND(member) SL_FIELD_REF_(member, "", "operand of the expression", SL_FLAG_OPERAND, NULL)
#define SL_OPERAND(member) \
  SL_FIELD_REF_(member, "", "operand of the expression", SL_FLAG_OPERAND | SL_FLAG_OPTIONAL, NULL)

/* ------------------------------------------------------------------------------------- both from one table */

/* SL_ARGUMENTS: for a kernel algorithm; the first member is `events`. SL_HOST_ARGUMENTS: for a constant, a source or a
 * sink, which have no `events`. If several files of an algorithm need the struct, this belongs in a header.
 * TABLE(SL_ARGUMENT) gives the members of the struct and TABLE(SL_MEMBER) the table entries; use them for arguments
 * that several algorithms share. */
#define SL_ARGUMENTS(name, TABLE) \
  struct name##_args {            \
    struct sl_events events;      \
    TABLE(SL_ARGUMENT)            \
  };                              \
  static const struct sl_member name##_members[] SL_UNUSED = {SL_EVENTS(), TABLE(SL_MEMBER)}
#define SL_HOST_ARGUMENTS(name, TABLE) \
  struct name##_args {                 \
    TABLE(SL_ARGUMENT)                 \
  };                                   \
  static const struct sl_member name##_members[] SL_UNUSED = {TABLE(SL_MEMBER)}

#define SL_MEMBER(kind, ...)   SL_##kind(__VA_ARGS__),
#define SL_ARGUMENT(kind, ...) SL_ARGUMENT_##kind##_(__VA_ARGS__);

#define SL_ARGUMENT_IN_(member, coll, ...)             struct coll##_view member
#define SL_ARGUMENT_OPTIONAL_IN_(member, coll, ...)    struct coll##_view member
#define SL_ARGUMENT_AUTO_IN_(member, coll, ...)        struct coll##_view member
#define SL_ARGUMENT_LIST_IN_(member, coll, ...)        struct coll##_views member
#define SL_ARGUMENT_OUT_(member, coll, ...)            struct coll member
#define SL_ARGUMENT_OPEN_IN_(member, base, ...)        struct base##_view_ports member
#define SL_ARGUMENT_OPEN_OUT_(member, base, ...)       struct base##_ports member
#define SL_ARGUMENT_PROGRAM_(member, ...)              struct sl_program member
#define SL_ARGUMENT_CONDITION_(member, ...)            struct sl_program member
#define SL_ARGUMENT_OPERAND_(member)                   struct sl_field_ref member
#define SL_ARGUMENT_FIRST_OPERAND_(member)             struct sl_field_ref member
#define SL_ARGUMENT_FIELD_REF_(member, ...)            struct sl_field_ref member
#define SL_ARGUMENT_OPTIONAL_FIELD_REF_(member, ...)   struct sl_field_ref member
#define SL_ARGUMENT_SCRATCH_(member, type, ...)        sl_c_##type *member
#define SL_ARGUMENT_TUNED_SCRATCH_(member, type, ...)  sl_c_##type *member
#define SL_ARGUMENT_SHARED_SCRATCH_(member, type, ...) sl_c_##type *member
#define SL_ARGUMENT_F32_(member, ...)                  float member
#define SL_ARGUMENT_F64_(member, ...)                  double member
#define SL_ARGUMENT_U32_(member, ...)                  uint32_t member
#define SL_ARGUMENT_I32_(member, ...)                  int32_t member
#define SL_ARGUMENT_U64_(member, ...)                  uint64_t member
#define SL_ARGUMENT_INPUT_U32_(member, ...)            uint32_t member
#define SL_ARGUMENT_INPUT_U64_(member, ...)            uint64_t member
#define SL_ARGUMENT_INPUT_F64_(member, ...)            double member
#define SL_ARGUMENT_BOOL_(member, ...)                 uint32_t member
#define SL_ARGUMENT_ENUM_(member, ...)                 uint32_t member
#define SL_ARGUMENT_BUDGET_(member, ...)               uint32_t member
#define SL_ARGUMENT_STRING_(member, ...)               const char *member
#define SL_ARGUMENT_FILE_IN_(member, ...)              const char *member
#define SL_ARGUMENT_FILE_OUT_(member, ...)             const char *member
#define SL_ARGUMENT_F32_ARRAY_(member, count, ...)     float member[count]
#define SL_ARGUMENT_F64_ARRAY_(member, count, ...)     double member[count]
#define SL_ARGUMENT_U32_ARRAY_(member, count, ...)     uint32_t member[count]
#define SL_ARGUMENT_I32_ARRAY_(member, count, ...)     int32_t member[count]
#define SL_ARGUMENT_COMPUTED_(member, c_type, ...)     c_type member
#define SL_ARGUMENT_TABLE_(member, type, ...)          const sl_c_##type *member
#define SL_ARGUMENT_NODE_HASH_(member)                 uint64_t member

#endif
