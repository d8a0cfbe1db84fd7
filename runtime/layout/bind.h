/* bind.h: from an algorithm's tables to its argument struct: where pointers and bounds stand, how long fields are, what
 * capacities come to. Shared by the executor and the test harness. Pure functions.
 *
 * A collection's struct holds the field pointers in order, then its bounds: of items, then of each group of subitems.
 */
#ifndef SL_BIND_H
#define SL_BIND_H

#include "plugin/tables.h"

/* The start of each argument struct, in bytes; and a number of bytes rounded up to a multiple of `alignment`. */
enum { SL_ARGS_ALIGNMENT = 64 };
static inline uint64_t sl_aligned(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/* How many values a field has, width included, for that many events, items and subitems. ARRAY: 0, `make` decides. */
uint64_t sl_field_values(const struct sl_field *f, uint64_t events, uint64_t items, uint64_t subitems);
/* The same for a field of a collection, with the counts of its bounds. */
uint64_t sl_collection_values(const struct sl_collection *c, uint32_t field, uint64_t events,
                              const uint64_t counts[SL_BOUNDS_MAX]);

/* Value `i` of a TOTAL field; of type i64 its two's complement. */
uint64_t sl_total_value(uint32_t type, const void *values, uint64_t i);

/* Places in the struct `port` of a collection (NAME or NAME_view): its bounds by number, a field's pointer. The
 * struct has sl_collection_bytes. */
struct sl_bound *sl_port_bound(void *port, const struct sl_collection *c, uint32_t bound);
void **sl_port_pointer(void *port, uint32_t field);

/* The same places in the argument struct `args`, for a port `m` that is no list port. */
struct sl_bound *sl_args_bound(void *args, const struct sl_member *m, uint32_t bound);
void **sl_args_pointer(void *args, const struct sl_member *m, uint32_t field);

/* What stands in the argument struct of a list port: a NAME_each of any collection. */
struct sl_each {
  const void *at; /* structs of sl_collection_bytes, one after another */
  const char *const *names;
  uint32_t count, reserved;
};
struct sl_each *sl_args_each(void *args, const struct sl_member *m);

/* What an output says of the capacity of a bound. */
const struct sl_capacity *sl_bound_capacity(const struct sl_member *m, uint32_t bound);

/* What a capacity's term refers to (sl_term_member): for SL_TERM_ITEMS and SL_TERM_SUBITEMS the capacity of that port's
 * bound, for SL_TERM_BUDGET and SL_TERM_PROPERTY the value of that property, for SL_TERM_ENTRIES and
 * SL_TERM_EVENT_ENTRIES how many producers that list port has. */
typedef uint64_t sl_capacity_lookup(void *context, const struct sl_term *term);

/* The largest capacity of a port, whose offsets are u32: one more is still a u32, for the last offset. Scratch goes by
 * no offsets; it may have so many values that their bytes, and those of all other fields, can be summed. */
#define SL_CAPACITY_MAX (UINT32_MAX - 1)
#define SL_SCRATCH_MAX  (UINT64_C(1) << 48)
/* Totals go to the host with each slice, and are summed there. */
#define SL_TOTALS_MAX (1u << 20)

/* The value of a capacity for slices of `events`; UINT64_MAX where it is larger. */
uint64_t sl_capacity_value(const struct sl_capacity *c, uint32_t events, sl_capacity_lookup *lookup, void *context);

#endif
