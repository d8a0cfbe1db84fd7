/* neutral_clusters_test.c: calo.match_clusters against the cells of lines point by point, and calo.neutral_clusters. */
#include "line_support.h"

#include <math.h>

enum { EVENTS = 4, TRACKS = 300, CLUSTERS = 900 };
static const uint32_t event_tracks[EVENTS + 1] = {0, 140, 141, 141, TRACKS};
static const uint32_t event_states[EVENTS + 1] = {0, 100, 100, 132, TRACKS};
static const uint32_t event_clusters[EVENTS + 1] = {0, 400, 450, 450, CLUSTERS};
static struct line tracks[TRACKS], states[TRACKS];
static uint8_t backward[TRACKS];
static uint16_t cells[CLUSTERS];

static void make_event(void) {
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float reach = i % 3 == 0 ? 0.06f : 0.35f;
    tracks[i] = (struct line){random_between(-3000, 3000), random_between(-2400, 2400), 9410,
                              random_between(-0.2f, 0.2f), random_between(-0.2f, 0.2f)};
    states[i] = (struct line){random_between(-2, 2), random_between(-2, 2), random_between(-200, 200),
                              random_between(-reach, reach), random_between(-reach, reach)};
    backward[i] = i % 4 == 1;
  }
  for (uint32_t i = 0; i < CLUSTERS; i++) { /* a third on or next to a line of any event */
    const struct line *l = i % 6 == 0 ? &tracks[random_below(TRACKS)] : &states[random_below(TRACKS)];
    const uint32_t cell = cell_of_line(l, FRONT, BACK, (double)random_below(5) / 4);
    cells[i] = (uint16_t)(i % 3 == 0 && cell < CALO_CELLS ? cell : random_below(CALO_CELLS));
  }
}

/* 1 if the line meets the cell at front, shower maximum, `parts` - 1 depths between, or back. */
static int meets(const struct line *l, uint32_t parts, uint32_t cell) {
  if (cell_of_line(l, FRONT, FRONT, 0) == cell || cell_of_line(l, SHOWER_MAX, SHOWER_MAX, 0) == cell) return 1;
  for (uint32_t i = 1; i <= parts; i++)
    if (cell_of_line(l, FRONT, BACK, (double)i / parts) == cell) return 1;
  return 0;
}

static void give_lines(struct sl_test *t, const char *port, const struct line *lines, int has_z,
                       const uint32_t *offsets) {
  static const char *const names[] = {"x", "y", "tx", "ty", "z"};
  static float column[5][TRACKS];
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float values[] = {lines[i].x, lines[i].y, lines[i].tx, lines[i].ty, lines[i].z};
    for (uint32_t k = 0; k < 5; k++) column[k][i] = values[k];
  }
  for (uint32_t k = 0; k < (has_z ? 5u : 4u); k++) sl_test_input(t, port, names[k], column[k], TRACKS);
  sl_test_input(t, port, "offsets", offsets, EVENTS + 1);
}

static struct sl_test *match_new(void) {
  struct sl_test *t = calo_new("match_clusters", EVENTS, "xy to_local planes cell_size");
  give_lines(t, "tracks", tracks, 0, event_tracks);
  give_lines(t, "beamline_states", states, 1, event_states);
  sl_test_input(t, "beamline_states", "backward", backward, TRACKS);
  sl_test_input(t, "clusters", "offsets", event_clusters, EVENTS + 1);
  sl_test_input(t, "clusters", "cell", cells, CLUSTERS);
  return t;
}

static void clusters_on_lines_are_matched(void **state) {
  (void)state;
  make_event();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    uint32_t on_tracks = 0, on_lines = 0;
    struct sl_test *t = match_new();
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    const uint8_t *on_track = sl_test_output(t, "matches", "on_track"),
                  *on_velo_line = sl_test_output(t, "matches", "on_velo_line");
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t c = event_clusters[event]; c < event_clusters[event + 1]; c++) {
        int track = 0, line = 0;
        for (uint32_t i = event_tracks[event]; i < event_tracks[event + 1]; i++)
          track |= meets(&tracks[i], 4, cells[c]);
        for (uint32_t i = event_states[event]; i < event_states[event + 1]; i++)
          line |= !backward[i] && meets(&states[i], 2, cells[c]);
        assert_int_equal(on_track[c], track);
        assert_int_equal(on_velo_line[c], line);
        on_tracks += on_track[c];
        on_lines += on_velo_line[c];
      }
    assert_true(on_tracks > 20 && on_tracks < CLUSTERS / 2 && on_lines > 20 && on_lines < CLUSTERS / 2);
    sl_test_free(t);
  }
}

/* A track without a position is on no cell. */
static void lines_of_nan_match_nothing(void **state) {
  (void)state;
  make_event();
  for (uint32_t i = 0; i < TRACKS; i++) tracks[i].x = states[i].ty = NAN;
  struct sl_test *t = match_new();
  assert_int_equal(sl_test_run(t), 0);
  const uint8_t *on_track = sl_test_output(t, "matches", "on_track"),
                *on_velo_line = sl_test_output(t, "matches", "on_velo_line");
  for (uint32_t c = 0; c < CLUSTERS; c++) assert_int_equal(on_track[c] + on_velo_line[c], 0);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------- neutral_clusters */

static float values[5][CLUSTERS];
static uint8_t on_track[CLUSTERS], on_velo_line[CLUSTERS];
static const char *const value_names[] = {"energy", "et", "x", "y", "highest_share"};

static struct sl_test *neutral_new(const uint32_t *match_offsets) {
  struct sl_test *t = sl_test_new(CALO_PLUGIN, "neutral_clusters");
  sl_test_events(t, EVENTS);
  make_event();
  for (uint32_t i = 0; i < CLUSTERS; i++) {
    for (uint32_t k = 0; k < 5; k++) values[k][i] = random_between(0, 1000);
    on_track[i] = random_below(3) == 0;
    on_velo_line[i] = random_below(4) == 0;
  }
  sl_test_input(t, "clusters", "offsets", event_clusters, EVENTS + 1);
  sl_test_input(t, "clusters", "cell", cells, CLUSTERS);
  for (uint32_t k = 0; k < 5; k++) sl_test_input(t, "clusters", value_names[k], values[k], CLUSTERS);
  if (!match_offsets) return t;
  sl_test_input(t, "matches", "offsets", match_offsets, EVENTS + 1);
  sl_test_input(t, "matches", "on_track", on_track, match_offsets[EVENTS]);
  sl_test_input(t, "matches", "on_velo_line", on_velo_line, match_offsets[EVENTS]);
  return t;
}

static uint32_t area_of(uint32_t cell) {
  const uint32_t *first = calo_of("area_first");
  return cell >= first[2] ? 2 : cell >= first[1] ? 1 : 0;
}

static void clusters_on_no_track_are_selected_in_order(void **state) {
  (void)state;
  for (int has_matches = 0; has_matches < 2; has_matches++) {
    struct sl_test *t = neutral_new(has_matches ? event_clusters : NULL);
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t *offsets = sl_test_output(t, "neutral_clusters", "offsets");
    const uint16_t *cell = sl_test_output(t, "neutral_clusters", "cell");
    const uint8_t *area = sl_test_output(t, "neutral_clusters", "area"),
                  *flag = sl_test_output(t, "neutral_clusters", "on_velo_line");
    uint32_t to = 0, areas[CALO_AREAS] = {0};
    for (uint32_t event = 0; event < EVENTS; event++) {
      assert_int_equal(offsets[event], to);
      for (uint32_t i = event_clusters[event]; i < event_clusters[event + 1]; i++) {
        if (has_matches && on_track[i]) continue;
        assert_int_equal(cell[to], cells[i]);
        for (uint32_t k = 0; k < 5; k++)
          assert_true(((const float *)sl_test_output(t, "neutral_clusters", value_names[k]))[to] == values[k][i]);
        assert_int_equal(area[to], area_of(cells[i]));
        assert_int_equal(flag[to], has_matches ? on_velo_line[i] : 0);
        areas[area[to++]]++;
      }
    }
    assert_int_equal(offsets[EVENTS], to);
    assert_true(has_matches ? to > CLUSTERS / 2 && to < CLUSTERS : to == CLUSTERS);
    assert_true(areas[0] > 0 && areas[1] > 0 && areas[2] > 0);
    sl_test_free(t);
  }
}

static void matches_of_other_clusters_refuse_the_event(void **state) {
  (void)state;
  static const uint32_t others[EVENTS + 1] = {0, 400, 449, 449, 899};
  struct sl_test *t = neutral_new(others);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < EVENTS; event++) assert_int_equal(sl_test_event_error(t, event) != 0, event == 1);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clusters_on_lines_are_matched),
      cmocka_unit_test(lines_of_nan_match_nothing),
      cmocka_unit_test(clusters_on_no_track_are_selected_in_order),
      cmocka_unit_test(matches_of_other_clusters_refuse_the_event),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
