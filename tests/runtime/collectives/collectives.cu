/* collectives.cu: every block collective and every atomic of sluice/kernel.h, directly after each other. */
#include "collectives.h"

#include <sluice/kernel.h>

#define SL_ARGS collectives_args
static const struct sl_member collectives_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, collectives_numbers, "", "any"),
    SL_OUT(results, collectives_results, "one entry a number", SL_SHARES_OFFSETS(numbers)),
};
#undef SL_ARGS

struct sums {
  uint32_t prefix, kept, sum;
  int64_t signed_sum;
  uint64_t smallest;
  float weight;
  int64_t terms;
  double thirds;
};

/* Writes prefix and kept for an event. */
static SL_DEVICE struct sums reduce(const struct collectives_args *a, uint32_t first, uint32_t count) {
  const uint32_t *value = a->numbers.value + first;
  struct sums s = {0, 0, 0, 0, UINT64_MAX, 0.0f, 0, 0.0};
  SL_FOR_BLOCK (i, count) {
    const uint32_t mine = i < count ? value[i] : 0;
    const uint32_t wanted = i < count && mine % 3 == 0 ? 1u : 0u;
    uint32_t total;
    const uint32_t before = s.prefix + sl_block_exclusive_scan(mine, &total);
    const uint32_t place = sl_block_append(wanted, &s.kept);
    s.prefix += total;
    if (i < count) a->results.prefix[first + i] = before;
    if (wanted) a->results.kept[first + place] = i;
    int64_t terms;
    const int64_t terms_before = s.terms + sl_block_exclusive_scan_i64(i < count ? prefix_term(mine, i) : 0, &terms);
    s.terms += terms;
    if (i < count) a->results.prefix_i64[first + i] = terms_before;
    if (i < count) all_functions(a->numbers.weight[first + i], a->results.functions + FUNCTIONS * (size_t)(first + i));
    s.sum += mine;
    s.signed_sum += i % 2 ? -(int64_t)mine : (int64_t)mine;
    if (i < count && ((uint64_t)mine << 32 | i) < s.smallest) s.smallest = (uint64_t)mine << 32 | i;
  }
  s.sum = sl_block_sum_u32(s.sum);
  s.signed_sum = sl_block_sum_i64(s.signed_sum);
  s.smallest = sl_block_min_u64(s.smallest);
  struct sl_sum32 weights = sl_sum32_zero();
  SL_FOR_SUM32 (i, count) sl_sum32_add(&weights, i, a->numbers.weight[first + i]);
  s.weight = sl_sum32_total(&weights);
  struct sl_sum64 thirds = sl_sum64_zero();
  SL_FOR_SUM32 (i, count) sl_sum64_add(&thirds, i, third_of(a->numbers.weight[first + i]));
  s.thirds = sl_sum64_total(&thirds);
  return s;
}

/* 1 if the sum over this thread's group is that over the block. */
static SL_DEVICE uint32_t group_thirds_agree(const struct collectives_args *a, uint32_t first, uint32_t count,
                                             double sum) {
  struct sl_sum64 s = sl_sum64_zero();
  for (uint32_t base = 0; base < count; base += 32)
    SL_FOR_LANES32 (j) sl_sum64_add(&s, j, base + j < count ? third_of(a->numbers.weight[first + base + j]) : 0.0);
  return sl_group_sum64_total(&s) == sum ? 1u : 0u;
}

enum { SUMS = 11 };

/* Returns 1 if the sums of the weights over this thread's group, computed one by one and at once, have the expected
 * factors. Each group and each sum has a different factor, so that mixed groups are detected. Factors are powers of
 * two, so that sums are exact.
 */
static SL_DEVICE uint32_t group_weights_agree(const struct collectives_args *a, uint32_t first, uint32_t count,
                                              float sum) {
  const float factor = (float)(1u << threadIdx.x / SL_GROUP(32) % 8);
  struct sl_sum32 s[SUMS];
  float totals[SUMS];
  for (uint32_t k = 0; k < SUMS; k++) s[k] = sl_sum32_zero();
  for (uint32_t base = 0; base < count; base += 32)
    SL_FOR_LANES32 (j) {
      const float weight = base + j < count ? factor * a->numbers.weight[first + base + j] : 0.0f;
      for (uint32_t k = 0; k < SUMS; k++) sl_sum32_add(&s[k], j, (float)(1u << k) * weight);
    }
  struct sl_sum32 last = s[SUMS - 1]; /* on cpu, a total may be taken only once */
  sl_group_sum32_totals(s, SUMS, totals);
  uint32_t agrees = sl_group_sum32_total(&last) == totals[SUMS - 1] ? 1u : 0u;
  for (uint32_t k = 0; k < SUMS; k++) agrees &= totals[k] == (float)(1u << k) * factor * sum ? 1u : 0u;
  return agrees;
}

/* Some results in shared, some in global memory; all are independent of the order of threads. */
static SL_DEVICE void use_atomics(const struct collectives_args *a, uint32_t event, uint32_t first, uint32_t count) {
  __shared__ uint32_t shared[4];
  uint32_t *global = a->results.atomics + 7 * event;
  if (threadIdx.x == 0) {
    shared[0] = shared[1] = shared[2] = global[4] = global[6] = 0;
    shared[3] = UINT32_MAX;
    global[5] = UINT32_MAX;
  }
  __syncthreads();
  uint32_t exchanged = 0;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t value = a->numbers.value[first + i];
    atomicAdd(&shared[0], value);
    atomicSub(&shared[1], value);
    atomicOr(&shared[2], value);
    atomicAnd(&shared[3], value | 0xFFu);
    atomicMax(&global[4], value);
    atomicMin(&global[5], value);
    exchanged += atomicExch(&global[6], value); /* each value except the last is returned once */
  }
  exchanged = sl_block_sum_u32(exchanged);
  if (threadIdx.x == 0) {
    for (uint32_t i = 0; i < 4; i++) global[i] = shared[i];
    global[6] += exchanged;
  }
}

SL_KERNEL_ANY_BLOCK(collectives_all, struct collectives_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.numbers.offsets[event], count = a.numbers.offsets[event + 1] - first;
    const struct sums s = reduce(&a, first, count);
    if (threadIdx.x == 0) {
      a.results.kept_count[event] = s.kept;
      a.results.sum[event] = s.sum;
      a.results.signed_sum[event] = s.signed_sum;
      a.results.smallest[event] = s.smallest;
      a.results.weight_sum[event] = s.weight;
      a.results.weight_sum64[event] = s.thirds;
    }
    use_atomics(&a, event, first, count);
    const uint32_t weights_agree =
        group_weights_agree(&a, first, count, s.weight) & group_thirds_agree(&a, first, count, s.thirds);
    const uint32_t agrees = s.kept == a.results.kept_count[event] && s.sum == a.results.sum[event] &&
                            s.signed_sum == a.results.signed_sum[event] && s.smallest == a.results.smallest[event] &&
                            s.weight == a.results.weight_sum[event] && s.thirds == a.results.weight_sum64[event] &&
                            weights_agree;
    const uint32_t agreeing = sl_block_sum_u32(agrees);
    if (threadIdx.x == 0) a.results.agree[event] = agreeing == blockDim.x ? 1u : 0u;
  }
}

static int run(const struct sl_launch *l, const struct collectives_args *a) {
  return SL_LAUNCH(l, collectives_all, SL_PER_EVENT, *a);
}
SL_ALGORITHM(collectives, "every collective and every atomic", 64, run);
