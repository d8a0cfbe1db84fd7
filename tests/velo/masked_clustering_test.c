/* velo.masked_clustering: constructed shapes, random pixels against masked_clustering_reference.h, invalid banks, and
 * the sample.
 */
#include "masked_clustering_reference.h"
#include "velo_support.h"

#include <stdlib.h>
#include <string.h>

#define ISOLATED (1u << 31)

/* ---------------------------------------------------------------------------------- pixels and their words */

static struct pixels *pixels_new(void) {
  struct pixels *p = calloc(1, sizeof *p);
  assert_non_null(p);
  return p;
}

static void hit(struct pixels *p, uint32_t column, uint32_t row) { p->hit[column + 1][row + 1] = 1; }

static uint32_t mask_at(const struct pixels *p, uint32_t column, uint32_t row) {
  uint32_t mask = 0;
  for (uint32_t bit = 0; bit < 8; bit++)
    mask |= (uint32_t)p->hit[1 + 2 * column + bit / 4][1 + 4 * row + bit % 4] << bit;
  return mask;
}

/* Whether one of the adjacent super-pixels has hits. */
static int has_neighbour(const struct pixels *p, uint32_t column, uint32_t row) {
  for (int c = -1; c <= 1; c++)
    for (int r = -1; r <= 1; r++) {
      const int x = (int)column + c, y = (int)row + r;
      if ((c || r) && x >= 0 && x < COLUMNS / 2 && y >= 0 && y < ROWS / 4 && mask_at(p, (uint32_t)x, (uint32_t)y))
        return 1;
    }
  return 0;
}

/* The words of a sensor, in an order that depends on `seed`, with the isolated flags of the readout if `flagged`. */
static uint32_t words_of(const struct pixels *p, uint32_t *words, uint32_t seed, int flagged) {
  uint32_t count = 0;
  for (uint32_t column = 0; column < COLUMNS / 2; column++)
    for (uint32_t row = 0; row < ROWS / 4; row++) {
      const uint32_t mask = mask_at(p, column, row);
      if (!mask) continue;
      words[count++] = mask | row << 8 | column << 14 | (flagged && !has_neighbour(p, column, row) ? ISOLATED : 0u);
    }
  for (uint32_t i = count; i > 1; i--) {
    seed = seed * 1664525u + 1013904223u;
    const uint32_t j = (seed >> 8) % i, word = words[j];
    words[j] = words[i - 1];
    words[i - 1] = word;
  }
  return count;
}

/* ----------------------------------------------------------------------------------------------- running */

/* Runs both versions, which must give equal bytes. */
static struct sl_test *cluster(const struct banks *b) {
  struct geometry g;
  geometry_round(&g);
  struct sl_test *t = decoder_new("masked_clustering", b, &g), *shared = decoder_new("masked_clustering", b, &g);
  sl_test_shared(shared, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_run(shared), 0);
  hits_assert_sorted(t, b->event_count);
  hits_assert_equal(t, shared, b->event_count);
  sl_test_free(shared);
  return t;
}

/* The sums of a cluster of known shape. */
static struct sums where(uint32_t pixels, uint32_t columns, uint32_t rows) {
  return (struct sums){pixels, columns, rows};
}

/* Removes the cluster with these sums from the ids of its module pair (sets its id to 0); fails if there is none. */
static void take(uint32_t *ids, const struct hits *h, uint32_t event, uint32_t sensor, struct sums s) {
  const uint32_t column = s.columns / s.pixels, row = s.rows / s.pixels;
  const float pitch = column == 255 || column == 511 ? 4.0f : 1.0f;
  const float column_fraction = (float)(s.columns - s.pixels * column) / (float)s.pixels;
  const float row_fraction = (float)(s.rows - s.pixels * row) / (float)s.pixels;
  const float x = (float)column + column_fraction * pitch + 100.0f * (float)sensor;
  const float y = ((float)row + 0.5f + row_fraction) * 0.055f + 1000.0f * (float)sensor;
  const uint32_t id = 2u << 28 | sensor << 18 | column << 8 | row;
  const uint32_t *first = h->pair_first + event * (VELO_MODULE_PAIRS + 1) + sensor / 8, begin = h->offsets[event];
  for (uint32_t i = begin + first[0]; i < begin + first[1]; i++)
    if (ids[i] == id && h->x[i] == x && h->y[i] == y && h->z[i] == 10000.0f * (float)sensor) {
      ids[i] = 0;
      return;
    }
  fail_msg("no cluster of %u pixels at column %u, row %u of sensor %u", s.pixels, column, row, sensor);
}

/* The sensor has exactly the clusters with these sums in this event. */
static void assert_clusters(const struct sl_test *t, uint32_t event, uint32_t sensor, const struct sums *sums,
                            uint32_t count) {
  const struct hits h = hits_of(t);
  const uint32_t begin = h.offsets[event], end = h.offsets[event + 1];
  uint32_t *ids = malloc(4 * (end + 1));
  assert_non_null(ids);
  memcpy(ids, h.id, 4 * end);
  for (uint32_t i = 0; i < count; i++) take(ids, &h, event, sensor, sums[i]);
  for (uint32_t i = begin; i < end; i++)
    if (ids[i] != 0 && (ids[i] >> 18 & 0xFF) == sensor) fail_msg("a cluster too many: id %08x", ids[i]);
  free(ids);
}

/* Decodes the pixels as a version-2 bank of sensor 30, with flags and without, and compares the clusters. Clears p. */
static void assert_shape(struct pixels *p, const struct sums *sums, uint32_t count) {
  static uint32_t words[COLUMNS / 2 * ROWS / 4];
  struct banks *b = banks_new();
  for (int flagged = 0; flagged < 2; flagged++) {
    banks_event(b);
    banks_add(b, 2, 30, words, words_of(p, words, 5, flagged));
  }
  struct sl_test *t = cluster(b);
  for (uint32_t event = 0; event < 2; event++) {
    assert_clusters(t, event, 30, sums, count);
    assert_int_equal(hits_in(t, event, 3), count);
    assert_int_equal(sl_test_event_error(t, event), 0);
  }
  sl_test_free(t);
  banks_free(b);
  free(p);
}

/* ------------------------------------------------------------------------------------------------ shapes */

static void the_position_of_a_single_pixel_is_its_centre(void **state) {
  (void)state;
  static const uint32_t places[][2] = {{0, 0}, {767, 255}, {0, 255}, {767, 0}, {255, 100}, {256, 3}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct pixels *p = pixels_new();
    hit(p, places[i][0], places[i][1]);
    assert_shape(p, (const struct sums[]){{1, places[i][0], places[i][1]}}, 1);
  }
}

static void the_position_of_two_pixels_is_their_middle_also_across_chips(void **state) {
  (void)state;
  static const uint32_t places[][2] = {{10, 8}, {11, 8}, {255, 9}, {511, 9}, {254, 9}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct pixels *p = pixels_new();
    hit(p, places[i][0], places[i][1]);
    hit(p, places[i][0] + 1, places[i][1]);
    assert_shape(p, (const struct sums[]){{2, 2 * places[i][0] + 1, 2 * places[i][1]}}, 1);
    p = pixels_new();
    hit(p, places[i][0], 11);
    hit(p, places[i][0], 12); /* the next super-pixel */
    assert_shape(p, (const struct sums[]){{2, 2 * places[i][0], 23}}, 1);
  }
}

static void pixels_that_touch_at_a_corner_are_one_cluster(void **state) {
  (void)state;
  static const int steps[][2] = {{1, 1}, {1, -1}};
  static const uint32_t places[][2] = {{20, 9}, {21, 9}, {20, 11}, {21, 11}, {21, 8}, {20, 8}, {255, 12}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    for (size_t s = 0; s < 2; s++) {
      struct pixels *p = pixels_new();
      const uint32_t column = places[i][0], row = places[i][1], next = (uint32_t)((int)row + steps[s][1]);
      hit(p, column, row);
      hit(p, column + 1, next);
      assert_shape(p, (const struct sums[]){{2, 2 * column + 1, row + next}}, 1);
    }
}

static void pixels_two_apart_are_two_clusters_also_in_one_super_pixel(void **state) {
  (void)state;
  struct pixels *p = pixels_new();
  hit(p, 40, 16);
  hit(p, 41, 18);
  hit(p, 41, 19);
  assert_shape(p, (const struct sums[]){{1, 40, 16}, {2, 82, 37}}, 2);
  p = pixels_new();
  hit(p, 40, 16);
  hit(p, 42, 16); /* in the next super-pixel */
  assert_shape(p, (const struct sums[]){{1, 40, 16}, {1, 42, 16}}, 2);
  p = pixels_new();
  hit(p, 40, 18);
  hit(p, 40, 20);
  assert_shape(p, (const struct sums[]){{1, 40, 18}, {1, 40, 20}}, 2);
}

static void a_super_pixel_joins_two_pixels_of_its_neighbour(void **state) {
  (void)state;
  struct pixels *p = pixels_new();
  hit(p, 51, 40); /* two parts of one super-pixel ... */
  hit(p, 51, 42);
  hit(p, 52, 41); /* ... touch this pixel of the next one */
  assert_shape(p, (const struct sums[]){{3, 154, 123}}, 1);
}

static void rows_and_columns_do_not_wrap_around_at_the_edges(void **state) {
  (void)state;
  struct pixels *p = pixels_new();
  hit(p, 100, 255); /* consecutive addresses: the last row of a column and the first row of the next one */
  hit(p, 102, 0);
  hit(p, 99, 0);
  hit(p, 101, 255);
  assert_shape(p, (const struct sums[]){{2, 201, 510}, {1, 102, 0}, {1, 99, 0}}, 3);
}

static void long_and_winding_clusters_are_found_as_one(void **state) {
  (void)state;
  struct pixels *p = pixels_new();
  struct sums line = where(0, 0, 0);
  for (uint32_t c = 200; c < 300; c++) {
    hit(p, c, 7);
    line = where(line.pixels + 1, line.columns + c, line.rows + 7);
  }
  assert_shape(p, &line, 1);
  p = pixels_new();
  struct sums ring = where(0, 0, 0);
  for (uint32_t c = 300; c <= 340; c++)
    for (uint32_t r = 100; r <= 160; r++) {
      if (c != 300 && c != 340 && r != 100 && r != 160) continue;
      hit(p, c, r);
      ring = where(ring.pixels + 1, ring.columns + c, ring.rows + r);
    }
  hit(p, 320, 130); /* in the middle of the ring */
  const struct sums both[] = {ring, {1, 320, 130}};
  assert_shape(p, both, 2);
}

static void a_fully_hit_sensor_is_one_cluster(void **state) {
  (void)state;
  struct pixels *p = pixels_new(), *filled = pixels_new();
  for (uint32_t c = 0; c < 500; c++) /* 16 000 super-pixels: the most that fit a bank */
    for (uint32_t r = 0; r < ROWS; r++) hit(p, c, r);
  memcpy(filled, p, sizeof *p);
  const struct sums all = clustering_flood(filled, 1, 1);
  assert_int_equal(all.pixels, 500 * ROWS);
  free(filled);
  assert_shape(p, &all, 1);
}

static void clusters_of_random_pixels_equal_the_plain_version(void **state) {
  (void)state;
  static uint32_t words[COLUMNS / 2 * ROWS / 4];
  static struct sums sums[COLUMNS * ROWS];
  uint32_t seed = 20240607;
  for (uint32_t turn = 0; turn < 60; turn++) {
    struct pixels *p = pixels_new();
    const uint32_t width = 4 + turn * 3, height = 8 + turn, hits = width * height * (turn % 6 + 1) / 16;
    for (uint32_t i = 0; i < hits; i++) {
      seed = seed * 1664525u + 1013904223u;
      hit(p, (240 + (seed >> 8) % width) % COLUMNS, (seed >> 20) % height);
    }
    struct banks *b = banks_new();
    banks_event(b);
    banks_add(b, turn % 2 ? 3 : 2, 77, words, words_of(p, words, seed, 0));
    banks_event(b);
    banks_add(b, 2, 77, words, words_of(p, words, seed + 1, 1));
    const uint32_t count = clustering_find(p, sums);
    struct sl_test *t = cluster(b);
    for (uint32_t event = 0; event < 2; event++) {
      assert_int_equal(hits_of(t).offsets[event + 1] - hits_of(t).offsets[event], count);
      assert_clusters(t, event, 77, sums, count);
    }
    sl_test_free(t);
    banks_free(b);
    free(p);
  }
}

/* ------------------------------------------------------------------------------------------------- banks */

static void version_4_separates_the_sensors_of_a_pair(void **state) {
  (void)state;
  /* One super-pixel of both sensors, and neighbours in different sensors, which must not be joined. */
  const uint32_t words[] = {0x10u | 5 << 8 | 9 << 14,            /* column 19, row 20 of the first */
                            0x10u | 5 << 8 | 9 << 14 | 1u << 23, /* the equal one of the second */
                            0x01u | 5 << 8 | 10 << 14 | 1u << 23 /* column 20, row 20 of the second */};
  struct banks *b = banks_new();
  banks_event(b);
  banks_add(b, 4, 0x1000 | 15, words, 3);
  struct sl_test *t = cluster(b);
  assert_int_equal(hits_of(t).offsets[1], 2);
  assert_clusters(t, 0, 30, (const struct sums[]){{1, 19, 20}}, 1);
  assert_clusters(t, 0, 31, (const struct sums[]){{2, 39, 40}}, 1);
  sl_test_free(t);
  banks_free(b);
}

static void version_2_has_no_second_sensor(void **state) {
  (void)state;
  const uint32_t words[] = {0x10u | 5 << 8 | 9 << 14 | 1u << 23, 0x01u | 5 << 8 | 10 << 14};
  struct banks *b = banks_new();
  banks_event(b);
  banks_add(b, 2, 31, words, 2);
  struct sl_test *t = cluster(b);
  assert_int_equal(hits_of(t).offsets[1], 1);
  assert_clusters(t, 0, 31, (const struct sums[]){{2, 39, 40}}, 1);
  sl_test_free(t);
  banks_free(b);
}

static void a_wrong_isolated_flag_splits_only_its_cluster(void **state) {
  (void)state;
  const uint32_t one = 0x10u | 5 << 8 | 9 << 14, next = 0x01u | 5 << 8 | 10 << 14;
  const uint32_t words[] = {one | ISOLATED, next | ISOLATED, one | 3 << 10 | ISOLATED, one};
  struct banks *b = banks_new();
  banks_event(b);
  banks_add(b, 2, 30, words, 2);
  banks_event(b);
  banks_add(b, 2, 30, words + 1, 3);
  struct sl_test *t = cluster(b);
  assert_clusters(t, 0, 30, (const struct sums[]){{1, 19, 20}, {1, 20, 20}}, 2);
  assert_int_equal(hits_of(t).offsets[2] - hits_of(t).offsets[1], 3);
  sl_test_free(t);
  banks_free(b);
}

static void words_of_one_super_pixel_are_merged_and_empty_words_ignored(void **state) {
  (void)state;
  const uint32_t place = 5 << 8 | 9 << 14;
  const uint32_t words[] = {place | 0x01, place | 0x02, place, place | 0x01, place | ISOLATED, 1 << 8};
  struct banks *b = banks_new();
  banks_event(b);
  banks_add(b, 2, 30, words, 6);
  struct sl_test *t = cluster(b);
  assert_clusters(t, 0, 30, (const struct sums[]){{2, 36, 41}}, 1);
  sl_test_free(t);
  banks_free(b);
}

static void events_without_banks_or_words_are_empty(void **state) {
  (void)state;
  struct banks *b = banks_new();
  banks_event(b);
  banks_event(b);
  banks_add(b, 2, 5, NULL, 0);
  banks_add(b, 4, 100, NULL, 0);
  struct sl_test *t = cluster(b);
  assert_int_equal(hits_of(t).offsets[2], 0);
  for (uint32_t i = 0; i < 2 * (VELO_MODULE_PAIRS + 1); i++) assert_int_equal(hits_of(t).pair_first[i], 0);
  sl_test_free(t);
  banks_free(b);
}

static void event_lists_and_later_offsets_select_events(void **state) {
  (void)state;
  struct banks *b = banks_new();
  for (uint32_t event = 0; event < 4; event++) {
    const uint32_t word = 1u | (event + 1) << 14;
    banks_event(b);
    banks_add(b, 2, 50, &word, 1);
  }
  struct geometry g;
  geometry_round(&g);
  struct sl_test *t = decoder_new("masked_clustering", b, &g);
  const uint32_t list[] = {0, 2};
  sl_test_events(t, 3); /* the last three; the list has the first and the third of them */
  sl_test_input(t, "banks", "offsets", b->offsets + 1, 4);
  sl_test_list(t, list, 2);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t offsets[] = {0, 1, 1, 2};
  assert_memory_equal(hits_of(t).offsets, offsets, sizeof offsets);
  assert_clusters(t, 0, 50, (const struct sums[]){{1, 4, 0}}, 1);
  assert_clusters(t, 2, 50, (const struct sums[]){{1, 8, 0}}, 1);
  sl_test_free(t);
  banks_free(b);
}

/* Codes of the algorithm's table. */
enum { BAD_VERSION = 1, BAD_SENSOR, BAD_SIZE, BAD_COUNT, BAD_COLUMN, TWO_BANKS, TOO_MANY };

static void invalid_banks_refuse_the_event(void **state) {
  (void)state;
  const uint32_t word = 1, beyond = 384u << 14 | 1, beyond_isolated = 511u << 14 | 1 | ISOLATED, claims[] = {9, 1};
  static const uint32_t codes[] = {BAD_VERSION, BAD_SENSOR, BAD_SIZE, BAD_COUNT, BAD_COLUMN, BAD_COLUMN, TWO_BANKS};
  struct banks *b = banks_new();
  for (uint32_t event = 0; event < 8; event++) {
    banks_event(b);
    banks_add(b, 2, 3, &word, 1);
    if (event == 0) banks_add(b, 6, 60, &word, 1);
    if (event == 1) banks_add(b, 2, 300, &word, 1);
    if (event == 2) banks_add_raw(b, 4, 60, claims, 5);
    if (event == 3) banks_add_raw(b, 2, 60, claims, 8);
    if (event == 4) banks_add(b, 2, 60, &beyond, 1);
    if (event == 5) banks_add(b, 4, 60, &beyond_isolated, 1);
    if (event == 6) banks_add(b, 4, 1, &word, 1);
    if (event == 6) banks_add(b, 4, 50, &word, 1); /* a valid bank */
  }
  static const uint32_t details[] = {60, 300, 60, 60, 60, 60, 3};
  struct sl_test *t = cluster(b);
  for (uint32_t event = 0; event < 7; event++) {
    assert_int_equal(sl_test_event_error(t, event), (uint64_t)codes[event] << 32 | details[event]);
    assert_int_equal(hits_of(t).offsets[event + 1], 0);
  }
  assert_int_equal(sl_test_event_error(t, 7), 0);
  assert_int_equal(hits_of(t).offsets[8], 1);
  sl_test_free(t);
  banks_free(b);
}

/* The hits are in many module pairs, so that sorting is fast. */
static void more_than_65535_clusters_refuse_the_event(void **state) {
  (void)state;
  enum { WORDS = 315, MOST = 65535 / 2 / WORDS }; /* words per bank; number of banks */
  uint32_t words[WORDS];
  for (uint32_t i = 0; i < WORDS; i++) words[i] = 0x09u | i % 64 << 8 | i / 64 << 14 | ISOLATED; /* two clusters each */
  struct banks *b = banks_new();
  for (uint16_t banks = MOST; banks <= MOST + 1; banks++) {
    banks_event(b);
    for (uint16_t sensor = 0; sensor < banks; sensor++) banks_add(b, 2, sensor, words, WORDS);
  }
  struct sl_test *t = cluster(b);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(hits_of(t).offsets[1], 2 * WORDS * MOST);
  assert_int_equal(sl_test_event_error(t, 1), (uint64_t)TOO_MANY << 32 | 2 * WORDS * (MOST + 1));
  assert_int_equal(hits_of(t).offsets[2], 2 * WORDS * MOST);
  sl_test_free(t);
  banks_free(b);
}

static void the_six_events_have_the_expected_number_of_clusters(void **state) {
  (void)state;
  static const uint32_t expected[] = {3681, 933, 1547, 1550, 2268, 718};
  const char *path = sample_path("lhcb/minbias.mdf");
  struct geometry g;
  if (!path) skip();
  struct sample sample = sample_open(path);
  if (!geometry_of_sample(&g)) skip();
  struct banks *b = banks_new();
  banks_of_sample(b, &sample, 63);
  struct sl_test *t = decoder_new("masked_clustering", b, &g);
  assert_int_equal(sl_test_run(t), 0);
  hits_assert_sorted(t, 6);
  for (uint32_t event = 0; event < 6; event++)
    assert_int_equal(hits_of(t).offsets[event + 1] - hits_of(t).offsets[event], expected[event]);
  sl_test_free(t);
  banks_free(b);
  sample_close(&sample);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_position_of_a_single_pixel_is_its_centre),
      cmocka_unit_test(the_position_of_two_pixels_is_their_middle_also_across_chips),
      cmocka_unit_test(pixels_that_touch_at_a_corner_are_one_cluster),
      cmocka_unit_test(pixels_two_apart_are_two_clusters_also_in_one_super_pixel),
      cmocka_unit_test(a_super_pixel_joins_two_pixels_of_its_neighbour),
      cmocka_unit_test(rows_and_columns_do_not_wrap_around_at_the_edges),
      cmocka_unit_test(long_and_winding_clusters_are_found_as_one),
      cmocka_unit_test(a_fully_hit_sensor_is_one_cluster),
      cmocka_unit_test(clusters_of_random_pixels_equal_the_plain_version),
      cmocka_unit_test(version_4_separates_the_sensors_of_a_pair),
      cmocka_unit_test(version_2_has_no_second_sensor),
      cmocka_unit_test(a_wrong_isolated_flag_splits_only_its_cluster),
      cmocka_unit_test(words_of_one_super_pixel_are_merged_and_empty_words_ignored),
      cmocka_unit_test(events_without_banks_or_words_are_empty),
      cmocka_unit_test(event_lists_and_later_offsets_select_events),
      cmocka_unit_test(invalid_banks_refuse_the_event),
      cmocka_unit_test(more_than_65535_clusters_refuse_the_event),
      cmocka_unit_test(the_six_events_have_the_expected_number_of_clusters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
