/* readout.c: see readout.h. A trace hits all pads along it, and adjacent pads if it is near their edge. Hit pads are
 * read out as strips. */
#include "readout.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- channels */

enum { HALVES = MUON_TELL40S * MUON_HALVES };

/* Sets the array pointers of the map into `values`, unless that is NULL; returns the total number of values. */
static size_t assign_arrays(uint32_t *values, uint32_t version, struct muon_geometry *g) {
  const size_t links = version == 3 ? (size_t)HALVES * MUON_LINKS : 0;
  const struct {
    uint32_t **at;
    size_t count;
  } arrays[] = {{&g->grid, (size_t)2 * MUON_GRIDS * MUON_TABLES},
                {&g->offset, (size_t)MUON_GRIDS * MUON_TABLES},
                {&g->position_first, (size_t)MUON_TABLES * MUON_STATIONS + 1},
                {&g->width_first, MUON_TABLES + 1},
                {&g->channel_first, HALVES + 1},
                {&g->tell40_station, MUON_TELL40S},
                {&g->tell40_links, HALVES},
                {&g->link_region, links},
                {&g->link_quarter, links},
                {&g->tiles, version == 3 ? links * MUON_LINK_CHANNELS : (size_t)MUON_BANKS * MUON_BANK_CHANNELS_MAX}};
  size_t total = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    if (values) *arrays[i].at = values + total;
    total += arrays[i].count;
  }
  return total;
}

static void number_channels(struct sim_muon_readout *r) {
  const struct muon_geometry *g = &r->map;
  for (uint32_t i = 0; i < g->position_first[MUON_TABLES * MUON_STATIONS]; i++)
    r->channel_of_position[i] = SIM_MUON_NO_CHANNEL;
  for (uint32_t channel = 0; channel < r->channel_count; channel++) {
    const uint32_t tile = g->tiles[channel], i = muon_tile_grid(tile);
    if (tile == 0) continue;
    const struct muon_tile_address at = {muon_tile_station(tile), muon_tile_region(tile), muon_tile_quarter(tile),
                                         muon_tile_x(tile), muon_tile_y(tile)};
    const uint32_t *grid = &g->grid[2 * MUON_GRIDS * MUON_X_STRIPS + i];
    const int is_x = grid[0] == muon_tile_grid_x(tile) && grid[MUON_GRIDS] == muon_tile_grid_y(tile);
    const uint32_t table = is_x ? MUON_X_STRIPS : MUON_Y_STRIPS;
    grid = &g->grid[2 * MUON_GRIDS * table + i];
    r->channel_of_position[g->position_first[table * MUON_STATIONS + at.station] + g->offset[table * MUON_GRIDS + i] +
                           at.quarter * muon_quarter_size(grid[0], grid[MUON_GRIDS]) +
                           muon_running_number(at.x, at.y, grid[0], grid[MUON_GRIDS])] = channel;
  }
}

static int make_channels(const struct muon_description *d, struct sim_muon_readout *r) {
  struct muon_geometry *g = &r->map;
  r->values = (uint32_t *)calloc(assign_arrays(NULL, r->version, g), sizeof *r->values);
  if (!r->values) return SL_ENOMEM;
  assign_arrays(r->values, r->version, g);
  muon_tables_sizes(d, r->version, g);
  if (r->version == 2) {
    muon_channels_sizes(d, g);
    muon_channels_fill(d, g->tiles);
    r->channel_count = g->channel_first[MUON_BANKS];
  } else {
    if (!muon_links_fill(d, g)) return SL_EFORMAT;
    r->channel_count = g->channel_first[HALVES];
  }
  r->channel_of_position =
      (uint32_t *)malloc(g->position_first[MUON_TABLES * MUON_STATIONS] * sizeof *r->channel_of_position);
  if (!r->channel_of_position) return SL_ENOMEM;
  number_channels(r);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- chambers */

static void add_chamber(const struct muon_description *d, const struct muon_tile_address *quarter, uint32_t column,
                        uint32_t row_from_beam, struct sim_muon_readout *r) {
  const struct muon_region *region = &d->region[quarter->station][quarter->region];
  const uint32_t side = muon_side_of_quarter(quarter->quarter);
  const int32_t row = muon_is_above(quarter->quarter) ? (int32_t)row_from_beam : -1 - (int32_t)row_from_beam;
  const uint32_t layer = muon_layer(quarter->region, side, column, row);
  struct sim_muon_row *in = &r->row[quarter->station][side][layer][muon_layer_row(row)];
  const uint32_t columns = 2 * region->grid_x[MUON_PADS] / muon_chamber_columns(quarter->region);
  const uint32_t rows = 2 * region->grid_y[MUON_PADS] / muon_chamber_rows(quarter->region);
  struct muon_chamber c;
  muon_chamber_at(d, quarter, column, row_from_beam, &c);
  in->chamber[in->count++] = (struct sim_muon_chamber){(float)c.x,
                                                       (float)c.y,
                                                       (float)(0.5 * c.width),
                                                       (float)(0.5 * c.height),
                                                       quarter->region,
                                                       quarter->quarter,
                                                       column * columns,
                                                       row_from_beam * rows,
                                                       columns,
                                                       rows};
}

static void make_chambers(const struct muon_description *d, struct sim_muon_readout *r) {
  struct muon_tile_address at = {0, 0, 0, 0, 0};
  for (at.station = 0; at.station < MUON_STATIONS; at.station++)
    for (at.region = 0; at.region < MUON_REGIONS; at.region++)
      for (at.quarter = 0; at.quarter < MUON_QUARTERS; at.quarter++)
        for (uint32_t row = 0; row < muon_chamber_rows(at.region); row++)
          for (uint32_t column = 0; column < muon_chamber_columns(at.region); column++)
            if (2 * row >= muon_chamber_rows(at.region) || 2 * column >= muon_chamber_columns(at.region))
              add_chamber(d, &at, column, row, r);
}

/* Row of chambers of a layer nearest to `y`, or NULL. */
static const struct sim_muon_row *nearest_row(const struct muon_station *station, const struct sim_muon_row *rows,
                                              uint32_t layer, float y) {
  const float *at = station->row_y[layer];
  const float step = (at[MUON_LAYER_ROWS - 1] - at[0]) / (float)(MUON_LAYER_ROWS - 1);
  const float position = (y - at[0]) / step + 0.5f;
  if (!(position >= 0.0f) || position >= (float)MUON_LAYER_ROWS) return NULL;
  return &rows[(uint32_t)position];
}

/* Crosses the plane of a layer, tilted around the x axis, at height `along` in it:
 * y + ty (z' - z) = along cos - depth sin, at z' = station + along sin + depth cos. */
static void meet_layer(const struct muon_station *station, float depth, const struct sim_muon_line *line, float *x,
                       float *along) {
  const float sine = station->tilt, cosine = 1.0f - 0.5f * sine * sine;
  const float way = station->z + depth * cosine - line->z;
  *along = (line->y + line->ty * way + depth * sine) / (cosine - line->ty * sine);
  *x = line->x + line->tx * (way + *along * sine);
}

uint32_t sim_muon_cross(const struct muon_description *d, const struct sim_muon_readout *r, uint32_t station,
                        const struct sim_muon_line *line, struct sim_muon_crossing crossings[SIM_MUON_CROSSINGS_MAX]) {
  const struct muon_station *s = &d->station[station];
  const uint32_t side = line->x < 0.0f;
  uint32_t count = 0;
  for (uint32_t layer = 0; layer < MUON_LAYERS; layer++) {
    float x, y;
    meet_layer(s, s->layer_z[layer] + (side ? s->c_side_z : 0.0f), line, &x, &y);
    const struct sim_muon_row *row =
        nearest_row(s, r->row[station][side][layer], layer, y - (side ? s->c_side_y : 0.0f));
    for (uint32_t i = 0; row && i < row->count; i++) {
      const struct sim_muon_chamber *c = &row->chamber[i];
      if (fabsf(x - c->x) >= c->half_width || fabsf(y - c->y) >= c->half_height) continue;
      const float sign_x = side ? -1.0f : 1.0f, sign_y = muon_is_above(c->quarter) ? 1.0f : -1.0f;
      crossings[count++] =
          (struct sim_muon_crossing){c, sign_x * (x - c->x) + c->half_width, sign_y * (y - c->y) + c->half_height,
                                     sign_x * line->tx, sign_y * line->ty};
      break;
    }
  }
  return count;
}

/* ---------------------------------------------------------------------------------------------------- traces */

static const float shared = 1.5f;       /* mm: largest distance beyond a pad's edge that induces a signal in the pad */
static const float strip_share = 0.95f; /* R1, R2: efficiency of x strips, and of y strips */
static const float time_width = 2.4f;   /* time resolution, in time units */
enum { TIMES = 16 };

static void hit_channel(struct sim_muon_readout *readout, uint32_t table, const struct muon_tile_address *at,
                        float time) {
  const int32_t t = sl_to_i32(time);
  if (time < 0.0f || t >= TIMES) return; /* another crossing */
  const uint32_t channel = sim_muon_channel(readout, table, at);
  if (channel == SIM_MUON_NO_CHANNEL) return;
  uint8_t *hit = &readout->hit[channel];
  if (*hit == 0 || t + 1 < *hit) *hit = (uint8_t)(t + 1);
}

/* Hits all strips of a table over the pads from (low_x, low_y) to (high_x, high_y). */
struct pads {
  uint32_t low_x, high_x, low_y, high_y;
};
static void hit_strips(const struct muon_region *region, uint32_t table, const struct pads *pads,
                       const struct muon_tile_address *chamber, float time, struct sim_random *r,
                       struct sim_muon_readout *readout) {
  uint32_t gx, gy;
  muon_grid_of(region, table, readout->version, &gx, &gy);
  const uint32_t wide = region->grid_x[MUON_PADS] / gx, high = region->grid_y[MUON_PADS] / gy;
  struct muon_tile_address at = *chamber;
  for (at.y = pads->low_y / high; at.y <= pads->high_y / high; at.y++)
    for (at.x = pads->low_x / wide; at.x <= pads->high_x / wide; at.x++)
      hit_channel(readout, table, &at, time + time_width * sim_normal(r));
}

static uint32_t pad_of(float position, float pitch, uint32_t count) {
  const int32_t i = sl_to_i32(position / pitch);
  return position <= 0.0f ? 0 : i >= (int32_t)count ? count - 1 : (uint32_t)i;
}

void sim_muon_fire(const struct muon_description *muon, float efficiency, const struct sim_muon_chamber *c,
                   const struct sim_muon_trace *t, struct sim_random *r, struct sim_muon_readout *readout) {
  const struct muon_region *region = &muon->region[t->station][c->region];
  const float pitch_x = 2.0f * c->half_width / (float)c->columns, pitch_y = 2.0f * c->half_height / (float)c->rows;
  const float beyond = shared * sim_uniform(r);
  const struct pads pads = {c->first_x + pad_of(t->low_u - beyond, pitch_x, c->columns),
                            c->first_x + pad_of(t->high_u + beyond, pitch_x, c->columns),
                            c->first_y + pad_of(t->low_v - beyond, pitch_y, c->rows),
                            c->first_y + pad_of(t->high_v + beyond, pitch_y, c->rows)};
  const struct muon_tile_address at = {t->station, c->region, c->quarter, 0, 0};
  uint32_t x[MUON_TABLES], y[MUON_TABLES];
  for (uint32_t table = 0; table < MUON_TABLES; table++)
    muon_grid_of(region, table, readout->version, &x[table], &y[table]);
  const int are_pads = x[MUON_X_STRIPS] == x[MUON_Y_STRIPS] && y[MUON_X_STRIPS] == y[MUON_Y_STRIPS];
  const float is_seen = sim_uniform(r), in_x = sim_uniform(r), in_y = sim_uniform(r);
  const float share = c->region < 2 && !are_pads ? strip_share : 1.0f;
  if (is_seen >= efficiency) return;
  if (in_x < share) hit_strips(region, MUON_X_STRIPS, &pads, &at, t->time, r, readout);
  if (in_y < share && !are_pads) hit_strips(region, MUON_Y_STRIPS, &pads, &at, t->time, r, readout);
}

/* --------------------------------------------------------------------------------------------------- the whole */

struct sim_muon_readout *sim_muon_readout_new(const struct muon_description *d, uint32_t version) {
  struct sim_muon_readout *r = (struct sim_muon_readout *)calloc(1, sizeof *r);
  if (!r) return NULL;
  r->version = version;
  make_chambers(d, r);
  if (make_channels(d, r) == SL_OK) r->hit = (uint8_t *)calloc(r->channel_count + sizeof(uint64_t), 1);
  if (r->hit) return r;
  sim_muon_readout_free(r);
  return NULL;
}

void sim_muon_readout_free(struct sim_muon_readout *r) {
  if (!r) return;
  free(r->values);
  free(r->channel_of_position);
  free(r->hit);
  free(r);
}
