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
  sl_test_input(t, "inputs", "tx", c.tx, tracks);
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

/* The sum of LHCb's trigger, with its settings. */
static void set_sum(struct sl_test *t) {
  static const double factors[] = {5, 1, 0.8, 0.5};
  sl_test_set(t, "is_sum", 1);
  sl_test_set_array(t, "factors", factors, 4);
  sl_test_set(t, "y_chi2_scale", 800);
  sl_test_set(t, "max_quality", 0.5);
  sl_test_set(t, "max_shared_hits", 12);
}

/* Q with the default settings: `x` is the mean chi2 of the added hits, `bend` the change of dx/dz. */
static double product(uint32_t hits, double x, double lambda, double slope_off, double bend) {
  static const double factors[] = {40, 8, 2.5, 1};
  const double slope = slope_off / (1e-3 + 0.02 * fabs(bend));
  return factors[hits - 9] * (1 + x / 0.02) * sqrt((1 + lambda) * sqrt(1 + slope * slope));
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
  } counts[] = {{ALL_LAYERS, 12}, {WITHOUT_12, 11}, {WITHOUT_1_12, 10}, {WITHOUT_1_4_12, 9}};
  for (uint32_t i = 0; i < 4; i++) {
    start();
    add_candidate(counts[i].layers, 3, 0.021, NULL, 0.3);
    const struct best b = best_now();
    assert_int_equal(b.count, counts[i].hits);
    for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX; h++) assert_int_equal(b.hits[h], h < b.count ? h : 0);
    assert_true(b.a == 0 && b.b == of.b[0] && b.c == of.c[0] && b.r == 0);
    assert_true(fabsf(b.y - 3) < 0.05f && fabs(b.ty - 0.021) < 5e-6);
    const double expected = product(counts[i].hits, 0.3 / (counts[i].hits - 3), 0, 0.001, 0);
    assert_true(fabs(b.quality / expected - 1) < 0.01);
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
  double d[6], mean = 0, mean_y = 0, square = 0, product_of = 0, squares = 0, n = 0;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++)
    if (off[layer] != 0) {
      d[(int)n++] = case_z[layer];
      mean += case_z[layer] / 6;
      mean_y += off[layer] / 6;
    }
  for (uint32_t i = 0; i < 6; i++) {
    const double y = (i % 2 ? -20 : 20) - mean_y;
    square += (d[i] - mean) * (d[i] - mean);
    product_of += (d[i] - mean) * y;
  }
  for (uint32_t i = 0; i < 6; i++) {
    const double rest = (i % 2 ? -20 : 20) - mean_y - product_of / square * (d[i] - mean);
    squares += rest * rest;
  }
  start();
  add_candidate(ALL_LAYERS, 0, ty, off, 0.9);
  struct forward_constant forward;
  forward_constant_open(&forward);
  struct sl_test *t = filter_new(&forward);
  set_sum(t);
  sl_test_set(t, "max_quality", 10);
  const struct best sum = best_by(t);
  assert_int_equal(sum.count, 12);
  assert_true(fabs(sum.quality - 0.5 * (0.9 / 9 + squares / 4 / 800)) < 1e-3);
  const struct best b = best_by(filter_new(&forward));
  assert_int_equal(b.count, 12);
  assert_true(fabs(b.quality / product(12, 0.1, squares / 4, -product_of / square, 0) - 1) < 1e-3);
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
  add_candidate(WITHOUT_1_4_12, 0, ty, NULL, 0.1); /* with a larger factor */
  for (uint32_t h = 0; h < 11; h++) of.hits[2 * SCIFI_TRACK_HITS_MAX + h] = of.hits[SCIFI_TRACK_HITS_MAX + h];
  of.r[1] = 1e-3f; /* index of the candidate; the curve is straight */
  const struct best b = best_now();
  assert_int_equal(b.count, 11);
  assert_int_equal(b.hits[0], 11);
  assert_true(b.r == 1e-3f);
}

/* Eleven own hits, against twelve of other particles: residuals of 0.35 mm in x, 8 mm in y. */
static void eleven_hits_with_small_residuals_beat_twelve(void **state) {
  (void)state;
  const double off[SCIFI_LAYERS] = {0, 8, -8, 0, 0, 8, -8, 0, 0, 8, -8, 0};
  start();
  add_candidate(ALL_LAYERS, 0, ty + 0.004, off, 9 * 0.25);
  add_candidate(WITHOUT_12, 0, ty, NULL, 8 * 0.04);
  const struct best b = best_now();
  assert_int_equal(b.count, 11);
  assert_true(fabs(b.ty - ty) < 1e-5);
}

/* The second of two tracks gets the hits of the first, except in the first `own` layers, with a Q larger by about
 * `ratio`. */
static uint32_t count_of_second(uint32_t own, double ratio, int is_large) {
  struct forward_constant forward;
  start();
  candidates_add_track(&c, (float)(2642 * tx), (float)(2642 * ty), (float)tx, (float)ty);
  if (is_large) c.hit_offsets[1] = 10000; /* more hits than fit into shared memory */
  add_candidate(ALL_LAYERS, 0, ty, NULL, 0);
  add_candidate(ALL_LAYERS, 0, ty, NULL, 9 * 0.02 * (ratio - 1));
  of.track[1] = 1;
  for (uint32_t layer = own; layer < SCIFI_LAYERS; layer++) of.hits[SCIFI_TRACK_HITS_MAX + layer] = of.hits[layer];
  forward_constant_open(&forward);
  struct sl_test *t = filter_new(&forward);
  assert_int_equal(sl_test_run(t), 0);
  const uint8_t *counts = sl_test_output(t, "best", "hit_count");
  assert_int_equal(counts[0], 12);
  const uint32_t count = counts[1];
  sl_test_free(t);
  forward_constant_close(&forward);
  return count;
}

static void a_track_on_the_hits_of_a_much_better_one_is_dropped(void **state) {
  (void)state;
  for (int is_large = 0; is_large < 2; is_large++) {
    assert_int_equal(count_of_second(0, 3.3, is_large), 0);
    assert_int_equal(count_of_second(0, 2.7, is_large), 12); /* not much better */
    assert_int_equal(count_of_second(8, 3.3, is_large), 0);  /* four hits shared */
    assert_int_equal(count_of_second(9, 100, is_large), 12); /* three */
  }
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
static double plain_quality(uint32_t event, const struct plain_candidate *p, uint32_t track, int is_sum,
                            struct line *line) {
  static const double factors[] = {5, 1, 0.8, 0.5};
  const double input_ty = c.ty[track];
  if (p->hit_count < 9) return 1e9;
  *line = plain_line(event, p->hits, p->hit_count, &p->curve);
  if (line->stations != 7 || (p->hit_count < 11 && fabs(line->ty - input_ty) >= 0.02)) return 1e9;
  const double x = p->quality / (p->hit_count - 3);
  if (is_sum) return factors[p->hit_count - 9] * (x + line->chi2 / 800);
  return product(p->hit_count, x, line->chi2, line->ty - input_ty, p->curve.b - (double)c.tx[track]);
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

/* The best candidate of a track, without regard to other tracks. */
struct choice {
  const struct plain_candidate *best;
  double quality;
  struct line line;
};

static struct choice plain_choice(uint32_t event, uint32_t track, int is_sum, const struct plain_candidate *found,
                                  uint32_t count) {
  struct choice choice = {NULL, is_sum ? 0.5 : 1500, {0, 0, 0, 0}};
  for (uint32_t i = 0; i < count; i++) {
    struct line line = {0, 0, 0, 0};
    if (found[i].track + c.track_offsets[event] != track) continue;
    const double q = plain_quality(event, &found[i], track, is_sum, &line);
    /* candidates that differ only by rounding count as equal; the first one is selected */
    if (q < choice.quality * (1 - 1e-5) - 1e-6) choice = (struct choice){&found[i], q, line};
  }
  return choice;
}

/* Settings for which many tracks of these events are dropped. */
static const double ratio = 1.2;
enum { most_shared = 0 };

/* Hits of a track on which another one is much better. */
static uint32_t surpassed_hits(const struct choice *choices, uint32_t tracks, uint32_t track) {
  const struct plain_candidate *own = choices[track].best;
  uint32_t lost = 0;
  for (uint32_t h = 0; h < own->hit_count; h++) {
    uint32_t is_lost = 0;
    for (uint32_t other = 0; other < tracks; other++)
      for (uint32_t k = 0; choices[other].best && k < choices[other].best->hit_count; k++)
        is_lost |=
            choices[other].best->hits[k] == own->hits[h] && ratio * choices[other].quality < choices[track].quality;
    lost += is_lost;
  }
  return lost;
}

/* Returns the number of tracks with a candidate; *dropped: number of tracks that are dropped for shared hits. */
static uint32_t assert_event(const struct sl_test *t, uint32_t event, int is_sum, const struct plain_candidate *found,
                             uint32_t count, uint32_t *dropped) {
  const uint8_t *hit_count = sl_test_output(t, "best", "hit_count");
  const uint16_t *hits = sl_test_output(t, "best", "hits");
  const float *y = sl_test_output(t, "best", "y"), *slope = sl_test_output(t, "best", "ty");
  const float *quality = sl_test_output(t, "best", "quality"), *x = sl_test_output(t, "best", "c");
  static struct choice choices[CASE_TRACKS_MAX];
  const uint32_t first = c.track_offsets[event], tracks = c.track_offsets[event + 1] - first;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < tracks; i++) choices[i] = plain_choice(event, first + i, is_sum, found, count);
  for (uint32_t i = 0; i < tracks; i++) {
    const struct choice *choice = &choices[i];
    const uint32_t track = first + i,
                   is_dropped = choice->best && !is_sum && surpassed_hits(choices, tracks, i) > most_shared;
    assert_int_equal(hit_count[track], choice->best && !is_dropped ? choice->best->hit_count : 0);
    *dropped += is_dropped;
    if (!choice->best || is_dropped) continue;
    kept++;
    assert_memory_equal(hits + (size_t)SCIFI_TRACK_HITS_MAX * track, choice->best->hits, sizeof choice->best->hits);
    assert_true(x[track] == (float)choice->best->curve.c);
    assert_true(fabs(quality[track] - choice->quality) < 2e-3 + 1e-2 * choice->quality * !is_sum);
    assert_true(fabs(y[track] - choice->line.y) < 0.2 && fabs(slope[track] - choice->line.ty) < 2e-5);
  }
  return kept;
}

static void selected_candidates_equal_those_of_a_plain_selection(void **state) {
  (void)state;
  static struct plain_candidate found[CASE_EVENTS_MAX][CANDIDATES_MAX];
  struct forward_constant forward;
  forward_constant_open(&forward);
  uint32_t kept = 0, tracks = 0, dropped = 0, counts[CASE_EVENTS_MAX];
  for (uint64_t seed = 1; seed <= 12; seed++)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      const int is_sum = seed % 2;
      candidates_fill(&c, seed, 4, 12);
      for (uint32_t event = 0; event < c.events; event++) {
        counts[event] = plain_candidates(&c, &forward, event, 2, 50, found[event]);
        candidates_of(event, found[event], counts[event]);
      }
      struct sl_test *t = filter_new(&forward);
      sl_test_block(t, block);
      if (is_sum) set_sum(t);
      sl_test_set(t, "shared_ratio", ratio);
      sl_test_set(t, "max_shared_hits", is_sum ? 12 : most_shared);
      assert_int_equal(sl_test_run(t), 0);
      for (uint32_t event = 0; event < c.events; event++)
        kept += assert_event(t, event, is_sum, found[event], counts[event], &dropped);
      tracks += c.track_offsets[c.events];
      sl_test_free(t);
    }
  forward_constant_close(&forward);
  assert_true(dropped > 0);
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
      cmocka_unit_test(eleven_hits_with_small_residuals_beat_twelve),
      cmocka_unit_test(a_track_on_the_hits_of_a_much_better_one_is_dropped),
      cmocka_unit_test(selected_candidates_equal_those_of_a_plain_selection),
      cmocka_unit_test(the_best_of_many_candidates_is_selected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
