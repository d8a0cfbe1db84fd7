/* tables.h: small questions to a plugin's tables. Pure functions; they call no plugin code and keep nothing. */
#ifndef SL_TABLES_H
#define SL_TABLES_H

#include <sluice/plugin.h>

/* Bytes of one value: as a field's element, or as a property (bool is a uint32_t, string a pointer); 0 if unknown. */
uint32_t sl_type_bytes(uint32_t type);
/* "f32", "PER_ITEM"; "?" if unknown. */
const char *sl_type_name(uint32_t type);
const char *sl_shape_name(uint32_t shape);
/* Of the terms of a capacity: "min", "max", "sum", "product". */
const char *sl_combination_name(uint32_t combine);

/* The index of an algorithm's member, of a plugin's algorithm, of a collection's field; -1 if there is none. */
int sl_member_index(const struct sl_algorithm *a, const char *name);
int sl_algorithm_index(const struct sl_plugin *plugin, const char *name);
int sl_field_index(const struct sl_collection *c, const char *name);

/* The field that holds a collection's OFFSETS; -1 if there is none. */
int sl_offsets_field(const struct sl_collection *c);
/* Does the collection have fields whose length is its item capacity? */
int sl_has_items(const struct sl_collection *c);

/* Are its fields TOTAL? Such a collection has no others. */
int sl_is_totals(const struct sl_collection *c);

/* A collection's bounds: number 0 is that of its items, the others are those of its groups of subitems, in order. */
enum { SL_BOUNDS_MAX = 1 + SL_GROUPS_MAX };
uint32_t sl_bound_count(const struct sl_collection *c);
/* The field that begins the group of a bound; -1 for bound 0. The same, or -1 for a pool of BYTES. */
int sl_group_field(const struct sl_collection *c, uint32_t bound);
int sl_item_offsets_field(const struct sl_collection *c, uint32_t bound);
/* The bound of the group that a field PER_SUBITEM, ITEM_OFFSETS or BYTES belongs to; 0 for all others. */
uint32_t sl_group_of(const struct sl_collection *c, uint32_t field);
/* How a bound is called: "tracks", and "tracks.hit_offsets" where the port has several groups. */
void sl_bound_name(const struct sl_member *port, uint32_t bound, char *text, size_t size);

/* The member that a term names, -1 if there is none; and for SL_TERM_SUBITEMS the bound, 0 if it names no group. */
int sl_term_member(const struct sl_algorithm *a, const struct sl_term *t, uint32_t *bound);

/* The bytes of the struct that SL_COLLECTION declares for it. */
uint32_t sl_collection_bytes(const struct sl_collection *c);

int sl_is_event_list(const struct sl_collection *c);

/* Of an input: "" where it must be connected, " (optional)", " (wanted)" or " (any number)": see plugin.h. */
/* In a graph's `block: { KERNEL: 64 }`: kernels that are not named. */
#define SL_BLOCK_OTHERS "others"
/* Does the node's version use this scratch? `shared`: it runs no tuned version. */
int sl_scratch_is_used(const struct sl_algorithm *a, const struct sl_member *m, uint32_t shared);
const char *sl_input_need(const struct sl_member *m);

/* Is field `field` of input `in` among those that the algorithm says it reads? */
int sl_field_is_read(const struct sl_member *in, uint32_t field);

/* Walks a blank-separated list: sets `word` and its length, returns where to go on, NULL at the end. */
const char *sl_next_word(const char *list, const char **word, size_t *length);

#endif
