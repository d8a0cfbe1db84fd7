/* create_tracks.h: what the versions of forward.create_tracks share. Private to the plugin. */
#ifndef FORWARD_CREATE_TRACKS_H
#define FORWARD_CREATE_TRACKS_H

#include "forward_math.h"

#include <sluice/kernel.h>

enum { NO_HIT = SCIFI_HITS_MAX };
enum { SHIFTS = SCIFI_X_LAYERS, SHIFT_NUMBERS = 3 };

/* A candidate for every triplet, which is more than 20 times what there mostly is; one event may have as many. */
enum { CANDIDATES_MAX = FORWARD_TRIPLETS_MAX * 8192 };
#define CANDIDATES_CAPACITY \
  SL_MIN(SL_ITEMS_SCALED(inputs, FORWARD_TRIPLETS_MAX, 1, 0), SL_BUDGET_TERM(candidates_per_event, CANDIDATES_MAX))

#define SL_ARGS create_tracks_args
#define CREATE_TRACKS(M)                                                                             \
  M(IN, inputs, forward_inputs, "offsets x y tx ty", "tracks before the magnet")                     \
  M(IN, hits, scifi_hits, "offsets x", "where to search")                                            \
  M(IN, windows, forward_windows, "first count", "of each track, in all layers")                     \
  M(IN, triplets, forward_triplets, "count triplet", "of each track")                                \
  M(IN, forward, forward_constants, "z_layer dxdy y_shift constants", "what the magnet does")        \
  M(OUT, candidates, forward_candidates, "one for each triplet", SL_ITEMS(CANDIDATES_CAPACITY))      \
  M(U32, min_hits, 9, 3, 12, "", "a candidate with less is given up, and has none")                  \
  M(F32, max_chi2_x, 0.5, 0.0, 1e6, "mm2", "square of the largest distance of a hit in an x layer")  \
  M(F32, max_chi2_stereo, 50.0, 0.0, 1e6, "mm2", "the same in a stereo layer, times |tx| + |ty|")    \
  M(BUDGET, candidates_per_event, 700, 1, 100000, "triplets that are kept, on average over a slice") \
  M(SHARED_SCRATCH, words, u32, "the triplet of each candidate", CANDIDATES_CAPACITY)                \
  M(SHARED_SCRATCH, items, u32, "its track in the slice", CANDIDATES_CAPACITY)                       \
  M(SHARED_SCRATCH, hits_begin, u32, "of each track's event", SL_ONE(SL_ITEMS_TERM(inputs)))         \
  M(SCRATCH, shifts, f32, "of y in the stereo layers of each track",                                 \
    SL_ONE(SL_ITEMS_SCALED(inputs, SHIFTS *SHIFT_NUMBERS, 1, 0)))
SL_ARGUMENTS(create_tracks, CREATE_TRACKS);

/* A triplet is of three x layers; these are searched besides. */
enum { TRIPLET_HITS = 3, SEARCHED_X = 3, SEARCHED = SEARCHED_X + SCIFI_X_LAYERS };

/* Whether a triplet is in the second x layers of stations, and in right windows. */
static SL_DEVICE uint32_t is_odd(uint32_t word) { return word >> 18 & 1; }
static SL_DEVICE uint32_t is_right(uint32_t word) { return word >> 19 & 1; }

static SL_DEVICE struct forward_state state_of(const struct create_tracks_args *a, uint32_t item) {
  struct forward_state s;
  s.x = a->inputs.x[item];
  s.y = a->inputs.y[item];
  s.z = a->forward.constants[FORWARD_Z_UT];
  s.tx = a->inputs.tx[item];
  s.ty = a->inputs.ty[item];
  return s;
}

/* As `run`, where a block is one thread (create_tracks.cpu.c). */
int create_tracks_tuned(const struct sl_launch *l, const void *args);

#endif
