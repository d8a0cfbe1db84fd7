/* sector_groups_test.c: ut.sector_groups on the nominal detector, and on a detector with moved sectors. */
#include "ut_support.h"

#include <math.h>

static struct sl_test *groups_of(const struct detector *d, const float *x0, double tolerance) {
  struct sl_test *t = sl_test_new(UT_PLUGIN, "sector_groups");
  give(t, "geometry", d->geometry, "geometry", "pitch dy dx_di dy_di z0 lane_type lane_layer lane_index");
  sl_test_input(t, "geometry", "x0", x0, UT_SECTORS);
  sl_test_set(t, "tolerance", tolerance);
  return t;
}

static void the_nominal_detector_has_84_groups(void **state) {
  struct detector d;
  (void)state;
  detector_open(&d, NULL);
  const uint32_t *first = sl_test_output(d.groups, "groups", "layer_first");
  const float *x = sl_test_output(d.groups, "groups", "x"), *length = sl_test_output(d.groups, "groups", "length");
  const float *least = sl_test_output(d.groups, "groups", "x_least"),
              *most = sl_test_output(d.groups, "groups", "x_most");
  const uint32_t expected[] = {0, 20, 40, 62, 84};
  for (uint32_t layer = 0; layer <= UT_LAYERS; layer++) assert_int_equal(first[layer], expected[layer]);
  assert_float_equal(x[0], -770.51, 1e-3);
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++)
    for (uint32_t g = first[layer]; g < first[layer + 1]; g++) {
      if (g > first[layer]) assert_true(x[g] > x[g - 1] + 20);
      assert_true(least[g] == x[g] && most[g] > x[g] + 48 && most[g] < x[g] + 98);
      assert_true(length[g] > 96 && length[g] < 98);
    }
  detector_close(&d);
}

static void lanes_have_their_sectors_and_groups(void **state) {
  struct detector d;
  uint32_t connected = 0, of_group[UT_GROUPS_MAX] = {0};
  (void)state;
  detector_open(&d, NULL);
  const uint16_t *sector = sl_test_output(d.groups, "groups", "lane_sector");
  const uint8_t *group = sl_test_output(d.groups, "groups", "lane_group");
  const float *x = sl_test_output(d.groups, "groups", "x"), *x0 = detector_floats(&d, "x0");
  const uint32_t *index = detector_words(&d, "lane_index");
  for (uint32_t lane = 0; lane < UT_LANES; lane++) {
    assert_int_equal(sector[lane], index[lane]);
    if (index[lane] == UT_SECTORS) {
      assert_int_equal(group[lane], UT_NO_GROUP);
      continue;
    }
    connected++;
    of_group[group[lane]]++;
    assert_true(x0[sector[lane]] >= x[group[lane]] && x0[sector[lane]] <= x[group[lane]] + 20);
  }
  assert_int_equal(connected, UT_SECTORS);
  for (uint32_t g = 0; g < 84; g++) assert_true(of_group[g] >= 4 && of_group[g] <= 16);
  detector_close(&d);
}

static void layers_have_the_expected_z_and_slopes(void **state) {
  const float z[] = {2327.5f, 2372.5f, 2597.5f, 2642.5f}, slopes[] = {0, 0.08748866f, -0.08748866f, 0};
  struct detector d;
  (void)state;
  detector_open(&d, NULL);
  const float *slope = sl_test_output(d.groups, "groups", "layer_slope");
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    assert_float_equal(((const float *)sl_test_output(d.groups, "groups", "layer_z"))[layer], z[layer], 1e-3);
    assert_float_equal(((const float *)sl_test_output(d.groups, "groups", "layer_depth"))[layer], 7.2175, 1e-3);
    assert_float_equal(slope[layer], slopes[layer], 1e-6);
  }
  detector_close(&d);
}

/* Three sectors of a stave, moved by 0, 15 and 30 mm, are one group, because each is within 20 mm of the previous one;
 * with a tolerance of 10 mm they are three groups. */
static void a_group_is_a_chain_of_neighbours(void **state) {
  struct detector d;
  float x0[UT_SECTORS];
  (void)state;
  detector_open(&d, NULL);
  memcpy(x0, detector_floats(&d, "x0"), sizeof x0);
  x0[1] = x0[0] + 15;
  x0[2] = x0[0] + 30;
  struct sl_test *t = groups_of(&d, x0, 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "groups", "layer_first"))[UT_LAYERS], 84);
  assert_float_equal(((const float *)sl_test_output(t, "groups", "x"))[0], x0[0], 0);
  assert_true(((const float *)sl_test_output(t, "groups", "x_most"))[0] > x0[2] + 97);
  sl_test_free(t);
  t = groups_of(&d, x0, 10);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "groups", "layer_first"))[UT_LAYERS], 86);
  sl_test_free(t);
  detector_close(&d);
}

static void too_many_groups_are_refused(void **state) {
  struct detector d;
  float x0[UT_SECTORS];
  (void)state;
  detector_open(&d, NULL);
  for (uint32_t i = 0; i < UT_SECTORS; i++) x0[i] = (float)i;
  struct sl_test *t = groups_of(&d, x0, 0.5);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "more than 127 groups of sectors with a tolerance of 0.5 mm in x"));
  sl_test_free(t);
  detector_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nominal_detector_has_84_groups),    cmocka_unit_test(lanes_have_their_sectors_and_groups),
      cmocka_unit_test(layers_have_the_expected_z_and_slopes), cmocka_unit_test(a_group_is_a_chain_of_neighbours),
      cmocka_unit_test(too_many_groups_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
