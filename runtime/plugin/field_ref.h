/* field_ref.h: a resolved field reference is an input (SL_FLAG_FIELD) of that field and the offsets of its values per
 * event; `count` is the index of the field. In the argument struct it is a struct sl_field_ref. Pure functions.
 */
#ifndef SL_FIELD_REF_H
#define SL_FIELD_REF_H

#include <sluice/plugin.h>

#include <stddef.h>

/* 1 if the reference can refer to that field; else 0 with the reason, as in "of needs X, but ... Y". */
int sl_field_ref_fits(const struct sl_member *ref, const struct sl_collection *c, uint32_t field, char *reason,
                      size_t reason_size);

/* The input of the resolved reference; `fields` receives the names of the fields that are read. */
enum { SL_FIELD_REF_TEXT_BYTES = 1024 };
struct sl_member sl_field_ref_input(const struct sl_member *ref, const struct sl_collection *c, uint32_t field,
                                    char fields[SL_FIELD_REF_TEXT_BYTES]);

/* Field indices of the pointers of the struct: values, offsets, offsets of subitems; -1: none. */
enum { SL_FIELD_REF_POINTERS = 3 };
void sl_field_ref_sources(const struct sl_member *input, int sources[SL_FIELD_REF_POINTERS]);

/* The struct in the arguments, filled except for its pointers, which are its first members. */
struct sl_field_ref *sl_field_ref_open(const struct sl_member *input, void *args);

#endif
