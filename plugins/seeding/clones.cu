/* seeding.clones: selects the best tracks among tracks in x layers that share hits (README.md, "Seeds").
 *   1. For each hit find the smallest score of the tracks that contain it, then the first track with that score.
 *   2. Accept the tracks that are the best on at least `min_hits` of their hits; copy them in input order.
 * Parallelism: one block per event, one thread per track; tables are in shared memory if the event fits.
 * Determinism: the best track of a hit is an extreme value, independent of the order of threads.
 * Cost: reads 30 bytes per track four times, writes 4 per track and 38 per accepted track.
 */
#include "seeding/event_model.h"

#include <sluice/kernel.h>

enum {
  HITS_MAX = 9216,   /* hits of an event in shared memory */
  TRACKS_MAX = 8192, /* tracks of an event in shared memory */
  HIT_BITS = 16,
  HIT_WORDS = SCIFI_X_LAYERS / 2 /* per track, two hits each */
};
static const uint32_t claim = 1u << 31;

#define SL_ARGS clones_args
#define CLONES(M)                                                                                                    \
  M(IN, hits, scifi_hits, "offsets", "hits of the fibre tracker")                                                    \
  M(IN, candidates, seed_xz_tracks, "offsets kind hit_count hits a b c score",                                       \
    "tracks in x layers, which may share hits")                                                                      \
  M(OUT, tracks, seed_xz_tracks, "accepted tracks, in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(candidates))))     \
  M(U32, min_hits, 4, 1, 6, "", "least number of hits on which a track must be the best")                            \
  M(SCRATCH, best, u32, "best track of a hit, for events that exceed shared memory", SL_ONE(SL_ITEMS_TERM(hits)))    \
  M(SCRATCH, own, u8, "bit mask of the hits on which a candidate is the best, for events that exceed shared memory", \
    SL_ONE(SL_ITEMS_TERM(candidates)))                                                                               \
  M(SCRATCH, accepted, u32, "indices of accepted candidates, by event", SL_ONE(SL_ITEMS_TERM(candidates)))
SL_ARGUMENTS(clones, CLONES);

/* Bits of the score, which is not negative, so that they sort like the number. */
static SL_DEVICE uint32_t score_of(const struct clones_args *a, uint32_t candidate) {
  return sl_bits_from_f32(a->candidates.score[candidate]) & (claim - 1);
}

/* Hits of a track, two per word. */
struct hits {
  uint32_t words[HIT_WORDS], count;
};

static SL_DEVICE struct hits hits_of(const struct clones_args *a, uint32_t candidate) {
  const uint16_t *from = a->candidates.hits + SCIFI_X_LAYERS * (size_t)candidate;
  struct hits h;
  SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++) h.words[k] = ((const uint32_t *)(const void *)from)[k];
  h.count = a->candidates.hit_count[candidate];
  return h;
}

static SL_DEVICE uint32_t hit_of(const struct hits *h, uint32_t k) {
  return k % 2 ? h->words[k / 2] >> HIT_BITS : h->words[k / 2] & ((1u << HIT_BITS) - 1);
}

/* Bit mask of the candidate's hits for which `best` has this value. */
static SL_DEVICE uint32_t hits_with(const struct hits *h, const uint32_t *best, uint32_t value) {
  uint32_t bits = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_X_LAYERS; k++) bits |=
      k < h->count && best[hit_of(h, k)] == value ? 1u << k : 0u;
  return bits;
}

/* Lists the accepted candidates of the event; returns their number. `best`: one word per hit of the event, first the
 * smallest score, then `claim` with the first best track; `own`: one byte per candidate. All threads of the block
 * must call it. */
static SL_DEVICE uint32_t find_best(const struct clones_args *a, uint32_t event, uint32_t *best, uint8_t *own) {
  const uint32_t hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  const uint32_t first = a->candidates.offsets[event], count = a->candidates.offsets[event + 1] - first;
  uint32_t accepted = 0;
  __syncthreads(); /* the previous event is complete */
  for (uint32_t h = threadIdx.x; h < hits; h += blockDim.x) best[h] = claim - 1;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const struct hits h = hits_of(a, first + i);
    const uint32_t score = score_of(a, first + i);
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_X_LAYERS; k++) if (k < h.count) atomicMin(&best[hit_of(&h, k)], score);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const struct hits h = hits_of(a, first + i);
    own[i] = (uint8_t)hits_with(&h, best, score_of(a, first + i));
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const struct hits h = hits_of(a, first + i);
    const uint32_t bits = own[i];
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_X_LAYERS; k++) if (bits >> k & 1)
        atomicMax(&best[hit_of(&h, k)], claim | (count - i));
  }
  __syncthreads();
  SL_FOR_BLOCK (i, count) {
    uint32_t is_accepted = 0;
    if (i < count && sl_count_bits(own[i]) >= a->min_hits) {
      const struct hits h = hits_of(a, first + i);
      is_accepted = sl_count_bits(hits_with(&h, best, claim | (count - i))) >= a->min_hits ? 1u : 0u;
    }
    const uint32_t index = sl_block_append(is_accepted, &accepted);
    if (is_accepted) a->accepted[first + index] = first + i;
  }
  return accepted;
}

static SL_DEVICE void copy_track(const struct clones_args *a, uint32_t from, uint32_t to) {
  const struct hits h = hits_of(a, from);
  uint16_t *hits = a->tracks.hits + SCIFI_X_LAYERS * (size_t)to;
  a->tracks.kind[to] = a->candidates.kind[from];
  a->tracks.hit_count[to] = (uint8_t)h.count;
  SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++)((uint32_t *)(void *)hits)[k] = h.words[k];
  a->tracks.a[to] = a->candidates.a[from];
  a->tracks.b[to] = a->candidates.b[from];
  a->tracks.c[to] = a->candidates.c[from];
  a->tracks.score[to] = a->candidates.score[from];
}

SL_KERNEL(clones_count, struct clones_args) {
  __shared__ uint32_t best[HITS_MAX];
  __shared__ uint8_t own[TRACKS_MAX];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.hits.offsets[event], hits = a.hits.offsets[event + 1] - first;
    const uint32_t track = a.candidates.offsets[event], tracks = a.candidates.offsets[event + 1] - track;
    const uint32_t is_small = hits <= HITS_MAX && tracks <= TRACKS_MAX;
    const uint32_t count =
        is_small ? find_best(&a, event, best, own) : find_best(&a, event, a.best + first, a.own + track);
    if (threadIdx.x == 0) a.tracks.offsets[event] = count;
  }
}

SL_KERNEL(clones_write, struct clones_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.candidates.offsets[event], to = a.tracks.offsets[event];
    const uint32_t count = a.tracks.offsets[event + 1] - to;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) copy_track(&a, a.accepted[first + i], to + i);
  }
}

static int run(const struct sl_launch *l, const struct clones_args *a) {
  return SL_COUNT_SCAN_WRITE(l, clones_count, clones_write, a->tracks, *a);
}

static const struct sl_kernel_block clones_blocks[] = {{"clones_count", 512, 0}, {"clones_write", 128, 0}};
SL_ALGORITHM(clones, "selects the best of the tracks in x layers that share hits", 512, run, SL_BLOCKS(clones_blocks));
