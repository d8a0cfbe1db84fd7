/* random.c: see random.h.
 * Computes eight Philox blocks at once. Each word of the blocks is in the 64-bit parts of two vectors, so that a 32 x
 * 32 bit product needs no shuffle; the upper half of a part is ignored until the end.
 * Plain version: philox_4x32_10 (random.h). */
#include "random.h"

#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { HALVES = 2 };

typedef uint64_t u64x4 __attribute__((vector_size(32)));

/* Products of the lower 32 bits of each part. gcc needs three times as many instructions for the generic line. */
static inline __attribute__((always_inline)) u64x4 multiply(u64x4 a, uint64_t factor) {
  const u64x4 factors = {factor, factor, factor, factor};
#if defined(__AVX2__)
  return (u64x4)_mm256_mul_epu32((__m256i)a, (__m256i)factors);
#else
  return (a & UINT32_MAX) * factors;
#endif
}

void sim_philox_lanes(const uint32_t key[2], uint32_t words[4][SIM_RANDOM_LANES]) {
  uint64_t parts[4][SIM_RANDOM_LANES];
  u64x4 c[4][HALVES];
  uint32_t round_key[2] = {key[0], key[1]};
  for (int i = 0; i < 4; i++)
    for (int l = 0; l < SIM_RANDOM_LANES; l++) parts[i][l] = words[i][l];
  memcpy(c, parts, sizeof c);
  for (int round = 0; round < SIM_PHILOX_ROUNDS; round++) {
    for (int h = 0; h < HALVES; h++) {
      const u64x4 first = multiply(c[0][h], SIM_PHILOX_FIRST), second = multiply(c[2][h], SIM_PHILOX_SECOND);
      c[0][h] = (second >> 32) ^ c[1][h] ^ (uint64_t)round_key[0];
      c[1][h] = second;
      c[2][h] = (first >> 32) ^ c[3][h] ^ (uint64_t)round_key[1];
      c[3][h] = first;
    }
    philox_next_key(round_key);
  }
  memcpy(parts, c, sizeof c);
  for (int i = 0; i < 4; i++)
    for (int l = 0; l < SIM_RANDOM_LANES; l++) words[i][l] = (uint32_t)parts[i][l];
}

void sim_random_lanes(const struct sim_random *first, uint32_t words[4][SIM_RANDOM_LANES]) {
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    words[0][l] = first->counter[0];
    words[1][l] = first->counter[1] + l;
    words[2][l] = first->counter[2];
    words[3][l] = first->counter[3];
  }
  sim_philox_lanes(first->key, words);
}

void sim_random_begin_lanes(const struct sim_random *first, struct sim_random streams[SIM_RANDOM_LANES]) {
  uint32_t words[4][SIM_RANDOM_LANES];
  sim_random_lanes(first, words);
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    streams[l] = *first;
    streams[l].counter[0]++;
    streams[l].counter[1] += l;
    for (int i = 0; i < 4; i++) streams[l].numbers[i] = words[i][l];
    streams[l].left = 4;
  }
}
