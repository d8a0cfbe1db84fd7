/* xz.h: what the versions of xz share. Private to the plugin. */
#ifndef SEEDING_XZ_H
#define SEEDING_XZ_H

#include "seeding/event_model.h"

#include <sluice/kernel.h>

enum {
  TRACKS_MAX = 1 << 17, /* of one event */
  KINDS = 2 * SEED_CASES,
  CHUNKS_MAX = 16,             /* of a unit */
  PARTS = 4,                   /* of a chunk */
  HIT_WORDS = 3,               /* with two hits each */
  FOUND_WORDS = HIT_WORDS + 2, /* these, part and place, chunk */
  FEWEST = 2                   /* further hits that there must be */
};

/* What is counted over the slice. */
enum { CHUNK_COUNT, FOUND_COUNT, COUNTERS };

#define SL_ARGS xz_args
#define XZ(M)                                                                                                \
  M(IN, hits, scifi_hits, "offsets zone_first x", "where to search")                                         \
  M(IN, seeding, seeding_constants, "d bend cases constants", "what tracks look like")                       \
  M(OUT, tracks, seed_xz_tracks, "hits may be on several of them",                                           \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(tracks_per_event, TRACKS_MAX))))                                          \
  M(F32, miss_factor, 10.0, 1.0, 1e6, "", "of the score of a track that has no hit in one layer")            \
  M(F32, case_penalty, 0.01, 0.0, 1e6, "mm2", "added to the score where the second layers come first")       \
  M(BUDGET, tracks_per_event, 700, 1, 1000000, "tracks that are kept, on average over a slice")              \
  M(SHARED_SCRATCH, counters, u32, "chunks and tracks on the lists", SL_ONE(SL_CONSTANT_TERM(COUNTERS)))     \
  M(SHARED_SCRATCH, chunks, u32, "chunks, by unit and number", SL_ONE(SL_EVENTS_TERM(KINDS *CHUNKS_MAX, 0))) \
  M(SHARED_SCRATCH, before, u32, "of each part the tracks; then those of all parts before",                  \
    SL_ONE(SL_EVENTS_TERM(KINDS *CHUNKS_MAX *PARTS, 0)))                                                     \
  M(SHARED_SCRATCH, found, u32, "tracks: what FOUND_WORDS says, one after another for all",                  \
    SL_ONE(SL_ITEMS_SCALED(tracks, FOUND_WORDS, 1, 0)))                                                      \
  M(TUNED_SCRATCH, x, f32, "of an event's hits, and some more", SL_ONE(SL_CONSTANT_TERM(SCIFI_HITS_MAX + 16)))
SL_ARGUMENTS(xz, XZ);

/* As `run`, for one thread (xz.cpu.c). */
int xz_tuned(const struct sl_launch *l, const void *args);

#endif
