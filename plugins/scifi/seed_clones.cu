/* scifi.seed_clones: of tracks in x layers that share hits, the best one (README.md, "Seeds").
 *
 * Count, scan, write: a block an event. Every hit learns how bad the best of the tracks is that it is on, then which
 * one is the first of those that are as bad: both are extreme values, whatever the order in which tracks come. Then a
 * thread a track counts the hits that it has for itself. What hits learn stands in shared memory, if there is room for
 * the event's. Reads 30 bytes a track, four times; writes and reads a byte, and 38 for each track that is kept.
 */
#include "scifi/event_model.h"

#include <sluice/kernel.h>

enum { HITS_MAX = 9216 }; /* of an event, in shared memory */
static const uint32_t claim = 1u << 31;

#define SL_ARGS seed_clones_args
#define SEED_CLONES(M)                                                                                          \
  M(IN, hits, scifi_hits, "offsets", "that the tracks speak of")                                                \
  M(IN, candidates, scifi_xz_tracks, "offsets kind hit_count hits a b c score", "which may share hits")         \
  M(OUT, tracks, scifi_xz_tracks, "the best ones, in their order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(candidates)))) \
  M(F32, score_weight, 1000.0, 1.0, 1e9, "", "of a track's score, to which the curvature's size is added")      \
  M(U32, min_hits, 4, 1, 6, "", "hits that are on no better track, for it to be kept")                          \
  M(SCRATCH, best, u32, "what each hit knows, of events of too many hits", SL_ONE(SL_ITEMS_TERM(hits)))         \
  M(SCRATCH, own, u8, "hits of each candidate on which none is better; then whether it is kept",                \
    SL_ONE(SL_ITEMS_TERM(candidates)))
SL_ARGUMENTS(seed_clones, SEED_CLONES);

/* Ascending with what tracks are sorted by, which is not negative. */
static SL_DEVICE uint32_t badness_of(const struct seed_clones_args *a, uint32_t candidate) {
  const float badness = a->score_weight * a->candidates.score[candidate] + sl_abs_f32(a->candidates.c[candidate]);
  return sl_bits_from_f32(badness) & (claim - 1);
}

/* Which of the candidate's hits know this value, a bit each. */
static SL_DEVICE uint32_t hits_with(const struct seed_clones_args *a, const uint32_t *best, uint32_t candidate,
                                    uint32_t value) {
  const uint16_t *hits = a->candidates.hits + SCIFI_X_LAYERS * (size_t)candidate;
  const uint32_t count = a->candidates.hit_count[candidate];
  uint32_t bits = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_X_LAYERS; k++) bits |= k < count && best[hits[k]] == value ? 1u << k : 0u;
  return bits;
}

/* Finds out which candidates of the event are kept; returns how many. `best`: a value for each hit of the event, which
 * begins as the worst badness, and ends as a claim of the first of the best tracks. Every thread of the block comes
 * here. */
static SL_DEVICE uint32_t find_best(const struct seed_clones_args *a, uint32_t event, uint32_t *best) {
  const uint32_t hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  const uint32_t first = a->candidates.offsets[event], end = a->candidates.offsets[event + 1];
  uint32_t count = 0;
  __syncthreads(); /* the event before is done with */
  for (uint32_t h = threadIdx.x; h < hits; h += blockDim.x) best[h] = claim - 1;
  __syncthreads();
  for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    const uint16_t *of = a->candidates.hits + SCIFI_X_LAYERS * (size_t)i;
    const uint32_t badness = badness_of(a, i), hit_count = a->candidates.hit_count[i];
    for (uint32_t k = 0; k < hit_count; k++) atomicMin(&best[of[k]], badness);
  }
  __syncthreads();
  for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x)
    a->own[i] = (uint8_t)hits_with(a, best, i, badness_of(a, i));
  __syncthreads();
  for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    const uint16_t *of = a->candidates.hits + SCIFI_X_LAYERS * (size_t)i;
    for (uint32_t k = 0, own = a->own[i]; own >> k > 0; k++)
      if (own >> k & 1) atomicMax(&best[of[k]], claim | (end - i));
  }
  __syncthreads();
  for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    const uint32_t is_kept = sl_count_bits(hits_with(a, best, i, claim | (end - i))) >= a->min_hits ? 1u : 0u;
    a->own[i] = (uint8_t)is_kept;
    count += is_kept;
  }
  return sl_block_sum_u32(count);
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
  __shared__ uint32_t best[HITS_MAX];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.hits.offsets[event], hits = a.hits.offsets[event + 1] - first;
    const uint32_t count = hits <= HITS_MAX ? find_best(&a, event, best) : find_best(&a, event, a.best + first);
    if (threadIdx.x == 0) a.tracks.offsets[event] = count;
  }
}

SL_KERNEL(seed_clones_write, struct seed_clones_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.candidates.offsets[event], to = a.tracks.offsets[event];
    const uint32_t count = a.tracks.offsets[event + 1] == to ? 0 : a.candidates.offsets[event + 1] - first;
    uint32_t length = 0;
    SL_FOR_BLOCK (i, count) {
      const uint32_t wanted = i < count && a.own[first + i];
      const uint32_t place = to + sl_block_append(wanted, &length);
      if (wanted) copy_track(&a, first + i, place);
    }
  }
}

static int run(const struct sl_launch *l, const struct seed_clones_args *a) {
  return SL_COUNT_SCAN_WRITE(l, seed_clones_count, seed_clones_write, a->tracks, *a);
}

SL_ALGORITHM(seed_clones, "the best ones of tracks in x layers that share hits", 1024, run);
