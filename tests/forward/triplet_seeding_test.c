/* triplet_seeding_test.c: forward.triplet_seeding: calculated triplets, and random windows against all pairs in double
 * precision. With LHCb's constants, the line with slope 0.1 through x = 0 at z = 5212.38 mm, the magnet, is at 261.362
 * mm in layer 0 (7826), 329.562 in layer 4 (8508) and 398.062 in layer 8 (9193). The predicted middle hit is at 0.1 *
 * 8508 + (261.362 - 782.6) * 1.00177513 = 328.63673 mm, because tracks are curved. */
#include "../../plugins/forward/forward_math.h"
#include "forward_support.h"

#include <math.h>

static struct forward_constant constant;
static struct forward_case c;
static int shared; /* 1: the shared version, where the target also has a tuned version */
static uint16_t first[CASE_TRACKS * FORWARD_WINDOWS], count[CASE_TRACKS * FORWARD_WINDOWS];

static const float first_x = 261.362f, middle_x = 328.63673f, last_x = 398.062f;

static void start_again(void) {
  memset(&c, 0, sizeof c);
  memset(first, 0, sizeof first);
  memset(count, 0, sizeof count);
}

static int start(void **state) {
  (void)state;
  start_again();
  forward_constant_open(&constant);
  return 0;
}
static int stop(void **state) {
  (void)state;
  forward_constant_close(&constant);
  return 0;
}

static struct sl_test *seeding_new(void) {
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "triplet_seeding");
  sl_test_shared(t, shared);
  const uint32_t tracks = c.offsets[CASE_EVENTS];
  case_give_inputs(&c, t, "velo_track tx qop");
  case_give_states(&c, t, "x z tx");
  sl_test_input(t, "hits", "offsets", c.hit_offsets, CASE_EVENTS + 1);
  sl_test_input(t, "hits", "x", c.hit_x, c.hit_offsets[CASE_EVENTS]);
  sl_test_input(t, "windows", "first", first, tracks * FORWARD_WINDOWS);
  sl_test_input(t, "windows", "count", count, tracks * FORWARD_WINDOWS);
  forward_constant_give(&constant, t, "z_layer constants");
  return t;
}

/* The only track, along the z axis except its slope in the UT. */
static void add_track(float qop, float ut_tx) {
  case_add_track(&c, 0, 0, 1, 0, 0, qop);
  c.tx[0] = ut_tx;
}

/* Hits of a track's window, in ascending order. */
static void add_window(uint32_t track, uint32_t window, const float *x, uint32_t hits) {
  const uint32_t event = track >= c.offsets[1] ? 1 : 0;
  const uint32_t place = track * FORWARD_WINDOWS + window, from = c.hit_offsets[CASE_EVENTS];
  if (event == 0) c.hit_offsets[1] = from + hits;
  c.hit_offsets[CASE_EVENTS] = from + hits;
  assert_true(from + hits <= CASE_HITS);
  first[place] = (uint16_t)(from - c.hit_offsets[event]);
  count[place] = (uint16_t)hits;
  memcpy(c.hit_x + from, x, hits * sizeof *x);
}

/* The triplet on the line, in layers 0, 4 and 8, in windows of a side. */
static void add_line(uint32_t side, float middle) {
  add_window(0, 0 + side, &first_x, 1);
  add_window(0, 8 + side, &middle, 1);
  add_window(0, 16 + side, &last_x, 1);
}

static uint32_t count_of(const struct sl_test *t, uint32_t track) {
  return ((const uint8_t *)sl_test_output(t, "triplets", "count"))[track];
}
static uint32_t word_of(const struct sl_test *t, uint32_t track, uint32_t i) {
  return ((const uint32_t *)sl_test_output(t, "triplets", "triplet"))[track * FORWARD_TRIPLETS_MAX + i];
}
static uint32_t word(uint32_t side, uint32_t kind, uint32_t first_hit, uint32_t middle_hit, uint32_t last_hit) {
  return side << 19 | kind << 18 | first_hit << 12 | middle_hit << 6 | last_hit;
}

/* Number of triplets of the track; each has one of the `expected` words. */
static uint32_t triplets_of(struct sl_test *t, const uint32_t *expected, uint32_t most) {
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t found = count_of(t, 0);
  assert_true(found <= most);
  for (uint32_t i = 0; i < FORWARD_TRIPLETS_MAX; i++) assert_int_equal(word_of(t, 0, i), i < found ? expected[i] : 0);
  sl_test_free(t);
  return found;
}

/* Middle hits 2.8 mm (squared 7.84) and 2.9 mm from the prediction. */
static void the_middle_hit_is_near_the_prediction_of_the_pair(void **state) {
  (void)state;
  const float off[] = {0, 2.8f, -2.8f, 2.9f, -2.9f};
  const uint32_t expected = 0;
  for (uint32_t i = 0; i < 5; i++) {
    start_again();
    add_track(2e-4f, 0);
    add_line(0, middle_x + off[i]);
    assert_int_equal(triplets_of(seeding_new(), &expected, 1), i < 3);
  }
}

/* The allowed distance in the magnet is 8 + 32 * 2e-4 / 5e-4 = 20.8 mm from -0.819493 + 1.93897 + 0.166874 - 0.375478 =
 * 0.910873; at 2 TeV 8.032 mm, and from q/p = 5e-4 on 40 mm. */
static void a_pair_passes_the_magnet_near_the_velo_track(void **state) {
  (void)state;
  const struct {
    float qop, velo_x;
    uint32_t found;
  } cases[] = {{2e-4f, -21.68f, 1}, {2e-4f, -21.74f, 0}, {2e-4f, 19.86f, 1},  {2e-4f, 19.92f, 0},
               {-5e-7f, -8.91f, 1}, {-5e-7f, -8.97f, 0}, {-5e-7f, 7.09f, 1},  {-5e-7f, 7.15f, 0},
               {5e-4f, -40.88f, 1}, {5e-4f, -40.94f, 0}, {-8e-4f, 39.06f, 1}, {-8e-4f, 39.12f, 0}};
  const uint32_t expected = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start_again();
    add_track(cases[i].qop, 0);
    c.velo_x[0] = cases[i].velo_x;
    add_line(0, middle_x);
    assert_int_equal(triplets_of(seeding_new(), &expected, 1), cases[i].found);
  }
}

/* Without momentum: within 10 mm, without the polynomial. */
static void without_a_momentum_the_distance_in_the_magnet_is_a_property(void **state) {
  (void)state;
  const struct {
    float velo_x, max;
    uint32_t found;
  } cases[] = {{-9.98f, 10, 1}, {-10.02f, 10, 0}, {9.98f, 10, 1}, {10.02f, 10, 0}, {11.98f, 12, 1}, {12.02f, 12, 0}};
  const uint32_t expected = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start_again();
    add_track(0, 0);
    c.velo_x[0] = cases[i].velo_x;
    add_line(0, middle_x);
    struct sl_test *t = seeding_new();
    sl_test_set(t, "max_distance", cases[i].max);
    assert_int_equal(triplets_of(t, &expected, 1), cases[i].found);
  }
}

/* The VELO track has slope 0, the pair slope 0.1: a slow track must also bend to +x in the UT. */
static void slow_tracks_bend_to_the_same_side_as_in_the_ut(void **state) {
  (void)state;
  const struct {
    float qop, ut_tx;
    uint32_t found;
  } cases[] = {{2.1e-4f, 0.01f, 1}, {2.1e-4f, -0.01f, 0}, {-2.1e-4f, -0.01f, 0}, {1.9e-4f, -0.01f, 1}, {0, -0.01f, 1}};
  const uint32_t expected = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start_again();
    add_track(cases[i].qop, cases[i].ut_tx);
    add_line(0, middle_x);
    assert_int_equal(triplets_of(seeding_new(), &expected, 1), cases[i].found);
  }
}

static void the_nearer_of_two_middle_hits_is_selected(void **state) {
  (void)state;
  const struct {
    float before, beyond;
    uint32_t middle;
  } cases[] = {{0.5f, 0.6f, 1}, {0.6f, 0.5f, 2}, {0.5f, 50, 1}, {50, 0.5f, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start_again();
    add_track(2e-4f, 0);
    const float middle[] = {200, middle_x - cases[i].before, middle_x + cases[i].beyond, 400};
    add_window(0, 0, &first_x, 1);
    add_window(0, 8, middle, 4);
    add_window(0, 16, &last_x, 1);
    const uint32_t expected = word(0, 0, 0, cases[i].middle, 0);
    assert_int_equal(triplets_of(seeding_new(), &expected, 1), 1);
  }
}

/* Half a mm before the prediction, rounded to floats, and after it. */
static void the_first_of_two_equally_near_middle_hits_is_selected(void **state) {
  (void)state;
  const float k = 1.00177513f, per_difference = (8508.0f - 7826.0f * k) / (9193.0f - 7826.0f);
  const float x = k * first_x + per_difference * (last_x - first_x), middle[] = {x - 1, x - 0.5f, x + 0.5f};
  assert_true(x - middle[1] == middle[2] - x && fabsf(x - middle_x) < 0.001f);
  add_track(2e-4f, 0);
  add_window(0, 0, &first_x, 1);
  add_window(0, 8, middle, 3);
  add_window(0, 16, &last_x, 1);
  const uint32_t expected = word(0, 0, 0, 1, 0);
  assert_int_equal(triplets_of(seeding_new(), &expected, 1), 1);
}

/* Layers 3, 7 and 11 at 8036, 8718 and 9403 mm: 282.362, 350.562 and 419.062 mm, and the middle hit at 871.8 + (282.362
 * - 803.6) * 1.00142634 = 349.81854. Without momentum, left and right windows are separate: the left windows have the
 * same triplet with the smaller word. The best triplet is of the second kind, 0.1 mm off. */
static void triplets_of_both_kinds_and_sides_are_ordered_by_chi2_and_word(void **state) {
  (void)state;
  add_track(0, 0);
  add_line(0, middle_x + 0.5f);
  add_line(1, middle_x + 0.5f);
  const float x[] = {282.362f, 349.81854f + 0.1f, 419.062f};
  add_window(0, 5, &x[0], 1);
  add_window(0, 13, &x[1], 1);
  add_window(0, 21, &x[2], 1);
  const uint32_t expected[] = {word(1, 1, 0, 0, 0), word(0, 0, 0, 0, 0), word(1, 0, 0, 0, 0)};
  assert_int_equal(triplets_of(seeding_new(), expected, 3), 3);
  for (uint32_t max = 1; max < 4; max++) {
    struct sl_test *t = seeding_new();
    sl_test_set(t, "max_triplets", max);
    assert_int_equal(triplets_of(t, expected, 3), max);
  }
}

static void tracks_without_windows_have_no_triplets(void **state) {
  (void)state;
  add_track(2e-4f, 0);
  add_window(0, 0, &first_x, 1);
  add_window(0, 16, &last_x, 1);
  assert_int_equal(triplets_of(seeding_new(), NULL, 0), 0);
}

/* ------------------------------------------------------------------------------------------ plain search */

enum { FOUND_MAX = 1 << 15 };
struct found {
  float chi2;
  uint32_t word;
};
static struct found found[FOUND_MAX];
static uint32_t found_count;
/* Set if rounding errors of floats decide whether a pair passes the magnet in the allowed range. */
static uint32_t is_close;

static int by_chi2(const void *a_, const void *b_) {
  const struct found *a = a_, *b = b_;
  if (a->chi2 != b->chi2) return a->chi2 < b->chi2 ? -1 : 1;
  return a->word < b->word ? -1 : 1;
}

static int is_pair(uint32_t track, double x0, double x2, double z0, double z2, double max_distance) {
  const double velo_tx = c.velo_tx[track], qop = c.qop[track], z_magnet = 5212.38, margin = qop == 0 ? 0.004 : 0.02;
  const double slope = (x2 - x0) / (z2 - z0), velo_x = c.velo_x[track] + velo_tx * (z_magnet - c.velo_z[track]);
  const double miss = x0 + (z_magnet - z0) * slope - velo_x;
  if (qop == 0) {
    is_close |= fabs(fabs(miss) - max_distance) < margin;
    return fabs(miss) < max_distance;
  }
  const double range = 8 + 32 * fmin(1, fabs(qop) / 0.0005);
  const double beyond = miss - (-0.819493 + slope * (19.3897 + slope * (16.6874 - slope * 375.478)));
  is_close |= fabs(fabs(beyond) - range) < margin;
  if (fabs(beyond) >= range) return 0;
  if (fabs(qop) * 5000 <= 1) return 1;
  is_close |= fabs(slope - velo_tx) < 1e-5;
  return (slope > velo_tx) == (c.tx[track] > velo_tx);
}

static void try_middle(uint32_t track, uint32_t window, uint32_t upper_bits, float x, float max_chi2) {
  const uint32_t event = track >= c.offsets[1] ? 1 : 0, place = track * FORWARD_WINDOWS + window;
  const float *hit_x = c.hit_x + c.hit_offsets[event] + first[place];
  float nearest = 1e9f;
  uint32_t middle = 0;
  for (uint32_t i = 0; i < count[place]; i++) {
    const float distance = fabsf(hit_x[i] - x);
    if (distance >= nearest) continue;
    nearest = distance;
    middle = i;
  }
  if (nearest * nearest >= max_chi2) return;
  assert_true(found_count < FOUND_MAX);
  found[found_count].chi2 = nearest * nearest;
  found[found_count++].word = upper_bits | middle << 6;
}

static void try_all_pairs(uint32_t track, float max_distance, float max_chi2) {
  const uint32_t event = track >= c.offsets[1] ? 1 : 0;
  const float *hit_x = c.hit_x + c.hit_offsets[event], *z = constant.view.z_layer;
  found_count = is_close = 0;
  for (uint32_t kind = 0; kind < 2; kind++)
    for (uint32_t side = 0; side < 2; side++) {
      const uint32_t at = track * FORWARD_WINDOWS + 4 * kind + side, last = at + 16;
      const float z0 = z[3 * kind], z1 = z[4 + 3 * kind], z2 = z[8 + 3 * kind], k = kind ? 1.00142634f : 1.00177513f;
      const float per_difference = (z1 - z0 * k) / (z2 - z0);
      for (uint32_t h0 = 0; h0 < count[at]; h0++)
        for (uint32_t h2 = 0; h2 < count[last]; h2++) {
          const float x0 = hit_x[first[at] + h0], x2 = hit_x[first[last] + h2];
          if (is_pair(track, x0, x2, z0, z2, max_distance))
            try_middle(track, at % FORWARD_WINDOWS + 8, word(side, kind, h0, 0, h2),
                       k * x0 + per_difference * (x2 - x0), max_chi2);
        }
    }
  qsort(found, found_count, sizeof found[0], by_chi2);
}

static int ascending(const void *a, const void *b) {
  const float d = *(const float *)a - *(const float *)b;
  return (d > 0) - (d < 0);
}

/* Hits on both sides of a line that passes the magnet near the VELO track. */
static void make_windows(uint32_t track, uint32_t hits, float half_width) {
  const float slope = random_between(-0.4f, 0.4f), at_magnet = c.velo_x[track] + c.velo_tx[track] * (5212.38f - 770);
  for (uint32_t side = 0; side < (c.qop[track] == 0 ? 2u : 1u); side++)
    for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
      float x[64];
      const uint32_t here = (uint32_t)random_between((float)hits / 2, (float)hits + 0.9f);
      const float middle = at_magnet + slope * (constant.view.z_layer[forward_x_layer(i)] - 5212.38f);
      for (uint32_t k = 0; k < here; k++) x[k] = middle + random_between(-half_width, half_width);
      qsort(x, here, sizeof x[0], ascending);
      add_window(track, 4 * i + side, x, here);
    }
}

/* Tracks without pairs that depend on rounding. */
static void make_random_case(uint32_t tracks, uint32_t hits, float half_width, float max_distance, float max_chi2) {
  memset(&c, 0, sizeof c);
  memset(first, 0, sizeof first);
  memset(count, 0, sizeof count);
  for (uint32_t i = 0; i < tracks; i++) {
    const uint32_t event = i < tracks / 2 ? 0 : 1;
    const float charge = i % 2 ? 1 : -1, qop = i % 3 ? charge / random_between(2000, 20000) : 0;
    const float tx = random_between(-0.2f, 0.2f);
    case_add_track(&c, event, 2642 * tx, 100, tx, 0.1f, qop);
    c.tx[i] += random_between(-0.02f, 0.02f);
    const uint32_t offsets[] = {c.hit_offsets[1], c.hit_offsets[CASE_EVENTS]};
    uint32_t turns = 0;
    do {
      assert_true(turns++ < 10000);
      c.hit_offsets[1] = offsets[0];
      c.hit_offsets[CASE_EVENTS] = offsets[1];
      make_windows(i, hits, half_width);
      try_all_pairs(i, max_distance, max_chi2);
    } while (is_close);
  }
}

static void triplets_equal_those_of_testing_all_pairs(void **state) {
  (void)state;
  static const struct {
    uint32_t tracks, hits;
    float half_width, max_distance, max_chi2;
    uint32_t max_triplets, most; /* least number per track */
  } cases[] = {{30, 32, 200, 10, 8, 12, 13},
               {30, 60, 150, 12, 2, 20, 40},
               {6, 60, 80, 40, 300, 20, 500},
               {30, 5, 30, 10, 8, 12, 1},
               {20, 33, 200, 10, 8, 1, 2}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    uint32_t most = 0;
    make_random_case(cases[k].tracks, cases[k].hits, cases[k].half_width, cases[k].max_distance, cases[k].max_chi2);
    for (uint32_t block = 32; block <= 512; block *= 2) {
      struct sl_test *t = seeding_new();
      sl_test_block(t, block);
      sl_test_set(t, "max_triplets", cases[k].max_triplets);
      sl_test_set(t, "max_chi2", cases[k].max_chi2);
      sl_test_set(t, "max_distance", cases[k].max_distance);
      assert_int_equal(sl_test_run(t), 0);
      assert_memory_equal(sl_test_output(t, "triplets", "offsets"), c.offsets, sizeof c.offsets);
      for (uint32_t track = 0; track < cases[k].tracks; track++) {
        try_all_pairs(track, cases[k].max_distance, cases[k].max_chi2);
        const uint32_t kept = found_count < cases[k].max_triplets ? found_count : cases[k].max_triplets;
        most = found_count > most ? found_count : most;
        assert_int_equal(count_of(t, track), kept);
        for (uint32_t i = 0; i < FORWARD_TRIPLETS_MAX; i++)
          assert_int_equal(word_of(t, track, i), i < kept ? found[i].word : 0);
      }
      sl_test_free(t);
    }
    assert_true(most >= cases[k].most);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      TEST(the_middle_hit_is_near_the_prediction_of_the_pair),
      TEST(a_pair_passes_the_magnet_near_the_velo_track),
      TEST(without_a_momentum_the_distance_in_the_magnet_is_a_property),
      TEST(slow_tracks_bend_to_the_same_side_as_in_the_ut),
      TEST(the_nearer_of_two_middle_hits_is_selected),
      TEST(the_first_of_two_equally_near_middle_hits_is_selected),
      TEST(triplets_of_both_kinds_and_sides_are_ordered_by_chi2_and_word),
      TEST(tracks_without_windows_have_no_triplets),
      TEST(triplets_equal_those_of_testing_all_pairs),
  };
  const int failed = cmocka_run_group_tests_name("triplets", tests, NULL, NULL);
  shared = 1;
  return failed + cmocka_run_group_tests_name("triplets, shared", tests, NULL, NULL);
}
