/* lanes.h: kernels that process SL_LANES items at a time, from one source: 8 on cpu, in vectors, and 1 per thread
 * elsewhere.
 *
 *   SL_FOR_ITEMS_LANES (i, count, a.events, a.points.offsets) {    items i to i + count - 1, at most SL_LANES
 *     const sl_f32s x = sl_f32s_load(a.points.x + i, count);       lanes from `count` on repeat the last item
 *     const sl_i32s is_near = SL_MASK(sl_f32s_abs(x) < a.limit);
 *     sl_f32s_store(a.out.x + i, sl_f32s_select(is_near, x, sl_f32s_of(0.0f)), count);
 *   }
 *
 * Operators work lane by lane. Put comparisons in SL_MASK, which gives -1 or 0 in each lane. Indices have 31 bits. Code
 * for one number, such as a function of sluice/math.h, works on arrays of SL_LANES: SL_FOR_LANES (j) y[j] = f(x[j]).
 *
 * The lanes can also be the threads of a group of eight, in the loop of SL_FOR_GROUPS(g, n, 8): the lane numbers are
 * sl_i32s_from(sl_group_lane(8)), and the sum of sl_lanes_bits over the group is a mask with one bit per lane.
 */
#ifndef SLUICE_LANES_H
#define SLUICE_LANES_H

#include <sluice/kernel.h>

#define SL_FOR_LANES(j) for (uint32_t j = 0; j < SL_LANES; j++)

/* SL_FOR_ITEMS of kernel.h in steps of SL_LANES. */
#define SL_FOR_ITEMS_LANES(i, count, list, offsets)       \
  SL_FOR_RANGES_ (i, SL_LANES, list, (offsets)[sl_event]) \
    for (uint32_t count = sl_lane_count(sl_end_##i - i), sl_once_##i = 1; sl_once_##i; sl_once_##i = 0)

#if defined(SL_TARGET_CPU)
#include <sluice/vectors.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
enum { SL_LANES = LANES };
typedef f32x8 sl_f32s;
typedef i32x8 sl_i32s;
#define SL_LANES_FUNCTION   VECTOR_INLINE
#define SL_MASK(comparison) (comparison)

SL_LANES_FUNCTION sl_f32s sl_f32s_of(float x) { return f32x8_of(x); }
SL_LANES_FUNCTION sl_i32s sl_i32s_of(uint32_t x) { return i32x8_of((int32_t)x); }
/* first, first + 1, first + 2, ... */
SL_LANES_FUNCTION sl_i32s sl_i32s_from(uint32_t first) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane + (int32_t)first;
}
/* Load from and store to an array of SL_LANES, such as SL_FOR_LANES fills. */
SL_LANES_FUNCTION sl_f32s sl_f32s_in(const float *array) { return f32x8_load(array); }
SL_LANES_FUNCTION sl_i32s sl_i32s_in(const int32_t *array) { return i32x8_load(array); }
SL_LANES_FUNCTION void sl_f32s_out(float *array, sl_f32s v) { f32x8_store(array, v); }
SL_LANES_FUNCTION void sl_i32s_out(int32_t *array, sl_i32s v) { i32x8_store(array, v); }

/* Loads the first `count` lanes, at least one, from p onwards; the other lanes repeat the last one. */
SL_LANES_FUNCTION sl_i32s sl_i32s_load(const int32_t *p, uint32_t count) {
  if (count >= LANES) return i32x8_load(p);
  return (i32x8)u32x8_gather((const uint32_t *)p, i32x8_min(sl_i32s_from(0), i32x8_of((int32_t)count - 1)));
}
SL_LANES_FUNCTION sl_f32s sl_f32s_load(const float *p, uint32_t count) {
  if (count >= LANES) return f32x8_load(p);
  return f32x8_gather(p, i32x8_min(sl_i32s_from(0), i32x8_of((int32_t)count - 1)));
}
/* Stores the first `count` lanes, at least one, from p onwards. */
SL_LANES_FUNCTION void sl_i32s_store(int32_t *p, sl_i32s v, uint32_t count) {
  if (count >= LANES)
    i32x8_store(p, v);
  else
    for (uint32_t j = 0; j < count; j++) p[j] = v[j];
}
SL_LANES_FUNCTION void sl_f32s_store(float *p, sl_f32s v, uint32_t count) {
  if (count >= LANES)
    f32x8_store(p, v);
  else
    for (uint32_t j = 0; j < count; j++) p[j] = v[j];
}

/* p[at]. An array of u16 must belong to a table or a field, so that its length is even. */
SL_LANES_FUNCTION sl_f32s sl_f32s_gather(const float *p, sl_i32s at) { return f32x8_gather(p, at); }
SL_LANES_FUNCTION sl_i32s sl_i32s_gather(const uint32_t *p, sl_i32s at) { return (i32x8)u32x8_gather(p, at); }
SL_LANES_FUNCTION sl_i32s sl_u16s_gather(const uint16_t *p, sl_i32s at) {
#if defined(__AVX2__)
  const u32x8 twos = (u32x8)_mm256_i32gather_epi32((const int *)(const void *)p, (__m256i)(at >> 1), 4);
  return (i32x8)(twos >> (u32x8)((at & 1) << 4) & 0xFFFF);
#else
  return (i32x8){p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]};
#endif
}

/* p[at] and p[at + 1]. */
SL_LANES_FUNCTION void sl_u16s_gather_two(const uint16_t *p, sl_i32s at, sl_i32s *first, sl_i32s *second) {
#if defined(__AVX2__)
  const u32x8 twos = (u32x8)_mm256_i32gather_epi32((const int *)(const void *)p, (__m256i)at, 2);
  *first = (i32x8)(twos & 0xFFFF);
  *second = (i32x8)(twos >> 16);
#else
  *first = sl_u16s_gather(p, at);
  *second = sl_u16s_gather(p, at + 1);
#endif
}

/* if_true where the mask is -1, if_false where it is 0. */
SL_LANES_FUNCTION sl_f32s sl_f32s_select(sl_i32s mask, sl_f32s if_true, sl_f32s if_false) {
  return f32x8_select(mask, if_true, if_false);
}
SL_LANES_FUNCTION sl_i32s sl_i32s_select(sl_i32s mask, sl_i32s if_true, sl_i32s if_false) {
  return i32x8_select(mask, if_true, if_false);
}
/* p[if_true] or p[if_false]; these two values are shared by all lanes. */
SL_LANES_FUNCTION sl_f32s sl_f32s_either(sl_i32s mask, const float *p, uint32_t if_true, uint32_t if_false) {
  return f32x8_select(mask, f32x8_of(p[if_true]), f32x8_of(p[if_false]));
}
SL_LANES_FUNCTION sl_i32s sl_i32s_min(sl_i32s a, sl_i32s b) { return i32x8_min(a, b); }
SL_LANES_FUNCTION sl_i32s sl_i32s_max(sl_i32s a, sl_i32s b) { return i32x8_max(a, b); }
SL_LANES_FUNCTION sl_f32s sl_f32s_min(sl_f32s a, sl_f32s b) { return f32x8_min(a, b); }
SL_LANES_FUNCTION sl_f32s sl_f32s_max(sl_f32s a, sl_f32s b) { return f32x8_max(a, b); }
SL_LANES_FUNCTION sl_f32s sl_f32s_abs(sl_f32s v) { return (f32x8)((i32x8)v & INT32_MAX); }
SL_LANES_FUNCTION sl_f32s sl_f32s_sqrt(sl_f32s v) {
  for (uint32_t j = 0; j < LANES; j++) v[j] = sqrtf(v[j]);
  return v;
}
/* Truncates towards zero; the values must be in the range of int32_t. */
SL_LANES_FUNCTION sl_i32s sl_i32s_truncated(sl_f32s v) { return __builtin_convertvector(v, i32x8); }

/* sl_lanes_any: 1 if any lane of this thread's mask is set. sl_lanes_bits: one bit per set lane, at the lane's number
 * in the group of eight. */
SL_LANES_FUNCTION uint32_t sl_lanes_any(sl_i32s mask) { return i32x8_bits(mask) != 0 ? 1u : 0u; }
SL_LANES_FUNCTION uint32_t sl_lanes_bits(sl_i32s mask) { return i32x8_bits(mask); }
SL_LANES_FUNCTION uint32_t sl_lanes_max(sl_i32s v) {
  v = i32x8_max(v, LANES_SWAPPED_4(v));
  v = i32x8_max(v, LANES_SWAPPED_2(v));
  v = i32x8_max(v, LANES_SWAPPED_1(v));
  return (uint32_t)v[0];
}
#else
enum { SL_LANES = 1 };
typedef float sl_f32s;
typedef int32_t sl_i32s;
#define SL_LANES_FUNCTION   static SL_DEVICE
#define SL_MASK(comparison) (-(int32_t)(comparison))

SL_LANES_FUNCTION sl_f32s sl_f32s_of(float x) { return x; }
SL_LANES_FUNCTION sl_i32s sl_i32s_of(uint32_t x) { return (int32_t)x; }
SL_LANES_FUNCTION sl_i32s sl_i32s_from(uint32_t first) { return (int32_t)first; }
SL_LANES_FUNCTION sl_f32s sl_f32s_in(const float *array) { return *array; }
SL_LANES_FUNCTION sl_i32s sl_i32s_in(const int32_t *array) { return *array; }
SL_LANES_FUNCTION void sl_f32s_out(float *array, sl_f32s v) { *array = v; }
SL_LANES_FUNCTION void sl_i32s_out(int32_t *array, sl_i32s v) { *array = v; }
SL_LANES_FUNCTION sl_i32s sl_i32s_load(const int32_t *p, uint32_t count) { return (void)count, *p; }
SL_LANES_FUNCTION sl_f32s sl_f32s_load(const float *p, uint32_t count) { return (void)count, *p; }
SL_LANES_FUNCTION void sl_i32s_store(int32_t *p, sl_i32s v, uint32_t count) { (void)count, *p = v; }
SL_LANES_FUNCTION void sl_f32s_store(float *p, sl_f32s v, uint32_t count) { (void)count, *p = v; }
SL_LANES_FUNCTION sl_f32s sl_f32s_gather(const float *p, sl_i32s at) { return p[(uint32_t)at]; }
SL_LANES_FUNCTION sl_i32s sl_i32s_gather(const uint32_t *p, sl_i32s at) { return (int32_t)p[(uint32_t)at]; }
SL_LANES_FUNCTION sl_i32s sl_u16s_gather(const uint16_t *p, sl_i32s at) { return p[(uint32_t)at]; }
SL_LANES_FUNCTION void sl_u16s_gather_two(const uint16_t *p, sl_i32s at, sl_i32s *first, sl_i32s *second) {
  *first = p[(uint32_t)at];
  *second = p[(uint32_t)at + 1];
}
SL_LANES_FUNCTION sl_f32s sl_f32s_select(sl_i32s mask, sl_f32s if_true, sl_f32s if_false) {
  return mask ? if_true : if_false;
}
SL_LANES_FUNCTION sl_i32s sl_i32s_select(sl_i32s mask, sl_i32s if_true, sl_i32s if_false) {
  return mask ? if_true : if_false;
}
SL_LANES_FUNCTION sl_f32s sl_f32s_either(sl_i32s mask, const float *p, uint32_t if_true, uint32_t if_false) {
  return p[mask ? if_true : if_false];
}
SL_LANES_FUNCTION sl_i32s sl_i32s_min(sl_i32s a, sl_i32s b) { return a < b ? a : b; }
SL_LANES_FUNCTION sl_i32s sl_i32s_max(sl_i32s a, sl_i32s b) { return a > b ? a : b; }
SL_LANES_FUNCTION sl_f32s sl_f32s_min(sl_f32s a, sl_f32s b) { return a < b ? a : b; }
SL_LANES_FUNCTION sl_f32s sl_f32s_max(sl_f32s a, sl_f32s b) { return a > b ? a : b; }
SL_LANES_FUNCTION sl_f32s sl_f32s_abs(sl_f32s v) { return sl_abs_f32(v); }
SL_LANES_FUNCTION sl_f32s sl_f32s_sqrt(sl_f32s v) { return sqrtf(v); }
SL_LANES_FUNCTION sl_i32s sl_i32s_truncated(sl_f32s v) { return sl_to_i32(v); }
SL_LANES_FUNCTION uint32_t sl_lanes_any(sl_i32s mask) { return mask != 0 ? 1u : 0u; }
SL_LANES_FUNCTION uint32_t sl_lanes_bits(sl_i32s mask) { return (uint32_t)mask & 1u << sl_group_lane(8); }
SL_LANES_FUNCTION uint32_t sl_lanes_max(sl_i32s v) { return (uint32_t)v; }
#endif

/* Number of lanes with an item, for `left` remaining items. */
SL_LANES_FUNCTION uint32_t sl_lane_count(uint32_t left) { return left < SL_LANES ? left : (uint32_t)SL_LANES; }

SL_LANES_FUNCTION sl_i32s sl_i32s_clamp(sl_i32s v, sl_i32s low, sl_i32s high) {
  return sl_i32s_min(sl_i32s_max(v, low), high);
}

/* A search, lane by lane: ascending values in [first, end) and a limit. If a lane has no values, the value at `first`
 * must still be readable, if any lane of the searches has values. */
struct sl_bisection {
  sl_i32s first, end;
  sl_f32s limit;
};
SL_LANES_FUNCTION struct sl_bisection sl_bisection_of(sl_i32s first, sl_i32s count, sl_f32s limit) {
  struct sl_bisection s;
  s.first = first;
  s.end = first + count;
  s.limit = limit;
  return s;
}

/* For each of `count` searches in `values`: the index of the first value that is not below the limit or, if the
 * search's bit in `above` is set, of the first value above the limit; `end` if there is none. All searches advance
 * together, so that their loads overlap. `count`, at most SL_BISECTIONS, and `above` must be known to the compiler. */
enum { SL_BISECTIONS = 16 };
#if defined(SL_TARGET_CPU)
#define SL_EACH_BISECTION_ _Pragma("GCC unroll 16")
#else
#define SL_EACH_BISECTION_ SL_UNROLL
#endif
SL_LANES_FUNCTION void sl_bisect(const float *values, const struct sl_bisection *searches, const uint32_t count,
                                 const uint32_t above, sl_i32s *found) {
  sl_i32s most = sl_i32s_of(0);
  SL_EACH_BISECTION_ for (uint32_t k = 0; k < count; k++) {
    found[k] = searches[k].first;
    most = sl_i32s_max(most, searches[k].end - searches[k].first);
  }
  const uint32_t longest = sl_lanes_max(most);
  uint32_t step = 1;
  if (longest == 0) return;
  while (2 * step <= longest) step *= 2;
  for (; step > 0; step /= 2) {
    sl_i32s to[SL_BISECTIONS];
    sl_f32s before[SL_BISECTIONS];
    SL_EACH_BISECTION_ for (uint32_t k = 0; k < count; k++) { /* steps are clipped at the end */
      to[k] = sl_i32s_min(found[k] + sl_i32s_of(step), searches[k].end);
      before[k] = sl_f32s_gather(values, sl_i32s_max(to[k] - 1, searches[k].first));
    }
    SL_EACH_BISECTION_ for (uint32_t k = 0; k < count; k++) {
      const sl_i32s is_before =
          above >> k & 1 ? SL_MASK(before[k] <= searches[k].limit) : SL_MASK(before[k] < searches[k].limit);
      found[k] = sl_i32s_select(is_before, to[k], found[k]);
    }
  }
}

/* Index of the first value of [begin, end) that is not below the limit, or `end`. The range is the same for all lanes,
 * and short: on cpu each value is compared with all limits; elsewhere bisection. */
SL_LANES_FUNCTION sl_i32s sl_lower_bound(const float *values, uint32_t begin, uint32_t end, sl_f32s limit) {
#if defined(SL_TARGET_CPU)
  sl_i32s found = sl_i32s_of(begin);
  for (uint32_t i = begin; i < end; i++) found -= SL_MASK(values[i] < limit);
  return found;
#else
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (values[middle] < limit)
      begin = middle + 1;
    else
      end = middle;
  }
  return sl_i32s_of(begin);
#endif
}

#if defined(SL_TARGET_CPU)
#pragma GCC diagnostic pop
#endif

#endif
