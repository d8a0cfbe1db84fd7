/* mdf_checksum.c: computes the one-at-a-time hash of up to 16 records in parallel.
 *
 * 1. Each lane of two vectors of eight 32-bit lanes hashes one record. Two vectors hide the latency of a step, which is
 *    a chain of five dependent operations.
 * 2. All lanes advance by blocks of 32 bytes. Eight rows of eight words are transposed, so that vector k holds word k
 *    of each lane; the four bytes of each word are then hashed in turn.
 * 3. The last 0 to 31 bytes of a record are hashed by scalar code. An idle lane repeats the work of another lane.
 * Uses the vector extensions of the compiler, so it compiles for every processor. */
#include "mdf_checksum.h"

#include <string.h>

enum { VECTOR_LANES = 8, VECTORS = MDF_HASH_LANES / VECTOR_LANES, BLOCK_BYTES = 32, BLOCKS_MAX = 1 << 20 };

typedef uint32_t lanes_u32 __attribute__((vector_size(32)));
typedef int32_t lanes_i32 __attribute__((vector_size(32)));

static uint32_t hash_bytes(uint32_t hash, const uint8_t *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    hash += (uint32_t)(int32_t)(int8_t)bytes[i];
    hash += hash << 10;
    hash ^= hash >> 6;
  }
  return hash;
}

static uint32_t hash_finish(uint32_t hash) {
  hash += hash << 3;
  hash ^= hash >> 11;
  return hash + (hash << 15);
}

uint32_t mdf_checksum(const uint8_t *bytes, uint64_t count) { return hash_finish(hash_bytes(0, bytes, count)); }

#define INTERLEAVE(name, a, b, ...) \
  static inline lanes_u32 name(lanes_u32 x, lanes_u32 y) { return __builtin_shufflevector(x, y, __VA_ARGS__); }
INTERLEAVE(words_low, x, y, 0, 8, 1, 9, 4, 12, 5, 13)
INTERLEAVE(words_high, x, y, 2, 10, 3, 11, 6, 14, 7, 15)
INTERLEAVE(pairs_low, x, y, 0, 1, 8, 9, 4, 5, 12, 13)
INTERLEAVE(pairs_high, x, y, 2, 3, 10, 11, 6, 7, 14, 15)
INTERLEAVE(halves_low, x, y, 0, 1, 2, 3, 8, 9, 10, 11)
INTERLEAVE(halves_high, x, y, 4, 5, 6, 7, 12, 13, 14, 15)

/* Loads 32 bytes of each of eight records; word[k] then holds word k of each record. */
static inline void load_transposed(const uint8_t *const *next, uint64_t at, lanes_u32 word[VECTOR_LANES]) {
  lanes_u32 row[VECTOR_LANES], pair[VECTOR_LANES], quad[VECTOR_LANES];
  for (uint32_t i = 0; i < VECTOR_LANES; i++) memcpy(&row[i], next[i] + at, sizeof row[i]);
  for (uint32_t i = 0; i < VECTOR_LANES; i += 2) {
    pair[i] = words_low(row[i], row[i + 1]);
    pair[i + 1] = words_high(row[i], row[i + 1]);
  }
  for (uint32_t i = 0; i < VECTOR_LANES; i += 4) {
    quad[i] = pairs_low(pair[i], pair[i + 2]);
    quad[i + 1] = pairs_high(pair[i], pair[i + 2]);
    quad[i + 2] = pairs_low(pair[i + 1], pair[i + 3]);
    quad[i + 3] = pairs_high(pair[i + 1], pair[i + 3]);
  }
  for (uint32_t i = 0; i < 4; i++) {
    word[i] = halves_low(quad[i], quad[i + 4]);
    word[i + 4] = halves_high(quad[i], quad[i + 4]);
  }
}

static inline lanes_u32 hash_step(lanes_u32 hash, lanes_u32 word, int byte) {
  hash += (lanes_u32)((lanes_i32)(word << (24 - 8 * byte)) >> 24);
  hash += hash << 10;
  return hash ^ hash >> 6;
}

/* Advances the hash of each lane over `blocks` blocks of BLOCK_BYTES from next[lane]. */
static void hash_blocks(uint32_t hash[MDF_HASH_LANES], const uint8_t *const next[MDF_HASH_LANES], uint64_t blocks) {
  lanes_u32 h[VECTORS], word[VECTORS][VECTOR_LANES];
  memcpy(h, hash, sizeof h);
  for (uint64_t block = 0; block < blocks; block++) {
    for (uint32_t v = 0; v < VECTORS; v++) load_transposed(next + VECTOR_LANES * v, block * BLOCK_BYTES, word[v]);
    for (uint32_t k = 0; k < VECTOR_LANES; k++)
      for (int byte = 0; byte < 4; byte++)
        for (uint32_t v = 0; v < VECTORS; v++) h[v] = hash_step(h[v], word[v][k], byte);
  }
  memcpy(hash, h, sizeof h);
}

void mdf_hasher_reset(struct mdf_hasher *h) { h->first = h->count = h->started = h->lane_count = 0; }

void mdf_hasher_push(struct mdf_hasher *h, uint64_t tag, const uint8_t *bytes, uint64_t count) {
  h->jobs[(h->first + h->count++) % MDF_HASH_JOBS] = (struct mdf_hash_job){tag, bytes, count, 0, 0};
}

/* Hashes the remaining bytes, fewer than a block, and frees the lane of the job. */
static void finish_lane(struct mdf_hasher *h, uint32_t lane) {
  struct mdf_hash_job *job = &h->jobs[h->lanes[lane]];
  job->hash = hash_finish(hash_bytes(job->hash, job->next, job->left));
  job->done = 1;
  h->lanes[lane] = h->lanes[--h->lane_count];
}

/* Fills free lanes, then advances all lanes until one has less than a block left. */
static void advance(struct mdf_hasher *h) {
  while (h->lane_count < MDF_HASH_LANES && h->started < h->count)
    h->lanes[h->lane_count++] = (h->first + h->started++) % MDF_HASH_JOBS;
  uint32_t hash[MDF_HASH_LANES];
  const uint8_t *next[MDF_HASH_LANES];
  uint64_t blocks = BLOCKS_MAX;
  for (uint32_t lane = 0; lane < MDF_HASH_LANES; lane++) {
    const struct mdf_hash_job *job = &h->jobs[h->lanes[lane < h->lane_count ? lane : 0]];
    hash[lane] = job->hash;
    next[lane] = job->next;
    if (job->left / BLOCK_BYTES < blocks) blocks = job->left / BLOCK_BYTES;
  }
  hash_blocks(hash, next, blocks);
  for (uint32_t lane = h->lane_count; lane-- > 0;) {
    struct mdf_hash_job *job = &h->jobs[h->lanes[lane]];
    job->hash = hash[lane];
    job->next += blocks * BLOCK_BYTES;
    job->left -= blocks * BLOCK_BYTES;
    if (job->left < BLOCK_BYTES) finish_lane(h, lane);
  }
}

int mdf_hasher_take(struct mdf_hasher *h, uint64_t tag, uint32_t *hash) {
  struct mdf_hash_job *job = &h->jobs[h->first];
  if (h->count == 0 || job->tag != tag) return 0;
  while (!job->done) advance(h);
  *hash = job->hash;
  h->first = (h->first + 1) % MDF_HASH_JOBS;
  h->count--;
  h->started--;
  return 1;
}
