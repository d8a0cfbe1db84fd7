/* readout.h: muon chambers as crossed by simulated particles, the channels of their pads and strips, and the hits in
 * them; made once per description and bank version. */
#ifndef SIM_MUON_READOUT_H
#define SIM_MUON_READOUT_H

#include "event/event.h"
#include "muon/channels.h"

enum {
  SIM_MUON_ROW_CHAMBERS_MAX = 5, /* chambers in a layer's row, on one side of the beam */
  SIM_MUON_CROSSINGS_MAX = 4     /* chambers per station that a line can cross: one per layer */
};

/* Outline in the station's frame. */
struct sim_muon_chamber {
  float x, y, half_width, half_height;
  uint32_t region, quarter;
  uint32_t first_x, first_y; /* its first pad, nearest to the beam */
  uint32_t columns, rows;    /* of pads */
};

struct sim_muon_row {
  uint32_t count, reserved;
  struct sim_muon_chamber chamber[SIM_MUON_ROW_CHAMBERS_MAX];
};

struct sim_muon_readout {
  uint32_t version, channel_count;
  struct sim_muon_row row[MUON_STATIONS][MUON_SIDES][MUON_LAYERS][MUON_LAYER_ROWS];
  struct muon_geometry map;      /* grid, offset, position_first, channel_first, tiles; for version 3 also the links */
  uint32_t *values;              /* memory of the arrays of `map` */
  uint32_t *channel_of_position; /* of x and y strips, after the pads */
  uint8_t *hit;                  /* per channel: time plus one, or 0; zero between events */
};

/* Returns NULL when out of memory, or when the description needs more links than there are. */
struct sim_muon_readout *sim_muon_readout_new(const struct muon_description *d, uint32_t version);
void sim_muon_readout_free(struct sim_muon_readout *readout);

/* Crossing of a chamber: position from the chamber's corner nearest to the beam, outwards, and slopes. */
struct sim_muon_crossing {
  const struct sim_muon_chamber *chamber;
  float u, v, slope_u, slope_v;
};

/* A line in global coordinates. sim_muon_cross returns the number of chambers of the station that it crosses. */
struct sim_muon_line {
  float x, y, z, tx, ty;
};
uint32_t sim_muon_cross(const struct muon_description *d, const struct sim_muon_readout *readout, uint32_t station,
                        const struct sim_muon_line *line, struct sim_muon_crossing crossings[SIM_MUON_CROSSINGS_MAX]);

/* Channel of the strip or pad `at` of a table, or SIM_MUON_NO_CHANNEL. */
#define SIM_MUON_NO_CHANNEL UINT32_MAX
static inline uint32_t sim_muon_channel(const struct sim_muon_readout *readout, uint32_t table,
                                        const struct muon_tile_address *at) {
  const uint32_t i = at->station * MUON_REGIONS + at->region;
  const uint32_t *grid = &readout->map.grid[2 * MUON_GRIDS * table + i];
  const uint32_t position = readout->map.position_first[table * MUON_STATIONS + at->station] +
                            readout->map.offset[table * MUON_GRIDS + i] +
                            at->quarter * muon_quarter_size(grid[0], grid[MUON_GRIDS]) +
                            muon_running_number(at->x, at->y, grid[0], grid[MUON_GRIDS]);
  return readout->channel_of_position[position];
}

/* Trace of a charged particle in a chamber: from (low_u, low_v) to (high_u, high_v) in the chamber's coordinates, at
 * a time in time units. */
struct sim_muon_trace {
  uint32_t station;
  float low_u, high_u, low_v, high_v, time;
};
/* Hits the channels of the trace with the chance `efficiency`. */
void sim_muon_fire(const struct muon_description *d, float efficiency, const struct sim_muon_chamber *chamber,
                   const struct sim_muon_trace *trace, struct sim_random *r, struct sim_muon_readout *readout);

#endif
