/* event_picture_test.c: truth.event_picture for hand-made events: kinds of lines, reconstructed vertices, NaN,
 * malformed truth. The file is searched as text; event_picture_test.py parses it. */
#include "check_case.h"
#include "pv/event_model.h"
#include "scratch.h"
#include "velo/event_model.h"

#include <sluice/testing.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Three tracks of three hits in one event; the third one goes backwards. */
enum { TRACKS = 3, HITS = 9 };
static const uint32_t offsets[2] = {0, TRACKS}, hit_offsets[TRACKS + 1] = {0, 3, 6, 9};
static const uint32_t ids[HITS] = {1, 2, 3, 11, 12, 13, 21, 22, 23};
static const float hit_x[HITS] = {30, 20, 10, -30, -20, -10, 5, 10, 15}, hit_y[HITS] = {0};
static const float hit_z[HITS] = {300, 200, 100, 300, 200, 100, -50, -100, -150};

/* The particle of the first track, one without a track, and one that is not reconstructible. */
static const struct true_particle particles[] = {
    {.pdg = 211, .p = 9000, .eta = 3, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {1, 2, 3}},
    {.pdg = -321, .p = 4200, .eta = 2.5f, .flags = {[HAS_VELO] = 1}, .hit_count = 4, .hits = {31, 32, 33, 34}},
    {.pdg = 11, .p = 100, .eta = 3, .hit_count = 1, .hits = {35}}};

static char path[SCRATCH_PATH_MAX];
static char *text;

static int start(void **state) {
  (void)state;
  scratch_file(path);
  return start_check("event_picture");
}

static int stop(void **state) {
  (void)stop_check(state);
  free(text);
  text = NULL;
  return 0;
}

static void give_tracks(float first_x) {
  const float x[TRACKS] = {first_x, 0, 0}, zero[TRACKS] = {0}, tx[TRACKS] = {0.1f, -0.1f, -0.1f};
  const uint8_t backward[TRACKS] = {0, 0, 1};
  sl_test_events(test, 1);
  sl_test_input(test, "tracks", "offsets", offsets, 2);
  sl_test_input(test, "tracks", "hit_offsets", hit_offsets, TRACKS + 1);
  sl_test_input(test, "tracks", "hit_id", ids, HITS);
  sl_test_input(test, "tracks", "hit_x", hit_x, HITS);
  sl_test_input(test, "tracks", "hit_y", hit_y, HITS);
  sl_test_input(test, "tracks", "hit_z", hit_z, HITS);
  sl_test_input(test, "beamline_states", "offsets", offsets, 2);
  sl_test_input(test, "beamline_states", "x", x, TRACKS);
  sl_test_input(test, "beamline_states", "y", zero, TRACKS);
  sl_test_input(test, "beamline_states", "z", zero, TRACKS);
  sl_test_input(test, "beamline_states", "tx", tx, TRACKS);
  sl_test_input(test, "beamline_states", "ty", zero, TRACKS);
  sl_test_input(test, "beamline_states", "backward", backward, TRACKS);
  sl_test_set_text(test, "path", path);
}

static void draw(void) {
  assert_int_equal(sl_test_run(test), 0);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = 0;
  const ssize_t length = getdelim(&text, &size, '\0', file);
  fclose(file);
  assert_true(length > 0);
  assert_non_null(strstr(text, "</svg>\n"));
}

static void assert_shows(const char *wanted) {
  if (!strstr(text, wanted)) fail_msg("the picture does not have \"%s\":\n%s", wanted, text);
}

static void found_tracks_ghosts_and_missed_particles_differ(void **state) {
  (void)state;
  give_tracks(0);
  add_event(banks, particles, 3);
  set_banks("mc_particles");
  draw();
  assert_shows("3 tracks, ghosts among them: 2. Found: 1 of 2 reconstructible particles");
  assert_shows("<title>π⁺ 9 GeV, η 3, 3 hits</title>");
  assert_shows("<title>ghost, 3 hits</title>");
  assert_shows("<title>missed: K⁻ 4.2 GeV, η 2.5, 4 hits</title>");
  assert_shows("missed particle: 1<");
  assert_shows("missed, others: 0<");
  assert_null(strstr(text, "hits on no track")); /* `hits` is not connected */
}

static void hits_of_missed_particles_are_found_by_their_ids(void **state) {
  (void)state;
  /* Two of the missed particle's four hits, one with other fraction bits than in the truth, one on a track, one on
   * none. */
  const uint32_t hit_offsets_all[2] = {0, 4}, hit_ids[4] = {1, 31, 32 | 1u << 26, 99};
  const float x[4] = {30, 7, 14, 1}, y[4] = {0, 0, 0, 2}, z[4] = {300, 100, 200, 3};
  for (int masked = 0; masked < 2; masked++) {
    free(text);
    text = NULL;
    banks->event_count = banks->bank_count = banks->word_count = 0;
    give_tracks(0);
    add_event(banks, particles, 3);
    set_banks("mc_particles");
    sl_test_input(test, "hits", "offsets", hit_offsets_all, 2);
    sl_test_input(test, "hits", "id", hit_ids, 4);
    sl_test_input(test, "hits", "x", x, 4);
    sl_test_input(test, "hits", "y", y, 4);
    sl_test_input(test, "hits", "z", z, 4);
    sl_test_set(test, "mask_fraction_bits", masked);
    draw();
    assert_shows("hits on no track: 3<");
    /* x and y from -55 to 55 mm on 460 pixels, with the middle at 310, 880: a dot at each hit. */
    assert_shows(masked ? "<path class='missed-hits' d='m339.3,880h0m29.2,0h0'/>"
                        : "<path class='missed-hits' d='m339.3,880h0'/>");
  }
}

static void reconstructed_and_true_vertices_have_different_markers(void **state) {
  (void)state;
  const uint32_t vertex_offsets[2] = {0, 2}, tracks[2] = {7, 5};
  const float x[2] = {0}, z[2] = {-20, 0};
  give_tracks(0);
  sl_test_input(test, "vertices", "offsets", vertex_offsets, 2);
  sl_test_input(test, "vertices", "x", x, 2);
  sl_test_input(test, "vertices", "y", x, 2);
  sl_test_input(test, "vertices", "z", z, 2);
  sl_test_input(test, "vertices", "tracks", tracks, 2);
  draw();
  assert_shows("reconstructed: 2<");
  assert_null(strstr(text, "true, 4 tracks"));
  assert_shows("3 tracks. The event has no Monte-Carlo truth");
  /* z = 0 in the middle of -150 to 150 mm on 620 pixels from 650; x = 0 in the middle of 460 from 650 */
  assert_shows("<path class='reconstructed' d='M950,880h20m-10,-10v20'/>");
}

static void nan_leaves_a_valid_file(void **state) {
  (void)state;
  give_tracks(NAN);
  draw();
  assert_null(strstr(text, "nan"));
  assert_shows("track: 3<");
}

static void malformed_truth_is_reported_and_ignored(void **state) {
  (void)state;
  give_tracks(0);
  add_event(banks, particles, 3);
  banks->size_bytes[0]--;
  set_banks("mc_particles");
  draw();
  assert_non_null(strstr(sl_test_messages(test), "malformed MC particles: the particles are cut short"));
  assert_shows("track: 3<");
}

/* The second event has no tracks. */
static void give_two_events(void) {
  const uint32_t both[3] = {0, TRACKS, TRACKS};
  give_tracks(0);
  sl_test_events(test, 2);
  sl_test_input(test, "tracks", "offsets", both, 3);
  sl_test_input(test, "beamline_states", "offsets", both, 3);
}

static void assert_draws(const char *wanted) {
  const char *drawing = sl_test_drawing(test);
  assert_non_null(drawing);
  assert_true(strlen(drawing) > 7 && strcmp(drawing + strlen(drawing) - 7, "</svg>\n") == 0);
  if (!strstr(drawing, wanted)) fail_msg("the drawing does not have \"%s\":\n%s", wanted, drawing);
}

static void an_event_is_drawn_on_request_beside_the_one_in_the_file(void **state) {
  (void)state;
  static const char *const parts[] = {"velo", "spectrometer"};
  for (int i = 0; i < 2; i++) {
    free(text);
    text = NULL;
    give_two_events();
    sl_test_set_text(test, "show", parts[i]);
    sl_test_draw(test, 1);
    draw();
    assert_shows("run 0, event 0</title>");
    assert_draws("run 0, event 1</title>");
    assert_int_equal(number_in(sl_test_report(test), "event"), 0);
    assert_int_equal(number_in(sl_test_report(test), "tracks"), 3);
  }
  sl_test_set_text(test, "show", "velo");
  assert_int_equal(sl_test_run(test), 0);
  assert_draws("0 tracks. The event has no Monte-Carlo truth");
  free(text);
  text = NULL;
  sl_test_draw(test, 0);
  draw();
  assert_draws("3 tracks. The event has no Monte-Carlo truth");
  assert_string_equal(sl_test_drawing(test), text); /* the same event as in the file */
}

static void without_a_path_events_are_drawn_on_request_only(void **state) {
  (void)state;
  give_two_events();
  sl_test_set_text(test, "path", "");
  assert_int_equal(sl_test_run(test), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(test), "no output file is given: use -o, or the property path"));
  sl_test_draw(test, 0);
  assert_int_equal(sl_test_run(test), 0);
  assert_draws("run 0, event 0</title>");
  assert_int_equal(number_in(sl_test_report(test), "requests"), 1);
  assert_non_null(strstr(sl_test_messages(test), "drew 1 of 2 events on request, and no file"));
}

static void banks_without_the_detectors_geometry_are_refused(void **state) {
  (void)state;
  give_tracks(0);
  end_event(banks);
  set_banks("muon");
  assert_int_equal(sl_test_run(test), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(test), "`muon` is connected without `muon_geometry`"));
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(found_tracks_ghosts_and_missed_particles_differ),
      CASE(hits_of_missed_particles_are_found_by_their_ids),
      CASE(reconstructed_and_true_vertices_have_different_markers),
      CASE(nan_leaves_a_valid_file),
      CASE(malformed_truth_is_reported_and_ignored),
      CASE(an_event_is_drawn_on_request_beside_the_one_in_the_file),
      CASE(without_a_path_events_are_drawn_on_request_only),
      CASE(banks_without_the_detectors_geometry_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
