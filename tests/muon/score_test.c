/* score_test.c: muon.score: chi2 by matrix inversion, stubs and network in double precision, and fixed values. */
#include "forward/event_model.h"
#include "muon/score_network.h"
#include "muon_support.h"
#include "network_case.h"

#include <math.h>

enum { EVENTS = 3, TRACKS = 600, HITS = 4 * TRACKS, INPUTS = MUON_SCORE_INPUT_COUNT };

/* Tracks with up to four own hits. The VELO tracks of an event are in the reverse order of its long tracks. */
struct sample {
  uint32_t offsets[EVENTS + 1], hit_offsets[EVENTS + 1];
  float qop[TRACKS], x[TRACKS], y[TRACKS], tx[TRACKS], ty[TRACKS], velo_ty[TRACKS];
  uint32_t velo_track[TRACKS];
  uint8_t is_muon[TRACKS];
  uint16_t links[TRACKS][MUON_STATIONS];
  float hit_x[HITS], hit_y[HITS], hit_z[HITS], half_x[HITS], half_y[HITS];
};

static struct network_case network;

static int load_network(void **state) {
  (void)state;
  network_case_load(&network, "muon");
  return 0;
}

static struct sl_test *score_new(const struct sample *s, const struct network_case *n) {
  struct sl_test *t = sl_test_new(MUON_PLUGIN, "score");
  const uint32_t count = s->offsets[EVENTS], hits = s->hit_offsets[EVENTS];
  sl_test_events(t, EVENTS);
  sl_test_input(t, "tracks", "offsets", s->offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "velo_track", s->velo_track, count);
  sl_test_input(t, "tracks", "qop", s->qop, count);
  sl_test_input(t, "tracks", "x", s->x, count);
  sl_test_input(t, "tracks", "y", s->y, count);
  sl_test_input(t, "tracks", "tx", s->tx, count);
  sl_test_input(t, "tracks", "ty", s->ty, count);
  sl_test_input(t, "flags", "is_muon", s->is_muon, count);
  sl_test_input(t, "flags", "hits", s->links, (uint64_t)MUON_STATIONS * count);
  sl_test_input(t, "end_states", "offsets", s->offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "ty", s->velo_ty, count);
  sl_test_input(t, "hits", "offsets", s->hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "x", s->hit_x, hits);
  sl_test_input(t, "hits", "y", s->hit_y, hits);
  sl_test_input(t, "hits", "z", s->hit_z, hits);
  sl_test_input(t, "hits", "half_x", s->half_x, hits);
  sl_test_input(t, "hits", "half_y", s->half_y, hits);
  if (n) network_case_give(t, n);
  return t;
}

/* Results of a run. */
struct found {
  struct sl_test *test;
  const float *correlated, *uncorrelated, *score;
};

static struct found run(const struct sample *s, const struct network_case *n) {
  struct found f = {.test = score_new(s, n)};
  assert_int_equal(sl_test_run(f.test), 0);
  f.correlated = OUTPUT(f.test, "scores", "chi2_correlated", float);
  f.uncorrelated = OUTPUT(f.test, "scores", "chi2_uncorrelated", float);
  f.score = OUTPUT(f.test, "scores", "score", float);
  return f;
}

static void assert_near(const char *what, uint32_t track, double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("track %u: %s is %.9g, expected %.9g +- %.3g", track, what, found, expected, tolerance);
}

/* --------------------------------------------------------------------------------------------------- the sample */

static float slope_of(float half) { return random_between(-half, half); }

/* Adds a hit of the event's last track, `shift` half-widths away from it. */
static void add_hit(struct sample *s, uint32_t event, uint32_t i, uint32_t station, float shift) {
  const uint32_t hit = s->hit_offsets[event + 1]++;
  const float dz = 15200.0f + 1200.0f * (float)station + random_between(-150, 150) - 9410.0f;
  s->hit_z[hit] = 9410.0f + dz;
  s->half_x[hit] = random_between(3, 120);
  s->half_y[hit] = random_between(15, 150);
  s->hit_x[hit] = s->x[i] + s->tx[i] * dz + s->half_x[hit] * slope_of(shift);
  s->hit_y[hit] = s->y[i] + s->ty[i] * dz + s->half_y[hit] * slope_of(shift);
  s->links[i][station] = (uint16_t)(hit - s->hit_offsets[event]);
}

/* Adds a track with hits in the stations of the mask, M2 first. */
static uint32_t add_track(struct sample *s, uint32_t event, float p, uint32_t stations, float shift) {
  const uint32_t i = s->offsets[event + 1]++;
  assert_true(i < TRACKS);
  s->qop[i] = (i % 2 ? 1.0f : -1.0f) / p;
  s->x[i] = random_between(-2000, 2000);
  s->y[i] = random_between(-2000, 2000);
  s->tx[i] = slope_of(0.3f);
  s->ty[i] = slope_of(0.2f);
  s->is_muon[i] = 1;
  for (uint32_t station = 0; station < MUON_STATIONS; station++) {
    s->links[i][station] = MUON_NO_HIT;
    if (stations >> station & 1) add_hit(s, event, i, station, shift);
  }
  return i;
}

/* Opens an event after the one before is complete. */
static void open_event(struct sample *s, uint32_t event) {
  s->offsets[event + 1] = s->offsets[event];
  s->hit_offsets[event + 1] = s->hit_offsets[event];
}

static void close_event(struct sample *s, uint32_t event) {
  const uint32_t first = s->offsets[event], end = s->offsets[event + 1];
  for (uint32_t i = first; i < end; i++) {
    const uint32_t velo = end - 1 - i;
    s->velo_track[i] = velo;
    s->velo_ty[first + velo] = s->ty[i] + slope_of(0.01f);
  }
}

static void make_sample(struct sample *s) {
  static const uint32_t stations[] = {0x3, 0x7, 0xB, 0xF, 0xF, 0xC};
  memset(s, 0, sizeof *s);
  random_start(11);
  for (uint32_t event = 0; event < EVENTS; event++) {
    open_event(s, event);
    for (uint32_t n = 0; n < TRACKS / EVENTS; n++) {
      const float p = n % 3 ? random_between(3000, 12000) : random_between(10000, 100000);
      const uint32_t i = add_track(s, event, p, stations[random_below(6)], n % 4 ? 1.0f : 8.0f);
      s->is_muon[i] = n % 5 != 0;
    }
    close_event(s, event);
  }
}

/* One track in each of the first two events; the third is empty. */
static void make_two(struct sample *s, float p, uint32_t stations, float shift) {
  memset(s, 0, sizeof *s);
  random_start(3);
  for (uint32_t event = 0; event < EVENTS; event++) {
    open_event(s, event);
    if (event < 2) add_track(s, event, p, stations, shift);
    close_event(s, event);
  }
}

/* --------------------------------------------------------------------------------------------------- plain version */

/* Inverts the n x n matrix by Gauss-Jordan elimination with pivots. */
static void invert(uint32_t n, double m[4][4], double inverse[4][4]) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n; k++) inverse[i][k] = i == k;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t pivot = i;
    for (uint32_t k = i + 1; k < n; k++)
      if (fabs(m[k][i]) > fabs(m[pivot][i])) pivot = k;
    for (uint32_t k = 0; k < n; k++) {
      const double a = m[i][k], b = inverse[i][k];
      m[i][k] = m[pivot][k], m[pivot][k] = a;
      inverse[i][k] = inverse[pivot][k], inverse[pivot][k] = b;
    }
    const double scale = m[i][i];
    for (uint32_t k = 0; k < n; k++) m[i][k] /= scale, inverse[i][k] /= scale;
    for (uint32_t j = 0; j < n; j++) {
      const double factor = m[j][i];
      if (j == i) continue;
      for (uint32_t k = 0; k < n; k++) m[j][k] -= factor * m[i][k], inverse[j][k] -= factor * inverse[i][k];
    }
  }
}

/* d^T C^-1 d of the n hits at z with residuals d. */
static double plain_chi2(uint32_t n, double p, const double *z, const double *d, const double *half) {
  static const double absorbers[5][2] = {{12800, 28}, {14300, 53}, {15800, 47.5}, {17100, 47.5}, {18300, 47.5}};
  double c[4][4], inverse[4][4], chi2 = 0;
  for (uint32_t j = 0; j < n; j++)
    for (uint32_t k = 0; k < n; k++) {
      c[j][k] = j == k ? half[j] * half[j] / 12 : 0;
      for (uint32_t a = 0; a < 5; a++)
        if (absorbers[a][0] < fmin(z[j], z[k]))
          c[j][k] += pow(13.6 / p, 2) * absorbers[a][1] * (z[j] - absorbers[a][0]) * (z[k] - absorbers[a][0]);
    }
  invert(n, c, inverse);
  for (uint32_t j = 0; j < n; j++)
    for (uint32_t k = 0; k < n; k++) chi2 += d[j] * inverse[j][k] * d[k];
  return chi2;
}

/* Slope of u(z) from the normal equations, with z relative to the first hit. */
static double plain_slope(uint32_t n, const double *z, const double *u, const double *half) {
  double w = 0, wz = 0, wzz = 0, wu = 0, wzu = 0;
  for (uint32_t j = 0; j < n; j++) {
    const double weight = 1 / (half[j] * half[j]), dz = z[j] - z[0];
    w += weight, wz += weight * dz, wzz += weight * dz * dz, wu += weight * u[j], wzu += weight * dz * u[j];
  }
  return (w * wzu - wz * wu) / (w * wzz - wz * wz);
}

/* chi2 per hit and changes of slope. */
struct plain {
  double correlated, uncorrelated, dtx, dty, dty_velo;
};

static struct plain plain_of(const struct sample *s, uint32_t event, uint32_t i) {
  double z[4], x[4], y[4], dx[4], dy[4], half_x[4], half_y[4];
  const double p = 1 / fabs((double)s->qop[i]);
  uint32_t n = 0;
  for (uint32_t station = 0; station < MUON_STATIONS; station++) {
    if (s->links[i][station] == MUON_NO_HIT) continue;
    const uint32_t hit = s->hit_offsets[event] + s->links[i][station];
    z[n] = (double)s->hit_z[hit], x[n] = (double)s->hit_x[hit], y[n] = (double)s->hit_y[hit];
    half_x[n] = (double)s->half_x[hit], half_y[n] = (double)s->half_y[hit];
    dx[n] = x[n] - (double)s->x[i] - (double)s->tx[i] * (z[n] - 9410);
    dy[n] = y[n] - (double)s->y[i] - (double)s->ty[i] * (z[n] - 9410);
    n++;
  }
  const double tx = plain_slope(n, z, x, half_x), ty = plain_slope(n, z, y, half_y);
  const uint32_t used = p > 6000 ? n : 2;
  struct plain q = {.dtx = fabs(tx - (double)s->tx[i]), .dty = fabs(ty - (double)s->ty[i])};
  q.dty_velo = fabs(ty - (double)s->velo_ty[s->offsets[event] + s->velo_track[i]]);
  q.correlated = (plain_chi2(used, p, z, dx, half_x) + plain_chi2(used, p, z, dy, half_y)) / used;
  for (uint32_t j = 0; j < used; j++)
    q.uncorrelated += 12 * (pow(dx[j] / half_x[j], 2) + pow(dy[j] / half_y[j], 2)) / used;
  return q;
}

/* Inputs of the network in single precision, as views of the sample. */
static uint32_t inputs_of(const struct sample *s, uint32_t event, uint32_t i, float *inputs) {
  const struct long_tracks_view tracks = {
      .qop = s->qop, .x = s->x, .y = s->y, .tx = s->tx, .ty = s->ty, .velo_track = s->velo_track};
  const struct muon_hits_view hits = {
      .offsets = s->hit_offsets, .x = s->hit_x, .y = s->hit_y, .z = s->hit_z, .half_x = s->half_x, .half_y = s->half_y};
  const struct muon_flags_view flags = {.hits = s->links[0]};
  const struct track_states_view states = {.offsets = s->offsets, .ty = s->velo_ty};
  const struct muon_score_track t = muon_score_track_at(&tracks, &hits, &flags, &states, event, i);
  return muon_score_inputs(&t, inputs);
}

/* ------------------------------------------------------------------------------------------------------- cases */

/* Positions up to 5 m are rounded to 0.2 um, slopes of stubs thereby to 1e-6; chi2 loses up to three digits where
 * scattering is much larger than the pads. */
static void chi2_and_slopes_equal_those_of_plain_sums(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s);
  struct found f = run(&s, &network);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = s.offsets[event]; i < s.offsets[event + 1]; i++) {
      float inputs[INPUTS];
      if (!s.is_muon[i]) continue;
      const struct plain q = plain_of(&s, event, i);
      assert_near("chi2_correlated", i, (double)f.correlated[i], log10(q.correlated), 2e-3);
      assert_near("chi2_uncorrelated", i, (double)f.uncorrelated[i], log10(q.uncorrelated), 2e-3);
      assert_int_equal(inputs_of(&s, event, i, inputs), 1);
      assert_near("dtx", i, exp((double)inputs[MUON_SCORE_INPUT_log_dtx]), q.dtx, 2e-6);
      assert_near("dty", i, exp((double)inputs[MUON_SCORE_INPUT_log_dty]), q.dty, 2e-6);
      assert_near("dty_velo", i, exp((double)inputs[MUON_SCORE_INPUT_log_dty_velo]), q.dty_velo, 2e-6);
    }
  sl_test_free(f.test);
}

static void scores_equal_those_of_the_plain_network(void **state) {
  static struct sample s;
  uint32_t high = 0, low = 0;
  (void)state;
  make_sample(&s);
  struct found f = run(&s, &network);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = s.offsets[event]; i < s.offsets[event + 1]; i++) {
      float inputs[INPUTS];
      double x[INPUTS], scale;
      if (!s.is_muon[i]) continue;
      assert_int_equal(inputs_of(&s, event, i, inputs), 1);
      /* The same bits as on the host. */
      assert_memory_equal(&f.correlated[i], &inputs[MUON_SCORE_INPUT_log_chi2_correlated], sizeof(float));
      assert_memory_equal(&f.uncorrelated[i], &inputs[MUON_SCORE_INPUT_log_chi2_uncorrelated], sizeof(float));
      for (uint32_t k = 0; k < INPUTS; k++) x[k] = (double)inputs[k];
      const double logit = network_case_logit(&network, x, &scale);
      assert_near("score", i, (double)f.score[i], 1 / (1 + exp(-logit)), 1e-6 * scale);
      high += f.score[i] > 0.7f;
      low += f.score[i] < 0.3f;
    }
  assert_true(high > 20 && low > 20);
  sl_test_free(f.test);
}

static void tracks_that_are_not_muons_have_fixed_values(void **state) {
  static struct sample s;
  uint32_t others = 0;
  (void)state;
  make_sample(&s);
  struct found f = run(&s, &network);
  for (uint32_t i = 0; i < s.offsets[EVENTS]; i++) {
    if (s.is_muon[i]) continue;
    others++;
    assert_true(f.correlated[i] == 10 && f.uncorrelated[i] == 10 && f.score[i] == 0);
  }
  assert_true(others > 50);
  sl_test_free(f.test);
}

static void without_a_network_all_scores_are_1(void **state) {
  static struct sample s;
  static struct network_case none;
  (void)state;
  make_sample(&s);
  network_case_load(&none, "none");
  struct found with = run(&s, &network), unconnected = run(&s, NULL), off = run(&s, &none);
  const size_t bytes = sizeof(float) * s.offsets[EVENTS];
  for (uint32_t i = 0; i < s.offsets[EVENTS]; i++) assert_true(unconnected.score[i] == 1 && off.score[i] == 1);
  assert_memory_equal(unconnected.correlated, with.correlated, bytes);
  assert_memory_equal(off.uncorrelated, with.uncorrelated, bytes);
  sl_test_free(with.test);
  sl_test_free(unconnected.test);
  sl_test_free(off.test);
}

static void a_track_through_the_middle_of_its_hits_has_the_least_chi2(void **state) {
  static struct sample s;
  (void)state;
  make_two(&s, 20000, 0xF, 0);
  for (uint32_t i = 0; i < 2; i++) { /* exact in single precision */
    s.x[i] = s.y[i] = 512, s.tx[i] = 0, s.ty[i] = 0;
    for (uint32_t k = 0; k < MUON_STATIONS; k++) s.hit_x[MUON_STATIONS * i + k] = s.hit_y[MUON_STATIONS * i + k] = 512;
  }
  struct found f = run(&s, &network);
  for (uint32_t i = 0; i < 2; i++) {
    assert_near("chi2_correlated", i, (double)f.correlated[i], -6, 1e-6);
    assert_near("chi2_uncorrelated", i, (double)f.uncorrelated[i], -6, 1e-6);
    assert_true(f.score[i] > 0.9f);
  }
  sl_test_free(f.test);
}

/* Up to 6 GeV, hits in M4 and M5 do not change chi2; they change the score. */
static void chi2_of_slow_tracks_is_of_the_first_two_hits(void **state) {
  static const float momenta[] = {5999, 6001};
  (void)state;
  for (uint32_t k = 0; k < 2; k++) {
    static struct sample s;
    make_two(&s, momenta[k], 0xF, 1);
    for (uint32_t hit = MUON_STATIONS; hit < 2 * MUON_STATIONS; hit++) { /* the second track becomes the first */
      const uint32_t of = hit - MUON_STATIONS;
      s.hit_x[hit] = s.hit_x[of], s.hit_y[hit] = s.hit_y[of], s.hit_z[hit] = s.hit_z[of];
      s.half_x[hit] = s.half_x[of], s.half_y[hit] = s.half_y[of];
    }
    s.x[1] = s.x[0], s.y[1] = s.y[0], s.tx[1] = s.tx[0], s.ty[1] = s.ty[0], s.velo_ty[1] = s.velo_ty[0];
    s.hit_x[MUON_STATIONS + 3] += 300;
    struct found f = run(&s, &network);
    assert_int_equal(f.correlated[0] == f.correlated[1], k == 0);
    assert_int_equal(f.uncorrelated[0] == f.uncorrelated[1], k == 0);
    assert_true(f.score[0] > f.score[1]);
    sl_test_free(f.test);
  }
}

static void too_few_hits_and_numbers_that_are_not_finite_have_fixed_values(void **state) {
  (void)state;
  static const float wrong[] = {NAN, INFINITY, -INFINITY};
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t field = 0; field < 8; field++) {
      static struct sample s;
      make_two(&s, 20000, 0xF, 1);
      float *const fields[] = {s.x, s.y, s.tx, s.ty, s.velo_ty, s.hit_x, s.hit_y, s.hit_z};
      *fields[field] = wrong[k];
      struct found f = run(&s, &network);
      assert_true(f.correlated[0] == 10 && f.uncorrelated[0] == 10 && f.score[0] == 0);
      assert_true(f.correlated[1] < 10 && f.score[1] > 0);
      sl_test_free(f.test);
    }
  for (uint32_t stations = 0; stations < 3; stations++) { /* none, M2 or M3 */
    static struct sample s;
    make_two(&s, 20000, stations, 1);
    struct found f = run(&s, &network);
    for (uint32_t i = 0; i < 2; i++) assert_true(f.correlated[i] == 10 && f.uncorrelated[i] == 10 && f.score[i] == 0);
    sl_test_free(f.test);
  }
}

/* Infinite momentum: no scattering. */
static void chi2_of_a_straight_track_is_uncorrelated(void **state) {
  static struct sample s;
  (void)state;
  make_two(&s, 20000, 0xF, 1);
  s.qop[0] = s.qop[1] = 0;
  struct found f = run(&s, &network);
  for (uint32_t i = 0; i < 2; i++)
    assert_near("chi2_correlated", i, (double)f.correlated[i], (double)f.uncorrelated[i], 1e-5);
  s.qop[0] = NAN;
  struct found invalid = run(&s, &network);
  assert_true(invalid.correlated[0] == 10 && invalid.score[0] == 0);
  sl_test_free(f.test);
  sl_test_free(invalid.test);
}

static void a_network_with_other_inputs_is_refused(void **state) {
  static struct sample s;
  static struct network_case other;
  (void)state;
  make_two(&s, 20000, 0xF, 1);
  network_case_load(&other, "matching");
  struct sl_test *t = score_new(&s, &other);
  assert_int_not_equal(sl_test_run(t), 0);
  assert_non_null(strstr(sl_test_messages(t), "inputs of this node are log_chi2_correlated, "));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chi2_and_slopes_equal_those_of_plain_sums),
      cmocka_unit_test(scores_equal_those_of_the_plain_network),
      cmocka_unit_test(tracks_that_are_not_muons_have_fixed_values),
      cmocka_unit_test(without_a_network_all_scores_are_1),
      cmocka_unit_test(a_track_through_the_middle_of_its_hits_has_the_least_chi2),
      cmocka_unit_test(chi2_of_slow_tracks_is_of_the_first_two_hits),
      cmocka_unit_test(too_few_hits_and_numbers_that_are_not_finite_have_fixed_values),
      cmocka_unit_test(chi2_of_a_straight_track_is_uncorrelated),
      cmocka_unit_test(a_network_with_other_inputs_is_refused),
  };
  return cmocka_run_group_tests(tests, load_network, NULL);
}
