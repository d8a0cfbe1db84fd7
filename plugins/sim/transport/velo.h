/* velo.h: particles through the VELO and its material. */
#ifndef SIM_TRANSPORT_VELO_H
#define SIM_TRANSPORT_VELO_H

#include "event/event.h"
#include "velo/description.h"

/* Sensors of a module in the order of their planes for forward particles; for backward particles the last two come
 * first. Bit k of a set is the sensor at index k. */
#define SIM_LOOKUP_ORDER \
  { 0, 3, 1, 2 }

/* Lookup of the sensors of a left module near (x, y), as a set per cell; right modules are rotated by 180 degrees.
 * Valid for lines with |tx| + |ty| of at most SIM_LOOKUP_SLOPE. `planes` has axes and corners of a module's sensors,
 * in vector layout. */
#define SIM_LOOKUP_CELL   2.0f
#define SIM_LOOKUP_EXTENT 64.0f
#define SIM_LOOKUP_SLOPE  1.0f
enum { SIM_LOOKUP_CELLS = 64 };
struct sim_sensor_lookup {
  uint8_t sensors[SIM_LOOKUP_CELLS][SIM_LOOKUP_CELLS];
  struct sim_module_planes {
    float x_axis[2][VELO_MODULE_SENSORS], y_axis[2][VELO_MODULE_SENSORS], corner[3][VELO_MODULE_SENSORS];
  } planes[VELO_MODULES];
};
void sim_sensor_lookup_make(const struct velo_description *velo, struct sim_sensor_lookup *near);

/* Follows all particles of the event and those made in the material: adds hits (velo_hits) and the state at the end
 * of the VELO. 0 or SL_ENOMEM. */
int sim_transport(const struct velo_description *velo, const struct sim_sensor_lookup *near, struct sim_event *event);

#endif
