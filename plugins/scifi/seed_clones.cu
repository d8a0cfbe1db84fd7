/* scifi.seed_clones: of tracks in x layers that share hits, the best one (README.md, "Seeds").
 *
 * Count, scan, write: a block an event. Every hit knows the best of the tracks that it is on, by a key that no two
 * tracks share: it is a smallest value, whatever the order in which tracks come. Then a thread a track counts the hits
 * that know it. Reads 30 bytes a track, twice, and writes and reads 8 for each hit of the event; 38 for each track that
 * is kept.
 */
#include "scifi/event_model.h"

#include <sluice/kernel.h>

enum { SCORE_BIT = 32 };
static const uint64_t no_track = UINT64_MAX;

#define SL_ARGS seed_clones_args
#define SEED_CLONES(M)                                                                                          \
  M(IN, hits, scifi_hits, "offsets", "that the tracks speak of")                                                \
  M(IN, candidates, scifi_xz_tracks, "offsets kind hit_count hits a b c score", "which may share hits")         \
  M(OUT, tracks, scifi_xz_tracks, "the best ones, in their order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(candidates)))) \
  M(F32, score_weight, 1000.0, 1.0, 1e9, "", "of a track's score, to which the curvature's size is added")      \
  M(U32, min_hits, 4, 1, 6, "", "hits that are on no better track, for it to be kept")                          \
  M(SCRATCH, best, u64, "track of each hit", SL_ONE(SL_ITEMS_TERM(hits)))
SL_ARGUMENTS(seed_clones, SEED_CLONES);

/* Ascending with what tracks are sorted by, which is not negative; of equal ones, with their places. */
static SL_DEVICE uint64_t key_of(const struct seed_clones_args *a, uint32_t event, uint32_t candidate) {
  const float badness = a->score_weight * a->candidates.score[candidate] + sl_abs_f32(a->candidates.c[candidate]);
  return (uint64_t)sl_bits_from_f32(badness) << SCORE_BIT | (candidate - a->candidates.offsets[event]);
}

/* Every thread of the block comes here. */
static SL_DEVICE void find_best(const struct seed_clones_args *a, uint32_t event) {
  uint64_t *best = a->best + a->hits.offsets[event];
  const uint32_t hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  for (uint32_t h = threadIdx.x; h < hits; h += blockDim.x) best[h] = no_track;
  __syncthreads();
  for (uint32_t i = a->candidates.offsets[event] + threadIdx.x; i < a->candidates.offsets[event + 1]; i += blockDim.x) {
    const uint64_t key = key_of(a, event, i);
    for (uint32_t k = 0; k < a->candidates.hit_count[i]; k++)
      atomicMin((sl_atomic_u64 *)&best[a->candidates.hits[SCIFI_X_LAYERS * (size_t)i + k]], (sl_atomic_u64)key);
  }
  __syncthreads();
}

static SL_DEVICE uint32_t is_best(const struct seed_clones_args *a, uint32_t event, uint32_t candidate) {
  const uint64_t *best = a->best + a->hits.offsets[event], key = key_of(a, event, candidate);
  const uint16_t *hits = a->candidates.hits + SCIFI_X_LAYERS * (size_t)candidate;
  uint32_t own = 0;
  for (uint32_t k = 0; k < a->candidates.hit_count[candidate]; k++) own += best[hits[k]] == key ? 1u : 0u;
  return own >= a->min_hits ? 1u : 0u;
}

static SL_DEVICE void copy_track(const struct seed_clones_args *a, uint32_t from, uint32_t to) {
  a->tracks.kind[to] = a->candidates.kind[from];
  a->tracks.hit_count[to] = a->candidates.hit_count[from];
  for (uint32_t k = 0; k < SCIFI_X_LAYERS; k++)
    a->tracks.hits[SCIFI_X_LAYERS * (size_t)to + k] = a->candidates.hits[SCIFI_X_LAYERS * (size_t)from + k];
  a->tracks.a[to] = a->candidates.a[from];
  a->tracks.b[to] = a->candidates.b[from];
  a->tracks.c[to] = a->candidates.c[from];
  a->tracks.score[to] = a->candidates.score[from];
}

SL_KERNEL(seed_clones_count, struct seed_clones_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    find_best(&a, event);
    for (uint32_t i = a.candidates.offsets[event] + threadIdx.x; i < a.candidates.offsets[event + 1]; i += blockDim.x)
      count += is_best(&a, event, i);
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.tracks.offsets[event] = count;
  }
}

SL_KERNEL(seed_clones_write, struct seed_clones_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.candidates.offsets[event], to = a.tracks.offsets[event];
    const uint32_t count = a.tracks.offsets[event + 1] == to ? 0 : a.candidates.offsets[event + 1] - first;
    uint32_t length = 0;
    SL_FOR_BLOCK (i, count) {
      const uint32_t wanted = i < count && is_best(&a, event, first + i);
      const uint32_t place = to + sl_block_append(wanted, &length);
      if (wanted) copy_track(&a, first + i, place);
    }
  }
}

static int run(const struct sl_launch *l, const struct seed_clones_args *a) {
  return SL_COUNT_SCAN_WRITE(l, seed_clones_count, seed_clones_write, a->tracks, *a);
}

SL_ALGORITHM(seed_clones, "the best ones of tracks in x layers that share hits", 256, run);
