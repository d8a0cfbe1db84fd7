/* kernel_cases.h: common declarations of the tests of sluice/kernel.h.
 *
 * The kernels are written for blocks of any size and do not depend on the target: each works on `count` values and
 * writes results that are independent of the block. kernel_simt_test.c runs them on the emulator. */
#ifndef TEST_KERNEL_CASES_H
#define TEST_KERNEL_CASES_H

#include "support.h"

#include <sluice/kernel.h>

enum { VALUES_MAX = 1000 };
static const uint32_t counts[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 257, VALUES_MAX};
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(array)[0])

#if defined(SL_TARGET_CPU)
static const struct sl_launch launch = {.size = sizeof(struct sl_launch), .block_threads = 1, .grid_blocks = 1};
#else
#define launch emulator_launch
#endif

/* Seeded values; a few are large, so that sums wrap. */
static SL_UNUSED void values_draw(uint32_t values[VALUES_MAX], uint64_t seed) {
  for (uint32_t i = 0; i < VALUES_MAX; i++) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    values[i] = (uint32_t)(seed >> 33) >> (seed >> 60);
  }
}

#endif
