/* compass_plain_test.c: ut.compass against compass_reference.h, with more tracks and more hits per track than are
 * processed at a time, and up to 1000 pairs.
 */
#include "compass_reference.h"
#include "ut_support.h"
#include "velo/event_model.h"

enum { EVENTS = 3, TRACKS = 700, HITS = 4000, GROUPS = 5, BUSY_HITS = 300 };
static const float layer_z[] = {2327.5f, 2372.5f, 2597.5f, 2642.5f}, slopes[] = {0, 0.08748866f, -0.0874886f, 0};
static const float kick_z = 1780, pitch_of_all = 0.19f;

static struct {
  uint32_t track_offsets[EVENTS + 1], hit_offsets[EVENTS + 1], track[TRACKS];
  float x[TRACKS], y[TRACKS], z[TRACKS], tx[TRACKS], ty[TRACKS];
  uint16_t first[TRACKS][UT_WINDOWS], count[TRACKS][UT_WINDOWS], in_layer[TRACKS][UT_LAYERS];
  float hit_x[HITS], hit_z[HITS];
  uint16_t sector[HITS];
} in;

static uint32_t random_state = 7;
static uint32_t random_below(uint32_t end) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)random_state * end >> 32);
}
static float random_between(float low, float high) {
  return low + (high - low) * (float)random_below(1u << 24) / 16777216.0f;
}

/* An event with hits near the trajectories of its close tracks. Each layer has five groups of `group_hits` hits; a
 * window has up to `most` hits of a group. */
static void add_event(uint32_t event, uint32_t tracks, uint32_t group_hits, uint32_t most) {
  const uint32_t first_track = in.track_offsets[event], first_hit = in.hit_offsets[event];
  for (uint32_t i = 0; i < UT_LAYERS * GROUPS * group_hits; i++) {
    const uint32_t layer = i / (GROUPS * group_hits), hit = first_hit + i;
    in.hit_z[hit] = layer_z[layer] + random_between(-7, 7);
    in.hit_x[hit] = random_between(0.048f, 0.052f) * in.hit_z[hit] - 0.1f * in.hit_z[hit] * slopes[layer];
  }
  for (uint32_t i = 0; i < tracks; i++) {
    const uint32_t t = first_track + i;
    in.track[t] = i;
    in.z[t] = 770;
    in.tx[t] = random_between(0.048f, 0.052f);
    in.ty[t] = random_between(0.099f, 0.101f);
    in.x[t] = in.tx[t] * 770;
    in.y[t] = in.ty[t] * 770;
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
      uint32_t filled = UT_LAYER_WINDOWS * layer;
      for (uint32_t g = 0; g < GROUPS; g++) {
        const uint32_t is_whole = most >= group_hits, wanted = is_whole ? group_hits : random_below(most + 1);
        if (wanted == 0 || (!is_whole && random_below(3) == 0)) continue;
        const uint32_t skipped = random_below(group_hits - wanted + 1);
        in.first[t][filled] = (uint16_t)((layer * GROUPS + g) * group_hits + skipped);
        in.count[t][filled++] = (uint16_t)wanted;
        in.in_layer[t][layer] = (uint16_t)(in.in_layer[t][layer] + wanted);
      }
    }
  }
  in.track_offsets[event + 1] = first_track + tracks;
  in.hit_offsets[event + 1] = first_hit + UT_LAYERS * GROUPS * group_hits;
}

static struct sl_test *compass_new(void) {
  static float pitch[UT_SECTORS], integral[UT_INTEGRALS];
  const float polarity = -1;
  const float constants[UT_FORMULA_CONSTANTS] = {[UT_KICK_TO_MOMENTUM] = 3.3356e-3f,
                                                 [UT_FIRST_KICK_Z] = kick_z,
                                                 [UT_SECOND_KICK_Z] = 2010,
                                                 [UT_KICK_ERRORS] = 0.14f,
                                                 [UT_KICK_ERRORS + 1] = 0.12f};
  const uint32_t tracks = in.track_offsets[EVENTS], hits = in.hit_offsets[EVENTS];
  struct sl_test *t = sl_test_new(UT_PLUGIN, "compass");
  for (uint32_t i = 0; i < UT_SECTORS; i++) pitch[i] = pitch_of_all;
  for (uint32_t i = 0; i < UT_INTEGRALS; i++) integral[i] = 0.1f;
  sl_test_events(t, EVENTS);
  sl_test_input(t, "magnet", "sign", &polarity, 1);
  sl_test_input(t, "selected", "offsets", in.track_offsets, EVENTS + 1);
  sl_test_input(t, "selected", "track", in.track, tracks);
  sl_test_input(t, "windows", "first", in.first, (size_t)tracks * UT_WINDOWS);
  sl_test_input(t, "windows", "count", in.count, (size_t)tracks * UT_WINDOWS);
  sl_test_input(t, "windows", "hits", in.in_layer, (size_t)tracks * UT_LAYERS);
  sl_test_input(t, "end_states", "offsets", in.track_offsets, EVENTS + 1);
  sl_test_input(t, "end_states", "x", in.x, tracks);
  sl_test_input(t, "end_states", "y", in.y, tracks);
  sl_test_input(t, "end_states", "z", in.z, tracks);
  sl_test_input(t, "end_states", "tx", in.tx, tracks);
  sl_test_input(t, "end_states", "ty", in.ty, tracks);
  sl_test_input(t, "hits", "offsets", in.hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "x", in.hit_x, hits);
  sl_test_input(t, "hits", "z", in.hit_z, hits);
  sl_test_input(t, "hits", "sector", in.sector, hits);
  sl_test_input(t, "geometry", "pitch", pitch, UT_SECTORS);
  sl_test_input(t, "groups", "layer_slope", slopes, UT_LAYERS);
  sl_test_input(t, "tables", "field_integral", integral, UT_INTEGRALS);
  sl_test_input(t, "tables", "constants", constants, UT_FORMULA_CONSTANTS);
  sl_test_set(t, "min_momentum", 0); /* no requirement after the first fit */
  sl_test_set(t, "min_pt", 0);
  return t;
}

/* Compares all tracks; returns the number of tracks with hits. */
static uint32_t compare(uint32_t max_pairs) {
  struct sl_test *t = compass_new();
  uint32_t found = 0;
  sl_test_set(t, "max_pairs", max_pairs);
  sl_test_set(t, "min_quality", -1e9);
  assert_int_equal(sl_test_run(t), 0);
  const uint8_t *hit_count = sl_test_output(t, "candidates", "hit_count");
  const uint16_t *hits = sl_test_output(t, "candidates", "hits");
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint32_t event_hit = in.hit_offsets[event];
    for (uint32_t track = in.track_offsets[event]; track < in.track_offsets[event + 1]; track++) {
      const struct compass_input input = {.x = in.x[track],
                                          .y = in.y[track],
                                          .z = in.z[track],
                                          .tx = in.tx[track],
                                          .ty = in.ty[track],
                                          .first = in.first[track],
                                          .count = in.count[track],
                                          .hit_x = in.hit_x + event_hit,
                                          .hit_z = in.hit_z + event_hit,
                                          .layer_slope = slopes,
                                          .kick_z = kick_z,
                                          .pitch = pitch_of_all,
                                          .max_pairs = max_pairs};
      const struct compass_best best = compass_find(&input);
      uint16_t expected[UT_LAYERS] = {0};
      uint32_t place = 0;
      for (uint32_t layer = 0; best.count > 0 && layer < UT_LAYERS; layer++)
        if (best.hits[layer] != COMPASS_NONE) expected[place++] = best.hits[layer];
      assert_int_equal(hit_count[track], best.count);
      assert_memory_equal(hits + UT_LAYERS * track, expected, sizeof expected);
      found += best.count > 0;
    }
  }
  sl_test_free(t);
  return found;
}

static void more_tracks_than_a_round_holds_give_the_reference_result(void **state) {
  (void)state;
  memset(&in, 0, sizeof in);
  add_event(0, 300, 20, 3);
  add_event(1, 0, 1, 1);
  add_event(2, 40, 20, 12); /* about 80 hits per track */
  assert_true(compare(16) > 300);
  assert_true(compare(1) > 200);
}

static void a_track_with_more_hits_than_shared_memory_gives_the_reference_result(void **state) {
  (void)state;
  memset(&in, 0, sizeof in);
  add_event(0, 5, 20, 3);
  add_event(1, 2, BUSY_HITS / GROUPS, BUSY_HITS / GROUPS); /* 1200 hits per track: all hits of the event */
  add_event(2, 5, 20, 3);
  assert_true(compare(1000) >= 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(more_tracks_than_a_round_holds_give_the_reference_result),
      cmocka_unit_test(a_track_with_more_hits_than_shared_memory_gives_the_reference_result)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
