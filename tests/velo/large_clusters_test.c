/* large_clusters_test.c: velo.large_superpixel_clusters against a flood fill over random pixels, and
 * velo.large_retina_clusters with words of known patterns. */
#include "banks_case.h"
#include "masked_clustering_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS_MAX = 4000, HITS_MAX = 20000 };
struct tracks {
  uint32_t count, offsets[TEST_EVENTS_MAX + 1];
  uint32_t hit_offsets[TRACKS_MAX + 1], hit_id[HITS_MAX], pixels[HITS_MAX];
};
static struct tracks tracks;
static struct banks_case banks;

static void begin(void) {
  memset(&tracks, 0, sizeof tracks);
  memset(&banks, 0, sizeof banks);
}

static void add_hit(uint32_t sensor, uint32_t column, uint32_t row, uint32_t flags, uint32_t pixels) {
  const uint32_t h = tracks.hit_offsets[tracks.count + 1]++;
  tracks.hit_id[h] = 2u << 28 | flags << 26 | sensor << 18 | column << 8 | row;
  tracks.pixels[h] = pixels;
}

static void end_track(void) {
  tracks.count++;
  tracks.hit_offsets[tracks.count + 1] = tracks.hit_offsets[tracks.count];
}

static void end_event(void) { tracks.offsets[banks.event_count] = tracks.count; }

/* Runs the algorithm and checks each track. */
static uint32_t check(const char *algorithm, uint32_t min_pixels, uint32_t block) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, algorithm);
  uint32_t found = 0;
  banks_give(t, "banks", &banks);
  sl_test_input(t, "tracks", "offsets", tracks.offsets, banks.event_count + 1);
  sl_test_input(t, "tracks", "hit_offsets", tracks.hit_offsets, tracks.count + 1);
  sl_test_input(t, "tracks", "hit_id", tracks.hit_id, tracks.hit_offsets[tracks.count]);
  sl_test_set(t, "min_pixels", min_pixels);
  sl_test_block(t, block);
  if (sl_test_run(t) != 0) fail_msg("%s", sl_test_messages(t));
  const uint8_t *hits = sl_test_output(t, "large_clusters", "hits");
  for (uint32_t i = 0; i < tracks.count; i++) {
    uint32_t expected = 0;
    for (uint32_t h = tracks.hit_offsets[i]; h < tracks.hit_offsets[i + 1]; h++)
      expected += tracks.pixels[h] >= min_pixels;
    if (hits[i] != expected)
      fail_msg("%s, min_pixels %u: track %u has %u, expected %u", algorithm, min_pixels, i, hits[i], expected);
    found += expected;
  }
  sl_test_free(t);
  return found;
}

/* ------------------------------------------------------------------------------------------------ super-pixels */

static uint32_t random_state = 7;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

static uint32_t words_of(const struct pixels *p, uint32_t second, uint32_t *words) {
  uint32_t count = 0;
  for (uint32_t column = 0; column < COLUMNS / 2; column++)
    for (uint32_t row = 0; row < ROWS / 4; row++) {
      uint32_t mask = 0;
      for (uint32_t bit = 0; bit < 8; bit++)
        mask |= (uint32_t)p->hit[1 + 2 * column + bit / 4][1 + 4 * row + bit % 4] << bit;
      if (mask) words[count++] = mask | row << 8 | column << 14 | second << 23;
    }
  return count;
}

/* Adds a track with all clusters of some pixels on a sensor. A pixel that is the centre of two clusters is left out. */
static void add_clusters(struct pixels *p, uint32_t sensor) {
  static struct sums sums[COLUMNS * ROWS];
  const uint32_t count = clustering_find(p, sums);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t most = sums[i].pixels;
    const uint32_t column = sums[i].columns / sums[i].pixels, row = sums[i].rows / sums[i].pixels;
    for (uint32_t k = 0; k < count; k++)
      if (sums[k].columns / sums[k].pixels == column && sums[k].rows / sums[k].pixels == row && sums[k].pixels > most)
        most = sums[k].pixels;
    add_hit(sensor, column, row, random_below(4), most);
    if (i % 6 == 5) end_track();
  }
  add_hit(sensor, 767, 255, 0, 0); /* no cluster */
  end_track();
}

static void large_clusters_of_superpixels_equal_those_of_a_flood_fill(void **state) {
  (void)state;
  static struct pixels pixels[2];
  static uint32_t words[TEST_WORDS_MAX];
  begin();
  for (uint32_t event = 0; event < 4; event++) {
    const uint8_t version = event % 2 ? 4 : 2;
    banks_event(&banks);
    for (uint32_t sensor = event; event != 2 && sensor < 208; sensor += version == 4 ? 49 : 51) {
      uint32_t count = version == 4 ? 0 : 1;
      memset(pixels, 0, sizeof pixels);
      for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < 600; i++)
          pixels[k].hit[1 + 600 + random_below(40)][1 + 200 + random_below(30)] = random_below(2) == 0;
      const uint32_t first = version == 4 ? sensor & ~1u : sensor;
      count += words_of(&pixels[0], 0, words + count);
      if (version == 4) count += words_of(&pixels[1], 1, words + count);
      if (version != 4) words[0] = count - 1;
      banks_add(&banks, version, (uint16_t)(version == 4 ? 2 << 11 | first / 2 : first), words, 4 * count);
      add_clusters(&pixels[0], first);
      if (version == 4) add_clusters(&pixels[1], first + 1);
    }
    end_event();
  }
  assert_true(tracks.count < TRACKS_MAX && tracks.hit_offsets[tracks.count] < HITS_MAX);
  for (uint32_t min_pixels = 1; min_pixels < 12; min_pixels++)
    assert_true(check("large_superpixel_clusters", min_pixels, 32u << min_pixels % 3) > 3);
}

/* ---------------------------------------------------------------------------------------------- retina clusters */

enum { WINDOW = 1 << 29, ISOLATED = 3 << 29 };
static const struct {
  uint32_t sensor, column_fraction, row_fraction, kind, number, pixels;
} clusters[] = {
    /* Patterns of isolated super-pixels of 2 columns and 4 rows. */
    {0, 0, 0, ISOLATED, 0, 1},  /* #     */
    {1, 0, 0, ISOLATED, 3, 3},  /* #/#/# */
    {2, 0, 2, ISOLATED, 0, 2},  /* #/#   */
    {3, 0, 2, ISOLATED, 7, 4},  /* #/#/#/# */
    {0, 2, 2, ISOLATED, 3, 4},  /* ##/## */
    {1, 2, 2, ISOLATED, 5, 5},  /* #./#./##/.# */
    {2, 2, 2, ISOLATED, 30, 5}, /* .#/.#/##/#. */
    {3, 2, 3, ISOLATED, 5, 5},  /* .#/##/## */
    {4, 1, 3, ISOLATED, 0, 4},  /* #./#./## */
    /* Patterns in windows of 3 by 3 pixels. Sensors 1 and 2 of a module have mirrored columns. */
    {4, 0, 0, WINDOW, 0, 1},  /* #     */
    {4, 0, 0, WINDOW, 2, 3},  /* ###   */
    {4, 0, 0, WINDOW, 18, 5}, /* ..#/###/#.. */
    {4, 0, 2, WINDOW, 3, 4},  /* .##/##. */
    {4, 2, 1, WINDOW, 2, 5},  /* ##/##/#. */
    {4, 2, 2, WINDOW, 2, 4},  /* ##/## */
    {4, 2, 3, WINDOW, 1, 5},  /* #./##/## */
    {4, 1, 3, WINDOW, 0, 4},  /* #./#./## */
    {4, 1, 3, WINDOW, 1, 3},  /* ##/#. */
    {4, 3, 3, WINDOW, 0, 3},  /* ##/.# */
    {4, 3, 3, WINDOW, 1, 4},  /* .#/.#/## */
    {4, 3, 3, WINDOW, 11, 4}, /* ###/#.. */
    {5, 1, 3, WINDOW, 0, 3},  /* ##/#. */
    {5, 1, 3, WINDOW, 1, 4},  /* #./#./## */
    {5, 3, 3, WINDOW, 1, 3},  /* ##/.# */
    {5, 1, 2, WINDOW, 5, 5},  /* ###/.## */
    {5, 3, 0, WINDOW, 8, 4},  /* #../##./..# */
    {6, 3, 3, WINDOW, 0, 4},  /* .#/.#/## */
    {6, 3, 3, WINDOW, 1, 3},  /* ##/.# */
    {6, 2, 3, WINDOW, 1, 5},  /* .#/##/## */
    {6, 0, 1, WINDOW, 5, 4},  /* ##./.#./..# */
    {7, 0, 0, WINDOW, 12, 5}, /* .##/.#./##. */
    {7, 3, 3, WINDOW, 0, 3},  /* ##/.# */
    {7, 3, 3, WINDOW, 1, 4},  /* .#/.#/## */
};
enum { CLUSTER_COUNT = sizeof clusters / sizeof clusters[0] };

static uint32_t word_of(uint32_t i, uint32_t column, uint32_t row) {
  return clusters[i].kind | clusters[i].number << 23 | column << 12 | clusters[i].column_fraction << 10 | row << 2 |
         clusters[i].row_fraction;
}

/* Adds the words of one sensor and a track with a hit for each. */
static uint32_t add_words(uint32_t sensor, uint32_t second, uint32_t *words) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < CLUSTER_COUNT; i++) {
    const uint32_t column = 20 * i, row = (7 * i) % 256;
    if (clusters[i].sensor != sensor) continue;
    words[count++] = word_of(i, column, row) | second << 22;
    add_hit(sensor, column, row, (clusters[i].column_fraction > 0) << 1 | (clusters[i].row_fraction > 0),
            clusters[i].pixels);
  }
  add_hit(sensor, 3, 3, 0, 0); /* no cluster */
  end_track();
  return count;
}

static void patterns_of_retina_words_give_the_pixels(void **state) {
  (void)state;
  uint32_t words[1 + 2 * CLUSTER_COUNT];
  begin();
  banks_event(&banks);
  for (uint32_t sensor = 8; sensor-- > 0;) { /* banks in any order */
    words[0] = add_words(sensor, 0, words + 1);
    banks_add(&banks, 3, (uint16_t)sensor, words, 4 * (words[0] + 1));
  }
  end_event();
  banks_event(&banks);
  end_event();
  banks_event(&banks);
  for (uint32_t sensor = 0; sensor < 8; sensor += 2) {
    const uint32_t first = add_words(sensor, 0, words), second = add_words(sensor + 1, 1, words + first);
    banks_add(&banks, 4, (uint16_t)(2 << 11 | sensor / 2), words, 4 * (first + second));
  }
  end_event();
  for (uint32_t min_pixels = 1; min_pixels < 7; min_pixels++)
    assert_true(check("large_retina_clusters", min_pixels, 32u << min_pixels % 3) > 0 || min_pixels > 5);
}

/* Words of version 2 have no pattern. If two words have one LHCbID, the larger cluster counts. */
static void words_without_pattern_and_equal_ids_are_defined(void **state) {
  (void)state;
  const uint32_t version_2[] = {1, 5 << 14 | 5 << 3};
  const uint32_t equal[] = {3, ISOLATED | 4 << 23 | 30 << 12 | 1 << 10 | 9 << 2 | 1,
                            ISOLATED | 30 << 12 | 3 << 10 | 9 << 2 | 1, 0};
  begin();
  banks_event(&banks);
  banks_add(&banks, 2, 9, version_2, sizeof version_2);
  banks_add(&banks, 3, 12, equal, sizeof equal);
  add_hit(9, 5, 5, 0, 0);
  add_hit(12, 30, 9, 3, 4); /* ##/#./#. and .#/## */
  end_track();
  end_event();
  for (uint32_t min_pixels = 1; min_pixels < 6; min_pixels++) (void)check("large_retina_clusters", min_pixels, 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_clusters_of_superpixels_equal_those_of_a_flood_fill),
      cmocka_unit_test(patterns_of_retina_words_give_the_pixels),
      cmocka_unit_test(words_without_pattern_and_equal_ids_are_defined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
