/* The simulated SciFi: decoding gives the written clusters in every bank version; links to particles; gaps,
 * efficiency and noise. */
#include "scifi/bank_words.h"
#include "support.h"

enum { EVENTS = 12, CHANNELS = 1 << SCIFI_CHANNEL_BITS };

static struct sim_simulation *make(uint32_t version) {
  struct sim_simulation *s = simulation_new();
  s->versions.scifi = version;
  s->make_flags = SIM_MAKE_TRUTH | SIM_MAKE_SCIFI;
  return s;
}

/* Decodes the event's banks: pseudo-size + 1 by channel. Returns the number of clusters. */
static uint32_t decode(const struct sim_simulation *s, uint8_t *sizes) {
  static struct bank_fields banks;
  struct scifi_bank_words words;
  struct scifi_cluster cluster;
  uint32_t found = 0;
  memset(sizes, 0, CHANNELS);
  bank_fields_of(s, SIM_BANK_SCIFI, &banks);
  assert_int_equal(banks.count, SCIFI_BANKS);
  for (uint32_t i = 0; i < banks.count; i++) {
    const uint32_t row = scifi_bank_row(banks.version[i], banks.source_id[i], s->scifi.source_id);
    assert_int_equal(row, i);
    assert_int_equal(banks.size_bytes[i] % 4, 0);
    assert_int_equal(scifi_bank_open(&words, banks.version[i], s->scifi.link_channel + row * SCIFI_BANK_LINKS,
                                     s->banks.words.at + banks.first_word[i], banks.size_bytes[i]),
                     SCIFI_NO_ERROR);
    struct scifi_bank_cursor cursor = scifi_bank_begin();
    for (; scifi_bank_next(&words, &cursor, &cluster); found++) {
      assert_int_equal(sizes[cluster.channel], 0); /* no duplicates */
      sizes[cluster.channel] = (uint8_t)(cluster.pseudo_size + 1);
    }
    assert_int_equal(cursor.faults, 0);
  }
  return found;
}

static void clusters_are_decoded_to_their_pieces(void **state) {
  (void)state;
  uint8_t *sizes = malloc(CHANNELS);
  assert_non_null(sizes);
  for (uint32_t version = 4; version <= 8; version++) {
    struct sim_simulation *s = make(version);
    uint32_t cut = 0;
    for (uint64_t event = 0; event < EVENTS; event++) {
      struct sim_scifi_piece piece;
      uint32_t pieces = 0;
      assert_int_equal(sim_simulate(s, event), SL_OK);
      const uint32_t found = decode(s, sizes);
      for (uint32_t i = 0; i < s->scifi_digits.clusters.count; i++) {
        const struct sim_scifi_cluster *cluster = &s->scifi_digits.clusters.at[i];
        const uint32_t whole = cluster->width <= 4 ? 4 : version > 4 && cluster->width <= 8 ? cluster->width : 0;
        for (uint32_t k = 0; sim_scifi_piece(cluster, version, k, &piece); k++, pieces++)
          assert_int_equal(sizes[piece.id & (CHANNELS - 1)], whole + 1);
        cut += cluster->width > 8;
      }
      assert_int_equal(found, pieces);
    }
    assert_true(cut > 0);
    simulation_free(s);
  }
  free(sizes);
}

static int compare_links(const void *a_, const void *b_) {
  const struct sim_id_link *a = a_, *b = b_;
  if (a->particle != b->particle) return a->particle < b->particle ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

static void linked_ids_are_decoded_without_duplicates(void **state) {
  (void)state;
  uint8_t *sizes = malloc(CHANNELS);
  assert_non_null(sizes);
  for (uint32_t version = 4; version <= 8; version++) {
    struct sim_simulation *s = make(version);
    for (uint64_t event = 0; event < EVENTS; event++) {
      assert_int_equal(sim_simulate(s, event), SL_OK);
      decode(s, sizes);
      struct sim_id_link *links = s->event.links[SIM_IN_SCIFI].at;
      const uint32_t count = s->event.links[SIM_IN_SCIFI].count;
      assert_true(count > 0 || s->event.crossing.type != SIM_BEAM_BEAM);
      qsort(links, count, sizeof *links, compare_links);
      for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(links[i].id & 0xF0000000, SCIFI_LHCB_ID);
        assert_true(sizes[links[i].id & (CHANNELS - 1)] > 0);
        assert_true(links[i].particle < s->event.particles.count);
        assert_true(i == 0 || compare_links(&links[i - 1], &links[i]) != 0);
      }
    }
    simulation_free(s);
  }
  free(sizes);
}

/* Adds a straight passage of one particle. */
static void pass(struct sim_simulation *s, uint32_t layer, float x, float y) {
  struct sim_event *event = &s->event;
  const float z = (float)(s->scifi.station[layer / 4].z + s->scifi.layer[layer % 4].z);
  struct sim_passage *p = SIM_APPEND(&event->passages[SIM_IN_SCIFI]);
  assert_non_null(p);
  *p = (struct sim_passage){.particle = 0, .layer = layer, .x = x, .y = y, .z = z, .p = 5000};
}

/* Clusters and links of the event's passages, without noise. */
static uint32_t linked(struct sim_simulation *s) {
  s->event.links[SIM_IN_SCIFI].count = 0;
  assert_int_equal(sim_scifi_digitise(&s->scifi, &s->settings, 5, &s->event, &s->scifi_digits), SL_OK);
  return s->event.links[SIM_IN_SCIFI].count;
}

/* x, at height y, of the position that the geometry gives for an id. */
static float x_of(const struct sim_simulation *s, uint32_t id, float y) {
  const struct scifi_mat_tables *t = &s->scifi.mats;
  const uint32_t mat = (id >> SCIFI_MAT_BIT & 0x7FF) - SCIFI_FIRST_MAT, sipm = id >> SCIFI_SIPM_BIT & 3;
  const uint32_t channel = id % SCIFI_SIPM_CHANNELS;
  const float u = t->u_begin[mat] + (2 * (float)channel + 1) * t->half_pitch[mat] +
                  (channel >= SCIFI_DIE_CHANNELS ? t->die_gap[mat] : 0) + (float)sipm * t->sipm_pitch[mat];
  const float end_x = t->mirror_x[mat] + u * t->direction_x[mat], end_y = t->mirror_y[mat] + u * t->direction_y[mat];
  return end_x + t->dxdy[mat] * (y - end_y);
}

static void a_cluster_is_at_the_particles_position(void **state) {
  (void)state;
  struct sim_simulation *s = make(5);
  s->settings.scifi_efficiency = 1;
  uint32_t found = 0, tried = 0;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++)
    for (int i = 0; i < 850; i++) { /* 85 positions in x, 10 in y */
      const int column = i / 10, row = i % 10;
      const float x = -2600.0f + 61.7f * (float)column, y = -2300.0f + 517.0f * (float)row;
      sim_event_clear(&s->event);
      pass(s, layer, x, y);
      const uint32_t ids = linked(s);
      tried++;
      for (uint32_t k = 0; k < ids; k++) {
        const uint32_t id = s->event.links[SIM_IN_SCIFI].at[k].id;
        assert_int_equal((id >> SCIFI_LAYER_BIT & 15) - 4, layer);
        assert_true(sl_abs_f32(x_of(s, id, y) - x) < 0.6f);
      }
      found += ids > 0;
    }
  assert_true(found > tried * 96 / 100 && found < tried); /* the others are between modules */
  simulation_free(s);
}

static void there_are_no_clusters_outside_the_fibres(void **state) {
  (void)state;
  static const struct {
    uint32_t layer;
    float x, y;
    uint32_t is_seen;
  } positions[] = {{0, 100, 200, 1},  {0, 100, 50, 0},   {0, 400, 0.2f, 0}, {0, 400, 5, 1},     {0, 530, 500, 0},
                   {0, 2700, 100, 0}, {8, 2650, 100, 0}, {8, 2750, 100, 1}, {3, 300, 2500, 0},  {3, 300, 2400, 1},
                   {4, -1590, 50, 0}, {4, -1500, 50, 1}, {11, 3200, 10, 0}, {0, 0.5f, 1000, 0}, {1, 0, 0, 0}};
  struct sim_simulation *s = make(5);
  s->settings.scifi_efficiency = 1;
  for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
    sim_event_clear(&s->event);
    pass(s, positions[i].layer, positions[i].x, positions[i].y);
    if ((linked(s) > 0) != positions[i].is_seen) fail_msg("position %zu", i);
  }
  simulation_free(s);
}

static void without_efficiency_there_is_only_noise(void **state) {
  (void)state;
  struct sim_simulation *s = make(5);
  uint32_t clusters = 0;
  s->settings.scifi_efficiency = 0;
  for (uint64_t event = 0; event < 40; event++) {
    assert_int_equal(sim_simulate(s, event), SL_OK);
    assert_int_equal(s->event.links[SIM_IN_SCIFI].count, 0);
    clusters += s->scifi_digits.clusters.count;
  }
  assert_in_range(clusters, 40 * 420, 40 * 450);
  simulation_free(s);
}

/* The digits do not depend on the banks that are made or their version. */
static void digits_do_not_depend_on_the_banks_read(void **state) {
  (void)state;
  struct sim_simulation *a = make(5), *b = make(7);
  b->make_flags = SIM_MAKE_ALL;
  for (uint64_t event = 0; event < 4; event++) {
    assert_int_equal(sim_simulate(a, event), SL_OK);
    assert_int_equal(sim_simulate(b, event), SL_OK);
    assert_int_equal(a->scifi_digits.clusters.count, b->scifi_digits.clusters.count);
    assert_memory_equal(a->scifi_digits.clusters.at, b->scifi_digits.clusters.at,
                        a->scifi_digits.clusters.count * sizeof *a->scifi_digits.clusters.at);
  }
  simulation_free(a);
  simulation_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clusters_are_decoded_to_their_pieces),
      cmocka_unit_test(linked_ids_are_decoded_without_duplicates),
      cmocka_unit_test(a_cluster_is_at_the_particles_position),
      cmocka_unit_test(there_are_no_clusters_outside_the_fibres),
      cmocka_unit_test(without_efficiency_there_is_only_noise),
      cmocka_unit_test(digits_do_not_depend_on_the_banks_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
