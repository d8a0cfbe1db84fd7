/* velo.h: particles through the VELO and its material. */
#ifndef SIM_TRANSPORT_VELO_H
#define SIM_TRANSPORT_VELO_H

#include "event/event.h"
#include "velo/description.h"

/* The sensors of a module in the order in which particles meet them that fly forwards; backwards the last two come
 * first. So many are the bits of a set of sensors. */
#define SIM_NEAR_ORDER \
  { 0, 3, 1, 2 }

/* Which sensors of a left module are near a place, as a set, in cells of x and y: so that few planes need a closer
 * look. For lines whose slopes' sizes are SIM_NEAR_SLOPE together, at most. And the planes of a module's sensors side
 * by side: axes of their coordinates, and corners. */
#define SIM_NEAR_CELL   2.0f
#define SIM_NEAR_EXTENT 64.0f
#define SIM_NEAR_SLOPE  1.0f
enum { SIM_NEAR_CELLS = 64 };
struct sim_near {
  uint8_t sensors[SIM_NEAR_CELLS][SIM_NEAR_CELLS];
  struct sim_near_planes {
    float x_axis[2][VELO_MODULE_SENSORS], y_axis[2][VELO_MODULE_SENSORS], corner[3][VELO_MODULE_SENSORS];
  } planes[VELO_MODULES];
};
void sim_near_make(const struct velo_description *velo, struct sim_near *near);

/* Follows every particle of the event, and those that they make in the material: hits (velo_hits), and the state at the
 * end of the VELO. 0 or SL_ENOMEM. */
int sim_transport(const struct velo_description *velo, const struct sim_near *near, struct sim_event *event);

#endif
