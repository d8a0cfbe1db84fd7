/* lost_tracks_test.c: truth.lost_tracks on particles and matches that are written out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h requires the headers above */
#include <sluice/testing.h>

#include <cmocka.h>

/* Two events with 3 and 1 particles. */
static const uint32_t offsets[] = {0, 3, 4}, flags[] = {1, 3, 1, 1};
static const int32_t pdg[] = {211, -11, 13, 321};
static const float zeros[4] = {0};

static struct sl_test *two_events(void) {
  struct sl_test *t = sl_test_new("plugins/truth.cpu.so", "lost_tracks");
  sl_test_events(t, 2);
  sl_test_input(t, "candidates", "offsets", offsets, 3);
  sl_test_input(t, "candidates", "pdg", pdg, 4);
  sl_test_input(t, "candidates", "flags", flags, 4);
  sl_test_input(t, "candidates", "p", zeros, 4);
  sl_test_input(t, "candidates", "pt", zeros, 4);
  sl_test_input(t, "candidates", "eta", zeros, 4);
  sl_test_input(t, "candidates", "z", zeros, 4);
  return t;
}

static void add_stage(struct sl_test *t, const char *name, const uint32_t *track_offsets, const int32_t *particles) {
  sl_test_list_input(t, "stages", name, "offsets", track_offsets, 3);
  sl_test_list_input(t, "stages", name, "particle", particles, track_offsets[2]);
}

static void the_first_stage_without_a_track_lost_the_particle(void **state) {
  (void)state;
  struct sl_test *t = two_events();
  /* Ghosts are -1; particle 0 of the first event has two tracks in the first stage. */
  add_stage(t, "velo", (const uint32_t[]){0, 4, 5}, (const int32_t[]){0, -1, 1, 0, 0});
  add_stage(t, "long", (const uint32_t[]){0, 2, 2}, (const int32_t[]){2, 0});
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *found = sl_test_output(t, "losses", "found"), *lost = sl_test_output(t, "losses", "lost");
  const uint32_t expected[] = {3, 1, 2, 1}, first[] = {2, 1, 0, 1};
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(found[i], expected[i]);
    assert_int_equal(lost[i], first[i]);
  }
  sl_test_free(t);
}

static void an_event_without_tracks_loses_all_particles(void **state) {
  (void)state;
  struct sl_test *t = two_events();
  add_stage(t, "velo", (const uint32_t[]){0, 0, 1}, (const int32_t[]){-2});
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *found = sl_test_output(t, "losses", "found"), *lost = sl_test_output(t, "losses", "lost");
  for (uint32_t i = 0; i < 4; i++) assert_true(found[i] == 0 && lost[i] == 0);
  sl_test_free(t);
}

static void more_stages_than_bits_are_refused(void **state) {
  (void)state;
  struct sl_test *t = two_events();
  char name[16];
  for (uint32_t k = 0; k < 33; k++) {
    snprintf(name, sizeof name, "stage%u", k);
    add_stage(t, name, (const uint32_t[]){0, 0, 0}, (const int32_t[]){0});
  }
  assert_int_not_equal(sl_test_run(t), 0);
  assert_non_null(strstr(sl_test_messages(t), "33 stages are connected; there must be 1 to 32"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_stage_without_a_track_lost_the_particle),
                                     cmocka_unit_test(an_event_without_tracks_loses_all_particles),
                                     cmocka_unit_test(more_stages_than_bits_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
