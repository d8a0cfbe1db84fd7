/* ut.magnet_tables: what the magnet does to a track up to the UT: two tables, and the constants of the formulas that go
 * with them (README.md, "The magnet's tables"). They belong to a field: those of the simulation's are nominal; from a
 * folder come LHCb's, whose ut_tables.bin has the tables alone.
 */
#include "calibration/read.h"
#include "geometry_file.h"
#include "io/geometry_files.h"
#include "lhcb_calibration_text.h"
#include "nominal_calibration_text.h"

#include <stdlib.h>

static const float largest_entry = 1e3f;

#define SL_ARGS magnet_tables_args
#define MAGNET_TABLES(M)                                                                                      \
  M(FILE_IN, path, "", UT_TABLES_FILE, "folder with ut_tables.bin; or a calibration; empty: the nominal one") \
  M(OUT, tables, ut_magnet_tables, "deflections, field integrals and constants")
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

static void take_constants(const struct calibration *c, float *constants) {
  const double first[] = {c->ut_dist_to_momentum, 1e-3 * c->ut_kick_to_mev, c->ut_z_kink};
  for (uint32_t i = 0; i < 3; i++) constants[UT_DISTANCE_TO_MOMENTUM + i] = (float)first[i];
  for (uint32_t i = 0; i < 3; i++)
    constants[UT_SECOND_KICK_Z + i] = (float)calibration_coefficient(c->ut_z_kink_of_ty, 2 * i);
  for (uint32_t i = 0; i < 2; i++) {
    constants[UT_KICK_ERRORS + i] = (float)c->ut_kink_error[i];
    constants[UT_KICK_ERRORS_PER_P + i] = (float)c->ut_kink_error_per_p[i];
  }
  for (uint32_t i = 0; i < 4; i++) {
    constants[UT_DISCRIMINANT_3 + i] = (float)c->ut_discriminant_3[i];
    constants[UT_DISCRIMINANT_4 + i] = (float)c->ut_discriminant_4[i];
  }
}

/* What a calibration's tables have at the entries of those of the files. */
static void take_tables(const struct calibration *c, float *deflection, float *field_integral) {
  for (uint32_t i = 0; i < UT_DEFLECTIONS; i++) {
    const uint32_t layer = i % UT_LAYERS, bin = i / UT_LAYERS;
    const double at[CALIBRATION_AXES] = {layer, 0.01 * bin};
    deflection[i] = (float)calibration_look_up(&c->ut_deflection, at);
  }
  for (uint32_t i = 0; i < UT_INTEGRALS; i++) {
    const uint32_t slope = i % UT_INTEGRAL_SLOPES, rest = i / UT_INTEGRAL_SLOPES;
    const uint32_t origin = rest % UT_INTEGRAL_ORIGINS, depth = rest / UT_INTEGRAL_ORIGINS;
    const double at[CALIBRATION_AXES] = {-0.3 + 0.02 * slope, -250.0 + 50.0 * origin, 80.0 * depth};
    field_integral[i] = (float)calibration_look_up(&c->ut_integral, at);
  }
}

static int read_tables(const struct sl_services *s, const char *folder, float *deflection, float *field_integral) {
  struct io_geometry_file file;
  int status = io_geometry_require(s, folder, UT_TABLES_FILE, TABLES_FILE_BYTES, &file);
  if (status < 0) return status;
  status = parse_tables(&file, deflection, field_integral);
  io_geometry_free(&file);
  return status;
}

static int make(const struct sl_services *s, const struct magnet_tables_args *args) {
  const int is_folder = io_geometry_is_folder(args->path);
  float *deflection = s->make_array(s->context, "tables", "deflection", UT_DEFLECTIONS);
  float *field_integral = s->make_array(s->context, "tables", "field_integral", UT_INTEGRALS);
  float *constants = s->make_array(s->context, "tables", "constants", UT_FORMULA_CONSTANTS);
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  int status = deflection && field_integral && constants && c ? SL_OK : SL_ENOMEM;
  if (status == SL_OK)
    status = io_description_load(s, is_folder ? "" : args->path,
                                 is_folder ? lhcb_calibration_text : nominal_calibration_text,
                                 is_folder ? "lhcb.calibration" : "nominal.calibration", calibration_read, c);
  if (status == SL_OK) take_constants(c, constants);
  if (status == SL_OK && is_folder) status = read_tables(s, args->path, deflection, field_integral);
  if (status == SL_OK && !is_folder) take_tables(c, deflection, field_integral);
  free(c);
  return status;
}

SL_CONSTANT(magnet_tables, "what the magnet does to a track up to the UT: nominal, from a calibration, or from files",
            make);
