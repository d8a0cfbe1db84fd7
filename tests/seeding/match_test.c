/* match_test.c: seeding.match against plain loops over all pairs, by chi2 and by the network, with equal VELO tracks
 * and seeds, and more VELO tracks than one round; and constructed cases of seeding.match_consolidate.
 */
#include "forward_support.h"
#include "network/take.h"
#include "network_case.h"
#include "scratch.h"
#include "seeding/match_network.h"

enum { EVENTS = 4, STATES = 1400, SELECTED = 800, SEEDS = 200 };

/* Events: usual ones, one without seeds, one without VELO tracks, one with more tracks than one round. */
static const uint32_t seed_offsets[] = {0, 80, 80, 100, 200};
static const uint32_t selected_offsets[] = {0, 130, 150, 150, 800};
static const uint32_t state_offsets[] = {0, 300, 400, 420, 1400};

struct tracks {
  float x[STATES], y[STATES], z[STATES], tx[STATES], ty[STATES];
};
static struct tracks velo, seeds;
static uint32_t selected[SELECTED];
static uint32_t seed_hit_offsets[SEEDS + 1];
static float constants[MATCH_CONSTANTS];
static struct network_case network;

static struct forward_state state_of(const struct tracks *t, uint32_t i) {
  const struct forward_state s = {t->x[i], t->y[i], t->z[i], t->tx[i], t->ty[i]};
  return s;
}

static void copy_state(struct tracks *t, uint32_t to, uint32_t from) {
  t->x[to] = t->x[from];
  t->y[to] = t->y[from];
  t->z[to] = t->z[from];
  t->tx[to] = t->tx[from];
  t->ty[to] = t->ty[from];
}

/* A seed that can match a selected VELO track of its event: bent by up to 0.3, at distances that are partly too large.
 */
static void make_seed(uint32_t event, uint32_t i) {
  const uint32_t count = selected_offsets[event + 1] - selected_offsets[event];
  const uint32_t which = selected_offsets[event] + (count ? (uint32_t)random_between(0, (float)count - 0.5f) : 0);
  const uint32_t v = state_offsets[event] + selected[which < SELECTED ? which : 0];
  seeds.z[i] = 9410;
  seeds.tx[i] = velo.tx[v] + random_between(-0.3f, 0.3f);
  seeds.ty[i] = velo.ty[v] + random_between(-0.015f, 0.015f);
  const float z = match_z(constants, sl_abs_f32(seeds.tx[i] - velo.tx[v]), 500, velo.tx[v]);
  seeds.x[i] = velo.x[v] + velo.tx[v] * (z - 770) + seeds.tx[i] * (9410 - z) + random_between(-15, 15);
  seeds.y[i] = velo.y[v] + velo.ty[v] * (10000 - 770) - seeds.ty[i] * 590 + random_between(-30, 30);
}

static void make_case(void) {
  for (uint32_t i = 0; i < STATES; i++) {
    velo.tx[i] = random_between(-0.25f, 0.25f);
    velo.ty[i] = random_between(-0.25f, 0.25f); /* also beyond the cells of y */
    velo.z[i] = 770;
    velo.x[i] = 770 * velo.tx[i] + random_between(-1, 1);
    velo.y[i] = 770 * velo.ty[i] + random_between(-1, 1);
  }
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint32_t first = selected_offsets[event];
    for (uint32_t k = first; k < selected_offsets[event + 1]; k++) selected[k] = k - first + (k - first) / 3;
    for (uint32_t i = seed_offsets[event]; i < seed_offsets[event + 1]; i++) make_seed(event, i);
  }
  for (uint32_t i = 0; i < SEEDS; i++) seed_hit_offsets[i + 1] = seed_hit_offsets[i] + 10 + i / 2 % 3;
  /* The first one of equal VELO tracks, or of equal seeds, is selected. */
  for (uint32_t i = 0; i < 40; i += 2) copy_state(&velo, selected[i + 1], selected[i]);
  for (uint32_t k = 150; k < 190; k++)
    copy_state(&velo, state_offsets[3] + selected[k + 520], state_offsets[3] + selected[k]);
  for (uint32_t i = 0; i < 20; i += 2) copy_state(&seeds, i + 1, i);
}

static struct sl_test *match_new(uint32_t block) {
  static const float polarity = -1;
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "match");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "seeds", "offsets", seed_offsets, EVENTS + 1);
  sl_test_input(t, "seeds", "hit_offsets", seed_hit_offsets, SEEDS + 1);
  sl_test_input(t, "seeds", "x", seeds.x, SEEDS);
  sl_test_input(t, "seeds", "y", seeds.y, SEEDS);
  sl_test_input(t, "seeds", "tx", seeds.tx, SEEDS);
  sl_test_input(t, "seeds", "ty", seeds.ty, SEEDS);
  sl_test_input(t, "selected", "offsets", selected_offsets, EVENTS + 1);
  sl_test_input(t, "selected", "track", selected, SELECTED);
  sl_test_input(t, "end_states", "offsets", state_offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "x", velo.x, STATES);
  sl_test_input(t, "end_states", "y", velo.y, STATES);
  sl_test_input(t, "end_states", "z", velo.z, STATES);
  sl_test_input(t, "end_states", "tx", velo.tx, STATES);
  sl_test_input(t, "end_states", "ty", velo.ty, STATES);
  sl_test_input(t, "matching", "constants", constants, MATCH_CONSTANTS);
  network_case_give(t, &network);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  sl_test_block(t, block);
  return t;
}

/* LHCb's constants, and the built-in network or none. */
static void open_constants(const char *network_name) {
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "matching_constants");
  sl_test_set_text(t, "path", folder);
  assert_int_equal(sl_test_run(t), 0);
  memcpy(constants, sl_test_output(t, "matching", "constants"), sizeof constants);
  sl_test_free(t);
  network_case_load(&network, network_name);
}

struct expected {
  uint32_t offsets[EVENTS + 1], velo_track[SELECTED], seed[SELECTED];
  float chi2[SELECTED], qop[SELECTED], ghost[SELECTED]; /* ghost: 0 without a network */
};

/* Settings and requirements of the matching. */
struct rules {
  struct match_settings settings;
  float max_chi2, max_ghost;
};

/* Wrong-match probability; evaluate_test.c compares network_logit with plain sums. */
static float ghost_of(const float *inputs) {
  enum { WIDTH = 32, NUMBERS = NETWORK_NUMBERS(MATCH_INPUT_COUNT, 1, WIDTH) };
  static float table[NUMBERS];
  const struct network_view view = {
      .shape = network.shape, .names = (const uint8_t *)network.names, .numbers = network.numbers};
  const struct network_kind kind = {NULL, MATCH_INPUT_COUNT, 1, WIDTH, NETWORK_RELU, 1};
  uint32_t index[MATCH_INPUT_COUNT];
  for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++) index[i] = i;
  network_fill(&view, &kind, index, table);
  return network_probability(network_logit(table, inputs, MATCH_INPUT_COUNT, 1, WIDTH, NETWORK_RELU));
}

/* Score of a pair, smaller is better; none if a requirement fails. */
static float score_of(const struct rules *rules, uint32_t v, uint32_t i, float *chi2) {
  const struct forward_state seed = state_of(&seeds, i), track = state_of(&velo, v);
  const struct matched_pair pair = match_pair(constants, &rules->settings, &track, &seed);
  float inputs[MATCH_INPUT_COUNT];
  *chi2 = pair.chi2;
  if (pair.chi2 > rules->max_chi2) return SEED_NO_MATCH;
  if (network.shape[NETWORK_ACTIVATION] == NETWORK_NONE) return pair.chi2;
  match_inputs(&pair, &track, &seed, seed_hit_offsets[i + 1] - seed_hit_offsets[i], inputs);
  const float ghost = ghost_of(inputs);
  return ghost <= rules->max_ghost ? ghost : SEED_NO_MATCH;
}

static void match_plainly(const struct rules *rules, struct expected *e) {
  uint32_t count = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    static uint32_t best_seed[SELECTED];
    static float best[SELECTED], chi2[SELECTED];
    for (uint32_t k = 0; k < SELECTED; k++) best[k] = SEED_NO_MATCH;
    e->offsets[event] = count;
    for (uint32_t i = seed_offsets[event]; i < seed_offsets[event + 1]; i++) {
      uint32_t which = SELECTED;
      float least = SEED_NO_MATCH, chi2_of_least = 0, chi2_of_pair;
      for (uint32_t k = selected_offsets[event]; k < selected_offsets[event + 1]; k++) {
        const float score = score_of(rules, state_offsets[event] + selected[k], i, &chi2_of_pair);
        if (score < least) which = k, least = score, chi2_of_least = chi2_of_pair;
      }
      if (which < SELECTED && least < best[which])
        best[which] = least, best_seed[which] = i, chi2[which] = chi2_of_least;
    }
    for (uint32_t k = selected_offsets[event]; k < selected_offsets[event + 1]; k++) {
      if (best[k] == SEED_NO_MATCH) continue;
      const uint32_t v = state_offsets[event] + selected[k];
      e->velo_track[count] = selected[k];
      e->seed[count] = best_seed[k] - seed_offsets[event];
      e->chi2[count] = chi2[k];
      e->ghost[count] = network.shape[NETWORK_ACTIVATION] == NETWORK_NONE ? 0 : best[k];
      e->qop[count++] = match_qop(constants, seeds.tx[best_seed[k]], velo.tx[v], velo.ty[v], -1);
    }
  }
  e->offsets[EVENTS] = count;
}

/* With blocks of all sizes, and other values of properties that must not matter. */
static void assert_matches(const struct rules *rules, const struct expected *e) {
  const uint32_t count = e->offsets[EVENTS];
  const int is_by_network = network.shape[NETWORK_ACTIVATION] != NETWORK_NONE;
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = match_new(block);
    sl_test_set(t, "x_weight", (double)rules->settings.x_weight);
    sl_test_set(t, "y_scale", (double)rules->settings.y_scale);
    sl_test_set(t, is_by_network ? "network_chi2" : "max_chi2", (double)rules->max_chi2);
    sl_test_set(t, is_by_network ? "max_chi2" : "network_chi2", 0);
    sl_test_set(t, "max_ghost", is_by_network ? (double)rules->max_ghost : 0);
    assert_int_equal(sl_test_run(t), 0);
    assert_memory_equal(sl_test_output(t, "matches", "offsets"), e->offsets, sizeof e->offsets);
    assert_memory_equal(sl_test_output(t, "matches", "velo_track"), e->velo_track, count * sizeof(uint32_t));
    assert_memory_equal(sl_test_output(t, "matches", "seed"), e->seed, count * sizeof(uint32_t));
    assert_memory_equal(sl_test_output(t, "matches", "chi2"), e->chi2, count * sizeof(float));
    assert_memory_equal(sl_test_output(t, "matches", "qop"), e->qop, count * sizeof(float));
    assert_memory_equal(sl_test_output(t, "matches", "ghost"), e->ghost, count * sizeof(float));
    sl_test_free(t);
  }
}

static void matches_by_chi2_equal_those_of_plain_loops(void **state) {
  (void)state;
  static struct expected e;
  open_constants("none");
  make_case();
  for (int turn = 0; turn < 3; turn++) {
    const struct rules rules = {{turn == 1 ? 1.875f : 1.0f, turn == 2 ? 1.02f : 1.0f}, turn == 1 ? 1.0f : 2.0f, 1.0f};
    match_plainly(&rules, &e);
    const uint32_t count = e.offsets[EVENTS];
    assert_true(count > 60 && count < SEEDS && e.offsets[1] < 80); /* some seeds have no match */
    assert_true(e.offsets[1] > 20 && e.offsets[2] == e.offsets[1] && e.offsets[3] == e.offsets[1]);
    assert_matches(&rules, &e);
  }
}

static void matches_by_the_network_equal_those_of_plain_loops(void **state) {
  (void)state;
  static struct expected by_chi2, e;
  const struct rules rules[] = {{{1, 1}, 4, 0.95f}, {{1, 1}, 4, 0.5f}, {{1.875f, 1.02f}, 1, 1}};
  make_case();
  open_constants("none");
  match_plainly(&rules[0], &by_chi2);
  open_constants("matching");
  for (size_t turn = 0; turn < sizeof rules / sizeof rules[0]; turn++) {
    match_plainly(&rules[turn], &e);
    assert_true(e.offsets[EVENTS] > 20 && e.offsets[1] > 5);
    if (turn < 2) assert_true(e.offsets[EVENTS] < by_chi2.offsets[EVENTS]);
    assert_matches(&rules[turn], &e);
  }
}

static void the_first_of_pairs_with_equal_chi2_is_selected(void **state) {
  (void)state;
  open_constants("none");
  make_case();
  /* The first event: three VELO tracks are equal, and three seeds, which match nothing else. */
  for (uint32_t i = 0; i < 80; i++) {
    seeds.ty[i] = 2;
    if (i >= 1 && i <= 3) {
      const uint32_t v = selected[10];
      seeds.tx[i] = velo.tx[v];
      seeds.ty[i] = velo.ty[v];
      seeds.x[i] = velo.x[v] + velo.tx[v] * (9410 - 770);
      seeds.y[i] = velo.y[v] + velo.ty[v] * (9410 - 770);
    }
  }
  copy_state(&velo, selected[77], selected[10]);
  copy_state(&velo, selected[99], selected[10]);
  struct sl_test *t = match_new(64);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "matches", "offsets");
  assert_int_equal(offsets[1], 1);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "matches", "velo_track"))[0], selected[10]);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "matches", "seed"))[0], 1);
  sl_test_free(t);
}

static void a_track_has_the_hits_and_the_state_of_its_seed(void **state) {
  (void)state;
  /* Two events; the last and the first of the three seeds of the first event are matched. */
  const uint32_t match_offsets[] = {0, 2, 3}, track[] = {4, 9, 1}, seed[] = {2, 0, 0}, offsets[] = {0, 3, 5};
  const uint32_t hit_offsets[] = {0, 2, 5, 6, 9, 11}, ids[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  const uint16_t hits[] = {7, 8, 1, 2, 3, 5, 0, 1, 4, 6, 9};
  const float qop[] = {1e-4f, -2e-4f, 3e-4f}, ghost[] = {0.5f, 0, 0.25f}, x[] = {1, 2, 3, 4, 5}, y[] = {6, 7, 8, 9, 10};
  const float tx[] = {.1f, .2f, .3f, .4f, .5f}, ty[] = {.6f, .7f, .8f, .9f, 1};
  /* UT tracks in another order; one VELO track has none. */
  const uint32_t ut_offsets[] = {0, 3, 5}, ut_velo[] = {3, 9, 5, 0, 1}, ut_expected[] = {FORWARD_NO_TRACK, 1, 1};
  for (uint32_t turn = 0; turn < 8; turn++) {
    const uint32_t block = 32u << turn / 2, has_ut = turn % 2;
    struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "match_consolidate");
    sl_test_events(t, 2);
    sl_test_block(t, block);
    if (has_ut) {
      sl_test_input(t, "ut_tracks", "offsets", ut_offsets, 3);
      sl_test_input(t, "ut_tracks", "velo_track", ut_velo, 5);
    }
    sl_test_input(t, "matches", "offsets", match_offsets, 3);
    sl_test_input(t, "matches", "velo_track", track, 3);
    sl_test_input(t, "matches", "seed", seed, 3);
    sl_test_input(t, "matches", "qop", qop, 3);
    sl_test_input(t, "matches", "ghost", ghost, 3);
    sl_test_input(t, "seeds", "offsets", offsets, 3);
    sl_test_input(t, "seeds", "hit_offsets", hit_offsets, 6);
    sl_test_input(t, "seeds", "x", x, 5);
    sl_test_input(t, "seeds", "y", y, 5);
    sl_test_input(t, "seeds", "tx", tx, 5);
    sl_test_input(t, "seeds", "ty", ty, 5);
    sl_test_input(t, "seeds", "hit", hits, 11);
    sl_test_input(t, "seeds", "hit_id", ids, 11);
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t expected_offsets[] = {0, 1, 3, 6}, expected_ids[] = {15, 10, 11, 16, 17, 18}, from[] = {2, 0, 3};
    const uint16_t expected_hits[] = {5, 7, 8, 0, 1, 4};
    assert_memory_equal(sl_test_output(t, "tracks", "hit_offsets"), expected_offsets, sizeof expected_offsets);
    assert_memory_equal(sl_test_output(t, "tracks", "hit"), expected_hits, sizeof expected_hits);
    assert_memory_equal(sl_test_output(t, "tracks", "hit_id"), expected_ids, sizeof expected_ids);
    assert_memory_equal(sl_test_output(t, "tracks", "velo_track"), track, sizeof track);
    assert_memory_equal(sl_test_output(t, "tracks", "qop"), qop, sizeof qop);
    assert_memory_equal(sl_test_output(t, "tracks", "ghost"), ghost, sizeof ghost);
    for (uint32_t i = 0; i < 3; i++) {
      assert_int_equal(((const uint32_t *)sl_test_output(t, "tracks", "ut_track"))[i],
                       has_ut ? ut_expected[i] : FORWARD_NO_TRACK);
      assert_true(((const float *)sl_test_output(t, "tracks", "x"))[i] == x[from[i]]);
      assert_true(((const float *)sl_test_output(t, "tracks", "y"))[i] == y[from[i]]);
      assert_true(((const float *)sl_test_output(t, "tracks", "tx"))[i] == tx[from[i]]);
      assert_true(((const float *)sl_test_output(t, "tracks", "ty"))[i] == ty[from[i]]);
    }
    sl_test_free(t);
  }
}

static void mirror_images_of_a_pair_give_equal_inputs(void **state) {
  (void)state;
  const struct matched_pair pair = {5300, 3, -20, 0.25f, 0.001f, 0.5f};
  const struct forward_state before = {-8, 40, 770, -0.01f, 0.05f}, after = {-1500, 480, 9410, -0.26f, 0.049f};
  const float expected[MATCH_INPUT_COUNT] = {3, -20, 0.25f, 0.001f, 11, -0.26f, -1500, 480, -0.01f, 0.05f};
  for (int mirror = 0; mirror < 4; mirror++) {
    const float in_x = mirror & 1 ? -1 : 1, in_y = mirror & 2 ? -1 : 1;
    const struct matched_pair p = {pair.z, in_x * pair.x, in_y * pair.y, in_x * pair.dtx, in_y * pair.dty, pair.chi2};
    const struct forward_state v = {in_x * before.x, in_y * before.y, before.z, in_x * before.tx, in_y * before.ty};
    const struct forward_state s = {in_x * after.x, in_y * after.y, after.z, in_x * after.tx, in_y * after.ty};
    float inputs[MATCH_INPUT_COUNT];
    match_inputs(&p, &v, &s, 11, inputs);
    for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
      assert_true(fabsf(inputs[i] - expected[i]) <= 1e-6f * fabsf(expected[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_by_chi2_equal_those_of_plain_loops),
      cmocka_unit_test(matches_by_the_network_equal_those_of_plain_loops),
      cmocka_unit_test(mirror_images_of_a_pair_give_equal_inputs),
      cmocka_unit_test(the_first_of_pairs_with_equal_chi2_is_selected),
      cmocka_unit_test(a_track_has_the_hits_and_the_state_of_its_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
