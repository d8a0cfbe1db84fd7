/* dimensions.c: see dimensions.h. */
#include "plugin/dimensions.h"

#include "plugin/tables.h"

#include <string.h>

int sl_has_dimensions(const struct sl_algorithm *a) {
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].collection && a->members[m].collection->dimension_count > 0) return 1;
  return 0;
}

size_t sl_collection_copy_bytes(const struct sl_collection *c) {
  return sizeof *c + c->field_count * sizeof *c->fields + c->dimension_count * sizeof *c->dimensions;
}

const struct sl_field *sl_collection_copy(const struct sl_collection *c, const uint32_t sizes[SL_DIMENSIONS_MAX],
                                          void *memory) {
  struct sl_collection *copy = memory;
  struct sl_field *fields = (struct sl_field *)(copy + 1);
  struct sl_dimension *dimensions = (struct sl_dimension *)(fields + c->field_count);
  const struct sl_field *large = NULL;
  *copy = *c;
  memcpy(fields, c->fields, c->field_count * sizeof *fields);
  memcpy(dimensions, c->dimensions, c->dimension_count * sizeof *dimensions);
  copy->fields = fields;
  copy->dimensions = dimensions;
  for (uint32_t d = 0; d < c->dimension_count; d++) dimensions[d].size = sizes[d];
  for (uint32_t f = 0; f < c->field_count; f++) {
    uint32_t axes[SL_DIMENSIONS_MAX];
    uint64_t values = 1;
    if (!fields[f].dimensions) continue;
    const uint32_t count = sl_field_axes(copy, &fields[f], axes);
    for (uint32_t k = 0; k < count && values <= SL_DIMENSION_MAX; k++) values *= axes[k];
    fields[f].width = values > SL_DIMENSION_MAX ? SL_DIMENSION_MAX : (uint32_t)values;
    if (values > SL_DIMENSION_MAX && !large) large = &fields[f];
  }
  return large;
}

int64_t sl_dimension_size(const struct sl_algorithm *a, const struct sl_term *term, sl_dimension_property *property,
                          const void *context) {
  uint32_t index;
  if (term->kind == SL_TERM_CONSTANT) return term->add;
  const int member = sl_term_member(a, term, &index);
  const int64_t value = term->kind == SL_TERM_PROPERTY ? (int64_t)property(context, (uint32_t)member)
                                                       : a->members[member].collection->dimensions[index].size;
  return value * term->multiply / term->divide + (int32_t)term->add; /* `add` may be negative, in two's complement */
}
