/* Soft particles downstream of the VELO: they change no other particle, and are as many as in full simulation. */
#include "transport/soft.h"

#include "support.h"
#include "transport/magnet.h"

#include <math.h>

/* An event of protons side by side in a layer of the SciFi. */
static struct sim_event *event_new(uint32_t passages) {
  struct sim_event *event = calloc(1, sizeof *event);
  assert_non_null(event);
  event->seed = 5;
  struct sim_vertex *v = SIM_APPEND(&event->vertices);
  assert_non_null(v);
  *v = (struct sim_vertex){.is_collision = 1};
  for (uint32_t i = 0; i < passages; i++) {
    assert_non_null(sim_event_add(event, &sim_species[SIM_PROTON], 1, 0, 0, 5000));
    struct sim_passage *p = SIM_APPEND(&event->passages[SIM_IN_SCIFI]);
    assert_non_null(p);
    *p = (struct sim_passage){
        .particle = i, .layer = 6, .x = 5.0f * (float)i - 2500.0f, .y = 300, .z = 8648.1f, .p = 5000, .time_ns = 29};
  }
  return event;
}

static void event_free(struct sim_event *event) {
  sim_event_free(event);
  free(event);
}

static void without_passages_there_are_no_soft_particles(void **state) {
  (void)state;
  struct sim_event *event = event_new(0);
  assert_int_equal(sim_soft(event), 0);
  assert_int_equal(event->particles.count, 0);
  for (int d = 0; d < SIM_DETECTORS; d++) assert_int_equal(event->passages[d].count, 0);
  event_free(event);
}

static void other_particles_do_not_change(void **state) {
  (void)state;
  struct sim_event *event = event_new(1000), *before = event_new(1000);
  assert_int_equal(sim_soft(event), 0);
  assert_true(event->particles.count > 1030 && event->particles.count < 1100);
  assert_true(event->passages[SIM_IN_SCIFI].count > 1100);
  assert_int_equal(event->passages[SIM_IN_UT].count, 0);
  assert_memory_equal(event->particles.at, before->particles.at, 1000 * sizeof *before->particles.at);
  assert_memory_equal(event->passages[SIM_IN_SCIFI].at, before->passages[SIM_IN_SCIFI].at,
                      1000 * sizeof(struct sim_passage));
  event_free(event);
  event_free(before);
}

/* Each has a mother, starts before its first passage, and has passages in the planes of layers. */
static void soft_particles_are_consistent(void **state) {
  (void)state;
  struct sim_event *event = event_new(1000);
  assert_int_equal(sim_soft(event), 0);
  uint32_t last = 0;
  for (uint32_t i = 1000; i < event->passages[SIM_IN_SCIFI].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_SCIFI].at[i];
    const struct sim_particle *of = &event->particles.at[p->particle];
    assert_true(p->particle >= 1000 && p->particle < event->particles.count && of->charge != 0);
    assert_true(of->mother >= 0 && of->mother < 1000 && (of->flags & SIM_IS_SECONDARY));
    if (p->particle != last) { /* its first passage */
      assert_true((of->pz > 0) == (of->z < p->z));
      assert_true(fabsf(of->z - p->z) < 800 && fabsf(of->px / of->pz - p->tx) < 1e-4f);
      assert_true(p->time_ns >= 29 && p->time_ns < 50);
    }
    last = p->particle;
    assert_true(fabsf(sim_momentum(of) - p->p) < 1e-3f * p->p && p->p > 1);
    uint32_t is_in_layer = 0;
    for (uint32_t k = 0; k < sim_plane_count; k++)
      is_in_layer |=
          sim_planes[k].detector == SIM_IN_SCIFI && sim_planes[k].layer == p->layer && p->z == (float)sim_planes[k].z;
    assert_true(is_in_layer);
  }
  event_free(event);
}

/* Layer of an LHCbID. */
static uint32_t layer_of(enum sim_detector detector, uint32_t id) {
  return detector == SIM_IN_UT ? id >> 18 & 3 : (id >> 16 & 15) - 4;
}

/* Identifiers of particles per event and layer in six events of full simulation, per VELO cluster; README.md has the
 * table. */
static void layers_are_as_full_as_in_full_simulation(void **state) {
  (void)state;
  static const double expected[2][12] = {
      {233.7, 238.2, 265.7, 261.5},
      {263.5, 253.3, 268.0, 271.5, 234.5, 241.7, 263.7, 265.2, 258.3, 265.7, 278.5, 281.5}};
  static const uint32_t layers[2] = {4, 12};
  enum { EVENTS = 300 };
  static const double expected_clusters = 1829.2;
  double found[2][12] = {{0}}, clusters = 0;
  struct sim_simulation *s = simulation_new();
  s->make_flags = SIM_MAKE_ALL;
  for (uint64_t event = 0; event < EVENTS; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    for (int d = 0; d < 2; d++)
      for (uint32_t i = 0; i < s->event.links[d].count; i++)
        found[d][layer_of((enum sim_detector)d, s->event.links[d].at[i].id)] += 1.0 / EVENTS;
    clusters += (double)s->velo_digits.clusters.count / EVENTS;
  }
  for (int d = 0; d < 2; d++) {
    double sum = 0, wanted = 0;
    for (uint32_t l = 0; l < layers[d]; l++) {
      const double scaled = found[d][l] * expected_clusters / clusters;
      print_message("%s %u: %.1f, full simulation %.1f\n", d ? "SciFi" : "UT", l, scaled, expected[d][l]);
      assert_true(fabs(scaled / expected[d][l] - 1) < 0.2);
      sum += scaled;
      wanted += expected[d][l];
    }
    assert_true(fabs(sum / wanted - 1) < 0.1);
  }
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_passages_there_are_no_soft_particles),
      cmocka_unit_test(other_particles_do_not_change),
      cmocka_unit_test(soft_particles_are_consistent),
      cmocka_unit_test(layers_are_as_full_as_in_full_simulation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
