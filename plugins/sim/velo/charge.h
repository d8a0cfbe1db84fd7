/* charge.h: charge of particles in the VELO pixels. */
#ifndef SIM_VELO_CHARGE_H
#define SIM_VELO_CHARGE_H

#include "event/event.h"
#include "velo/description.h"

/* Address of a pixel: sensor (bits 18 to 25), super-pixel column (9), super-pixel row (3), bit of the pixel in the
 * super-pixel (0 to 2). Pixels are sorted by address. */
enum { SIM_PIXEL_SENSOR = 18, SIM_PIXEL_SP_COLUMN = 9, SIM_PIXEL_SP_ROW = 3 };

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

/* Charge of a particle in a pixel. */
struct sim_charge {
  uint32_t address;
  int32_t electrons;
  uint32_t particle; /* UINT32_MAX: noise */
};

SIM_NAMED_LIST(sim_charges, struct sim_charge);

enum { SIM_VELO_THRESHOLD = 1000 }; /* electrons */

/* Appends the charges of the event's hits and of noise. 0 or SL_ENOMEM. */
int sim_velo_charge(const struct velo_description *velo, float efficiency, const struct sim_event *event,
                    struct sim_charges *charges);

#endif
