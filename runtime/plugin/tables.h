/* tables.h: queries of plugin tables. Pure functions; they call no plugin code. */
#ifndef SL_TABLES_H
#define SL_TABLES_H

#include <sluice/plugin.h>

/* Size of one value of a field or property in bytes (bool: uint32_t, string: pointer); 0 if unknown. */
uint32_t sl_type_bytes(uint32_t type);
/* "f32", "PER_ITEM"; "?" if unknown. */
const char *sl_type_name(uint32_t type);
const char *sl_shape_name(uint32_t shape);
/* Combination of the terms of a capacity: "min", "max", "sum", "product". */
const char *sl_combination_name(uint32_t combine);

/* 1 for a property that is a budget and can decide a capacity. */
int sl_is_budget(const struct sl_member *m);
/* 1 for a field that the graph names; the runtime sets operands. */
int sl_is_named_field(const struct sl_member *m);
/* Index of a member of an algorithm, an algorithm of a plugin, a field of a collection; -1 if there is none. */
int sl_member_index(const struct sl_algorithm *a, const char *name);
int sl_algorithm_index(const struct sl_plugin *plugin, const char *name);
int sl_field_index(const struct sl_collection *c, const char *name);
int sl_dimension_index(const struct sl_collection *c, const char *name);

/* Index of the OFFSETS field of a collection; -1 if there is none. */
int sl_offsets_field(const struct sl_collection *c);
/* 1 if the collection has fields with its item capacity as length. */
int sl_has_items(const struct sl_collection *c);

/* Fields of a pool of raw bytes and of the parts of the items (BYTES in collections.h); -1 where there is none. */
struct sl_pool {
  int pool, first_word, size_bytes;
};
struct sl_pool sl_pool_of(const struct sl_collection *c);
/* Number of bytes of item `i`; `sizes` are the values of the field size_bytes. */
uint32_t sl_pool_bytes(const struct sl_collection *c, const struct sl_pool *pool, const void *sizes, uint32_t i);

/* 1 if the fields are TOTAL; then all of them are. */
int sl_is_totals(const struct sl_collection *c);

/* Bounds of a collection: 0 for its items, then one per group of subitems, in order. */
enum { SL_BOUNDS_MAX = 1 + SL_GROUPS_MAX };
uint32_t sl_bound_count(const struct sl_collection *c);
/* First field of the group of a bound, -1 for bound 0; and its ITEM_OFFSETS field, -1 for a pool of BYTES. */
int sl_group_field(const struct sl_collection *c, uint32_t bound);
int sl_item_offsets_field(const struct sl_collection *c, uint32_t bound);
/* Bound of the group of a PER_SUBITEM, ITEM_OFFSETS or BYTES field; 0 for all other fields. */
uint32_t sl_group_of(const struct sl_collection *c, uint32_t field);
/* Writes the name of a bound: "pulses", or "pulses.member_offsets" if the port has several groups. */
void sl_bound_name(const struct sl_member *port, uint32_t bound, char *text, size_t size);

/* Member that a term names, -1 if there is none; *bound for SL_TERM_SUBITEMS, 0 if the term names no group; for
 * SL_TERM_DIMENSION, *bound is the index of the dimension, UINT32_MAX if there is none. */
int sl_term_member(const struct sl_algorithm *a, const struct sl_term *t, uint32_t *bound);

/* Size of the struct that SL_COLLECTION declares. */
uint32_t sl_collection_bytes(const struct sl_collection *c);

/* Writes the sizes of the dimensions into the struct `port` of a collection; into all ports of an argument struct but
 * list ports. */
void sl_port_set_dimensions(void *port, const struct sl_collection *c);
void sl_dimensions_fill(const struct sl_algorithm *a, void *args);

int sl_is_event_list(const struct sl_collection *c);

/* For an input: "" if it must be connected, " (optional)", " (automatic)" or " (any number)", see plugin.h. */
/* In `block: { KERNEL: 64 }` of a graph: all kernels that are not named. */
#define SL_BLOCK_OTHERS "others"
/* 1 if the node uses this scratch. `shared`: the node runs no tuned version. */
int sl_scratch_is_used(const struct sl_algorithm *a, const struct sl_member *m, uint32_t shared);
const char *sl_input_need(const struct sl_member *m);

/* 1 if the algorithm declares that it reads field `field` of input `in`. */
int sl_field_is_read(const struct sl_member *in, uint32_t field);

/* Iterates over a blank-separated list: sets `word` and its length and returns the position after it, NULL at the
 * end. */
const char *sl_next_word(const char *list, const char **word, size_t *length);

#endif
