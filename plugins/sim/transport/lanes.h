/* lanes.h: charged particles on their way through the field, several at a time.
 *
 * Eight tracks make a block; a step takes a block from one plane of constant z to the next, in loops over its lanes
 * that the compiler turns into vector instructions. No lane looks at another one, so that the bits do not depend on who
 * flies beside whom.
 */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include "event/event.h"
#include "field_plane.h"

enum { SIM_LANES = 8 };

/* The fields of a block: F(type, name), an entry a lane.
 *   x, y, tx, ty               at the plane reached, mm
 *   charge                     in e, times polarity
 *   bend                       SIM_BENDING charge / p, 1 / (T mm)
 *   field_x, field_y, field_z  near (x, y), for polarity up, T
 *   path                       length of the last step, mm
 *   p, mass                    MeV
 *   slowness, aging            how much time, and time times c / gamma, go by in a mm
 *   time_ns                    since the collision
 *   to_decay                   what is left of the proper time times c, mm, of those that are SIM_LANE_UNSTABLE
 *   unstable                   their mass, and 0 for others
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

/* The tracks under way: a list of blocks, the last one partly filled. */
struct sim_flock {
  SIM_LIST(struct sim_lanes) blocks;
  uint32_t count;
};

/* One track, out of its lane or before it gets one. */
struct sim_track {
  double x, y, z, tx, ty;
  double charge; /* times polarity */
  float p, mass, time_ns, to_decay;
  uint32_t particle, kind;
};

/* Adds a track at the plane, whose z it must have; 0 or SL_ENOMEM. */
int sim_flock_add(struct sim_flock *flock, const struct sim_field_plane *plane, const struct sim_track *track);
/* The track in place `index`, of a flock that is at z. */
void sim_flock_get(const struct sim_flock *flock, uint32_t index, double z, struct sim_track *track);
/* Ends the track in place `index`; the last one takes its place. */
void sim_flock_remove(struct sim_flock *flock, uint32_t index);

/* Takes a block from z to the plane `end`: a step of Runge, Kutta and Nystroem (lanes.c). `middle` is half way. */
void sim_lanes_step(struct sim_lanes *lanes, double z, const struct sim_field_plane *middle,
                    const struct sim_field_plane *end);
/* Makes `bend`, `slowness` and `aging` fit `p`. */
void sim_lanes_slow(struct sim_lanes *lanes);

/* Takes one track to z, forwards or backwards, in steps of at most that many mm and with the field itself instead of
 * its polynomials. Neither time nor decay are looked at. */
void sim_track_advance(struct sim_track *track, double z, double step);

#endif
