/* muon.geometry: where pads and strips are, and which of them is behind a channel: of the nominal detector
 * (nominal.muon), of another description of that kind, or of a folder with muon_geometry.bin and muon_tables.bin
 * (README.md, "Files").
 *
 * Sizes of both files follow from what is in them. They are read twice: for the lengths, then into arrays of these.
 * Last, each tile of the map has to be one of the tables', so that who looks up its place stays within them.
 */
#include "geometry_file.h"
#include "muon/channels.h"
#include "muon_nominal_text.h"

#include <inttypes.h>

/* No position of ours is larger than this, in mm; it keeps all sums far from overflow. */
static const float largest_length = 1e5f;

enum { GRID_X_MAX = 63, GRID_Y_MAX = 16, POSITIONS_MAX = 1 << 20, TILE_MAX = (1 << 29) - 1 };

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                                    \
  M(FILE_IN, path, "", MUON_GEOMETRY_FILE " " MUON_TABLES_FILE,                                                        \
    "folder with muon_geometry.bin and muon_tables.bin; or a description; empty: the nominal one")                     \
  M(U32, format, 2, 2, 3, "", "of the map, from a description: 2 is for banks of version 2, 3 for those of version 3") \
  M(OUT, geometry, muon_geometry, "map of channels, positions of pads and strips")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

/* ------------------------------------------------------------------------------------------------- arrays */

static void *array(const struct sl_services *s, const char *field, uint64_t count) {
  return s->make_array(s->context, "geometry", field, count);
}

/* The arrays whose sizes are always the same; `format` is the map's. */
static int make_small_arrays(const struct sl_services *s, uint32_t format, struct muon_geometry *g) {
  g->format = array(s, "format", 2);
  g->channel_first = array(s, "channel_first", map_units(format) + 1);
  g->grid = array(s, "grid", GRID_VALUES);
  g->offset = array(s, "offset", OFFSET_VALUES);
  g->position_first = array(s, "position_first", POSITION_FIRSTS);
  g->width_first = array(s, "width_first", WIDTH_FIRSTS);
  return g->format && g->channel_first && g->grid && g->offset && g->position_first && g->width_first ? SL_OK
                                                                                                      : SL_ENOMEM;
}

/* The others, whose sizes these tell. */
static int make_large_arrays(const struct sl_services *s, uint32_t format, struct muon_geometry *g) {
  const uint32_t positions = g->position_first[POSITION_FIRSTS - 1], widths = g->width_first[WIDTH_FIRSTS - 1];
  g->tiles = array(s, "tiles", g->channel_first[map_units(format)]);
  g->x = array(s, "x", positions);
  g->y = array(s, "y", positions);
  g->z = array(s, "z", positions);
  g->half_x = array(s, "half_x", widths);
  g->half_y = array(s, "half_y", widths);
  const uint32_t once = format == 3; /* of format 3 alone */
  g->tell40_station = array(s, "tell40_station", once * MUON_TELL40S);
  g->tell40_links = array(s, "tell40_links", once * HALVES);
  g->link_region = array(s, "link_region", once * ALL_LINKS);
  g->link_quarter = array(s, "link_quarter", once * ALL_LINKS);
  const int complete = g->tiles && g->x && g->y && g->z && g->half_x && g->half_y && g->tell40_station &&
                       g->tell40_links && g->link_region && g->link_quarter;
  return complete ? SL_OK : SL_ENOMEM;
}

/* -------------------------------------------------------------------------------------------------- tables */

static int read_length(struct io_geometry_file *f, uint64_t largest, const char *what, uint32_t *length) {
  uint64_t found = 0;
  const size_t at = f->position;
  const int status = io_geometry_take(f, &found, sizeof found, what);
  if (status < 0) return status;
  *length = (uint32_t)found;
  if (found <= largest) return SL_OK;
  return io_geometry_error(f, SL_EFORMAT, "byte %zu: number of %s is %" PRIu64 ", expected at most %" PRIu64, at, what,
                           found, largest);
}

static int skip(struct io_geometry_file *f, size_t bytes, const char *what) {
  if (f->size - f->position < bytes)
    return io_geometry_error(f, SL_EFORMAT, "ends at byte %zu, within %s, which ends at byte %zu", f->size, what,
                             f->position + bytes);
  f->position += bytes;
  return SL_OK;
}

static int read_grids(struct io_geometry_file *f, uint32_t *grid, uint32_t largest, const char *what) {
  int status = io_geometry_length(f, MUON_GRIDS, what);
  const size_t at = f->position;
  if (status == SL_OK) status = io_geometry_u32s(f, grid, MUON_GRIDS, largest, what);
  for (uint32_t i = 0; status == SL_OK && i < MUON_GRIDS; i++)
    if (grid[i] == 0)
      status =
          io_geometry_error(f, SL_EFORMAT, "byte %zu: %s number %u is 0, expected at least 1", at + 4 * i, what, i);
  return status;
}

/* Skipped while their number is not known. */
static int read_widths(struct io_geometry_file *f, float *values, uint32_t count, const char *what) {
  const int status = io_geometry_length(f, count, what);
  if (status < 0) return status;
  return values ? io_geometry_floats(f, values, count, largest_length, what) : skip(f, sizeof(float) * count, what);
}

/* Positions of a station: `count` triples, into x, y and z from `first` on. */
static int read_positions(struct io_geometry_file *f, const struct muon_geometry *g, uint32_t first, uint32_t count) {
  static const char what[] = "coordinate of a position";
  if (!g->x) return skip(f, (size_t)12 * count, what);
  for (uint32_t i = first; i < first + count; i++) {
    float xyz[3] = {0, 0, 0};
    const int status = io_geometry_floats(f, xyz, 3, largest_length, what);
    if (status < 0) return status;
    g->x[i] = xyz[0];
    g->y[i] = xyz[1];
    g->z[i] = xyz[2];
  }
  return SL_OK;
}

static int check_offsets(const struct io_geometry_file *f, const struct muon_geometry *g, uint32_t table,
                         uint32_t station, uint32_t count) {
  for (uint32_t r = 0; r < MUON_REGIONS; r++) {
    const uint32_t i = station * MUON_REGIONS + r, *x = &g->grid[2 * MUON_GRIDS * table + i];
    const uint32_t offset = g->offset[table * MUON_GRIDS + i],
                   wanted = MUON_QUARTERS * muon_quarter_size(*x, x[MUON_GRIDS]);
    if (offset > count || wanted > count - offset)
      return io_geometry_error(f, SL_EFORMAT,
                               "table %u: region %u of station %u begins at position %u and has %u, of %u in all",
                               table, r, station, offset, wanted, count);
    const uint32_t pads = MUON_QUARTERS * r * muon_quarter_size(*x, x[MUON_GRIDS]);
    if (table == MUON_PADS && g->format[1] == 2 && offset != pads)
      return io_geometry_error(f, SL_EFORMAT, "pads of region %u of station %u begin at position %u, expected %u", r,
                               station, offset, pads);
  }
  return SL_OK;
}

static int read_table(struct io_geometry_file *f, const struct muon_geometry *g, uint32_t table) {
  uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table], *grid_y = grid_x + MUON_GRIDS, rows = 0;
  int status = read_grids(f, grid_x, GRID_X_MAX, "grids in x");
  if (status == SL_OK) status = read_grids(f, grid_y, GRID_Y_MAX, "grids in y");
  if (status < 0) return status;
  for (uint32_t i = 0; i < MUON_GRIDS; i++) rows += grid_y[i];
  const uint32_t widths = 6 * MUON_QUARTERS * rows, first = g->width_first[table];
  g->width_first[table + 1] = first + widths;
  status = read_widths(f, g->half_x ? g->half_x + first : NULL, widths, "half-widths in x");
  if (status == SL_OK) status = read_widths(f, g->half_y ? g->half_y + first : NULL, widths, "half-widths in y");
  if (status == SL_OK) status = io_geometry_length(f, MUON_GRIDS, "offsets");
  if (status == SL_OK)
    status = io_geometry_u32s(f, g->offset + table * MUON_GRIDS, MUON_GRIDS, POSITIONS_MAX, "offsets");
  if (status == SL_OK) status = io_geometry_length(f, MUON_STATIONS, "stations");
  for (uint32_t k = 0; k < MUON_STATIONS && status == SL_OK; k++) {
    uint32_t *begin = &g->position_first[table * MUON_STATIONS + k], count;
    status = read_length(f, POSITIONS_MAX, "positions", &count);
    if (status == SL_OK) status = check_offsets(f, g, table, k, count);
    if (status == SL_OK) status = read_positions(f, g, begin[0], count);
    if (status == SL_OK) begin[1] = begin[0] + count;
  }
  return status;
}

static int read_format(struct io_geometry_file *f, uint32_t *format) {
  const int status = io_geometry_take(f, format, sizeof *format, "the format");
  if (status < 0) return status;
  if (*format == 2 || *format == 3) return SL_OK;
  return io_geometry_error(f, SL_EFORMAT, "byte 0: format is %u, expected 2 or 3", *format);
}

static int read_tables(struct io_geometry_file *f, const struct muon_geometry *g) {
  f->position = 0;
  int status = read_format(f, &g->format[1]);
  for (uint32_t table = 0; table < MUON_TABLES && status == SL_OK; table++) status = read_table(f, g, table);
  return status < 0 ? status : io_geometry_end(f);
}

/* ------------------------------------------------------------------------------------------------ the map */

/* From byte 4 on. Without `tiles` lengths only. */
static int read_banks(struct io_geometry_file *f, const struct muon_geometry *g) {
  int status = io_geometry_length(f, MUON_BANKS, "banks");
  for (uint32_t i = 0; i < MUON_BANKS && status == SL_OK; i++) {
    uint32_t count = 0;
    status = read_length(f, MUON_BANK_CHANNELS_MAX, "addresses of a bank", &count);
    g->channel_first[i + 1] = g->channel_first[i] + count;
    if (status < 0) break;
    status = g->tiles ? io_geometry_u32s(f, g->tiles + g->channel_first[i], count, TILE_MAX, "tile")
                      : skip(f, sizeof(uint32_t) * count, "tiles");
  }
  return status;
}

static int read_links(struct io_geometry_file *f, const struct muon_geometry *g) {
  for (uint32_t i = 0; i <= HALVES; i++) g->channel_first[i] = i * MUON_HALF_CHANNELS;
  if (!g->tiles) return SL_OK;
  int status = io_geometry_u32s(f, g->tell40_station, MUON_TELL40S, MUON_STATIONS - 1, "station of a Tell40");
  if (status == SL_OK) status = io_geometry_u32s(f, g->tell40_links, HALVES, MUON_LINKS, "links in use");
  if (status == SL_OK) status = io_geometry_u32s(f, g->link_region, ALL_LINKS, MUON_REGIONS - 1, "region of a link");
  if (status == SL_OK) status = io_geometry_u32s(f, g->link_quarter, ALL_LINKS, MUON_QUARTERS - 1, "quarter of a link");
  if (status == SL_OK) status = io_geometry_u32s(f, g->tiles, ALL_LINK_CHANNELS, TILE_MAX, "tile");
  return status < 0 ? status : io_geometry_end(f);
}

static int read_map(struct io_geometry_file *f, const struct muon_geometry *g) {
  uint32_t format = 0;
  f->position = 0;
  int status = read_format(f, &format);
  if (status < 0) return status;
  g->format[0] = format;
  if (format == 3) return read_links(f, g);
  status = read_banks(f, g);
  return status < 0 ? status : io_geometry_end(f);
}

static int is_in_tables(const struct muon_geometry *g, uint32_t tile) {
  const uint32_t x = muon_tile_x(tile), y = muon_tile_y(tile);
  for (uint32_t table = MUON_X_STRIPS; table <= MUON_Y_STRIPS; table++) {
    const uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table + muon_tile_grid(tile)], gx = *grid_x,
                   gy = grid_x[MUON_GRIDS];
    if (muon_tile_grid_x(tile) == gx && muon_tile_grid_y(tile) == gy && x < 2 * gx && y < 2 * gy &&
        (x >= gx || y >= gy))
      return 1;
  }
  return 0;
}

static int check_tiles(const struct io_geometry_file *f, const struct muon_geometry *g) {
  const uint32_t units = map_units(g->format[0]);
  for (uint32_t unit = 0; unit < units; unit++)
    for (uint32_t i = g->channel_first[unit]; i < g->channel_first[unit + 1]; i++)
      if (g->tiles[i] != 0 && !is_in_tables(g, g->tiles[i]))
        return io_geometry_error(f, SL_EFORMAT, "%s %u, channel %u: 0x%08x is no strip or pad of " MUON_TABLES_FILE,
                                 g->format[0] == 2 ? "bank" : "half", unit, i - g->channel_first[unit], g->tiles[i]);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ the constant */

/* The map's format, which its first word is: arrays depend on it. */
static int peek_format(struct io_geometry_file *f, uint32_t *format) {
  f->position = 0;
  return read_format(f, format);
}

static int make_from_open_files(const struct sl_services *s, struct io_geometry_file *map,
                                struct io_geometry_file *tables) {
  struct muon_geometry g = {0};
  uint32_t format = 0;
  int status = peek_format(map, &format);
  if (status == SL_OK) status = make_small_arrays(s, format, &g);
  if (status == SL_OK) status = read_map(map, &g);
  if (status == SL_OK) status = read_tables(tables, &g);
  if (status == SL_OK) status = make_large_arrays(s, format, &g);
  if (status == SL_OK) status = read_map(map, &g);
  if (status == SL_OK) status = read_tables(tables, &g);
  return status == SL_OK ? check_tiles(map, &g) : status;
}

static int make_from_files(const struct sl_services *s, const char *folder) {
  struct io_geometry_file map = {.services = s}, tables = {.services = s};
  int status = io_geometry_require(s, folder, MUON_GEOMETRY_FILE, 0, &map);
  if (status < 0) return status;
  status = io_geometry_require(s, folder, MUON_TABLES_FILE, 0, &tables);
  if (status == SL_OK) {
    status = make_from_open_files(s, &map, &tables);
    io_geometry_free(&tables);
  }
  io_geometry_free(&map);
  return status;
}

static int make_from_description(const struct sl_services *s, const struct geometry_args *args) {
  struct muon_description d;
  struct muon_geometry g = {0};
  int status = muon_description_load(s, args->path, muon_nominal_text, &d);
  if (status == SL_OK) status = make_small_arrays(s, args->format, &g);
  if (status < 0) return status;
  g.format[0] = g.format[1] = args->format;
  muon_tables_sizes(&d, args->format, &g);
  if (args->format == 2)
    muon_channels_sizes(&d, &g);
  else
    g.channel_first[HALVES] = ALL_LINK_CHANNELS;
  if ((status = make_large_arrays(s, args->format, &g)) < 0) return status;
  muon_tables_fill(&d, &g);
  if (args->format == 2)
    muon_channels_fill(&d, g.tiles);
  else if (!muon_links_fill(&d, &g)) {
    s->message(s->context, SL_ERROR, "%s: a station has more links than its Tell40s take, %d a half",
               args->path && *args->path ? args->path : "nominal.muon", MUON_LINKS);
    return SL_EFORMAT;
  }
  return SL_OK;
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  return io_geometry_is_folder(args->path) ? make_from_files(s, args->path) : make_from_description(s, args);
}

SL_CONSTANT(geometry, "muon chambers: nominal, from a description, or from files", make);
