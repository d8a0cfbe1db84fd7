/* ut.magnet_tables: the constant with the tables and formula constants that describe the magnetic field up to the UT
 * (README.md, "Magnet tables"): nominal (field of the simulation), from a calibration, or, from a folder, LHCb's tables
 * in ut_tables.bin with LHCb's constants. ut.magnet_tables_sink writes this file.
 */
#include "calibration/read.h"
#include "geometry/files.h"
#include "geometry/sink.h"
#include "ut/event_model.h"

#include <stdlib.h>

#define FILES "ut_tables.bin"

/* Each table follows its number of axes, the bins of each axis (one less than entries) and the number of entries. */
#define LARGEST_ENTRY 1e3
static const struct geometry_field table_fields[] = {
    GEOMETRY_NUMBER(u32, 2, "axes"),
    GEOMETRY_NUMBER(u32, UT_LAYERS - 1, "bins"),
    GEOMETRY_NUMBER(u32, UT_DEFLECTION_BINS - 1, "bins"),
    GEOMETRY_NUMBER(u64, UT_DEFLECTIONS, "deflections"),
    GEOMETRY_ARRAY(ut_magnet_tables, deflection, f32, UT_DEFLECTIONS, -LARGEST_ENTRY, LARGEST_ENTRY, "deflections"),
    GEOMETRY_NUMBER(u32, 3, "axes"),
    GEOMETRY_NUMBER(u32, UT_INTEGRAL_SLOPES - 1, "bins"),
    GEOMETRY_NUMBER(u32, UT_INTEGRAL_ORIGINS - 1, "bins"),
    GEOMETRY_NUMBER(u32, UT_INTEGRAL_DEPTHS - 1, "bins"),
    GEOMETRY_NUMBER(u64, UT_INTEGRALS, "field integrals"),
    GEOMETRY_ARRAY(ut_magnet_tables, field_integral, f32, UT_INTEGRALS, -LARGEST_ENTRY, LARGEST_ENTRY,
                   "field integrals")};
static const struct geometry_layout files[] = {{"ut_tables.bin", GEOMETRY_FIELDS(table_fields)}, {0}};

#define SL_ARGS magnet_tables_args
#define MAGNET_TABLES(M)                                                                          \
  M(FILE_IN, path, "", FILES, "folder with ut_tables.bin; or a calibration file; empty: nominal") \
  M(OUT, tables, ut_magnet_tables, "deflections, field integrals and constants")
SL_HOST_ARGUMENTS(magnet_tables, MAGNET_TABLES);

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

/* Evaluates the tables of a calibration at the entries of the file's tables. */
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

static int make(const struct sl_services *s, const struct magnet_tables_args *args) {
  struct ut_magnet_tables t = {.constants = s->make_array(s->context, "tables", "constants", UT_FORMULA_CONSTANTS)};
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  const int is_folder = geometry_is_folder(args->path);
  int status = t.constants && c ? calibration_load_path(s, args->path, c) : SL_ENOMEM;
  if (status == SL_OK) take_constants(c, t.constants);
  if (status == SL_OK)
    status = is_folder ? geometry_read(files, s, "tables", args->path, &t) : geometry_make(files, s, "tables", &t);
  if (status == SL_OK && !is_folder) take_tables(c, t.deflection, t.field_integral);
  free(c);
  return status;
}

SL_CONSTANT(magnet_tables, "magnet tables for tracks up to the UT: nominal, from a calibration, or from files", make);

#undef SL_ARGS
#define SL_ARGS magnet_tables_sink_args
#define SINK(M) GEOMETRY_SINK_ARGUMENTS(M, tables, ut_magnet_tables, FILES)
SL_HOST_ARGUMENTS(magnet_tables_sink, SINK);
GEOMETRY_SINK_CONSUME(magnet_tables_sink, tables)
GEOMETRY_SINK(magnet_tables_sink, "writes the magnet tables as a file that ut.magnet_tables reads", files);
