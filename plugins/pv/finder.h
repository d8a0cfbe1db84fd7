/* finder.h: arguments and tracks shared by all finders of primary vertices, and the interface to the steps before and
 * after the seeds (README.md). A finder finds seeds only. Private to the plugin.
 *
 *   #define SL_ARGS NAME_args
 *   #define NAME(M) ...                        arguments of the finder
 *   PV_FINDER(NAME, NAME);                     struct NAME_args: shared arguments (also `fit`), then these
 *
 *   static int run(const struct sl_launch *l, const struct NAME_args *a) {
 *     int error = pv_prepare_launch(l, &a->fit);                   prepare.h: fills track_count and track_...
 *     if (!error) error = SL_LAUNCH(l, NAME_seeds, ..., *a);       finder: fills seed_count and seed_z
 *     if (!error) error = pv_fit_launch(l, &a->fit);               fit.h: writes the vertices
 *     return error;
 *   }
 *
 * pv_tracks_of(&a.fit, event) returns an event's tracks, by ascending z, padded to whole groups of 32 with tracks that
 * are near nothing. A finder writes for each event on the list the number of seeds, and their z, ascending, from
 * seed_z[PV_MAX_VERTICES * event] on (none if there are more than PV_MAX_VERTICES). x and y of a seed are those of the
 * beam line. */
#ifndef PV_FINDER_H
#define PV_FINDER_H

#include "pv/event_model.h"

#include <sluice/kernel.h>

#include <velo/event_model.h>

/* Numbers per fitted vertex, and per event. */
enum { PV_VERTEX_VALUES = 12, PV_EVENT_VALUES = 12 * 128 };
SL_STATIC_ASSERT((int)PV_EVENT_VALUES == (int)PV_VERTEX_VALUES * (int)PV_MAX_VERTICES, "room for all vertices");

/* Room for the tracks of all events in whole groups of 32: at least the number of states, plus 32 per event. */
#define PV_TRACKS SL_MAX(SL_ITEMS_SCALED(beamline_states, 2, 1, 32), SL_EVENTS_TERM(64, 32))

/* Arguments of prepare.h, which also writes vertices.ignored. */
#define PV_PREPARED(M)                                                                                          \
  M(IN, beamline_states, track_states, "offsets x y z tx ty c00 c11", "states of VELO tracks at the beam line") \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                           \
  M(OUT, vertices, pv_vertices, "primary vertices, by ascending z",                                             \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(vertices_per_event, 128))))                                                  \
  M(SCRATCH, track_count, u32, "number of selected tracks of an event", SL_ONE(SL_EVENTS_TERM(1, 0)))           \
  M(SCRATCH, track_place, u32, "index of a track among the event's states", PV_TRACKS)                          \
  M(SCRATCH, track_x, f32, "x of a track", PV_TRACKS)                                                           \
  M(SCRATCH, track_y, f32, "y of a track", PV_TRACKS)                                                           \
  M(SCRATCH, track_z, f32, "z of a track, ascending", PV_TRACKS)                                                \
  M(SCRATCH, track_tx, f32, "slope dx/dz of a track", PV_TRACKS)                                                \
  M(SCRATCH, track_ty, f32, "slope dy/dz of a track", PV_TRACKS)                                                \
  M(SCRATCH, track_wx, f32, "1 / variance of x of a track", PV_TRACKS)                                          \
  M(SCRATCH, track_wy, f32, "1 / variance of y of a track", PV_TRACKS)                                          \
  M(SCRATCH, bin, u32, "bin in z of a state", SL_ONE(SL_ITEMS_TERM(beamline_states)))                           \
  M(SCRATCH, binned, u32, "indices of the states, by bin", SL_ONE(SL_ITEMS_TERM(beamline_states)))              \
  M(SCRATCH, binned_z, f32, "z of the states, by bin", SL_ONE(SL_ITEMS_TERM(beamline_states)))                  \
  M(BUDGET, vertices_per_event, 10, 1, 128, "room for vertices, per event on average over a slice")             \
  M(F32, z_min, -541.0, -10000.0, 10000.0, "mm", "least z of a selected track")                                 \
  M(F32, z_max, 307.0, -10000.0, 10000.0, "mm", "upper limit of z of a selected track")                         \
  M(F32, fixed_target_z, -341.0, -10000.0, 10000.0, "mm", "z below which the properties for the gas cell are used")

/* Further arguments of fit.h. */
#define PV_FITTED(M)                                                                                      \
  M(SCRATCH, seed_count, u32, "number of seeds of an event", SL_ONE(SL_EVENTS_TERM(1, 0)))                \
  M(SCRATCH, seed_z, f32, "z of the seeds, ascending", SL_ONE(SL_EVENTS_TERM(PV_MAX_VERTICES, 0)))        \
  M(SCRATCH, competition, f32, "sum of a track's affinities to all seeds", PV_TRACKS)                     \
  M(SCRATCH, fitted, f32, "fitted vertices of an event", SL_ONE(SL_EVENTS_TERM(PV_EVENT_VALUES, 0)))      \
  M(F32, max_chi2, 12.0, 0.0, 1000.0, "", "upper limit of the chi2 of a track to a vertex in its fit")    \
  M(F32, noise_chi2, 4.0, 0.0, 150.0, "", "chi2 at which a track without other vertices has weight 1/2")  \
  M(F32, min_weight, 0.0, 0.0, 1.0, "", "lower limit of the weight of a track in the fit")                \
  M(F32, converged_dz, 0.0005, 0.0, 1000.0, "mm", "step in z below which the fit ends")                   \
  M(F32, max_rho2, 0.3, 0.0, 1e9, "mm2", "upper limit of a vertex's squared distance from the beam line") \
  M(F32, min_separation_chi2, 25.0, 0.0, 1e9, "",                                                         \
    "chi2 of the distance in z below which the vertex with less weight is rejected")                      \
  M(U32, max_iterations, 7, 1, 1000, "", "largest number of steps of the fit")                            \
  M(U32, min_tracks, 4, 0, 100000, "", "least number of tracks of a vertex")                              \
  M(U32, min_tracks_fixed_target, 3, 0, 100000, "", "least number of tracks of a vertex in the gas cell")

#define PV_FIT(M) PV_PREPARED(M) PV_FITTED(M)
struct pv_fit {
  struct sl_events events;
  PV_FIT(SL_ARGUMENT)
};

/* SL_ARGUMENTS for a finder. */
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

/* Selected tracks of an event, padded to whole groups of 32. */
struct pv_tracks {
  const float *__restrict__ x, *__restrict__ y, *__restrict__ z, *__restrict__ tx, *__restrict__ ty;
  const float *__restrict__ wx, *__restrict__ wy;
  const uint32_t *__restrict__ place; /* index among the event's states */
  uint32_t count;
};

/* Index of the event's first track in the arrays. */
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
