/* search_windows_test.c: forward.search_windows: hits at the edges of calculated windows, and random events against a
 * test of every hit in every layer.
 */
#include "../../plugins/forward/forward_math.h"
#include "forward_support.h"

static struct forward_constant constant;
static struct forward_case c;
static int start(void **state) {
  (void)state;
  memset(&c, 0, sizeof c);
  c.polarity = -1;
  forward_constant_open(&constant);
  return 0;
}
static int stop(void **state) {
  (void)state;
  forward_constant_close(&constant);
  return 0;
}

static struct sl_test *search_new(void) {
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "search_windows");
  case_finish(&c);
  case_give_inputs(&c, t, "x y tx ty qop");
  case_give_hits(&c, t);
  forward_constant_give(&constant, t, "z_layer dxdy kick constants");
  sl_test_input(t, "magnet", "sign", &c.polarity, 1);
  sl_test_set(t, "max_hits", 32);
  return t;
}

static uint32_t count_at(const struct sl_test *t, uint32_t track, uint32_t window) {
  return ((const uint16_t *)sl_test_output(t, "windows", "count"))[track * FORWARD_WINDOWS + window];
}
static uint32_t first_at(const struct sl_test *t, uint32_t track, uint32_t window) {
  return ((const uint16_t *)sl_test_output(t, "windows", "first"))[track * FORWARD_WINDOWS + window];
}

/* A hit at x in every layer except one, in its half `upper`. */
static void add_hits_but(float x, uint32_t upper, uint32_t layer) {
  for (uint32_t l = 0; l < SCIFI_LAYERS; l++)
    if (l != layer) case_add_hit(&c, 0, 2 * l + upper, x);
}

/* Hits of the only track in a window, with hits in layer 0 at 800 mm and at x. */
static uint32_t found_with(float qop, float polarity, float x) {
  memset(&c, 0, sizeof c);
  c.polarity = polarity;
  case_add_track(&c, 0, 0, 1, 0, 0, qop);
  add_hits_but(polarity * qop < 0 ? 800 : -800, 1, SCIFI_LAYERS);
  case_add_hit(&c, 0, 1, x);
  struct sl_test *t = search_new();
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t count = count_at(t, 0, 0);
  sl_test_free(t);
  return count;
}

/* Along the axis, 5 GeV: the kick is 1170.58336 * 2e-4 = 0.2341167 in station 1, which is 2613.62 mm from the magnet: x
 * is 611.892. The window is 150 + 2e6 * 2e-4 = 550 mm on both sides, and 100 mm more on the outside. */
static void a_window_is_wider_on_the_side_to_which_the_track_bends(void **state) {
  (void)state;
  const float qop = 2e-4f;
  assert_int_equal(found_with(qop, -1, 61.8f), 1);
  assert_int_equal(found_with(qop, -1, 62.0f), 2);
  assert_int_equal(found_with(qop, -1, 1261.8f), 2);
  assert_int_equal(found_with(qop, -1, 1262.0f), 1);
  for (int up = 0; up < 2; up++) { /* negative charge and opposite field */
    const float charge = up ? qop : -qop, polarity = up ? 1 : -1;
    assert_int_equal(found_with(charge, polarity, -61.8f), 1);
    assert_int_equal(found_with(charge, polarity, -62.0f), 2);
    assert_int_equal(found_with(charge, polarity, -1261.8f), 2);
    assert_int_equal(found_with(charge, polarity, -1262.0f), 1);
  }
}

/* y at the first layer selects the side. */
static void only_the_detector_half_of_the_track_is_searched(void **state) {
  (void)state;
  const struct {
    float y, ty;
    uint32_t upper;
  } cases[] = {{1, 0, 1}, {-1, 0, 0}, {500, -0.1f, 0}, {520, -0.1f, 1}, {-500, 0.1f, 1}, {0, 0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (uint32_t upper = 0; upper < 2; upper++) {
      memset(&c, 0, sizeof c);
      c.polarity = -1;
      case_add_track(&c, 0, 0, cases[i].y, 0, cases[i].ty, 2e-4f);
      add_hits_but(800, upper, SCIFI_LAYERS);
      struct sl_test *t = search_new();
      assert_int_equal(sl_test_run(t), 0);
      for (uint32_t w = 0; w < FORWARD_WINDOWS; w += 2) {
        const uint32_t layer = w % 4 ? forward_stereo_layer(w / 4) : forward_x_layer(w / 4);
        assert_int_equal(count_at(t, 0, w), cases[i].upper == upper);
        if (cases[i].upper == upper) assert_int_equal(first_at(t, 0, w), layer);
        assert_int_equal(count_at(t, 0, w + 1), 0);
      }
      sl_test_free(t);
    }
}

/* Hits every mm from 580 to 649 mm; the track is at 611.892 in layer 0, with 32 hits before it. */
static void a_full_window_has_the_hits_nearest_to_the_track(void **state) {
  (void)state;
  case_add_track(&c, 0, 0, 1, 0, 0, 2e-4f);
  add_hits_but(800, 1, 0);
  for (uint32_t i = 0; i < 70; i++) case_add_hit(&c, 0, 1, 580 + (float)i);
  const struct {
    uint32_t max, first, count;
  } cases[] = {{2, 31, 2}, {10, 27, 10}, {32, 16, 32}, {33, 16, 33}, {64, 0, 64}, {63, 1, 63}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_test *t = search_new();
    sl_test_set(t, "max_hits", cases[i].max);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(first_at(t, 0, 0), cases[i].first);
    assert_int_equal(count_at(t, 0, 0), cases[i].count);
    sl_test_free(t);
  }
}

/* At an end of the range fewer hits are selected: the track stays in the middle. */
static void a_full_window_at_the_last_hit_has_fewer_hits(void **state) {
  (void)state;
  case_add_track(&c, 0, 0, 1, 0, 0, 2e-4f);
  add_hits_but(800, 1, 0);
  for (uint32_t i = 0; i < 40; i++) case_add_hit(&c, 0, 1, 580 + (float)i); /* up to 619 */
  struct sl_test *t = search_new();
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(first_at(t, 0, 0), 16);
  assert_int_equal(count_at(t, 0, 0), 24);
  sl_test_free(t);
}

/* In the u layer of station 1, at z = 7896, the track is at 628.280; at y = 100 it is shifted by -8.749 mm to 619.531.
 */
static void a_stereo_window_is_around_the_predicted_y(void **state) {
  (void)state;
  const struct {
    float x;
    uint32_t count;
  } cases[] = {{-180.6f, 1}, {-180.4f, 2}, {1419.4f, 2}, {1419.7f, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memset(&c, 0, sizeof c);
    c.polarity = -1;
    case_add_track(&c, 0, 0, 100, 0, 0, 2e-4f);
    add_hits_but(800, 1, SCIFI_LAYERS);
    case_add_hit(&c, 0, 3, cases[i].x);
    struct sl_test *t = search_new();
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(count_at(t, 0, 2), cases[i].count);
    sl_test_free(t);
  }
}

/* Required: x layers 0, 4 and 8 or 3, 7 and 11, and a stereo layer in each station. */
static void tracks_with_too_few_layers_have_no_windows(void **state) {
  (void)state;
  static const struct {
    uint32_t missing, is_enough; /* one bit per layer */
  } cases[] = {{0, 1},
               {1u << 0 | 1u << 4 | 1u << 8, 1},
               {1u << 3 | 1u << 7 | 1u << 11, 1},
               {1u << 0 | 1u << 3, 0},
               {1u << 4 | 1u << 11, 0},
               {1u << 1 | 1u << 6 | 1u << 9, 1},
               {1u << 1 | 1u << 2, 0},
               {1u << 9 | 1u << 10, 0},
               {1u << 0 | 1u << 2, 0}}; /* the window of the u layer requires hits in the x layer */
  for (int is_known = 0; is_known < 2; is_known++)
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      memset(&c, 0, sizeof c);
      c.polarity = -1;
      case_add_track(&c, 0, 0, 1, 0.1f, 0, is_known ? 2e-5f : 0);
      for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++)
        if (!(cases[i].missing >> layer & 1)) case_add_hit(&c, 0, 2 * layer + 1, 600);
      struct sl_test *t = search_new();
      assert_int_equal(sl_test_run(t), 0);
      uint32_t sum = 0;
      for (uint32_t w = 0; w < FORWARD_WINDOWS; w++) sum += count_at(t, 0, w) + first_at(t, 0, w);
      assert_int_equal(sum > 0, cases[i].is_enough);
      sl_test_free(t);
    }
}

/* tx = 0.1, ty = 0: the sine is 0.0995037, so a pt of 1 GeV is p = 10.0499 GeV: 0.0995037 / GeV. The border is v
 * (4824.31956565 + 0.1 (-426.26974766 + 707.108408876) + v (931.534184959 + 3209.49021545 v)) with v = 0.0995037:
 * 0.0995037 (4824.31957 + 28.08387 + 92.69110 + 31.77676) = 495.2061 mm. The line is at 518.4 mm in layer 0. */
static void without_a_momentum_windows_are_left_and_right_of_the_line(void **state) {
  (void)state;
  const float line = 518.4f, border = 495.2061f;
  const struct {
    float x;
    uint32_t left, right;
  } cases[] = {{line - border - 0.1f, 0, 0}, {line - border + 0.1f, 1, 0}, {line - 5.1f, 1, 0},
               {line - 4.9f, 1, 1},          {line + 4.9f, 1, 1},          {line + 5.1f, 0, 1},
               {line + border - 0.1f, 0, 1}, {line + border + 0.1f, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memset(&c, 0, sizeof c);
    c.polarity = -1;
    case_add_track(&c, 0, 0, 1, 0.1f, 0, 0);
    add_hits_but(600, 1, 0);
    case_add_hit(&c, 0, 1, cases[i].x);
    struct sl_test *t = search_new();
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(count_at(t, 0, 0), cases[i].left);
    assert_int_equal(count_at(t, 0, 1), cases[i].right);
    sl_test_free(t);
  }
  struct sl_test *t = search_new(); /* a larger momentum bends less */
  sl_test_set(t, "min_momentum", 20000);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(count_at(t, 0, 0) + count_at(t, 0, 1), 0);
  sl_test_free(t);
}

static void without_a_momentum_the_hits_nearest_to_the_line_are_selected(void **state) {
  (void)state;
  case_add_track(&c, 0, 0, 1, 0.1f, 0, 0);
  add_hits_but(600, 1, 0);
  for (uint32_t i = 0; i < 101; i++) case_add_hit(&c, 0, 1, 468.4f + (float)i); /* the 51st is on the line */
  struct sl_test *t = search_new();
  sl_test_set(t, "overlap", 5.5);
  sl_test_set(t, "max_hits", 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(first_at(t, 0, 0), 36); /* up to the 56th */
  assert_int_equal(count_at(t, 0, 0), 20);
  assert_int_equal(first_at(t, 0, 1), 45);
  assert_int_equal(count_at(t, 0, 1), 20);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------ plain search */

struct windows {
  uint32_t first[FORWARD_WINDOWS], count[FORWARD_WINDOWS];
};

static struct windows expected;

/* Hits of a zone in the range, at most `max`: the last ones before `right` (-1), the first ones after `left` (1), or
 * those around the track (0). */
static void look_at_all(uint32_t event, uint32_t zone, float low, float high, float x, float overlap, uint32_t max,
                        int side, uint32_t window) {
  const uint16_t *first = c.zone_first + event * (SCIFI_ZONES + 1) + zone;
  const float *hit_x = c.hit_x + c.hit_offsets[event];
  uint32_t in_range[CASE_ZONE_HITS], count = 0, before = 0;
  for (uint32_t i = first[0]; i < first[1]; i++) {
    if (hit_x[i] < low || hit_x[i] > high) continue;
    if (side < 0 && !(hit_x[i] < x + overlap)) continue;
    if (side > 0 && !(hit_x[i] > x - overlap)) continue;
    before += hit_x[i] < x;
    in_range[count++] = i;
  }
  uint32_t from = 0;
  if (side < 0 && count > max) from = count - max;
  if (side == 0 && before > max / 2) from = before - max / 2;
  if (count - from > max) count = from + max;
  expected.count[window] = count - from;
  expected.first[window] = count > from ? in_range[from] : 0;
}

static void expect_layers(uint32_t event, uint32_t track, uint32_t i) {
  const struct forward_constants_view *f = &constant.view;
  const struct forward_state s = {c.x[track], c.y[track], 2642, c.tx[track], c.ty[track]};
  const float qop = c.qop[track], z = f->z_layer[forward_x_layer(i)], uv_z = f->z_layer[forward_stereo_layer(i)];
  const uint32_t upper = forward_line_y(f, &s, f->z_layer[0]) >= 0;
  const uint32_t zone = 2 * forward_x_layer(i) + upper, uv_zone = 2 * forward_stereo_layer(i) + upper, w = 4 * i;
  const float dxdy = f->dxdy[forward_stereo_layer(i)];
  if (qop != 0) {
    const float slope = forward_bent_slope(f, &s, qop, c.polarity, i / 2), x = forward_bent_x(f, &s, slope, z);
    const float width = 150.0f + 2e6f * fabsf(qop), more = width + 100.0f, y = forward_line_y(f, &s, uv_z);
    const int is_up = c.polarity * qop < 0;
    look_at_all(event, zone, x - (is_up ? width : more), x + (is_up ? more : width), x, 0, 32, 0, w);
    const float uv_x = x + slope * (uv_z - z) - y * dxdy;
    if (expected.count[w] > 0) look_at_all(event, uv_zone, uv_x - 800, uv_x + 800, uv_x, 0, UINT32_MAX, 0, w + 2);
    return;
  }
  const float theta2 = s.tx * s.tx + s.ty * s.ty, by_pt = sqrtf(theta2 / (1.0f + theta2)) / 1000.0f;
  const float inverse = 1000.0f * (1.0f / 5000.0f < by_pt ? 1.0f / 5000.0f : by_pt);
  const float border = forward_border(f, inverse, s.tx, s.ty), x = s.x + s.tx * (z - s.z);
  look_at_all(event, zone, x - border, x + border, x, 5, 32, -1, w);
  look_at_all(event, zone, x - border, x + border, x, 5, 32, 1, w + 1);
  if (expected.count[w] + expected.count[w + 1] == 0) return;
  const float uv_x = s.x + s.tx * (uv_z - s.z) - (s.y + s.ty * (uv_z - s.z)) * dxdy;
  look_at_all(event, uv_zone, uv_x - 800, uv_x + 800, uv_x, 5, 32, -1, w + 2);
  look_at_all(event, uv_zone, uv_x - 800, uv_x + 800, uv_x, 5, 32, 1, w + 3);
}

static void expect_windows(uint32_t event, uint32_t track) {
  uint32_t has_x[SCIFI_X_LAYERS], has_stereo[SCIFI_STATIONS] = {0};
  memset(&expected, 0, sizeof expected);
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    expect_layers(event, track, i);
    has_x[i] = expected.count[4 * i] + expected.count[4 * i + 1];
    has_stereo[i / 2] += expected.count[4 * i + 2] + expected.count[4 * i + 3];
  }
  const int has_seed = (has_x[0] && has_x[2] && has_x[4]) || (has_x[1] && has_x[3] && has_x[5]);
  if (!has_seed || !has_stereo[0] || !has_stereo[1] || !has_stereo[2]) memset(&expected, 0, sizeof expected);
}

/* Up to 400 hits per zone, few hits, or none. */
static void make_random_case(void) {
  memset(&c, 0, sizeof c);
  c.polarity = random_between(-1, 1) < 0 ? -1 : 1;
  for (uint32_t event = 0; event < CASE_EVENTS; event++) {
    const float busy = event == 0 ? 400 : 6;
    for (uint32_t zone = 0; zone < SCIFI_ZONES; zone++) {
      const uint32_t hits = (uint32_t)random_between(0, busy);
      for (uint32_t i = 0; i < hits; i++) {
        const float spread = random_between(0, 3000);
        case_add_hit(&c, event, zone, random_between(-spread, spread));
      }
    }
    for (uint32_t i = 0; i < 100; i++) {
      const float tx = random_between(-0.2f, 0.2f), ty = random_between(-0.2f, 0.2f), charge = i % 2 ? 1 : -1;
      case_add_track(&c, event, 2642 * tx, 2642 * ty, tx, ty, i % 3 ? charge / random_between(1500, 50000) : 0);
    }
  }
}

static void windows_equal_those_of_testing_every_hit(void **state) {
  (void)state;
  uint32_t with_windows = 0;
  for (uint32_t turn = 0; turn < 4; turn++) {
    make_random_case();
    for (uint32_t block = 32; block <= 256; block *= 2) {
      struct sl_test *t = search_new();
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      assert_memory_equal(sl_test_output(t, "windows", "offsets"), c.offsets, sizeof c.offsets);
      for (uint32_t event = 0; event < CASE_EVENTS; event++)
        for (uint32_t track = c.offsets[event]; track < c.offsets[event + 1]; track++) {
          expect_windows(event, track);
          uint32_t any = 0;
          for (uint32_t w = 0; w < FORWARD_WINDOWS; w++) {
            any |= expected.count[w];
            if (count_at(t, track, w) != expected.count[w] || first_at(t, track, w) != expected.first[w])
              fail_msg("track %u window %u: %u hits from %u, expected %u from %u", track, w, count_at(t, track, w),
                       first_at(t, track, w), expected.count[w], expected.first[w]);
          }
          with_windows += any > 0;
        }
      sl_test_free(t);
    }
  }
  assert_true(with_windows > 4 * 4 * 100 && with_windows < 4 * 4 * 200);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      TEST(a_window_is_wider_on_the_side_to_which_the_track_bends),
      TEST(only_the_detector_half_of_the_track_is_searched),
      TEST(a_full_window_has_the_hits_nearest_to_the_track),
      TEST(a_full_window_at_the_last_hit_has_fewer_hits),
      TEST(a_stereo_window_is_around_the_predicted_y),
      TEST(tracks_with_too_few_layers_have_no_windows),
      TEST(without_a_momentum_windows_are_left_and_right_of_the_line),
      TEST(without_a_momentum_the_hits_nearest_to_the_line_are_selected),
      TEST(windows_equal_those_of_testing_every_hit),
  };
  return cmocka_run_group_tests_name("forward_windows", tests, NULL, NULL);
}
