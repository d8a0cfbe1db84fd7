/* quality_filter_test.c: forward.quality_filter: constructed candidates on a track with dx/dz = 0.1 and dy/dz = 0.02,
 * and the best of random candidates against a plain selection in double precision.
 */
#include "candidates_case.h"

#include <math.h>

enum { CANDIDATES_MAX = CASE_TRACKS_MAX * FORWARD_TRIPLETS_MAX };
static struct candidates_case c;

/* The candidates of the slice. */
static struct {
  uint32_t offsets[CASE_EVENTS_MAX + 1], track[CANDIDATES_MAX];
  uint8_t hit_count[CANDIDATES_MAX];
  uint16_t hits[CANDIDATES_MAX * SCIFI_TRACK_HITS_MAX];
  float a[CANDIDATES_MAX], b[CANDIDATES_MAX], c[CANDIDATES_MAX], r[CANDIDATES_MAX], quality[CANDIDATES_MAX];
} of;

static struct sl_test *filter_new(const struct forward_constant *forward) {
  const uint32_t tracks = c.track_offsets[c.events], hits = c.hit_offsets[c.events], count = of.offsets[c.events];
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "quality_filter");
  sl_test_events(t, c.events);
  sl_test_input(t, "inputs", "offsets", c.track_offsets, c.events + 1);
  sl_test_input(t, "inputs", "ty", c.ty, tracks);
  sl_test_input(t, "hits", "offsets", c.hit_offsets, c.events + 1);
  sl_test_input(t, "hits", "id", c.hit_id, hits);
  sl_test_input(t, "hits", "x", c.hit_x, hits);
  sl_test_input(t, "hits", "z", c.hit_z, hits);
  sl_test_input(t, "candidates", "offsets", of.offsets, c.events + 1);
  sl_test_input(t, "candidates", "track", of.track, count);
  sl_test_input(t, "candidates", "hit_count", of.hit_count, count);
  sl_test_input(t, "candidates", "hits", of.hits, (uint64_t)count * SCIFI_TRACK_HITS_MAX);
  sl_test_input(t, "candidates", "a", of.a, count);
  sl_test_input(t, "candidates", "b", of.b, count);
  sl_test_input(t, "candidates", "c", of.c, count);
  sl_test_input(t, "candidates", "r", of.r, count);
  sl_test_input(t, "candidates", "quality", of.quality, count);
  forward_constant_give(forward, t, "dxdy constants");
  return t;
}

/* ----------------------------------------------------------------------------------------------------- by hand */

static const double tx = 0.1, ty = 0.02;

static void start(void) {
  memset(&c, 0, sizeof c);
  memset(&of, 0, sizeof of);
  candidates_next_event(&c);
  candidates_add_track(&c, (float)(2642 * tx), (float)(2642 * ty), (float)tx, (float)ty);
}

/* A candidate of the only track on the line x = 0.1 z, with hits in the layers of the bit mask; residuals of stereo
 * hits in y from the line y = y_0 + slope z. */
static void add_candidate(uint32_t layers, double y_0, double slope, const double *off, double quality) {
  const uint32_t i = of.offsets[1]++;
  of.b[i] = (float)tx;
  of.c[i] = (float)(8520 * tx);
  of.quality[i] = (float)quality;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) {
    if (!(layers >> layer & 1)) continue;
    const double z = case_z[layer] + 0.1; /* of the hit */
    of.hits[SCIFI_TRACK_HITS_MAX * i + of.hit_count[i]++] =
        candidates_add_hit(&c, layer, tx * z - case_dxdy(layer) * (y_0 + slope * z + (off ? off[layer] : 0)));
  }
}

enum {
  ALL_LAYERS = 0xFFF,
  WITHOUT_12 = 0x7FF,              /* eleven hits */
  WITHOUT_1_12 = 0x7FE,            /* ten */
  WITHOUT_1_4_12 = 0x7F6,          /* nine */
  WITHOUT_1_4_5_12 = 0x7E6,        /* eight */
  WITHOUT_STATION_1_STEREO = 0xFF9 /* ten */
};

struct best {
  uint32_t count;
  uint16_t hits[SCIFI_TRACK_HITS_MAX];
  float a, b, c, r, y, ty, quality;
};
static struct best best_by(struct sl_test *t) {
  struct best b;
  assert_int_equal(sl_test_run(t), 0);
  b.count = *(const uint8_t *)sl_test_output(t, "best", "hit_count");
  memcpy(b.hits, sl_test_output(t, "best", "hits"), sizeof b.hits);
  b.a = *(const float *)sl_test_output(t, "best", "a");
  b.b = *(const float *)sl_test_output(t, "best", "b");
  b.c = *(const float *)sl_test_output(t, "best", "c");
  b.r = *(const float *)sl_test_output(t, "best", "r");
  b.y = *(const float *)sl_test_output(t, "best", "y");
  b.ty = *(const float *)sl_test_output(t, "best", "ty");
  b.quality = *(const float *)sl_test_output(t, "best", "quality");
  sl_test_free(t);
  return b;
}

static struct best best_now(void) {
  struct forward_constant forward;
  forward_constant_open(&forward);
  const struct best b = best_by(filter_new(&forward));
  forward_constant_close(&forward);
  return b;
}

static void a_good_candidate_is_accepted_with_its_line_in_y(void **state) {
  (void)state;
  const struct {
    uint32_t layers, hits;
    double factor;
  } counts[] = {{ALL_LAYERS, 12, 0.5}, {WITHOUT_12, 11, 0.8}, {WITHOUT_1_12, 10, 1}, {WITHOUT_1_4_12, 9, 5}};
  for (uint32_t i = 0; i < 4; i++) {
    start();
    add_candidate(counts[i].layers, 3, 0.021, NULL, 0.3);
    const struct best b = best_now();
    assert_int_equal(b.count, counts[i].hits);
    for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX; h++) assert_int_equal(b.hits[h], h < b.count ? h : 0);
    assert_true(b.a == 0 && b.b == of.b[0] && b.c == of.c[0] && b.r == 0);
    assert_true(fabsf(b.y - 3) < 0.05f && fabs(b.ty - 0.021) < 5e-6);
    assert_true(fabs(b.quality - counts[i].factor * 0.3 / (counts[i].hits - 3)) < 1e-3);
  }
}

static void candidates_with_few_hits_or_missing_stations_are_rejected(void **state) {
  (void)state;
  start();
  add_candidate(WITHOUT_1_4_5_12, 0, ty, NULL, 0);
  struct best b = best_now();
  assert_int_equal(b.count, 0);
  assert_true(b.c == 0 && b.y == 0 && b.quality == 0);
  for (uint32_t station = 0; station < 3; station++) {
    start();
    add_candidate(ALL_LAYERS & ~(6u << (4 * station)), 0, ty, NULL, 0);
    assert_int_equal(best_now().count, 0);
    start(); /* one of the two stereo layers is enough */
    add_candidate(ALL_LAYERS & ~(2u << (4 * station)), 0, ty, NULL, 0);
    assert_int_equal(best_now().count, 11);
  }
}

/* Alternating residuals of 20 mm: lambda is about 6 x 400 / (6 - 2) mm2. */
static void the_chi2_in_y_is_part_of_the_quality(void **state) {
  (void)state;
  const double off[SCIFI_LAYERS] = {0, 20, -20, 0, 0, 20, -20, 0, 0, 20, -20, 0};
  double d[6], mean = 0, mean_y = 0, square = 0, product = 0, squares = 0, n = 0;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++)
    if (off[layer] != 0) {
      d[(int)n++] = case_z[layer];
      mean += case_z[layer] / 6;
      mean_y += off[layer] / 6;
    }
  for (uint32_t i = 0; i < 6; i++) {
    const double y = (i % 2 ? -20 : 20) - mean_y;
    square += (d[i] - mean) * (d[i] - mean);
    product += (d[i] - mean) * y;
  }
  for (uint32_t i = 0; i < 6; i++) {
    const double rest = (i % 2 ? -20 : 20) - mean_y - product / square * (d[i] - mean);
    squares += rest * rest;
  }
  start();
  add_candidate(ALL_LAYERS, 0, ty, off, 0.9);
  struct forward_constant forward;
  forward_constant_open(&forward);
  struct sl_test *t = filter_new(&forward);
  sl_test_set(t, "max_quality", 10);
  const struct best b = best_by(t);
  assert_int_equal(b.count, 12);
  assert_true(fabs(b.quality - 0.5 * (0.9 / 9 + squares / 4 / 800)) < 1e-3);
  for (uint32_t is_kept = 0; is_kept < 2; is_kept++) {
    t = filter_new(&forward);
    sl_test_set(t, "max_quality", b.quality * (is_kept ? 1.01 : 0.99));
    assert_int_equal(best_by(t).count, is_kept ? 12 : 0);
  }
  forward_constant_close(&forward);
}

static void the_slope_in_y_is_required_below_eleven_hits(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    start();
    add_candidate(WITHOUT_1_12, 0, ty + sign * 0.0205, NULL, 0);
    assert_int_equal(best_now().count, 0);
    start();
    add_candidate(WITHOUT_1_12, 0, ty + sign * 0.0195, NULL, 0);
    assert_int_equal(best_now().count, 10);
    start();
    add_candidate(WITHOUT_12, 0, ty + sign * 0.0205, NULL, 0);
    assert_int_equal(best_now().count, 11);
  }
}

static void the_smallest_quality_wins_and_ties_take_the_first(void **state) {
  (void)state;
  start();
  add_candidate(WITHOUT_12, 0, ty, NULL, 0.5);
  add_candidate(WITHOUT_12, 0, ty, NULL, 0.2);
  add_candidate(WITHOUT_12, 0, ty, NULL, 0.2);
  add_candidate(WITHOUT_1_4_12, 0, ty, NULL, 0.1); /* with a factor of 5 */
  for (uint32_t h = 0; h < 11; h++) of.hits[2 * SCIFI_TRACK_HITS_MAX + h] = of.hits[SCIFI_TRACK_HITS_MAX + h];
  of.r[1] = 1e-3f; /* index of the candidate; the curve is straight */
  const struct best b = best_now();
  assert_int_equal(b.count, 11);
  assert_int_equal(b.hits[0], 11);
  assert_true(b.r == 1e-3f);
}

/* ------------------------------------------------------------------------------------------------------ random */

struct line {
  double y, ty, chi2;
  uint32_t stations;
};

static struct line plain_line(uint32_t event, const uint16_t *hits, uint32_t count, const struct plain_curve *curve) {
  struct line line = {0, 0, 0, 0};
  double n = 0, mean_z = 0, mean_y = 0, y[SCIFI_TRACK_HITS_MAX], z[SCIFI_TRACK_HITS_MAX], square = 0, product = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t hit = c.hit_offsets[event] + hits[i], layer = (c.hit_id[hit] >> SCIFI_LAYER_BIT & 15) - 4;
    if (case_dxdy(layer) == 0) continue;
    line.stations |= 1u << (layer / 4);
    z[(int)n] = c.hit_z[hit];
    y[(int)n] = (plain_x(curve, z[(int)n]) - c.hit_x[hit]) / case_dxdy(layer);
    mean_z += z[(int)n];
    mean_y += y[(int)n];
    n++;
  }
  if (line.stations != 7) return line;
  mean_z /= n;
  mean_y /= n;
  for (int i = 0; i < n; i++) square += (z[i] - mean_z) * (z[i] - mean_z), product += (z[i] - mean_z) * (y[i] - mean_y);
  line.ty = product / square;
  line.y = mean_y - line.ty * mean_z;
  for (int i = 0; i < n; i++) line.chi2 += pow(y[i] - line.y - line.ty * z[i], 2) / (n - 2);
  return line;
}

/* Q, or 1e9. */
static double plain_quality(uint32_t event, const struct plain_candidate *p, double input_ty, struct line *line) {
  static const double factors[] = {5, 1, 0.8, 0.5};
  if (p->hit_count < 9) return 1e9;
  *line = plain_line(event, p->hits, p->hit_count, &p->curve);
  if (line->stations != 7 || (p->hit_count < 11 && fabs(line->ty - input_ty) >= 0.02)) return 1e9;
  return factors[p->hit_count - 9] * (p->quality / (p->hit_count - 3) + line->chi2 / 800);
}

static void candidates_of(uint32_t event, const struct plain_candidate *found, uint32_t count) {
  of.offsets[event + 1] = of.offsets[event] + count;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = of.offsets[event] + i;
    of.track[at] = found[i].track;
    of.hit_count[at] = (uint8_t)found[i].hit_count;
    memcpy(of.hits + (size_t)SCIFI_TRACK_HITS_MAX * at, found[i].hits, sizeof found[i].hits);
    of.a[at] = (float)found[i].curve.a;
    of.b[at] = (float)found[i].curve.b;
    of.c[at] = (float)found[i].curve.c;
    of.r[at] = (float)found[i].curve.r;
    of.quality[at] = (float)found[i].quality;
  }
}

/* Returns the number of tracks with a candidate. */
static uint32_t assert_event(const struct sl_test *t, uint32_t event, const struct plain_candidate *found,
                             uint32_t count) {
  const uint8_t *hit_count = sl_test_output(t, "best", "hit_count");
  const uint16_t *hits = sl_test_output(t, "best", "hits");
  const float *y = sl_test_output(t, "best", "y"), *slope = sl_test_output(t, "best", "ty");
  const float *quality = sl_test_output(t, "best", "quality"), *x = sl_test_output(t, "best", "c");
  uint32_t kept = 0;
  for (uint32_t track = c.track_offsets[event]; track < c.track_offsets[event + 1]; track++) {
    const struct plain_candidate *best = NULL;
    double least = 0.5;
    struct line best_line = {0, 0, 0, 0}, line = best_line;
    for (uint32_t i = 0; i < count; i++) {
      if (found[i].track + c.track_offsets[event] != track) continue;
      const double q = plain_quality(event, &found[i], c.ty[track], &line);
      /* candidates that differ only by rounding count as equal; the first one is selected */
      if (q < least - 1e-6) best = &found[i], least = q, best_line = line;
    }
    assert_int_equal(hit_count[track], best ? best->hit_count : 0);
    if (!best) continue;
    kept++;
    assert_memory_equal(hits + (size_t)SCIFI_TRACK_HITS_MAX * track, best->hits, sizeof best->hits);
    assert_true(x[track] == (float)best->curve.c);
    assert_true(fabs(quality[track] - least) < 2e-3);
    assert_true(fabs(y[track] - best_line.y) < 0.2 && fabs(slope[track] - best_line.ty) < 2e-5);
  }
  return kept;
}

static void selected_candidates_equal_those_of_a_plain_selection(void **state) {
  (void)state;
  static struct plain_candidate found[CASE_EVENTS_MAX][CANDIDATES_MAX];
  struct forward_constant forward;
  forward_constant_open(&forward);
  uint32_t kept = 0, tracks = 0, counts[CASE_EVENTS_MAX];
  for (uint64_t seed = 1; seed <= 12; seed++)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      candidates_fill(&c, seed, 4, 12);
      for (uint32_t event = 0; event < c.events; event++) {
        counts[event] = plain_candidates(&c, &forward, event, 2, 50, found[event]);
        candidates_of(event, found[event], counts[event]);
      }
      struct sl_test *t = filter_new(&forward);
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      for (uint32_t event = 0; event < c.events; event++) kept += assert_event(t, event, found[event], counts[event]);
      tracks += c.track_offsets[c.events];
      sl_test_free(t);
    }
  forward_constant_close(&forward);
  assert_true(2 * kept > tracks && kept < tracks); /* the case contains candidates to select */
}

/* More candidates than fit a block's list. */
static void the_best_of_many_candidates_is_selected(void **state) {
  (void)state;
  enum { MANY = 200, EACH = FORWARD_TRIPLETS_MAX };
  start();
  for (uint32_t track = 1; track < MANY; track++)
    candidates_add_track(&c, (float)(2642 * tx), (float)(2642 * ty), (float)tx, (float)ty);
  add_candidate(ALL_LAYERS, 0, ty, NULL, 0);
  of.offsets[1] = MANY * EACH;
  for (uint32_t i = 0; i < MANY * EACH; i++) {
    of.track[i] = i / EACH;
    of.hit_count[i] = 12;
    memcpy(of.hits + (size_t)SCIFI_TRACK_HITS_MAX * i, of.hits, SCIFI_TRACK_HITS_MAX * sizeof of.hits[0]);
    of.b[i] = of.b[0];
    of.c[i] = of.c[0];
    of.quality[i] = (float)((i % EACH + 3 * EACH - i / EACH % EACH) % EACH); /* 0 for the track number modulo EACH */
    of.r[i] = (float)(i % EACH);                                             /* index of the candidate */
  }
  struct forward_constant forward;
  forward_constant_open(&forward);
  struct sl_test *t = filter_new(&forward);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t track = 0; track < MANY; track++)
    assert_true(((const float *)sl_test_output(t, "best", "r"))[track] == (float)(track % EACH));
  sl_test_free(t);
  forward_constant_close(&forward);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_candidate_is_accepted_with_its_line_in_y),
      cmocka_unit_test(candidates_with_few_hits_or_missing_stations_are_rejected),
      cmocka_unit_test(the_chi2_in_y_is_part_of_the_quality),
      cmocka_unit_test(the_slope_in_y_is_required_below_eleven_hits),
      cmocka_unit_test(the_smallest_quality_wins_and_ties_take_the_first),
      cmocka_unit_test(selected_candidates_equal_those_of_a_plain_selection),
      cmocka_unit_test(the_best_of_many_candidates_is_selected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
