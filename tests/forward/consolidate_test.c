/* consolidate_test.c: forward.consolidate: tracks and hits of three events, one of them empty, and momenta against the
 * formulas in double precision.
 */
#include "candidates_case.h"

#include <math.h>

enum { EVENTS = 3, INPUTS = 6, HITS = 15, STATES = 8 };

/* Each event begins with two VELO states without a track. */
static const uint32_t offsets[] = {0, 3, 4, 6}, hit_offsets[] = {0, 8, 9, 15}, state_offsets[] = {0, 4, 5, 8};
static const uint32_t velo_track[] = {1, 2, 3, 0, 2, 1}, ut_track[] = {0, 1, 2, 0, FORWARD_NO_TRACK, 1};
static const uint8_t hit_count[] = {3, 0, 5, 0, 4, 2};
static const uint16_t found[INPUTS][SCIFI_TRACK_HITS_MAX] = {{0, 2, 7}, {0},          {1, 2, 3, 4, 5},
                                                             {0},       {0, 1, 4, 5}, {2, 3}};
static uint32_t ids[HITS];

static struct { float a[INPUTS], b[INPUTS], c[INPUTS], r[INPUTS], y[INPUTS], ty[INPUTS], quality[INPUTS]; } best;
static struct { float x[STATES], y[STATES], z[STATES], tx[STATES], ty[STATES]; } velo;

/* Tracks from (0, 0, 0) that are bent at about z = 5200 mm by the change of dx/dz. */
static void make_tracks(void) {
  struct case_random r = {1};
  for (uint32_t i = 0; i < HITS; i++) ids[i] = (uint32_t)SCIFI_LHCB_ID | 77 * i;
  for (uint32_t i = 0; i < STATES; i++) {
    velo.tx[i] = random_in(&r, -0.2f, 0.2f);
    velo.ty[i] = random_in(&r, -0.2f, 0.2f);
    velo.x[i] = 770 * velo.tx[i] + random_in(&r, -1, 1);
    velo.y[i] = 770 * velo.ty[i] + random_in(&r, -1, 1);
    velo.z[i] = 770;
  }
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
      const uint32_t state = state_offsets[event] + velo_track[i];
      best.b[i] = velo.tx[state] + random_in(&r, -0.15f, 0.15f);
      best.c[i] = 5200 * velo.tx[state] + (8520 - 5200) * best.b[i] + random_in(&r, -2, 2);
      best.a[i] = random_in(&r, -3e-6f, 3e-6f);
      best.r[i] = random_in(&r, -4e-4f, -2e-4f);
      best.y[i] = random_in(&r, -30, 30);
      best.ty[i] = velo.ty[state] + random_in(&r, -2e-3f, 2e-3f);
    }
}

static struct sl_test *consolidate_new(const struct forward_constant *forward, float polarity) {
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "consolidate");
  make_tracks();
  sl_test_events(t, EVENTS);
  sl_test_input(t, "inputs", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "inputs", "velo_track", velo_track, INPUTS);
  sl_test_input(t, "inputs", "ut_track", ut_track, INPUTS);
  sl_test_input(t, "best", "hit_count", hit_count, INPUTS);
  sl_test_input(t, "best", "hits", found, INPUTS * SCIFI_TRACK_HITS_MAX);
  sl_test_input(t, "best", "a", best.a, INPUTS);
  sl_test_input(t, "best", "b", best.b, INPUTS);
  sl_test_input(t, "best", "c", best.c, INPUTS);
  sl_test_input(t, "best", "r", best.r, INPUTS);
  sl_test_input(t, "best", "y", best.y, INPUTS);
  sl_test_input(t, "best", "ty", best.ty, INPUTS);
  sl_test_input(t, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "id", ids, HITS);
  sl_test_input(t, "end_states", "offsets", state_offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "x", velo.x, STATES);
  sl_test_input(t, "end_states", "y", velo.y, STATES);
  sl_test_input(t, "end_states", "z", velo.z, STATES);
  sl_test_input(t, "end_states", "tx", velo.tx, STATES);
  sl_test_input(t, "end_states", "ty", velo.ty, STATES);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  forward_constant_give(forward, t, "bend constants");
  return t;
}

static const float *floats(const struct sl_test *t, const char *field) { return sl_test_output(t, "tracks", field); }
static const uint32_t *words(const struct sl_test *t, const char *field) { return sl_test_output(t, "tracks", field); }

enum { TRACKS = 4 };
static const uint32_t inputs_of_tracks[TRACKS] = {0, 2, 4, 5};

static void tracks_have_the_hits_of_the_candidates(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = consolidate_new(&forward, -1);
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t expected_offsets[] = {0, 2, 2, 4}, expected_hit_offsets[] = {0, 3, 8, 12, 14};
    const uint16_t expected_hits[] = {0, 2, 7, 1, 2, 3, 4, 5, 0, 1, 4, 5, 2, 3};
    assert_memory_equal(words(t, "offsets"), expected_offsets, sizeof expected_offsets);
    assert_memory_equal(words(t, "hit_offsets"), expected_hit_offsets, sizeof expected_hit_offsets);
    assert_memory_equal(sl_test_output(t, "tracks", "hit"), expected_hits, sizeof expected_hits);
    for (uint32_t h = 0; h < 14; h++)
      assert_int_equal(words(t, "hit_id")[h], ids[hit_offsets[h < 8 ? 0 : 2] + expected_hits[h]]);
    for (uint32_t i = 0; i < TRACKS; i++) {
      assert_int_equal(words(t, "velo_track")[i], velo_track[inputs_of_tracks[i]]);
      assert_int_equal(words(t, "ut_track")[i], ut_track[inputs_of_tracks[i]]);
    }
    sl_test_free(t);
  }
  forward_constant_close(&forward);
}

static void the_state_is_downstream_of_the_detector(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  struct sl_test *t = consolidate_new(&forward, -1);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const uint32_t from = inputs_of_tracks[i];
    const struct plain_curve curve = {best.a[from], best.b[from], best.c[from], best.r[from]};
    const double slope = (plain_x(&curve, 9410.5) - plain_x(&curve, 9409.5));
    assert_true(fabs(floats(t, "x")[i] - plain_x(&curve, 9410)) < 1e-3);
    assert_true(fabs(floats(t, "y")[i] - (best.y[from] + 9410. * best.ty[from])) < 1e-3);
    assert_true(fabs(floats(t, "tx")[i] - slope) < 1e-6);
    assert_true(floats(t, "ty")[i] == best.ty[from]);
  }
  sl_test_free(t);
  forward_constant_close(&forward);
}

static double sine(double tx, double ty) { return tx / sqrt(1 + tx * tx + ty * ty); }
static double square(double x) { return x * x; }

/* Powers of tx and ty of the divisor's coefficients, in their order, for each power of the bend. */
static double divisor(const float *c, double bend, double tx, double ty) {
  static const int even[][2] = {{0, 0}, {2, 0}, {4, 0}, {6, 0}, {0, 2}, {2, 2}, {4, 2}, {0, 4}, {2, 4}, {0, 5}, {0, 6}};
  static const int odd[][2] = {{0, 0}, {0, 2}, {0, 4}, {0, 6}, {1, 0}, {3, 0}, {5, 0},
                               {7, 0}, {1, 2}, {3, 2}, {5, 2}, {1, 4}, {3, 4}, {1, 6}};
  double sum = 0;
  for (int n = 0; n < 5; n++)
    for (int k = 0; k < (n % 2 ? FORWARD_BEND_ODD_TERMS : FORWARD_BEND_EVEN_TERMS); k++) {
      const int *power = n % 2 ? odd[k] : even[k];
      sum += *c++ * pow(bend, n) * pow(tx, power[0]) * pow(ty, power[1]);
    }
  return sum;
}

static void the_momentum_equals_the_formulas(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  for (int polarity = -1; polarity <= 1; polarity += 2) {
    struct sl_test *t = consolidate_new(&forward, (float)polarity);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t i = 0; i < TRACKS; i++) {
      const uint32_t from = inputs_of_tracks[i], v = state_offsets[i < 2 ? 0 : 2] + velo_track[from];
      const double tx = velo.tx[v], ty = velo.ty[v], slope = best.b[from];
      const double z = (best.c[from] - velo.x[v] + tx * velo.z[v] - slope * 8520) / (tx - slope);
      const double x_match = velo.x[v] + tx * (z - velo.z[v]), y_match = velo.y[v] + ty * (z - velo.z[v]);
      const double x_0 = velo.x[v] - tx * velo.z[v], y_0 = velo.y[v] - ty * velo.z[v];
      const double way = sqrt(square(best.c[from] - x_match) + square(best.y[from] - y_match) + square(8520 - z) +
                              square(x_match - x_0) + square(y_match - y_0) + square(z));
      const double bend = sine(slope, best.ty[from]) - sine(tx, ty);
      const double expected =
          bend / (polarity * 1e-3 * way * sqrt(1 - ty * ty) * divisor(forward.view.bend, bend, tx, ty));
      assert_true(z > 0 && z < 8520); /* the case contains lines that cross */
      assert_true(fabs(floats(t, "qop")[i] / expected - 1) < 2e-5);
      /* Positive charges bend towards -x for polarity up. */
      assert_true(floats(t, "qop")[i] * (float)polarity * (float)bend < 0);
    }
    sl_test_free(t);
  }
  forward_constant_close(&forward);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tracks_have_the_hits_of_the_candidates),
      cmocka_unit_test(the_state_is_downstream_of_the_detector),
      cmocka_unit_test(the_momentum_equals_the_formulas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
