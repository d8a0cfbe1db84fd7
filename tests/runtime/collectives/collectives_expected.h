/* collectives_expected.h: input numbers for the kernel in this folder, and the results of a serial reference.
 */
#ifndef COLLECTIVES_EXPECTED_H
#define COLLECTIVES_EXPECTED_H

#include "collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Counts of 0, and below, at and above warp and block sizes. */
static const uint32_t counts[] = {0, 1, 2, 31, 32, 33, 64, 100, 0, 257, 1023, 1025, 2500};
enum { EVENTS = sizeof counts / sizeof counts[0], ITEMS = 5068 };

struct numbers {
  uint32_t offsets[EVENTS + 1], value[ITEMS];
  float weight[ITEMS];
};

struct results {
  uint32_t prefix[ITEMS], kept[ITEMS], kept_count[EVENTS], sum[EVENTS], atomics[7 * EVENTS], agree[EVENTS];
  int64_t signed_sum[EVENTS];
  uint64_t smallest[EVENTS];
  float weight_sum[EVENTS];
  int64_t prefix_i64[ITEMS];
  double weight_sum64[EVENTS], functions[FUNCTIONS * ITEMS];
};

static inline void make_numbers(struct numbers *n) {
  uint32_t state = 7, item = 0;
  for (uint32_t e = 0; e < EVENTS; e++) {
    n->offsets[e] = item;
    for (uint32_t i = 0; i < counts[e]; i++, item++) {
      state = state * 1664525u + 1013904223u;
      n->value[item] = e % 2 ? state >> 20 : state; /* small values tie, large ones wrap */
      n->weight[item] = (float)(int32_t)state * 1.1e-7f;
    }
  }
  n->offsets[EVENTS] = item;
  assert_int_equal(item, ITEMS);
}

/* Checks the results documented in kernel.h. */
static inline void expect_event(const struct numbers *n, uint32_t e, struct results *r) {
  const uint32_t first = n->offsets[e], count = n->offsets[e + 1] - first;
  uint32_t *atomics = r->atomics + 7 * e;
  float lane[32] = {0};
  double lane64[32] = {0};
  int64_t terms = 0;
  r->smallest[e] = UINT64_MAX;
  atomics[3] = atomics[5] = UINT32_MAX;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t value = n->value[first + i];
    r->prefix[first + i] = r->sum[e];
    if (value % 3 == 0) r->kept[first + r->kept_count[e]++] = i;
    r->sum[e] += value;
    r->signed_sum[e] += i % 2 ? -(int64_t)value : (int64_t)value;
    if (((uint64_t)value << 32 | i) < r->smallest[e]) r->smallest[e] = (uint64_t)value << 32 | i;
    lane[i % 32] += n->weight[first + i];
    lane64[i % 32] += third_of(n->weight[first + i]);
    r->prefix_i64[first + i] = terms;
    terms += prefix_term(value, i);
    all_functions(n->weight[first + i], r->functions + FUNCTIONS * (first + i));
    atomics[2] |= value;
    atomics[3] &= value | 0xFFu;
    if (value > atomics[4]) atomics[4] = value;
    if (value < atomics[5]) atomics[5] = value;
  }
  atomics[0] = atomics[6] = r->sum[e];
  atomics[1] = 0u - r->sum[e];
  for (uint32_t stride = 16; stride > 0; stride /= 2)
    for (uint32_t j = 0; j < stride; j++) {
      lane[j] += lane[j + stride];
      lane64[j] += lane64[j + stride];
    }
  r->weight_sum[e] = lane[0];
  r->weight_sum64[e] = lane64[0];
  r->agree[e] = 1;
}

static inline void expect_results(const struct numbers *n, struct results *r) {
  memset(r, 0, sizeof *r);
  for (uint32_t e = 0; e < EVENTS; e++) expect_event(n, e, r);
}

#endif
