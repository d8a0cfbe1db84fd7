/* finder.h: what all finders of primary vertices share: their tracks, and all that comes after the seeds
 * (README.md). A finder looks for seeds only. Private to the plugin.
 *
 *   #define SL_ARGS NAME_args
 *   #define NAME(M) ...                        the finder's own arguments
 *   PV_FINDER(NAME, NAME);                     struct NAME_args: these, after those of the shared part, which are `fit`
 *
 *   static int run(const struct sl_launch *l, const struct NAME_args *a) {
 *     int error = pv_prepare_launch(l, &a->fit);                   prepare.h: fills track_count and track_...
 *     if (!error) error = SL_LAUNCH(l, NAME_seeds, ..., *a);       the finder's: fills seed_count and seed_z
 *     if (!error) error = pv_fit_launch(l, &a->fit);               fit.h: writes the vertices
 *     return error;
 *   }
 *
 * pv_tracks_of(&a.fit, event) gives an event's tracks, by ascending z, in whole groups of 32: after the last track
 * stand some that are near nothing.
 *
 * A finder writes for each event on the list how many seeds it found, and their z, ascending, from
 * seed_z[PV_MAX_VERTICES * event] on; none where there are more than that. A seed's x and y are the beam line's.
 */
#ifndef PV_FINDER_H
#define PV_FINDER_H

#include "pv/event_model.h"

#include <sluice/kernel.h>

#include <velo/event_model.h>

/* Numbers of a fitted vertex, and of all of an event. */
enum { PV_VERTEX_VALUES = 12, PV_EVENT_VALUES = 12 * 128 };
SL_STATIC_ASSERT((int)PV_EVENT_VALUES == (int)PV_VERTEX_VALUES * (int)PV_MAX_VERTICES, "room for all vertices");

/* Room for the tracks of all events, in whole groups of 32: at least as much as there are states, and 32 an event. */
#define PV_TRACKS SL_MAX(SL_ITEMS_SCALED(beamline_states, 2, 1, 32), SL_EVENTS_TERM(64, 32))

/* What prepare.h reads and writes; vertices: how many tracks were ignored. */
#define PV_PREPARED(M)                                                                                       \
  M(IN, beamline_states, track_states, "offsets x y z tx ty c00 c11", "of all tracks")                       \
  M(IN, geometry, velo_geometry, "beam", "where the beam line is")                                           \
  M(OUT, vertices, pv_vertices, "by ascending z", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(vertices_per_event, 128)))) \
  M(SCRATCH, track_count, u32, "tracks of each event that take part", SL_ONE(SL_EVENTS_TERM(1, 0)))          \
  M(SCRATCH, track_place, u32, "where each stands among the event's states", PV_TRACKS)                      \
  M(SCRATCH, track_x, f32, "x", PV_TRACKS)                                                                   \
  M(SCRATCH, track_y, f32, "y", PV_TRACKS)                                                                   \
  M(SCRATCH, track_z, f32, "z, ascending", PV_TRACKS)                                                        \
  M(SCRATCH, track_tx, f32, "slope in x", PV_TRACKS)                                                         \
  M(SCRATCH, track_ty, f32, "slope in y", PV_TRACKS)                                                         \
  M(SCRATCH, track_wx, f32, "1 / variance of x", PV_TRACKS)                                                  \
  M(SCRATCH, track_wy, f32, "1 / variance of y", PV_TRACKS)                                                  \
  M(SCRATCH, bin, u32, "bin of z of each state", SL_ONE(SL_ITEMS_TERM(beamline_states)))                     \
  M(SCRATCH, binned, u32, "places of the states, by bin", SL_ONE(SL_ITEMS_TERM(beamline_states)))            \
  M(SCRATCH, binned_z, f32, "their z", SL_ONE(SL_ITEMS_TERM(beamline_states)))                               \
  M(BUDGET, vertices_per_event, 32, 1, 128, "vertices")                                                      \
  M(F32, z_min, -541.0, -10000.0, 10000.0, "mm", "tracks from here on")                                      \
  M(F32, z_max, 307.0, -10000.0, 10000.0, "mm", "and before here take part")                                 \
  M(F32, fixed_target_z, -341.0, -10000.0, 10000.0, "mm",                                                    \
    "upstream of here is the gas cell, which has limits of its own")

/* What the fit has beside that. */
#define PV_FITTED(M)                                                                                                  \
  M(SCRATCH, seed_count, u32, "number of seeds of each event", SL_ONE(SL_EVENTS_TERM(1, 0)))                          \
  M(SCRATCH, seed_z, f32, "places of the seeds, ascending", SL_ONE(SL_EVENTS_TERM(PV_MAX_VERTICES, 0)))               \
  M(SCRATCH, competition, f32, "of each track, the sum of its affinities to all seeds", PV_TRACKS)                    \
  M(SCRATCH, fitted, f32, "the vertices of each event", SL_ONE(SL_EVENTS_TERM(PV_EVENT_VALUES, 0)))                   \
  M(F32, max_chi2, 12.0, 0.0, 1000.0, "", "tracks nearer than this chi2 to a vertex take part in its fit")            \
  M(F32, noise_chi2, 4.0, 0.0, 150.0, "", "a track at this chi2 and with no other vertex has weight 1/2")             \
  M(F32, min_weight, 0.0, 0.0, 1.0, "", "tracks of more weight than this count in the fit")                           \
  M(F32, converged_dz, 0.0005, 0.0, 1000.0, "mm", "the fit ends when a step in z is shorter")                         \
  M(F32, max_rho2, 0.3, 0.0, 1e9, "mm2", "limit of a vertex's squared distance from the beam line")                   \
  M(F32, min_separation_chi2, 25.0, 0.0, 1e9, "", "of two vertices closer in z than this chi2, the lighter one goes") \
  M(U32, max_iterations, 7, 1, 1000, "", "steps of the fit at most")                                                  \
  M(U32, min_tracks, 4, 0, 100000, "", "tracks of a vertex, at least")                                                \
  M(U32, min_tracks_fixed_target, 3, 0, 100000, "", "tracks of a vertex in the gas cell, at least")

#define PV_FIT(M) PV_PREPARED(M) PV_FITTED(M)
struct pv_fit {
  struct sl_events events;
  PV_FIT(SL_ARGUMENT)
};

/* SL_ARGUMENTS, of a finder. */
#define PV_FINDER(name, TABLE)   \
  struct name##_args {           \
    union {                      \
      struct pv_fit fit;         \
      struct {                   \
        struct sl_events events; \
        PV_FIT(SL_ARGUMENT)      \
      };                         \
    };                           \
    TABLE(SL_ARGUMENT)           \
  };                             \
  static const struct sl_member name##_members[] SL_UNUSED = {SL_EVENTS(), PV_FIT(SL_MEMBER) TABLE(SL_MEMBER)}

/* The tracks of an event that take part; padded to whole groups of 32. */
struct pv_tracks {
  const float *__restrict__ x, *__restrict__ y, *__restrict__ z, *__restrict__ tx, *__restrict__ ty;
  const float *__restrict__ wx, *__restrict__ wy;
  const uint32_t *__restrict__ place; /* among the event's states */
  uint32_t count;
};

/* Where the event's tracks begin in the arrays. */
static SL_DEVICE size_t pv_first_track(const struct pv_fit *a, uint32_t event) {
  return ((size_t)a->beamline_states.offsets[event] + 32 * (size_t)event + 31) / 32 * 32;
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

#endif
