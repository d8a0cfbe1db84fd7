/* ut_versions_test.c: information that UT banks of version 3 lose compared with version 4, for the same simulated
 * events. Version 3 has the ADC of each strip, so that the strips of version 4 can be read from it; but its clusters
 * end after four strips and at a chip's border, and their positions are quarters of a strip. */
#include "support.h"
#include "ut/bank_words.h"

#include <math.h>

enum { EVENTS = 20, STRIPS_MAX = 20000, CHIP_STRIPS = 128, ADC_BITS = 0x7F };

struct strip {
  uint32_t sector, strip, adc;
};

/* A cluster: `count` strips of the event from `first` on. */
struct cluster {
  uint32_t first, count, strip; /* strip: strip of the id */
  float position;
};

struct decoded {
  struct strip strips[STRIPS_MAX];
  struct cluster clusters[STRIPS_MAX];
  uint32_t strip_count, cluster_count;
};
static struct decoded versions[2]; /* versions 3 and 4 */

static uint32_t sector_of(const struct sim_simulation *s, uint32_t board, uint32_t lane) {
  return s->ut.lane_index[UT_BOARD_LANES * board + lane];
}

static void add_strip(struct decoded *d, uint32_t sector, uint32_t strip, uint32_t adc) {
  assert_true(d->strip_count < STRIPS_MAX);
  d->strips[d->strip_count++] = (struct strip){sector, strip, adc};
}

static void add_cluster(struct decoded *d, uint32_t first, const struct ut_cluster *c) {
  d->clusters[d->cluster_count++] = (struct cluster){first, d->strip_count - first, c->strip, c->position};
}

/* Strips of a cluster: the cluster is in the strip at the mean of the ADC, rounded down. */
static void decode_v3(const struct sim_simulation *s, const uint32_t *words, uint32_t board, struct decoded *d) {
  uint32_t at = ut_v3_adc_begin(words);
  for (uint32_t i = 0; i < ut_v3_count(words); i++) {
    const struct ut_cluster c = ut_v3_cluster(words, i);
    const uint32_t first = d->strip_count;
    uint32_t sum = 0, moment = 0, byte = 0;
    for (at++; byte <= ADC_BITS; at++) {
      byte = ut_byte(words, at);
      moment += (byte & ADC_BITS) * (d->strip_count - first);
      sum += byte & ADC_BITS;
      add_strip(d, sector_of(s, board, c.lane), d->strip_count - first, byte & ADC_BITS);
    }
    for (uint32_t k = first; k < d->strip_count; k++) d->strips[k].strip += c.strip - moment / sum;
    add_cluster(d, first, &c);
  }
}

static void decode_v4(const struct sim_simulation *s, const uint32_t *words, uint32_t bytes, uint32_t board,
                      struct decoded *d) {
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
    const uint32_t count = ut_v4_count(words, bytes, lane);
    struct ut_cluster c = {0, 0, 0, 0};
    for (uint32_t i = 0, k = 0; ut_v4_next_cluster(words, lane, count, &i, &c); k = i) {
      const uint32_t first = d->strip_count;
      for (; k < i; k++) {
        const uint32_t hit = ut_v4_hit(words, lane, k);
        add_strip(d, sector_of(s, board, lane), ut_v4_hit_strip(hit), ut_v4_hit_adc(hit));
      }
      add_cluster(d, first, &c);
    }
  }
}

static const struct decoded *decode(struct sim_simulation *s, uint32_t version, uint32_t event) {
  struct decoded *d = &versions[version == 4];
  struct bank_fields f;
  s->versions.ut = version;
  assert_int_equal(sim_simulate(s, event), 0);
  bank_fields_of(s, SIM_BANK_UT, &f);
  d->strip_count = d->cluster_count = 0;
  for (uint32_t b = 0; b < f.count; b++) {
    const uint32_t *words = s->banks.words.at + f.first_word[b], board = ut_board(f.source_id[b]);
    if (version == 3)
      decode_v3(s, words, board, d);
    else
      decode_v4(s, words, f.size_bytes[b], board, d);
  }
  return d;
}

static struct sim_simulation *new_with_ut(void) {
  struct sim_simulation *s = simulation_new();
  s->make_flags |= SIM_MAKE_UT;
  s->settings.luminosity_fraction = 0;
  return s;
}

static void both_versions_have_the_same_strips(void **state) {
  (void)state;
  struct sim_simulation *s = new_with_ut();
  for (uint32_t event = 0; event < EVENTS; event++) {
    const struct decoded *v3 = decode(s, 3, event), *v4 = decode(s, 4, event);
    assert_int_equal(v3->strip_count, v4->strip_count);
    assert_memory_equal(v3->strips, v4->strips, v4->strip_count * sizeof v4->strips[0]);
  }
  simulation_free(s);
}

/* The number of clusters of version 3 for a run of strips. */
static uint32_t pieces_of(const struct decoded *d, const struct cluster *run) {
  uint32_t pieces = 1, length = 1;
  for (uint32_t i = run->first + 1; i < run->first + run->count; i++, length++) {
    if (length < UT_V3_CLUSTER_STRIPS_MAX && d->strips[i].strip % CHIP_STRIPS != 0) continue;
    pieces++;
    length = 0;
  }
  return pieces;
}

static void only_long_runs_and_runs_over_a_chip_border_are_divided(void **state) {
  (void)state;
  struct sim_simulation *s = new_with_ut();
  uint32_t runs = 0, long_ones = 0, over_border = 0, cut = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    const struct decoded *v3 = decode(s, 3, event), *v4 = decode(s, 4, event);
    uint32_t next = 0;
    for (uint32_t i = 0; i < v4->cluster_count; i++) {
      const struct cluster *run = &v4->clusters[i];
      const uint32_t pieces = pieces_of(v4, run), end = run->first + run->count;
      uint32_t found = 0;
      for (; next < v3->cluster_count && v3->clusters[next].first < end; next++) found++;
      assert_int_equal(found, pieces);
      cut += pieces > 1;
      long_ones += run->count > UT_V3_CLUSTER_STRIPS_MAX;
      over_border += v4->strips[run->first].strip / CHIP_STRIPS != v4->strips[end - 1].strip / CHIP_STRIPS;
    }
    assert_int_equal(next, v3->cluster_count);
    runs += v4->cluster_count;
  }
  print_message("%u clusters of version 4; version 3 divides %u: %u of more than four strips, %u over a border\n", runs,
                cut, long_ones, over_border);
  assert_true(long_ones > 0 && over_border > 0 && cut < 0.02 * runs);
  simulation_free(s);
}

/* Version 3 rounds to quarters, but never up to the next strip. Its id has the strip rounded down, the id of version
 * 4 the nearest strip (a half is rounded up). */
static void other_clusters_agree_within_a_quarter_strip(void **state) {
  (void)state;
  struct sim_simulation *s = new_with_ut();
  uint32_t same = 0, whole = 0, next_strip = 0;
  double largest = 0, smallest = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    const struct decoded *v3 = decode(s, 3, event), *v4 = decode(s, 4, event);
    for (uint32_t i = 0, k = 0; i < v4->cluster_count; i++) {
      const struct cluster *b = &v4->clusters[i];
      while (v3->clusters[k].first < b->first) k++;
      const struct cluster *a = &v3->clusters[k];
      if (a->count != b->count) continue;
      const double off = (double)b->position - (double)a->position,
                   fraction = (double)b->position - floor((double)b->position);
      whole++;
      same += off == 0;
      next_strip += b->strip != a->strip;
      largest = fmax(largest, off);
      smallest = fmin(smallest, off);
      assert_int_equal(b->strip - a->strip, fraction >= 0.5);
    }
  }
  print_message(
      "%u clusters; %u have another strip in their ids; %u have the same position, the others are %.3f to %.3f "
      "strips off\n",
      whole, next_strip, same, smallest, largest);
  assert_true(smallest >= -0.125 && largest < 0.25 && same > 0.5 * whole);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_versions_have_the_same_strips),
      cmocka_unit_test(only_long_runs_and_runs_over_a_chip_border_are_divided),
      cmocka_unit_test(other_clusters_agree_within_a_quarter_strip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
