/* xz.h: arguments of xz, shared by its versions. Private to the plugin. */
#ifndef SEEDING_XZ_H
#define SEEDING_XZ_H

#include "seeding/event_model.h"

#include <sluice/kernel.h>

enum {
  TRACKS_MAX = 1 << 17, /* tracks per event, at most */
  KINDS = 2 * SEED_CASES,
  CHUNKS_MAX = 16,             /* chunks per unit, at most */
  PARTS = 4,                   /* parts per chunk */
  HIT_WORDS = 3,               /* two hits per word */
  FOUND_WORDS = HIT_WORDS + 2, /* hits; part and index in it; chunk */
  FEWEST = 2                   /* least number of further hits */
};

/* Indices of `counters`. */
enum { CHUNK_COUNT, FOUND_COUNT, COUNTERS };

#define SL_ARGS xz_args
#define XZ(M)                                                                                                        \
  M(IN, hits, scifi_hits, "offsets zone_first x", "hits of the fibre tracker")                                       \
  M(IN, seeding, seeding_constants, "d bend cases constants", "constants of the search for seeds")                   \
  M(OUT, tracks, seed_xz_tracks, "tracks in x layers, which may share hits",                                         \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(tracks_per_event, TRACKS_MAX))))                                                  \
  M(F32, miss_factor, 10.0, 1.0, 1e6, "", "factor of the score of a track with five hits")                           \
  M(F32, case_penalty, 0.01, 0.0, 1e6, "mm2", "added to the score of a track of case 1")                             \
  M(F32, curvature_scale, 2.5e-6, 1e-12, 1.0, "1/mm",                                                                \
    "difference o between the curvature and that expected from the momentum; o^2 / (1 + o^2) is added to the score") \
  M(BUDGET, tracks_per_event, 1300, 1, 1000000, "room for tracks, per event on average over a slice")                \
  M(SHARED_SCRATCH, counters, u32, "numbers of listed chunks and tracks", SL_ONE(SL_CONSTANT_TERM(COUNTERS)))        \
  M(SHARED_SCRATCH, chunks, u32, "listed chunks: unit and number", SL_ONE(SL_EVENTS_TERM(KINDS *CHUNKS_MAX, 0)))     \
  M(SHARED_SCRATCH, before, u32, "number of tracks of a part, then of all parts before it",                          \
    SL_ONE(SL_EVENTS_TERM(KINDS *CHUNKS_MAX *PARTS, 0)))                                                             \
  M(SHARED_SCRATCH, found, u32, "listed tracks: hits, part, index in the part, chunk",                               \
    SL_ONE(SL_ITEMS_SCALED(tracks, FOUND_WORDS, 1, 0)))                                                              \
  M(TUNED_SCRATCH, x, f32, "x of an event's hits, with a margin", SL_ONE(SL_CONSTANT_TERM(SCIFI_HITS_MAX + 16)))
SL_ARGUMENTS(xz, XZ);

/* Version of `run` for one CPU thread (xz.cpu.c). */
int xz_tuned(const struct sl_launch *l, const void *args);

#endif
