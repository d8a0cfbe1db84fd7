/* search_windows_test.c: ut.search_windows on a hit next to a track, and on random events against a test of every hit
 * of every group.
 */
#include "ut_support.h"
#include "velo/event_model.h"

#include <math.h>

enum { TRACKS = 400, HIT_GROUP_SLOTS = UT_GROUPS_MAX + 1 };

static struct detector detector;
static struct banks_case banks;
static float deflection[UT_DEFLECTIONS];
/* Track states at z = 770 mm. */
static struct {
  uint32_t offsets[3], count, track[TRACKS];
  float x[TRACKS], y[TRACKS], z[TRACKS], tx[TRACKS], ty[TRACKS];
} in;

static int start(void **state) {
  (void)state;
  memset(&banks, 0, sizeof banks);
  memset(&in, 0, sizeof in);
  detector_open(&detector, NULL);
  for (uint32_t i = 0; i < UT_DEFLECTIONS; i++) deflection[i] = 1.2f - 0.1f * (float)(i % UT_LAYERS);
  return 0;
}
static int stop(void **state) {
  (void)state;
  detector_close(&detector);
  return 0;
}

static void add_track(float x, float y, float tx, float ty) {
  const uint32_t i = in.count++;
  in.track[i] = i;
  in.x[i] = x;
  in.y[i] = y;
  in.z[i] = 770;
  in.tx[i] = tx;
  in.ty[i] = ty;
}

/* All tracks belong to event 0; the hits are the output of the decoder. */
static struct sl_test *search_new(const struct sl_test *decoder) {
  struct sl_test *t = sl_test_new(UT_PLUGIN, "search_windows");
  in.offsets[1] = in.count;
  sl_test_events(t, 1);
  sl_test_input(t, "selected", "offsets", in.offsets, 2);
  sl_test_input(t, "selected", "track", in.track, in.count);
  sl_test_input(t, "end_states", "offsets", in.offsets, 2);
  sl_test_input(t, "end_states", "x", in.x, in.count);
  sl_test_input(t, "end_states", "y", in.y, in.count);
  sl_test_input(t, "end_states", "z", in.z, in.count);
  sl_test_input(t, "end_states", "tx", in.tx, in.count);
  sl_test_input(t, "end_states", "ty", in.ty, in.count);
  sl_test_input(t, "tables", "deflection", deflection, UT_DEFLECTIONS);
  const float constants[UT_FORMULA_CONSTANTS] = {[UT_DISTANCE_TO_MOMENTUM] = 4.0212e-5f};
  sl_test_input(t, "tables", "constants", constants, UT_FORMULA_CONSTANTS);
  give(t, "hits", decoder, "hits", "offsets group_first x y y_end z");
  give(t, "groups", detector.groups, "groups", "layer_first x x_least x_most length layer_z layer_depth layer_slope");
  return t;
}

static struct sl_test *decode(void) {
  struct sl_test *t = decoder_new(&detector, &banks);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

/* Number of non-empty windows of track 0 in a layer. */
static uint32_t windows_in(const struct sl_test *t, uint32_t layer) {
  const uint16_t *count = sl_test_output(t, "windows", "count");
  uint32_t windows = 0;
  for (uint32_t w = 0; w < UT_LAYER_WINDOWS; w++) windows += count[UT_LAYER_WINDOWS * layer + w] > 0;
  return windows;
}

/* Sector 0: its first strip is at x = -770.51 and z = 2334.718, from y = -673.16 to -575.88. Strip 100 is at -751.51.
 * With a deflection table of 1.2 everywhere, a hit may be 16.58 mm away at the minimum momentum, 1250 MeV. */
static void windows_cover_the_deflection_by_the_magnet(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 100};
  const struct {
    float dx, y;
    uint32_t found;
  } cases[] = {{16.5f, -600, 1},         {-16.5f, -600, 1}, {16.7f, -600, 0},
               {-16.7f, -600, 0},        {0, -673.6f, 1},   {0, -673.7f, 0}, /* 0.5 mm below */
               {15, -673.16f - 1.4f, 1}, /* at 15 mm the tolerance in y is 1 mm larger: 0.5 + 15 * 0.08 / 1.2 */
               {15, -673.16f - 1.6f, 0}, {0, -575.5f, 1},   {0, -575.3f, 0}};
  (void)state;
  banks_event(&banks);
  banks_add_v3(&banks, 0, &hit, 1);
  struct sl_test *hits = decode();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    in.count = 0;
    add_track(-751.51f + cases[i].dx, cases[i].y, 0, 0);
    struct sl_test *t = search_new(hits);
    sl_test_set(t, "min_pt", 0);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(windows_in(t, 0), cases[i].found);
    assert_int_equal(windows_in(t, 1) + windows_in(t, 2) + windows_in(t, 3), 0);
    sl_test_free(t);
  }
  sl_test_free(hits);
}

/* The minimum momentum is also min_pt / slope, with 1 / slope at most 500. */
static void windows_shrink_with_pt(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 100};
  const float z = 2334.718f - 770;
  (void)state;
  banks_event(&banks);
  banks_add_v3(&banks, 0, &hit, 1);
  struct sl_test *hits = decode();
  /* slope 0.1: p of 500 / 0.1 = 5000 MeV: 1 / (4.0212e-5 * 5000 * 1.2) = 4.145 mm */
  add_track(-751.51f + 4.1f - 0.1f * z, -600, 0.1f, 0);
  struct sl_test *t = search_new(hits);
  sl_test_set(t, "min_pt", 500);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(windows_in(t, 0), 1);
  sl_test_free(t);
  in.count = 0;
  add_track(-751.51f + 4.2f - 0.1f * z, -600, 0.1f, 0);
  t = search_new(hits);
  sl_test_set(t, "min_pt", 500);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(windows_in(t, 0), 0);
  sl_test_free(t);
  sl_test_free(hits);
}

/* ------------------------------------------------------------------------------------------ plain search */

static uint32_t random_state = 3;
static float random_between(float low, float high) {
  random_state = random_state * 1664525u + 1013904223u;
  return low + (high - low) * (float)(random_state >> 8) / 16777216.0f;
}

/* About 12 hits in each lane. */
static void add_busy_event(void) {
  banks_event(&banks);
  for (uint32_t board = 0; board < UT_BOARDS; board++) {
    struct lane_hit hits[6 * 32];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
      if (detector_words(&detector, "lane_index")[UT_BOARD_LANES * board + lane] == UT_SECTORS) continue;
      for (uint32_t strip = (uint32_t)random_between(0, 60); strip < UT_SECTOR_STRIPS;
           strip += 1 + (uint32_t)random_between(0, 90))
        hits[count++] = (struct lane_hit){lane, strip, (uint32_t)random_between(0, 4), 0};
    }
    banks_add_v3(&banks, (uint16_t)board, hits, count);
  }
}

static int is_compatible(const struct sl_test *hits, uint32_t i, uint32_t track, float slope, float factor) {
  const float min_p = 1250, min_pt = 275, y_tolerance = 0.5f, per_x = 0.08f;
  const float theta = sqrtf(in.tx[track] * in.tx[track] + in.ty[track] * in.ty[track]);
  const float inverse = theta * 500 > 1 ? 1 / theta : 500, p = min_pt * inverse > min_p ? min_pt * inverse : min_p;
  const float width = 1 / (4.0212e-5f * p * factor);
  const float dz = ((const float *)sl_test_output(hits, "hits", "z"))[i] - in.z[track];
  const float y = in.y[track] + in.ty[track] * dz, x = in.x[track] + in.tx[track] * dz;
  const float d = fabsf(((const float *)sl_test_output(hits, "hits", "x"))[i] + y * slope - x);
  const float tolerance = y_tolerance + per_x / factor * d;
  return d <= width && ((const float *)sl_test_output(hits, "hits", "y"))[i] - tolerance <= y &&
         y <= ((const float *)sl_test_output(hits, "hits", "y_end"))[i] + tolerance;
}

static void windows_equal_those_of_testing_every_hit(void **state) {
  (void)state;
  add_busy_event();
  struct sl_test *hits = decode();
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float scale = i % 2 ? 0.3f : 0.06f;
    add_track(random_between(-3, 3), random_between(-3, 3), random_between(-scale, scale),
              random_between(-scale, scale));
    in.x[i] += 770 * in.tx[i];
    in.y[i] += 770 * in.ty[i];
  }
  struct sl_test *t = search_new(hits);
  assert_int_equal(sl_test_run(t), 0);
  const uint16_t *first = sl_test_output(t, "windows", "first"), *count = sl_test_output(t, "windows", "count");
  const uint16_t *in_layer = sl_test_output(t, "windows", "hits");
  const uint16_t *group_first = sl_test_output(hits, "hits", "group_first");
  const uint32_t *layer_first = sl_test_output(detector.groups, "groups", "layer_first");
  const float *group_x = sl_test_output(detector.groups, "groups", "x");
  const float *z = sl_test_output(detector.groups, "groups", "layer_z");
  const float *slope = sl_test_output(detector.groups, "groups", "layer_slope");
  uint32_t filled = 0;
  for (uint32_t track = 0; track < TRACKS; track++)
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
      const float x = in.x[track] + in.tx[track] * (z[layer] - in.z[track]);
      int middle = (int)layer_first[layer];
      while (middle < (int)layer_first[layer + 1] && group_x[middle] < x) middle++;
      middle--;
      const int order[] = {middle, middle - 1, middle + 1, middle - 2, middle + 2};
      const size_t window = UT_WINDOWS * track + UT_LAYER_WINDOWS * layer;
      uint32_t found = 0, sum = 0; /* number of windows with hits, which come first, and of their hits */
      for (uint32_t w = 0; w < UT_LAYER_WINDOWS; w++) {
        uint32_t begin = 0, end = 0;
        const uint32_t is_group = order[w] >= (int)layer_first[layer] && order[w] < (int)layer_first[layer + 1];
        for (uint32_t i = is_group ? group_first[order[w]] : 0; i < (is_group ? group_first[order[w] + 1] : 0u); i++) {
          if (!is_compatible(hits, i, track, slope[layer], deflection[layer])) continue;
          if (end == 0) begin = i;
          end = i + 1;
        }
        if (end == 0) continue;
        assert_int_equal(first[window + found], begin);
        assert_int_equal(count[window + found], end - begin);
        found++;
        sum += end - begin;
      }
      filled += found;
      assert_int_equal(in_layer[UT_LAYERS * track + layer], sum);
      for (; found < UT_LAYER_WINDOWS; found++) assert_int_equal(first[window + found] + count[window + found], 0);
    }
  assert_true(filled > 3 * TRACKS);
  sl_test_free(t);
  sl_test_free(hits);
}

/* Layer 0 without groups: the groups of layer 1 begin at index 0. */
static void a_layer_without_groups_has_no_windows(void **state) {
  (void)state;
  const struct lane_hit hit = {.lane = 0, .strip = 100};
  banks_event(&banks);
  banks_add_v3(&banks, 0, &hit, 1);
  struct sl_test *hits = decode();
  add_track(-751.51f, -600, 0, 0);
  struct sl_test *t = search_new(hits);
  uint32_t layer_first[UT_LAYERS + 1];
  memcpy(layer_first, sl_test_output(detector.groups, "groups", "layer_first"), sizeof layer_first);
  layer_first[1] = 0;
  sl_test_input(t, "groups", "layer_first", layer_first, UT_LAYERS + 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(windows_in(t, 0), 0);
  sl_test_free(t);
  sl_test_free(hits);
}

/* The last layer is without groups, when the number of groups is the maximum. */
static void a_last_layer_without_groups_has_no_windows(void **state) {
  (void)state;
  const struct lane_hit hit = {.lane = 0, .strip = 100};
  banks_event(&banks);
  banks_add_v3(&banks, 0, &hit, 1);
  struct sl_test *hits = decode();
  add_track(-751.51f, -600, 0, 0);
  struct sl_test *t = search_new(hits);
  uint32_t layer_first[UT_LAYERS + 1];
  memcpy(layer_first, sl_test_output(detector.groups, "groups", "layer_first"), sizeof layer_first);
  layer_first[UT_LAYERS - 1] = layer_first[UT_LAYERS] = UT_GROUPS_MAX;
  sl_test_input(t, "groups", "layer_first", layer_first, UT_LAYERS + 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(windows_in(t, 0), 1);
  assert_int_equal(windows_in(t, UT_LAYERS - 1), 0);
  sl_test_free(t);
  sl_test_free(hits);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {TEST(windows_cover_the_deflection_by_the_magnet), TEST(windows_shrink_with_pt),
                                     TEST(windows_equal_those_of_testing_every_hit),
                                     TEST(a_layer_without_groups_has_no_windows),
                                     TEST(a_last_layer_without_groups_has_no_windows)};
  return cmocka_run_group_tests_name("search_windows", tests, NULL, NULL);
}
