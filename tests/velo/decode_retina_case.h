/* decode_retina_case.h: shared by the tests of velo.decode_retina. Each test runs with the shared version and with the
 * version tuned for the target.
 */
#ifndef TEST_DECODE_RETINA_CASE_H
#define TEST_DECODE_RETINA_CASE_H

#include "velo_support.h"

static inline uint32_t word_3(uint32_t column, uint32_t quarters_x, uint32_t row, uint32_t quarters_y) {
  return column << 12 | quarters_x << 10 | row << 2 | quarters_y;
}

static inline struct sl_test *prepare(const struct banks *b, const struct geometry *g, void **state) {
  struct sl_test *t = decoder_new("decode_retina", b, g);
  sl_test_shared(t, *(const int *)*state);
  return t;
}

/* Decodes the banks with the round geometry. */
static inline struct sl_test *decode(const struct banks *b, void **state) {
  struct geometry g;
  geometry_round(&g);
  struct sl_test *t = prepare(b, &g, state);
  assert_int_equal(sl_test_run(t), 0);
  hits_assert_sorted(t, b->event_count);
  return t;
}

/* The hit with this id is at this column and row of `sensor` in the round geometry. */
static inline void assert_hit(const struct sl_test *t, uint32_t event, uint32_t id, uint32_t sensor, float column,
                              float row) {
  const struct hits h = hits_of(t);
  const uint32_t i = hit_with(t, event, id);
  const float local_y = (0.5f + row) * 0.055f;
  assert_true(h.x[i] == column + 100.0f * (float)sensor);
  assert_true(h.y[i] == local_y + 1000.0f * (float)sensor);
  assert_true(h.z[i] == 10000.0f * (float)sensor);
}

static int is_shared = 1, is_tuned = 0;
#define BOTH(test) \
  {#test " (shared)", test, NULL, NULL, &is_shared}, { #test " (tuned)", test, NULL, NULL, &is_tuned }

#endif
