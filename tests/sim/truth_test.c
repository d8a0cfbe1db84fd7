/* truth_test.c: truth of hand-made events: lists of ids, and flags by the rules for hits, read back from the banks.
 * The test has its own implementation of the rules. */
#include "association/mc_particles.h"
#include "support.h"

enum { LAYERS_OF_UT = 4, LAYERS_OF_SCIFI = 12, PION_COUNT_MAX = 1 << LAYERS_OF_SCIFI };

static struct sim_simulation *s;
static struct mc_event mc;

static int start(void **state) {
  (void)state;
  s = simulation_new();
  return 0;
}

static int stop(void **state) {
  (void)state;
  mc_event_free(&mc);
  simulation_free(s);
  return 0;
}

static uint32_t ut_id(uint32_t layer, uint32_t strip) { return 0x30400000u | layer << 18 | strip; }
/* Layers 0 to 11. */
static uint32_t scifi_id(uint32_t layer, uint32_t channel) { return 0x50040000u + (layer << 16) + channel; }

/* Makes an event with one collision and `pions` pions without hits. */
static void begin_event(uint32_t pions) {
  sim_event_clear(&s->event);
  s->velo_digits.clusters.count = s->velo_digits.links.count = 0;
  struct sim_vertex *vertex = SIM_APPEND(&s->event.vertices);
  assert_non_null(vertex);
  *vertex = (struct sim_vertex){.is_collision = 1, .count = pions};
  for (uint32_t i = 0; i < pions; i++)
    assert_non_null(sim_event_add(&s->event, &sim_species[SIM_PION], 1, 100, 0, 5000));
}

static void add_link(enum sim_detector detector, uint32_t particle, uint32_t id) {
  struct sim_id_link *link = SIM_APPEND(&s->event.links[detector]);
  assert_non_null(link);
  *link = (struct sim_id_link){particle, id};
}

/* Adds a cluster in each of the first modules; call it for particles in ascending order. */
static void add_velo_hits(uint32_t particle, uint32_t modules) {
  for (uint32_t i = 0; i < modules; i++) {
    struct sim_cluster *cluster = SIM_APPEND(&s->velo_digits.clusters);
    struct sim_link *link = SIM_APPEND(&s->velo_digits.links);
    assert_true(cluster && link);
    *cluster = (struct sim_cluster){.sensor = i * VELO_MODULE_SENSORS, .pixel_count = 1, .columns = 5, .rows = 7};
    *link = (struct sim_link){particle, s->velo_digits.clusters.count - 1};
  }
}

/* Makes the truth and decodes it. */
static void make_truth(void) {
  struct bank_fields f;
  const char *reason = "";
  sim_banks_clear(&s->banks);
  assert_int_equal(sim_truth_make(&s->event, &s->velo_digits, s->versions.clusters), 0);
  assert_int_equal(sim_truth_banks(&s->banks, &s->event), 0);
  bank_fields_of(s, SIM_BANK_MC_PARTICLES, &f);
  const struct mc_particle_banks_view view = {.offsets = f.offsets,
                                              .source_id = f.source_id,
                                              .version = f.version,
                                              .size_bytes = f.size_bytes,
                                              .first_word = f.first_word,
                                              .payload = s->banks.words.at};
  if (mc_event_decode(&mc, &view, 0, &reason)) fail_msg("%s", reason);
}

static void assert_ids(const struct mc_hits *hits, const uint32_t *expected, uint32_t count) {
  assert_int_equal(hits->count, count);
  assert_memory_equal(mc.ids + hits->first, expected, count * sizeof *expected);
}

static void ids_are_those_of_the_links_sorted_and_unique(void **state) {
  (void)state;
  const uint32_t ut_of_0[] = {ut_id(0, 3), ut_id(1, 2), ut_id(3, 1)}, ut_of_2[] = {ut_id(0, 3)};
  const uint32_t scifi_of_1[] = {scifi_id(0, 9), scifi_id(11, 1)}, scifi_of_2[] = {scifi_id(0, 9), scifi_id(0, 10)};
  begin_event(4);
  add_link(SIM_IN_UT, 2, ut_id(0, 3));
  add_link(SIM_IN_UT, 0, ut_id(3, 1));
  add_link(SIM_IN_UT, 0, ut_id(0, 3));
  add_link(SIM_IN_UT, 2, ut_id(0, 3));
  add_link(SIM_IN_UT, 0, ut_id(1, 2));
  add_link(SIM_IN_UT, 0, ut_id(3, 1));
  add_link(SIM_IN_SCIFI, 1, scifi_id(11, 1));
  add_link(SIM_IN_SCIFI, 2, scifi_id(0, 10));
  add_link(SIM_IN_SCIFI, 2, scifi_id(0, 9));
  add_link(SIM_IN_SCIFI, 1, scifi_id(0, 9));
  for (int again = 0; again < 2; again++) {
    make_truth();
    assert_int_equal(mc.particle_count, 3);
    assert_ids(&mc.particles[0].ut, ut_of_0, 3);
    assert_ids(&mc.particles[0].scifi, NULL, 0);
    assert_ids(&mc.particles[1].ut, NULL, 0);
    assert_ids(&mc.particles[1].scifi, scifi_of_1, 2);
    assert_ids(&mc.particles[2].ut, ut_of_2, 1);
    assert_ids(&mc.particles[2].scifi, scifi_of_2, 2);
  }
}

static void particles_with_hits_are_listed(void **state) {
  (void)state;
  begin_event(6);
  add_velo_hits(1, 1);
  add_link(SIM_IN_UT, 5, ut_id(0, 1));
  add_link(SIM_IN_SCIFI, 3, scifi_id(0, 1));
  make_truth();
  assert_int_equal(mc.particle_count, 3);
  assert_int_equal(mc.particles[0].key, 1);
  assert_int_equal(mc.particles[1].key, 3);
  assert_int_equal(mc.particles[2].key, 5);
  begin_event(3); /* the previous event leaves no particles */
  make_truth();
  assert_int_equal(mc.particle_count, 0);
}

/* One particle for each set of layers. */
static void ut_flag_requires_hits_in_both_halves(void **state) {
  (void)state;
  begin_event(1 << LAYERS_OF_UT);
  for (uint32_t set = 0; set < 1 << LAYERS_OF_UT; set++)
    for (uint32_t layer = 0; layer < LAYERS_OF_UT; layer++)
      if (set >> layer & 1) add_link(SIM_IN_UT, set, ut_id(layer, set));
  make_truth();
  assert_int_equal(mc.particle_count, (1 << LAYERS_OF_UT) - 1);
  for (uint32_t i = 0; i < mc.particle_count; i++) {
    const uint32_t set = mc.particles[i].key;
    const int a = (set & 1) || (set & 2), b = (set & 4) || (set & 8);
    assert_int_equal(mc.particles[i].flags, a && b ? MC_HAS_UT : 0);
  }
}

static void scifi_flag_requires_x_and_stereo_hits_in_each_station(void **state) {
  (void)state;
  uint32_t seen = 0;
  begin_event(PION_COUNT_MAX);
  for (uint32_t set = 0; set < PION_COUNT_MAX; set++)
    for (uint32_t layer = 0; layer < LAYERS_OF_SCIFI; layer++)
      if (set >> layer & 1) add_link(SIM_IN_SCIFI, set, scifi_id(layer, set));
  make_truth();
  assert_int_equal(mc.particle_count, PION_COUNT_MAX - 1);
  for (uint32_t i = 0; i < mc.particle_count; i++) {
    const uint32_t set = mc.particles[i].key;
    int has_scifi = 1;
    for (uint32_t first = 0; first < LAYERS_OF_SCIFI; first += 4) {
      const uint32_t x = set >> first & 1 || set >> (first + 3) & 1;
      const uint32_t stereo = set >> (first + 1) & 1 || set >> (first + 2) & 1;
      has_scifi = has_scifi && x && stereo;
    }
    assert_int_equal(mc.particles[i].flags, has_scifi ? MC_HAS_SCIFI : 0);
    seen += (uint32_t)has_scifi;
  }
  assert_int_equal(seen, 9 * 9 * 9);
}

/* One particle for each set of detectors; in the VELO two modules are not enough. */
static void long_and_downstream_follow_from_the_detectors(void **state) {
  (void)state;
  begin_event(8);
  for (uint32_t set = 0; set < 8; set++) {
    add_velo_hits(set, set & 1 ? 3 : 2);
    for (uint32_t layer = 0; layer < LAYERS_OF_UT && (set & 2); layer++) add_link(SIM_IN_UT, set, ut_id(layer, set));
    for (uint32_t layer = 0; layer < LAYERS_OF_SCIFI && (set & 4); layer++)
      add_link(SIM_IN_SCIFI, set, scifi_id(layer, set));
  }
  make_truth();
  assert_int_equal(mc.particle_count, 8);
  for (uint32_t set = 0; set < 8; set++) {
    const uint32_t flags = mc.particles[set].flags;
    assert_int_equal((flags & MC_HAS_VELO) != 0, (set & 1) != 0);
    assert_int_equal((flags & MC_HAS_UT) != 0, (set & 2) != 0);
    assert_int_equal((flags & MC_HAS_SCIFI) != 0, (set & 4) != 0);
    assert_int_equal((flags & MC_IS_LONG) != 0, (set & 5) == 5);
    assert_int_equal((flags & MC_IS_DOWN) != 0, (set & 6) == 6);
  }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(ids_are_those_of_the_links_sorted_and_unique),  CASE(particles_with_hits_are_listed),
      CASE(ut_flag_requires_hits_in_both_halves),          CASE(scifi_flag_requires_x_and_stereo_hits_in_each_station),
      CASE(long_and_downstream_follow_from_the_detectors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
