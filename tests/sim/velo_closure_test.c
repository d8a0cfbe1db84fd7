/* VELO banks of all versions contain what was simulated; decoded by the algorithms of the reconstruction. */
#include "support.h"

#include <sluice/testing.h>

#include <math.h>

enum { EVENTS = 10 };

struct positions {
  const float *x, *y, *z;
  const uint32_t *id, *first;
};

static struct sl_test *decode(const struct sim_simulation *s, const char *algorithm, uint8_t type) {
  struct bank_fields f;
  struct sl_test *t = sl_test_new(VELO_PLUGIN, algorithm);
  bank_fields_of(s, type, &f);
  sl_test_events(t, 1);
  sl_test_input(t, "banks", "offsets", f.offsets, 2);
  sl_test_input(t, "banks", "source_id", f.source_id, f.count);
  sl_test_input(t, "banks", "version", f.version, f.count);
  sl_test_input(t, "banks", "size_bytes", f.size_bytes, f.count);
  sl_test_input(t, "banks", "first_word", f.first_word, f.count);
  sl_test_input(t, "banks", "payload", s->banks.words.at, s->banks.words.count);
  sl_test_input(t, "geometry", "local_x", s->velo.local_x, VELO_SENSOR_COLUMNS);
  sl_test_input(t, "geometry", "x_pitch", s->velo.x_pitch, VELO_SENSOR_COLUMNS);
  sl_test_input(t, "geometry", "transform", s->velo.transform, VELO_SENSORS * VELO_TRANSFORM_VALUES);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  return t;
}

static struct positions positions_of(const struct sl_test *t) {
  return (struct positions){.x = sl_test_output(t, "hits", "x"),
                            .y = sl_test_output(t, "hits", "y"),
                            .z = sl_test_output(t, "hits", "z"),
                            .id = sl_test_output(t, "hits", "id"),
                            .first = sl_test_output(t, "hits", "pair_first")};
}

static uint32_t total_of(const struct positions *p) { return p->first[VELO_MODULE_PAIRS]; }

/* Distance in the sensor plane to the nearest cluster of the sensor, mm. */
static float nearest(const struct sim_simulation *s, const struct positions *p, const struct sim_velo_hit *hit) {
  const float *t = s->velo.transform[hit->sensor];
  const float x = t[0] * hit->lx + t[1] * hit->ly + t[9], y = t[3] * hit->lx + t[4] * hit->ly + t[10];
  const uint32_t pair = hit->sensor / 8;
  float best = 1e9f;
  for (uint32_t i = p->first[pair]; i < p->first[pair + 1]; i++) {
    if ((p->id[i] >> 18 & 0xFF) != hit->sensor) continue;
    assert_float_equal(p->z[i], t[11], 1e-4f);
    const float distance = hypotf(p->x[i] - x, p->y[i] - y);
    if (distance < best) best = distance;
  }
  return best;
}

/* Nearly all hits of the events have a cluster within two pixels, and half of them within the resolution. */
static void assert_hits_come_back(const char *algorithm, uint8_t type, uint32_t version) {
  struct sim_simulation *s = simulation_new();
  uint32_t hits = 0, seen = 0, close = 0;
  s->versions.clusters = s->versions.superpixels = version;
  s->settings.luminosity_fraction = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    struct sl_test *t = decode(s, algorithm, type);
    const struct positions p = positions_of(t);
    assert_int_equal(total_of(&p), s->velo_digits.clusters.count);
    for (uint32_t i = 0; i < s->event.velo_hits.count; i++) {
      const struct sim_velo_hit *hit = &s->event.velo_hits.at[i];
      if (hypotf(hit->slope_x, hit->slope_y) > 0.5f) continue; /* clusters of many pixels, shared with others */
      const float distance = nearest(s, &p, hit);
      hits++;
      seen += distance < 0.11f;
      close += distance < 0.022f;
    }
    sl_test_free(t);
  }
  simulation_free(s);
  print_message("%s, version %u: %u hits, %u detected, %u within 22 um\n", algorithm, version, hits, seen, close);
  assert_true(hits > 3000 && seen > 0.975 * hits && seen < 0.998 * hits && close > 0.6 * hits);
}

static void cluster_banks_of_every_version_give_the_hits(void **state) {
  (void)state;
  for (uint32_t version = 2; version <= 4; version++)
    assert_hits_come_back("decode_retina", SIM_BANK_VELO_CLUSTERS, version);
}

static void superpixel_banks_of_every_version_give_the_hits(void **state) {
  (void)state;
  for (uint32_t version = 2; version <= 4; version++)
    assert_hits_come_back("masked_clustering", SIM_BANK_VELO_SUPERPIXELS, version);
}

static int compare_ids(const void *a, const void *b) {
  const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

/* Sorted ids of all clusters, without the bits in `without`. */
static uint32_t ids_of(const struct sl_test *t, uint32_t without, uint32_t *ids) {
  const struct positions p = positions_of(t);
  const uint32_t count = total_of(&p);
  for (uint32_t i = 0; i < count; i++) ids[i] = p.id[i] & ~without;
  qsort(ids, count, sizeof *ids, compare_ids);
  return count;
}

static void both_kinds_of_banks_give_the_same_clusters(void **state) {
  (void)state;
  enum { FRACTIONS = 3 << 26, MOST = 20000 };
  static uint32_t retina_ids[MOST], pixel_ids[MOST];
  struct sim_simulation *s = simulation_new();
  for (uint32_t event = 0; event < EVENTS; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    struct sl_test *retina = decode(s, "decode_retina", SIM_BANK_VELO_CLUSTERS);
    struct sl_test *pixels = decode(s, "masked_clustering", SIM_BANK_VELO_SUPERPIXELS);
    const uint32_t count = ids_of(retina, FRACTIONS, retina_ids);
    assert_int_equal(count, ids_of(pixels, FRACTIONS, pixel_ids));
    assert_memory_equal(retina_ids, pixel_ids, count * sizeof *retina_ids);
    sl_test_free(retina);
    sl_test_free(pixels);
  }
  simulation_free(s);
}

/* Each true id is among the decoded ones. */
static void ids_in_the_truth_are_those_of_the_clusters(void **state) {
  (void)state;
  static uint32_t ids[20000];
  for (uint32_t version = 2; version <= 4; version++) {
    struct sim_simulation *s = simulation_new();
    s->versions.clusters = version;
    assert_int_equal(sim_simulate(s, 5), 0);
    struct sl_test *t = decode(s, "decode_retina", SIM_BANK_VELO_CLUSTERS);
    const uint32_t count = ids_of(t, 0, ids);
    assert_true(s->event.velo_ids.count > 100);
    for (uint32_t i = 0; i < s->event.velo_ids.count; i++)
      assert_non_null(bsearch(&s->event.velo_ids.at[i], ids, count, sizeof *ids, compare_ids));
    sl_test_free(t);
    simulation_free(s);
  }
}

/* Bit 31: none of the eight neighbours has a hit. Compared with a search over all words of the sensor. */
static void superpixels_have_the_isolated_flag(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  struct bank_fields f;
  uint32_t isolated = 0, others = 0;
  assert_int_equal(sim_simulate(s, 0), 0);
  bank_fields_of(s, SIM_BANK_VELO_SUPERPIXELS, &f);
  assert_int_equal(f.count, VELO_SENSORS);
  for (uint32_t b = 0; b < f.count; b++) {
    const uint32_t *words = s->banks.words.at + f.first_word[b], count = words[0];
    assert_int_equal(f.size_bytes[b], 4 * (count + 1));
    for (uint32_t i = 1; i <= count; i++) {
      int neighbours = 0;
      for (uint32_t k = 1; k <= count; k++) {
        const int columns = (int)(words[i] >> 14 & 0x1FF) - (int)(words[k] >> 14 & 0x1FF);
        const int rows = (int)(words[i] >> 8 & 0x3F) - (int)(words[k] >> 8 & 0x3F);
        neighbours += k != i && abs(columns) <= 1 && abs(rows) <= 1;
      }
      assert_int_equal(words[i] >> 31, neighbours == 0);
      assert_int_not_equal(words[i] & 0xFF, 0);
      isolated += neighbours == 0;
      others += neighbours != 0;
    }
  }
  assert_true(isolated > 100 && others > 100);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cluster_banks_of_every_version_give_the_hits),
      cmocka_unit_test(superpixel_banks_of_every_version_give_the_hits),
      cmocka_unit_test(both_kinds_of_banks_give_the_same_clusters),
      cmocka_unit_test(ids_in_the_truth_are_those_of_the_clusters),
      cmocka_unit_test(superpixels_have_the_isolated_flag),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
