/* description.h: contents of a text description of the muon chambers such as nominal.muon: chambers, regions, readout.
 *
 * For host code that needs the detector outside a graph. statements_read and statements_load (geometry/statements.h)
 * read descriptions in muon_description_format; link Sluice::geometry. positions.h and channels.h compute positions and
 * the map of channels from it.
 */
#ifndef MUON_DESCRIPTION_H
#define MUON_DESCRIPTION_H

#include "geometry/statements.h"
#include "muon/event_model.h"

enum {
  MUON_SIDES = 2, /* A: x > 0; C: x < 0 */
  MUON_LAYERS = 4,
  MUON_LAYER_ROWS = 16, /* rows of chambers in a layer */
  MUON_COLUMNS_MAX = 4, /* columns of chambers in a quarter of a region */
  MUON_MOVED_MAX = 64,
  MUON_SECTORS_MAX = 16,
  MUON_SECTOR_CHANNELS_MAX = 64,
  MUON_BATCHES = 4,
  MUON_QUARTER_CHANNELS_MAX = 2048
};

struct muon_station {
  float z, tilt, height, thickness;
  float layer_z[MUON_LAYERS];                /* from the station's */
  float c_side_y, c_side_z;                  /* shift at x < 0 */
  float row_y[MUON_LAYERS][MUON_LAYER_ROWS]; /* odd rows from -15 on, even ones from -16 on */
  uint32_t channel_count;                    /* of a quarter, in format 2 */
  uint32_t tell40s;                          /* in format 3 */
};

struct muon_region {
  float width;                                       /* of a chamber */
  uint32_t grid_x[MUON_TABLES], grid_y[MUON_TABLES]; /* of muon_table */
  float column_x[MUON_SIDES][MUON_COLUMNS_MAX][2];   /* of odd rows, of even ones */
  uint32_t pads_in_format_3;                         /* these replace the strips */
};

/* A chamber with a position that does not follow from the regular arrangement. */
struct muon_moved {
  uint32_t station, region, side, column;
  int32_t row;
  float y, roll;
};

/* A channel of a quarter, in the order of its addresses. */
struct muon_channel {
  uint8_t table; /* MUON_X_STRIPS or MUON_Y_STRIPS; MUON_PADS: none is connected */
  uint8_t region, x, y;
};

struct muon_bank {
  uint32_t station, quarter_count, quarter[2];
  uint32_t batch[MUON_BATCHES]; /* addresses of each */
};

/* A pattern of channels: strips by their place from the sector's first. */
struct muon_sector {
  char name[STATEMENT_WORD_BYTES];
  uint32_t count;
  struct muon_channel channel[MUON_SECTOR_CHANNELS_MAX];
  uint32_t columns[MUON_TABLES], rows[MUON_TABLES]; /* of strips */
};

struct muon_description {
  struct muon_station station[MUON_STATIONS];
  struct muon_region region[MUON_STATIONS][MUON_REGIONS];
  struct muon_moved moved[MUON_MOVED_MAX];
  uint32_t moved_count;
  struct muon_channel channel[MUON_STATIONS][MUON_QUARTER_CHANNELS_MAX];
  struct muon_bank bank[MUON_BANKS];
  struct muon_sector sector[MUON_SECTORS_MAX]; /* patterns from which `channel` is made */
  uint32_t sector_count;
};

/* A quarter of a region has 2, 4, 8 and 16 rows of chambers, and two columns; R4 has four. */
static inline uint32_t muon_chamber_rows(uint32_t region) { return 2u << region; }
static inline uint32_t muon_chamber_columns(uint32_t region) { return region == 3 ? 4 : 2; }

extern const struct statement_format muon_description_format;

#endif
