/* create_tracks_test.c: forward.create_tracks: constructed hits on a straight track, and random tracks against a plain
 * search in double precision. The straight track has dx/dz = 0.1 and dy/dz = 0.02 before and after the magnet, so y
 * follows the line. A stereo hit may be sqrt(50 x 0.12) = 2.449 mm away, a hit in an x layer sqrt(2) = 1.414 mm.
 */
#include "candidates_case.h"

#include <math.h>

static struct candidates_case c;
static const double tx = 0.1, ty = 0.02;

static struct sl_test *create_new(const struct forward_constant *forward) {
  const uint32_t tracks = c.track_offsets[c.events], hits = c.hit_offsets[c.events];
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "create_tracks");
  sl_test_events(t, c.events);
  sl_test_input(t, "inputs", "offsets", c.track_offsets, c.events + 1);
  sl_test_input(t, "inputs", "x", c.x, tracks);
  sl_test_input(t, "inputs", "y", c.y, tracks);
  sl_test_input(t, "inputs", "tx", c.tx, tracks);
  sl_test_input(t, "inputs", "ty", c.ty, tracks);
  sl_test_input(t, "hits", "offsets", c.hit_offsets, c.events + 1);
  sl_test_input(t, "hits", "x", c.hit_x, hits);
  sl_test_input(t, "windows", "first", c.first, (uint64_t)tracks * FORWARD_WINDOWS);
  sl_test_input(t, "windows", "count", c.count, (uint64_t)tracks * FORWARD_WINDOWS);
  sl_test_input(t, "triplets", "count", c.triplet_count, tracks);
  sl_test_input(t, "triplets", "triplet", c.triplet, (uint64_t)tracks * FORWARD_TRIPLETS_MAX);
  forward_constant_give(forward, t, "z_layer dxdy y_shift constants");
  sl_test_set(t, "max_chi2_x", 2);
  return t;
}

/* ----------------------------------------------------------------------------------------------------- by hand */

static double line_x(uint32_t layer) { return tx * case_z[layer] - case_dxdy(layer) * (ty * case_z[layer]); }

/* One event with the straight track, and hits with these residuals by layer; 100: none. All hits are in windows of
 * `side`. */
static void straight_track(const double *off, uint32_t seed, uint32_t side) {
  memset(&c, 0, sizeof c);
  candidates_next_event(&c);
  const uint32_t track = candidates_add_track(&c, (float)(2642 * tx), (float)(2642 * ty), (float)tx, (float)ty);
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) {
    if (off[layer] >= 100) continue;
    const uint32_t i = 2 * (layer / 4) + (layer % 4 > 1);
    const uint32_t w = FORWARD_LAYER_WINDOWS * i + (layer % 4 == 0 || layer % 4 == 3 ? 0 : 2) + side;
    c.first[FORWARD_WINDOWS * track + w] = candidates_add_hit(&c, layer, line_x(layer) + off[layer]);
    c.count[FORWARD_WINDOWS * track + w] = 1;
  }
  c.triplet_count[track] = 1;
  c.triplet[FORWARD_TRIPLETS_MAX * track] = case_triplet(0, 0, 0, seed, side);
}

struct grown {
  uint32_t count;
  uint16_t hits[SCIFI_TRACK_HITS_MAX];
  float a, b, c, quality;
};
static struct grown grown_by(struct sl_test *t, uint32_t min_hits) {
  struct grown g;
  sl_test_set(t, "min_hits", min_hits);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "candidates", "offsets"))[1], 1);
  g.count = *(const uint8_t *)sl_test_output(t, "candidates", "hit_count");
  memcpy(g.hits, sl_test_output(t, "candidates", "hits"), sizeof g.hits);
  g.a = *(const float *)sl_test_output(t, "candidates", "a");
  g.b = *(const float *)sl_test_output(t, "candidates", "b");
  g.c = *(const float *)sl_test_output(t, "candidates", "c");
  g.quality = *(const float *)sl_test_output(t, "candidates", "quality");
  sl_test_free(t);
  return g;
}

static void hits_are_added_within_their_limits(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  for (uint32_t variant = 0; variant < 4; variant++) {
    const uint32_t seed = variant % 2, side = variant / 2;
    /* the hits of the triplet are on the line: layers 0, 4, 8 or 3, 7, 11 */
    double off[SCIFI_LAYERS] = {0, 2.40, -2.50, 0, 0, -1, 100, 0, 0, 2, -2, 0};
    if (seed)
      off[0] = 1.40, off[4] = -1.43, off[8] = -0.5;
    else
      off[3] = 1.40, off[7] = -1.43, off[11] = -0.5;
    straight_track(off, seed, side);
    const struct grown g = grown_by(create_new(&forward), 3);
    /* layer 6 has no hit, and the hits of layers 2 and 4, or 7, are too far away */
    const uint16_t even[] = {0, 1, 3, 4, 5, 7, 8, 9, 10, 0, 0, 0}, odd[] = {0, 1, 3, 5, 6, 7, 8, 9, 10, 0, 0, 0};
    assert_int_equal(g.count, 9);
    assert_memory_equal(g.hits, seed ? odd : even, sizeof g.hits);
    const double quality = (1.4 * 1.4 + 0.25) / 2 + (2.4 * 2.4 + 1 + 4 + 4) / (50 * 0.12);
    assert_true(fabs(g.quality - quality) < 2e-3);
    assert_true(fabsf(g.a) < 1e-9f && fabs(g.b - tx) < 1e-6 && fabsf(g.c - 852) < 1e-3f);
  }
  forward_constant_close(&forward);
}

static void hits_of_the_other_side_are_not_added(void **state) {
  (void)state;
  const double off[SCIFI_LAYERS] = {0};
  struct forward_constant forward;
  forward_constant_open(&forward);
  straight_track(off, 0, 1);
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i += 2) { /* the triplet is in the left windows now */
    uint16_t *first = c.first + FORWARD_LAYER_WINDOWS * i, *count = c.count + FORWARD_LAYER_WINDOWS * i;
    first[0] = first[1];
    count[0] = 1;
  }
  c.triplet[0] = case_triplet(0, 0, 0, 0, 0);
  const struct grown g = grown_by(create_new(&forward), 3);
  const uint16_t expected[SCIFI_TRACK_HITS_MAX] = {0, 4, 8};
  assert_int_equal(g.count, 3);
  assert_memory_equal(g.hits, expected, sizeof expected);
  assert_true(g.quality == 0);
  forward_constant_close(&forward);
}

/* Layer 3 has hits on both sides of the track. */
static void the_nearer_of_two_hits_is_added(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  for (uint32_t is_left = 0; is_left < 2; is_left++) {
    memset(&c, 0, sizeof c);
    candidates_next_event(&c);
    const uint32_t track = candidates_add_track(&c, (float)(2642 * tx), (float)(2642 * ty), (float)tx, (float)ty);
    candidates_add_hit(&c, 0, line_x(0));
    candidates_add_hit(&c, 3, line_x(3) - 5);
    candidates_add_hit(&c, 3, line_x(3) - (is_left ? 0.3 : 0.5));
    candidates_add_hit(&c, 3, line_x(3) + (is_left ? 0.5 : 0.3));
    candidates_add_hit(&c, 3, line_x(3) + 5);
    candidates_add_hit(&c, 4, line_x(4));
    candidates_add_hit(&c, 8, line_x(8));
    const uint16_t first[] = {0, 1, 5, 6}, count[] = {1, 4, 1, 1}, window[] = {0, 4, 8, 16};
    for (uint32_t i = 0; i < 4; i++) {
      c.first[FORWARD_WINDOWS * track + window[i]] = first[i];
      c.count[FORWARD_WINDOWS * track + window[i]] = count[i];
    }
    c.triplet_count[track] = 1;
    c.triplet[0] = case_triplet(0, 0, 0, 0, 0);
    const struct grown g = grown_by(create_new(&forward), 3);
    assert_int_equal(g.count, 4);
    assert_int_equal(g.hits[1], is_left ? 2 : 3);
    assert_true(fabs(g.quality - 0.045) < 1e-4);
  }
  forward_constant_close(&forward);
}

/* A track along the axis has stereo windows of width 0, and still a quality. */
static void a_track_without_slopes_has_no_stereo_hits(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  const double off[SCIFI_LAYERS] = {0};
  straight_track(off, 0, 0);
  c.tx[0] = c.ty[0] = 0;
  const struct grown g = grown_by(create_new(&forward), 3);
  const uint16_t expected[SCIFI_TRACK_HITS_MAX] = {0, 3, 4, 7, 8, 11};
  assert_int_equal(g.count, 6);
  assert_memory_equal(g.hits, expected, sizeof expected);
  assert_true(g.quality >= 0 && g.quality < 1e-6);
  forward_constant_close(&forward);
}

static void a_candidate_with_too_few_hits_is_empty(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  for (uint32_t missing = 0; missing < 5; missing++) {
    double off[SCIFI_LAYERS] = {0};
    for (uint32_t i = 0; i < missing; i++) off[(const uint32_t[]){5, 11, 1, 7, 10}[i]] = 100;
    straight_track(off, 0, 0);
    const struct grown g = grown_by(create_new(&forward), 9);
    assert_int_equal(g.count, missing < 4 ? 12 - missing : 0);
    if (g.count > 0) continue;
    for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX; h++) assert_int_equal(g.hits[h], 0);
    assert_true(g.a == 0 && g.b == 0 && g.c == 0 && g.quality == 0);
  }
  forward_constant_close(&forward);
}

/* ------------------------------------------------------------------------------------------------------ random */

static int agrees(double found, double expected, double tolerance) {
  return fabs(found - expected) <= tolerance * (1 + fabs(expected));
}

static uint32_t assert_event(const struct sl_test *t, const struct forward_constant *forward, uint32_t event) {
  static struct plain_candidate expected[CASE_TRACKS_MAX * FORWARD_TRIPLETS_MAX];
  const uint32_t count = plain_candidates(&c, forward, event, 2, 50, expected);
  const uint32_t *offsets = sl_test_output(t, "candidates", "offsets");
  uint32_t hits = 0;
  assert_int_equal(offsets[event + 1] - offsets[event], count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = offsets[event] + i;
    const struct plain_candidate *e = &expected[i];
    assert_int_equal(((const uint32_t *)sl_test_output(t, "candidates", "track"))[at], e->track);
    assert_int_equal(((const uint8_t *)sl_test_output(t, "candidates", "hit_count"))[at], e->hit_count);
    assert_memory_equal((const uint16_t *)sl_test_output(t, "candidates", "hits") + (size_t)SCIFI_TRACK_HITS_MAX * at,
                        e->hits, sizeof e->hits);
    assert_true(agrees(((const float *)sl_test_output(t, "candidates", "a"))[at], e->curve.a, 1e-9));
    assert_true(agrees(((const float *)sl_test_output(t, "candidates", "b"))[at], e->curve.b, 2e-6));
    assert_true(fabs(((const float *)sl_test_output(t, "candidates", "c"))[at] - e->curve.c) < 2e-3);
    assert_true(agrees(((const float *)sl_test_output(t, "candidates", "r"))[at], e->curve.r, 1e-9));
    assert_true(agrees(((const float *)sl_test_output(t, "candidates", "quality"))[at], e->quality, 3e-3));
    hits += e->hit_count;
  }
  return hits;
}

static void hits_of_random_tracks_equal_those_of_a_plain_search(void **state) {
  (void)state;
  struct forward_constant forward;
  forward_constant_open(&forward);
  uint32_t hits = 0, candidates = 0;
  for (uint64_t seed = 1; seed <= 12; seed++)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      candidates_fill(&c, seed, 4, 12);
      struct sl_test *t = create_new(&forward);
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      for (uint32_t event = 0; event < c.events; event++) hits += assert_event(t, &forward, event);
      candidates += ((const uint32_t *)sl_test_output(t, "candidates", "offsets"))[c.events];
      sl_test_free(t);
    }
  forward_constant_close(&forward);
  assert_true(candidates > 5000 && hits > 8 * candidates); /* the case contains tracks to find */
}

static void events_not_listed_have_no_candidates(void **state) {
  (void)state;
  const uint32_t listed[] = {1, 3};
  struct forward_constant forward;
  forward_constant_open(&forward);
  candidates_fill(&c, 99, 4, 12);
  struct sl_test *t = create_new(&forward);
  sl_test_list(t, listed, 2);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "candidates", "offsets");
  assert_true(offsets[1] == offsets[0] && offsets[3] == offsets[2]);
  assert_event(t, &forward, 1);
  assert_event(t, &forward, 3);
  sl_test_free(t);
  forward_constant_close(&forward);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_are_added_within_their_limits),
      cmocka_unit_test(hits_of_the_other_side_are_not_added),
      cmocka_unit_test(the_nearer_of_two_hits_is_added),
      cmocka_unit_test(a_track_without_slopes_has_no_stereo_hits),
      cmocka_unit_test(a_candidate_with_too_few_hits_is_empty),
      cmocka_unit_test(hits_of_random_tracks_equal_those_of_a_plain_search),
      cmocka_unit_test(events_not_listed_have_no_candidates),
  };
  return cmocka_run_group_tests_name("create_tracks", tests, NULL, NULL);
}
