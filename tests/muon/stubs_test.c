/* stubs_test.c: muon.stubs against plain loops over all pairs of stubs in double precision; ties; and an event in which
 * every hit of M5 seeds a stub. */
#include "muon_support.h"

#include <math.h>

enum { EVENTS = 4, HITS_MAX = 12000, M5 = 3 };

struct hits {
  uint32_t count, offsets[EVENTS + 1], tile[HITS_MAX];
  uint16_t first[EVENTS][MUON_FIRSTS];
  float x[HITS_MAX], y[HITS_MAX], z[HITS_MAX], half_x[HITS_MAX], half_y[HITS_MAX];
};

static struct sl_test *stubs_new(const struct hits *h) {
  struct sl_test *test = sl_test_new(MUON_PLUGIN, "stubs");
  sl_test_events(test, EVENTS);
  sl_test_input(test, "hits", "offsets", h->offsets, EVENTS + 1);
  sl_test_input(test, "hits", "first", h->first, (uint64_t)EVENTS * MUON_FIRSTS);
  sl_test_input(test, "hits", "x", h->x, h->count);
  sl_test_input(test, "hits", "y", h->y, h->count);
  sl_test_input(test, "hits", "z", h->z, h->count);
  sl_test_input(test, "hits", "half_x", h->half_x, h->count);
  sl_test_input(test, "hits", "half_y", h->half_y, h->count);
  sl_test_input(test, "hits", "tile", h->tile, h->count);
  return test;
}

/* Hits are added by grid. */
static void add_hit(struct hits *h, uint32_t event, uint32_t grid, float x, float y) {
  const struct muon_tile_address place = {grid / MUON_REGIONS, grid % MUON_REGIONS, 0, 0, 0};
  const uint32_t i = h->count++;
  assert_true(i < HITS_MAX);
  h->x[i] = x;
  h->y[i] = y;
  h->z[i] = 15205.0f + 1200.0f * (float)place.station + 50.0f * (float)(i % 4);
  h->half_x[i] = 3.0f * (float)(1u << place.region);
  h->half_y[i] = 16.0f * (float)(1u << place.region);
  h->tile[i] = muon_tile(&place, 1, 1);
  h->offsets[event + 1] = h->count;
  for (uint32_t k = grid + 1; k < MUON_FIRSTS; k++) h->first[event][k]++;
}

/* ------------------------------------------------------------------------------------------------- plain loops */

static const double window_x[] = {100, 200, 300, 400, 100, 200, 300, 400, 400, 400, 400, 400};
static const double window_y[] = {60, 120, 180, 240, 60, 120, 240, 240, 60, 120, 240, 480};

struct plain_stub {
  uint32_t hit[MUON_STATIONS];
  double at[2], slope[2], chi2[2];
};

/* The hit of the station nearest to the line through two points. */
static uint32_t nearest(const struct hits *h, uint32_t event, uint32_t station, const double from[3],
                        const double to[3], uint32_t region) {
  const uint32_t first = h->offsets[event];
  uint32_t best = UINT32_MAX;
  double least = 0;
  for (uint32_t i = first + h->first[event][4 * station]; i < first + h->first[event][4 * station + 4]; i++) {
    const double step = ((double)h->z[i] - to[2]) / (to[2] - from[2]);
    const double dx = (double)h->x[i] - (to[0] + (to[0] - from[0]) * step);
    const double dy = (double)h->y[i] - (to[1] + (to[1] - from[1]) * step), distance = dx * dx + dy * dy;
    if (fabs(dx) >= window_x[4 * station + region] || fabs(dy) >= window_y[4 * station + region]) continue;
    if (best == UINT32_MAX || distance < least) best = i, least = distance;
  }
  return best;
}

static int follow(const struct hits *h, uint32_t event, uint32_t seed, struct plain_stub *stub) {
  double from[3] = {0, 0, 0}, to[3];
  stub->hit[M5] = seed;
  for (uint32_t station = M5; station-- > 0;) {
    const uint32_t last = stub->hit[station + 1];
    to[0] = (double)h->x[last], to[1] = (double)h->y[last], to[2] = (double)h->z[last];
    stub->hit[station] = nearest(h, event, station, from, to, muon_tile_region(h->tile[last]));
    if (stub->hit[station] == UINT32_MAX) return 0;
    memcpy(from, to, sizeof from);
  }
  return 1;
}

static void fit(const struct hits *h, struct plain_stub *stub) {
  for (uint32_t k = 0; k < 2; k++) {
    const float *u = k ? h->y : h->x, *half = k ? h->half_y : h->half_x;
    double s[5] = {0}; /* weighted sums of 1, z, z^2, u, z u */
    for (uint32_t i = 0; i < MUON_STATIONS; i++) {
      const uint32_t hit = stub->hit[i];
      const double z = (double)h->z[hit] - 15205, w = 1 / (4 * (double)half[hit] * (double)half[hit]);
      s[0] += w, s[1] += w * z, s[2] += w * z * z, s[3] += w * (double)u[hit], s[4] += w * z * (double)u[hit];
    }
    const double determinant = s[0] * s[2] - s[1] * s[1];
    stub->at[k] = (s[3] * s[2] - s[1] * s[4]) / determinant;
    stub->slope[k] = (s[0] * s[4] - s[1] * s[3]) / determinant;
    stub->chi2[k] = 0;
    for (uint32_t i = 0; i < MUON_STATIONS; i++) {
      const uint32_t hit = stub->hit[i];
      const double off = (double)u[hit] - stub->at[k] - stub->slope[k] * ((double)h->z[hit] - 15205);
      stub->chi2[k] += off * off / (4 * (double)half[hit] * (double)half[hit]) / 2;
    }
  }
}

static int share_a_hit(const struct plain_stub *a, const struct plain_stub *b) {
  for (uint32_t i = 0; i < MUON_STATIONS; i++)
    if (a->hit[i] == b->hit[i]) return 1;
  return 0;
}

/* Finds the stubs of an event and removes stubs that share a hit with a better one. `found`: their number before
 * removal. */
static uint32_t find_plainly(const struct hits *h, uint32_t event, struct plain_stub *stubs, uint32_t *found) {
  static struct plain_stub all[HITS_MAX];
  const uint32_t first = h->offsets[event];
  uint32_t count = 0;
  *found = 0;
  for (uint32_t seed = first + h->first[event][4 * M5]; seed < h->offsets[event + 1]; seed++)
    if (follow(h, event, seed, &all[*found])) fit(h, &all[(*found)++]);
  for (uint32_t i = 0; i < *found; i++) {
    const double mine = all[i].chi2[0] + all[i].chi2[1];
    int is_best = 1;
    for (uint32_t k = 0; k < *found; k++) {
      const double other = all[k].chi2[0] + all[k].chi2[1];
      if (k != i && share_a_hit(&all[i], &all[k]) && (other < mine || (other == mine && k < i))) is_best = 0;
    }
    if (is_best) stubs[count++] = all[i];
  }
  return count;
}

static void check_near(double found, double wanted, double within) {
  if (fabs(found - wanted) > within) print_message("%g, expected %g\n", found, wanted);
  assert_true(fabs(found - wanted) <= within);
}

static void compare(const struct sl_test *test, const struct hits *h, uint32_t found_min, uint32_t left_out_min) {
  static struct plain_stub stubs[HITS_MAX];
  const uint32_t *offsets = OUTPUT(test, "stubs", "offsets", uint32_t);
  uint32_t all = 0, all_found = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    uint32_t found;
    const uint32_t count = find_plainly(h, event, stubs, &found);
    assert_int_equal(offsets[event + 1] - offsets[event], count);
    for (uint32_t i = 0, to = offsets[event]; i < count; i++, to++) {
      for (uint32_t k = 0; k < MUON_STATIONS; k++)
        assert_int_equal(OUTPUT(test, "stubs", "hit", uint16_t)[4 * to + k], stubs[i].hit[k] - h->offsets[event]);
      check_near((double)OUTPUT(test, "stubs", "x", float)[to], stubs[i].at[0], 0.05);
      check_near((double)OUTPUT(test, "stubs", "y", float)[to], stubs[i].at[1], 0.05);
      check_near((double)OUTPUT(test, "stubs", "tx", float)[to], stubs[i].slope[0], 1e-5);
      check_near((double)OUTPUT(test, "stubs", "ty", float)[to], stubs[i].slope[1], 1e-5);
      check_near((double)OUTPUT(test, "stubs", "chi2_x", float)[to], stubs[i].chi2[0], 1e-3 * (1 + stubs[i].chi2[0]));
      check_near((double)OUTPUT(test, "stubs", "chi2_y", float)[to], stubs[i].chi2[1], 1e-3 * (1 + stubs[i].chi2[1]));
    }
    all += count;
    all_found += found;
  }
  if (all_found < found_min || all_found - all < left_out_min) print_message("%u stubs of %u\n", all, all_found);
  assert_true(all_found >= found_min && all_found - all >= left_out_min);
}

/* Lines from the origin up to some station, with smeared hits; one event has no lines, another one has many. */
static void make_lines(struct hits *h) {
  static const uint32_t counts[EVENTS] = {12, 0, 150, 40};
  memset(h, 0, sizeof *h);
  for (uint32_t event = 0; event < EVENTS; event++) {
    float tx[150], ty[150];
    uint32_t region[150], stations[150];
    h->offsets[event + 1] = h->count;
    for (uint32_t i = 0; i < counts[event]; i++) {
      region[i] = random_below(4);
      stations[i] = random_below(3) ? 4 : random_below(4);
      tx[i] = random_between(0.02f, 0.06f) * (float)(1u << region[i]);
      ty[i] = random_between(-0.05f, 0.05f) * (float)(1u << region[i]);
    }
    for (uint32_t grid = 0; grid < MUON_GRIDS; grid++) {
      const uint32_t station = grid / MUON_REGIONS;
      const float z = 15205.0f + 1200.0f * (float)station;
      for (uint32_t i = 0; i < counts[event]; i++)
        for (uint32_t n = 1 + random_below(2); n > 0 && region[i] == grid % MUON_REGIONS; n--)
          if (stations[i] > station || random_below(5) == 0)
            add_hit(h, event, grid, tx[i] * z + random_between(-30, 30), ty[i] * z + random_between(-40, 40));
    }
  }
}

static void stubs_equal_those_of_plain_loops(void **state) {
  static struct hits h;
  (void)state;
  random_start(8);
  for (uint32_t turn = 0; turn < 6; turn++) {
    make_lines(&h);
    struct sl_test *test = stubs_new(&h);
    sl_test_block(test, 32u << turn % 3);
    assert_int_equal(sl_test_run(test), 0);
    compare(test, &h, 60, 10);
    sl_test_free(test);
  }
}

/* M5 has as many hits as pads; nearly all of them lead to the same few hits in M4. */
static void every_hit_of_m5_can_seed_a_stub(void **state) {
  static struct hits h;
  (void)state;
  random_start(9);
  memset(&h, 0, sizeof h);
  for (uint32_t i = 0; i < 40; i++) add_hit(&h, 0, 3, random_between(1500, 2500), random_between(-300, 300));
  for (uint32_t i = 0; i < 40; i++) add_hit(&h, 0, 7, random_between(1600, 2700), random_between(-300, 300));
  for (uint32_t i = 0; i < 40; i++) add_hit(&h, 0, 11, random_between(1700, 2900), random_between(-300, 300));
  for (uint32_t i = 0; i < 4608; i++) add_hit(&h, 0, 15, random_between(1800, 3100), random_between(-300, 300));
  for (uint32_t event = 1; event < EVENTS; event++) h.offsets[event + 1] = h.count;
  struct sl_test *test = stubs_new(&h);
  assert_int_equal(sl_test_run(test), 0);
  compare(test, &h, 4000, 3900);
  sl_test_free(test);
}

/* Hits at equal distance from the line, and stubs with equal chi2. */
static void ties_select_the_first_hit_and_stub(void **state) {
  static struct hits h;
  (void)state;
  memset(&h, 0, sizeof h);
  add_hit(&h, 0, 0, 0, 0);
  add_hit(&h, 0, 4, 0, 0);
  add_hit(&h, 0, 8, -8, 0);
  add_hit(&h, 0, 8, 8, 0);
  add_hit(&h, 0, 12, 0, 40);
  add_hit(&h, 0, 12, 0, -40);
  for (uint32_t i = 0; i < h.count; i++) h.z[i] = 15205.0f + 1200.0f * (float)muon_tile_station(h.tile[i]);
  for (uint32_t event = 1; event < EVENTS; event++) h.offsets[event + 1] = h.count;
  struct sl_test *test = stubs_new(&h);
  assert_int_equal(sl_test_run(test), 0);
  assert_int_equal(OUTPUT(test, "stubs", "offsets", uint32_t)[1], 1);
  const uint16_t *hit = OUTPUT(test, "stubs", "hit", uint16_t);
  for (uint32_t k = 0; k < MUON_STATIONS; k++) assert_int_equal(hit[k], k < 3 ? k : 4);
  sl_test_free(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stubs_equal_those_of_plain_loops),
      cmocka_unit_test(every_hit_of_m5_can_seed_a_stub),
      cmocka_unit_test(ties_select_the_first_hit_and_stub),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
