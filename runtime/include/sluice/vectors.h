/* vectors.h: vectors of eight values, as vector types of the compiler (gcc from 12 on, and clang). For versions
 * optimised for the CPU (X.cpu.c) and for host code; kernels use lanes.h.
 *
 * Operators work lane by lane; comparisons give -1 or 0 in each lane. Sums and differences of integers that may wrap
 * must be unsigned.
 */
#ifndef SLUICE_VECTORS_H
#define SLUICE_VECTORS_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE4_1__
#include <immintrin.h>
#endif

enum { LANES = 8 };

typedef float f32x8 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef uint32_t u32x8 __attribute__((vector_size(32)));
typedef int64_t i64x4 __attribute__((vector_size(32)));
typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));

/* All functions are inlined, so that the calling convention for vectors does not matter. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#define VECTOR_INLINE static inline __attribute__((always_inline, unused))

VECTOR_INLINE f32x8 f32x8_load(const float *p) {
  f32x8 v;
  memcpy(&v, p, sizeof v);
  return v;
}
VECTOR_INLINE i32x8 i32x8_load(const int32_t *p) {
  i32x8 v;
  memcpy(&v, p, sizeof v);
  return v;
}
VECTOR_INLINE void f32x8_store(float *p, f32x8 v) { memcpy(p, &v, sizeof v); }
VECTOR_INLINE void i32x8_store(int32_t *p, i32x8 v) { memcpy(p, &v, sizeof v); }
/* Four values from or to each address; `low` is read or written first. */
VECTOR_INLINE i32x8 i32x8_load_halves(const int32_t *low, const int32_t *high) {
  i32x4 a, b;
  memcpy(&a, low, sizeof a);
  memcpy(&b, high, sizeof b);
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
VECTOR_INLINE void i32x8_store_halves(int32_t *low, int32_t *high, i32x8 v) {
  const i32x4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3), b = __builtin_shufflevector(v, v, 4, 5, 6, 7);
  memcpy(low, &a, sizeof a);
  memcpy(high, &b, sizeof b);
}

/* p[at], lane by lane. From the plain form, gcc makes eight loads, which take twice as long. */
#ifdef __AVX2__
VECTOR_INLINE f32x8 f32x8_gather(const float *p, i32x8 at) {
  return (f32x8)_mm256_i32gather_ps(p, (__m256i)at, sizeof *p);
}
VECTOR_INLINE u32x8 u32x8_gather(const uint32_t *p, i32x8 at) {
  return (u32x8)_mm256_i32gather_epi32((const int *)p, (__m256i)at, sizeof *p);
}
#else
VECTOR_INLINE f32x8 f32x8_gather(const float *p, i32x8 at) {
  return (f32x8){p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]};
}
VECTOR_INLINE u32x8 u32x8_gather(const uint32_t *p, i32x8 at) {
  return (u32x8){p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]};
}
#endif

VECTOR_INLINE f32x8 f32x8_of(float x) { return (f32x8){x, x, x, x, x, x, x, x}; }
VECTOR_INLINE i32x8 i32x8_of(int32_t x) { return (i32x8){x, x, x, x, x, x, x, x}; }

/* if_true where the mask is -1, if_false where it is 0. */
VECTOR_INLINE i32x8 i32x8_select(i32x8 mask, i32x8 if_true, i32x8 if_false) {
  return (if_true & mask) | (if_false & ~mask);
}
VECTOR_INLINE f32x8 f32x8_select(i32x8 mask, f32x8 if_true, f32x8 if_false) {
  return (f32x8)i32x8_select(mask, (i32x8)if_true, (i32x8)if_false);
}

/* Bits of a mask: bit i is set if lane i is -1. */
VECTOR_INLINE uint32_t i32x8_bits(i32x8 mask) {
#ifdef __AVX__
  return (uint32_t)__builtin_ia32_movmskps256((f32x8)mask);
#else
  uint32_t bits = 0;
  for (uint32_t i = 0; i < LANES; i++) bits |= (uint32_t)mask[i] & 1u << i;
  return bits;
#endif
}

/* The bits of the first `count` lanes; all eight if count >= 8. */
VECTOR_INLINE uint32_t first_lanes_bits(uint32_t count) { return count < LANES ? (1u << count) - 1 : 0xFF; }

/* Lane i gets v[at[i]]. */
VECTOR_INLINE i32x8 i32x8_permute(i32x8 v, i32x8 at) {
#ifdef __AVX2__
  return (i32x8)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)at);
#else
  return (i32x8){v[at[0]], v[at[1]], v[at[2]], v[at[3]], v[at[4]], v[at[5]], v[at[6]], v[at[7]]};
#endif
}

/* The numbers of the lanes with a set bit, in order, then 0: as indices of i32x8_permute they move these lanes to the
 * front. */
VECTOR_INLINE i32x8 i32x8_lanes_of_bits(uint32_t bits) {
  i32x8 lanes;
#if defined(__AVX512VL__)
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  lanes = (i32x8)_mm256_maskz_compress_epi32((__mmask8)bits, (__m256i)lane);
#elif defined(__AVX2__) && defined(__BMI2__)
  const uint64_t bytes = _pext_u64(0x0706050403020100, _pdep_u64(bits, 0x0101010101010101) * 255);
  lanes = (i32x8)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));
#else
  lanes = (i32x8){0};
  for (int32_t i = 0, n = 0; i < LANES; i++)
    if (bits >> i & 1) lanes[n++] = i;
#endif
  return lanes;
}

/* Stores the lanes with a set bit, in order, from p onwards. All eight values are written; those after the selected
 * ones are undefined. Returns the number of bits set. */
VECTOR_INLINE uint32_t i32x8_pack(int32_t *p, i32x8 v, uint32_t bits) {
  i32x8_store(p, i32x8_permute(v, i32x8_lanes_of_bits(bits)));
  return (uint32_t)__builtin_popcount(bits);
}

/* i32x8_pack for words of 64 bits, with their halves in `low` and `high`, selected by a mask. */
VECTOR_INLINE uint32_t i32x8_pack_words(uint64_t *p, i32x8 low, i32x8 high, i32x8 mask) {
  const uint32_t count = i32x8_pack((int32_t *)p, __builtin_shufflevector(low, high, 0, 8, 1, 9, 2, 10, 3, 11),
                                    i32x8_bits(__builtin_shufflevector(mask, mask, 0, 0, 1, 1, 2, 2, 3, 3)));
  const uint32_t more =
      i32x8_pack((int32_t *)(p + count / 2), __builtin_shufflevector(low, high, 4, 12, 5, 13, 6, 14, 7, 15),
                 i32x8_bits(__builtin_shufflevector(mask, mask, 4, 4, 5, 5, 6, 6, 7, 7)));
  return (count + more) / 2;
}

/* Stores lanes with values from 0 to 255 as bytes. */
VECTOR_INLINE void i32x8_store_bytes(uint8_t *p, i32x8 v) {
#ifdef __SSE4_1__
  const __m128i low = (__m128i)__builtin_shufflevector(v, v, 0, 1, 2, 3);
  const __m128i high = (__m128i)__builtin_shufflevector(v, v, 4, 5, 6, 7), halves = _mm_packus_epi32(low, high);
  _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi16(halves, halves));
#else
  for (uint32_t i = 0; i < LANES; i++) p[i] = (uint8_t)v[i];
#endif
}

/* Loads the first `count` of four values, and zeros for the others; their memory is not read. */
VECTOR_INLINE u32x4 u32x4_load_some(const uint32_t *p, uint32_t count) {
#ifdef __AVX2__
  const i32x4 lane = {0, 1, 2, 3};
  return (u32x4)_mm_maskload_epi32((const int *)p, (__m128i)(lane < (int32_t)(count < 4 ? count : 4)));
#else
  u32x4 v = {0};
  memcpy(&v, p, (count < 4 ? count : 4) * sizeof *p);
  return v;
#endif
}

/* Minima and maxima as one instruction each: clang recognises them in a selection; gcc in a loop, unless it unrolls the
 * loop first or already knows the comparison, in which case it uses three. f32x8_min and f32x8_max return b where a is
 * NaN. */
#if defined(__AVX2__)
VECTOR_INLINE f32x8 f32x8_min(f32x8 a, f32x8 b) { return (f32x8)_mm256_min_ps((__m256)a, (__m256)b); }
VECTOR_INLINE f32x8 f32x8_max(f32x8 a, f32x8 b) { return (f32x8)_mm256_max_ps((__m256)a, (__m256)b); }
VECTOR_INLINE i32x8 i32x8_min(i32x8 a, i32x8 b) { return (i32x8)_mm256_min_epi32((__m256i)a, (__m256i)b); }
VECTOR_INLINE i32x8 i32x8_max(i32x8 a, i32x8 b) { return (i32x8)_mm256_max_epi32((__m256i)a, (__m256i)b); }
#elif defined(__clang__)
VECTOR_INLINE f32x8 f32x8_min(f32x8 a, f32x8 b) { return f32x8_select(a < b, a, b); }
VECTOR_INLINE f32x8 f32x8_max(f32x8 a, f32x8 b) { return f32x8_select(a > b, a, b); }
VECTOR_INLINE i32x8 i32x8_min(i32x8 a, i32x8 b) { return i32x8_select(a < b, a, b); }
VECTOR_INLINE i32x8 i32x8_max(i32x8 a, i32x8 b) { return i32x8_select(a > b, a, b); }
#else
#define EACH_LANE(i) _Pragma("GCC unroll 1") for (int i = 0; i < LANES; i++)
VECTOR_INLINE f32x8 f32x8_min(f32x8 a, f32x8 b) {
  EACH_LANE(i) b[i] = a[i] < b[i] ? a[i] : b[i];
  return b;
}
VECTOR_INLINE f32x8 f32x8_max(f32x8 a, f32x8 b) {
  EACH_LANE(i) b[i] = a[i] > b[i] ? a[i] : b[i];
  return b;
}
VECTOR_INLINE i32x8 i32x8_min(i32x8 a, i32x8 b) {
  EACH_LANE(i) b[i] = a[i] < b[i] ? a[i] : b[i];
  return b;
}
VECTOR_INLINE i32x8 i32x8_max(i32x8 a, i32x8 b) {
  EACH_LANE(i) b[i] = a[i] > b[i] ? a[i] : b[i];
  return b;
}
#endif

VECTOR_INLINE i64x4 i64x4_min(i64x4 a, i64x4 b) {
#if defined(__AVX512VL__)
  return (i64x4)_mm256_min_epi64((__m256i)a, (__m256i)b);
#else
  const i64x4 less = a < b;
  return (a & less) | (b & ~less);
#endif
}

/* Lane i gets lane i ^ 4, i ^ 2 or i ^ 1. */
#define LANES_SWAPPED_4(v) __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3)
#define LANES_SWAPPED_2(v) __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5)
#define LANES_SWAPPED_1(v) __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6)

/* Steps of sorting networks, lane by lane between v and `other`: the smaller value, and in the upper half of all lanes,
 * of each four, or of each two, the larger value. */
#define LANES_LOWER_THEN_UPPER(v, other, ...) \
  __builtin_shufflevector(i32x8_min(v, other), i32x8_max(v, other), __VA_ARGS__)
#define LANES_ORDERED(v, other)          LANES_LOWER_THEN_UPPER(v, other, 0, 1, 2, 3, 12, 13, 14, 15)
#define LANES_ORDERED_IN_FOURS(v, other) LANES_LOWER_THEN_UPPER(v, other, 0, 1, 10, 11, 4, 5, 14, 15)
#define LANES_ORDERED_IN_TWOS(v, other)  LANES_LOWER_THEN_UPPER(v, other, 0, 9, 2, 11, 4, 13, 6, 15)

#pragma GCC diagnostic pop

#endif
