/* match_ut_test.c: seeding.match_ut against plain loops over all hits of each layer, including hits at equal positions,
 * in events with more matches than threads of a block, without matches, and without hits.
 */
#include "forward_support.h"
#include "match_ut_reference.h"
#include "scratch.h"
#include "seeding/event_model.h"

#include <math.h>

enum {
  EVENTS = 4,
  STATES = 400,
  MATCHES = 240,
  HITS_MAX = 12000,
  LAYER_GROUPS = 30,
  GROUPS = UT_LAYERS * LAYER_GROUPS
};

static const uint32_t match_offsets[] = {0, 100, 100, 120, 240}, state_offsets[] = {0, 150, 200, 230, 400};
static const float layer_z[] = {2327.5f, 2372.5f, 2597.5f, 2642.5f}, slopes[] = {0, 0.0875f, -0.0875f, 0};
static const float first_x = -750, step = 50, group_width = 60, layer_depth = 8;

static float constants[MATCH_CONSTANTS];
static float slope_most = 0.2f; /* spread of tracks: smaller values give more neighbouring tracks */
static struct { float x[STATES], y[STATES], z[STATES], tx[STATES], ty[STATES]; } velo;
static struct {
  uint32_t velo_track[MATCHES], seed[MATCHES];
  float chi2[MATCHES], qop[MATCHES], ghost[MATCHES];
} matches;
static struct {
  uint32_t offsets[EVENTS + 1], id[HITS_MAX];
  uint16_t group_first[EVENTS * (UT_GROUPS_MAX + 1)], sector[HITS_MAX];
  float x[HITS_MAX], y[HITS_MAX], y_end[HITS_MAX], z[HITS_MAX];
} hits;
static struct {
  uint32_t layer_first[UT_LAYERS + 1];
  float x[GROUPS], x_least[GROUPS], x_most[GROUPS], length[GROUPS];
} groups;

/* -------------------------------------------------------------------------------------------------- the case */

struct loose_hit {
  uint32_t group;
  float x, y, y_end, z;
};
static struct loose_hit loose[HITS_MAX];
static uint32_t loose_count;

static int compare(const void *a_, const void *b_) {
  const struct loose_hit *a = a_, *b = b_;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  return a->y != b->y ? (a->y < b->y ? -1 : 1) : 0;
}

/* A hit of a layer at (x, y), in the group that begins before it, or the one before that where they overlap. */
static void add_hit(uint32_t layer, float x, float y) {
  const float at_0 = x - y * slopes[layer], length = random_between(0, 1) < 0.5f ? 97.28f : 48.45f;
  const uint32_t place = (uint32_t)((at_0 - first_x) / step), reaches_back = at_0 - first_x - step * (float)place < 9;
  if (at_0 < first_x + step || at_0 > -first_x - step) return;
  struct loose_hit *h = &loose[loose_count++];
  h->group = layer * LAYER_GROUPS + place - (reaches_back && random_between(0, 1) < 0.5f ? 1 : 0);
  h->x = at_0;
  h->y = y - random_between(0, length);
  h->y_end = h->y + length;
  h->z = layer_z[layer] + random_between(-7, 7);
}

/* Hits of a track: most exist, some twice. */
static void add_hits_of(uint32_t state, float qop) {
  const float bend = constants[MATCH_UT_BEND] - constants[MATCH_UT_BEND + 1] * qop;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const float d = layer_z[layer] - 770, x = velo.x[state] + velo.tx[state] * d + bend * d * d;
    const float y = velo.y[state] + velo.ty[state] * d, draw = random_between(0, 1);
    if (draw < 0.85f) add_hit(layer, x + random_between(-0.6f, 0.6f), y);
    if (draw < 0.1f && loose_count > 0) loose[loose_count] = loose[loose_count - 1], loose_count++;
    for (uint32_t k = 0; k < 7; k++) add_hit(layer, x + random_between(-15, 15), y + random_between(-100, 100));
  }
}

static void make_hits(void) {
  uint32_t to = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    loose_count = 0;
    for (uint32_t i = match_offsets[event]; event != 2 && i < match_offsets[event + 1]; i++)
      add_hits_of(state_offsets[event] + matches.velo_track[i], matches.qop[i]);
    qsort(loose, loose_count, sizeof *loose, compare);
    hits.offsets[event] = to;
    uint16_t *first = hits.group_first + event * (UT_GROUPS_MAX + 1);
    for (uint32_t g = 0, i = 0; g <= UT_GROUPS_MAX; g++) {
      first[g] = (uint16_t)i;
      for (; i < loose_count && loose[i].group == g; i++, to++) {
        assert_true(to < HITS_MAX);
        hits.id[to] = 3u << 28 | to;
        hits.sector[to] = (uint16_t)(to % UT_SECTORS);
        hits.x[to] = loose[i].x;
        hits.y[to] = loose[i].y;
        hits.y_end[to] = loose[i].y_end;
        hits.z[to] = loose[i].z;
      }
    }
  }
  hits.offsets[EVENTS] = to;
}

static void make_case(void) {
  for (uint32_t layer = 0; layer <= UT_LAYERS; layer++) groups.layer_first[layer] = layer * LAYER_GROUPS;
  for (uint32_t g = 0; g < GROUPS; g++) {
    groups.x[g] = groups.x_least[g] = first_x + step * (float)(g % LAYER_GROUPS);
    groups.x_most[g] = groups.x[g] + group_width;
    groups.length[g] = 97.28f;
  }
  for (uint32_t i = 0; i < STATES; i++) {
    velo.tx[i] = random_between(-slope_most, slope_most);
    velo.ty[i] = random_between(-slope_most, slope_most);
    velo.z[i] = 770;
    velo.x[i] = 770 * velo.tx[i] + random_between(-1, 1);
    velo.y[i] = 770 * velo.ty[i] + random_between(-1, 1);
  }
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = match_offsets[event]; i < match_offsets[event + 1]; i++) {
      matches.velo_track[i] = i - match_offsets[event] + (i - match_offsets[event]) / 3;
      matches.seed[i] = i % 17;
      matches.chi2[i] = random_between(0, 2);
      matches.ghost[i] = random_between(0, 1);
      matches.qop[i] = (i % 2 ? 1 : -1) / random_between(1500, 40000);
    }
  make_hits();
  assert_true(hits.offsets[1] > 1000 && hits.offsets[1] == hits.offsets[3] && hits.offsets[4] < HITS_MAX);
}

static int shared; /* 1: the shared version, where the target also has a tuned version */

static struct sl_test *match_ut_new(uint32_t block) {
  static const float polarity = -1;
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "match_ut");
  sl_test_shared(t, shared);
  sl_test_events(t, EVENTS);
  sl_test_block(t, block);
  sl_test_input(t, "matches", "offsets", match_offsets, EVENTS + 1);
  sl_test_input(t, "matches", "velo_track", matches.velo_track, MATCHES);
  sl_test_input(t, "matches", "seed", matches.seed, MATCHES);
  sl_test_input(t, "matches", "chi2", matches.chi2, MATCHES);
  sl_test_input(t, "matches", "qop", matches.qop, MATCHES);
  sl_test_input(t, "matches", "ghost", matches.ghost, MATCHES);
  sl_test_input(t, "end_states", "offsets", state_offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "x", velo.x, STATES);
  sl_test_input(t, "end_states", "y", velo.y, STATES);
  sl_test_input(t, "end_states", "z", velo.z, STATES);
  sl_test_input(t, "end_states", "tx", velo.tx, STATES);
  sl_test_input(t, "end_states", "ty", velo.ty, STATES);
  sl_test_input(t, "hits", "offsets", hits.offsets, EVENTS + 1);
  sl_test_input(t, "hits", "group_first", hits.group_first, EVENTS * (UT_GROUPS_MAX + 1));
  sl_test_input(t, "hits", "id", hits.id, hits.offsets[EVENTS]);
  sl_test_input(t, "hits", "x", hits.x, hits.offsets[EVENTS]);
  sl_test_input(t, "hits", "y", hits.y, hits.offsets[EVENTS]);
  sl_test_input(t, "hits", "y_end", hits.y_end, hits.offsets[EVENTS]);
  sl_test_input(t, "hits", "z", hits.z, hits.offsets[EVENTS]);
  sl_test_input(t, "hits", "sector", hits.sector, hits.offsets[EVENTS]);
  sl_test_input(t, "groups", "layer_first", groups.layer_first, UT_LAYERS + 1);
  sl_test_input(t, "groups", "x", groups.x, GROUPS);
  sl_test_input(t, "groups", "x_least", groups.x_least, GROUPS);
  sl_test_input(t, "groups", "x_most", groups.x_most, GROUPS);
  sl_test_input(t, "groups", "length", groups.length, GROUPS);
  sl_test_input(t, "groups", "layer_z", layer_z, UT_LAYERS);
  const float depths[] = {layer_depth, layer_depth, layer_depth, layer_depth};
  sl_test_input(t, "groups", "layer_depth", depths, UT_LAYERS);
  sl_test_input(t, "groups", "layer_slope", slopes, UT_LAYERS);
  sl_test_input(t, "matching", "constants", constants, MATCH_CONSTANTS);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  return t;
}

/* ----------------------------------------------------------------------------------------------------- tests */

static struct match_ut_found find_plainly(uint32_t event, uint32_t match) {
  const uint32_t state = state_offsets[event] + matches.velo_track[match];
  struct match_ut_input m = {.x = velo.x[state],
                             .y = velo.y[state],
                             .z = velo.z[state],
                             .tx = velo.tx[state],
                             .ty = velo.ty[state],
                             .qop = matches.qop[match],
                             .hit_x = hits.x,
                             .hit_y = hits.y,
                             .hit_y_end = hits.y_end,
                             .hit_z = hits.z,
                             .layer_slope = slopes,
                             .constants = constants};
  for (uint32_t layer = 0; layer <= UT_LAYERS; layer++)
    m.layer_first[layer] = hits.offsets[event] + hits.group_first[event * (UT_GROUPS_MAX + 1) + layer * LAYER_GROUPS];
  return match_ut_find(&m);
}

static void assert_track(const struct sl_test *t, uint32_t i, uint32_t to, uint32_t match, uint32_t state,
                         const struct match_ut_found *p) {
  const float d = UT_MIDDLE_Z - velo.z[state];
  assert_int_equal(((const uint32_t *)sl_test_output(t, "accepted", "velo_track"))[i], matches.velo_track[match]);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "accepted", "seed"))[i], matches.seed[match]);
  assert_true(((const float *)sl_test_output(t, "accepted", "chi2"))[i] == matches.chi2[match]);
  assert_true(((const float *)sl_test_output(t, "accepted", "qop"))[i] == matches.qop[match]);
  assert_true(((const float *)sl_test_output(t, "accepted", "ghost"))[i] == matches.ghost[match]);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "ut_tracks", "velo_track"))[i], matches.velo_track[match]);
  assert_true(((const float *)sl_test_output(t, "ut_tracks", "qop"))[i] == matches.qop[match]);
  assert_true(((const float *)sl_test_output(t, "ut_tracks", "x"))[i] ==
              velo.x[state] + velo.tx[state] * d + p->bend * (d * d));
  assert_true(((const float *)sl_test_output(t, "ut_tracks", "tx"))[i] == velo.tx[state] + 2.0f * p->bend * d);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "ut_tracks", "hit_offsets"))[i], to);
  for (uint32_t k = 0; k < p->count; k++) {
    assert_int_equal(((const uint32_t *)sl_test_output(t, "ut_tracks", "hit_id"))[to + k], hits.id[p->hits[k]]);
    assert_int_equal(((const uint16_t *)sl_test_output(t, "ut_tracks", "hit_sector"))[to + k], hits.sector[p->hits[k]]);
    assert_true(((const float *)sl_test_output(t, "ut_tracks", "hit_x"))[to + k] == hits.x[p->hits[k]]);
    assert_true(((const float *)sl_test_output(t, "ut_tracks", "hit_y"))[to + k] == hits.y[p->hits[k]]);
    assert_true(((const float *)sl_test_output(t, "ut_tracks", "hit_z"))[to + k] == hits.z[p->hits[k]]);
  }
}

static uint32_t by_count[UT_LAYERS + 1]; /* matches by number of hits */

static void assert_plain(const struct sl_test *t, uint32_t min_hits) {
  const uint32_t *offsets = sl_test_output(t, "accepted", "offsets");
  uint32_t i = 0, to = 0;
  memset(by_count, 0, sizeof by_count);
  for (uint32_t event = 0; event < EVENTS; event++) {
    assert_int_equal(offsets[event], i);
    for (uint32_t match = match_offsets[event]; match < match_offsets[event + 1]; match++) {
      const struct match_ut_found p = find_plainly(event, match);
      by_count[p.count]++;
      if (p.count < min_hits) continue;
      assert_track(t, i++, to, match, state_offsets[event] + matches.velo_track[match], &p);
      to += p.count;
    }
  }
  assert_int_equal(offsets[EVENTS], i);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "ut_tracks", "hit_offsets"))[i], to);
}

static void hits_equal_those_of_plain_loops(void **state) {
  (void)state;
  make_case();
  for (uint32_t min_hits = 0; min_hits <= 4; min_hits++)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      struct sl_test *t = match_ut_new(block);
      sl_test_set(t, "min_hits", min_hits);
      assert_int_equal(sl_test_run(t), 0);
      assert_plain(t, min_hits);
      assert_true(by_count[0] >= 20 && by_count[2] > 20 && by_count[3] > 50 && by_count[4] > 50);
      sl_test_free(t);
    }
}

/* Density at which a match has hits of more groups, and more near hits and first hits, than fit the lists. */
static void the_widest_windows_give_the_hits_of_plain_loops(void **state) {
  (void)state;
  slope_most = 0.05f;
  make_case();
  slope_most = 0.2f;
  float as_set[MATCH_CONSTANTS];
  memcpy(as_set, constants, sizeof constants);
  for (uint32_t k = MATCH_UT_LOOSE; k < MATCH_CONSTANTS; k++) constants[k] = 40;
  struct sl_test *t = match_ut_new(64);
  assert_int_equal(sl_test_run(t), 0);
  assert_plain(t, 2);
  sl_test_free(t);
  memcpy(constants, as_set, sizeof constants);
}

static void matches_without_ut_hits_are_rejected(void **state) {
  (void)state;
  make_case();
  struct sl_test *t = match_ut_new(64); /* default */
  assert_int_equal(sl_test_run(t), 0);
  assert_plain(t, 2);
  const uint32_t *offsets = sl_test_output(t, "accepted", "offsets");
  assert_int_equal(offsets[3], offsets[2]);
  sl_test_free(t);
}

int main(void) {
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "matching_constants"); /* LHCb's settings */
  sl_test_set_text(t, "path", folder);
  if (sl_test_run(t) != 0) return 1;
  memcpy(constants, sl_test_output(t, "matching", "constants"), sizeof constants);
  sl_test_free(t);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_equal_those_of_plain_loops),
      cmocka_unit_test(the_widest_windows_give_the_hits_of_plain_loops),
      cmocka_unit_test(matches_without_ut_hits_are_rejected),
  };
  const int failed = cmocka_run_group_tests_name("match_ut", tests, NULL, NULL);
  shared = 1;
  return failed + cmocka_run_group_tests_name("match_ut, shared", tests, NULL, NULL);
}
