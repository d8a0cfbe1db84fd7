/* philox.h: counter-based random numbers for host code.
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11) is a bijection of a
 * counter of 128 bits, selected by a key of 64 bits. With the seed as key, and event number, purpose and position as
 * counter, a number depends on these alone: slices, threads and machines do not change it.
 */
#ifndef SLUICE_PHILOX_H
#define SLUICE_PHILOX_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { SL_PHILOX_ROUNDS = 10, SL_PHILOX_LANES = 8 };
#define SL_PHILOX_FIRST  0xD2511F53ull
#define SL_PHILOX_SECOND 0xCD9E8D57ull

static inline void sl_philox_next_key_(uint32_t key[2]) {
  key[0] += 0x9E3779B9u;
  key[1] += 0xBB67AE85u;
}

/* Four random words of a key and a counter. */
static inline void sl_philox_4x32_10(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k[2] = {key[0], key[1]};
  for (int round = 0; round < SL_PHILOX_ROUNDS; round++) {
    const uint64_t first = SL_PHILOX_FIRST * c0, second = SL_PHILOX_SECOND * c2;
    c0 = (uint32_t)(second >> 32) ^ c1 ^ k[0];
    c1 = (uint32_t)second;
    c2 = (uint32_t)(first >> 32) ^ c3 ^ k[1];
    c3 = (uint32_t)first;
    sl_philox_next_key_(k);
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

typedef uint64_t sl_philox_parts_ __attribute__((vector_size(32)));

/* Products of the lower 32 bits of each part. gcc needs three times as many instructions for the generic line. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
static inline __attribute__((always_inline)) sl_philox_parts_ sl_philox_multiply_(sl_philox_parts_ a, uint64_t factor) {
  const sl_philox_parts_ factors = {factor, factor, factor, factor};
#if defined(__AVX2__)
  return (sl_philox_parts_)_mm256_mul_epu32((__m256i)a, (__m256i)factors);
#else
  return (a & UINT32_MAX) * factors;
#endif
}
#pragma GCC diagnostic pop

/* Replaces the counters of eight lanes, word i of all lanes in words[i], by their random words. Each word of the
 * counters is in the 64-bit parts of two vectors, so that a 32 x 32 bit product needs no shuffle; the upper half of a
 * part is ignored until the end. */
static inline void sl_philox_lanes(const uint32_t key[2], uint32_t words[4][SL_PHILOX_LANES]) {
  enum { HALVES = 2 };
  uint64_t parts[4][SL_PHILOX_LANES];
  sl_philox_parts_ c[4][HALVES];
  uint32_t k[2] = {key[0], key[1]};
  for (int i = 0; i < 4; i++)
    for (int l = 0; l < SL_PHILOX_LANES; l++) parts[i][l] = words[i][l];
  memcpy(c, parts, sizeof c);
  for (int round = 0; round < SL_PHILOX_ROUNDS; round++) {
    for (int h = 0; h < HALVES; h++) {
      const sl_philox_parts_ first = sl_philox_multiply_(c[0][h], SL_PHILOX_FIRST);
      const sl_philox_parts_ second = sl_philox_multiply_(c[2][h], SL_PHILOX_SECOND);
      c[0][h] = (second >> 32) ^ c[1][h] ^ (uint64_t)k[0];
      c[1][h] = second;
      c[2][h] = (first >> 32) ^ c[3][h] ^ (uint64_t)k[1];
      c[3][h] = first;
    }
    sl_philox_next_key_(k);
  }
  memcpy(parts, c, sizeof c);
  for (int i = 0; i < 4; i++)
    for (int l = 0; l < SL_PHILOX_LANES; l++) words[i][l] = (uint32_t)parts[i][l];
}

#endif
