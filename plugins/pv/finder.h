/* finder.h: what all finders of primary vertices share: their tracks, and all that comes after the seeds
 * (README.md). A finder looks for seeds only. Private to the plugin.
 *
 *   struct NAME_args {
 *     PV_FIT_FIELDS              events, states, geometry, vertices; scratch and properties of the shared part
 *     ...                        the finder's own
 *   };
 *   #define SL_ARGS NAME_args
 *   static const struct sl_member NAME_members[] = { PV_FIT_MEMBERS ... };     no comma behind PV_FIT_MEMBERS
 *
 *   static int run(const struct sl_launch *l, const struct NAME_args *a) {
 *     const struct pv_fit fit = pv_fit_of(a);
 *     int error = pv_prepare_launch(l, &fit);              prepare.h: fills track_count and track_...
 *     if (!error) error = SL_LAUNCH(l, NAME_seeds, ...);   the finder's: fills seed_count and seed_z
 *     if (!error) error = pv_fit_launch(l, &fit);          fit.h: writes the vertices
 *     return error;
 *   }
 *
 * pv_tracks_of(&fit, event) gives an event's tracks, by ascending z, in whole groups of 32: behind the last track stand
 * some that are near nothing.
 * A finder writes for each event on the list how many seeds it found, at most PV_MAX_VERTICES, and their z, ascending,
 * from seed_z[PV_MAX_VERTICES * event] on. A seed's x and y are the beam line's.
 */
#ifndef PV_FINDER_H
#define PV_FINDER_H

#include "pv/event_model.h"

#include <sluice/kernel.h>

#include <velo/event_model.h>

/* Numbers of a fitted vertex, and of all of an event. */
enum { PV_VERTEX_VALUES = 12, PV_EVENT_VALUES = 12 * 32 };
SL_STATIC_ASSERT((int)PV_EVENT_VALUES == (int)PV_VERTEX_VALUES * (int)PV_MAX_VERTICES, "room for all vertices");

/* Entries of tables, and fields of structs, from lists of scratch arrays (name, type, capacity, doc) and of properties
 * (name, default, smallest, largest, unit, doc). */
#define PV_SCRATCH_FIELD_(name, type, capacity, doc)                      sl_c_##type *name;
#define PV_SCRATCH_MEMBER_(name, type, capacity, doc)                     SL_SCRATCH(name, type, doc, capacity),
#define PV_NUMBER_FIELD_(name, default_, minimum_, maximum_, unit_, doc_) float name;
#define PV_NUMBER_MEMBER_(name, default_, minimum_, maximum_, unit_, doc_) \
  SL_F32(name, default_, minimum_, maximum_, unit_, doc_),
#define PV_COUNT_FIELD_(name, default_, minimum_, maximum_, unit_, doc_) uint32_t name;
#define PV_COUNT_MEMBER_(name, default_, minimum_, maximum_, unit_, doc_) \
  SL_U32(name, default_, minimum_, maximum_, unit_, doc_),

/* Room for the tracks of all events, in whole groups of 32: at least as much as there are states, and 32 an event. */
#define PV_TRACKS SL_MAX(SL_ITEMS_SCALED(states, 2, 1, 32), SL_EVENTS_TERM(64, 32))

#define PV_TRACK_SCRATCH(S)                                                                \
  S(track_count, u32, SL_ONE(SL_EVENTS_TERM(1, 0)), "tracks of each event that take part") \
  S(track_place, u32, PV_TRACKS, "where each stands among the event's states")             \
  S(track_x, f32, PV_TRACKS, "x")                                                          \
  S(track_y, f32, PV_TRACKS, "y")                                                          \
  S(track_z, f32, PV_TRACKS, "z, ascending")                                               \
  S(track_tx, f32, PV_TRACKS, "slope in x")                                                \
  S(track_ty, f32, PV_TRACKS, "slope in y")                                                \
  S(track_wx, f32, PV_TRACKS, "1 / variance of x")                                         \
  S(track_wy, f32, PV_TRACKS, "1 / variance of y")                                         \
  S(bin, u32, SL_ONE(SL_ITEMS_TERM(states)), "bin of z of each state")                     \
  S(binned, u32, SL_ONE(SL_ITEMS_TERM(states)), "places of the states, by bin")            \
  S(binned_z, f32, SL_ONE(SL_ITEMS_TERM(states)), "their z")

#define PV_TRACK_NUMBERS(P)                                             \
  P(z_min, -541.0, -10000.0, 10000.0, "mm", "tracks from here on")      \
  P(z_max, 307.0, -10000.0, 10000.0, "mm", "and before here take part") \
  P(fixed_target_z, -341.0, -10000.0, 10000.0, "mm", "upstream of here is the gas cell, which has limits of its own")

/* Scratch: name, type, capacity, doc. */
#define PV_FIT_SCRATCH(S)                                                                      \
  PV_TRACK_SCRATCH(S)                                                                          \
  S(seed_count, u32, SL_ONE(SL_EVENTS_TERM(1, 0)), "number of seeds of each event")            \
  S(seed_z, f32, SL_ONE(SL_EVENTS_TERM(PV_MAX_VERTICES, 0)), "places of the seeds, ascending") \
  S(competition, f32, PV_TRACKS, "of each track, the sum of its affinities to all seeds")      \
  S(fitted, f32, SL_ONE(SL_EVENTS_TERM(PV_EVENT_VALUES, 0)), "the vertices of each event")

/* Properties: name, default, smallest, largest, unit, doc. Numbers, then counts. */
#define PV_FIT_NUMBERS(P)                                                                             \
  PV_TRACK_NUMBERS(P)                                                                                 \
  P(max_chi2, 12.0, 0.0, 1000.0, "", "tracks nearer than this chi2 to a vertex take part in its fit") \
  P(noise_chi2, 4.0, 0.0, 150.0, "", "a track at this chi2 and with no other vertex has weight 1/2")  \
  P(min_weight, 0.0, 0.0, 1.0, "", "tracks of more weight than this count in the fit")                \
  P(converged_dz, 0.0005, 0.0, 1000.0, "mm", "the fit ends when a step in z is shorter")              \
  P(max_rho2, 0.3, 0.0, 1e9, "mm2", "limit of a vertex's squared distance from the beam line")        \
  P(min_separation_chi2, 25.0, 0.0, 1e9, "", "of two vertices closer in z than this chi2, the lighter one goes")
#define PV_FIT_COUNTS(P)                                          \
  P(max_iterations, 7, 1, 1000, "", "steps of the fit at most")   \
  P(min_tracks, 4, 0, 100000, "", "tracks of a vertex, at least") \
  P(min_tracks_fixed_target, 3, 0, 100000, "", "tracks of a vertex in the gas cell, at least")

#define PV_FIT_FIELDS                      \
  struct sl_events events;                 \
  struct velo_beamline_states_view states; \
  struct velo_geometry_view geometry;      \
  struct pv_vertices vertices;             \
  PV_FIT_SCRATCH(PV_SCRATCH_FIELD_)        \
  PV_FIT_NUMBERS(PV_NUMBER_FIELD_)         \
  PV_FIT_COUNTS(PV_COUNT_FIELD_)

struct pv_fit {
  PV_FIT_FIELDS
};

/* The tracks of an event that take part; padded to whole groups of 32. */
struct pv_tracks {
  const float *__restrict__ x, *__restrict__ y, *__restrict__ z, *__restrict__ tx, *__restrict__ ty;
  const float *__restrict__ wx, *__restrict__ wy;
  const uint32_t *__restrict__ place; /* among the event's states */
  uint32_t count;
};

/* Where the event's tracks begin in the arrays. */
static SL_DEVICE size_t pv_first_track(const struct pv_fit *a, uint32_t event) {
  return ((size_t)a->states.offsets[event] + 32 * (size_t)event + 31) / 32 * 32;
}

static SL_DEVICE struct pv_tracks pv_tracks_of(const struct pv_fit *a, uint32_t event) {
  const size_t first = pv_first_track(a, event);
  struct pv_tracks t;
  t.x = a->track_x + first;
  t.y = a->track_y + first;
  t.z = a->track_z + first;
  t.tx = a->track_tx + first;
  t.ty = a->track_ty + first;
  t.wx = a->track_wx + first;
  t.wy = a->track_wy + first;
  t.place = a->track_place + first;
  t.count = a->track_count[event];
  return t;
}

/* A finder's arguments begin with the same fields. */
static inline struct pv_fit pv_fit_of(const void *args) {
  struct pv_fit fit;
  memcpy(&fit, args, sizeof fit);
  return fit;
}

#define PV_FIT_MEMBERS                                                                                       \
  SL_EVENTS(), SL_IN(states, velo_beamline_states, "offsets x y z tx ty c00 c11", "of all tracks"),          \
      SL_IN(geometry, velo_geometry, "beam", "where the beam line is"),                                      \
      SL_OUT(vertices, pv_vertices, "by ascending z", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(PV_MAX_VERTICES, 0)))), \
      PV_FIT_SCRATCH(PV_SCRATCH_MEMBER_) PV_FIT_NUMBERS(PV_NUMBER_MEMBER_) PV_FIT_COUNTS(PV_COUNT_MEMBER_)

#endif
