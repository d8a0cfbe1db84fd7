/* kernel_cpu.h: kernels as plain C, with one thread per block and one block per grid. Included by kernel.h only. */
#ifndef SLUICE_KERNEL_CPU_H
#define SLUICE_KERNEL_CPU_H

#define SL_DEVICE inline SL_UNUSED
/* `name`_with_shared_ runs the kernel with shared memory on the stack, where `__shared__` variables are too. */
#define SL_KERNEL(name, args_type)                                                                                \
  static void name(const args_type a);                                                                            \
  static SL_UNUSED __attribute__((noinline)) void name##_with_shared_(const args_type *sl_args, uint32_t bytes) { \
    sl_shared = __builtin_alloca_with_align(bytes, 8 * SL_SHARED_ALIGNMENT_);                                     \
    name(*sl_args);                                                                                               \
    sl_shared = NULL;                                                                                             \
  }                                                                                                               \
  static void name(const args_type a)
/* Launches a kernel with its arguments, from an algorithm's `run`. Evaluates to 0 or an error. */
#define SL_LAUNCH(l, kernel, grid, args)                                                   \
  __extension__({                                                                          \
    const uint32_t sl_bytes = (grid).shared_bytes;                                         \
    const int sl_launched = sl_shared_check_(l, #kernel, sl_bytes, (l)->shared_bytes_max); \
    if (sl_launched == SL_OK && sl_bytes) {                                                \
      const __typeof__(args) sl_args = (args);                                             \
      kernel##_with_shared_(&sl_args, sl_bytes);                                           \
    } else if (sl_launched == SL_OK) {                                                     \
      kernel(args);                                                                        \
    }                                                                                      \
    sl_launched;                                                                           \
  })

enum { SL_SHARED_ALIGNMENT_ = 64 };
static _Thread_local void *sl_shared SL_UNUSED; /* while a kernel with shared memory runs */
static SL_DEVICE void *sl_shared_memory(void) { return sl_shared; }

struct sl_dim3 {
  uint32_t x;
};
static const struct sl_dim3 threadIdx SL_UNUSED = {0}, blockDim SL_UNUSED = {1};
static const struct sl_dim3 blockIdx SL_UNUSED = {0}, gridDim SL_UNUSED = {1};

#define __shared__
#define __syncthreads() ((void)0)
#define __restrict__ restrict
#define SL_UNROLL
#define SL_ROLLED

typedef uint64_t sl_atomic_u64;
#define SL_ATOMIC_(p, v, expression)                       \
  __extension__({                                          \
    __typeof__(p) sl_p = (p);                              \
    const __typeof__(*sl_p) sl_v = (__typeof__(*sl_p))(v); \
    const __typeof__(*sl_p) sl_old = *sl_p;                \
    *sl_p = (__typeof__(*sl_p))(expression);               \
    sl_old;                                                \
  })
#define atomicAdd(p, v)  SL_ATOMIC_(p, v, sl_old + sl_v)
#define atomicSub(p, v)  SL_ATOMIC_(p, v, sl_old - sl_v)
#define atomicOr(p, v)   SL_ATOMIC_(p, v, sl_old | sl_v)
#define atomicAnd(p, v)  SL_ATOMIC_(p, v, sl_old &sl_v)
#define atomicMax(p, v)  SL_ATOMIC_(p, v, sl_old > sl_v ? sl_old : sl_v)
#define atomicMin(p, v)  SL_ATOMIC_(p, v, sl_old < sl_v ? sl_old : sl_v)
#define atomicExch(p, v) SL_ATOMIC_(p, v, sl_v)

/* A block has one warp of one thread. */
static SL_DEVICE uint32_t sl_block_warps(void) { return 1; }
static SL_DEVICE uint32_t sl_warp_index(void) { return 0; }
static SL_DEVICE uint32_t sl_warp_lane(void) { return 0; }
static SL_DEVICE uint32_t sl_warp_lanes(void) { return 1; }
static SL_DEVICE void sl_warp_sync(void) {}
static SL_DEVICE uint32_t sl_warp_any(uint32_t predicate) { return predicate ? 1u : 0u; }
static SL_DEVICE uint32_t sl_warp_get_u32(uint32_t value, uint32_t lane) {
  (void)lane;
  return value;
}
static SL_DEVICE uint32_t sl_warp_any_needed(uint32_t is_needed) { return sl_warp_any(is_needed); }
static SL_DEVICE uint32_t sl_warp_exclusive_scan(uint32_t value) {
  (void)value;
  return 0;
}

/* Returns the sum of the values of all threads before this one; *total gets the sum over the block. */
static SL_DEVICE uint32_t sl_block_exclusive_scan(uint32_t value, uint32_t *total) {
  *total = value;
  return 0;
}

/* sl_block_exclusive_scan for 64 bits. */
static SL_DEVICE int64_t sl_block_exclusive_scan_i64(int64_t value, int64_t *total) {
  *total = value;
  return 0;
}

/* Returns the largest value of all threads before this one, or 0; *total gets the largest value of the block. */
static SL_DEVICE uint32_t sl_block_exclusive_max_u32(uint32_t value, uint32_t *total) {
  *total = value;
  return 0;
}

static SL_DEVICE uint32_t sl_block_sum_u32(uint32_t value) { return value; }
static SL_DEVICE int64_t sl_block_sum_i64(int64_t value) { return value; }

/* Smallest key of the block: put the quantity in the high bits and an index that breaks ties in the low bits. */
static SL_DEVICE uint64_t sl_block_min_u64(uint64_t key) { return key; }

/* If `is_selected`, returns the index of this thread's entry in a list that has *length entries so far, in thread
 * order. *length grows by the number of threads with `is_selected`; each thread keeps its own copy of it. */
static SL_DEVICE uint32_t sl_block_append(uint32_t is_selected, uint32_t *length) {
  const uint32_t index = *length;
  *length += is_selected ? 1u : 0u;
  return index;
}

/* sl_block_append for a list of one warp. */
static SL_DEVICE uint32_t sl_warp_append(uint32_t is_selected, uint32_t *length) {
  return sl_block_append(is_selected, length);
}

/* Returns the number of contiguous lists that begin at or before this thread's position. */
static SL_DEVICE uint32_t sl_warp_list_index(uint32_t start, uint32_t *begun) {
  *begun += start == 0 ? 1u : 0u;
  return *begun;
}

static SL_DEVICE void sl_warp_sort_u32(uint32_t *key, uint32_t rows) {
  for (uint32_t i = 1; i < rows; i++) {
    const uint32_t next = key[i];
    uint32_t index = i;
    for (; index > 0 && next < key[index - 1]; index--) key[index] = key[index - 1];
    key[index] = next;
  }
}

#define SL_GROUP(threads) ((void)(threads), 1u)
static SL_DEVICE uint32_t sl_group_lane(uint32_t threads) { return (void)threads, 0; }
static SL_DEVICE uint32_t sl_group_any(uint32_t predicate, uint32_t threads) {
  return (void)threads, predicate ? 1u : 0u;
}
static SL_DEVICE uint32_t sl_group_sum_u32(uint32_t value, uint32_t threads) { return (void)threads, value; }
static SL_DEVICE uint32_t sl_group_max_u32(uint32_t value, uint32_t threads) { return (void)threads, value; }
static SL_DEVICE uint64_t sl_group_min_u64(uint64_t key, uint32_t threads) { return (void)threads, key; }

static SL_DEVICE uint32_t sl_count_bits(uint64_t mask) { return (uint32_t)__builtin_popcountll(mask); }

struct sl_sum32 {
  float lane[32];
};

static SL_DEVICE struct sl_sum32 sl_sum32_zero(void) {
  struct sl_sum32 s = {{0}};
  return s;
}

#define SL_FOR_SUM32(i, n) for (uint32_t i = 0; i < (n); i++)

static SL_DEVICE void sl_sum32_add(struct sl_sum32 *s, uint32_t index, float value) { s->lane[index % 32] += value; }

/* The strides are written out so that compilers vectorise the loops. */
static SL_DEVICE float sl_sum32_total(struct sl_sum32 *s) {
  for (uint32_t j = 0; j < 16; j++) s->lane[j] += s->lane[j + 16];
  for (uint32_t j = 0; j < 8; j++) s->lane[j] += s->lane[j + 8];
  for (uint32_t j = 0; j < 4; j++) s->lane[j] += s->lane[j + 4];
  return s->lane[0] + s->lane[2] + (s->lane[1] + s->lane[3]);
}

/* sl_sum32 in double precision. */
struct sl_sum64 {
  double lane[32];
};

static SL_DEVICE struct sl_sum64 sl_sum64_zero(void) {
  struct sl_sum64 s = {{0}};
  return s;
}

static SL_DEVICE void sl_sum64_add(struct sl_sum64 *s, uint32_t index, double value) { s->lane[index % 32] += value; }

static SL_DEVICE double sl_sum64_total(struct sl_sum64 *s) {
  for (uint32_t j = 0; j < 16; j++) s->lane[j] += s->lane[j + 16];
  for (uint32_t j = 0; j < 8; j++) s->lane[j] += s->lane[j + 8];
  for (uint32_t j = 0; j < 4; j++) s->lane[j] += s->lane[j + 4];
  return s->lane[0] + s->lane[2] + (s->lane[1] + s->lane[3]);
}

static SL_DEVICE double sl_group_sum64_total(struct sl_sum64 *s) { return sl_sum64_total(s); }

#define SL_LANES32                  32
#define SL_LANE32(j)                (j)
#define SL_FOR_LANES32_OF(j, count) for (uint32_t j = 0, sl_end_##j = sl_lanes32(count); j < sl_end_##j; j++)
/* sl_sum32_add for an index below 32. */
static SL_DEVICE void sl_sum32_add_lane(struct sl_sum32 *s, uint32_t j, float value) { s->lane[j] += value; }
static SL_DEVICE uint32_t sl_lanes32(uint32_t count) { return count < 32 ? (count + 7) / 8 * 8 : 32; }

static SL_DEVICE float sl_group_sum32_total(struct sl_sum32 *s) { return sl_sum32_total(s); }
static SL_DEVICE void sl_group_sum32_totals(struct sl_sum32 *s, uint32_t count, float *totals) {
  for (uint32_t k = 0; k < count; k++) totals[k] = sl_sum32_total(&s[k]);
}

#endif
