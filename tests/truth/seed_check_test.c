/* seed_check_test.c: counts and report of truth.seed_check for hand-made particles and seeds. */
#include "check_case.h"
#include "seeding/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS_MAX = 8, HITS_MAX = 128 };
#define SCIFI(n) (0x50000000u + (n))

static struct {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, count;
  uint32_t hit_offsets[SEEDS_MAX + 1], hit_id[HITS_MAX];
  float qop[SEEDS_MAX];
} seeds;

static int start(void **state) {
  (void)state;
  memset(&seeds, 0, sizeof seeds);
  return start_check("seed_check");
}

/* Adds a seed of `count` hits from `first` on; those from index `good` on belong to no particle. */
static void add_seed(float qop, uint32_t first, uint32_t count, uint32_t good) {
  const uint32_t from = seeds.hit_offsets[seeds.count], foreign = 1000;
  for (uint32_t i = 0; i < count; i++) seeds.hit_id[from + i] = first + i + (i < good ? 0 : foreign);
  seeds.qop[seeds.count++] = qop;
  seeds.hit_offsets[seeds.count] = from + count;
}
static void end_seeds(void) { seeds.offsets[++seeds.event_count] = seeds.count; }

static const char *run(void) {
  sl_test_events(test, seeds.event_count);
  sl_test_input(test, "tracks", "offsets", seeds.offsets, seeds.event_count + 1);
  sl_test_input(test, "tracks", "hit_offsets", seeds.hit_offsets, seeds.count + 1);
  sl_test_input(test, "tracks", "hit_id", seeds.hit_id, seeds.hit_offsets[seeds.count]);
  sl_test_input(test, "tracks", "qop", seeds.qop, seeds.count);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

#define TEN(first)                                                                                                    \
  {                                                                                                                   \
    SCIFI(first), SCIFI((first) + 1), SCIFI((first) + 2), SCIFI((first) + 3), SCIFI((first) + 4), SCIFI((first) + 5), \
        SCIFI((first) + 6), SCIFI((first) + 7), SCIFI((first) + 8), SCIFI((first) + 9)                                \
  }
/* A long particle of 12 GeV; a strange one of 4 GeV that starts after the VELO; an electron; and one outside of the
 * acceptance. */
static const struct true_particle particles[] = {{.key = 1,
                                                  .pdg = 211,
                                                  .p = 12000,
                                                  .eta = 3,
                                                  .flags = {[HAS_VELO] = 1, [HAS_UT] = 1, [HAS_SCIFI] = 1, [LONG] = 1},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(0)},
                                                 {.key = 2,
                                                  .pdg = -211,
                                                  .p = 4000,
                                                  .eta = 3,
                                                  .flags = {[HAS_UT] = 1, [HAS_SCIFI] = 1, [STRANGE] = 1},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(20)},
                                                 {.key = 3,
                                                  .pdg = 11,
                                                  .p = 8000,
                                                  .eta = 3,
                                                  .flags = {[HAS_VELO] = 1, [HAS_SCIFI] = 1, [LONG] = 1},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(40)},
                                                 {.key = 4,
                                                  .pdg = 211,
                                                  .p = 12000,
                                                  .eta = 5.5f,
                                                  .flags = {[HAS_VELO] = 1, [HAS_SCIFI] = 1, [LONG] = 1},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(60)}};
enum { ALL = 4 };

static void seeds_match_with_70_percent_of_their_hits(void **state) {
  (void)state;
  add_event(banks, particles, ALL);
  add_seed(1e-4f, SCIFI(0), 10, 10);
  add_seed(1e-4f, SCIFI(0), 10, 7);  /* a clone */
  add_seed(1e-4f, SCIFI(20), 10, 6); /* ghost */
  add_seed(1e-4f, SCIFI(60), 10, 10);
  end_seeds();
  add_event(banks, particles, ALL);
  add_seed(1e-4f, SCIFI(20), 10, 10);
  add_seed(1e-4f, SCIFI(40), 10, 10);
  end_seeds();
  const char *report = run();
  assert_int_equal(number_in(report, "tracks"), 6);
  assert_int_equal(number_in(report, "ghosts"), 1);
  assert_float_equal(number_in(report, "ghost_rate"), 1.0 / 6, 1e-9);
  assert_int_equal(number_in(report, "hits"), 60);
  assert_int_equal(number_in(report, "hits_in_truth"), 53);
  assert_category(report, "long", 1, 2, 1);
  assert_category(report, "long, p > 5 GeV", 1, 2, 1);
  assert_category(report, "UT, SciFi, not VELO", 1, 2, 0);
  assert_category(report, "UT, SciFi, not VELO, p > 5 GeV", 0, 0, 0);
  assert_category(report, "UT, SciFi, not VELO, strange", 1, 2, 0);
  assert_category(report, "long electrons", 1, 2, 0);
  const char *of_long = named(strstr(report, "\"categories\""), "long");
  assert_float_equal(number_in(of_long, "purity"), (1 + 0.7) / 2, 1e-9);
}

static void categories_depend_on_direction(void **state) {
  (void)state;
  /* the last angle is in the range 0 to 2 pi */
  static const struct {
    float phi, eta;
    const char *quadrant, *side;
  } cases[] = {{0.5f, 2.2f, "long, x > 0, y > 0", "long, eta < 2.5, large x"},
               {1.5f, 2.2f, "long, x > 0, y > 0", "long, eta < 2.5, small x"},
               {2, 4.5f, "long, x < 0, y > 0", "long, eta > 2.5, small x"},
               {3, 4.5f, "long, x < 0, y > 0", "long, eta > 2.5, large x"},
               {-3, 2.2f, "long, x < 0, y < 0", "long, eta < 2.5, large x"},
               {-1.2f, 3, "long, x > 0, y < 0", "long, eta > 2.5, small x"},
               {4.2f, 3, "long, x < 0, y < 0", "long, eta > 2.5, small x"}};
  enum { CASES = sizeof cases / sizeof cases[0] };
  static const char *const names[] = {
      "long, x > 0, y > 0",       "long, x < 0, y > 0",       "long, x < 0, y < 0",       "long, x > 0, y < 0",
      "long, eta < 2.5, small x", "long, eta < 2.5, large x", "long, eta > 2.5, small x", "long, eta > 2.5, large x"};
  struct true_particle p = particles[0];
  for (uint32_t i = 0; i < CASES; i++) {
    p.phi = cases[i].phi;
    p.eta = cases[i].eta;
    add_event(banks, &p, 1);
    if (i % 2) add_seed(1e-4f, SCIFI(0), 10, 10);
    end_seeds();
  }
  const char *report = run();
  for (uint32_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    uint32_t found = 0, of = 0;
    for (uint32_t i = 0; i < CASES; i++) {
      const uint32_t is_one = strcmp(cases[i].quadrant, names[n]) == 0 || strcmp(cases[i].side, names[n]) == 0;
      of += is_one;
      found += is_one * (i % 2);
    }
    assert_category(report, names[n], found, of, 0);
  }
  assert_category(report, "long, p > 5 GeV, eta > 4", 1, 2, 0);
}

/* The true charge is 1; p 12 GeV and 4 GeV. */
static void momenta_are_those_of_particles_in_the_scifi(void **state) {
  (void)state;
  add_event(banks, particles, 2);
  add_seed(1.25f / 12000, SCIFI(0), 10, 10);
  add_seed(-1.0f / 4000, SCIFI(20), 10, 10);
  end_seeds();
  const char *momentum = strstr(run(), "\"momentum\"");
  assert_float_equal(number_in(named(momentum, "10 to 20 GeV"), "mean"), 0.25, 1e-6);
  assert_float_equal(number_in(named(momentum, "3 to 5 GeV"), "right_charge"), 0, 0);
  assert_int_equal(number_in(named(momentum, "all"), "tracks"), 2);
}

static void truth_of_other_hits_gives_no_ghost_rate(void **state) {
  (void)state;
  add_event(banks, particles, 1);
  add_seed(1e-4f, SCIFI(500), 10, 10);
  end_seeds();
  const char *rate = value_in(run(), "ghost_rate");
  assert_int_equal(strncmp(rate + strspn(rate, " "), "null", 4), 0);
  assert_non_null(strstr(sl_test_messages(test), "no hit id of the seeds is in the truth"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      TEST(seeds_match_with_70_percent_of_their_hits),
      TEST(categories_depend_on_direction),
      TEST(momenta_are_those_of_particles_in_the_scifi),
      TEST(truth_of_other_hits_gives_no_ghost_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
