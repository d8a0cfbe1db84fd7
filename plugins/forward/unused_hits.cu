/* forward.unused_hits: lists the hits that no track uses, in input order, with their indices among all hits.
 *   1. Set a bit in shared memory for each used hit.
 *   2. Scan the numbers of used hits per word of bits; they give the new index of each unused hit and zone.
 * One block per event. Cost: reads 13 bytes per hit and 2 per hit of a track; writes 15 per unused hit.
 */
#include "hit_bits.h"

/* Hits that a thread loads at once. */
#if defined(SL_TARGET_CPU)
enum { HITS_AT_A_TIME = 1 };
#else
enum { HITS_AT_A_TIME = 4 };
#endif

#define SL_ARGS unused_hits_args
#define UNUSED_HITS(M)                                                                             \
  M(IN, hits, scifi_hits, "", "hits of the fibre tracker")                                         \
  M(IN, tracks, long_tracks, "offsets hit_offsets hit", "tracks that use hits")                    \
  M(OUT, unused, scifi_hits, "unused hits, in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))) \
  M(OUT, hit_indices, scifi_hit_indices, "indices of the unused hits among all hits", SL_SHARES_OFFSETS(unused))
SL_ARGUMENTS(unused_hits, UNUSED_HITS);

/* Sets a bit for each used hit; returns the number of bits that this thread set first. Ends with a barrier. */
static SL_DEVICE uint32_t mark_used(const struct unused_hits_args *a, uint32_t event, uint32_t words, uint32_t *used) {
  const uint32_t begin = a->tracks.hit_offsets[a->tracks.offsets[event]];
  const uint32_t end = a->tracks.hit_offsets[a->tracks.offsets[event + 1]];
  uint32_t count = 0;
  for (uint32_t w = threadIdx.x; w < words; w += blockDim.x) used[w] = 0;
  __syncthreads();
  for (uint32_t h = begin + threadIdx.x; h < end; h += blockDim.x) count += 1u - hit_bits_add(used, a->tracks.hit[h]);
  __syncthreads();
  return count;
}

SL_KERNEL(unused_hits_count, struct unused_hits_args) {
  __shared__ uint32_t used[HIT_WORDS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t count = sl_block_sum_u32(mark_used(&a, event, hit_words(a.hits.offsets, event), used));
    if (threadIdx.x == 0) a.unused.offsets[event] = a.hits.offsets[event + 1] - a.hits.offsets[event] - count;
  }
}

/* Number of used hits before each word. Ends with a barrier. */
static SL_DEVICE void sum_used(const uint32_t *used, uint32_t words, uint32_t *before) {
  uint32_t sum = 0;
  SL_FOR_BLOCK (w, words) {
    uint32_t total;
    const uint32_t earlier = sl_block_exclusive_scan(w < words ? sl_count_bits(used[w]) : 0, &total);
    if (w < words) before[w] = sum + earlier;
    sum += total;
  }
  __syncthreads();
}

/* New index of hit `hit`, or of the next unused hit. */
static SL_DEVICE uint32_t new_index(const uint32_t *used, const uint32_t *before, uint32_t hit) {
  const uint32_t word = hit / HIT_WORD_BITS, below = (1u << hit % HIT_WORD_BITS) - 1;
  return hit - before[word] - sl_count_bits(used[word] & below);
}

struct hit {
  uint32_t id;
  float x, z;
  uint8_t pseudo_size;
};

/* Copies several hits per thread. All are loaded before the first store, so that the loads overlap. */
static SL_DEVICE void write_hits(const struct unused_hits_args *a, uint32_t event, uint32_t begin, const uint32_t *used,
                                 const uint32_t *before) {
  const uint32_t first = a->hits.offsets[event], count = a->hits.offsets[event + 1] - first;
  const uint32_t to = a->unused.offsets[event];
  struct hit hits[HITS_AT_A_TIME];
  SL_UNROLL for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) {
    const uint32_t i = begin + k * blockDim.x, from = first + (i < count ? i : 0);
    hits[k].id = a->hits.id[from];
    hits[k].x = a->hits.x[from];
    hits[k].z = a->hits.z[from];
    hits[k].pseudo_size = a->hits.pseudo_size[from];
  }
  SL_UNROLL for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) {
    const uint32_t i = begin + k * blockDim.x;
    if (i >= count || hit_bits_have(used, i)) continue;
    const uint32_t index = to + new_index(used, before, i);
    a->unused.id[index] = hits[k].id;
    a->unused.x[index] = hits[k].x;
    a->unused.z[index] = hits[k].z;
    a->unused.pseudo_size[index] = hits[k].pseudo_size;
    a->hit_indices.index[index] = (uint16_t)i;
  }
}

SL_KERNEL(unused_hits_write, struct unused_hits_args) {
  __shared__ uint32_t used[HIT_WORDS], before[HIT_WORDS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t count = a.hits.offsets[event + 1] - a.hits.offsets[event];
    const uint32_t is_empty = a.unused.offsets[event + 1] == a.unused.offsets[event];
    const uint32_t words = hit_words(a.hits.offsets, event);
    const size_t zones = (SCIFI_ZONES + 1) * (size_t)event;
    mark_used(&a, event, words, used);
    sum_used(used, words, before);
    for (uint32_t z = threadIdx.x; z <= SCIFI_ZONES; z += blockDim.x)
      a.unused.zone_first[zones + z] = (uint16_t)(is_empty ? 0 : new_index(used, before, a.hits.zone_first[zones + z]));
    for (uint32_t i = threadIdx.x; i < (is_empty ? 0 : count); i += HITS_AT_A_TIME * blockDim.x)
      write_hits(&a, event, i, used, before);
    __syncthreads(); /* the next event uses the same words */
  }
}

static int run(const struct sl_launch *l, const struct unused_hits_args *a) {
  return SL_COUNT_SCAN_WRITE(l, unused_hits_count, unused_hits_write, a->unused, *a);
}

SL_ALGORITHM(unused_hits, "lists the hits that no track uses", 256, run);
