/* field_ref.h: a reference to a field, once it is known to which: then it is an input (SL_FLAG_FIELD) of that field and
 * the offsets that say where an event's values are, whose `count` is the field. Its place in the argument struct is a
 * struct sl_field_ref. Pure functions.
 */
#ifndef SL_FIELD_REF_H
#define SL_FIELD_REF_H

#include <sluice/plugin.h>

#include <stddef.h>

/* Can the reference be to that field? 1; or 0 with the reason, as in "of wants X, but ... Y". */
int sl_field_ref_fits(const struct sl_member *ref, const struct sl_collection *c, uint32_t field, char *reason,
                      size_t reason_size);

/* The input that it then is; `fields` names what is read. */
enum { SL_FIELD_REF_TEXT_BYTES = 1024 };
struct sl_member sl_field_ref_input(const struct sl_member *ref, const struct sl_collection *c, uint32_t field,
                                    char fields[SL_FIELD_REF_TEXT_BYTES]);

/* Where the fields of the struct come from: values, offsets, offsets of subitems; -1 where there are none. */
enum { SL_FIELD_REF_POINTERS = 3 };
void sl_field_ref_sources(const struct sl_member *input, int sources[SL_FIELD_REF_POINTERS]);

/* The struct in the arguments, with all but its pointers filled in. Its pointers are its first members. */
struct sl_field_ref *sl_field_ref_open(const struct sl_member *input, void *args);

#endif
