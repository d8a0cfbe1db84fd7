/* lh5_columns.h: the property `columns` of hdf5.lh5_sink: which fields become columns of the tables.
 *
 *   columns  column {"," column} [","]
 *   column   NAME "=" OUTPUT "." FIELD [UNIT] ["as" TYPE]
 *
 * OUTPUT is an output of the graph, or `traces`, the input of the sink. UNIT is the attribute `units`; the default is
 * the unit of the field, or no attribute if it has none. With the unit ns, a field in samples becomes a time, and one
 * in sampling periods a duration. TYPE: f32 (default), f64, or integer: the type of the field.
 */
#ifndef HDF5_LH5_COLUMNS_H
#define HDF5_LH5_COLUMNS_H

#include <sluice/plugin.h>

#define LH5_OF_TRACES UINT32_MAX
enum { LH5_NAME_BYTES = 64, LH5_UNIT_BYTES = 32 };
/* A field in samples, or in sampling periods, that is written in ns; any other one. */
enum { LH5_AS_IT_IS, LH5_TIME, LH5_DURATION };

struct lh5_column {
  char name[LH5_NAME_BYTES], unit[LH5_UNIT_BYTES];
  const struct sl_collection *collection;
  const struct sl_field *field;
  uint32_t output;        /* index in the outputs of the graph, or LH5_OF_TRACES */
  uint32_t field_index;   /* in the collection */
  uint32_t offsets_index; /* of a field of items: the field with their boundaries */
  uint32_t has_items;
  uint32_t valid_index, valid_mask; /* field with a bit that is 0 if there is no value; mask 0: none */
  uint32_t is_index;                /* a negative value means that there is none */
  uint32_t is_integer, type;        /* type in the file, SL_TYPE_... */
  uint32_t to_ns, reserved;         /* how a number becomes ns, LH5_TIME, ... */
};
struct lh5_columns {
  struct lh5_column *at;
  uint32_t count;
};

/* Reads the property. Returns 0, or an error that it reported with the position in the text. */
int lh5_columns_read(const struct sl_services *s, const char *text, struct lh5_columns *columns);
void lh5_columns_free(struct lh5_columns *columns);

#endif
