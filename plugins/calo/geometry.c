/* calo.geometry: cells, gains and channels of the electromagnetic calorimeter: the nominal ones (nominal.calo), those
 * of another description of that kind, or those of a folder with ecal_geometry.bin (README.md, "The file").
 *
 * What kernels get of the file (geometry_file.h) is finite and within bounds: a neighbour is a cell, a card's index is
 * one of a card, planes can be met along z.
 */
#include "calo/description.h"
#include "calo_nominal_text.h"
#include "geometry_file.h"
#include "io/geometry_files.h"

#include <stdlib.h>
#include <string.h>

static const float largest_length = 1e5f, largest_gain = 1e4f, largest_pedestal = 256.0f;
static const float smallest_slope = 0.5f; /* of a plane's normal along z */

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                 \
  M(FILE_IN, path, "", CALO_GEOMETRY_FILE,                                          \
    "folder with ecal_geometry.bin; or a description; empty: the nominal detector") \
  M(OUT, geometry, calo_geometry, "cells, gains and channels")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

/* The arrays to fill, but for those of the sources; or SL_ENOMEM. */
static int make_arrays(const struct sl_services *s, const uint32_t numbers[CALO_NUMBERS], struct calo_geometry *g) {
  *g = (struct calo_geometry){
      .numbers = s->make_array(s->context, "geometry", "numbers", CALO_NUMBERS),
      .pedestal = s->make_array(s->context, "geometry", "pedestal", 1),
      .channels = s->make_array(s->context, "geometry", "channels", (uint64_t)numbers[CALO_CARDS] * CALO_CARD_CHANNELS),
      .neighbours = s->make_array(s->context, "geometry", "neighbours", CALO_NEIGHBOURS * CALO_CELLS),
      .xy = s->make_array(s->context, "geometry", "xy", 2 * CALO_CELLS),
      .gain = s->make_array(s->context, "geometry", "gain", CALO_CELLS),
      .to_local = s->make_array(s->context, "geometry", "to_local", CALO_TO_LOCAL),
      .planes = s->make_array(s->context, "geometry", "planes", CALO_PLANE_NUMBERS),
      .cell_size = s->make_array(s->context, "geometry", "cell_size", 1),
      .area_first = s->make_array(s->context, "geometry", "area_first", CALO_AREAS + 1),
  };
  const int complete = g->numbers && g->pedestal && g->channels && g->neighbours && g->xy && g->gain && g->to_local &&
                       g->planes && g->cell_size && g->area_first;
  if (!complete) return SL_ENOMEM;
  memcpy(g->numbers, numbers, CALO_NUMBERS * sizeof *numbers);
  return SL_OK;
}

/* Those of the sources; without any there is one that is empty. */
static int make_sources(const struct sl_services *s, uint32_t sources, struct calo_geometry *g) {
  const uint32_t slots = CALO_BANK_CARDS * (sources > 0 ? sources : 1);
  g->numbers[CALO_SOURCES] = sources;
  g->card_number = s->make_array(s->context, "geometry", "card_number", slots);
  g->card_index = s->make_array(s->context, "geometry", "card_index", slots);
  if (!g->card_number || !g->card_index) return SL_ENOMEM;
  for (uint32_t i = 0; i < slots; i++) g->card_index[i] = CALO_NO_CARD;
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------- from the file */

/* A length that has to be a multiple of `unit` from `unit` to `most`, as `count` of units. */
static int read_count(struct io_geometry_file *f, uint32_t unit, uint32_t most, const char *what, uint32_t *count) {
  uint32_t length = 0;
  const size_t at = f->position;
  const int status = io_geometry_take(f, &length, sizeof length, what);
  *count = length / unit;
  if (status < 0 || (length > 0 && length % unit == 0 && length <= most)) return status;
  return io_geometry_error(f, SL_EFORMAT, "byte %zu: number of %s is %u, expected a multiple of %u up to %u", at, what,
                           length, unit, most);
}

/* The numbers in front, and the length of the first array. */
static int parse_head(struct io_geometry_file *f, uint32_t numbers[CALO_NUMBERS], float *pedestal) {
  int status;
  if ((status = io_geometry_u32s(f, &numbers[CALO_FORMAT], 1, CALO_FORMAT_SOURCES, "format")) < 0) return status;
  if (numbers[CALO_FORMAT] < CALO_FORMAT_MIN)
    return io_geometry_error(f, SL_EFORMAT, "byte 0: format %u, expected %d or %d", numbers[CALO_FORMAT],
                             CALO_FORMAT_MIN, CALO_FORMAT_SOURCES);
  if ((status = io_geometry_u32s(f, &numbers[CALO_FIRST_CARD], 1, CALO_CARDS_MAX - 1, "code of the first card")) < 0)
    return status;
  if ((status = io_geometry_length_u32(f, CALO_CARD_CHANNELS, "channels of a card")) < 0) return status;
  if ((status = io_geometry_length_u32(f, CALO_CELLS, "cells")) < 0) return status;
  if ((status = io_geometry_floats(f, pedestal, 1, largest_pedestal, "pedestal")) < 0) return status;
  const uint32_t codes = CALO_CARDS_MAX - numbers[CALO_FIRST_CARD];
  return read_count(f, CALO_CARD_CHANNELS, codes * CALO_CARD_CHANNELS, "channels", &numbers[CALO_CARDS]);
}

static int parse_neighbours(struct io_geometry_file *f, uint16_t *neighbours) {
  int status = io_geometry_length_u32(f, CALO_NEIGHBOURS * CALO_CELLS, "neighbours");
  const size_t at = f->position;
  if (status == SL_OK)
    status = io_geometry_u16s(f, neighbours, CALO_NEIGHBOURS * CALO_CELLS, CALO_NO_NEIGHBOUR, "neighbour");
  for (size_t i = 0; status == SL_OK && i < CALO_NEIGHBOURS * CALO_CELLS; i++)
    if (neighbours[i] >= CALO_CELLS && neighbours[i] != CALO_NO_NEIGHBOUR)
      return io_geometry_error(f, SL_EFORMAT, "byte %zu: neighbour number %zu is %u, expected a cell below %d or %d",
                               at + 2 * i, i, (unsigned)neighbours[i], CALO_CELLS, CALO_NO_NEIGHBOUR);
  return status;
}

static int parse_cells(struct io_geometry_file *f, const struct calo_geometry *g) {
  int status;
  if ((status = io_geometry_length_u32(f, 2 * CALO_CELLS, "coordinates")) < 0) return status;
  if ((status = io_geometry_floats(f, g->xy, 2 * CALO_CELLS, largest_length, "coordinate")) < 0) return status;
  if ((status = io_geometry_length_u32(f, CALO_CELLS, "gains")) < 0) return status;
  const size_t at = f->position;
  if ((status = io_geometry_floats(f, g->gain, CALO_CELLS, largest_gain, "gain")) < 0) return status;
  for (size_t i = 0; i < CALO_CELLS; i++)
    if (!(g->gain[i] > 0))
      return io_geometry_error(f, SL_EFORMAT, "byte %zu: gain number %zu is %g, expected more than 0", at + 4 * i, i,
                               (double)g->gain[i]);
  return SL_OK;
}

static int parse_planes(struct io_geometry_file *f, const struct calo_geometry *g) {
  int status;
  if ((status = io_geometry_length_u32(f, CALO_TO_LOCAL, "values of the transform")) < 0) return status;
  if ((status = io_geometry_floats(f, g->to_local, CALO_TO_LOCAL, largest_length, "transform value")) < 0)
    return status;
  if ((status = io_geometry_length_u32(f, CALO_PLANE_NUMBERS, "values of the planes")) < 0) return status;
  if ((status = io_geometry_floats(f, g->planes, CALO_PLANE_NUMBERS, largest_length, "plane value")) < 0) return status;
  for (uint32_t i = 0; i < CALO_PLANES; i++)
    if (!(g->planes[CALO_PLANE_VALUES * i + 2] >= smallest_slope))
      return io_geometry_error(f, SL_EFORMAT, "plane %u: c is %g, expected at least %g", i,
                               (double)g->planes[CALO_PLANE_VALUES * i + 2], (double)smallest_slope);
  return SL_OK;
}

static int parse_areas(struct io_geometry_file *f, const struct calo_geometry *g) {
  int status;
  if ((status = io_geometry_floats(f, g->cell_size, 1, largest_length, "size of a cell")) < 0) return status;
  if (!(g->cell_size[0] > 0))
    return io_geometry_error(f, SL_EFORMAT, "the size of a cell is %g, expected more than 0", (double)g->cell_size[0]);
  if ((status = io_geometry_length_u32(f, CALO_AREAS + 1, "borders of areas")) < 0) return status;
  if ((status = io_geometry_u32s(f, g->area_first, CALO_AREAS + 1, CALO_CELLS, "border of an area")) < 0) return status;
  if (g->area_first[0] != 0 || g->area_first[CALO_AREAS] != CALO_CELLS)
    return io_geometry_error(f, SL_EFORMAT, "areas begin at cell %u and end at %u, expected 0 and %d", g->area_first[0],
                             g->area_first[CALO_AREAS], CALO_CELLS);
  for (uint32_t i = 0; i < CALO_AREAS; i++)
    if (g->area_first[i] >= g->area_first[i + 1]) return io_geometry_error(f, SL_EFORMAT, "area %u has no cells", i);
  return SL_OK;
}

static int parse_sources(struct io_geometry_file *f, const struct sl_services *s, struct calo_geometry *g) {
  const uint32_t has_sources = g->numbers[CALO_FORMAT] >= CALO_FORMAT_SOURCES, cards = g->numbers[CALO_CARDS];
  const uint32_t slots_max = CALO_SOURCES_MAX * CALO_BANK_CARDS;
  uint32_t sources = 0;
  int status = has_sources ? read_count(f, CALO_BANK_CARDS, slots_max, "card numbers", &sources) : SL_OK;
  if (status < 0) return status;
  if ((status = make_sources(s, sources, g)) < 0 || !has_sources) return status;
  const size_t slots = (size_t)sources * CALO_BANK_CARDS;
  if ((status = io_geometry_take(f, g->card_number, slots * sizeof *g->card_number, "card numbers")) < 0) return status;
  if ((status = io_geometry_length_u32(f, (uint32_t)slots, "card indices")) < 0) return status;
  const size_t at = f->position;
  if ((status = io_geometry_take(f, g->card_index, slots * sizeof *g->card_index, "card indices")) < 0) return status;
  for (size_t i = 0; i < slots; i++)
    if (g->card_index[i] < -1 || (g->card_index[i] >= (int32_t)cards && g->card_index[i] != CALO_NO_CARD))
      return io_geometry_error(f, SL_EFORMAT, "byte %zu: card index number %zu is %d, expected one below %u, %d or -1",
                               at + sizeof *g->card_index * i, i, (int)g->card_index[i], cards, CALO_NO_CARD);
  return SL_OK;
}

static int parse(struct io_geometry_file *f, const struct sl_services *s) {
  uint32_t numbers[CALO_NUMBERS] = {0};
  struct calo_geometry g;
  float pedestal = 0;
  int status;
  if ((status = parse_head(f, numbers, &pedestal)) < 0) return status;
  if ((status = make_arrays(s, numbers, &g)) < 0) return status;
  g.pedestal[0] = pedestal;
  const size_t channels = (size_t)numbers[CALO_CARDS] * CALO_CARD_CHANNELS;
  if ((status = io_geometry_take(f, g.channels, channels * sizeof *g.channels, "channels")) < 0) return status;
  if ((status = parse_neighbours(f, g.neighbours)) < 0) return status;
  if ((status = parse_cells(f, &g)) < 0) return status;
  if ((status = parse_planes(f, &g)) < 0) return status;
  if ((status = parse_areas(f, &g)) < 0) return status;
  if ((status = parse_sources(f, s, &g)) < 0) return status;
  return io_geometry_end(f);
}

static int make_from_file(const struct sl_services *s, const char *folder) {
  struct io_geometry_file file;
  int status = io_geometry_require(s, folder, CALO_GEOMETRY_FILE, 0, &file);
  if (status < 0) return status;
  status = parse(&file, s);
  io_geometry_free(&file);
  return status;
}

/* ------------------------------------------------------------------------------------- from a description */

static int copy_description(const struct sl_services *s, const struct calo_description *d) {
  const uint32_t numbers[CALO_NUMBERS] = {CALO_FORMAT_MIN, d->first_card, d->card_count, 0};
  const size_t slots = (size_t)d->source_count * CALO_BANK_CARDS;
  struct calo_geometry g;
  int status = make_arrays(s, numbers, &g);
  if (status == SL_OK) status = make_sources(s, d->source_count, &g);
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

static int make_from_description(const struct sl_services *s, const char *path) {
  struct calo_description *d = (struct calo_description *)malloc(sizeof *d);
  int status = d ? calo_description_load(s, path, calo_nominal_text, d) : SL_ENOMEM;
  if (status == SL_OK) status = copy_description(s, d);
  free(d);
  return status;
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  return io_geometry_is_folder(args->path) ? make_from_file(s, args->path) : make_from_description(s, args->path);
}

SL_CONSTANT(geometry, "cells, gains and channels of the calorimeter: nominal, from a description, or from a file",
            make);
