/* is_muon_test.c: muon.is_muon: required stations by momentum, closest hits, and windows and hits against a plain loop
 * over all hits in double precision. */
#include "forward/event_model.h"
#include "muon_support.h"

#include <math.h>

enum { EVENTS = 3, TRACKS = 300, HITS = 1400, WINDOWS = 2 * MUON_GRIDS };

struct hits {
  uint32_t count, offsets[EVENTS + 1];
  uint16_t first[EVENTS][MUON_FIRSTS];
  float x[HITS], y[HITS], z[HITS], half_x[HITS], half_y[HITS];
};
struct tracks {
  uint32_t offsets[EVENTS + 1];
  float qop[TRACKS], x[TRACKS], y[TRACKS], tx[TRACKS], ty[TRACKS];
};

static struct sl_test *is_muon_new(const struct tracks *t, const struct hits *h) {
  struct sl_test *test = sl_test_new(MUON_PLUGIN, "is_muon");
  const uint32_t tracks = t->offsets[EVENTS];
  sl_test_events(test, EVENTS);
  sl_test_input(test, "tracks", "offsets", t->offsets, EVENTS + 1);
  sl_test_input(test, "tracks", "qop", t->qop, tracks);
  sl_test_input(test, "tracks", "x", t->x, tracks);
  sl_test_input(test, "tracks", "y", t->y, tracks);
  sl_test_input(test, "tracks", "tx", t->tx, tracks);
  sl_test_input(test, "tracks", "ty", t->ty, tracks);
  sl_test_input(test, "hits", "offsets", h->offsets, EVENTS + 1);
  sl_test_input(test, "hits", "first", h->first, (uint64_t)EVENTS * MUON_FIRSTS);
  sl_test_input(test, "hits", "x", h->x, h->count);
  sl_test_input(test, "hits", "y", h->y, h->count);
  sl_test_input(test, "hits", "z", h->z, h->count);
  sl_test_input(test, "hits", "half_x", h->half_x, h->count);
  sl_test_input(test, "hits", "half_y", h->half_y, h->count);
  return test;
}

/* Adds a hit to the last event; hits are added by grid. */
static void add_hit(struct hits *h, uint32_t event, uint32_t grid, float x, float y) {
  assert_true(h->count < HITS);
  const uint32_t station = grid / MUON_REGIONS;
  h->x[h->count] = x;
  h->y[h->count] = y;
  h->z[h->count] = 15200.0f + 1200.0f * (float)station;
  h->half_x[h->count] = 10;
  h->half_y[h->count++] = 20;
  h->offsets[event + 1] = h->count;
  for (uint32_t i = grid + 1; i < MUON_FIRSTS; i++) h->first[event][i]++;
}

/* --------------------------------------------------------------------------------------------------- constructed
 * tracks */

/* Bit mask of stations with a hit on the straight track, M2 first, and the momentum in MeV from which the track is not
 * a muon; 0: at no momentum a muon, infinite: at any momentum. */
static const struct {
  uint32_t stations;
  float end;
} needed[] = {{0x0, 0}, {0x1, 0}, {0x2, 0},     {0x3, 6000},  {0x4, 0},       {0xC, 0},
              {0xD, 0}, {0xE, 0}, {0x7, 10000}, {0xB, 10000}, {0xF, INFINITY}};
static const float momenta[] = {1000, 2999, 3001, 5999, 6001, 9999, 10001, 50000, 1e7f};

static void required_stations_depend_on_the_momentum(void **state) {
  (void)state;
  for (uint32_t k = 0; k < sizeof needed / sizeof needed[0]; k++) {
    static struct hits h;
    static struct tracks t;
    const uint32_t count = sizeof momenta / sizeof momenta[0];
    memset(&h, 0, sizeof h);
    memset(&t, 0, sizeof t);
    for (uint32_t station = 0; station < MUON_STATIONS; station++)
      if (needed[k].stations >> station & 1) add_hit(&h, 1, 4 * station + (station + k) % 4, 500, -700);
    for (uint32_t event = 2; event <= EVENTS; event++) h.offsets[event] = h.count;
    for (uint32_t i = 0; i < count; i++) {
      t.qop[i] = (i % 2 ? 1.0f : -1.0f) / momenta[i];
      t.x[i] = 500, t.y[i] = -700;
    }
    t.offsets[2] = t.offsets[3] = count;
    struct sl_test *test = is_muon_new(&t, &h);
    assert_int_equal(sl_test_run(test), 0);
    for (uint32_t i = 0; i < count; i++)
      assert_int_equal(OUTPUT(test, "flags", "is_muon", uint8_t)[i], momenta[i] >= 3000 && momenta[i] < needed[k].end);
    assert_int_equal(OUTPUT(test, "flags", "offsets", uint32_t)[EVENTS], count);
    sl_test_free(test);
  }
}

/* --------------------------------------------------------------------------------------------------- closest hits */

/* Runs a track of momentum `p` along x = 500 mm, y = -700 mm on the hits of event 1. */
static struct sl_test *run_on_hits(struct hits *h, float p) {
  static struct tracks t;
  memset(&t, 0, sizeof t);
  for (uint32_t event = 2; event <= EVENTS; event++) h->offsets[event] = h->count;
  t.qop[0] = 1 / p, t.x[0] = 500, t.y[0] = -700;
  t.offsets[2] = t.offsets[3] = 1;
  struct sl_test *test = is_muon_new(&t, h);
  assert_int_equal(sl_test_run(test), 0);
  return test;
}

static void assert_hits(struct sl_test *test, uint8_t is_muon, const uint16_t *expected) {
  assert_int_equal(OUTPUT(test, "flags", "is_muon", uint8_t)[0], is_muon);
  for (uint32_t s = 0; s < MUON_STATIONS; s++)
    if (OUTPUT(test, "flags", "hits", uint16_t)[s] != expected[s])
      fail_msg("M%u: hit %u, expected %u", s + 2, OUTPUT(test, "flags", "hits", uint16_t)[s], expected[s]);
  sl_test_free(test);
}

/* Event 0 has hits too, so that indices in the event and in the slice differ. Distances in y have twice the weight. */
static void the_closest_hit_of_each_station_is_stored(void **state) {
  static struct hits h;
  const uint16_t expected[MUON_STATIONS] = {1, 2, 7, 8};
  (void)state;
  memset(&h, 0, sizeof h);
  for (uint32_t station = 0; station < MUON_STATIONS; station++) add_hit(&h, 0, 4 * station, 500, -700);
  add_hit(&h, 1, 0, 500, -692);  /* M2: 2 * 8^2 = 128 */
  add_hit(&h, 1, 1, 510, -700);  /* 10^2 */
  add_hit(&h, 1, 4, 497, -704);  /* M3: 9 + 32 = 41 */
  add_hit(&h, 1, 4, 494, -703);  /* 36 + 18 = 54 */
  add_hit(&h, 1, 7, 500, -705);  /* 50 */
  add_hit(&h, 1, 8, 520, -700);  /* M4 */
  add_hit(&h, 1, 10, 519, -700); /* M4 */
  add_hit(&h, 1, 11, 518, -700); /* M4, the closest */
  add_hit(&h, 1, 12, 500, -700); /* M5 */
  assert_hits(run_on_hits(&h, 20000), 1, expected);
  assert_hits(run_on_hits(&h, 4000), 1, expected); /* M4 and M5 are not required */
}

/* More hits than eight threads take at a time. */
static void the_first_of_equally_close_hits_is_stored(void **state) {
  static struct hits h;
  const uint16_t expected[MUON_STATIONS] = {3, 30, MUON_NO_HIT, MUON_NO_HIT};
  (void)state;
  memset(&h, 0, sizeof h);
  for (uint32_t i = 0; i < 30; i++) add_hit(&h, 1, i / 8, 500.0f + (i % 2 ? 8.0f : -8.0f) * (i < 3 ? 2 : 1), -700);
  for (uint32_t i = 0; i < 30; i++) add_hit(&h, 1, 4 + i / 8, 500, -700.0f + (i % 2 ? 8.0f : -8.0f));
  assert_hits(run_on_hits(&h, 5000), 1, expected);
}

static void hits_outside_the_windows_are_not_stored(void **state) {
  static struct hits h;
  const uint16_t expected[MUON_STATIONS] = {0, 1, MUON_NO_HIT, 3};
  (void)state;
  memset(&h, 0, sizeof h);
  add_hit(&h, 1, 0, 500, -700);
  add_hit(&h, 1, 4, 500, -700);
  add_hit(&h, 1, 8, 900, -700); /* M4: the window ends at 238 mm */
  add_hit(&h, 1, 12, 500, -700);
  assert_hits(run_on_hits(&h, 8000), 1, expected);
}

static void tracks_that_are_not_muons_have_no_hits(void **state) {
  static struct hits h;
  const uint16_t none[MUON_STATIONS] = {MUON_NO_HIT, MUON_NO_HIT, MUON_NO_HIT, MUON_NO_HIT};
  (void)state;
  memset(&h, 0, sizeof h);
  for (uint32_t station = 0; station < 3; station++) add_hit(&h, 1, 4 * station, 500, -700);
  assert_hits(run_on_hits(&h, 2900), 0, none);
  assert_hits(run_on_hits(&h, 20000), 0, none); /* M5 has no hit */
}

/* With a = 2, b = 0 and a factor of 1.5 a window of M3 R2 is three half-widths: below 30 mm in x and 60 mm in y. */
static void hits_of_other_events_and_outside_windows_are_ignored(void **state) {
  static const double flat[WINDOWS] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                                       2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                      none[WINDOWS] = {0};
  static const struct {
    float x, y;
    int is_near;
  } cases[] = {{0, 0, 1},  {29.75f, 0, 1},  {-29.75f, 59.75f, 1}, {30, 0, 0},  {-30, 0, 0},
               {0, 60, 0}, {0, -60.25f, 0}, {31, 61, 0},          {0, -59, 1}, {29, -59, 1}};
  (void)state;
  for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    static struct hits h;
    static struct tracks t;
    memset(&h, 0, sizeof h);
    memset(&t, 0, sizeof t);
    add_hit(&h, 0, 0, 0, 0); /* M2 */
    add_hit(&h, 0, 5, cases[k].x, cases[k].y);
    add_hit(&h, 1, 0, 0, 0);
    h.offsets[3] = h.count;
    for (uint32_t event = 0; event < EVENTS; event++) {
      t.qop[event] = 1.0f / 4000;
      t.offsets[event + 1] = event + 1;
    }
    struct sl_test *test = is_muon_new(&t, &h);
    sl_test_set_array(test, "a", flat, WINDOWS);
    sl_test_set_array(test, "b", none, WINDOWS);
    sl_test_set(test, "factor", 1.5);
    assert_int_equal(sl_test_run(test), 0);
    const uint8_t *flags = OUTPUT(test, "flags", "is_muon", uint8_t);
    assert_int_equal(flags[0], cases[k].is_near);
    assert_int_equal(flags[1] | flags[2], 0);
    sl_test_free(test);
  }
}

/* With c = 0 the windows do not depend on p, so a straight track (infinite p) has windows too. */
static void windows_of_constant_width_accept_any_momentum(void **state) {
  static const double none[WINDOWS] = {0};
  static struct hits h;
  static struct tracks t;
  (void)state;
  for (uint32_t station = 0; station < MUON_STATIONS; station++) add_hit(&h, 0, 4 * station, 0, 0);
  h.offsets[2] = h.offsets[3] = h.count;
  t.offsets[1] = t.offsets[2] = t.offsets[3] = 1;
  struct sl_test *test = is_muon_new(&t, &h);
  sl_test_set_array(test, "c", none, WINDOWS);
  assert_int_equal(sl_test_run(test), 0);
  assert_int_equal(OUTPUT(test, "flags", "is_muon", uint8_t)[0], 1);
  sl_test_free(test);
}

/* ------------------------------------------------------------------------------------------------- plain loops */

/* a, b and c: M2 R1 x, y, M2 R2 ... M5 R4 y */
static const double a[WINDOWS] = {5.2, 3.3, 3.6, 2.1, 2.4, 1.7, 2.4, 1.6, 5.7, 3.6, 4.4, 2.8, 2.8, 1.9, 2.3, 1.8,
                                  5.1, 4.4, 3.1, 3.3, 2.3, 2.2, 2.1, 2.2, 5.8, 4.8, 3.4, 3.9, 2.6, 2.6, 2.8, 2.3};
static const double b[WINDOWS] = {31, 17, 28, 15, 21, 9,  17, 5,  30, 26, 31, 25, 27, 16, 22,  15,
                                  28, 30, 33, 49, 35, 57, 47, 92, 31, 32, 39, 55, 56, 96, 151, 166};
static const double c[WINDOWS] = {0.06, 0.13, 0.08, 0.19, 0.1,  0.19, 0.15, 0.24, 0.04, 0.11, 0.06,
                                  0.19, 0.09, 0.21, 0.12, 0.32, 0.08, 0.1,  0.15, 0.22, 0.23, 0.3,
                                  0.36, 0.52, 0.07, 0.08, 0.14, 0.2,  0.24, 0.34, 0.49, 0.52};

/* Finds the closest hits. Lowers `margin` to the smallest distance of a residual from the edge of its window, relative
 * to the window, and to the smallest relative difference of the squared distance of a hit from the closest so far. */
static uint32_t is_muon_plainly(const struct tracks *t, uint32_t track, const struct hits *h, uint32_t event,
                                uint16_t *hits, double *margin) {
  const double p = 1 / fabs((double)t->qop[track]);
  double closest[MUON_STATIONS] = {INFINITY, INFINITY, INFINITY, INFINITY};
  uint32_t stations = 0;
  for (uint32_t i = 0, grid = 0; i < h->first[event][MUON_GRIDS]; i++) {
    const uint32_t hit = h->offsets[event] + i;
    while (i >= h->first[event][grid + 1]) grid++;
    const double dz = (double)h->z[hit] - 9410;
    const double off[2] = {(double)h->x[hit] - (double)t->x[track] - (double)t->tx[track] * dz,
                           (double)h->y[hit] - (double)t->y[track] - (double)t->ty[track] * dz};
    const double half[2] = {(double)h->half_x[hit], (double)h->half_y[hit]};
    uint32_t is_near = 1;
    for (uint32_t k = 0; k < 2; k++) {
      const uint32_t w = 2 * grid + k;
      const double window = 1.2 * (a[w] + b[w] * exp(-c[w] * p / 1000)) * half[k];
      is_near &= fabs(off[k]) < window;
      *margin = fmin(*margin, fabs(fabs(off[k]) / window - 1));
    }
    const double distance = off[0] * off[0] + 2 * off[1] * off[1];
    const uint32_t station = grid / MUON_REGIONS;
    stations |= is_near << station;
    if (!is_near) continue;
    if (isfinite(closest[station])) *margin = fmin(*margin, fabs(distance / closest[station] - 1));
    if (distance >= closest[station]) continue;
    closest[station] = distance;
    hits[station] = (uint16_t)i;
  }
  if (p < 3000 || (stations & 3) != 3) return 0;
  return p < 6000 || (p < 10000 ? (stations & 12) != 0 : (stations & 12) == 12);
}

/* Tracks with hits around them, spread as widely as windows are. */
static void make_case(struct tracks *t, struct hits *h) {
  memset(t, 0, sizeof *t);
  memset(h, 0, sizeof *h);
  for (uint32_t event = 0; event < EVENTS; event++) {
    for (uint32_t i = 0; i < 100; i++) {
      const uint32_t track = t->offsets[event] + i;
      t->qop[track] = (i % 2 ? 1.0f : -1.0f) / random_between(2000, i % 3 ? 12000 : 60000);
      t->x[track] = random_between(-2000, 2000);
      t->y[track] = random_between(-2000, 2000);
      t->tx[track] = random_between(-0.2f, 0.2f);
      t->ty[track] = random_between(-0.2f, 0.2f);
    }
    t->offsets[event + 1] = t->offsets[event] + 100;
    for (uint32_t grid = 0; grid < MUON_GRIDS; grid++) {
      for (uint32_t n = random_below(25); n > 0; n--) {
        const uint32_t track = t->offsets[event] + random_below(100), station = grid / MUON_REGIONS;
        const float dz = 15200.0f + 1200.0f * (float)station - 9410.0f;
        add_hit(h, event, grid, t->x[track] + t->tx[track] * dz + random_between(-250, 250),
                t->y[track] + t->ty[track] * dz + random_between(-250, 250));
        h->half_x[h->count - 1] = random_between(5, 80);
        h->half_y[h->count - 1] = random_between(5, 80);
      }
    }
  }
}

static void flags_and_hits_equal_those_of_plain_loops(void **state) {
  static struct tracks t;
  static struct hits h;
  uint32_t muons = 0, checked = 0;
  (void)state;
  random_start(7);
  for (uint32_t turn = 0; turn < 8; turn++) {
    make_case(&t, &h);
    struct sl_test *test = is_muon_new(&t, &h);
    sl_test_block(test, 32u << turn % 4);
    assert_int_equal(sl_test_run(test), 0);
    for (uint32_t event = 0; event < EVENTS; event++) {
      for (uint32_t i = t.offsets[event]; i < t.offsets[event + 1]; i++) {
        double margin = 1;
        uint16_t hits[MUON_STATIONS] = {MUON_NO_HIT, MUON_NO_HIT, MUON_NO_HIT, MUON_NO_HIT};
        const uint32_t wanted = is_muon_plainly(&t, i, &h, event, hits, &margin);
        if (margin < 1e-5) continue; /* rounding may decide */
        if (!wanted) memset(hits, 0xFF, sizeof hits);
        assert_int_equal(OUTPUT(test, "flags", "is_muon", uint8_t)[i], wanted);
        assert_memory_equal(OUTPUT(test, "flags", "hits", uint16_t) + MUON_STATIONS * i, hits, sizeof hits);
        muons += wanted;
        checked++;
      }
    }
    sl_test_free(test);
  }
  assert_true(muons > 300 && muons < checked - 300 && checked > 2200);
}

static void straight_tracks_are_muons_and_invalid_momenta_are_not(void **state) {
  static struct tracks t;
  static struct hits h;
  (void)state;
  memset(&h, 0, sizeof h);
  memset(&t, 0, sizeof t);
  for (uint32_t station = 0; station < MUON_STATIONS; station++) add_hit(&h, 0, 4 * station, 0, 0);
  h.offsets[2] = h.offsets[3] = h.count;
  t.qop[0] = 0, t.qop[1] = INFINITY, t.qop[2] = NAN;
  t.offsets[1] = t.offsets[2] = t.offsets[3] = 3;
  struct sl_test *test = is_muon_new(&t, &h);
  assert_int_equal(sl_test_run(test), 0);
  const uint8_t *flags = OUTPUT(test, "flags", "is_muon", uint8_t);
  assert_int_equal(flags[0], 1);
  assert_int_equal(flags[1], 0);
  assert_int_equal(flags[2], 0);
  sl_test_free(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_of_constant_width_accept_any_momentum),
      cmocka_unit_test(required_stations_depend_on_the_momentum),
      cmocka_unit_test(the_closest_hit_of_each_station_is_stored),
      cmocka_unit_test(the_first_of_equally_close_hits_is_stored),
      cmocka_unit_test(hits_outside_the_windows_are_not_stored),
      cmocka_unit_test(tracks_that_are_not_muons_have_no_hits),
      cmocka_unit_test(hits_of_other_events_and_outside_windows_are_ignored),
      cmocka_unit_test(flags_and_hits_equal_those_of_plain_loops),
      cmocka_unit_test(straight_tracks_are_muons_and_invalid_momenta_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
