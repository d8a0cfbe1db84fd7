/* description.h: description of the electromagnetic calorimeter (such as nominal.calo), and derived data: positions,
 * neighbours and gains of the cells, channels and planes.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph. statements_read and
 * statements_load (geometry/statements.h) read descriptions in calo_description_format; link Sluice::geometry.
 */
#ifndef CALO_DESCRIPTION_H
#define CALO_DESCRIPTION_H

#include "calo/event_model.h"
#include "geometry/statements.h"

enum {
  CALO_CARD_COLUMNS = 8,
  CALO_CARD_ROWS = 4,
  CALO_BANKS_MAX = 64, /* banks of type 21 */
  CALO_NO_BANK = 0xffff,
  CALO_GRID_MAX = 64 /* columns or rows per area, at most */
};
enum { CALO_FRONT, CALO_SHOWER_MAX, CALO_BACK, CALO_PLANES };
enum { CALO_TRANSFORM_VALUES = 12, CALO_PLANE_VALUES = 4 };

struct calo_area {
  uint32_t columns, rows, hole_columns, hole_rows;
  uint32_t first;                               /* cell */
  uint32_t divided_by;                          /* width of the outer cells divided by the width of these */
  float cell, z;                                /* width; local z of the centres */
  float half_x, half_y;                         /* local */
  uint16_t cells[CALO_GRID_MAX][CALO_GRID_MAX]; /* by row and column; CALO_CELLS: no cell */
};

/* Kinds of card codes. */
enum { CALO_CARD_ABSENT, CALO_CARD_SPARE, CALO_CARD_OF_CELLS };

struct calo_description {
  struct calo_area areas[CALO_AREAS];
  float cell, pedestal;
  float front_z;                              /* local z of the front plane */
  float local[2 * CALO_CELLS];                /* local x and y of the centres */
  float xy[2 * CALO_CELLS], gain[CALO_CELLS]; /* from here on as in calo_geometry */
  float to_local[CALO_TRANSFORM_VALUES], planes[CALO_PLANES * CALO_PLANE_VALUES];
  uint16_t neighbours[CALO_NEIGHBOURS * CALO_CELLS];
  uint16_t channels[CALO_CARDS_MAX * CALO_CARD_CHANNELS];
  uint32_t first_card, card_count; /* codes */
  uint32_t source_count;           /* of banks of type 77 */
  int32_t card_number[CALO_SOURCES_MAX * CALO_BANK_CARDS], card_index[CALO_SOURCES_MAX * CALO_BANK_CARDS];
  uint32_t bank_count; /* of type 21 */
  uint16_t bank_source[CALO_BANKS_MAX];
  uint16_t bank_first_card[CALO_BANKS_MAX], bank_last_card[CALO_BANKS_MAX]; /* codes */

  /* Statements from which the members above are derived. */
  float centre_x, centre_y, centre_z, tilt, plane_z[CALO_PLANES];
  float gain_et, gain_slope, gain_counts, gain_distance;
  struct {
    uint8_t kind, area, column, row, in_bank;
  } card[CALO_CARDS_MAX];
};

/* Area of a cell. */
uint32_t calo_description_area_of(const struct calo_description *d, uint32_t cell);

/* Position of a cell in the grid of its area. */
struct calo_place {
  uint32_t area, column, row;
};
/* The cell at a position in the local frame, or CALO_CELLS; `at`: its position in the grid. */
uint32_t calo_description_cell_at(const struct calo_description *d, float x, float y, struct calo_place *at);

extern const struct statement_format calo_description_format;

#endif
