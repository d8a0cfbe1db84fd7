/* transport.h: particles through the VELO and its material. */
#ifndef SIM_TRANSPORT_H
#define SIM_TRANSPORT_H

#include "event.h"
#include "velo/description.h"

/* Which sensors of a left module are near a place, as bits, in cells of x and y: so that few planes need a closer look.
 * For lines whose slopes' sizes are SIM_NEAR_SLOPE together, at most. */
#define SIM_NEAR_CELL   2.0f
#define SIM_NEAR_EXTENT 64.0f
#define SIM_NEAR_SLOPE  1.0f
enum { SIM_NEAR_CELLS = 64 };
struct sim_near {
  uint8_t sensors[SIM_NEAR_CELLS][SIM_NEAR_CELLS];
};
void sim_near_make(const struct velo_description *velo, struct sim_near *near);

/* Follows every particle of the event, and those that they make in the material: hits (velo_hits), and the state at the
 * end of the VELO. 0 or SL_ENOMEM. */
int sim_transport(const struct velo_description *velo, const struct sim_near *near, struct sim_event *event);

#endif
