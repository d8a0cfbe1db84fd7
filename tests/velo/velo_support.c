/* velo_support.c: see velo_support.h. */
#include "velo_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- banks */

struct banks *banks_new(void) {
  struct banks *b = calloc(1, sizeof *b);
  assert_non_null(b);
  return b;
}

void banks_free(struct banks *b) {
  free(b->payload);
  free(b);
}

void banks_event(struct banks *b) {
  assert_true(b->event_count < TEST_MAX_EVENTS);
  b->offsets[b->event_count++] = b->bank_count;
  b->offsets[b->event_count] = b->bank_count;
}

/* Room for a bank's payload. */
static uint32_t *append_bank(struct banks *b, uint8_t version, uint16_t source_id, uint32_t size_bytes) {
  const uint32_t words = (size_bytes + 3) / 4;
  assert_true(b->bank_count < TEST_MAX_BANKS && size_bytes <= UINT16_MAX && b->event_count > 0);
  if (b->word_count + words > b->word_space) {
    b->word_space = 2 * (b->word_count + words);
    b->payload = realloc(b->payload, b->word_space * sizeof *b->payload);
    assert_non_null(b->payload);
  }
  b->version[b->bank_count] = version;
  b->source_id[b->bank_count] = source_id;
  b->size_bytes[b->bank_count] = (uint16_t)size_bytes;
  b->first_word[b->bank_count] = b->word_count;
  uint32_t *payload = b->payload + b->word_count;
  b->word_count += words;
  b->offsets[b->event_count] = ++b->bank_count;
  return payload;
}

void banks_add(struct banks *b, uint8_t version, uint16_t source_id, const uint32_t *words, uint32_t count) {
  const uint32_t count_words = version == 4 ? 0 : 1;
  uint32_t *payload = append_bank(b, version, source_id, 4 * (count + count_words));
  if (count_words) payload[0] = count;
  if (count) memcpy(payload + count_words, words, count * sizeof *words);
}

void banks_add_raw(struct banks *b, uint8_t version, uint16_t source_id, const uint32_t *words, uint16_t size_bytes) {
  uint32_t *payload = append_bank(b, version, source_id, size_bytes);
  if (size_bytes) memcpy(payload, words, (size_bytes + 3u) / 4 * 4);
}

static void add_bank(void *context, uint32_t event, uint16_t source_id, uint8_t version, const unsigned char *payload,
                     uint16_t size_bytes) {
  struct banks *b = context;
  while (b->event_count <= event) banks_event(b);
  memcpy(append_bank(b, version, source_id, size_bytes), payload, size_bytes);
}

void banks_of_sample(struct banks *b, const struct sample *s, uint8_t type) {
  sample_for_banks(s, type, add_bank, b);
  while (b->event_count < s->event_count) banks_event(b);
}

/* ---------------------------------------------------------------------------------------------- geometry */

void geometry_round(struct geometry *g) {
  memset(g, 0, sizeof *g);
  for (uint32_t c = 0; c < VELO_SENSOR_COLUMNS; c++) {
    g->local_x[c] = (float)c;
    g->x_pitch[c] = c == 255 || c == 511 ? 4.0f : 1.0f;
  }
  for (uint32_t s = 0; s < VELO_SENSORS; s++) {
    float *t = g->transform + 12 * s;
    t[0] = t[4] = t[8] = 1.0f;
    t[9] = 100.0f * (float)s;
    t[10] = 1000.0f * (float)s;
    t[11] = 10000.0f * (float)s;
  }
}

int geometry_of_sample(struct geometry *g) {
  const char *path = sample_path("lhcb/geometry/velo_geometry.bin");
  if (!path) return 0;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char bytes[16376];
  assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
  fclose(file);
  memcpy(g->local_x, bytes + 8 + 4 * VELO_MODULES + 8, sizeof g->local_x);
  memcpy(g->x_pitch, bytes + 8 + 4 * VELO_MODULES + 8 + sizeof g->local_x + 8, sizeof g->x_pitch);
  memcpy(g->transform, bytes + sizeof bytes - sizeof g->transform, sizeof g->transform);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- decoders */

struct sl_test *decoder_new(const char *algorithm, const struct banks *b, const struct geometry *g) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, algorithm);
  sl_test_events(t, b->event_count);
  sl_test_input(t, "banks", "offsets", b->offsets, b->event_count + 1);
  sl_test_input(t, "banks", "source_id", b->source_id, b->bank_count);
  sl_test_input(t, "banks", "version", b->version, b->bank_count);
  sl_test_input(t, "banks", "size_bytes", b->size_bytes, b->bank_count);
  sl_test_input(t, "banks", "first_word", b->first_word, b->bank_count);
  sl_test_input(t, "banks", "payload", b->payload, b->word_count);
  sl_test_input(t, "geometry", "local_x", g->local_x, VELO_SENSOR_COLUMNS);
  sl_test_input(t, "geometry", "x_pitch", g->x_pitch, VELO_SENSOR_COLUMNS);
  sl_test_input(t, "geometry", "transform", g->transform, VELO_SENSORS * 12);
  return t;
}

struct hits hits_of(const struct sl_test *t) {
  return (struct hits){.offsets = sl_test_output(t, "hits", "offsets"),
                       .pair_first = sl_test_output(t, "hits", "pair_first"),
                       .id = sl_test_output(t, "hits", "id"),
                       .phi = sl_test_output(t, "hits", "phi"),
                       .x = sl_test_output(t, "hits", "x"),
                       .y = sl_test_output(t, "hits", "y"),
                       .z = sl_test_output(t, "hits", "z")};
}

uint32_t hits_in(const struct sl_test *t, uint32_t event, uint32_t pair) {
  const uint32_t *first = hits_of(t).pair_first + event * (VELO_MODULE_PAIRS + 1) + pair;
  return first[1] - first[0];
}

uint32_t hit_with(const struct sl_test *t, uint32_t event, uint32_t id) {
  const struct hits h = hits_of(t);
  uint32_t found = 0, hit = 0;
  for (uint32_t i = h.offsets[event]; i < h.offsets[event + 1]; i++) {
    if (h.id[i] != id) continue;
    hit = i;
    found++;
  }
  if (found != 1) fail_msg("event %u has %u hits with id %08x", event, found, id);
  return hit;
}

void hits_assert_equal(const struct sl_test *a, const struct sl_test *b, uint32_t event_count) {
  static const char *const fields[] = {"id", "phi", "x", "y", "z"};
  static const size_t bytes[] = {4, 2, 4, 4, 4};
  const struct hits of_a = hits_of(a), of_b = hits_of(b);
  const uint32_t hits = of_a.offsets[event_count];
  assert_memory_equal(of_a.offsets, of_b.offsets, 4 * (event_count + 1));
  if (event_count == 0) return;
  assert_memory_equal(of_a.pair_first, of_b.pair_first, 4 * (VELO_MODULE_PAIRS + 1) * event_count);
  for (size_t f = 0; hits > 0 && f < sizeof fields / sizeof *fields; f++)
    assert_memory_equal(sl_test_output(a, "hits", fields[f]), sl_test_output(b, "hits", fields[f]), bytes[f] * hits);
}

void hits_assert_sorted(const struct sl_test *t, uint32_t event_count) {
  const struct hits h = hits_of(t);
  assert_int_equal(h.offsets[0], 0);
  for (uint32_t event = 0; event < event_count; event++) {
    const uint32_t *first = h.pair_first + event * (VELO_MODULE_PAIRS + 1), begin = h.offsets[event];
    assert_int_equal(first[0], 0);
    assert_int_equal(first[VELO_MODULE_PAIRS], h.offsets[event + 1] - begin);
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
      assert_true(first[pair] <= first[pair + 1]);
      for (uint32_t i = begin + first[pair]; i < begin + first[pair + 1]; i++) {
        assert_int_equal((h.id[i] >> 18 & 0xFF) / 8, pair);
        if (i == begin + first[pair]) continue;
        assert_true(h.phi[i - 1] <= h.phi[i]);
        if (h.phi[i - 1] == h.phi[i]) assert_true(h.id[i - 1] <= h.id[i]);
      }
    }
  }
}
