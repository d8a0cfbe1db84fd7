/* velo_digits.h: what the VELO's readout makes of the hits: pixels over threshold, joined to clusters. */
#ifndef SIM_VELO_DIGITS_H
#define SIM_VELO_DIGITS_H

#include "event.h"
#include "velo/description.h"

/* A pixel's address, by which they are sorted: sensor (bits 18 to 25), super-pixel column (9), super-pixel row (3), bit
 * of the pixel in its super-pixel (0 to 2). */
enum { SIM_PIXEL_SENSOR = 18, SIM_PIXEL_SP_COLUMN = 9, SIM_PIXEL_SP_ROW = 3 };

struct sim_pixel {
  uint32_t address;
  uint32_t cluster; /* index */
  uint32_t first;   /* of its contributions */
  uint32_t count;
};

/* 8-connected pixels of a sensor; sums over them give their centre. */
struct sim_cluster {
  uint32_t sensor, pixel_count, columns, rows; /* sums */
  uint32_t last_linked;                        /* particle, while links are made */
};

/* Charge of a particle in a pixel, in electrons. */
struct sim_charge {
  uint32_t address;
  int32_t electrons;
  uint32_t particle; /* UINT32_MAX: noise */
};

/* Which particle has a part in which cluster. */
struct sim_link {
  uint32_t particle, cluster;
};

struct sim_velo_digits {
  SIM_LIST(struct sim_charge) charges;
  SIM_LIST(struct sim_charge) sorted;
  SIM_LIST(struct sim_pixel) pixels; /* by ascending address */
  SIM_LIST(struct sim_cluster) clusters;
  SIM_LIST(struct sim_link) links; /* by particle; none twice */
  SIM_LIST(uint32_t) places;       /* per particle, while links are made */
};

enum { SIM_VELO_THRESHOLD = 1000 }; /* electrons */

/* velo_charge.c: fills `charges`, those of noise included. 0 or SL_ENOMEM. */
int sim_velo_charge(const struct velo_description *velo, float efficiency, const struct sim_event *event,
                    struct sim_velo_digits *digits);

/* 0 or SL_ENOMEM. */
int sim_velo_digitise(const struct velo_description *velo, float efficiency, const struct sim_event *event,
                      struct sim_velo_digits *digits);
void sim_velo_digits_free(struct sim_velo_digits *digits);

static inline uint32_t sim_pixel_sensor(uint32_t address) { return address >> SIM_PIXEL_SENSOR; }
static inline uint32_t sim_pixel_column(uint32_t address) {
  return 2 * (address >> SIM_PIXEL_SP_COLUMN & 0x1FF) + (address >> 2 & 1);
}
static inline uint32_t sim_pixel_row(uint32_t address) {
  return 4 * (address >> SIM_PIXEL_SP_ROW & 0x3F) + (address & 3);
}
static inline uint32_t sim_pixel_address(uint32_t sensor, uint32_t column, uint32_t row) {
  return sensor << SIM_PIXEL_SENSOR | column / 2 << SIM_PIXEL_SP_COLUMN | row / 4 << SIM_PIXEL_SP_ROW |
         (column & 1) << 2 | (row & 3);
}

#endif
