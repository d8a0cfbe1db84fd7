/* selections_support.c: see selections_support.h. */
#include "selections_support.h"

#include <math.h>

static uint64_t random_state;

void random_start(uint32_t seed) { random_state = seed; }

float random_between(float low, float high) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (float)(random_state >> 40) / (float)(1u << 24);
}

void assert_near(const char *what, uint32_t item, double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) fail_msg("%s of %u: %.9g is not %.9g", what, item, value, expected);
}
