/* calo.geometry: cells, gains and channels of the electromagnetic calorimeter. Source: the nominal description
 * (nominal.calo), another description, or a folder with ecal_geometry.bin (README.md, "The file"), which
 * calo.geometry_sink writes.
 *
 * Values of the file are checked: they are finite and in range, a neighbour is a cell, a card index is that of a card,
 * and planes are not parallel to z.
 */
#include "calo/description.h"
#include "geometry/files.h"
#include "geometry/sink.h"

#include <stdlib.h>
#include <string.h>

#define FILES "ecal_geometry.bin"

enum { FORMAT_MIN = 3, FORMAT_SOURCES = 4 /* with card numbers and indices */ };
static const double smallest_slope = 0.5; /* least z component of a plane's normal */

/* -------------------------------------------------------------------------------------------------- the file */

static int is_positive(double value) { return value > 0; }
static int is_neighbour(double value) { return value < CALO_CELLS || value == CALO_NO_NEIGHBOUR; }

#define ARRAY(field, type, count, low, high, what, ...) \
  GEOMETRY_ARRAY(calo_geometry, field, type, count, low, high, what, __VA_ARGS__)
#define POSITIVE .accepts = is_positive, .expected = "more than 0"

/* Fields between channels and sources: arrays after their lengths, and the size of a cell. */
static const struct geometry_field fields[] = {
    GEOMETRY_NUMBER(u32, CALO_NEIGHBOURS *CALO_CELLS, "neighbours"),
    ARRAY(neighbours, u16, CALO_NEIGHBOURS *CALO_CELLS, 0, CALO_NO_NEIGHBOUR, "neighbour", .accepts = is_neighbour,
          .expected = "a cell below 6016 or 65535"),
    GEOMETRY_NUMBER(u32, 2 * CALO_CELLS, "coordinates"),
    GEOMETRY_LENGTHS(calo_geometry, xy, 2 * CALO_CELLS, "coordinate"),
    GEOMETRY_NUMBER(u32, CALO_CELLS, "gains"),
    ARRAY(gain, f32, CALO_CELLS, -1e4, 1e4, "gain", POSITIVE),
    GEOMETRY_NUMBER(u32, CALO_TRANSFORM_VALUES, "values of the transform"),
    GEOMETRY_LENGTHS(calo_geometry, to_local, CALO_TRANSFORM_VALUES, "transform value"),
    GEOMETRY_NUMBER(u32, CALO_PLANES *CALO_PLANE_VALUES, "values of the planes"),
    GEOMETRY_LENGTHS(calo_geometry, planes, CALO_PLANES *CALO_PLANE_VALUES, "plane value"),
    GEOMETRY_LENGTHS(calo_geometry, cell_size, 1, "the size of a cell", POSITIVE),
    GEOMETRY_NUMBER(u32, CALO_AREAS + 1, "borders of areas"),
    ARRAY(area_first, u32, CALO_AREAS + 1, 0, CALO_CELLS, "border of an area")};
static const struct geometry_layout cells[] = {{"cells", GEOMETRY_FIELDS(fields)}, {0}};

static void *array(const struct sl_services *s, const char *field, uint64_t count) {
  return s->make_array(s->context, "geometry", field, count);
}

/* Makes the arrays with sizes in `numbers`; without sources the arrays have one empty entry. */
static int make_channels(const struct sl_services *s, struct calo_geometry *g) {
  g->channels = (uint16_t *)array(s, "channels", (uint64_t)g->numbers[CALO_CARDS] * CALO_CARD_CHANNELS);
  return g->channels ? SL_OK : SL_ENOMEM;
}
static int make_sources(const struct sl_services *s, struct calo_geometry *g) {
  const uint32_t slots = CALO_BANK_CARDS * (g->numbers[CALO_SOURCES] > 0 ? g->numbers[CALO_SOURCES] : 1);
  g->card_number = (int32_t *)array(s, "card_number", slots);
  g->card_index = (int32_t *)array(s, "card_index", slots);
  if (!g->card_number || !g->card_index) return SL_ENOMEM;
  for (uint32_t i = 0; i < slots; i++) g->card_index[i] = CALO_NO_CARD;
  return SL_OK;
}

/* Makes the arrays of fixed size. */
static int make_arrays(const struct sl_services *s, struct calo_geometry *g) {
  g->numbers = (uint32_t *)array(s, "numbers", CALO_NUMBERS);
  g->pedestal = (float *)array(s, "pedestal", 1);
  return g->numbers && g->pedestal ? geometry_make(cells, s, "geometry", g) : SL_ENOMEM;
}

static void check_cells(struct geometry_file *f, const struct calo_geometry *g) {
  for (uint32_t i = 0; i < CALO_PLANES; i++) {
    const double c = (double)g->planes[CALO_PLANE_VALUES * i + 2];
    if (c < smallest_slope) geometry_fail(f, "plane %u: c is %g, expected at least %g", i, c, smallest_slope);
  }
  if (g->area_first[0] != 0 || g->area_first[CALO_AREAS] != CALO_CELLS)
    geometry_fail(f, "areas begin at cell %u and end at %u, expected 0 and %d", g->area_first[0],
                  g->area_first[CALO_AREAS], CALO_CELLS);
  for (uint32_t i = 0; i < CALO_AREAS; i++)
    if (g->area_first[i] >= g->area_first[i + 1]) geometry_fail(f, "area %u has no cells", i);
}

static void pass_sources(struct geometry_file *f, struct calo_geometry *g) {
  uint32_t *sources = &g->numbers[CALO_SOURCES];
  const uint32_t cards = g->numbers[CALO_CARDS], slots_max = CALO_SOURCES_MAX * CALO_BANK_CARDS;
  const int has_sources = g->numbers[CALO_FORMAT] >= FORMAT_SOURCES;
  if (has_sources) geometry_count(f, SL_TYPE_u32, CALO_BANK_CARDS, slots_max, "card numbers", sources);
  if (!f->output && f->status == SL_OK) f->status = make_sources(f->services, g);
  if (!has_sources || f->status < 0) return;
  const uint32_t slots = *sources * CALO_BANK_CARDS;
  geometry_values(f, SL_TYPE_i32, g->card_number, slots, INT32_MIN, INT32_MAX, "card numbers");
  geometry_number(f, SL_TYPE_u32, slots, "card indices");
  const size_t at = f->position;
  geometry_values(f, SL_TYPE_i32, g->card_index, slots, INT32_MIN, INT32_MAX, "card indices");
  for (uint32_t i = 0; i < slots && f->status == SL_OK; i++)
    if (g->card_index[i] < -1 || (g->card_index[i] >= (int32_t)cards && g->card_index[i] != CALO_NO_CARD))
      geometry_fail(f, "byte %zu: card index number %u is %d, expected one below %u, %d or -1", at + 4 * i, i,
                    (int)g->card_index[i], cards, CALO_NO_CARD);
}

static void pass_file(struct geometry_file *f, void *collection) {
  struct calo_geometry *g = (struct calo_geometry *)collection;
  if (!f->output && (f->status = make_arrays(f->services, g)) < 0) return;
  uint32_t *n = g->numbers;
  geometry_values(f, SL_TYPE_u32, &n[CALO_FORMAT], 1, FORMAT_MIN, FORMAT_SOURCES, "format");
  geometry_values(f, SL_TYPE_u32, &n[CALO_FIRST_CARD], 1, 0, CALO_CARDS_MAX - 1, "code of the first card");
  geometry_number(f, SL_TYPE_u32, CALO_CARD_CHANNELS, "channels of a card");
  geometry_number(f, SL_TYPE_u32, CALO_CELLS, "cells");
  geometry_values(f, SL_TYPE_f32, g->pedestal, 1, -256, 256, "pedestal");
  const uint32_t codes = CALO_CARDS_MAX - n[CALO_FIRST_CARD];
  geometry_count(f, SL_TYPE_u32, CALO_CARD_CHANNELS, codes * CALO_CARD_CHANNELS, "channels", &n[CALO_CARDS]);
  if (!f->output && f->status == SL_OK) f->status = make_channels(f->services, g);
  if (f->status < 0) return;
  geometry_values(f, SL_TYPE_u16, g->channels, n[CALO_CARDS] * CALO_CARD_CHANNELS, 0, UINT16_MAX, "channels");
  geometry_fields(f, fields, sizeof fields / sizeof fields[0], g);
  if (!f->output && f->status == SL_OK) check_cells(f, g);
  pass_sources(f, g);
}

static const struct geometry_layout files[] = {{"ecal_geometry.bin", .rest = pass_file}, {0}};

/* ---------------------------------------------------------------------------------------------- the constant */

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                           \
  M(FILE_IN, path, "", FILES, "folder with ecal_geometry.bin; or a description; empty: the nominal detector") \
  M(OUT, geometry, calo_geometry, "cells, gains and channels")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

static int copy_description(const struct sl_services *s, const struct calo_description *d) {
  const uint32_t numbers[CALO_NUMBERS] = {FORMAT_MIN, d->first_card, d->card_count, d->source_count};
  const size_t slots = (size_t)d->source_count * CALO_BANK_CARDS;
  struct calo_geometry g = {0};
  int status = make_arrays(s, &g);
  if (status == SL_OK) memcpy(g.numbers, numbers, sizeof numbers);
  if (status == SL_OK) status = make_channels(s, &g);
  if (status == SL_OK) status = make_sources(s, &g);
  if (status < 0) return status;
  g.pedestal[0] = d->pedestal;
  memcpy(g.channels, d->channels, sizeof *d->channels * CALO_CARD_CHANNELS * d->card_count);
  memcpy(g.neighbours, d->neighbours, sizeof d->neighbours);
  memcpy(g.xy, d->xy, sizeof d->xy);
  memcpy(g.gain, d->gain, sizeof d->gain);
  memcpy(g.to_local, d->to_local, sizeof d->to_local);
  memcpy(g.planes, d->planes, sizeof d->planes);
  g.cell_size[0] = d->cell;
  for (uint32_t k = 0; k < CALO_AREAS; k++) g.area_first[k] = d->areas[k].first;
  g.area_first[CALO_AREAS] = CALO_CELLS;
  memcpy(g.card_number, d->card_number, slots * sizeof *d->card_number);
  memcpy(g.card_index, d->card_index, slots * sizeof *d->card_index);
  return SL_OK;
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  struct calo_geometry g = {0};
  if (geometry_is_folder(args->path)) return geometry_read(files, s, "geometry", args->path, &g);
  struct calo_description *d = (struct calo_description *)malloc(sizeof *d);
  int status = d ? statements_load(&calo_description_format, s, args->path, d) : SL_ENOMEM;
  if (status == SL_OK) status = copy_description(s, d);
  free(d);
  return status;
}

SL_CONSTANT(geometry, "geometry of the calorimeter: nominal, from a description, or from a file", make);

/* -------------------------------------------------------------------------------------------------- the sink */

#undef SL_ARGS
#define SL_ARGS geometry_sink_args
#define SINK(M)                                              \
  GEOMETRY_SINK_ARGUMENTS(M, geometry, calo_geometry, FILES) \
  M(U32, format, 0, 0, 4, "",                                \
    "format of the file: 3, 4 (with the sources of banks of type 77), or 0 (the format that was read, else 3)")
SL_HOST_ARGUMENTS(geometry_sink, SINK);

static int geometry_sink_check(const struct sl_services *s, const void *args_) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  if (args->format == 0 || args->format >= FORMAT_MIN) return SL_OK;
  s->message(s->context, SL_ERROR, "format: %u, expected 0, %d or %d", args->format, FORMAT_MIN, FORMAT_SOURCES);
  return SL_EINVAL;
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct calo_geometry_view g = args->geometry;
  uint32_t numbers[CALO_NUMBERS];
  (void)batch;
  memcpy(numbers, g.numbers, sizeof numbers);
  if (args->format > 0) numbers[CALO_FORMAT] = args->format;
  g.numbers = numbers;
  if (numbers[CALO_FORMAT] < FORMAT_SOURCES || numbers[CALO_SOURCES] > 0) return geometry_files_write(state, s, &g);
  s->message(s->context, SL_ERROR, "format: %u needs the sources of banks of type 77, which this geometry lacks",
             numbers[CALO_FORMAT]);
  return SL_EINVAL;
}

GEOMETRY_SINK(geometry_sink, "writes the geometry as the file that calo.geometry reads", files,
              SL_CHECK(geometry_sink_check));
