/* ghost_scores_test.c: forward.ghost_scores against plain formulas in double precision, with tracks that share hits, in
 * three events, one of them without tracks; and the requirement of forward.consolidate on the probability.
 */
#include "forward/ghost_network.h"
#include "forward_support.h"
#include "network_case.h"

enum { EVENTS = 3, TRACKS = 120, STATES = 130, EVENT_HITS = 12000 };

static const uint32_t offsets[] = {0, 70, 70, 120}, state_offsets[] = {0, 75, 78, 130};
static const uint32_t hit_offsets[] = {0, EVENT_HITS, EVENT_HITS + 1, 2 * EVENT_HITS};
static struct {
  uint32_t velo_track[TRACKS], ut_track[TRACKS];
  float qop[TRACKS];
} inputs;
static struct {
  uint8_t hit_count[TRACKS];
  uint16_t hits[TRACKS * SCIFI_TRACK_HITS_MAX];
  float a[TRACKS], b[TRACKS], c[TRACKS], r[TRACKS], y[TRACKS], ty[TRACKS], quality[TRACKS];
} best;
static struct { float x[STATES], y[STATES], z[STATES], tx[STATES], ty[STATES]; } velo;
static uint32_t hit_ids[2 * EVENT_HITS];
static struct forward_constant forward;
static const float polarity = -1;

static int start(void **state) {
  (void)state;
  forward_constant_open(&forward);
  return 0;
}
static int stop(void **state) {
  (void)state;
  forward_constant_close(&forward);
  return 0;
}

/* Tracks that bend at about z = 5200 mm, right ones and such that miss by centimetres. Every seventh has no candidate,
 * every fifth no UT. Some hits are shared. */
static void make_tracks(void) {
  for (uint32_t i = 0; i < STATES; i++) {
    velo.tx[i] = random_between(-0.2f, 0.2f);
    velo.ty[i] = random_between(-0.2f, 0.2f);
    velo.z[i] = random_between(600, 770);
    velo.x[i] = velo.z[i] * velo.tx[i] + random_between(-1, 1);
    velo.y[i] = velo.z[i] * velo.ty[i] + random_between(-1, 1);
  }
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
      const uint32_t v = i - offsets[event] + 2, state = state_offsets[event] + v;
      const float error = i % 2 ? 100 : 5;
      inputs.velo_track[i] = v;
      inputs.ut_track[i] = i % 5 ? i : FORWARD_NO_TRACK;
      inputs.qop[i] = i % 5 ? random_between(-3e-4f, 3e-4f) : 0;
      best.hit_count[i] = i % 7 == 3 ? 0 : (uint8_t)(9 + i % 4);
      for (uint32_t k = 0; k < best.hit_count[i]; k++)
        best.hits[SCIFI_TRACK_HITS_MAX * i + k] = (uint16_t)(1000 * k + (uint32_t)random_between(0, 1000));
      best.b[i] = velo.tx[state] + random_between(-0.3f, 0.3f);
      best.c[i] = 5200 * velo.tx[state] + (8520 - 5200) * best.b[i] + random_between(-error, error);
      best.a[i] = random_between(-3e-6f, 3e-6f);
      best.y[i] = random_between(-error, error);
      best.ty[i] = velo.ty[state] + random_between(-2e-3f, 2e-3f);
      best.quality[i] = expf(random_between(-2, 7));
    }
}

static void give_tracks(struct sl_test *t) {
  sl_test_events(t, EVENTS);
  sl_test_input(t, "inputs", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "inputs", "velo_track", inputs.velo_track, TRACKS);
  sl_test_input(t, "best", "hit_count", best.hit_count, TRACKS);
  sl_test_input(t, "best", "hits", best.hits, TRACKS * SCIFI_TRACK_HITS_MAX);
  sl_test_input(t, "best", "a", best.a, TRACKS);
  sl_test_input(t, "best", "b", best.b, TRACKS);
  sl_test_input(t, "best", "c", best.c, TRACKS);
  sl_test_input(t, "best", "y", best.y, TRACKS);
  sl_test_input(t, "best", "ty", best.ty, TRACKS);
  sl_test_input(t, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "offsets", state_offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "x", velo.x, STATES);
  sl_test_input(t, "end_states", "y", velo.y, STATES);
  sl_test_input(t, "end_states", "z", velo.z, STATES);
  sl_test_input(t, "end_states", "tx", velo.tx, STATES);
  sl_test_input(t, "end_states", "ty", velo.ty, STATES);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  forward_constant_give(&forward, t, "bend constants");
}

static struct sl_test *scores_new(const struct network_case *network, uint32_t block) {
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "ghost_scores");
  give_tracks(t);
  sl_test_input(t, "inputs", "qop", inputs.qop, TRACKS);
  sl_test_input(t, "best", "quality", best.quality, TRACKS);
  network_case_give(t, network);
  sl_test_block(t, block);
  return t;
}

/* Long tracks of all candidates, or of those with a probability of at most max_ghost. */
static struct sl_test *consolidate_new(const float *ghost, double max_ghost) {
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "consolidate");
  give_tracks(t);
  sl_test_input(t, "inputs", "ut_track", inputs.ut_track, TRACKS);
  sl_test_input(t, "best", "r", best.r, TRACKS);
  sl_test_input(t, "hits", "id", hit_ids, 2 * EVENT_HITS);
  if (ghost) {
    sl_test_input(t, "scores", "ghost", ghost, TRACKS);
    sl_test_set(t, "max_ghost", max_ghost);
  }
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

/* q/p of each input with a candidate, from forward.consolidate, which its own test compares with plain formulas. */
static void find_momenta(float *qop) {
  struct sl_test *t = consolidate_new(NULL, 0);
  const float *of_tracks = sl_test_output(t, "tracks", "qop");
  for (uint32_t i = 0; i < TRACKS; i++)
    if (best.hit_count[i] > 0) qop[i] = *of_tracks++;
  sl_test_free(t);
}

static uint32_t count_shared(uint32_t first, uint32_t end, uint32_t track) {
  uint32_t shared = 0;
  for (uint32_t k = 0; k < best.hit_count[track]; k++) {
    uint32_t others = 0;
    for (uint32_t i = first; i < end; i++)
      for (uint32_t l = 0; i != track && l < best.hit_count[i]; l++)
        others += best.hits[SCIFI_TRACK_HITS_MAX * i + l] == best.hits[SCIFI_TRACK_HITS_MAX * track + k];
    shared += others > 0;
  }
  return shared;
}

static double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Input `name` of a track, from its definition. */
static double plain_input(const char *name, uint32_t event, uint32_t i, float qop, uint32_t shared) {
  const uint32_t v = state_offsets[event] + inputs.velo_track[i];
  const double tx = velo.tx[v], ty = velo.ty[v], x0 = velo.x[v] - velo.z[v] * tx, y0 = velo.y[v] - velo.z[v] * ty;
  const double slope = best.b[i], scifi_x0 = best.c[i] - 8520 * slope, dtx = slope - tx;
  const double side = dtx < 0 ? -1 : 1, height = ty < 0 ? -1 : 1;
  const struct {
    const char *name;
    double value;
  } all[] = {
      {"z_cross", clamp((x0 - scifi_x0) / dtx, 0, 10000)},
      {"dx", side * (scifi_x0 + 5000 * slope - x0 - 5000 * tx)},
      {"dy", height * (best.y[i] + 10000. * best.ty[i] - y0 - 10000 * ty)},
      {"dtx", fabs(dtx)},
      {"dty", height * (best.ty[i] - ty)},
      {"log_slope2", log(tx * tx + ty * ty)},
      {"log_quality", log((double)best.quality[i])},
      {"hits", best.hit_count[i]},
      {"shared_hits", shared},
      {"curvature", clamp(side * 1000 * best.a[i] / fmax(fabs(dtx), 1e-3), -0.1, 0.1)},
      {"ut_ratio", inputs.qop[i] == 0 ? 1 : clamp((double)inputs.qop[i] / (double)qop, -5, 5)},
      {"event_hits", hit_offsets[event + 1] - hit_offsets[event]},
  };
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
    if (strcmp(all[k].name, name) == 0) return all[k].value;
  fail_msg("there is no input %s", name);
  return NAN;
}

static double plain_probability(const struct network_case *n, uint32_t event, uint32_t i, float qop, uint32_t shared) {
  double x[NETWORK_INPUTS_MAX], scale;
  const char *name = n->names;
  for (uint32_t k = 0; k < n->shape[NETWORK_INPUTS]; k++, name += strlen(name) + 1)
    x[k] = plain_input(name, event, i, qop, shared);
  return 1 / (1 + exp(-network_case_logit(n, x, &scale)));
}

static void probabilities_equal_plain_formulas(void **state) {
  (void)state;
  static const char *const networks[] = {"forward", "forward_no_ut"};
  static struct network_case network;
  static float qop[TRACKS];
  make_tracks();
  find_momenta(qop);
  for (uint32_t turn = 0; turn < 8; turn++) {
    uint32_t with_shared = 0, low = 0, high = 0;
    network_case_load(&network, networks[turn % 2]);
    struct sl_test *t = scores_new(&network, 32u << turn / 2);
    assert_int_equal(sl_test_run(t), 0);
    const uint8_t *shared = sl_test_output(t, "scores", "shared_hits");
    const float *ghost = sl_test_output(t, "scores", "ghost");
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
        const uint32_t expected_shared = count_shared(offsets[event], offsets[event + 1], i);
        const double expected =
            best.hit_count[i] > 0 ? plain_probability(&network, event, i, qop[i], expected_shared) : 0;
        assert_int_equal(shared[i], expected_shared);
        if (!(fabs((double)ghost[i] - expected) < 1e-3)) fail_msg("track %u: %g, expected %g", i, ghost[i], expected);
        with_shared += expected_shared > 0;
        low += expected < 0.3;
        high += expected > 0.7;
      }
    assert_true(with_shared > 20 && with_shared < TRACKS - 20 && low > 15 && high > 15);
    sl_test_free(t);
  }
}

static void tracks_without_finite_numbers_are_ghosts(void **state) {
  (void)state;
  static struct network_case network;
  network_case_load(&network, "forward");
  make_tracks();
  best.c[0] = NAN;
  velo.x[inputs.velo_track[1]] = INFINITY;
  struct sl_test *t = scores_new(&network, 64);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 2; i++) assert_true(((const float *)sl_test_output(t, "scores", "ghost"))[i] == 1);
  assert_true(((const float *)sl_test_output(t, "scores", "ghost"))[2] < 1);
  assert_true(((const float *)sl_test_output(t, "scores", "ghost"))[3] == 0); /* no candidate */
  sl_test_free(t);
}

static void without_a_network_no_track_is_a_ghost(void **state) {
  (void)state;
  static struct network_case network;
  network_case_load(&network, "none");
  make_tracks();
  struct sl_test *t = scores_new(&network, 64);
  assert_int_equal(sl_test_run(t), 0);
  uint32_t shared = 0;
  for (uint32_t i = 0; i < TRACKS; i++) {
    assert_true(((const float *)sl_test_output(t, "scores", "ghost"))[i] == 0);
    shared += ((const uint8_t *)sl_test_output(t, "scores", "shared_hits"))[i];
  }
  assert_true(shared > 0);
  sl_test_free(t);
}

static void long_tracks_have_the_probability_and_are_no_ghosts(void **state) {
  (void)state;
  static float ghost[TRACKS];
  make_tracks();
  for (uint32_t i = 0; i < TRACKS; i++) ghost[i] = (float)(i % 4) / 4;
  struct sl_test *t = consolidate_new(ghost, 0.5); /* also accepts 0.5 */
  const float *of_tracks = sl_test_output(t, "tracks", "ghost");
  const uint32_t *tracks = sl_test_output(t, "tracks", "velo_track");
  uint32_t count = 0;
  for (uint32_t i = 0; i < TRACKS; i++) {
    if (best.hit_count[i] == 0 || i % 4 == 3) continue;
    assert_true(of_tracks[count] == ghost[i]);
    assert_int_equal(tracks[count++], inputs.velo_track[i]);
  }
  assert_int_equal(((const uint32_t *)sl_test_output(t, "tracks", "offsets"))[EVENTS], count);
  sl_test_free(t);
  t = consolidate_new(NULL, 0);
  assert_true(((const float *)sl_test_output(t, "tracks", "ghost"))[0] == 0);
  sl_test_free(t);
}

static void mirror_images_of_a_track_have_equal_inputs(void **state) {
  (void)state;
  float expected[FORWARD_GHOST_INPUT_COUNT];
  for (int mirror = 0; mirror < 4; mirror++) {
    const float in_x = mirror & 1 ? -1 : 1, in_y = mirror & 2 ? -1 : 1;
    const struct forward_ghost_track t = {{in_x * -8, in_y * 40, 770, in_x * -0.01f, in_y * 0.05f},
                                          {in_x * -1200, in_y * -9, 8520, in_x * -0.26f, in_y * 0.051f},
                                          in_x * 2e-6f,
                                          3.5f,
                                          in_x * 1e-4f,
                                          in_x * 1.3e-4f,
                                          11,
                                          2,
                                          4000};
    float found[FORWARD_GHOST_INPUT_COUNT];
    forward_ghost_inputs(&t, found);
    if (mirror == 0) memcpy(expected, found, sizeof expected);
    for (uint32_t i = 0; i < FORWARD_GHOST_INPUT_COUNT; i++) assert_true(found[i] == expected[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(probabilities_equal_plain_formulas, start, stop),
      cmocka_unit_test_setup_teardown(tracks_without_finite_numbers_are_ghosts, start, stop),
      cmocka_unit_test_setup_teardown(without_a_network_no_track_is_a_ghost, start, stop),
      cmocka_unit_test_setup_teardown(long_tracks_have_the_probability_and_are_no_ghosts, start, stop),
      cmocka_unit_test(mirror_images_of_a_track_have_equal_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
