/* positions.c: see positions.h. */
#include "muon/positions.h"

/* The hundredths from which a float was rounded. */
static double muon_hundredths(float value) {
  const double scaled = (double)value * 100.0;
  return (double)(int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5) / 100.0;
}

/* Sine and cosine of small angles. */
static double muon_sine(double a) { return a * (1.0 - a * a / 6.0 * (1.0 - a * a / 20.0)); }
static double muon_cosine(double a) { return 1.0 - a * a / 2.0 * (1.0 - a * a / 12.0); }

void muon_chamber_at(const struct muon_description *d, const struct muon_tile_address *quarter, uint32_t column,
                     uint32_t row_from_beam, struct muon_chamber *chamber) {
  const struct muon_station *station = &d->station[quarter->station];
  const struct muon_region *region = &d->region[quarter->station][quarter->region];
  const uint32_t side = muon_side_of_quarter(quarter->quarter);
  const int32_t row = muon_is_above(quarter->quarter) ? (int32_t)row_from_beam : -1 - (int32_t)row_from_beam;
  const uint32_t layer = muon_layer(quarter->region, side, column, row);
  chamber->x = muon_hundredths(region->column_x[side][column][!(row & 1)]);
  chamber->y = muon_hundredths(station->row_y[layer][muon_layer_row(row)]);
  chamber->z = muon_hundredths(station->layer_z[layer]);
  chamber->roll = 0;
  chamber->width = muon_hundredths(region->width);
  chamber->height = muon_hundredths(station->height);
  if (side) {
    chamber->y += muon_hundredths(station->c_side_y);
    chamber->z += muon_hundredths(station->c_side_z);
  }
  for (uint32_t i = 0; i < d->moved_count; i++) {
    const struct muon_moved *m = &d->moved[i];
    if (m->station != quarter->station || m->region != quarter->region || m->side != side || m->column != column ||
        m->row != row)
      continue;
    chamber->y += muon_hundredths(m->y);
    chamber->roll += (double)m->roll;
  }
}

/* ------------------------------------------------------------------------------------------- pads and strips */

/* Adds a part of a chamber to an outline: its middle (u, v) relative to that of the chamber, and half-widths. */
struct muon_part {
  double u, v, half_u, half_v;
};
static void muon_outline_add(const struct muon_station *station, const struct muon_chamber *c,
                             const struct muon_part *part, struct muon_outline *o) {
  const double tilt = (double)station->tilt, sine = muon_sine(tilt), cosine = muon_cosine(tilt);
  const double turn = muon_sine(c->roll), stay = muon_cosine(c->roll);
  const double depth = 0.5 * muon_hundredths(station->thickness);
  const double x = c->x + part->u * stay - part->v * turn, along = c->y + part->u * turn + part->v * stay;
  const double y = along * cosine - c->z * sine, z = along * sine + c->z * cosine;
  const double wide = part->half_u * stay - part->half_v * turn, high = part->half_v * stay + part->half_u * turn;
  const double half_x = wide, half_y = high * cosine - depth * sine;
  if (x - half_x < o->low_x) o->low_x = x - half_x;
  if (x + half_x > o->high_x) o->high_x = x + half_x;
  if (y - half_y < o->low_y) o->low_y = y - half_y;
  if (y + half_y > o->high_y) o->high_y = y + half_y;
  if (z < o->low_z) o->low_z = z;
  if (z > o->high_z) o->high_z = z;
}

void muon_outline_make(const struct muon_description *d, const struct muon_tile_address *at, uint32_t grid_x,
                       uint32_t grid_y, struct muon_outline *o) {
  const struct muon_station *station = &d->station[at->station];
  const struct muon_region *region = &d->region[at->station][at->region];
  *o = (struct muon_outline){1e9, -1e9, 1e9, -1e9, 1e9, -1e9};
  const uint32_t pads_x = region->grid_x[MUON_PADS], pads_y = region->grid_y[MUON_PADS];
  const uint32_t columns = 2 * pads_x / muon_chamber_columns(at->region); /* columns of pads in a chamber */
  const uint32_t rows = 2 * pads_y / muon_chamber_rows(at->region);
  const uint32_t wide = grid_x ? pads_x / grid_x : 0,
                 high = grid_y ? pads_y / grid_y : 0; /* size of a strip, in pads */
  const uint32_t x0 = at->x * wide, x1 = x0 + wide, y0 = at->y * high, y1 = y0 + high;
  const double sign_x = muon_side_of_quarter(at->quarter) ? -1.0 : 1.0,
               sign_y = muon_is_above(at->quarter) ? 1.0 : -1.0;
  for (uint32_t row = y0 / rows; row * rows < y1; row++) {
    for (uint32_t column = x0 / columns; column * columns < x1; column++) {
      struct muon_chamber c;
      muon_chamber_at(d, at, column, row, &c);
      const uint32_t first_x = column * columns, first_y = row * rows;
      const uint32_t a = x0 > first_x ? x0 - first_x : 0, b = x1 < first_x + columns ? x1 - first_x : columns;
      const uint32_t e = y0 > first_y ? y0 - first_y : 0, f = y1 < first_y + rows ? y1 - first_y : rows;
      const double pitch_x = c.width / columns, pitch_y = c.height / rows;
      const struct muon_part part = {sign_x * pitch_x * ((a + b) * 0.5 - columns * 0.5),
                                     sign_y * pitch_y * ((e + f) * 0.5 - rows * 0.5), pitch_x * (b - a) * 0.5,
                                     pitch_y * (f - e) * 0.5};
      muon_outline_add(station, &c, &part, o);
    }
  }
}

/* ------------------------------------------------------------------------------------------------ the tables */

void muon_grid_of(const struct muon_region *region, uint32_t table, uint32_t format, uint32_t *x, uint32_t *y) {
  const uint32_t from = format == 3 && region->pads_in_format_3 ? (uint32_t)MUON_PADS : table;
  *x = region->grid_x[from];
  *y = region->grid_y[from];
}

/* Number of positions of a station in a table. */
static uint32_t muon_station_positions(const struct muon_geometry *g, uint32_t table, uint32_t station) {
  uint32_t sum = 0;
  for (uint32_t r = 0; r < MUON_REGIONS; r++) {
    const uint32_t *x = &g->grid[2 * MUON_GRIDS * table + station * MUON_REGIONS + r];
    g->offset[table * MUON_GRIDS + station * MUON_REGIONS + r] = sum;
    sum += MUON_QUARTERS * muon_quarter_size(*x, x[MUON_GRIDS]);
  }
  return sum;
}

void muon_tables_sizes(const struct muon_description *d, uint32_t format, struct muon_geometry *g) {
  for (uint32_t table = 0; table < MUON_TABLES; table++) {
    uint32_t rows = 0, most = 0, first = table * MUON_STATIONS;
    for (uint32_t i = 0; i < MUON_GRIDS; i++) {
      uint32_t *x = &g->grid[2 * MUON_GRIDS * table + i], *y = x + MUON_GRIDS;
      muon_grid_of(&d->region[i / MUON_REGIONS][i % MUON_REGIONS], table, format, x, y);
      rows += *y;
    }
    g->width_first[table + 1] = g->width_first[table] + 6 * MUON_QUARTERS * rows;
    for (uint32_t k = 0; k < MUON_STATIONS; k++) {
      const uint32_t count = muon_station_positions(g, table, k);
      if (most < count) most = count;
    }
    for (uint32_t k = 0; k < MUON_STATIONS; k++, first++)
      g->position_first[first + 1] =
          g->position_first[first] + (table == MUON_PADS ? most : muon_station_positions(g, table, k));
  }
}

/* Fills the positions and half-widths of a quarter, from indices `first` and `first_width` on. */
static void muon_tables_quarter(const struct muon_description *d, const struct muon_tile_address *quarter,
                                const uint32_t grid[2], const struct muon_geometry *g, uint32_t first,
                                uint32_t first_width) {
  struct muon_tile_address at = *quarter;
  const double station_z = muon_hundredths(d->station[at.station].z);
  for (at.y = 0; at.y < 2 * grid[1]; at.y++) {
    for (at.x = at.y < grid[1] ? grid[0] : 0; at.x < 2 * grid[0]; at.x++) {
      struct muon_outline o;
      muon_outline_make(d, &at, grid[0], grid[1], &o);
      const uint32_t i = first + muon_running_number(at.x, at.y, grid[0], grid[1]);
      const uint32_t k = first_width + muon_width_number(at.x, at.y, grid[0], grid[1]);
      g->x[i] = (float)((o.low_x + o.high_x) * 0.5);
      g->y[i] = (float)((o.low_y + o.high_y) * 0.5);
      g->z[i] = (float)(station_z + (o.low_z + o.high_z) * 0.5);
      g->half_x[k] = (float)((o.high_x - o.low_x) * 0.5);
      g->half_y[k] = (float)((o.high_y - o.low_y) * 0.5);
    }
  }
}

void muon_tables_fill(const struct muon_description *d, const struct muon_geometry *g) {
  for (uint32_t table = 0; table < MUON_TABLES; table++) {
    uint32_t width = g->width_first[table];
    for (uint32_t i = 0; i < MUON_GRIDS; i++) {
      const uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table + i], grid[2] = {*grid_x, grid_x[MUON_GRIDS]};
      struct muon_tile_address at = {i / MUON_REGIONS, i % MUON_REGIONS, 0, 0, 0};
      uint32_t first = g->position_first[table * MUON_STATIONS + at.station] + g->offset[table * MUON_GRIDS + i];
      for (; at.quarter < MUON_QUARTERS; at.quarter++) {
        muon_tables_quarter(d, &at, grid, g, first, width);
        first += muon_quarter_size(grid[0], grid[1]);
        width += 6 * grid[1];
      }
    }
  }
}
