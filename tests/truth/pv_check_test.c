/* pv_check_test.c: counts and report of truth.pv_check for hand-made true and reconstructed vertices. */
#include "check_case.h"
#include "pv/event_model.h"
#include "sink_caller.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FOUND_MAX = 32 };

/* Reconstructed vertices of a slice. */
struct found {
  uint32_t offsets[WRITER_EVENTS + 1], ignored[WRITER_EVENTS], event_count, count;
  float x[FOUND_MAX], y[FOUND_MAX], z[FOUND_MAX], c_xx[FOUND_MAX], c_yy[FOUND_MAX], c_zz[FOUND_MAX], weight[FOUND_MAX];
};

static struct found found;

static int start(void **state) {
  (void)state;
  memset(&found, 0, sizeof found);
  return start_check("pv_check");
}

/* A vertex with errors of 0.0078125 mm (2^-7) in x and y and 0.125 mm in z. */
static void find(float x, float y, float z, float weight) {
  const uint32_t i = found.count++;
  found.x[i] = x;
  found.y[i] = y;
  found.z[i] = z;
  found.c_xx[i] = found.c_yy[i] = 1.0f / 16384;
  found.c_zz[i] = 1.0f / 64;
  found.weight[i] = weight;
}

static void end_found(void) { found.offsets[++found.event_count] = found.count; }

#define TRUTH(...)                                         \
  add_vertices(banks, (struct true_vertex[]){__VA_ARGS__}, \
               sizeof((struct true_vertex[]){__VA_ARGS__}) / sizeof(struct true_vertex))

static const char *run(void) {
  assert_int_equal(banks->event_count, found.event_count);
  sl_test_events(test, found.event_count);
  sl_test_input(test, "vertices", "offsets", found.offsets, found.event_count + 1);
  sl_test_input(test, "vertices", "ignored", found.ignored, found.event_count);
#define FIELD(name) sl_test_input(test, "vertices", #name, found.name, found.count);
  FIELD(x) FIELD(y) FIELD(z) FIELD(c_xx) FIELD(c_yy) FIELD(c_zz) FIELD(weight) set_banks("mc_vertices");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

/* First row of a table with the lower edge `from`. */
static const char *row(const char *report, const char *table, const char *key, double from) {
  for (const char *at = value_in(report, table);; at++) {
    at = value_in(at, key);
    if (strtod(at, NULL) == from) return at;
  }
}

struct counts {
  uint32_t reconstructible, reconstructed, matched, clones;
};

static void assert_counts(const char *from, struct counts expected) {
  if (number_in(from, "reconstructible") != expected.reconstructible ||
      number_in(from, "reconstructed") != expected.reconstructed || number_in(from, "matched") != expected.matched ||
      number_in(from, "clones") != expected.clones)
    fail_msg("expected %u, %u, %u, %u at: %.200s", expected.reconstructible, expected.reconstructed, expected.matched,
             expected.clones, from);
}

static void assert_found(const char *from, uint32_t vertices, uint32_t false_vertices) {
  assert_int_equal(number_in(from, "vertices"), vertices);
  assert_int_equal(number_in(from, "false"), false_vertices);
}

static void residuals_and_pulls_are_those_of_the_pair(void **state) {
  (void)state;
  TRUTH({10, 0, 0, 20});
  find(0.015625f, -0.0078125f, 20.25f, 9.5f);
  end_found();
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "true_vertices"), 1);
  assert_counts(report, (struct counts){1, 1, 1, 0});
  assert_found(report, 1, 0);
  assert_float_equal(number_in(report, "efficiency"), 1, 1e-9);
  assert_float_equal(number_in(report, "false_rate"), 0, 1e-9);
  assert_int_equal(number_in(report, "pairs"), 1);
  assert_float_equal(number_in(report, "mean_weight"), 9.5, 1e-9);
  assert_float_equal(number_in(report, "resolution_x_mean_mm"), 0.015625, 1e-9);
  assert_float_equal(number_in(report, "resolution_y_mean_mm"), -0.0078125, 1e-9);
  assert_float_equal(number_in(report, "resolution_z_mean_mm"), 0.25, 1e-9);
  assert_float_equal(number_in(report, "pull_x_mean"), 2, 1e-9);
  assert_float_equal(number_in(report, "pull_y_mean"), -1, 1e-9);
  assert_float_equal(number_in(report, "pull_z_mean"), 2, 1e-9);
  const char *messages = sl_test_messages(test);
  assert_non_null(strstr(messages, "primary vertices of 1 event: 1, false 0 (0.00 %), clones 0 (0.00 %)"));
  assert_null(strstr(messages, "warning"));
}

static void spreads_are_over_all_pairs(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    TRUTH({10, 0, 0, 20});
    find((float)(i - 2) * 0.03125f, 0, 20 + (float)(i - 2) * 0.125f, 10);
    end_found();
  }
  const char *report = run();
  assert_int_equal(number_in(report, "pairs"), 5);
  assert_float_equal(number_in(report, "resolution_x_mean_mm"), 0, 1e-9);
  assert_float_equal(number_in(report, "resolution_x_rms_mm"), 0.03125f * sqrtf(2), 1e-8f);
  assert_float_equal(number_in(report, "pull_z_rms"), sqrtf(2), 1e-6f);
  /* The quantiles of 15.87 and 84.13 % are in the cells of the first and the last of five values. */
  assert_float_equal(number_in(report, "resolution_x_mm"), 2 * 0.03125, 0.00051);
  assert_float_equal(number_in(report, "pull_z"), 2, 0.0101);
}

static void five_sigma_in_z_is_the_limit(void **state) {
  (void)state;
  TRUTH({10, 0, 0, 0}, {10, 0, 0, 50}, {10, 0, 0, 100});
  find(0, 0, 0.62f, 10);  /* sigma is 0.125, the limit 0.625 */
  find(0, 0, 49.37f, 10); /* just outside, on the other side */
  find(3, 3, 100.5f, 10); /* x and y do not matter */
  end_found();
  const char *report = run();
  assert_counts(report, (struct counts){3, 2, 2, 0});
  assert_found(report, 3, 1);
  assert_float_equal(number_in(report, "false_rate"), 1.0 / 3, 1e-9);
}

static void a_match_with_an_unreconstructible_vertex_is_not_false(void **state) {
  (void)state;
  TRUTH({4, 0, 0, 0}, {3, 0, 0, 60}, {30, 0, 0, 61});
  find(0, 0, 0, 5);
  find(0, 0, 60.125f, 3); /* nearer to the vertex with three tracks, although 61 is within five sigma, too */
  end_found();
  found.c_zz[1] = 1;
  const char *report = run();
  assert_counts(report, (struct counts){2, 1, 2, 0});
  assert_found(report, 2, 0);
  assert_float_equal(number_in(report, "efficiency"), 0.5, 1e-9);
  assert_float_equal(number_in(report, "efficiency_all"), 1, 1e-9);
  sl_test_set(test, "tracks_min", 3);
  assert_counts(run(), (struct counts){3, 2, 2, 0});
}

static void the_last_of_several_matches_is_accepted(void **state) {
  (void)state;
  TRUTH({10, 0, 0, 0});
  find(0.5f, 0, 0, 10);
  find(0.25f, 0, 0.125f, 10);
  find(0.125f, 0, -0.125f, 10);
  end_found();
  const char *report = run();
  assert_counts(report, (struct counts){1, 1, 1, 2});
  assert_found(report, 3, 0);
  assert_int_equal(number_in(report, "pairs"), 1);
  assert_float_equal(number_in(report, "resolution_x_mean_mm"), 0.125, 1e-9);
  assert_non_null(strstr(sl_test_messages(test), "clones 2 (200.00 %)"));
}

static void isolation_is_the_distance_to_any_true_vertex(void **state) {
  (void)state;
  TRUTH({10, 0, 0, 0}, {0, 0, 0, 9.5}, {10, 0, 0, 30}, {10, 8, 0, 38}); /* the last two are 11.3 mm apart */
  find(0, 0, 0, 10);
  find(0, 0, 30, 10);
  end_found();
  TRUTH({10, 0, 0, 0}); /* alone */
  end_found();
  const char *report = run();
  assert_counts(value_in(report, "isolated"), (struct counts){3, 1, 1, 0});
  assert_counts(value_in(report, "close"), (struct counts){1, 1, 1, 0});
  sl_test_set(test, "isolation", 12);
  report = run();
  assert_counts(value_in(report, "isolated"), (struct counts){1, 0, 0, 0});
  assert_counts(value_in(report, "close"), (struct counts){3, 2, 2, 0});
}

static void true_and_reconstructed_vertices_are_binned_separately(void **state) {
  (void)state;
  TRUTH({5, 0, 0, 0}, {25, 0, 0, 0.75}, {200, 0, 0, 300});
  find(0, 0, 0, 3.9f);
  find(0, 0, 300, 180);
  find(0, 0, 320, 7); /* false, 20 mm from the next reconstructed one */
  end_found();
  const char *report = run();
  const char *four = row(report, "bins", "tracks_from", 4), *two = row(report, "bins", "tracks_from", 2);
  assert_counts(four, (struct counts){1, 1, 1, 0});
  assert_found(four, 0, 0);
  assert_counts(two, (struct counts){0, 0, 0, 0});
  assert_found(two, 1, 0);
  assert_int_equal(number_in(two, "tracks_below"), 4);
  assert_found(row(report, "bins", "tracks_from", 6), 1, 1);
  assert_counts(row(report, "bins", "tracks_from", 25), (struct counts){1, 0, 0, 0});
  const char *last = row(report, "bins", "tracks_from", 100);
  assert_counts(last, (struct counts){1, 1, 1, 0});
  assert_found(last, 1, 0);
  assert_counts(row(report, "distance_bins", "distance_from_mm", 0.5), (struct counts){2, 1, 1, 0});
  const char *twenty = row(report, "distance_bins", "distance_from_mm", 20);
  assert_found(twenty, 2, 1);
  assert_float_equal(number_in(twenty, "false_rate"), 0.5, 1e-9);
  assert_int_equal(number_in(twenty, "pairs"), 1);
  const char *far = row(report, "distance_bins", "distance_from_mm", 100);
  assert_counts(far, (struct counts){1, 1, 1, 0});
  assert_found(far, 1, 0);
}

static void empty_events_are_valid(void **state) {
  (void)state;
  end_event(banks); /* an event without truth */
  end_found();
  add_vertices(banks, NULL, 0);
  end_found();
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  assert_counts(report, (struct counts){0, 0, 0, 0});
  assert_found(report, 0, 0);
  assert_float_equal(number_in(report, "efficiency"), 0, 1e-9);
  assert_null(strstr(sl_test_messages(test), " / ")); /* no line for empty counts */
}

static void vertices_in_an_event_without_true_ones_are_false(void **state) {
  (void)state;
  TRUTH({10, 0, 0, 0});
  find(0, 0, 0, 10);
  end_found();
  add_vertices(banks, NULL, 0);
  find(0, 0, 0, 10);
  end_found();
  const char *report = run();
  assert_found(report, 2, 1);
  assert_float_equal(number_in(report, "false_rate"), 0.5, 1e-9);
}

static void without_any_true_vertex_there_is_no_false_rate(void **state) {
  (void)state;
  add_vertices(banks, NULL, 0);
  find(0, 0, 0, 10);
  end_found();
  const char *report = run();
  assert_found(report, 1, 1);
  assert_non_null(strstr(report, "\"false_rate\": null"));
  assert_non_null(strstr(sl_test_messages(test), "the truth has no vertex in any event"));
  assert_non_null(strstr(sl_test_messages(test), "primary vertices of 1 event: 1, none in the truth"));
  assert_null(strstr(sl_test_messages(test), "%")); /* no rates */
}

static void vertices_with_invalid_numbers_match_nothing(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    TRUTH({10, 0, 0, 0});
    find(0, 0, 0, 10);
    end_found();
  }
  found.z[0] = NAN;
  found.c_zz[1] = NAN;
  found.c_xx[2] = 0;
  found.c_yy[3] = -1;
  found.x[4] = INFINITY;
  const char *report = run();
  assert_counts(report, (struct counts){5, 0, 0, 0});
  assert_found(report, 5, 5);
}

static void ignored_tracks_are_reported(void **state) {
  (void)state;
  add_vertices(banks, NULL, 0);
  end_found();
  TRUTH({10, 0, 0, 0});
  end_found();
  found.ignored[0] = 2;
  found.ignored[1] = 5;
  assert_int_equal(number_in(run(), "ignored_tracks"), 7);
  assert_non_null(strstr(sl_test_messages(test), "7 tracks with values that are not finite were ignored"));
}

static void events_without_usable_truth_are_counted_separately(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    TRUTH({10, 0, 0, 0});
    find(0, 0, 0, 10);
    end_found();
  }
  banks->size_bytes[0]--;
  banks->version[2] = 7;
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "malformed_events"), 2);
  assert_counts(report, (struct counts){1, 1, 1, 0});
  assert_found(report, 1, 0);
  const char *messages = sl_test_messages(test);
  assert_non_null(strstr(messages, "malformed MC vertices: the vertices are cut short"));
  assert_non_null(strstr(messages, "malformed MC vertices: the bank version is not 1"));
  assert_non_null(strstr(messages, "2 events with malformed MC vertices were not checked"));
}

SL_DECLARE(pv_check);

static void events_with_errors_are_not_losses(void **state) {
  (void)state;
  struct {
    struct pv_vertices_view vertices;
    struct mc_vertex_banks_view mc_vertices;
    uint32_t tracks_min;
    float isolation;
  } args = {.tracks_min = 4, .isolation = 10};
  assert_int_equal(sizeof args, sl_algorithm_pv_check.args_size);
  end_event(banks);
  end_found();
  TRUTH({10, 0, 0, 0});
  end_found();
  args.vertices = (struct pv_vertices_view){.offsets = found.offsets, .ignored = found.ignored};
  args.mc_vertices = VIEW_OF(mc_vertex_banks_view, banks);
  const struct sl_event events[] = {{.error = SL_EVENT_CORRUPT}, {.number = 1}};
  const struct sl_batch batch = {.event_count = 2, .events = events};
  struct reported reported;
  assert_int_equal(call_sink(&sl_algorithm_pv_check, &args, &batch, &reported), 0);
  assert_int_equal(reported.events, 1);
  assert_int_equal(reported.error_events, 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      CASE(residuals_and_pulls_are_those_of_the_pair),
      CASE(spreads_are_over_all_pairs),
      CASE(five_sigma_in_z_is_the_limit),
      CASE(a_match_with_an_unreconstructible_vertex_is_not_false),
      CASE(the_last_of_several_matches_is_accepted),
      CASE(isolation_is_the_distance_to_any_true_vertex),
      CASE(true_and_reconstructed_vertices_are_binned_separately),
      CASE(empty_events_are_valid),
      CASE(vertices_in_an_event_without_true_ones_are_false),
      CASE(without_any_true_vertex_there_is_no_false_rate),
      CASE(vertices_with_invalid_numbers_match_nothing),
      CASE(ignored_tracks_are_reported),
      CASE(events_without_usable_truth_are_counted_separately),
      CASE(events_with_errors_are_not_losses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
