/* positions.h: positions of the chambers, pads and strips of a description. Link Sluice::geometry.
 *
 * A chamber is parallel to its station, in a frame that the tilt of the station rotates around the x axis. Its pads
 * have equal sizes. The outline of a pad or strip, along x and y, encloses its parts in one or more chambers; the
 * half-widths of a part are those of the vector from its middle to its corner, including half the thickness of the
 * chamber, rotated with the chamber. This reproduces LHCb's tables. In double; input coordinates are hundredths of mm.
 */
#ifndef MUON_POSITIONS_H
#define MUON_POSITIONS_H

#include "muon/description.h"

/* Before the tilt; y and z from the beam and the station. */
struct muon_chamber {
  double x, y, z, roll;
  double width, height;
};

static inline uint32_t muon_side_of_quarter(uint32_t quarter) { return quarter >= 2; }
static inline int muon_is_above(uint32_t quarter) { return quarter == 0 || quarter == 3; }

/* The layer of a chamber. */
static inline uint32_t muon_layer(uint32_t region, uint32_t side, uint32_t column, int32_t row) {
  const uint32_t is_odd = (uint32_t)row & 1u, is_outer = (column + side + (region == 1)) & 1u;
  return is_odd ? 1u - is_outer : 2u + is_outer;
}

/* In the layer's rows. */
static inline uint32_t muon_layer_row(int32_t row) { return (uint32_t)(row + MUON_LAYER_ROWS) / 2u; }

/* Chamber of the quarter: `row` counts from the beam. */
void muon_chamber_at(const struct muon_description *d, const struct muon_tile_address *quarter, uint32_t column,
                     uint32_t row_from_beam, struct muon_chamber *chamber);

struct muon_outline {
  double low_x, high_x, low_y, high_y, low_z, high_z;
};
/* The outline of pad or strip (x, y) of a grid in its quarter. Pads are numbered away from the beam. */
void muon_outline_make(const struct muon_description *d, const struct muon_tile_address *at, uint32_t grid_x,
                       uint32_t grid_y, struct muon_outline *o);

/* The grid of a table's strips in a format: pads where strips are not joined. */
void muon_grid_of(const struct muon_region *region, uint32_t table, uint32_t format, uint32_t *x, uint32_t *y);

/* Fills grid, offset, position_first and width_first. Their last entries are the numbers of positions and
 * half-widths. Each station has as much room for pads as the one that has most of them. */
void muon_tables_sizes(const struct muon_description *d, uint32_t format, struct muon_geometry *g);
/* Fills x, y, z, half_x and half_y, arrays of the sizes that muon_tables_sizes gives. */
void muon_tables_fill(const struct muon_description *d, const struct muon_geometry *g);

#endif
