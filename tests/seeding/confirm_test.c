/* confirm_test.c: seeding.confirm: stereo hits of a constructed track, and of random tracks against all start hits,
 * followed one by one and fitted in double precision.
 */
#include "confirm_reference.h"

enum { TRACKS_MAX = 512, STEREO = CONFIRM_LAYERS };
static struct forward_case c;
static struct seeding_constant constant;
static int shared;
static struct {
  uint32_t offsets[CASE_EVENTS + 1];
  uint8_t kind[TRACKS_MAX], hit_count[TRACKS_MAX];
  float a[TRACKS_MAX], b[TRACKS_MAX], c[TRACKS_MAX];
} tracks;

static const uint32_t by_layer[STEREO] = {1, 2, 5, 6, 9, 10};

static int start(void **state) {
  shared = *(const int *)*state;
  memset(&c, 0, sizeof c);
  memset(&tracks, 0, sizeof tracks);
  seeding_constant_open(&constant);
  return 0;
}
static int stop(void **state) {
  (void)state;
  seeding_constant_close(&constant);
  return 0;
}

static void add_track(uint32_t event, uint32_t upper, uint32_t x_hits, float a, float b, float curvature) {
  const uint32_t i = tracks.offsets[CASE_EVENTS]++;
  assert_true(i < TRACKS_MAX);
  if (event == 0) tracks.offsets[1] = i + 1;
  tracks.kind[i] = (uint8_t)(upper | (i % 2) << 1);
  tracks.hit_count[i] = (uint8_t)x_hits;
  tracks.a[i] = a, tracks.b[i] = b, tracks.c[i] = curvature;
}

static float track_x(uint32_t i, uint32_t layer) {
  return tracks.a[i] + tracks.b[i] * constant.view.d[layer] + tracks.c[i] * constant.view.bend[layer];
}

/* A hit of track i at y, with residual `off` in x. */
static void add_stereo_hit(uint32_t event, uint32_t i, uint32_t layer, double y, double off) {
  case_add_hit(&c, event, 2 * layer + (tracks.kind[i] & 1), (float)(track_x(i, layer) - confirm_dxdy(layer) * y + off));
}

static struct sl_test *confirm_new(void) {
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "confirm");
  sl_test_shared(t, shared);
  const uint32_t count = tracks.offsets[CASE_EVENTS];
  case_finish(&c);
  sl_test_events(t, CASE_EVENTS);
  case_give_hits(&c, t);
  seeding_constant_give(&constant, t, "d bend constants");
  sl_test_input(t, "tracks", "offsets", tracks.offsets, CASE_EVENTS + 1);
  sl_test_input(t, "tracks", "kind", tracks.kind, count);
  sl_test_input(t, "tracks", "hit_count", tracks.hit_count, count);
  sl_test_input(t, "tracks", "a", tracks.a, count);
  sl_test_input(t, "tracks", "b", tracks.b, count);
  sl_test_input(t, "tracks", "c", tracks.c, count);
  return t;
}

static uint32_t count_of(const struct sl_test *t, uint32_t i) {
  return ((const uint8_t *)sl_test_output(t, "stereo", "hit_count"))[i];
}
static const uint16_t *hits_of(const struct sl_test *t, uint32_t i) {
  return (const uint16_t *)sl_test_output(t, "stereo", "hits") + (size_t)STEREO * i;
}
static double number(const struct sl_test *t, const char *field, uint32_t i) {
  return ((const float *)sl_test_output(t, "stereo", field))[i];
}
static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.9g, expected %.9g within %.2g", found, expected, tolerance);
}

/* ------------------------------------------------------------------------------------------------------ by hand */

/* One track with `x_hits` x hits, y = side (500 + 0.06 d), and hits in layers of `mask`, by layer. */
static struct sl_test *single(uint32_t upper, uint32_t x_hits, uint32_t mask, double y, double ty) {
  memset(&c, 0, sizeof c);
  memset(&tracks, 0, sizeof tracks);
  add_track(0, upper, x_hits, 852, 0.1f, 1e-6f);
  for (uint32_t k = 0; k < STEREO; k++)
    if (mask >> k & 1) add_stereo_hit(0, 0, by_layer[k], y + ty * constant.view.d[by_layer[k]], 0);
  struct sl_test *t = confirm_new();
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static void stereo_hits_are_added_to_a_track(void **state) {
  (void)state;
  for (uint32_t upper = 0; upper < 2; upper++) {
    const double side = upper ? 1 : -1;
    struct sl_test *t = single(upper, 5, 63, side * 500, side * 0.06);
    assert_int_equal(count_of(t, 0), 6);
    for (uint32_t k = 0; k < STEREO; k++) assert_int_equal(hits_of(t, 0)[k], k);
    assert_near(number(t, "y", 0), side * 500, 0.01);
    assert_near(number(t, "ty", 0), side * 0.06, 1e-5);
    assert_near(number(t, "chi2", 0), 0, 1e-4);
    sl_test_free(t);
  }
}

/* Nine hits in total, equal to min_hits; the second searched layer is 1, the first one 5: bits 0 and 2. */
static void at_least_min_hits_hits_are_required(void **state) {
  (void)state;
  static const struct {
    uint32_t x_hits, mask, found;
  } cases[] = {{6, 63, 6}, {6, 60, 4}, {6, 59, 5}, {6, 58, 0}, {6, 30, 4}, {6, 56, 0}, {6, 13, 3}, {6, 5, 0},
               {5, 62, 5}, {5, 59, 5}, {5, 60, 4}, {5, 57, 4}, {5, 13, 0}, {6, 0, 0},  {6, 27, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_test *t = single(1, cases[i].x_hits, cases[i].mask, 600, 0.07);
    assert_int_equal(count_of(t, 0), cases[i].found);
    for (uint32_t k = cases[i].found; k < STEREO; k++) assert_int_equal(hits_of(t, 0)[k], 0);
    sl_test_free(t);
  }
}

/* For any `min_hits`: one stereo hit does not determine a direction. */
static void at_least_two_stereo_hits_are_required(void **state) {
  (void)state;
  for (uint32_t x_hits = 5; x_hits <= 6; x_hits++)
    for (uint32_t has_two = 0; has_two < 2; has_two++) {
      struct sl_test *t = single(1, x_hits, has_two ? 4 + 32 : 4, 600, 0.07);
      sl_test_set(t, "min_hits", 5);
      assert_int_equal(sl_test_run(t), 0);
      assert_int_equal(count_of(t, 0), has_two ? 2 : 0);
      assert_near(number(t, "y", 0), has_two ? 600 : 0, 0.01);
      assert_near(number(t, "ty", 0), has_two ? 0.07 : 0, 1e-5);
      assert_near(number(t, "chi2", 0), 0, 1e-4);
      sl_test_free(t);
    }
}

/* Without hits in layers 5 and 1 there is no start hit, whatever the hits in other layers. */
static void start_hits_are_in_layer_1_or_5(void **state) {
  (void)state;
  struct sl_test *t = single(1, 6, 63 - 1 - 4, 600, 0.07);
  assert_int_equal(count_of(t, 0), 0);
  sl_test_free(t);
}

static void stereo_hits_outside_the_y_range_are_ignored(void **state) {
  (void)state;
  static const struct {
    double y;
    uint32_t found;
  } cases[] = {{-19.9, 6}, {-20.1, 0}, {2699.5, 6}, {2700.5, 0}, {0, 6}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (uint32_t upper = 0; upper < 2; upper++) {
      struct sl_test *t = single(upper, 6, 63, (upper ? 1 : -1) * cases[i].y, 0);
      /* at large y, tracks that do not point to the origin are not found: their hits are too far away */
      sl_test_set(t, "max_distance", 40);
      assert_int_equal(sl_test_run(t), 0);
      assert_int_equal(count_of(t, 0), cases[i].found);
      sl_test_free(t);
    }
}

/* y = 0.06 z, and a residual of the hit of layer 10, the third searched layer. */
static void added_hits_are_near_the_predicted_position(void **state) {
  (void)state;
  static const struct {
    double off;
    uint32_t found;
  } cases[] = {{0.98, 6}, {-0.98, 6}, {1.02, 5}, {-1.02, 5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memset(&c, 0, sizeof c);
    memset(&tracks, 0, sizeof tracks);
    add_track(0, 1, 6, 852, 0.1f, 0);
    for (uint32_t k = 0; k < STEREO; k++)
      add_stereo_hit(0, 0, by_layer[k], 0.06 * (8520 + constant.view.d[by_layer[k]]), k == 5 ? cases[i].off : 0);
    struct sl_test *t = confirm_new();
    sl_test_set(t, "min_hits", 11);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(count_of(t, 0), cases[i].found);
    sl_test_free(t);
  }
}

/* A track that the magnet bends by 1500 mm at z = 0, and therefore focuses: it is not on a line through the beam. */
static void the_focusing_of_the_magnet_is_followed(void **state) {
  (void)state;
  const double focus = 1e-4 * 1500 * 1500;
  for (uint32_t is_followed = 0; is_followed < 2; is_followed++) {
    memset(&c, 0, sizeof c);
    memset(&tracks, 0, sizeof tracks);
    add_track(0, 1, 6, 1500, 0, 0);
    for (uint32_t k = 0; k < STEREO; k++)
      add_stereo_hit(0, 0, by_layer[k], 0.2 * (8520 + constant.view.d[by_layer[k]] + focus), 0);
    struct sl_test *t = confirm_new();
    sl_test_set(t, "max_distance", 0.05);
    if (!is_followed) sl_test_set(t, "focusing", 0);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(count_of(t, 0), is_followed ? 6 : 0);
    if (is_followed) assert_near(number(t, "y", 0), 0.2 * (8520 + focus), 0.05);
    sl_test_free(t);
  }
}

/* Residuals in y of `off` and -`off` in layers 5 and 6. In the last case the four hits exceed the limit, but not three
 * of them. */
static void residuals_are_limited_by_the_number_of_hits(void **state) {
  (void)state;
  static const struct {
    uint32_t x_hits, layers;
    double off;
    uint32_t found;
  } cases[] = {{6, 6, 6, 6}, {5, 6, 6, 6}, {5, 5, 6, 5}, {5, 4, 0.8, 4}, {5, 4, 3, 0}, {6, 4, 3, 4}, {6, 4, 8, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memset(&c, 0, sizeof c);
    memset(&tracks, 0, sizeof tracks);
    add_track(0, 1, cases[i].x_hits, 852, 0.1f, 0);
    for (uint32_t k = 0; k < cases[i].layers; k++) {
      const double off = k == 2 ? cases[i].off : k == 3 ? -cases[i].off : 0;
      add_stereo_hit(0, 0, by_layer[k], 0.06 * (8520 + constant.view.d[by_layer[k]]) + off, 0);
    }
    struct sl_test *t = confirm_new();
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(count_of(t, 0), cases[i].found);
    sl_test_free(t);
  }
}

/* ---------------------------------------------------------------------------------------------- random tracks */

static struct confirm_found best_of(uint32_t event, uint32_t i, uint32_t *is_close) {
  const struct confirm_track track = {.constants = &constant.view,
                                      .hit_x = c.hit_x + c.hit_offsets[event],
                                      .zone_first = c.zone_first + event * (SCIFI_ZONES + 1),
                                      .upper = tracks.kind[i] & 1,
                                      .x_hits = tracks.hit_count[i],
                                      .a = tracks.a[i],
                                      .b = tracks.b[i],
                                      .c = tracks.c[i]};
  return confirm_best(&track, is_close);
}

/* Tracks with stereo hits, smeared by 0.1 mm, and noise, in a strip of 400 mm, so that there are several candidates. */
static void make_random_case(uint32_t count, uint32_t noise) {
  memset(&c, 0, sizeof c);
  memset(&tracks, 0, sizeof tracks);
  for (uint32_t event = 0; event < CASE_EVENTS; event++) {
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t i = tracks.offsets[CASE_EVENTS];
      const float ty = (k % 2 ? 1 : -1) * random_between(0.002f, 0.1f);
      add_track(event, k % 2, 5 + (random_between(0, 1) < 0.7f), random_between(-200, 200),
                random_between(-0.02f, 0.02f), random_between(-1e-6f, 1e-6f));
      for (uint32_t layer = 0; layer < STEREO; layer++)
        if (random_between(0, 1) < 0.9f)
          add_stereo_hit(event, i, by_layer[layer], ty * (8520 + constant.view.d[by_layer[layer]]),
                         random_between(-0.1f, 0.1f));
    }
    for (uint32_t k = 0; k < noise; k++)
      for (uint32_t layer = 0; layer < STEREO; layer++)
        case_add_hit(&c, event, 2 * by_layer[layer] + k % 2, random_between(-400, 400));
  }
}

static void hits_equal_those_of_the_plain_search(void **state) {
  (void)state;
  static const struct {
    uint32_t tracks, noise;
  } cases[] = {{10, 0},
               {30, 100},
               {200, 0},
               {130, 100},
               {10, 1050}}; /* more tracks than fit a round; then more hits than fit shared memory */
  uint32_t found = 0, close = 0, all = 0;
  for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
    for (uint32_t block = 32; block <= (shared ? 256 : 32); block *= 2) {
      make_random_case(cases[n].tracks, cases[n].noise);
      struct sl_test *t = confirm_new();
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      assert_memory_equal(sl_test_output(t, "stereo", "offsets"), tracks.offsets, sizeof tracks.offsets);
      for (uint32_t i = 0; i < tracks.offsets[CASE_EVENTS]; i++) {
        uint32_t is_close, next = 0;
        const uint32_t event = i >= tracks.offsets[1];
        const struct confirm_found best = best_of(event, i, &is_close);
        assert_int_equal(count_of(t, i), best.count);
        found += best.count > 0, close += is_close, all++;
        if (is_close || best.count == 0) continue;
        for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++)
          for (uint32_t k = 0; k < STEREO; k++)
            if (confirm_order[k] == layer && best.hits[k] != CONFIRM_NONE)
              assert_int_equal(hits_of(t, i)[next++], best.hits[k]);
        assert_near(number(t, "y", i), best.y, 0.02);
        assert_near(number(t, "ty", i), best.ty, 3e-5);
        assert_near(number(t, "chi2", i), best.chi2, 0.02 + 1e-3 * best.chi2);
      }
      sl_test_free(t);
    }
  if (close * 20 > all || found * 2 < all)
    fail_msg("%u tracks: %u have hits, %u have another candidate with equal chi2 except for rounding", all, found,
             close);
}

static void events_not_listed_have_no_tracks(void **state) {
  (void)state;
  const uint32_t listed = 1;
  make_random_case(10, 0);
  tracks.offsets[1] = 0; /* layout of this input */
  struct sl_test *t = confirm_new();
  sl_test_list(t, &listed, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_memory_equal(sl_test_output(t, "stereo", "offsets"), tracks.offsets, sizeof tracks.offsets);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(stereo_hits_are_added_to_a_track),
      BOTH(at_least_min_hits_hits_are_required),
      BOTH(at_least_two_stereo_hits_are_required),
      BOTH(start_hits_are_in_layer_1_or_5),
      BOTH(stereo_hits_outside_the_y_range_are_ignored),
      BOTH(added_hits_are_near_the_predicted_position),
      BOTH(the_focusing_of_the_magnet_is_followed),
      BOTH(residuals_are_limited_by_the_number_of_hits),
      BOTH(hits_equal_those_of_the_plain_search),
      BOTH(events_not_listed_have_no_tracks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
