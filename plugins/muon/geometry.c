/* muon.geometry: the constant with positions of pads and strips and the map of readout channels. It is made from
 * nominal.muon, from another description in that format, or from a folder with muon_geometry.bin and muon_tables.bin
 * (README.md, "Files"). muon.geometry_sink writes these files.
 *
 * The sizes of both files follow from their values. They are read twice: first for the sizes, then into arrays of these
 * sizes. Then each tile of the map is checked to be in the tables of positions.
 */
#include "geometry/files.h"
#include "geometry/sink.h"
#include "muon/channels.h"

#include <stdlib.h>

#define MAP_FILE    "muon_geometry.bin"
#define TABLES_FILE "muon_tables.bin"
#define FILES       MAP_FILE " " TABLES_FILE

enum {
  GRID_VALUES = 2 * MUON_GRIDS * MUON_TABLES,
  OFFSET_VALUES = MUON_GRIDS * MUON_TABLES,
  POSITION_FIRSTS = MUON_TABLES * MUON_STATIONS + 1,
  WIDTH_FIRSTS = MUON_TABLES + 1,
  HALVES = MUON_TELL40S * MUON_HALVES,
  ALL_LINKS = HALVES * MUON_LINKS,
  ALL_LINK_CHANNELS = ALL_LINKS * MUON_LINK_CHANNELS,
  GRID_X_MAX = 63,
  GRID_Y_MAX = 16,
  POSITIONS_MAX = 1 << 20,
  TILE_MAX = (1 << 29) - 1
};

/* Number of banks (format 2) or halves of Tell40s (format 3) of a map. */
static uint32_t map_units(uint32_t format) { return format == 2 ? (uint32_t)MUON_BANKS : (uint32_t)HALVES; }

/* ------------------------------------------------------------------------------------------------- arrays */

static void *array(const struct sl_services *s, const char *field, uint64_t count) {
  return s->make_array(s->context, "geometry", field, count);
}

/* Makes the arrays of the tables: first those of fixed size, then those with sizes given by the first ones. */
static int make_table_heads(const struct sl_services *s, struct muon_geometry *g) {
  g->format = (uint32_t *)array(s, "format", 2);
  g->grid = (uint32_t *)array(s, "grid", GRID_VALUES);
  g->offset = (uint32_t *)array(s, "offset", OFFSET_VALUES);
  g->position_first = (uint32_t *)array(s, "position_first", POSITION_FIRSTS);
  g->width_first = (uint32_t *)array(s, "width_first", WIDTH_FIRSTS);
  return g->format && g->grid && g->offset && g->position_first && g->width_first ? SL_OK : SL_ENOMEM;
}
static int make_tables(const struct sl_services *s, struct muon_geometry *g) {
  const uint32_t positions = g->position_first[POSITION_FIRSTS - 1], widths = g->width_first[WIDTH_FIRSTS - 1];
  g->x = (float *)array(s, "x", positions);
  g->y = (float *)array(s, "y", positions);
  g->z = (float *)array(s, "z", positions);
  g->half_x = (float *)array(s, "half_x", widths);
  g->half_y = (float *)array(s, "half_y", widths);
  return g->x && g->y && g->z && g->half_x && g->half_y ? SL_OK : SL_ENOMEM;
}

/* Makes the arrays of the map, by its format. */
static int make_map_head(const struct sl_services *s, struct muon_geometry *g) {
  g->channel_first = (uint32_t *)array(s, "channel_first", map_units(g->format[0]) + 1);
  return g->channel_first ? SL_OK : SL_ENOMEM;
}
static int make_map(const struct sl_services *s, struct muon_geometry *g) {
  const uint32_t once = g->format[0] == 3; /* format 3 only */
  g->tiles = (uint32_t *)array(s, "tiles", g->channel_first[map_units(g->format[0])]);
  g->tell40_station = (uint32_t *)array(s, "tell40_station", once * MUON_TELL40S);
  g->tell40_links = (uint32_t *)array(s, "tell40_links", once * HALVES);
  g->link_region = (uint32_t *)array(s, "link_region", once * ALL_LINKS);
  g->link_quarter = (uint32_t *)array(s, "link_quarter", once * ALL_LINKS);
  return g->tiles && g->tell40_station && g->tell40_links && g->link_region && g->link_quarter ? SL_OK : SL_ENOMEM;
}

/* -------------------------------------------------------------------------------------------------- tables */

static void pass_grids(struct geometry_file *f, uint32_t *grid, uint32_t largest, const char *what) {
  geometry_number(f, SL_TYPE_u64, MUON_GRIDS, what);
  geometry_values(f, SL_TYPE_u32, grid, MUON_GRIDS, 1, largest, what);
}

static void pass_widths(struct geometry_file *f, float *values, uint32_t count, const char *what) {
  geometry_number(f, SL_TYPE_u64, count, what);
  geometry_values(f, SL_TYPE_f32, values, count, -GEOMETRY_LENGTH_MAX, GEOMETRY_LENGTH_MAX, what);
}

/* Positions of a station: triples x, y, z in the file; separate arrays from index `first` on, if they exist already. */
static void pass_positions(struct geometry_file *f, const struct muon_geometry *g, uint32_t first, uint32_t count) {
  static const char what[] = "coordinate of a position";
  if (!g->x) geometry_values(f, SL_TYPE_f32, NULL, (size_t)3 * count, 0, 0, what);
  for (uint32_t i = first; i < first + count && g->x && f->status == SL_OK; i++) {
    float xyz[3] = {g->x[i], g->y[i], g->z[i]};
    geometry_values(f, SL_TYPE_f32, xyz, 3, -GEOMETRY_LENGTH_MAX, GEOMETRY_LENGTH_MAX, what);
    if (f->output) continue;
    g->x[i] = xyz[0];
    g->y[i] = xyz[1];
    g->z[i] = xyz[2];
  }
}

static void check_offsets(struct geometry_file *f, const struct muon_geometry *g, uint32_t table, uint32_t station,
                          uint32_t count) {
  for (uint32_t r = 0; r < MUON_REGIONS && f->status == SL_OK; r++) {
    const uint32_t i = station * MUON_REGIONS + r, *x = &g->grid[2 * MUON_GRIDS * table + i];
    const uint32_t offset = g->offset[table * MUON_GRIDS + i],
                   needed = MUON_QUARTERS * muon_quarter_size(*x, x[MUON_GRIDS]);
    const uint32_t pads = MUON_QUARTERS * r * muon_quarter_size(*x, x[MUON_GRIDS]);
    if (offset > count || needed > count - offset)
      geometry_fail(f, "table %u: region %u of station %u begins at position %u and has %u, of %u in all", table, r,
                    station, offset, needed, count);
    else if (table == MUON_PADS && g->format[1] == 2 && offset != pads)
      geometry_fail(f, "pads of region %u of station %u begin at position %u, expected %u", r, station, offset, pads);
  }
}

static void pass_table(struct geometry_file *f, const struct muon_geometry *g, uint32_t table) {
  uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table], *grid_y = grid_x + MUON_GRIDS, rows = 0;
  pass_grids(f, grid_x, GRID_X_MAX, "grids in x");
  pass_grids(f, grid_y, GRID_Y_MAX, "grids in y");
  for (uint32_t i = 0; i < MUON_GRIDS; i++) rows += grid_y[i];
  const uint32_t widths = 6 * MUON_QUARTERS * rows, first = g->width_first[table];
  pass_widths(f, g->half_x ? g->half_x + first : NULL, widths, "half-widths in x");
  pass_widths(f, g->half_y ? g->half_y + first : NULL, widths, "half-widths in y");
  geometry_number(f, SL_TYPE_u64, MUON_GRIDS, "offsets");
  geometry_values(f, SL_TYPE_u32, g->offset + table * MUON_GRIDS, MUON_GRIDS, 0, POSITIONS_MAX, "offsets");
  geometry_number(f, SL_TYPE_u64, MUON_STATIONS, "stations");
  if (!f->output) g->width_first[table + 1] = first + widths;
  for (uint32_t k = 0; k < MUON_STATIONS && f->status == SL_OK; k++) {
    uint32_t *begin = &g->position_first[table * MUON_STATIONS + k], count = begin[1] - begin[0];
    geometry_count(f, SL_TYPE_u64, 1, POSITIONS_MAX, "positions", &count);
    if (!f->output && f->status == SL_OK) check_offsets(f, g, table, k, count);
    if (f->status == SL_OK) pass_positions(f, g, begin[0], count);
    if (!f->output) begin[1] = begin[0] + count;
  }
}

static void pass_all_tables(struct geometry_file *f, struct muon_geometry *g) {
  geometry_values(f, SL_TYPE_u32, &g->format[1], 1, 2, 3, "format");
  for (uint32_t table = 0; table < MUON_TABLES && f->status == SL_OK; table++) pass_table(f, g, table);
}

static void pass_tables(struct geometry_file *f, void *collection) {
  struct muon_geometry *g = (struct muon_geometry *)collection;
  if (!f->output && (f->status = make_table_heads(f->services, g)) < 0) return;
  pass_all_tables(f, g);
  if (f->output || f->status < 0) return;
  f->status = make_tables(f->services, g);
  f->position = 0;
  pass_all_tables(f, g);
}

/* ------------------------------------------------------------------------------------------------ the map */

static void pass_banks(struct geometry_file *f, const struct muon_geometry *g) {
  geometry_number(f, SL_TYPE_u64, MUON_BANKS, "banks");
  for (uint32_t i = 0; i < MUON_BANKS && f->status == SL_OK; i++) {
    uint32_t *begin = &g->channel_first[i], count = begin[1] - begin[0];
    geometry_count(f, SL_TYPE_u64, 1, MUON_BANK_CHANNELS_MAX, "addresses of a bank", &count);
    geometry_values(f, SL_TYPE_u32, g->tiles ? g->tiles + begin[0] : NULL, count, 0, TILE_MAX, "tile");
    if (!f->output) begin[1] = begin[0] + count;
  }
}

static void pass_links(struct geometry_file *f, const struct muon_geometry *g) {
  for (uint32_t i = 0; i <= HALVES && !f->output; i++) g->channel_first[i] = i * MUON_HALF_CHANNELS;
  geometry_values(f, SL_TYPE_u32, g->tell40_station, MUON_TELL40S, 0, MUON_STATIONS - 1, "station of a Tell40");
  geometry_values(f, SL_TYPE_u32, g->tell40_links, HALVES, 0, MUON_LINKS, "links in use");
  geometry_values(f, SL_TYPE_u32, g->link_region, ALL_LINKS, 0, MUON_REGIONS - 1, "region of a link");
  geometry_values(f, SL_TYPE_u32, g->link_quarter, ALL_LINKS, 0, MUON_QUARTERS - 1, "quarter of a link");
  geometry_values(f, SL_TYPE_u32, g->tiles, ALL_LINK_CHANNELS, 0, TILE_MAX, "tile");
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

static void check_tiles(struct geometry_file *f, const struct muon_geometry *g) {
  for (uint32_t unit = 0; unit < map_units(g->format[0]); unit++)
    for (uint32_t i = g->channel_first[unit]; i < g->channel_first[unit + 1] && f->status == SL_OK; i++)
      if (g->tiles[i] != 0 && !is_in_tables(g, g->tiles[i]))
        geometry_fail(f, "%s %u, channel %u: 0x%08x is no strip or pad of " TABLES_FILE,
                      g->format[0] == 2 ? "bank" : "half", unit, i - g->channel_first[unit], g->tiles[i]);
}

/* Reads or writes the map, after the tables, which set `format`. */
static void pass_map(struct geometry_file *f, void *collection) {
  struct muon_geometry *g = (struct muon_geometry *)collection;
  geometry_values(f, SL_TYPE_u32, &g->format[0], 1, 2, 3, "format");
  if (!f->output && f->status == SL_OK) f->status = make_map_head(f->services, g);
  if (f->status < 0) return;
  void (*const pass)(struct geometry_file *, const struct muon_geometry *) =
      g->format[0] == 2 ? pass_banks : pass_links;
  const size_t begin = f->position;
  pass(f, g);
  if (f->output || f->status < 0) return;
  f->status = make_map(f->services, g);
  f->position = begin;
  pass(f, g);
  if (f->status == SL_OK) check_tiles(f, g);
}

static const struct geometry_layout files[] = {{TABLES_FILE, .rest = pass_tables}, {MAP_FILE, .rest = pass_map}, {0}};

/* ------------------------------------------------------------------------------------------------ the constant */

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                          \
  M(FILE_IN, path, "", FILES,                                                                                \
    "folder with muon_geometry.bin and muon_tables.bin; or a description file; empty: nominal")              \
  M(U32, format, 2, 2, 3, "", "version of banks (2 or 3) for which a description gives the map of channels") \
  M(OUT, geometry, muon_geometry, "map of channels, positions of pads and strips")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

static int fill(const struct sl_services *s, const struct geometry_args *args, const struct muon_description *d) {
  struct muon_geometry g = {0};
  int status = make_table_heads(s, &g);
  if (status < 0) return status;
  g.format[0] = g.format[1] = args->format;
  muon_tables_sizes(d, args->format, &g);
  if ((status = make_tables(s, &g)) < 0 || (status = make_map_head(s, &g)) < 0) return status;
  if (args->format == 2)
    muon_channels_sizes(d, &g);
  else
    g.channel_first[HALVES] = ALL_LINK_CHANNELS;
  if ((status = make_map(s, &g)) < 0) return status;
  muon_tables_fill(d, &g);
  if (args->format == 2)
    muon_channels_fill(d, g.tiles);
  else if (!muon_links_fill(d, &g)) {
    s->message(s->context, SL_ERROR, "%s: a station has more links than its Tell40s take, %d a half",
               args->path && *args->path ? args->path : "nominal.muon", MUON_LINKS);
    return SL_EFORMAT;
  }
  return SL_OK;
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  struct muon_geometry g = {0};
  if (geometry_is_folder(args->path)) return geometry_read(files, s, "geometry", args->path, &g);
  struct muon_description *d = (struct muon_description *)malloc(sizeof *d);
  int status = d ? statements_load(&muon_description_format, s, args->path, d) : SL_ENOMEM;
  if (status == SL_OK) status = fill(s, args, d);
  free(d);
  return status;
}

SL_CONSTANT(geometry, "muon chambers: nominal, from a description, or from files", make);

/* ---------------------------------------------------------------------------------------------------- the sink */

#undef SL_ARGS
#define SL_ARGS geometry_sink_args
#define SINK(M) GEOMETRY_SINK_ARGUMENTS(M, geometry, muon_geometry, FILES)
SL_HOST_ARGUMENTS(geometry_sink, SINK);
GEOMETRY_SINK_CONSUME(geometry_sink, geometry)
GEOMETRY_SINK(geometry_sink, "writes the geometry as files that muon.geometry reads", files);
