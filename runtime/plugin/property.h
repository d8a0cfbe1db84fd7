/* property.h: a property's default, its choices, its place in an argument struct, its numbers as text. Pure functions.
 */
#ifndef SL_PROPERTY_H
#define SL_PROPERTY_H

#include <sluice/plugin.h>

/* The most values that an array can have. */
enum { SL_ARRAY_MAX = 1024 };

/* How many values it has: 1, or as many as its array. */
uint32_t sl_property_count(const struct sl_member *m);

/* Walks "[a, b]", beginning with the whole text: sets `item` and its length, returns the ',' or ']' after it, from
 * where to go on if it is a ','; NULL if the text is no such list. */
const char *sl_next_item(const char *text, const char **item, size_t *length);

/* The numbers of "[1, 2.5]"; 0 unless they are `count` finite ones. */
int sl_array_read(const char *text, double *values, uint32_t count);

/* The number of a choice of an enumeration, -1 if there is none of that name; and its name, of `length` bytes. */
int sl_choice_index(const struct sl_member *m, const char *name);
const char *sl_choice_name(const struct sl_member *m, uint32_t index, size_t *length);

/* Writes value `index` into the argument struct; `integer` counts for u32, u64, bool and enumeration, else `number`. */
void sl_property_store(const struct sl_member *m, uint32_t index, double number, uint64_t integer, void *args);

/* A number of that type: an integer with all its digits, else the shortest decimal that reads as the same number. */
enum { SL_NUMBER_TEXT_BYTES = 40 };
const char *sl_number_text(uint32_t type, double number, char text[SL_NUMBER_TEXT_BYTES]);

#endif
