/* search_by_triplet.h: arguments of the triplet search, for its shared and its CPU version. Private to the plugin. */
#ifndef VELO_SEARCH_BY_TRIPLET_H
#define VELO_SEARCH_BY_TRIPLET_H

#include "velo/event_model.h"

#include <sluice/kernel.h>

enum {
  SEARCH_MAX_SEED_CANDIDATES = 8,
  SEARCH_MAX_HITS = 65535, /* most hits of an event, because indices have 16 bits */
  /* The workspace has SEARCH_WORK_ARRAYS arrays of 32-bit values with one element per hit and SEARCH_WORK_SLACK more.
   */
  SEARCH_WORK_ARRAYS = 10,
  SEARCH_WORK_SLACK = 32
};

#define SL_ARGS search_by_triplet_args
#define SEARCH_BY_TRIPLET(M)                                                                                           \
  M(IN, hits, velo_hits, "", "VELO hits, sorted by phi in each module pair")                                           \
  M(IN, geometry, velo_geometry, "module_z", "z of the modules")                                                       \
  M(OUT, candidates, velo_track_candidates, "track candidates: four or more hits first, then three hits",              \
    SL_ITEMS(SL_MIN(SL_ITEMS_TERM(hits), SL_BUDGET_TERM(candidates_per_event, 8192))))                                 \
  M(OUT, used, velo_used_hits, "flags of hits on tracks of four or more hits", SL_SHARES_OFFSETS(hits))                \
  M(F32, phi_tolerance, 0.045, 0.0, 1.0, "rad", "half width of the search windows in azimuth")                         \
  M(F32, max_scatter, 0.08, 0.0, 1e6, "mm2",                                                                           \
    "largest squared distance of a hit from the line through the previous two")                                        \
  M(U32, max_skipped_modules, 1, 0, 24, "module pairs",                                                                \
    "largest number of consecutive module pairs without a hit on a track")                                             \
  M(STRING, missing_modules, "",                                                                                       \
    "modules that do not work, such as 21, 23: a track that has no hit there skips no module")                         \
  M(U32, first_seed_candidates, 8, 1, SEARCH_MAX_SEED_CANDIDATES, "",                                                  \
    "hits h0 tried for each middle hit of a seed in the most downstream module pairs")                                 \
  M(U32, seed_candidates, 4, 1, SEARCH_MAX_SEED_CANDIDATES, "",                                                        \
    "hits h0 tried for each middle hit of a seed in all other module pairs")                                           \
  M(BUDGET, candidates_per_event, 460, 1, SEARCH_MAX_HITS, "track candidates, including three-hit candidates")         \
  M(COMPUTED, missing, uint64_t, "bit m: module m is in missing_modules")                                              \
  M(COMPUTED, phi_window, int32_t, "half width of the search windows, in units of phi")                                \
  M(COMPUTED, half_window, uint32_t, "half width of the search windows << 16")                                         \
  M(COMPUTED, window_width, uint32_t,                                                                                  \
    "full width of the search windows << 16 | 0xFFFF, for any lower half of the azimuth word")                         \
  M(SCRATCH, track_hits, u16, "hits of each track, by middle hit; on the CPU, in the order in which tracks are found", \
    SL_ONE(SL_ITEMS_SCALED(hits, VELO_MAX_HITS_PER_TRACK, 1, 0)))                                                      \
  M(SHARED_SCRATCH, event_order, u32, "events by descending number of hits", SL_ONE(SL_EVENTS_TERM(1, 0)))             \
  M(SCRATCH, track_length, u8, "number of hits of each track, in the order of track_hits",                             \
    SL_ONE(SL_ITEMS_TERM(hits)))                                                                                       \
  M(SHARED_SCRATCH, candidate_length, u8, "number of hits of each candidate", SL_ONE(SL_ITEMS_TERM(hits)))             \
  M(TUNED_SCRATCH, live, u32, "tracks that may be extended, and their last two hits",                                  \
    SL_ONE(SL_ITEMS_SCALED(hits, 2, 1, 2 * SEARCH_WORK_SLACK)))                                                        \
  M(SHARED_SCRATCH, track_middle, u16, "middle hits of the candidates", SL_ONE(SL_ITEMS_TERM(hits)))                   \
  M(SCRATCH, workspace, u32, "data of events too large for shared memory; on the CPU, copies of single module pairs",  \
    SL_ONE(SL_ITEMS_SCALED(hits, SEARCH_WORK_ARRAYS, 1, SEARCH_WORK_ARRAYS *SEARCH_WORK_SLACK)))
SL_ARGUMENTS(search_by_triplet, SEARCH_BY_TRIPLET);

/* An event's hits in the arrays of the slice. */
struct search_event {
  uint32_t first, count;
};

static SL_DEVICE struct search_event search_event_open(const struct velo_hits_view *hits, uint32_t event) {
  struct search_event e;
  e.first = hits->offsets[event];
  e.count = hits->offsets[event + 1] - e.first;
  return e;
}

enum { SEARCH_TOO_MANY_HITS = 1 };

/* Refuses an event with more hits than 16 bits can index, as the decoders do. Called by one thread. */
static SL_DEVICE void search_refuse(const struct sl_events *events, uint32_t event, struct search_event e) {
  if (e.count > SEARCH_MAX_HITS) sl_event_fail(events, event, SEARCH_TOO_MANY_HITS, e.count);
}

static SL_DEVICE uint32_t search_event_is_searched(struct search_event e) {
  return e.count > 0 && e.count <= SEARCH_MAX_HITS ? 1u : 0u;
}

/* The side of the beam of a hit: 0 if its module number is even, 1 if it is odd. */
static SL_DEVICE uint32_t search_side_of(uint32_t id) { return id >> 20 & 1; }

/* The `run` function for the CPU (search_by_triplet.cpu.c). */
int search_by_triplet_tuned(const struct sl_launch *l, const void *args);

#endif
