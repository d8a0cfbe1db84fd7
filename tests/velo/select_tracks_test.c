/* select_tracks_test.c: velo.select_tracks on random tracks, against the conditions evaluated track by track; and hits,
 * offsets and events of the output for any event list.
 */
#include "tracking_sample.h"

enum { EVENTS = 5, TRACKS = 400, HITS = TRACKS * 12 };

/* Straight tracks; the first two are in no event, and event 1 has none. */
static struct {
  uint32_t offsets[EVENTS + 1], hit_offsets[TRACKS + 1], id[HITS];
  float x[HITS], y[HITS], z[HITS];
} in;
static const float beam[2] = {0.5f, -0.25f};

/* Expected properties of a track. */
static struct {
  double eta, z, distance;
  uint32_t hits, backward;
} known[TRACKS];

/* A track with closest approach `distance` to the beam line at z, with hits downstream or upstream of it. */
static void add_track(uint32_t t, uint32_t hits, double slope, double phi, double z, double distance,
                      uint32_t backward) {
  const uint32_t first = in.hit_offsets[t];
  const double tx = slope * cos(phi), ty = slope * sin(phi);
  for (uint32_t i = 0; i < hits; i++) {
    const double hit_z = z + (backward ? -40.0 - 30.0 * i : 40.0 + 30.0 * (hits - i));
    in.id[first + i] = 0x20000000u + 100 * t + i;
    in.x[first + i] = (float)(beam[0] - distance * sin(phi) + tx * (hit_z - z));
    in.y[first + i] = (float)(beam[1] + distance * cos(phi) + ty * (hit_z - z));
    in.z[first + i] = (float)hit_z;
  }
  in.hit_offsets[t + 1] = first + hits;
  known[t].eta = backward ? -asinh(1 / slope) : asinh(1 / slope);
  known[t].z = z;
  known[t].distance = distance;
  known[t].hits = hits;
  known[t].backward = backward;
}

static void make_tracks(void) {
  static const uint32_t offsets[EVENTS + 1] = {2, 90, 90, 91, 300, TRACKS};
  memcpy(in.offsets, offsets, sizeof offsets);
  sample_seed(11);
  in.hit_offsets[0] = 0;
  for (uint32_t t = 0; t < TRACKS; t++)
    add_track(t, 3 + sample_random(10), exp(sample_uniform(-5, -0.5)), sample_uniform(-3.1, 3.1),
              sample_uniform(-200, 200), sample_uniform(0, 5), sample_random(3) == 0);
}

static struct sl_test *select_tracks(void) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "select_tracks");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "tracks", "offsets", in.offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "hit_offsets", in.hit_offsets, TRACKS + 1);
  sl_test_input(t, "tracks", "hit_id", in.id, in.hit_offsets[TRACKS]);
  sl_test_input(t, "tracks", "hit_x", in.x, in.hit_offsets[TRACKS]);
  sl_test_input(t, "tracks", "hit_y", in.y, in.hit_offsets[TRACKS]);
  sl_test_input(t, "tracks", "hit_z", in.z, in.hit_offsets[TRACKS]);
  sl_test_input(t, "geometry", "beam", beam, 2);
  return t;
}

static void assert_track(const struct sl_test *t, uint32_t selected, uint32_t track) {
  const uint32_t *hit_offsets = sl_test_output(t, "selected", "hit_offsets");
  const uint32_t to = hit_offsets[selected], from = in.hit_offsets[track], count = known[track].hits;
  assert_int_equal(hit_offsets[selected + 1] - to, count);
  const uint32_t *id = sl_test_output(t, "selected", "hit_id");
  const float *x = sl_test_output(t, "selected", "hit_x"), *y = sl_test_output(t, "selected", "hit_y");
  const float *z = sl_test_output(t, "selected", "hit_z");
  assert_memory_equal(id + to, in.id + from, count * sizeof *id);
  assert_memory_equal(x + to, in.x + from, count * sizeof *x);
  assert_memory_equal(y + to, in.y + from, count * sizeof *y);
  assert_memory_equal(z + to, in.z + from, count * sizeof *z);
}

/* Runs the node on the events of the bit mask `listed` and compares the selected tracks with `wanted`. */
static void assert_selected(struct sl_test *t, const uint8_t *wanted, uint32_t listed) {
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "selected", "offsets");
  uint32_t selected = 0;
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "selected", "hit_offsets"), 0);
  for (uint32_t event = 0; event < EVENTS; event++) {
    assert_int_equal(offsets[event], selected);
    for (uint32_t track = in.offsets[event]; track < in.offsets[event + 1]; track++)
      if (listed >> event & 1 && wanted[track]) assert_track(t, selected++, track);
  }
  assert_int_equal(offsets[EVENTS], selected);
  sl_test_free(t);
}

enum { ALL_EVENTS = (1 << EVENTS) - 1 };

/* `condition` must hold for some tracks and fail for others. */
#define WANTED(condition)                                                                \
  uint8_t wanted[TRACKS];                                                                \
  uint32_t wanted_count = 0;                                                             \
  make_tracks();                                                                         \
  for (uint32_t i = 0; i < TRACKS; i++) wanted_count += wanted[i] = (condition) ? 1 : 0; \
  assert_true(wanted_count > TRACKS / 20 && wanted_count < TRACKS - TRACKS / 20)

static void all_tracks_are_selected_by_default(void **state) {
  (void)state;
  uint8_t wanted[TRACKS];
  make_tracks();
  memset(wanted, 1, sizeof wanted);
  assert_selected(select_tracks(), wanted, ALL_EVENTS);
}

static void tracks_are_selected_by_number_of_hits(void **state) {
  (void)state;
  WANTED(known[i].hits >= 5 && known[i].hits <= 8);
  struct sl_test *t = select_tracks();
  sl_test_set(t, "min_hits", 5);
  sl_test_set(t, "max_hits", 8);
  assert_selected(t, wanted, ALL_EVENTS);
}

static void tracks_are_selected_by_direction(void **state) {
  (void)state;
  WANTED(known[i].backward);
  struct sl_test *t = select_tracks();
  sl_test_set_text(t, "direction", "backward");
  assert_selected(t, wanted, ALL_EVENTS);
  for (uint32_t i = 0; i < TRACKS; i++) wanted[i] = !known[i].backward;
  t = select_tracks();
  sl_test_set_text(t, "direction", "forward");
  assert_selected(t, wanted, ALL_EVENTS);
}

static void tracks_are_selected_by_pseudorapidity(void **state) {
  (void)state;
  static const double ranges[][2] = {{2, 4}, {-3, -1.5}, {-2, 3}, {0, 100}, {-100, 0}, {-100, 3.5}, {-2.5, 100}};
  for (uint32_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
    WANTED(known[i].eta >= ranges[r][0] && known[i].eta < ranges[r][1]);
    struct sl_test *t = select_tracks();
    sl_test_set(t, "min_eta", ranges[r][0]);
    sl_test_set(t, "max_eta", ranges[r][1]);
    assert_selected(t, wanted, ALL_EVENTS);
  }
}

static void tracks_are_selected_by_closest_approach_to_the_beam(void **state) {
  (void)state;
  WANTED(known[i].z > -50 && known[i].z < 120 && known[i].distance < 3);
  struct sl_test *t = select_tracks();
  sl_test_set(t, "min_z", -50);
  sl_test_set(t, "max_z", 120);
  sl_test_set(t, "max_distance", 3);
  assert_selected(t, wanted, ALL_EVENTS);
}

/* Tracks parallel to the beam line, one of them with all hits in one plane. */
static void tracks_parallel_to_the_beam_have_infinite_pseudorapidity(void **state) {
  (void)state;
  uint8_t wanted[TRACKS] = {0};
  make_tracks();
  for (uint32_t track = 2; track < 5; track++) {
    const uint32_t first = in.hit_offsets[track];
    for (uint32_t i = 0; i < known[track].hits; i++) {
      in.x[first + i] = 2.5f;
      in.y[first + i] = -0.25f;
      if (track == 4) in.z[first + i] = 70;
    }
    wanted[track] = 1;
  }
  struct sl_test *t = select_tracks(); /* eta of all others is less than 8 */
  sl_test_set(t, "min_eta", 20);
  assert_selected(t, wanted, ALL_EVENTS);
  memset(wanted, 1, sizeof wanted);
  assert_selected(select_tracks(), wanted, ALL_EVENTS);
}

static void ranges_include_their_limits(void **state) {
  (void)state;
  uint8_t wanted[TRACKS] = {0};
  make_tracks();
  for (uint32_t i = in.hit_offsets[4]; i < in.hit_offsets[5]; i++) {
    in.x[i] = beam[0] + 2;
    in.y[i] = beam[1];
    in.z[i] = 70;
  }
  wanted[4] = 1;
  struct sl_test *t = select_tracks();
  sl_test_set(t, "min_z", 70);
  sl_test_set(t, "max_z", 70);
  sl_test_set(t, "max_distance", 2);
  assert_selected(t, wanted, ALL_EVENTS);
}

static void events_not_listed_have_no_tracks(void **state) {
  (void)state;
  static const uint32_t lists[][3] = {{0}, {4}, {1}, {0, 3}, {1, 2, 4}}, counts[] = {1, 1, 1, 2, 3};
  for (uint32_t k = 0; k < 5; k++)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      WANTED(known[i].hits >= 6);
      uint32_t listed = 0;
      for (uint32_t i = 0; i < counts[k]; i++) listed |= 1u << lists[k][i];
      struct sl_test *t = select_tracks();
      sl_test_list(t, lists[k], counts[k]);
      sl_test_block(t, block);
      sl_test_set(t, "min_hits", 6);
      assert_selected(t, wanted, listed);
    }
  uint8_t wanted[TRACKS];
  memset(wanted, 1, sizeof wanted);
  struct sl_test *t = select_tracks();
  sl_test_list(t, NULL, 0);
  assert_selected(t, wanted, 0);
}

static void output_capacity_is_that_of_all_tracks_and_hits(void **state) {
  (void)state;
  make_tracks();
  struct sl_test *t = select_tracks();
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "selected", "hit_offsets"), TRACKS + 1);
  assert_int_equal(sl_test_output_count(t, "selected", "hit_id"), in.hit_offsets[TRACKS]);
  assert_int_equal(sl_test_used(t, "selected"), TRACKS - in.offsets[0]);
  assert_int_equal(sl_test_used(t, "selected.hit_offsets"), in.hit_offsets[TRACKS] - in.hit_offsets[2]);
  sl_test_free(t);
}

/* The harness can set a budget below the capacity that the algorithm declares. */
static void a_smaller_budget_is_not_exceeded(void **state) {
  (void)state;
  make_tracks();
  static const uint32_t rooms[][2] = {{TRACKS - 3, HITS}, {0, 0}, {TRACKS, 100}};
  for (uint32_t i = 0; i < 3; i++) {
    struct sl_test *t = select_tracks();
    sl_test_budget(t, "selected", rooms[i][0]);
    sl_test_budget(t, "selected.hit_offsets", rooms[i][1]);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(sl_test_used(t, "selected"), TRACKS - in.offsets[0]);
    sl_test_free(t);
  }
}

static void empty_ranges_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *low, *high;
    double from, to;
    const char *message;
  } cases[] = {{"min_hits", "max_hits", 5, 4, "no track can satisfy both min_hits and max_hits"},
               {"min_eta", "max_eta", 2, 2, "both min_eta and max_eta"},
               {"min_z", "max_z", 2, 1, "both min_z and max_z"}};
  make_tracks();
  for (uint32_t i = 0; i < 3; i++) {
    struct sl_test *t = select_tracks();
    sl_test_set(t, cases[i].low, cases[i].from);
    sl_test_set(t, cases[i].high, cases[i].to);
    assert_int_equal(sl_test_run(t), SL_EINVAL);
    assert_non_null(strstr(sl_test_messages(t), cases[i].message));
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_tracks_are_selected_by_default),
      cmocka_unit_test(tracks_are_selected_by_number_of_hits),
      cmocka_unit_test(tracks_are_selected_by_direction),
      cmocka_unit_test(tracks_are_selected_by_pseudorapidity),
      cmocka_unit_test(tracks_are_selected_by_closest_approach_to_the_beam),
      cmocka_unit_test(tracks_parallel_to_the_beam_have_infinite_pseudorapidity),
      cmocka_unit_test(ranges_include_their_limits),
      cmocka_unit_test(events_not_listed_have_no_tracks),
      cmocka_unit_test(output_capacity_is_that_of_all_tracks_and_hits),
      cmocka_unit_test(a_smaller_budget_is_not_exceeded),
      cmocka_unit_test(empty_ranges_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
