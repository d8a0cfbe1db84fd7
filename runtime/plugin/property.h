/* property.h: defaults, choices and text form of properties, and their storage in argument structs. Pure functions. */
#ifndef SL_PROPERTY_H
#define SL_PROPERTY_H

#include <sluice/plugin.h>

/* Maximum number of values of an array. */
enum { SL_ARRAY_MAX = 1024 };

/* Number of values: 1, or the length of the array. */
uint32_t sl_property_count(const struct sl_member *m);

/* Iterates over "[a, b]", beginning with the whole text: sets `item` and its length and returns the "," or "]" after
 * it; continue from a ",". NULL if the text is not such a list. */
const char *sl_next_item(const char *text, const char **item, size_t *length);

/* Reads the numbers of "[1, 2.5]". Returns 0 unless they are `count` finite numbers. */
int sl_array_read(const char *text, double *values, uint32_t count);

/* Index of a choice of an enumeration, -1 if there is none of that name; and the name of a choice, of `length`
 * bytes. */
int sl_choice_index(const struct sl_member *m, const char *name);
const char *sl_choice_name(const struct sl_member *m, uint32_t index, size_t *length);

/* Writes value `index` into the argument struct: `integer` for u32, u64, bool and enumerations, otherwise `number`. */
void sl_property_store(const struct sl_member *m, uint32_t index, double number, uint64_t integer, void *args);

/* Text of a number of that type: all digits of integers, otherwise the shortest decimal that reads as the same
 * number. */
enum { SL_NUMBER_TEXT_BYTES = 40 };
const char *sl_number_text(uint32_t type, double number, char text[SL_NUMBER_TEXT_BYTES]);

#endif
