/* UT banks of both versions contain what was simulated; decoded word by word (ut/bank_words.h). */
#include "support.h"
#include "ut/bank_words.h"

#include <math.h>

enum { EVENTS = 10, CLUSTERS_MAX = 20000, BOARDS_THERE = 180 };

struct found {
  uint32_t sector, id;
  float position;
};

struct decoded {
  uint32_t count;
  struct found clusters[CLUSTERS_MAX];
};

static void add(struct decoded *to, const struct sim_simulation *s, uint32_t version, uint32_t board,
                const struct ut_cluster *c) {
  const uint32_t sector = s->ut.lane_index[UT_BOARD_LANES * board + c->lane];
  assert_true(sector < UT_SECTORS && to->count < CLUSTERS_MAX);
  to->clusters[to->count++] =
      (struct found){sector, ut_id(version, s->ut.sectors[sector].channel, c->strip), c->position};
}

static void decode_v3(const struct sim_simulation *s, const uint32_t *words, uint32_t bytes, uint32_t board,
                      struct decoded *to) {
  uint32_t at = ut_v3_adc_begin(words);
  for (uint32_t i = 0; i < ut_v3_count(words); i++) {
    const struct ut_cluster c = ut_v3_cluster(words, i);
    struct ut_v3_adc adc = {0, 0, 0};
    const uint32_t flags = ut_halfword(words, 2 + i) >> 14;
    add(to, s, 3, board, &c);
    assert_true(ut_v3_next_adc(words, bytes, &at, &adc));
    assert_true(adc.strips >= 1 && adc.strips <= UT_V3_CLUSTER_STRIPS_MAX);
    assert_true(adc.sum >= 6 * adc.strips && adc.sum <= UT_ADC_MAX * adc.strips);
    assert_true(adc.neighbours >= -12 && adc.neighbours <= 15);
    assert_int_equal(flags & 1, adc.strips > 2);
    assert_int_equal(flags >> 1, adc.sum >= 16);
  }
  assert_int_equal(at, bytes);
}

static void decode_v4(const struct sim_simulation *s, const uint32_t *words, uint32_t bytes, uint32_t board,
                      struct decoded *to) {
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
    const uint32_t count = ut_v4_count(words, bytes, lane);
    struct ut_cluster c = {0, 0, 0, 0};
    for (uint32_t i = 1; i < count; i++)
      assert_true(ut_v4_hit_strip(ut_v4_hit(words, lane, i)) > ut_v4_hit_strip(ut_v4_hit(words, lane, i - 1)));
    for (uint32_t i = 0; ut_v4_next_cluster(words, lane, count, &i, &c);) add(to, s, 4, board, &c);
  }
}

static int compare(const void *a, const void *b) {
  const struct found *left = a, *right = b;
  return left->id < right->id ? -1 : left->id > right->id;
}

/* Clusters of the event, sorted by id. */
static const struct decoded *decode(const struct sim_simulation *s, uint32_t version) {
  static struct decoded d;
  struct bank_fields f;
  bank_fields_of(s, SIM_BANK_UT, &f);
  assert_int_equal(f.count, BOARDS_THERE);
  d.count = 0;
  for (uint32_t b = 0; b < f.count; b++) {
    const uint32_t *words = s->banks.words.at + f.first_word[b], board = ut_board(f.source_id[b]);
    assert_int_equal(f.version[b], version);
    assert_int_equal(ut_bank_fault(words, f.size_bytes[b], version, f.source_id[b]), UT_BANK_FINE);
    if (version == 3)
      decode_v3(s, words, f.size_bytes[b], board, &d);
    else
      decode_v4(s, words, f.size_bytes[b], board, &d);
  }
  qsort(d.clusters, d.count, sizeof d.clusters[0], compare);
  for (uint32_t i = 1; i < d.count; i++) assert_true(d.clusters[i].id > d.clusters[i - 1].id);
  return &d;
}

static struct sim_simulation *new_with_ut(uint32_t version) {
  struct sim_simulation *s = simulation_new();
  s->make_flags |= SIM_MAKE_UT;
  s->versions.ut = version;
  s->settings.luminosity_fraction = 0;
  return s;
}

static const struct found *find_id(const struct decoded *d, uint32_t id) {
  const struct found wanted = {.id = id};
  return bsearch(&wanted, d->clusters, d->count, sizeof wanted, compare);
}

static int compare_links(const void *a, const void *b) { return memcmp(a, b, sizeof(struct sim_id_link)); }

static void ids_in_the_truth_are_those_of_the_clusters(void **state) {
  (void)state;
  for (uint32_t version = 3; version <= 4; version++) {
    struct sim_simulation *s = new_with_ut(version);
    uint32_t links = 0, clusters = 0, linked = 0;
    for (uint32_t event = 0; event < EVENTS; event++) {
      assert_int_equal(sim_simulate(s, event), 0);
      const struct decoded *d = decode(s, version);
      struct sim_id_link *l = s->event.links[SIM_IN_UT].at;
      const uint32_t count = s->event.links[SIM_IN_UT].count;
      qsort(l, count, sizeof *l, compare_links);
      for (uint32_t i = 0; i < count; i++) {
        assert_non_null(find_id(d, l[i].id));
        assert_true(l[i].particle < s->event.particles.count);
        assert_true(s->event.particles.at[l[i].particle].charge != 0);
        assert_true(i == 0 || compare_links(&l[i - 1], &l[i]) != 0); /* no duplicates */
      }
      for (uint32_t k = 0; k < d->count; k++) {
        uint32_t i = 0;
        while (i < count && l[i].id != d->clusters[k].id) i++;
        linked += i < count;
      }
      links += count;
      clusters += d->count;
    }
    print_message("version %u: %u clusters, %u of them with particles, %u links\n", version, clusters, linked, links);
    assert_true(linked > 0.85 * clusters && linked < 0.97 * clusters); /* the others are noise */
    simulation_free(s);
  }
}

/* Distance in strips from the crossing of a passage with a sector to the nearest cluster there; negative if no
 * sector is crossed or the crossing is within a strip of the border. Computed from the geometry arrays of the
 * reconstruction. */
static float nearest(const struct sim_simulation *s, const struct decoded *d, const struct sim_passage *p,
                     uint32_t sector) {
  const struct ut_description *ut = &s->ut;
  const struct ut_sector_description *of = &ut->sectors[sector];
  const float z = ut->z0[sector], x = p->x + p->tx * (z - p->z), y = p->y + p->ty * (z - p->z);
  const float slope = ut->layers[of->layer].along[0] / ut->layers[of->layer].along[1];
  const float strip = (x - slope * y - ut->x0[sector]) / ut->dx_di[sector];
  const float from = y - (ut->y0[sector] + strip * ut->dy_di[sector]);
  if (strip < 1 || strip > UT_SECTOR_STRIPS - 2 || from < 0.1f || from > ut->dy[sector] - 0.1f) return -1.0f;
  if (hypotf(x, y) < ut->hole + 0.1f) return -1.0f;
  float best = 1e9f;
  for (uint32_t i = 0; i < d->count; i++)
    if (d->clusters[i].sector == sector) best = fminf(best, fabsf(d->clusters[i].position - strip));
  return best;
}

static void clusters_are_at_the_passages(void **state) {
  (void)state;
  for (uint32_t version = 3; version <= 4; version++) {
    struct sim_simulation *s = new_with_ut(version);
    uint32_t met = 0, seen = 0, close = 0;
    for (uint32_t event = 0; event < EVENTS; event++) {
      assert_int_equal(sim_simulate(s, event), 0);
      const struct decoded *d = decode(s, version);
      for (uint32_t i = 0; i < s->event.passages[SIM_IN_UT].count; i++) {
        const struct sim_passage *p = &s->event.passages[SIM_IN_UT].at[i];
        if (hypotf(p->tx, p->ty) > 0.3f || p->p < 1000) continue;
        for (uint32_t sector = 0; sector < UT_SECTORS; sector++) {
          if (s->ut.sectors[sector].layer != p->layer) continue;
          const float distance = nearest(s, d, p, sector);
          if (distance < 0) continue;
          met++;
          seen += distance < 1.5f;
          close += distance < 0.5f;
        }
      }
    }
    simulation_free(s);
    print_message("version %u: %u crossings, %u detected, %u within half a strip\n", version, met, seen, close);
    assert_true(met > 2000 && seen > 0.985 * met && seen < met && close > 0.9 * met);
  }
}

/* 500 particles side by side in a sector, and one in the beam hole. */
static void a_lane_sends_254_strips_at_most(void **state) {
  (void)state;
  struct sim_simulation *s = new_with_ut(4);
  const struct ut_sector_description *of = &s->ut.sectors[0];
  assert_int_equal(sim_simulate(s, 0), 0);
  s->event.passages[SIM_IN_UT].count = 0;
  assert_non_null(sim_event_add(&s->event, &sim_species[SIM_MUON], 1, 0, 0, 5000));
  for (int i = 0; i < 501; i++) {
    struct sim_passage *p = SIM_APPEND(&s->event.passages[SIM_IN_UT]);
    assert_non_null(p);
    *p = (struct sim_passage){.particle = s->event.particles.count - 1, .layer = 0, .z = s->ut.layers[0].z, .p = 5000};
    if (i < 500) p->x = of->w + of->pitch * (float)(i - 250), p->y = of->v;
  }
  assert_int_equal(sim_ut_digitise(&s->ut, &s->settings, s->versions.ut, &s->event, &s->ut_digits), 0);
  sim_banks_clear(&s->banks);
  assert_int_equal(sim_ut_banks(&s->banks, &s->ut, &s->ut_digits, 4), 0);
  const struct decoded *d = decode(s, 4);
  uint32_t longest = 0;
  for (uint32_t i = 0; i < d->count; i++) longest += d->clusters[i].sector == 0;
  assert_int_equal(ut_v4_count(s->banks.words.at + s->banks.banks.at[0].first_word, s->banks.banks.at[0].size_bytes, 0),
                   UT_V4_LANE_HITS_MAX);
  assert_int_equal(longest, 0); /* runs of more than 128 strips are not clusters */
  for (uint32_t i = 0; i < s->event.links[SIM_IN_UT].count; i++)
    assert_non_null(find_id(d, s->event.links[SIM_IN_UT].at[i].id));
  assert_int_equal(s->event.links[SIM_IN_UT].count, 0);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_in_the_truth_are_those_of_the_clusters),
      cmocka_unit_test(clusters_are_at_the_passages),
      cmocka_unit_test(a_lane_sends_254_strips_at_most),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
