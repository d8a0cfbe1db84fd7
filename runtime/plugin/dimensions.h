/* dimensions.h: sizes of the dimensions of collections. The tables of a plugin have none; a node, or a test, has copies
 * with the sizes of its ports.
 */
#ifndef SL_DIMENSIONS_H
#define SL_DIMENSIONS_H

#include <sluice/plugin.h>

/* Largest size, and largest number of values per entry of a field: an entry of 8-byte values then has 8 GiB. */
#define SL_DIMENSION_MAX (1u << 30)

/* 1 if a port of the algorithm has dimensions. */
int sl_has_dimensions(const struct sl_algorithm *a);

/* Makes a copy of a collection in `memory` of sl_collection_copy_bytes bytes, aligned to 8, with the sizes, and sets
 * the widths of its fields. Returns the first field with more than SL_DIMENSION_MAX values per entry, or NULL. Strings
 * and the trait are those of the collection. */
size_t sl_collection_copy_bytes(const struct sl_collection *c);
const struct sl_field *sl_collection_copy(const struct sl_collection *c, const uint32_t sizes[SL_DIMENSIONS_MAX],
                                          void *memory);

/* Returns the value of the property with this index. */
typedef uint64_t sl_dimension_property(const void *context, uint32_t member);
/* Returns the size that a term of an output declares, which may be out of range. */
int64_t sl_dimension_size(const struct sl_algorithm *a, const struct sl_term *term, sl_dimension_property *property,
                          const void *context);

#endif
