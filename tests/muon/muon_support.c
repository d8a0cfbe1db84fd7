/* muon_support.c: see muon_support.h. */
#include "muon_support.h"

struct sl_test *detector_new(uint32_t version) {
  struct sl_test *t = sl_test_new(MUON_PLUGIN, "geometry");
  sl_test_set(t, "format", version);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

struct muon_geometry_view detector_view(const struct sl_test *detector) {
  struct muon_geometry_view g = {0};
#define FIELD(name, type, shape, unit, doc) g.name = OUTPUT(detector, "geometry", #name, sl_c_##type);
  MUON_GEOMETRY_FIELDS(FIELD)
#undef FIELD
  return g;
}

static uint64_t random_state;

void random_start(uint32_t seed) { random_state = seed; }

uint32_t random_below(uint32_t end) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % end);
}

float random_between(float low, float high) {
  return low + (high - low) * (float)random_below(1u << 24) / (float)(1u << 24);
}
