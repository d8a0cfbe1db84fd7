/* kernel_block.h: the collectives of kernel.h for blocks of many threads: simt, cuda, hip. Included by the target's
 * header, which defines, for warps of 32 or 64 threads:
 *
 *   sl_warp_size()                                 32 or 64
 *   sl_warp_shuffle_up_u32(value, delta)           value of the lane `delta` below; the own value if there is none
 *   sl_warp_shuffle_down_u32/_u64/_f32             value of the lane `delta` above; undefined if there is none
 *   sl_warp_shuffle_xor_u32/_u64/_f32(value, mask) value of the lane with number (own number XOR `mask`)
 *   sl_warp_shuffle_f32(value, lane)               value of lane `lane`
 *   sl_warp_get_u32(value, lane)                   value of lane `lane`
 *   sl_warp_ballot(predicate)                      uint64_t with one bit per lane
 *   sl_warp_any(predicate)                         1 if the predicate is nonzero in any lane, else 0
 *   sl_warp_sync()                                 barrier of the warp
 *   sl_count_bits(mask)                            number of bits set in a uint64_t
 *
 * Blocks have a multiple of 32 threads, up to 1024. With warps of 64, the last warp may have only 32.
 *
 * Each collective works within the warps and writes one value per warp to shared memory; after a barrier, every thread
 * combines these values. A second barrier releases the shared memory for the next collective. Therefore each collective
 * is also a barrier for its callers. Common subset of C11 and CUDA C++.
 */
#ifndef SLUICE_KERNEL_BLOCK_H
#define SLUICE_KERNEL_BLOCK_H

enum { SL_BLOCK_MAX_WARPS = 1024 / 32 };

#define SL_LESSER_(a, b)  ((b) < (a) ? (b) : (a))
#define SL_GREATER_(a, b) ((a) < (b) ? (b) : (a))

static SL_DEVICE uint32_t sl_warp_index(void) { return threadIdx.x / sl_warp_size(); }
static SL_DEVICE uint32_t sl_block_warps(void) { return (blockDim.x + sl_warp_size() - 1) / sl_warp_size(); }

/* Index of this thread in its warp; number of threads of the warp. */
#if defined(SL_KNOWN_LANES_)
static SL_DEVICE uint32_t sl_warp_lane(void) { return threadIdx.x % SL_KNOWN_LANES_; }
static SL_DEVICE uint32_t sl_warp_lanes(void) { return SL_KNOWN_LANES_; }
#else
static SL_DEVICE uint32_t sl_warp_lane(void) { return threadIdx.x % sl_warp_size(); }
static SL_DEVICE uint32_t sl_warp_lanes(void) {
  const uint32_t rest = blockDim.x - sl_warp_index() * sl_warp_size();
  return rest < sl_warp_size() ? rest : sl_warp_size();
}
#endif

/* Returns the sum of `warp_sum` over the warps before this one; *total gets the sum over all warps. The last lane of
 * each warp provides its sum. */
static SL_DEVICE uint32_t sl_block_scan_warps(uint32_t warp_sum, uint32_t *total) {
  __shared__ uint32_t sums[SL_BLOCK_MAX_WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps();
  uint32_t before = 0, sum = 0;
  if (sl_warp_lane() == sl_warp_lanes() - 1) sums[warp] = warp_sum;
  __syncthreads();
  for (uint32_t w = 0; w < warps; w++) {
    if (w == warp) before = sum;
    sum += sums[w];
  }
  __syncthreads();
  *total = sum;
  return before;
}

/* Returns the sum of the values of the lanes before this one. */
static SL_DEVICE uint32_t sl_warp_exclusive_scan(uint32_t value) {
  uint32_t sum = value; /* inclusive: lanes up to this one */
  for (uint32_t delta = 1; delta < sl_warp_lanes(); delta *= 2) {
    const uint32_t other = sl_warp_shuffle_up_u32(sum, delta);
    if (sl_warp_lane() >= delta) sum += other;
  }
  return sum - value;
}

/* Returns the sum of the values of all threads before this one; *total gets the sum over the block. */
static SL_DEVICE uint32_t sl_block_exclusive_scan(uint32_t value, uint32_t *total) {
  const uint32_t before = sl_warp_exclusive_scan(value);
  return sl_block_scan_warps(before + value, total) + before;
}

/* sl_block_exclusive_scan for 64 bits. */
static SL_DEVICE int64_t sl_block_exclusive_scan_i64(int64_t value, int64_t *total) {
  __shared__ uint64_t sums[SL_BLOCK_MAX_WARPS];
  uint64_t up_to = (uint64_t)value, before = 0, sum = 0; /* modulo 2^64 */
  for (uint32_t delta = 1; delta < sl_warp_lanes(); delta *= 2) {
    const uint64_t other = sl_warp_shuffle_up_u64(up_to, delta);
    if (sl_warp_lane() >= delta) up_to += other;
  }
  if (sl_warp_lane() == sl_warp_lanes() - 1) sums[sl_warp_index()] = up_to;
  __syncthreads();
  for (uint32_t w = 0; w < sl_block_warps(); w++) {
    if (w == sl_warp_index()) before = sum;
    sum += sums[w];
  }
  __syncthreads();
  *total = (int64_t)sum;
  return (int64_t)(before + up_to - (uint64_t)value);
}

/* Returns the largest value of all threads before this one, or 0; *total gets the largest value of the block. */
static SL_DEVICE uint32_t sl_block_exclusive_max_u32(uint32_t value, uint32_t *total) {
  __shared__ uint32_t of_warp[SL_BLOCK_MAX_WARPS];
  const uint32_t lane = sl_warp_lane(), warp = sl_warp_index(), warps = sl_block_warps();
  uint32_t largest = value; /* of the lanes up to this one, later of the block */
  for (uint32_t delta = 1; delta < sl_warp_lanes(); delta *= 2) {
    const uint32_t other = sl_warp_shuffle_up_u32(largest, delta);
    if (lane >= delta && other > largest) largest = other;
  }
  const uint32_t below = sl_warp_shuffle_up_u32(largest, 1);
  uint32_t before = lane > 0 ? below : 0;
  if (lane == sl_warp_lanes() - 1) of_warp[warp] = largest;
  __syncthreads();
  largest = 0;
  for (uint32_t w = 0; w < warps; w++) {
    if (w == warp && largest > before) before = largest;
    if (of_warp[w] > largest) largest = of_warp[w];
  }
  __syncthreads();
  *total = largest;
  return before;
}

/* If `is_selected`, returns the index of this thread's entry in a list that has *length entries so far, in thread
 * order. *length grows by the number of threads with `is_selected`; each thread keeps its own copy of it. */
static SL_DEVICE uint32_t sl_block_append(uint32_t is_selected, uint32_t *length) {
  const uint64_t mask = sl_warp_ballot(is_selected);
  const uint32_t before = sl_count_bits(mask & (((uint64_t)1 << sl_warp_lane()) - 1));
  uint32_t total;
  const uint32_t index = *length + before + sl_block_scan_warps(sl_count_bits(mask), &total);
  *length += total;
  return index;
}

/* sl_block_append for a list of one warp; shares nothing with the block's other warps. */
static SL_DEVICE uint32_t sl_warp_append(uint32_t is_selected, uint32_t *length) {
  const uint64_t mask = sl_warp_ballot(is_selected);
  const uint32_t index = *length + sl_count_bits(mask & (((uint64_t)1 << sl_warp_lane()) - 1));
  *length += sl_count_bits(mask);
  return index;
}

/* Returns a mask of the lanes named by `lane` in any thread. Threads name different lanes; a number that is not a lane
 * of the warp names none. */
static SL_DEVICE uint64_t sl_warp_named_(uint32_t lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(0xFFFFFFFFu, __funnelshift_lc(0, 1, lane)); /* 0 if lane >= 32 */
#else
  uint64_t named = lane < sl_warp_lanes() ? (uint64_t)1 << lane : 0;
  for (uint32_t mask = 1; mask < sl_warp_lanes(); mask *= 2) named |= sl_warp_shuffle_xor_u64(named, mask);
  return named;
#endif
}

/* Returns the number of contiguous lists that begin at or before this lane's position. *begun: lists that began before
 * the warp's first position; the lists that begin within the warp are added. `start`: first position of this lane's
 * list. */
static SL_DEVICE uint32_t sl_warp_list_index(uint32_t start, uint32_t *begun) {
  const uint64_t named = sl_warp_named_(start);
  const uint32_t count = *begun + sl_count_bits(named & (((uint64_t)2 << sl_warp_lane()) - 1));
  *begun += sl_count_bits(named);
  return count;
}

/* Compares and exchanges keys with the lane that has number (own number XOR `mask`): with the same row or, if
 * is_mirrored, with row rows - 1 - r. */
static SL_DEVICE void sl_sort_compare_lanes_(uint32_t *key, const uint32_t rows, uint32_t mask, uint32_t is_mirrored) {
  const uint32_t is_upper = (sl_warp_lane() ^ mask) < sl_warp_lane() ? 1u : 0u;
  uint32_t other[SL_SORT_ROWS];
  SL_UNROLL
  for (uint32_t r = 0; r < rows; r++) other[r] = sl_warp_shuffle_xor_u32(key[is_mirrored ? rows - 1 - r : r], mask);
  SL_UNROLL
  for (uint32_t r = 0; r < rows; r++) key[r] = is_upper ? SL_GREATER_(key[r], other[r]) : SL_LESSER_(other[r], key[r]);
}

/* Compares and exchanges keys of one lane: row r with row r + distance or, if is_mirrored, with the mirrored row of its
 * block of 2 * distance rows. */
static SL_DEVICE void sl_sort_compare_rows_(uint32_t *key, const uint32_t rows, const uint32_t distance,
                                            uint32_t is_mirrored) {
  SL_UNROLL
  for (uint32_t begin = 0; begin < rows; begin += 2 * distance) {
    SL_UNROLL
    for (uint32_t r = begin; r < begin + distance; r++) {
      const uint32_t other_row = is_mirrored ? 2 * (begin + distance) - 1 - r : r + distance;
      const uint32_t a = key[r], b = key[other_row];
      key[r] = SL_LESSER_(b, a);
      key[other_row] = SL_GREATER_(a, b);
    }
  }
}

/* Sorts the keys of the warp, `rows` per thread: key `lane * rows + r` ends in row r of the lane. Bitonic sort in which
 * all comparisons have the same direction, because each merge begins with the second half mirrored. */
static SL_DEVICE void sl_warp_sort_u32(uint32_t *key, const uint32_t rows) {
  SL_UNROLL
  for (uint32_t half = 1; half < rows; half *= 2) {
    sl_sort_compare_rows_(key, rows, half, 1);
    SL_UNROLL
    for (uint32_t distance = half / 2; distance > 0; distance /= 2) sl_sort_compare_rows_(key, rows, distance, 0);
  }
  SL_UNROLL
  for (uint32_t lanes = 2; lanes <= sl_warp_lanes(); lanes *= 2) {
    sl_sort_compare_lanes_(key, rows, lanes - 1, 1);
    SL_UNROLL
    for (uint32_t mask = lanes / 4; mask > 0; mask /= 2) sl_sort_compare_lanes_(key, rows, mask, 0);
    SL_UNROLL
    for (uint32_t distance = rows / 2; distance > 0; distance /= 2) sl_sort_compare_rows_(key, rows, distance, 0);
  }
}

/* Returns 1 if any thread of the warp needs a collective of the warp. */
static SL_DEVICE uint32_t sl_warp_any_needed(uint32_t is_needed) { return sl_warp_any(is_needed); }

#define SL_GROUP(threads) (threads)
static SL_DEVICE uint32_t sl_group_lane(uint32_t threads) { return threadIdx.x % threads; }

/* Returns 1 if the predicate is nonzero in any thread of the group, else 0. */
static SL_DEVICE uint32_t sl_group_any(uint32_t predicate, uint32_t threads) {
#if defined(SL_KNOWN_LANES_)
  if (threads == SL_KNOWN_LANES_) return sl_warp_any(predicate);
#endif
  const uint32_t first = sl_warp_lane() / threads * threads;
  return (sl_warp_ballot(predicate) >> first & (((uint64_t)1 << threads) - 1)) != 0 ? 1u : 0u;
}

static SL_DEVICE uint32_t sl_group_sum_u32(uint32_t value, uint32_t threads) {
  for (uint32_t mask = threads / 2; mask > 0; mask /= 2) value += sl_warp_shuffle_xor_u32(value, mask);
  return value;
}

static SL_DEVICE uint32_t sl_group_max_u32(uint32_t value, uint32_t threads) {
  for (uint32_t mask = threads / 2; mask > 0; mask /= 2) {
    const uint32_t other = sl_warp_shuffle_xor_u32(value, mask);
    value = other > value ? other : value;
  }
  return value;
}

static SL_DEVICE uint64_t sl_group_min_u64(uint64_t key, uint32_t threads) {
  for (uint32_t mask = threads / 2; mask > 0; mask /= 2) {
    const uint64_t other = sl_warp_shuffle_xor_u64(key, mask);
    key = other < key ? other : key;
  }
  return key;
}

/* Combines the values of all threads with a commutative, associative operation. */
#define SL_BLOCK_REDUCE_(name, type, shuffle_down, combine)                                  \
  static SL_DEVICE type name(type value) {                                                   \
    __shared__ type of_warp[SL_BLOCK_MAX_WARPS];                                             \
    const uint32_t lane = sl_warp_lane(), lanes = sl_warp_lanes(), warps = sl_block_warps(); \
    for (uint32_t delta = sl_warp_size() / 2; delta > 0; delta /= 2) {                       \
      const type other = shuffle_down(value, delta);                                         \
      if (lane + delta < lanes) value = combine(value, other);                               \
    }                                                                                        \
    if (lane == 0) of_warp[sl_warp_index()] = value;                                         \
    __syncthreads();                                                                         \
    value = of_warp[0];                                                                      \
    for (uint32_t w = 1; w < warps; w++) value = combine(value, of_warp[w]);                 \
    __syncthreads();                                                                         \
    return value;                                                                            \
  }
#define SL_ADD_(a, b) ((a) + (b))
SL_BLOCK_REDUCE_(sl_block_sum_u32, uint32_t, sl_warp_shuffle_down_u32, SL_ADD_)
SL_BLOCK_REDUCE_(sl_block_sum_u64_, uint64_t, sl_warp_shuffle_down_u64, SL_ADD_)
/* Smallest key of the block: put the quantity in the high bits and an index that breaks ties in the low bits. */
SL_BLOCK_REDUCE_(sl_block_min_u64, uint64_t, sl_warp_shuffle_down_u64, SL_LESSER_)

static SL_DEVICE int64_t sl_block_sum_i64(int64_t value) { return (int64_t)sl_block_sum_u64_((uint64_t)value); }

/* Thread t < 32 holds partial sum t. */
struct sl_sum32 {
  float lane;
};

static SL_DEVICE struct sl_sum32 sl_sum32_zero(void) {
  struct sl_sum32 s = {0.0f};
  return s;
}

#define SL_FOR_SUM32(i, n) for (uint32_t i = threadIdx.x; threadIdx.x < 32 && i < (n); i += 32)

/* The loop gives each thread only the indices of its own partial sum. */
static SL_DEVICE void sl_sum32_add(struct sl_sum32 *s, uint32_t index, float value) {
  (void)index;
  s->lane += value;
}

static SL_DEVICE float sl_sum32_total(const struct sl_sum32 *s) {
  __shared__ float of_block;
  float sum = s->lane;
  if (sl_warp_index() == 0) { /* uniform in the warp: the shuffles need all lanes */
    for (uint32_t stride = 16; stride > 0; stride /= 2) {
      const float other = sl_warp_shuffle_down_f32(sum, stride);
      if (threadIdx.x < stride) sum += other;
    }
  }
  if (threadIdx.x == 0) of_block = sum;
  __syncthreads();
  sum = of_block;
  __syncthreads();
  return sum;
}

/* sl_sum32 in double precision. */
struct sl_sum64 {
  double lane;
};

static SL_DEVICE struct sl_sum64 sl_sum64_zero(void) {
  struct sl_sum64 s = {0.0};
  return s;
}

static SL_DEVICE void sl_sum64_add(struct sl_sum64 *s, uint32_t index, double value) {
  (void)index;
  s->lane += value;
}

static SL_DEVICE double sl_sum64_total(const struct sl_sum64 *s) {
  __shared__ double of_block;
  double sum = s->lane;
  if (sl_warp_index() == 0) { /* uniform in the warp: the shuffles need all lanes */
    for (uint32_t stride = 16; stride > 0; stride /= 2) {
      const double other = sl_f64_from_bits(sl_warp_shuffle_down_u64(sl_bits_from_f64(sum), stride));
      if (threadIdx.x < stride) sum += other;
    }
  }
  if (threadIdx.x == 0) of_block = sum;
  __syncthreads();
  sum = of_block;
  __syncthreads();
  return sum;
}

static SL_DEVICE double sl_group_sum64_total(const struct sl_sum64 *s) {
  double sum = s->lane;
  for (uint32_t stride = 16; stride > 0; stride /= 2)
    sum += sl_f64_from_bits(sl_warp_shuffle_xor_u64(sl_bits_from_f64(sum), stride));
  return sum;
}

#define SL_LANES32                  1
#define SL_LANE32(j)                ((void)(j), 0)
#define SL_FOR_LANES32_OF(j, count) for (uint32_t j = sl_group_lane(32); j < 32 && j < (count); j += 32)
static SL_DEVICE void sl_sum32_add_lane(struct sl_sum32 *s, uint32_t j, float value) { sl_sum32_add(s, j, value); }
static SL_DEVICE uint32_t sl_lanes32(uint32_t count) { return count < 32 ? count : 32; }

/* Both lanes of an exchange add the same two numbers, so that all lanes get the result of the tree's lane 0. */
static SL_DEVICE float sl_group_sum32_total(const struct sl_sum32 *s) {
  float sum = s->lane;
  for (uint32_t stride = 16; stride > 0; stride /= 2) sum += sl_warp_shuffle_xor_f32(sum, stride);
  return sum;
}

/* Returns the lane of the group in which sl_group_sum32_totals leaves sum k of `count`. */
static SL_DEVICE uint32_t sl_sum32_lane_(uint32_t k, uint32_t count) {
  uint32_t lane = 0;
  SL_UNROLL
  for (uint32_t stride = 16; stride > 0; stride /= 2) {
    const uint32_t half = (count + 1) / 2;
    lane += k < half ? 0 : stride;
    k -= k < half ? 0 : half;
    count = half;
  }
  return lane;
}

/* Several sums at once, each with the tree of sl_group_sum32_total. At each stride a thread continues with half of the
 * sums and passes its values of the other half to its partner, which continues with those. `count` is known to the
 * compiler and at most 32. */
static SL_DEVICE void sl_group_sum32_totals(const struct sl_sum32 *s, const uint32_t count, float *totals) {
  uint32_t left = count;
  SL_UNROLL
  for (uint32_t k = 0; k < count; k++) totals[k] = s[k].lane;
  SL_UNROLL
  for (uint32_t stride = 16; stride > 0; stride /= 2) {
    const uint32_t half = (left + 1) / 2, is_upper = sl_warp_lane() & stride;
    SL_UNROLL
    for (uint32_t k = 0; k < count; k++) {
      if (k >= half) continue;
      const uint32_t other = k + half < left ? k + half : k; /* with an odd number, both partners keep the last one */
      const float own = totals[k], others = totals[other];
      totals[k] = (is_upper ? others : own) + sl_warp_shuffle_xor_f32(is_upper ? own : others, stride);
    }
    left = half;
  }
  const float last = totals[0];
  SL_UNROLL
  for (uint32_t k = 0; k < count; k++)
    totals[k] = sl_warp_shuffle_f32(last, sl_warp_lane() / 32 * 32 + sl_sum32_lane_(k, count));
}

#endif
