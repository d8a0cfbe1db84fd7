/* ut_support.c: see ut_support.h. */
#include "ut_support.h"

void detector_open(struct detector *d, const char *path) {
  d->geometry = sl_test_new(UT_PLUGIN, "geometry");
  sl_test_set_text(d->geometry, "path", path ? path : "");
  assert_int_equal(sl_test_run(d->geometry), 0);
  d->groups = sl_test_new(UT_PLUGIN, "sector_groups");
  give(d->groups, "geometry", d->geometry, "geometry", "pitch dy dx_di dy_di x0 z0 lane_type lane_layer lane_index");
  assert_int_equal(sl_test_run(d->groups), 0);
}

void detector_close(struct detector *d) {
  sl_test_free(d->geometry);
  sl_test_free(d->groups);
}

const float *detector_floats(const struct detector *d, const char *field) {
  return sl_test_output(d->geometry, "geometry", field);
}
const uint32_t *detector_words(const struct detector *d, const char *field) {
  return sl_test_output(d->geometry, "geometry", field);
}

void banks_add_v3(struct banks_case *b, uint16_t source_id, const struct lane_hit *hits, uint32_t count) {
  uint16_t words[4096] = {(uint16_t)count, 0x80};
  assert_true(count + 2 <= sizeof words / sizeof words[0]);
  for (uint32_t i = 0; i < count; i++)
    words[2 + i] = (uint16_t)((hits[i].lane * UT_SECTOR_STRIPS + hits[i].strip) << 2 | hits[i].quarters);
  banks_add(b, 3, source_id, words, 4 * ((count + 1) / 2 + 1));
}

void banks_add_v4(struct banks_case *b, uint16_t source_id, const struct lane_hit *hits, uint32_t count) {
  static uint16_t halfwords[16 * 128 + 16];
  uint8_t counts[UT_BOARD_LANES] = {0};
  uint32_t rows = 1;
  memset(halfwords, 0, sizeof halfwords);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t lane = hits[i].lane, place = ut_v4_halfword(lane, counts[lane]++);
    halfwords[place] = (uint16_t)(hits[i].strip << 5 | hits[i].adc);
    if (place / 16 + 1 > rows) rows = place / 16 + 1;
  }
  halfwords[0] = (uint16_t)(counts[4] | counts[5] << 8);
  halfwords[2] = (uint16_t)(counts[0] | counts[1] << 8);
  halfwords[3] = (uint16_t)(counts[2] | counts[3] << 8);
  banks_add(b, 4, source_id, halfwords, 32 * rows);
}

struct sl_test *decoder_new(const struct detector *d, const struct banks_case *b) {
  struct sl_test *t = sl_test_new(UT_PLUGIN, "decode");
  banks_give(t, "banks", b);
  give(t, "geometry", d->geometry, "geometry", "lane_channel dy x0 dx_di y0 dy_di z0 dz_di");
  give(t, "groups", d->groups, "groups", "lane_sector lane_group");
  return t;
}
