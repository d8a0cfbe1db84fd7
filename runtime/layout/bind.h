/* bind.h: from the tables of an algorithm to its argument struct: where pointers and bounds are stored, the length of
 * fields, the value of capacities. Pure functions, shared by the executor and the test harness.
 *
 * The struct of a collection holds the field pointers in order, then its bounds: items first, then each group of
 * subitems; then the sizes of the dimensions.
 */
#ifndef SL_BIND_H
#define SL_BIND_H

#include "plugin/tables.h"

/* Alignment of argument structs, in bytes; sl_aligned rounds `bytes` up to a multiple of `alignment`. */
enum { SL_ARGS_ALIGNMENT = 64 };
static inline uint64_t sl_aligned(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/* Number of values of a field, width included, for these numbers of events, items and subitems. ARRAY: 0, because
 * `make` decides its size. */
uint64_t sl_field_values(const struct sl_field *f, uint64_t events, uint64_t items, uint64_t subitems);
/* Number of values of a field of a collection, with the counts of its bounds. */
uint64_t sl_collection_values(const struct sl_collection *c, uint32_t field, uint64_t events,
                              const uint64_t counts[SL_BOUNDS_MAX]);

/* Value `i` of a TOTAL field; i64 values as two's complement. */
uint64_t sl_total_value(uint32_t type, const void *values, uint64_t i);

/* Addresses in the struct `port` of a collection (NAME or NAME_view): a bound by its number, the pointer of a field.
 * The struct has sl_collection_bytes. */
struct sl_bound *sl_port_bound(void *port, const struct sl_collection *c, uint32_t bound);
void **sl_port_pointer(void *port, uint32_t field);

/* Addresses in the argument struct `args` for port `m`, which is not a list port. */
struct sl_bound *sl_args_bound(void *args, const struct sl_member *m, uint32_t bound);
void **sl_args_pointer(void *args, const struct sl_member *m, uint32_t field);

/* Content of the argument struct for a list port: layout of NAME_views of any collection. */
struct sl_views {
  const void *at; /* array of structs of sl_collection_bytes each */
  const char *const *names;
  uint32_t count, reserved;
};
struct sl_views *sl_args_views(void *args, const struct sl_member *m);

/* Capacity that an output declares for a bound. */
const struct sl_capacity *sl_bound_capacity(const struct sl_member *m, uint32_t bound);

/* The term of a capacity that is a budget; NULL: it has none. */
const struct sl_term *sl_budget_term(const struct sl_capacity *c);

/* Value that a capacity term refers to (sl_term_member). SL_TERM_ITEMS, SL_TERM_SUBITEMS: capacity of the bound of
 * the port. SL_TERM_BUDGET, SL_TERM_PROPERTY: value of the property. SL_TERM_ENTRIES, SL_TERM_EVENT_ENTRIES: number
 * of producers of the list port. SL_TERM_DIMENSION: size of the dimension. */
typedef uint64_t sl_capacity_lookup(void *context, const struct sl_term *term);

/* The largest capacity of a port: offsets are u32, and the last offset is one larger than the capacity. Scratch has
 * no offsets; its limit keeps the sum of all sizes below 2^64. */
#define SL_CAPACITY_MAX (UINT32_MAX - 1)
#define SL_SCRATCH_MAX  (UINT64_C(1) << 48)
/* Totals are copied to the host with each slice and summed there. */
#define SL_TOTALS_MAX (1u << 20)

/* Value of a capacity for slices of `events` events, UINT64_MAX if it overflows. */
uint64_t sl_capacity_value(const struct sl_capacity *c, uint32_t events, sl_capacity_lookup *lookup, void *context);

#endif
