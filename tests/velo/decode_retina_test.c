/* velo.decode_retina: constructed words of each bank version, banks in any order, and the samples. */
#include "decode_retina_case.h"

#include <stdlib.h>
#include <string.h>

static uint32_t word_2(uint32_t column, uint32_t eighths_x, uint32_t row, uint32_t eighths_y) {
  return column << 14 | eighths_x << 11 | row << 3 | eighths_y;
}

/* ----------------------------------------------------------------------------------------------- words */

static void version_3_has_quarters_and_flags_for_them(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(300, 3, 17, 0), word_3(12, 0, 255, 1), word_3(700, 0, 0, 0),
                            0x7FC00000u | word_3(5, 1, 6, 3)}; /* with firmware flags */
  banks_event(b);
  banks_add(b, 3, 9, words, 4);
  struct sl_test *t = decode(b, state);
  const struct hits h = hits_of(t);
  assert_int_equal(h.offsets[1], 4);
  assert_int_equal(h.pair_first[1], 0);
  assert_int_equal(hits_in(t, 0, 1), 4);
  assert_hit(t, 0, 2u << 28 | 1u << 27 | 9u << 18 | 1u << 16 | 44u << 8 | 17u, 9, 300.75f, 17.0f);
  assert_hit(t, 0, 2u << 28 | 1u << 26 | 9u << 18 | 0u << 16 | 12u << 8 | 255u, 9, 12.0f, 255.25f);
  assert_hit(t, 0, 2u << 28 | 9u << 18 | 2u << 16 | 188u << 8 | 0u, 9, 700.0f, 0.0f);
  assert_hit(t, 0, 2u << 28 | 3u << 26 | 9u << 18 | 0u << 16 | 5u << 8 | 6u, 9, 5.25f, 6.75f);
  sl_test_free(t);
  banks_free(b);
}

static void version_2_has_eighths_and_no_flags(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_2(300, 5, 17, 0), word_2(767, 0, 255, 7)};
  banks_event(b);
  banks_add(b, 2, 207, words, 2);
  struct sl_test *t = decode(b, state);
  assert_int_equal(hits_in(t, 0, 25), 2);
  assert_hit(t, 0, 2u << 28 | 207u << 18 | 1u << 16 | 44u << 8 | 17u, 207, 300.625f, 17.0f);
  assert_hit(t, 0, 2u << 28 | 207u << 18 | 2u << 16 | 255u << 8 | 255u, 207, 767.0f, 255.875f);
  sl_test_free(t);
  banks_free(b);
}

static void version_4_has_two_sensors_per_bank_and_no_count_word(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(10, 0, 1, 2), 1u << 22 | word_3(10, 0, 1, 2), word_3(11, 0, 2, 0)};
  banks_event(b);
  banks_add(b, 4, 0x1000 | 50, words, 3); /* the high bits are the subsystem */
  banks_add(b, 4, 0x1800 | 103, words, 2);
  struct sl_test *t = decode(b, state);
  assert_int_equal(hits_in(t, 0, 12), 3);
  assert_int_equal(hits_in(t, 0, 25), 2);
  assert_int_equal(hits_of(t).pair_first[25], 3);
  assert_hit(t, 0, 2u << 28 | 1u << 26 | 100u << 18 | 10u << 8 | 1u, 100, 10.0f, 1.5f);
  assert_hit(t, 0, 2u << 28 | 1u << 26 | 101u << 18 | 10u << 8 | 1u, 101, 10.0f, 1.5f);
  assert_hit(t, 0, 2u << 28 | 100u << 18 | 11u << 8 | 2u, 100, 11.0f, 2.0f);
  assert_hit(t, 0, 2u << 28 | 1u << 26 | 206u << 18 | 10u << 8 | 1u, 206, 10.0f, 1.5f);
  assert_hit(t, 0, 2u << 28 | 1u << 26 | 207u << 18 | 10u << 8 | 1u, 207, 10.0f, 1.5f);
  sl_test_free(t);
  banks_free(b);
}

static void fractions_span_the_long_pixels_at_the_chip_borders(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(254, 2, 0, 0), word_3(255, 2, 0, 0), word_3(256, 2, 0, 0), word_3(511, 1, 0, 0)};
  banks_event(b);
  banks_add(b, 3, 0, words, 4);
  struct sl_test *t = decode(b, state);
  assert_hit(t, 0, 2u << 28 | 1u << 27 | 0u << 16 | 254u << 8, 0, 254.5f, 0.0f);
  assert_hit(t, 0, 2u << 28 | 1u << 27 | 0u << 16 | 255u << 8, 0, 257.0f, 0.0f); /* half of a pitch of 4 */
  assert_hit(t, 0, 2u << 28 | 1u << 27 | 1u << 16 | 0u << 8, 0, 256.5f, 0.0f);
  assert_hit(t, 0, 2u << 28 | 1u << 27 | 1u << 16 | 255u << 8, 0, 512.0f, 0.0f);
  sl_test_free(t);
  banks_free(b);
}

static void zero_words_make_no_hits(void **state) {
  struct banks *b = banks_new();
  uint32_t words[20] = {0};
  words[3] = word_3(1, 0, 1, 0);
  words[17] = word_3(2, 0, 2, 0);
  banks_event(b);
  banks_add(b, 3, 16, words, 20);
  banks_add(b, 3, 17, words, 3); /* only zeros */
  banks_add(b, 3, 18, words + 3, 1);
  banks_add(b, 3, 24, words + 17, 1);
  banks_event(b);
  banks_add(b, 4, 0, words, 1);
  banks_event(b);
  banks_add(b, 2, 1, words + 3, 1);
  struct sl_test *t = decode(b, state);
  assert_int_equal(hits_in(t, 0, 2), 3);
  assert_int_equal(hits_in(t, 0, 3), 1);
  assert_hit(t, 0, 2u << 28 | 16u << 18 | 1u << 8 | 1u, 16, 1.0f, 1.0f);
  assert_hit(t, 0, 2u << 28 | 16u << 18 | 2u << 8 | 2u, 16, 2.0f, 2.0f);
  assert_hit(t, 0, 2u << 28 | 18u << 18 | 1u << 8 | 1u, 18, 1.0f, 1.0f);
  assert_hit(t, 0, 2u << 28 | 24u << 18 | 2u << 8 | 2u, 24, 2.0f, 2.0f);
  for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) assert_int_equal(hits_in(t, 1, pair), 0);
  assert_int_equal(hits_in(t, 2, 0), 1);
  assert_hit(t, 2, 2u << 28 | 1u << 18, 1, 0.25f, 0.5f); /* the same word in version 2 */
  for (uint32_t event = 0; event < 3; event++) assert_int_equal(sl_test_event_error(t, event), 0);
  sl_test_free(t);
  banks_free(b);
}

static void phi_is_exact_at_multiples_of_an_eighth_turn_and_wraps_at_half_a_turn(void **state) {
  static const struct {
    float x, y;
    int16_t phi;
  } places[] = {
      {1, 0, 0},           {1, 1, 8192},     {0, 1, 16384},           {-1, 1, 24576},         {-1, 0, -32768},
      {-1, -0.0f, -32768}, {-1, -1, -24576}, {0, -1, -16384},         {1, -1, -8192},         {0, 0, 0},
      {3, 1, 4096},        {-3, -1, -28672}, {-1e6f, -1e-6f, -32768}, {-1e6f, 1e-6f, -32768}, {1e6f, -1e-6f, 0},
      {-0.0f, 2, 16384}};
  struct banks *b = banks_new();
  struct geometry g;
  geometry_round(&g);
  const uint32_t word = word_3(0, 0, 0, 0) | 1u << 25; /* not zero; local x is 0 */
  banks_event(b);
  for (uint16_t s = 0; s < sizeof places / sizeof *places; s++) {
    float *transform = g.transform + 12 * s;
    banks_add(b, 3, s, &word, 1);
    memset(transform, 0, 12 * sizeof *transform);
    transform[0] = transform[1] = places[s].x < 0 || 1 / places[s].x < 0 ? -0.0f : 0.0f;
    transform[3] = transform[4] = places[s].y < 0 || 1 / places[s].y < 0 ? -0.0f : 0.0f;
    transform[9] = places[s].x;
    transform[10] = places[s].y;
  }
  struct sl_test *t = prepare(b, &g, state);
  assert_int_equal(sl_test_run(t), 0);
  const struct hits h = hits_of(t);
  hits_assert_sorted(t, 1);
  for (uint32_t s = 0; s < sizeof places / sizeof *places; s++) {
    const uint32_t i = hit_with(t, 0, 2u << 28 | s << 18);
    assert_memory_equal(&h.x[i], &places[s].x, sizeof(float));
    assert_memory_equal(&h.y[i], &places[s].y, sizeof(float));
    assert_int_equal(h.phi[i], places[s].phi);
  }
  sl_test_free(t);
  banks_free(b);
}

/* ----------------------------------------------------------------------------------------------- banks */

static void events_without_banks_or_words_are_empty_and_valid(void **state) {
  struct banks *b = banks_new();
  banks_event(b);
  banks_event(b);
  for (uint16_t sensor = 0; sensor < VELO_SENSORS; sensor++) banks_add(b, 3, sensor, NULL, 0);
  banks_event(b);
  banks_add_raw(b, 3, 5, NULL, 0); /* without a count word */
  banks_add(b, 4, 100, NULL, 0);
  struct sl_test *t = decode(b, state);
  const struct hits h = hits_of(t);
  for (uint32_t i = 0; i <= 3; i++) assert_int_equal(h.offsets[i], 0);
  for (uint32_t i = 0; i < 3 * (VELO_MODULE_PAIRS + 1); i++) assert_int_equal(h.pair_first[i], 0);
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(sl_test_event_error(t, i), 0);
  sl_test_free(t);
  banks_free(b);
}

static void a_slice_without_events_works(void **state) {
  struct banks *b = banks_new();
  struct sl_test *t = decode(b, state);
  assert_int_equal(hits_of(t).offsets[0], 0);
  sl_test_free(t);
  banks_free(b);
}

static void words_after_the_announced_count_are_ignored(void **state) {
  struct banks *b = banks_new();
  const uint32_t payload[] = {1, word_3(1, 0, 1, 0), word_3(2, 0, 2, 0), 0xFFFFFFFF};
  banks_event(b);
  banks_add_raw(b, 3, 8, payload, sizeof payload);
  struct sl_test *t = decode(b, state);
  assert_int_equal(hits_of(t).offsets[1], 1);
  assert_hit(t, 0, 2u << 28 | 8u << 18 | 1u << 8 | 1u, 8, 1.0f, 1.0f);
  sl_test_free(t);
  banks_free(b);
}

/* Adds a bank of words that depend on `seed`. */
static void add_random_bank(struct banks *b, uint8_t version, uint16_t source_id, uint32_t count, uint32_t *seed) {
  uint32_t words[1000];
  for (uint32_t i = 0; i < count; i++) {
    *seed = *seed * 1664525u + 1013904223u;
    const uint32_t column = *seed >> 8 & 0x3FF;
    const uint32_t kept = column < VELO_SENSOR_COLUMNS ? column : column - 512;
    words[i] = version == 2
                   ? word_2(kept, *seed >> 18 & 7, *seed >> 21 & 0xFF, *seed >> 5 & 7)
                   : (*seed << 20 & 1u << 22) | word_3(kept, *seed >> 18 & 3, *seed >> 21 & 0xFF, *seed >> 5 & 3);
  }
  banks_add(b, version, source_id, words, count);
}

static void both_versions_give_the_same_bytes_for_banks_of_every_length(void **state) {
  (void)state;
  struct geometry g;
  geometry_round(&g);
  for (uint32_t i = 0; i < VELO_SENSORS * 12; i++) g.transform[i] += 0.37f * (float)(i % 7) - 1.0f;
  for (uint8_t version = 2; version <= 4; version++) {
    struct banks *b = banks_new();
    uint32_t seed = 17u * version;
    for (uint32_t event = 0; event < 12; event++) {
      banks_event(b);
      for (uint16_t s = 0; s < (version == 4 ? 104 : 208); s++)
        if ((s + event) % 3) add_random_bank(b, version, s, (s * 7 + event) % 41, &seed);
    }
    struct sl_test *shared = decoder_new("decode_retina", b, &g), *tuned = decoder_new("decode_retina", b, &g);
    sl_test_shared(shared, 1);
    assert_int_equal(sl_test_run(shared), 0);
    assert_int_equal(sl_test_run(tuned), 0);
    hits_assert_sorted(shared, b->event_count);
    hits_assert_equal(shared, tuned, b->event_count);
    sl_test_free(shared);
    sl_test_free(tuned);
    banks_free(b);
  }
}

static void the_order_of_banks_does_not_change_results(void **state) {
  struct banks *forwards = banks_new(), *backwards = banks_new();
  banks_event(forwards);
  banks_event(backwards);
  for (uint16_t i = 0; i < VELO_SENSORS; i++) {
    uint32_t seed = 100u + i, same_seed = 100u + (VELO_SENSORS - 1u - i);
    add_random_bank(forwards, 3, i, i % 13, &seed);
    add_random_bank(backwards, 3, (uint16_t)(VELO_SENSORS - 1 - i), (VELO_SENSORS - 1u - i) % 13, &same_seed);
  }
  struct sl_test *a = decode(forwards, state), *c = decode(backwards, state);
  assert_true(hits_of(a).offsets[1] > 0);
  hits_assert_equal(a, c, 1);
  sl_test_free(a);
  sl_test_free(c);
  banks_free(forwards);
  banks_free(backwards);
}

/* 208 banks of one word, in order; bank `unusual` has this version, source id and word count. */
static struct banks *banks_of_all_sensors(uint16_t unusual, uint8_t version, uint16_t source_id, uint32_t announced) {
  struct banks *b = banks_new();
  banks_event(b);
  for (uint16_t i = 0; i < VELO_SENSORS; i++) {
    const uint32_t payload[] = {i == unusual ? announced : 1, word_3(i, 0, 1, 0)};
    const uint32_t is_pair = i == unusual && version == 4;
    banks_add_raw(b, i == unusual ? version : 3, i == unusual ? source_id : i, payload + is_pair, is_pair ? 4 : 8);
  }
  return b;
}

static void one_unusual_bank_of_208_is_decoded_or_refused(void **state) {
  static const struct {
    uint64_t error;
    uint32_t announced, hits;
    uint16_t place, source_id;
    uint8_t version;
  } cases[] = {
      {0, 1, 208, 207, 207, 3},
      {0, 0, 207, 207, 207, 3},
      {0, 1, 208, 40, 40, 2},
      {2ull << 32 | 208, 1, 0, 207, 208, 3}, /* unknown sensor */
      {1ull << 32 | 0, 1, 0, 0, 0, 1},       /* unknown version */
      {4ull << 32 | 130, 2, 0, 130, 130, 3}, /* count larger than the payload */
      {6ull << 32 | 131, 1, 0, 130, 131, 3}, /* two banks of one sensor */
      {6ull << 32 | 207, 1, 0, 206, 103, 4}, /* a bank of a sensor pair, and a second bank of one of its sensors */
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct banks *b = banks_of_all_sensors(cases[c].place, cases[c].version, cases[c].source_id, cases[c].announced);
    struct sl_test *t = decode(b, state);
    assert_int_equal(sl_test_event_error(t, 0), cases[c].error);
    assert_int_equal(hits_of(t).offsets[1], cases[c].hits);
    sl_test_free(t);
    banks_free(b);
  }
}

static void offsets_may_begin_after_the_first_bank(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(1, 0, 1, 0), word_3(2, 0, 2, 0), word_3(3, 0, 3, 0)};
  banks_event(b);
  banks_add(b, 3, 1, words, 3);
  banks_add(b, 3, 2, words, 3);
  banks_event(b);
  banks_add(b, 3, 3, words, 1);
  banks_event(b);
  banks_add(b, 3, 40, words, 2);
  struct geometry g;
  geometry_round(&g);
  struct sl_test *t = prepare(b, &g, state);
  sl_test_events(t, 2); /* the last two events only */
  sl_test_input(t, "banks", "offsets", b->offsets + 1, 3);
  assert_int_equal(sl_test_run(t), 0);
  const struct hits h = hits_of(t);
  assert_true(h.offsets[0] == 0 && h.offsets[1] == 1 && h.offsets[2] == 3);
  assert_hit(t, 0, 2u << 28 | 3u << 18 | 1u << 8 | 1u, 3, 1.0f, 1.0f);
  assert_hit(t, 1, 2u << 28 | 40u << 18 | 1u << 8 | 1u, 40, 1.0f, 1.0f);
  assert_hit(t, 1, 2u << 28 | 40u << 18 | 2u << 8 | 2u, 40, 2.0f, 2.0f);
  sl_test_free(t);
  banks_free(b);
}

static void events_not_listed_are_empty_and_not_read(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(1, 0, 1, 0), word_3(2, 0, 2, 0)}, list[] = {1, 3};
  for (uint16_t event = 0; event < 4; event++) {
    banks_event(b);
    banks_add(b, event == 2 ? 77 : 3, (uint16_t)(10 * event), words, 2); /* event 2 would be refused */
  }
  struct geometry g;
  geometry_round(&g);
  struct sl_test *t = prepare(b, &g, state);
  sl_test_list(t, list, 2);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t offsets[] = {0, 0, 2, 2, 4};
  assert_memory_equal(hits_of(t).offsets, offsets, sizeof offsets);
  assert_int_equal(sl_test_event_error(t, 2), 0);
  assert_hit(t, 1, 2u << 28 | 10u << 18 | 1u << 8 | 1u, 10, 1.0f, 1.0f);
  assert_hit(t, 3, 2u << 28 | 30u << 18 | 2u << 8 | 2u, 30, 2.0f, 2.0f);
  sl_test_free(t);
  banks_free(b);
}

/* --------------------------------------------------------------------------------------------- samples */

struct search {
  const uint32_t *sorted;
  uint32_t count, asked, found;
};

static int compare_u32(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static void look_for(void *context, uint32_t id) {
  struct search *s = context;
  s->asked++;
  s->found += bsearch(&id, s->sorted, s->count, sizeof id, compare_u32) ? 1u : 0u;
}

/* Decodes a sample and compares the numbers of hits and of true hits found. */
static struct sl_test *decode_sample(const char *name, uint32_t events, uint32_t hits, uint32_t true_hits,
                                     void **state) {
  const char *path = sample_path(name);
  struct geometry g;
  if (!path) return NULL;
  struct sample sample = sample_open(path);
  if (!geometry_of_sample(&g)) return NULL;
  struct banks *b = banks_new();
  banks_of_sample(b, &sample, 73);
  struct sl_test *t = prepare(b, &g, state);
  assert_int_equal(sl_test_run(t), 0);
  hits_assert_sorted(t, b->event_count);
  const struct hits h = hits_of(t);
  assert_int_equal(b->event_count, events);
  assert_int_equal(h.offsets[events], hits);
  uint32_t *ids = malloc(4 * hits), asked = 0, found = 0;
  assert_non_null(ids);
  memcpy(ids, h.id, 4 * hits);
  for (uint32_t event = 0; event < events; event++) {
    struct search search = {ids + h.offsets[event], h.offsets[event + 1] - h.offsets[event], 0, 0};
    qsort(ids + h.offsets[event], search.count, sizeof *ids, compare_u32);
    sample_for_true_hits(&sample, event, look_for, &search);
    asked += search.asked;
    found += search.found;
    assert_int_equal(sl_test_event_error(t, event), 0);
  }
  assert_int_equal(asked, true_hits);
  assert_int_equal(found, true_hits);
  free(ids);
  banks_free(b);
  sample_close(&sample);
  return t;
}

static void the_six_events_have_all_hits_and_all_true_hits(void **state) {
  static const uint32_t expected[] = {3744, 984, 1586, 1575, 2340, 746};
  struct sl_test *t = decode_sample("lhcb/minbias.mdf", 6, 10975, 11173, state);
  if (!t) skip();
  const struct hits h = hits_of(t);
  for (uint32_t event = 0; event < 6; event++)
    assert_int_equal(h.offsets[event + 1] - h.offsets[event], expected[event]);
  uint32_t examples = 0; /* the example of the plugin's README.md: sensor 0, word 0x6117839A */
  for (uint32_t i = 0; i < h.offsets[6]; i++) {
    if (h.id[i] != 0x240178E6) continue;
    assert_float_equal(h.x[i], 7.157689, 1e-6);
    assert_float_equal(h.y[i], -16.31472, 1e-5);
    assert_float_equal(h.z[i], -288.081, 1e-4);
    assert_int_equal(h.phi[i], -11387);
    examples++;
  }
  assert_int_equal(examples, 1);
  sl_test_free(t);
}

static void the_300_events_have_all_hits_and_the_expected_true_hits(void **state) {
  struct sl_test *t = decode_sample("velo/minbias_300.mdf", 300, 576590, 515304, state);
  if (!t) skip();
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(version_3_has_quarters_and_flags_for_them),
      BOTH(version_2_has_eighths_and_no_flags),
      BOTH(version_4_has_two_sensors_per_bank_and_no_count_word),
      BOTH(fractions_span_the_long_pixels_at_the_chip_borders),
      BOTH(zero_words_make_no_hits),
      BOTH(phi_is_exact_at_multiples_of_an_eighth_turn_and_wraps_at_half_a_turn),
      BOTH(events_without_banks_or_words_are_empty_and_valid),
      BOTH(a_slice_without_events_works),
      BOTH(words_after_the_announced_count_are_ignored),
      cmocka_unit_test(both_versions_give_the_same_bytes_for_banks_of_every_length),
      BOTH(the_order_of_banks_does_not_change_results),
      BOTH(one_unusual_bank_of_208_is_decoded_or_refused),
      BOTH(offsets_may_begin_after_the_first_bank),
      BOTH(events_not_listed_are_empty_and_not_read),
      BOTH(the_six_events_have_all_hits_and_all_true_hits),
      BOTH(the_300_events_have_all_hits_and_the_expected_true_hits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
