/* ut.magnet_tables: what the magnet does to a track up to the UT, as the two tables of ut_tables.bin (README.md, "The
 * magnet's tables"). They belong to a field, and there are none without a folder that has them.
 */
#include "geometry_file.h"
#include "io/geometry_files.h"

static const float largest_entry = 1e3f;

#define SL_ARGS magnet_tables_args
#define MAGNET_TABLES(M)                           \
  M(STRING, path, "", "folder with ut_tables.bin") \
  M(OUT, tables, ut_magnet_tables, "deflections and field integrals")
SL_HOST_ARGUMENTS(magnet_tables, MAGNET_TABLES);

/* Number of axes, bins of each, entries. */
static int parse_table(struct io_geometry_file *f, const uint32_t *bins, uint32_t axes, float *entries,
                       const char *what) {
  uint64_t count = 1;
  int status = io_geometry_length_u32(f, axes, "axes");
  for (uint32_t i = 0; status == SL_OK && i < axes; i++) {
    status = io_geometry_length_u32(f, bins[i], "bins");
    count *= bins[i] + 1;
  }
  if (status == SL_OK) status = io_geometry_length(f, count, what);
  return status == SL_OK ? io_geometry_floats(f, entries, (size_t)count, largest_entry, what) : status;
}

static int parse_tables(struct io_geometry_file *f, float *deflection, float *field_integral) {
  static const uint32_t deflection_bins[] = {UT_LAYERS - 1, UT_DEFLECTION_BINS - 1};
  static const uint32_t integral_bins[] = {UT_INTEGRAL_SLOPES - 1, UT_INTEGRAL_ORIGINS - 1, UT_INTEGRAL_DEPTHS - 1};
  const int status = parse_table(f, deflection_bins, 2, deflection, "deflections");
  return status == SL_OK ? parse_table(f, integral_bins, 3, field_integral, "field integrals") : status;
}

static int make(const struct sl_services *s, const struct magnet_tables_args *args) {
  struct io_geometry_file file;
  if (!io_geometry_is_folder(args->path)) {
    s->message(s->context, SL_ERROR, "path: %s, expected a folder with " UT_TABLES_FILE,
               args->path && *args->path ? "no folder" : "empty");
    return SL_EINVAL;
  }
  float *deflection = s->make_array(s->context, "tables", "deflection", UT_DEFLECTIONS);
  float *field_integral = s->make_array(s->context, "tables", "field_integral", UT_INTEGRALS);
  if (!deflection || !field_integral) return SL_ENOMEM;
  int status = io_geometry_require(s, args->path, UT_TABLES_FILE, TABLES_FILE_BYTES, &file);
  if (status < 0) return status;
  status = parse_tables(&file, deflection, field_integral);
  io_geometry_free(&file);
  return status;
}

SL_CONSTANT(magnet_tables, "what the magnet does to a track up to the UT, from files", make);
