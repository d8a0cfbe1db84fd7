/* lanes.h: charged particles in the magnetic field, eight per block.
 * A step takes a block from one plane of constant z to the next, in loops over its lanes that the compiler
 * vectorises. Lanes are independent of each other, so that results do not depend on the assignment of tracks to
 * lanes. */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include "event/event.h"
#include "field_plane.h"

enum { SIM_LANES = 8 };

/* Fields of a block: F(type, name), one value per lane.
 *   x, y, tx, ty               position and slopes at the current plane, mm
 *   charge                     in e, times polarity
 *   bend                       SIM_BENDING charge / p, 1 / (T mm)
 *   field_x, field_y, field_z  field near (x, y) for polarity up, T
 *   path                       length of the last step, mm
 *   p, mass                    MeV
 *   slowness                   time per path length, ns / mm
 *   aging                      c times proper time, per path length
 *   time_ns                    since the collision
 *   to_decay                   c times remaining proper time, mm; SIM_LANE_UNSTABLE only
 *   unstable                   mass if SIM_LANE_UNSTABLE, else 0
 *   kind                       SIM_LANE_... */
#define SIM_LANE_FIELDS(F) \
  F(double, x)             \
  F(double, y)             \
  F(double, tx)            \
  F(double, ty)            \
  F(double, charge)        \
  F(float, bend)           \
  F(float, path)           \
  F(float, slowness)       \
  F(float, aging)          \
  F(float, field_x)        \
  F(float, field_y)        \
  F(float, field_z)        \
  F(float, p)              \
  F(float, mass) F(float, time_ns) F(float, to_decay) F(float, unstable) F(uint32_t, particle) F(uint32_t, kind)
struct sim_lanes {
#define SIM_LANE_MEMBER_(type, name) type name[SIM_LANES];
  SIM_LANE_FIELDS(SIM_LANE_MEMBER_)
};
enum { SIM_LANE_HADRON = 1, SIM_LANE_ELECTRON = 2, SIM_LANE_MUON = 4, SIM_LANE_UNSTABLE = 8, SIM_LANE_IN_PIPE = 16 };

/* Tracks in flight: a list of blocks, the last one partly filled. */
struct sim_track_batch {
  SIM_LIST(struct sim_lanes) blocks;
  uint32_t count;
};

/* A single track, outside of a lane. */
struct sim_track {
  double x, y, z, tx, ty;
  double charge; /* times polarity */
  float p, mass, time_ns, to_decay;
  uint32_t particle, kind;
};

/* Adds a track at the z of the plane. 0 or SL_ENOMEM. */
int sim_track_batch_add(struct sim_track_batch *flock, const struct sim_field_plane *plane,
                        const struct sim_track *track);
/* Copies the track at `index`; z is the current plane. */
void sim_track_batch_get(const struct sim_track_batch *flock, uint32_t index, double z, struct sim_track *track);
/* Removes the track at `index`; the last track moves to this index. */
void sim_track_batch_remove(struct sim_track_batch *flock, uint32_t index);

/* Steps a block from z to the plane `end`; `middle` is the plane half way (lanes.c). */
void sim_lanes_step(struct sim_lanes *lanes, double z, const struct sim_field_plane *middle,
                    const struct sim_field_plane *end);
/* Updates `bend`, `slowness` and `aging` after changes of `p`. */
void sim_lanes_slow(struct sim_lanes *lanes);

/* Takes one track to z, forwards or backwards, in steps of at most `step` mm, with the exact field. Time and
 * remaining proper time do not change. */
void sim_track_advance(struct sim_track *track, double z, double step);

#endif
