/* Order of the hits of velo.decode_retina and velo.masked_clustering against a plain sort of the words: module pairs of
 * all lengths, ties of azimuth and of id, words that make no hits; the shared version and the version tuned for the
 * target.
 */
#include "velo_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS_OF_A_BANK = 16381, MOST_HITS = 65535 };

/* ---------------------------------------------------------------------------------------- expected hits */

/* `order`: the third sort key, after phi and id: the word, or the index of a super-pixel. */
struct hit {
  int16_t phi;
  uint32_t id, order;
  float x, y, z;
};

static int compare_hits(const void *a, const void *b) {
  const struct hit *i = a, *j = b;
  if (i->phi != j->phi) return i->phi < j->phi ? -1 : 1;
  if (i->id != j->id) return i->id < j->id ? -1 : 1;
  return i->order < j->order ? -1 : i->order > j->order;
}

/* "Azimuth and order" in the plugin's README.md. */
static int16_t azimuth(float x, float y) {
  const float abs_y = y < 0 ? -y : y;
  const float t =
      x > 0 ? 8192.0f - 8192.0f * ((x - abs_y) / (x + abs_y)) : 24576.0f - 8192.0f * ((x + abs_y) / (abs_y - x));
  return (int16_t)(uint16_t)(int32_t)(y < 0 ? -t : t);
}

static struct hit hit_at(const struct geometry *g, uint32_t sensor, uint32_t column, uint32_t column_eighths,
                         uint32_t row, uint32_t row_eighths) {
  const float *t = g->transform + 12 * sensor;
  const float local_x = g->local_x[column] + (float)column_eighths * 0.125f * g->x_pitch[column];
  const float local_y = ((float)row + 0.5f + (float)row_eighths * 0.125f) * 0.055f;
  struct hit h = {0, 2u << 28 | sensor << 18 | column << 8 | row, 0, 0, 0, 0};
  h.x = t[0] * local_x + t[1] * local_y + t[9];
  h.y = t[3] * local_x + t[4] * local_y + t[10];
  h.z = t[6] * local_x + t[7] * local_y + t[11];
  h.phi = azimuth(h.x, h.y);
  return h;
}

/* -------------------------------------------------------------------------------------------- geometries */

/* z distinguishes hits of equal azimuth and id: it grows with column, row and fractions. */
enum layout {
  AROUND,       /* all azimuths */
  ONE_A_SENSOR, /* equal azimuths in a sensor, and in the fourth one after it */
  ONE_A_COLUMN, /* fractions do not change the azimuth */
  CLOSE_TO_PI   /* azimuths differ by few units, at both ends of their range */
};

static void geometry_of(struct geometry *g, enum layout layout) {
  geometry_round(g);
  for (uint32_t s = 0; s < VELO_SENSORS; s++) {
    float *t = g->transform + 12 * s;
    memset(t, 0, 12 * sizeof *t);
    t[6] = layout == ONE_A_COLUMN ? 0.0f : 64.0f;
    t[7] = 1.0f;
    if (layout == AROUND) {
      t[0] = 1.0f; /* x and y between -388 and 388 */
      t[4] = 55.0f;
      t[9] = -384.0f;
      t[10] = -388.0f;
    } else if (layout == ONE_A_SENSOR) {
      t[9] = s % 4 == 1 ? -3.0f : 2.0f;
      t[10] = s % 4 == 2 ? -1.0f : 5.0f;
    } else if (layout == ONE_A_COLUMN) {
      t[0] = 1.0f;
      t[3] = 2.0f;
      t[9] = -384.0f;
      t[10] = -500.0f;
    } else {
      t[3] = s % 2 ? -1.0f : 1.0f;
      t[9] = -16384.0f;
      t[10] = 0.25f;
    }
  }
  for (uint32_t c = 0; layout == ONE_A_COLUMN && c < VELO_SENSOR_COLUMNS; c++) g->x_pitch[c] = 0.0f;
}

/* ------------------------------------------------------------------------------------------------- words */

enum { SUPERPIXELS = 102 }; /* in addition to the versions of retina banks: super-pixels, in banks of version 2 */

/* How random words are made. */
struct recipe {
  enum layout layout;
  uint32_t version;         /* version of the banks, or SUPERPIXELS */
  uint32_t columns, rows;   /* number of values of each, powers of two; columns up to 256 */
  uint32_t fractions, tops; /* number of values of fractions, and of higher bits */
  uint32_t zeros;           /* one word in `zeros` is 0; 0: none, 1: all */
};

#define ANYWHERE      .columns = 256, .rows = 256, .fractions = 8, .tops = 128
#define IN_FEW_PLACES .columns = 2, .rows = 1, .fractions = 8, .tops = 128

static const uint32_t all_versions[] = {2, 3, 4, SUPERPIXELS};
enum { VERSIONS = sizeof all_versions / sizeof *all_versions };

static uint32_t draw(uint32_t *seed, uint32_t values) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return (uint32_t)((uint64_t)*seed * values >> 32);
}

/* A word of a retina bank, and its hit. */
static uint32_t draw_word(const struct recipe *r, const struct geometry *g, uint32_t sensor, uint32_t *seed,
                          struct hit *hit) {
  const uint32_t chip = r->columns == 256 ? draw(seed, 3) : 0;
  const uint32_t column = 256 * chip + draw(seed, r->columns) * (256 / r->columns);
  const uint32_t row = draw(seed, r->rows) * (256 / r->rows), top = draw(seed, r->tops);
  const uint32_t is_second = r->version == 4 ? draw(seed, 2) : 0;
  uint32_t column_fraction = draw(seed, r->fractions), row_fraction = draw(seed, r->fractions);
  if (r->version == 2) {
    *hit = hit_at(g, sensor, column, column_fraction, row, row_fraction);
    hit->order = top << 24 | column << 14 | column_fraction << 11 | row << 3 | row_fraction;
  } else {
    column_fraction %= 4;
    row_fraction %= 4;
    *hit = hit_at(g, sensor + is_second, column, 2 * column_fraction, row, 2 * row_fraction);
    hit->id |= (column_fraction ? 1u << 27 : 0u) | (row_fraction ? 1u << 26 : 0u);
    hit->order = top << 23 | is_second << 22 | column << 12 | column_fraction << 10 | row << 2 | row_fraction;
  }
  return hit->order;
}

/* A super-pixel with one cluster, and its hit: the lower left pixel and optionally the pixels above and to the
 * right. */
static uint32_t draw_superpixel(const struct recipe *r, const struct geometry *g, uint32_t sensor, uint32_t *seed,
                                struct hit *hit) {
  const uint32_t column = draw(seed, r->columns) * (256 / r->columns) & ~1u;
  const uint32_t row = draw(seed, r->rows) * (256 / r->rows) & ~3u;
  const uint32_t has_above = draw(seed, r->fractions) % 2, has_beside = draw(seed, r->fractions) % 2;
  const uint32_t mask = (has_above ? 3u : 1u) * (has_beside ? 0x11u : 1u);
  *hit = hit_at(g, sensor, column, has_beside ? 4 : 0, row, has_above ? 4 : 0);
  return 1u << 31 | draw(seed, r->tops) << 24 | column / 2 << 14 | row / 4 << 8 | mask;
}

/* ------------------------------------------------------------------------------------------------- input */

struct input {
  struct recipe recipe;
  struct geometry geometry;
  struct banks *banks;
  struct hit *hits; /* sorted within each pair */
  uint32_t count, space, seed;
  uint32_t first[TEST_MAX_EVENTS * VELO_MODULE_PAIRS + 1]; /* first hit of each pair of each event */
};

static struct input *input_new(const struct recipe *recipe) {
  struct input *in = calloc(1, sizeof *in);
  assert_non_null(in);
  in->recipe = *recipe;
  in->banks = banks_new();
  in->seed = 20260607;
  geometry_of(&in->geometry, recipe->layout);
  return in;
}

static void input_free(struct input *in) {
  banks_free(in->banks);
  free(in->hits);
  free(in);
}

static void add_hit(struct input *in, const struct hit *hit) {
  if (in->count == in->space) {
    in->space = 2 * in->space + 1000;
    in->hits = realloc(in->hits, in->space * sizeof *in->hits);
    assert_non_null(in->hits);
  }
  in->hits[in->count++] = *hit;
}

/* Adds a bank of `count` random words to its pair; its hits begin at `begin`. */
static void add_bank(struct input *in, uint32_t source_id, uint32_t sensor, uint32_t count, uint32_t begin) {
  static uint32_t words[MOST_WORDS_OF_A_BANK];
  const struct recipe *r = &in->recipe;
  assert_true(count <= MOST_WORDS_OF_A_BANK);
  for (uint32_t i = 0; i < count; i++) {
    struct hit hit;
    const int is_zero = r->zeros && draw(&in->seed, r->zeros) == 0;
    if (r->version == SUPERPIXELS) {
      words[i] = draw_superpixel(r, &in->geometry, sensor, &in->seed, &hit);
      hit.order = in->count - begin;
      if (is_zero) words[i] &= ~0xFFu;
      if (!is_zero) add_hit(in, &hit);
    } else {
      words[i] = draw_word(r, &in->geometry, sensor, &in->seed, &hit);
      if (is_zero) words[i] = 0;
      if (words[i] != 0) add_hit(in, &hit);
    }
  }
  banks_add(in->banks, (uint8_t)(r->version == SUPERPIXELS ? 2 : r->version), (uint16_t)source_id, words, count);
}

/* Adds `count` random words, distributed over the banks of a pair. */
static void add_pair(struct input *in, uint32_t pair, uint32_t count) {
  const uint32_t sensors = in->recipe.version == 4 ? 2 : 1, banks = 8 / sensors;
  uint32_t *first = in->first + (in->banks->event_count - 1) * VELO_MODULE_PAIRS + pair, left = count;
  first[0] = in->count;
  for (uint32_t bank = 0; bank < banks; bank++) {
    const uint32_t share = left / (banks - bank), source_id = pair * banks + bank;
    const uint32_t words = bank + 1 == banks ? left : share / 2 + draw(&in->seed, share + 1);
    add_bank(in, source_id, source_id * sensors, words, first[0]);
    left -= words;
  }
  first[1] = in->count;
  if (in->count > first[0]) qsort(in->hits + first[0], in->count - first[0], sizeof *in->hits, compare_hits);
}

/* Adds an event with counts[p] words in pair p. */
static void add_event(struct input *in, const uint32_t *counts) {
  banks_event(in->banks);
  for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) add_pair(in, pair, counts[pair]);
}

static void add_event_of(struct input *in, uint32_t most) {
  uint32_t counts[VELO_MODULE_PAIRS];
  for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) counts[pair] = draw(&in->seed, most + 1);
  add_event(in, counts);
}

static uint32_t hits_of_event(const struct input *in, uint32_t event) {
  return in->first[(event + 1) * VELO_MODULE_PAIRS] - in->first[event * VELO_MODULE_PAIRS];
}

/* -------------------------------------------------------------------------------------------- comparison */

static struct sl_test *prepare(const struct input *in, int shared) {
  const char *algorithm = in->recipe.version == SUPERPIXELS ? "masked_clustering" : "decode_retina";
  struct sl_test *t = decoder_new(algorithm, in->banks, &in->geometry);
  sl_test_shared(t, shared);
  return t;
}

static int is_hit(const struct hits *h, uint32_t i, const struct hit *hit) {
  return h->phi[i] == hit->phi && h->id[i] == hit->id && h->x[i] == hit->x && h->y[i] == hit->y && h->z[i] == hit->z;
}

/* Event `number` of the output has the hits of event `event` of the input. */
static void assert_event(const struct sl_test *t, uint32_t number, const struct input *in, uint32_t event) {
  const struct hits h = hits_of(t);
  const uint32_t *pair_first = h.pair_first + number * (VELO_MODULE_PAIRS + 1),
                 *first = in->first + event * VELO_MODULE_PAIRS;
  assert_int_equal(sl_test_event_error(t, number), 0);
  assert_int_equal(h.offsets[number + 1] - h.offsets[number], hits_of_event(in, event));
  for (uint32_t pair = 0; pair <= VELO_MODULE_PAIRS; pair++) assert_int_equal(pair_first[pair], first[pair] - first[0]);
  for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++)
    for (uint32_t i = first[pair]; i < first[pair + 1]; i++)
      if (!is_hit(&h, h.offsets[number] + i - first[0], in->hits + i))
        fail_msg("event %u, pair %u: hit %u of %u is another", event, pair, i - first[pair],
                 first[pair + 1] - first[pair]);
}

static void assert_empty(const struct sl_test *t, uint32_t number) {
  const struct hits h = hits_of(t);
  assert_int_equal(h.offsets[number + 1], h.offsets[number]);
  for (uint32_t i = 0; i <= VELO_MODULE_PAIRS; i++)
    assert_int_equal(h.pair_first[number * (VELO_MODULE_PAIRS + 1) + i], 0);
}

/* Compares the first `count` events: events on the list have their hits, the others none. */
static void assert_listed(const struct sl_test *t, const struct input *in, uint32_t count, const uint32_t *list,
                          uint32_t listed) {
  for (uint32_t event = 0, next = 0; event < count; event++) {
    if (next < listed && list[next] == event) {
      assert_event(t, event, in, event);
      next++;
    } else {
      assert_empty(t, event);
    }
  }
}

/* Both versions sort all events correctly. Frees the input. */
static void assert_sorted(struct input *in) {
  for (int shared = 0; shared < 2; shared++) {
    struct sl_test *t = prepare(in, shared);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(hits_of(t).offsets[0], 0);
    for (uint32_t event = 0; event < in->banks->event_count; event++) assert_event(t, event, in, event);
    sl_test_free(t);
  }
  input_free(in);
}

/* Events of a recipe with up to `most` words per pair, for every kind of bank. */
static void assert_random(uint32_t most, struct recipe recipe) {
  for (uint32_t v = 0; v < VERSIONS; v++) {
    recipe.version = all_versions[v];
    struct input *in = input_new(&recipe);
    for (uint32_t event = 0; event < 4; event++) add_event_of(in, most);
    assert_sorted(in);
  }
}

/* Events of usual size, in banks of this version. */
static struct input *usual_input(uint32_t version, uint32_t events) {
  struct input *in = input_new(&(struct recipe){AROUND, version, ANYWHERE});
  for (uint32_t event = 0; event < events; event++) add_event_of(in, 40);
  return in;
}

/* One event with all words in pair 12. */
static void assert_one_pair(uint32_t count, struct recipe recipe) {
  uint32_t counts[VELO_MODULE_PAIRS] = {0};
  struct input *in = input_new(&recipe);
  counts[12] = count;
  add_event(in, counts);
  assert_sorted(in);
}

/* ------------------------------------------------------------------------------------------------- tests */

static void hits_are_sorted_by_signed_phi(void **state) {
  (void)state;
  assert_random(110, (struct recipe){AROUND, ANYWHERE});
}

static void close_phi_are_sorted(void **state) {
  (void)state;
  assert_random(110, (struct recipe){CLOSE_TO_PI, ANYWHERE});
}

static void pairs_of_every_length_are_sorted(void **state) {
  (void)state;
  static const enum layout layouts[] = {AROUND, ONE_A_SENSOR};
  for (uint32_t v = 0; v < VERSIONS; v++)
    for (size_t l = 0; l < 2; l++) {
      struct input *in = input_new(&(struct recipe){layouts[l], all_versions[v], ANYWHERE});
      for (uint32_t event = 0; event < 3; event++) {
        uint32_t counts[VELO_MODULE_PAIRS];
        for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) counts[pair] = event * VELO_MODULE_PAIRS + pair;
        add_event(in, counts);
      }
      assert_sorted(in);
    }
}

static void equal_phi_is_ordered_by_id(void **state) {
  (void)state;
  assert_random(110, (struct recipe){ONE_A_SENSOR, .columns = 256, .rows = 256, .fractions = 1, .tops = 1});
  assert_random(110, (struct recipe){ONE_A_COLUMN, .columns = 16, .rows = 64, .fractions = 1, .tops = 1});
}

static void equal_phi_and_id_are_ordered_by_the_raw_word(void **state) {
  (void)state;
  assert_random(110, (struct recipe){ONE_A_SENSOR, IN_FEW_PLACES});
  assert_random(110, (struct recipe){ONE_A_SENSOR, .columns = 2, .rows = 1, .fractions = 8, .tops = 1});
  assert_random(110, (struct recipe){ONE_A_COLUMN, .columns = 8, .rows = 1, .fractions = 8, .tops = 128});
}

static void equal_words_are_all_kept(void **state) {
  (void)state;
  assert_random(140, (struct recipe){ONE_A_SENSOR, .columns = 2, .rows = 2, .fractions = 1, .tops = 1});
  assert_random(140, (struct recipe){AROUND, .columns = 1, .rows = 2, .fractions = 1, .tops = 1});
}

static void words_without_a_hit_are_ignored(void **state) {
  (void)state;
  for (uint32_t zeros = 1; zeros <= 4; zeros++) {
    assert_random(150, (struct recipe){AROUND, ANYWHERE, .zeros = zeros});
    assert_random(150, (struct recipe){ONE_A_SENSOR, IN_FEW_PLACES, .zeros = zeros});
  }
}

/* Limits: a warp sorts 32 or 64 words in one row of keys, then in 2, 4 and 8 rows; its shared memory has room for 512
 * words, and for the hits of 128. The CPU version sorts blocks of 64 words with vectors, up to 1024 words. */
static void pairs_around_the_limits_of_each_method_are_sorted(void **state) {
  (void)state;
  static const uint32_t sizes[] = {32, 64, 128, 256, 512, 1024};
  static const struct recipe recipes[] = {{AROUND, ANYWHERE},
                                          {ONE_A_SENSOR, IN_FEW_PLACES},
                                          {ONE_A_COLUMN, ANYWHERE},
                                          {AROUND, ANYWHERE, .zeros = 9},
                                          {ONE_A_SENSOR, IN_FEW_PLACES, .zeros = 3}};
  for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++)
    for (uint32_t v = 0; v < VERSIONS; v++) {
      struct recipe recipe = recipes[r];
      recipe.version = all_versions[v];
      struct input *in = input_new(&recipe);
      for (uint32_t event = 0; event < 2; event++) {
        uint32_t counts[VELO_MODULE_PAIRS] = {0};
        for (uint32_t s = 0; s < 6; s++) /* from two below the limit to three above; three sizes per event */
          for (uint32_t k = 0; k < 3; k++) counts[4 * s + k] = sizes[s] - 2 + 3 * event + k;
        add_event(in, counts);
      }
      assert_sorted(in);
    }
}

/* Sizes between and beyond these limits. */
static void larger_pairs_are_sorted(void **state) {
  (void)state;
  assert_random(530, (struct recipe){AROUND, ANYWHERE});
  assert_random(530, (struct recipe){ONE_A_SENSOR, IN_FEW_PLACES, .zeros = 5});
  assert_random(1400, (struct recipe){AROUND, ANYWHERE});
}

/* Sorting in global memory is slow for one warp under a checking tool, which can set a limit. */
static uint32_t limited(uint32_t count) {
  const char *limit = getenv("SLUICE_TEST_LARGEST");
  const uint32_t largest = limit ? (uint32_t)strtoul(limit, NULL, 10) : count;
  if (largest >= count) return count;
  printf("           with %u words instead of %u\n", largest, count);
  return largest;
}

static void a_pair_with_all_hits_of_a_full_event_is_sorted(void **state) {
  (void)state;
  assert_one_pair(limited(MOST_HITS), (struct recipe){AROUND, 3, ANYWHERE});
  assert_one_pair(limited(MOST_HITS / 2), (struct recipe){AROUND, SUPERPIXELS, ANYWHERE});
}

static void a_pair_of_a_full_event_with_equal_phi_is_sorted(void **state) {
  (void)state;
  assert_one_pair(limited(MOST_HITS), (struct recipe){ONE_A_SENSOR, 2, IN_FEW_PLACES});
}

static void events_without_hits_are_empty(void **state) {
  (void)state;
  const uint32_t none[VELO_MODULE_PAIRS] = {0}, word = 1u << 12, list[] = {0, 2, 5};
  for (uint32_t v = 0; v < VERSIONS; v++) {
    struct input *in = usual_input(all_versions[v], 1);
    add_event(in, none);
    add_event_of(in, 40);
    in->recipe.zeros = 1; /* words, but no hits */
    add_event_of(in, 40);
    in->recipe.zeros = 0;
    add_event_of(in, 40); /* must be refused */
    banks_add(in->banks, 7, 11, &word, 1);
    add_event_of(in, 40);
    for (int shared = 0; shared < 2; shared++) {
      struct sl_test *t = prepare(in, shared);
      assert_int_equal(sl_test_run(t), 0);
      assert_listed(t, in, 6, list, 3);
      for (uint32_t event = 0; event < 6; event++) assert_int_equal(sl_test_event_error(t, event) != 0, event == 4);
      sl_test_free(t);
    }
    input_free(in);
  }
}

static void offsets_may_begin_after_the_first_bank(void **state) {
  (void)state;
  for (uint32_t v = 0; v < VERSIONS; v++) {
    struct input *in = usual_input(all_versions[v], 4);
    for (int shared = 0; shared < 2; shared++) {
      struct sl_test *t = prepare(in, shared);
      sl_test_events(t, 2); /* the last two events only */
      sl_test_input(t, "banks", "offsets", in->banks->offsets + 2, 3);
      assert_int_equal(sl_test_run(t), 0);
      assert_event(t, 0, in, 2);
      assert_event(t, 1, in, 3);
      sl_test_free(t);
    }
    input_free(in);
  }
}

static void events_not_listed_are_empty(void **state) {
  (void)state;
  const uint32_t list[] = {1, 2, 5};
  for (uint32_t v = 0; v < VERSIONS; v++) {
    struct input *in = usual_input(all_versions[v], 7);
    for (int shared = 0; shared < 2; shared++) {
      struct sl_test *t = prepare(in, shared);
      sl_test_list(t, list, 3);
      assert_int_equal(sl_test_run(t), 0);
      assert_listed(t, in, 7, list, 3);
      sl_test_free(t);
    }
    input_free(in);
  }
}

static void an_overflow_is_reported_and_nothing_is_written(void **state) {
  (void)state;
  const uint32_t both[] = {0, 1};
  for (uint32_t v = 0; v < VERSIONS; v++) {
    struct input *in = usual_input(all_versions[v], 2);
    for (int shared = 0; shared < 2; shared++)
      for (uint32_t missing = 0; missing < 2; missing++) {
        struct sl_test *t = prepare(in, shared);
        sl_test_budget(t, "hits", in->count - missing);
        assert_int_equal(sl_test_run(t), 0);
        assert_int_equal(sl_test_used(t, "hits"), in->count);
        assert_int_equal(hits_of(t).offsets[0], 0);
        assert_listed(t, in, 2, both, missing ? 0 : 2);
        sl_test_free(t);
      }
    input_free(in);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_are_sorted_by_signed_phi),
      cmocka_unit_test(close_phi_are_sorted),
      cmocka_unit_test(pairs_of_every_length_are_sorted),
      cmocka_unit_test(equal_phi_is_ordered_by_id),
      cmocka_unit_test(equal_phi_and_id_are_ordered_by_the_raw_word),
      cmocka_unit_test(equal_words_are_all_kept),
      cmocka_unit_test(words_without_a_hit_are_ignored),
      cmocka_unit_test(pairs_around_the_limits_of_each_method_are_sorted),
      cmocka_unit_test(larger_pairs_are_sorted),
      cmocka_unit_test(a_pair_with_all_hits_of_a_full_event_is_sorted),
      cmocka_unit_test(a_pair_of_a_full_event_with_equal_phi_is_sorted),
      cmocka_unit_test(events_without_hits_are_empty),
      cmocka_unit_test(offsets_may_begin_after_the_first_bank),
      cmocka_unit_test(events_not_listed_are_empty),
      cmocka_unit_test(an_overflow_is_reported_and_nothing_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
