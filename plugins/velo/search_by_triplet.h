/* search_by_triplet.h: what the versions of the search share. Private to the plugin. */
#ifndef VELO_SEARCH_BY_TRIPLET_H
#define VELO_SEARCH_BY_TRIPLET_H

#include "velo/event_model.h"

#include <sluice/kernel.h>

enum {
  SEARCH_MAX_SEED_CANDIDATES = 8,
  SEARCH_MAX_HITS = 65535, /* of an event: indices are 16 bits */
  /* The workspace holds so many arrays of 32-bit values, each with room for an event's hits and some more. */
  SEARCH_WORK_ARRAYS = 10,
  SEARCH_WORK_SLACK = 32
};

#define SL_ARGS search_by_triplet_args
#define SEARCH_BY_TRIPLET(M)                                                                                         \
  M(IN, hits, velo_hits, "", "sorted by azimuth in each module pair")                                                \
  M(IN, geometry, velo_geometry, "module_z", "where the modules stand")                                              \
  M(OUT, candidates, velo_track_candidates, "tracks of four hits and more, then those of three",                     \
    SL_ITEMS(SL_MIN(SL_ITEMS_TERM(hits), SL_BUDGET_TERM(candidates_per_event, 8192))))                               \
  M(OUT, used, velo_used_hits, "hits on tracks of four hits and more", SL_SHARES_OFFSETS(hits))                      \
  M(F32, phi_tolerance, 0.045, 0.0, 1.0, "rad", "half the width of the windows in azimuth")                          \
  M(F32, max_scatter, 0.08, 0.0, 1e6, "mm2", "largest squared distance of a hit from the line of the two before it") \
  M(U32, max_skipped_modules, 1, 0, 24, "module pairs", "how many in a row a track may pass without a hit")          \
  M(U32, first_seed_candidates, 8, 1, SEARCH_MAX_SEED_CANDIDATES, "",                                                \
    "first hits tried for a seed's middle hit, most downstream seeds")                                               \
  M(U32, seed_candidates, 4, 1, SEARCH_MAX_SEED_CANDIDATES, "", "first hits tried for a seed's middle hit")          \
  M(BUDGET, candidates_per_event, 400, 1, SEARCH_MAX_HITS, "track candidates, three-hit ones included")              \
  M(COMPUTED, phi_window, int32_t, "half the width of the windows, in units of phi")                                 \
  M(COMPUTED, half_window, uint32_t, "the same in an upper half")                                                    \
  M(COMPUTED, window_width, uint32_t, "halves: 0xFFFF, the width, so that it holds whatever a hit's lower half is")  \
  M(SCRATCH, track_hits, u16, "tracks by middle hit; on the CPU, as they are found",                                 \
    SL_ONE(SL_ITEMS_SCALED(hits, VELO_MAX_HITS_PER_TRACK, 1, 0)))                                                    \
  M(SHARED_SCRATCH, event_order, u32, "events, those with most hits first", SL_ONE(SL_EVENTS_TERM(1, 0)))            \
  M(SCRATCH, track_length, u8, "hits of each track, in the same order", SL_ONE(SL_ITEMS_TERM(hits)))                 \
  M(SHARED_SCRATCH, candidate_length, u8, "hits of each candidate", SL_ONE(SL_ITEMS_TERM(hits)))                     \
  M(TUNED_SCRATCH, live, u32, "tracks that may find more hits, and their last two hits",                             \
    SL_ONE(SL_ITEMS_SCALED(hits, 2, 1, 2 * SEARCH_WORK_SLACK)))                                                      \
  M(SHARED_SCRATCH, track_middle, u16, "middle hits of the candidates", SL_ONE(SL_ITEMS_TERM(hits)))                 \
  M(SCRATCH, workspace, u32, "events too large for shared memory; copies of single pairs for the CPU",               \
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

/* An event with too many hits to be indexed has no tracks, and is refused, as the decoders do before. One thread's. */
static SL_DEVICE void search_refuse(const struct sl_events *events, uint32_t event, struct search_event e) {
  if (e.count > SEARCH_MAX_HITS) sl_event_fail(events, event, SEARCH_TOO_MANY_HITS, e.count);
}

static SL_DEVICE uint32_t search_event_is_searched(struct search_event e) {
  return e.count > 0 && e.count <= SEARCH_MAX_HITS ? 1u : 0u;
}

/* The side of the beam on which a hit's module stands: its number is even or odd. */
static SL_DEVICE uint32_t search_side_of(uint32_t id) { return id >> 20 & 1; }

/* As `run`, where a block is one thread (search_by_triplet.cpu.c). */
int search_by_triplet_tuned(const struct sl_launch *l, const void *args);

#endif
