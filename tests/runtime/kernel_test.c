/* kernel_test.c: the block functions of sluice/kernel.h, each compared with a serial reference, on target cpu. */
#include "kernel_cases.h"

/* ------------------------------------------------------------------------------------------- scan and sums */

struct scan_args {
  const uint32_t *values;
  uint32_t count;
  uint32_t *before; /* per value: the sum of the earlier values */
  uint32_t *total;
};

SL_KERNEL(scan_values, struct scan_args) {
  uint32_t base = 0;
  SL_FOR_BLOCK (i, a.count) {
    uint32_t total = 0;
    const uint32_t before = sl_block_exclusive_scan(i < a.count ? a.values[i] : 0, &total);
    if (i < a.count) a.before[i] = base + before;
    base += total;
  }
  if (threadIdx.x == 0) *a.total = base;
}

static void a_scan_gives_the_sum_of_the_earlier_values(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], before[VALUES_MAX];
  values_draw(values, 1);
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    uint32_t total = 77, expected = 0;
    const struct scan_args args = {values, counts[k], before, &total};
    assert_int_equal(SL_LAUNCH(&launch, scan_values, SL_PER_EVENT, args), SL_OK);
    for (uint32_t i = 0; i < counts[k]; i++) {
      assert_int_equal(before[i], expected);
      expected += values[i];
    }
    assert_int_equal(total, expected);
  }
}

SL_KERNEL(largest_before, struct scan_args) {
  uint32_t base = 0;
  SL_FOR_BLOCK (i, a.count) {
    uint32_t total = 0;
    const uint32_t before = sl_block_exclusive_max_u32(i < a.count ? a.values[i] : 0, &total);
    if (i < a.count) a.before[i] = before > base ? before : base;
    base = total > base ? total : base;
  }
  if (threadIdx.x == 0) *a.total = base;
}

static void a_running_maximum_covers_all_earlier_values(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], before[VALUES_MAX];
  values_draw(values, 8);
  for (uint32_t i = 0; i < VALUES_MAX; i++) values[i] = values[i] / VALUES_MAX + i; /* occasionally a new maximum */
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    uint32_t total = 77, expected = 0;
    const struct scan_args args = {values, counts[k], before, &total};
    assert_int_equal(SL_LAUNCH(&launch, largest_before, SL_PER_EVENT, args), SL_OK);
    for (uint32_t i = 0; i < counts[k]; i++) {
      assert_int_equal(before[i], expected);
      if (values[i] > expected) expected = values[i];
    }
    assert_int_equal(total, expected);
  }
}

struct reduce_args {
  const uint32_t *values;
  uint32_t count;
  uint32_t *sum;
  int64_t *signed_sum;
  uint64_t *least; /* value << 32 | index */
};

SL_KERNEL(reduce_values, struct reduce_args) {
  uint32_t sum = 0;
  int64_t signed_sum = 0;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = threadIdx.x; i < a.count; i += blockDim.x) {
    const uint64_t key = (uint64_t)a.values[i] << 32 | i;
    sum += a.values[i];
    signed_sum += i % 3 ? -((int64_t)a.values[i] << 20) : (int64_t)a.values[i] << 21;
    least = key < least ? key : least;
  }
  sum = sl_block_sum_u32(sum);
  signed_sum = sl_block_sum_i64(signed_sum);
  least = sl_block_min_u64(least);
  if (threadIdx.x != 0) return;
  *a.sum = sum;
  *a.signed_sum = signed_sum;
  *a.least = least;
}

static void sums_and_minima_cover_all_values(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX];
  values_draw(values, 2);
  values[40] = values[200] = values[900] = 0; /* a tie: the first index wins */
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    uint32_t sum = 77, expected_sum = 0;
    int64_t signed_sum = 77, expected_signed = 0;
    uint64_t least = 77, expected_least = UINT64_MAX;
    const struct reduce_args args = {values, counts[k], &sum, &signed_sum, &least};
    assert_int_equal(SL_LAUNCH(&launch, reduce_values, SL_PER_EVENT, args), SL_OK);
    for (uint32_t i = counts[k]; i-- > 0;) {
      expected_sum += values[i];
      expected_signed += (i % 3 ? -1 : 2) * (int64_t)values[i] * (1 << 20);
      if (expected_least == UINT64_MAX || values[i] <= expected_least >> 32)
        expected_least = (uint64_t)values[i] * 4294967296u + i;
    }
    assert_int_equal(sum, expected_sum);
    assert_true(signed_sum == expected_signed);
    assert_true(least == expected_least);
  }
}

/* ------------------------------------------------------------------------------------------------- append */

struct append_args {
  const uint32_t *values;
  uint32_t count, modulus;
  uint32_t *kept;
  uint32_t *kept_count;
};

SL_KERNEL(keep_multiples, struct append_args) {
  uint32_t length = 0;
  SL_FOR_BLOCK (i, a.count) {
    const uint32_t wanted = i < a.count && a.values[i] % a.modulus == 0;
    const uint32_t place = sl_block_append(wanted, &length);
    if (wanted) a.kept[place] = i;
  }
  if (threadIdx.x == 0) *a.kept_count = length;
}

static void append_keeps_the_order_of_the_values(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], kept[VALUES_MAX + 1];
  values_draw(values, 3);
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    for (uint32_t modulus = 1; modulus < 40; modulus += 6) {
      uint32_t kept_count = 77, expected = 0;
      memset(kept, 0xEE, sizeof kept);
      const struct append_args args = {values, counts[k], modulus, kept, &kept_count};
      assert_int_equal(SL_LAUNCH(&launch, keep_multiples, SL_PER_EVENT, args), SL_OK);
      for (uint32_t i = 0; i < counts[k]; i++)
        if (values[i] % modulus == 0) assert_int_equal(kept[expected++], i);
      assert_int_equal(kept_count, expected);
      assert_int_equal(kept[expected], 0xEEEEEEEE);
    }
  }
}

#ifdef SL_TARGET_CPU /* host code can call kernel functions only here */
static void append_selects_any_nonzero_value_and_extends_the_length(void **state) {
  (void)state;
  uint32_t length = 5;
  assert_int_equal(sl_block_append(8, &length), 5);
  assert_int_equal(sl_block_append(0, &length), 6);
  assert_int_equal(sl_block_append(1, &length), 6);
  assert_int_equal(length, 7);
}
#endif

/* ------------------------------------------------------------------------------------------ the float sum */

struct sum32_args {
  const float *values;
  uint32_t count;
  float *sum;
};

SL_KERNEL(sum32_values, struct sum32_args) {
  struct sl_sum32 s = sl_sum32_zero();
  SL_FOR_SUM32 (i, a.count) sl_sum32_add(&s, i, a.values[i]);
  const float sum = sl_sum32_total(&s);
  if (threadIdx.x == 0) *a.sum = sum;
}

/* The stated order, from the root: a node of the tree is the sum of those at `lane` and `lane + stride` one level
 * below. */
static float sum32_expected(const float *values, uint32_t count, uint32_t lane, uint32_t stride) {
  if (stride < 32)
    return sum32_expected(values, count, lane, 2 * stride) + sum32_expected(values, count, lane + stride, 2 * stride);
  float sum = 0;
  for (uint32_t i = lane; i < count; i += 32) sum += values[i];
  return sum;
}

static void the_float_sum_has_the_stated_order(void **state) {
  (void)state;
  uint32_t drawn[VALUES_MAX], differs_from_serial = 0;
  float values[VALUES_MAX];
  values_draw(drawn, 4);
  for (uint32_t i = 0; i < VALUES_MAX; i++) values[i] = ((float)drawn[i] - 1e7f) * 1.1f;
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    float sum = 77, serial = 0;
    const struct sum32_args args = {values, counts[k], &sum};
    assert_int_equal(SL_LAUNCH(&launch, sum32_values, SL_PER_EVENT, args), SL_OK);
    assert_int_equal(sl_bits_from_f32(sum), sl_bits_from_f32(sum32_expected(values, counts[k], 0, 1)));
    for (uint32_t i = 0; i < counts[k]; i++) serial += values[i];
    differs_from_serial += sl_bits_from_f32(sum) != sl_bits_from_f32(serial);
  }
  assert_true(differs_from_serial > 3); /* the values distinguish summation orders */
}

struct sum_rows_args {
  const float *values;
  uint32_t count, rows; /* values of a row */
  float *sums;          /* per row: the sum of every thread of the warp, or 77 if they differ */
  uint32_t *outside;    /* number of lanes that a loop visited beyond the values, and beyond sl_lanes32 */
};

/* Each warp sums one row; all groups of a warp do the same. */
SL_KERNEL(sum32_rows, struct sum_rows_args) {
  for (uint32_t row = sl_warp_index(); row < a.rows; row += sl_block_warps()) {
    struct sl_sum32 s = sl_sum32_zero();
    float kept[SL_LANES32] = {0.0f};
    for (uint32_t i = 0; i < a.count; i += 32) {
      const uint32_t left = a.count - i;
      SL_FOR_LANES32_OF (j, left) {
        kept[SL_LANE32(j)] = j < left ? a.values[row * a.count + i + j] : 0.0f;
        if (j >= sl_lanes32(left) || (blockDim.x > 1 && j >= left)) atomicAdd(a.outside, 1u);
      }
      SL_FOR_LANES32_OF (j, left) sl_sum32_add_lane(&s, j, kept[SL_LANE32(j)]);
    }
    const float sum = sl_group_sum32_total(&s);
    if (sl_warp_lane() == 0) a.sums[row] = sum;
    sl_warp_sync();
    const uint32_t differs = sl_warp_any(sl_bits_from_f32(a.sums[row]) != sl_bits_from_f32(sum));
    if (differs && sl_warp_lane() == 0) a.sums[row] = 77;
  }
}

enum { AT_ONCE_MAX = 32 };

struct at_once_args {
  const float *values; /* values of several sums, 32 each */
  float *totals;       /* totals for each number of sums, AT_ONCE_MAX each */
};

SL_KERNEL(sums_at_once, struct at_once_args) {
  for (uint32_t count = 1; count <= AT_ONCE_MAX; count++) {
    struct sl_sum32 s[AT_ONCE_MAX];
    float totals[AT_ONCE_MAX];
    for (uint32_t k = 0; k < count; k++) {
      s[k] = sl_sum32_zero();
      SL_FOR_LANES32 (j) sl_sum32_add_lane(&s[k], j, a.values[32 * k + j]);
    }
    sl_group_sum32_totals(s, count, totals);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) a.totals[AT_ONCE_MAX * (count - 1) + i] = totals[i];
  }
}

static void simultaneous_sums_have_the_stated_order(void **state) {
  (void)state;
  enum { ALL = 32 * AT_ONCE_MAX };
  static float values[ALL], totals[AT_ONCE_MAX * AT_ONCE_MAX];
  uint32_t drawn[VALUES_MAX];
  values_draw(drawn, 21);
  for (uint32_t i = 0; i < ALL; i++) {
    const uint32_t set = i / 32;
    values[i] = ((float)drawn[i % VALUES_MAX] - 1e7f) * (1.1f + (float)set);
  }
  const struct at_once_args args = {values, totals};
  assert_int_equal(SL_LAUNCH(&launch, sums_at_once, SL_PER_EVENT, args), SL_OK);
  for (uint32_t count = 1; count <= AT_ONCE_MAX; count++)
    for (uint32_t k = 0; k < count; k++)
      assert_int_equal(sl_bits_from_f32(totals[AT_ONCE_MAX * (count - 1) + k]),
                       sl_bits_from_f32(sum32_expected(values + 32 * k, 32, 0, 1)));
}

static void warps_sum_separate_rows_in_the_stated_order(void **state) {
  (void)state;
  enum { ROWS = 7 };
  static const uint32_t lengths[] = {0, 1, 7, 8, 31, 32, 33, 65, VALUES_MAX / ROWS};
  uint32_t drawn[VALUES_MAX], outside = 0;
  float values[VALUES_MAX], sums[ROWS];
  values_draw(drawn, 9);
  for (uint32_t i = 0; i < VALUES_MAX; i++) values[i] = ((float)drawn[i] - 1e7f) * 1.1f;
  for (uint32_t k = 0; k < COUNT(lengths); k++) {
    const struct sum_rows_args args = {values, lengths[k], ROWS, sums, &outside};
    assert_int_equal(SL_LAUNCH(&launch, sum32_rows, SL_PER_EVENT, args), SL_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
      const float expected = sum32_expected(values + row * lengths[k], lengths[k], 0, 1);
      assert_int_equal(sl_bits_from_f32(sums[row]), sl_bits_from_f32(expected));
    }
  }
  assert_int_equal(outside, 0);
}

/* ------------------------------------------------------------------------------------------------- events */

struct fail_args {
  struct sl_events events;
  const uint32_t *codes, *details;
  uint32_t count;
};

SL_KERNEL(fail_event_1, struct fail_args) {
  for (uint32_t i = threadIdx.x; i < a.count; i += blockDim.x) sl_event_fail(&a.events, 1, a.codes[i], a.details[i]);
}

static uint64_t fail_in_two_nodes(uint64_t first_base, uint64_t second_base) {
  uint64_t errors[3] = {0};
  uint32_t event_count = 3;
  const uint32_t codes[] = {3, 255, 7, 255, 1}, details[] = {9, 4, UINT32_MAX, 8, 5};
  struct fail_args args = {
      {.count = &event_count, .errors = errors, .error_base = first_base}, codes, details, COUNT(codes)};
  assert_int_equal(SL_LAUNCH(&launch, fail_event_1, SL_PER_EVENT, args), SL_OK);
  args.events.error_base = second_base;
  assert_int_equal(SL_LAUNCH(&launch, fail_event_1, SL_PER_EVENT, args), SL_OK);
  assert_true(errors[0] == 0 && errors[2] == 0);
  return errors[1];
}

/* An earlier node has a larger base; the code is in bits 32 to 39, the detail below. */
static void the_error_with_the_largest_base_code_and_detail_is_kept(void **state) {
  (void)state;
  const uint64_t early = UINT64_C(9) << 40, late = UINT64_C(2) << 40;
  const uint64_t worst = UINT64_C(255) << 32 | 8;
  assert_true(fail_in_two_nodes(early, late) == (early | worst));
  assert_true(fail_in_two_nodes(late, early) == (early | worst));
  assert_true(fail_in_two_nodes(late, late) == (late | worst));
}

/* ------------------------------------------------------------------------------------------------ atomics */

struct atomics_args {
  const uint32_t *values;
  uint32_t count;
  uint32_t *results;
  int32_t *signed_results; /* minimum, maximum, sum */
  uint64_t *wide_sum;
};
enum { ADDED, SUBTRACTED, OR, AND, LEAST, MOST, EXCHANGED, RESULTS };

SL_KERNEL(atomics_on_values, struct atomics_args) {
  __shared__ uint32_t in_block;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < a.count; i += blockDim.x) {
    const uint32_t value = a.values[i];
    const int32_t centred = (int32_t)(value % 2000u) - 1000;
    atomicAdd(&in_block, value);
    atomicSub(&a.results[SUBTRACTED], value);
    atomicOr(&a.results[OR], 1u << value % 32u);
    atomicAnd(&a.results[AND], ~(1u << value % 31u));
    atomicMin(&a.results[LEAST], value);
    atomicMax(&a.results[MOST], value);
    /* each value except the last is stored and returned once */
    const uint32_t previous = atomicExch(&a.results[EXCHANGED], value);
    atomicAdd(&a.results[EXCHANGED + 1], value - previous);
    atomicMin(&a.signed_results[0], centred);
    atomicMax(&a.signed_results[1], centred);
    atomicAdd(&a.signed_results[2], centred);
    atomicAdd((sl_atomic_u64 *)a.wide_sum, (sl_atomic_u64)value << 24);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.results[ADDED] = in_block;
}

static void atomics_collect_from_all_threads(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], results[RESULTS + 1] = {[AND] = UINT32_MAX, [LEAST] = UINT32_MAX};
  uint32_t expected[RESULTS] = {[AND] = UINT32_MAX, [LEAST] = UINT32_MAX};
  int32_t signed_results[3] = {INT32_MAX, INT32_MIN, 0}, signed_expected[3] = {INT32_MAX, INT32_MIN, 0};
  uint64_t wide_sum = 0, wide_expected = 0;
  values_draw(values, 5);
  const uint32_t count = 20; /* few enough that some bits are unchanged */
  const struct atomics_args args = {values, count, results, signed_results, &wide_sum};
  assert_int_equal(SL_LAUNCH(&launch, atomics_on_values, SL_PER_EVENT, args), SL_OK);
  for (uint32_t i = 0; i < count; i++) {
    const int32_t centred = (int32_t)(values[i] % 2000) - 1000;
    expected[ADDED] += values[i];
    expected[OR] |= 1u << values[i] % 32;
    expected[AND] &= ~(1u << values[i] % 31);
    if (values[i] < expected[LEAST]) expected[LEAST] = values[i];
    if (values[i] > expected[MOST]) expected[MOST] = values[i];
    if (centred < signed_expected[0]) signed_expected[0] = centred;
    if (centred > signed_expected[1]) signed_expected[1] = centred;
    signed_expected[2] += centred;
    wide_expected += (uint64_t)values[i] * (1u << 24);
  }
  expected[SUBTRACTED] = 0u - expected[ADDED];
  assert_memory_equal(results, expected, EXCHANGED * sizeof *results);
  assert_int_equal(results[EXCHANGED], results[EXCHANGED + 1]);
  assert_memory_equal(signed_results, signed_expected, sizeof signed_expected);
  assert_true(wide_sum == wide_expected);
}

struct old_args {
  uint32_t *cell;
  uint32_t *old; /* return values of seven operations, from one thread */
};

SL_KERNEL(atomics_return, struct old_args) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  a.old[0] = atomicAdd(a.cell, 5u);
  a.old[1] = atomicSub(a.cell, 3u);
  a.old[2] = atomicOr(a.cell, 16u);
  a.old[3] = atomicAnd(a.cell, 24u);
  a.old[4] = atomicMax(a.cell, 40u);
  a.old[5] = atomicMin(a.cell, 33u);
  a.old[6] = atomicExch(a.cell, 1u);
}

static void atomics_return_the_value_before(void **state) {
  (void)state;
  uint32_t cell = 10, old[7] = {0};
  const struct old_args args = {&cell, old};
  assert_int_equal(SL_LAUNCH(&launch, atomics_return, SL_PER_EVENT, args), SL_OK);
  assert_memory_equal(old, ((const uint32_t[7]){10, 15, 12, 28, 24, 40, 33}), sizeof old);
  assert_int_equal(cell, 1);
}

#ifdef SL_TARGET_CPU
static uint32_t next_value(uint32_t *calls) { return ++*calls; }

static void atomics_evaluate_their_value_once(void **state) {
  (void)state;
  uint32_t cell = 0, calls = 0;
  atomicMax(&cell, next_value(&calls));
  assert_int_equal(calls, 1);
  assert_int_equal(cell, 1);
  atomicMin(&cell, next_value(&calls));
  assert_int_equal(calls, 2);
  assert_int_equal(cell, 1);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_scan_gives_the_sum_of_the_earlier_values),
      cmocka_unit_test(a_running_maximum_covers_all_earlier_values),
      cmocka_unit_test(sums_and_minima_cover_all_values),
      cmocka_unit_test(append_keeps_the_order_of_the_values),
      cmocka_unit_test(the_float_sum_has_the_stated_order),
      cmocka_unit_test(simultaneous_sums_have_the_stated_order),
      cmocka_unit_test(warps_sum_separate_rows_in_the_stated_order),
      cmocka_unit_test(the_error_with_the_largest_base_code_and_detail_is_kept),
      cmocka_unit_test(atomics_collect_from_all_threads),
      cmocka_unit_test(atomics_return_the_value_before),
#ifdef SL_TARGET_CPU
      cmocka_unit_test(append_selects_any_nonzero_value_and_extends_the_length),
      cmocka_unit_test(atomics_evaluate_their_value_once),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
