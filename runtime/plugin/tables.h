/* tables.h: small questions to a plugin's tables. Pure functions; they call no plugin code and keep nothing. */
#ifndef SL_TABLES_H
#define SL_TABLES_H

#include <sluice/plugin.h>

/* Bytes of one value: as a field's element, or as a property (bool is a uint32_t, string a pointer); 0 if unknown. */
uint32_t sl_type_bytes(uint32_t type);
/* "f32", "PER_ITEM"; "?" if unknown. */
const char *sl_type_name(uint32_t type);
const char *sl_shape_name(uint32_t shape);

/* The index of an algorithm's member, of a plugin's algorithm, of a collection's field; -1 if there is none. */
int sl_member_index(const struct sl_algorithm *a, const char *name);
int sl_algorithm_index(const struct sl_plugin *plugin, const char *name);
int sl_field_index(const struct sl_collection *c, const char *name);

/* The field that holds a collection's OFFSETS, its ITEM_OFFSETS; -1 if there is none. */
int sl_offsets_field(const struct sl_collection *c);
int sl_item_offsets_field(const struct sl_collection *c);

/* Does the collection have fields whose length is its item capacity, its subitem (or byte pool) capacity? */
int sl_has_items(const struct sl_collection *c);
int sl_has_subitems(const struct sl_collection *c);

/* The bytes of the struct that SL_COLLECTION declares for it. */
uint32_t sl_collection_bytes(const struct sl_collection *c);

int sl_is_event_list(const struct sl_collection *c);

/* Of an input: "" where it must be connected, " (optional)", " (wanted)" or " (any number)": see plugin.h. */
const char *sl_input_need(const struct sl_member *m);

/* Is field `field` of input `in` among those that the algorithm says it reads? */
int sl_field_is_read(const struct sl_member *in, uint32_t field);

/* Walks a blank-separated list: sets `word` and its length, returns where to go on, NULL at the end. */
const char *sl_next_word(const char *list, const char **word, size_t *length);

#endif
