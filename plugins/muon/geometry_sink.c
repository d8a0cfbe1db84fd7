/* muon.geometry_sink: writes the geometry, wherever it comes from, as the two binary files that muon.geometry reads
 * from a folder (README.md, "Files").
 */
#include "geometry_file.h"

#define SL_ARGS geometry_sink_args
#define GEOMETRY_SINK(M)                                         \
  M(IN, geometry, muon_geometry, "", "what is written")          \
  M(FILE_OUT, path, "", MUON_GEOMETRY_FILE " " MUON_TABLES_FILE, \
    "folder to write to, made if there is none; empty: that of -o")
SL_HOST_ARGUMENTS(geometry_sink, GEOMETRY_SINK);

static unsigned char *put_u32s(unsigned char *at, const uint32_t *values, size_t count) {
  return io_geometry_put(at, values, sizeof *values * count);
}

static size_t map_bytes(const struct muon_geometry_view *g) {
  const uint32_t channels = g->channel_first[map_units(g->format[0])];
  const size_t words =
      g->format[0] == 2 ? 1 + 2 * (1 + MUON_BANKS) + channels : 1 + MUON_TELL40S + HALVES + 2 * ALL_LINKS + channels;
  return sizeof(uint32_t) * words;
}

static void pack_map(const struct muon_geometry_view *g, unsigned char *at) {
  at = io_geometry_put_u32(at, g->format[0]);
  if (g->format[0] == 2) {
    at = io_geometry_put_length(at, MUON_BANKS);
    for (uint32_t i = 0; i < MUON_BANKS; i++) {
      const uint32_t first = g->channel_first[i], count = g->channel_first[i + 1] - first;
      at = io_geometry_put_length(at, count);
      at = put_u32s(at, g->tiles + first, count);
    }
    return;
  }
  at = put_u32s(at, g->tell40_station, MUON_TELL40S);
  at = put_u32s(at, g->tell40_links, HALVES);
  at = put_u32s(at, g->link_region, ALL_LINKS);
  at = put_u32s(at, g->link_quarter, ALL_LINKS);
  put_u32s(at, g->tiles, ALL_LINK_CHANNELS);
}

static size_t tables_bytes(const struct muon_geometry_view *g) {
  const size_t lengths = MUON_TABLES * (2 + 2 + 1 + 1 + MUON_STATIONS);
  const size_t words = 1 + GRID_VALUES + OFFSET_VALUES + 2 * g->width_first[WIDTH_FIRSTS - 1] +
                       3 * g->position_first[POSITION_FIRSTS - 1];
  return sizeof(uint64_t) * lengths + sizeof(uint32_t) * words;
}

static unsigned char *pack_table(const struct muon_geometry_view *g, uint32_t table, unsigned char *at) {
  const uint32_t *grid = g->grid + 2 * MUON_GRIDS * table;
  const uint32_t width = g->width_first[table], widths = g->width_first[table + 1] - width;
  at = put_u32s(io_geometry_put_length(at, MUON_GRIDS), grid, MUON_GRIDS);
  at = put_u32s(io_geometry_put_length(at, MUON_GRIDS), grid + MUON_GRIDS, MUON_GRIDS);
  at = io_geometry_put(io_geometry_put_length(at, widths), g->half_x + width, sizeof(float) * widths);
  at = io_geometry_put(io_geometry_put_length(at, widths), g->half_y + width, sizeof(float) * widths);
  at = put_u32s(io_geometry_put_length(at, MUON_GRIDS), g->offset + table * MUON_GRIDS, MUON_GRIDS);
  at = io_geometry_put_length(at, MUON_STATIONS);
  for (uint32_t k = table * MUON_STATIONS; k < (table + 1) * MUON_STATIONS; k++) {
    at = io_geometry_put_length(at, g->position_first[k + 1] - g->position_first[k]);
    for (uint32_t i = g->position_first[k]; i < g->position_first[k + 1]; i++) {
      const float xyz[3] = {g->x[i], g->y[i], g->z[i]};
      at = io_geometry_put(at, xyz, sizeof xyz);
    }
  }
  return at;
}

static void pack_tables(const struct muon_geometry_view *g, unsigned char *at) {
  at = io_geometry_put_u32(at, g->format[1]);
  for (uint32_t table = 0; table < MUON_TABLES; table++) at = pack_table(g, table, at);
}

static int geometry_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  static const char *const names[] = {MUON_GEOMETRY_FILE, MUON_TABLES_FILE, NULL};
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  return io_geometry_folder_open((struct io_geometry_folder *)state, s, args->path, output_path, names);
}

static int write_packed(struct io_geometry_folder *m, uint32_t which, const struct muon_geometry_view *g, size_t bytes,
                        void (*pack)(const struct muon_geometry_view *g, unsigned char *at)) {
  unsigned char *packed = (unsigned char *)malloc(bytes);
  if (!packed) return SL_ENOMEM;
  pack(g, packed);
  const int status = io_geometry_folder_write(m, which, packed, bytes);
  free(packed);
  return status;
}

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  struct io_geometry_folder *m = (struct io_geometry_folder *)state;
  (void)s, (void)batch;
  if (!io_geometry_folder_is_due(m)) return SL_OK;
  const int status = write_packed(m, 0, &args->geometry, map_bytes(&args->geometry), pack_map);
  return status < 0 ? status : write_packed(m, 1, &args->geometry, tables_bytes(&args->geometry), pack_tables);
}

static const struct sl_sink geometry_sink_functions = {.open = geometry_sink_open,
                                                       .consume = geometry_sink_consume,
                                                       .finish = io_geometry_folder_finish,
                                                       .close = io_geometry_folder_close};

SL_SINK(geometry_sink, "writes the geometry as files that muon.geometry reads", struct io_geometry_folder,
        geometry_sink_functions);
