/* Simulated events do not depend on earlier events, obey conservation laws of decays, and have a consistent truth. */
#include "association/mc_particles.h"
#include "generator/crossing.h"
#include "support.h"

#include <math.h>

static void assert_same_banks(const struct sim_bank_list *a, const struct sim_bank_list *b) {
  assert_int_equal(a->banks.count, b->banks.count);
  assert_int_equal(a->words.count, b->words.count);
  assert_memory_equal(a->banks.at, b->banks.at, a->banks.count * sizeof *a->banks.at);
  assert_memory_equal(a->words.at, b->words.at, a->words.count * sizeof *a->words.at);
}

static void an_event_does_not_depend_on_those_before_it(void **state) {
  (void)state;
  struct sim_simulation *one = simulation_new(), *other = simulation_new();
  for (uint64_t event = 0; event < 20; event++) assert_int_equal(sim_simulate(one, event), 0);
  assert_int_equal(sim_simulate(one, 7), 0);
  assert_int_equal(sim_simulate(other, 7), 0);
  assert_same_banks(&one->banks, &other->banks);
  assert_int_equal(sim_simulate(other, 8), 0);
  assert_true(one->banks.words.count != other->banks.words.count ||
              memcmp(one->banks.words.at, other->banks.words.at, one->banks.words.count * 4) != 0);
  simulation_free(one);
  simulation_free(other);
}

static void another_seed_makes_other_events(void **state) {
  (void)state;
  struct sim_simulation *one = simulation_new(), *other = simulation_new();
  other->settings.seed = 2;
  assert_int_equal(sim_simulate(one, 0), 0);
  assert_int_equal(sim_simulate(other, 0), 0);
  assert_true(one->banks.words.count != other->banks.words.count);
  simulation_free(one);
  simulation_free(other);
}

/* ------------------------------------------------------------------------------------------------- crossings */

static void crossings_are_of_all_kinds_and_their_times_ascend(void **state) {
  (void)state;
  const struct sim_settings settings = {
      .seed = 5, .mu = 1, .luminosity_fraction = 0.1f, .beam_gas_fraction = 0.1f, .empty_fraction = 0.1f, .run = 12};
  uint32_t types[4] = {0}, luminosity = 0, gas = 0;
  uint64_t before = 0;
  enum { COUNT = 20000 };
  for (uint64_t i = 0; i < COUNT; i++) {
    struct sim_crossing c;
    sim_crossing_make(&settings, i, &c);
    assert_true(c.bunch_id < 3564 && c.gps_time_us > before && c.run == 12 && c.orbit == i + 1);
    before = c.gps_time_us;
    types[c.type]++;
    luminosity += c.is_luminosity;
    gas += c.is_beam_gas;
    assert_true(!c.is_beam_gas || c.type == SIM_BEAM_1 || c.type == SIM_BEAM_2);
  }
  assert_in_range(luminosity, COUNT / 10 - 250, COUNT / 10 + 250);
  assert_in_range(gas, COUNT / 10 - 250, COUNT / 10 + 250);
  assert_in_range(types[SIM_NO_BEAM], COUNT * 0.11 - 250, COUNT * 0.11 + 250);
  assert_in_range(types[SIM_BEAM_BEAM], COUNT * 0.77 - 350, COUNT * 0.77 + 350);
}

/* Field positions: plugins/odin/README.md. */
static void odin_banks_of_both_versions_agree(void **state) {
  (void)state;
  const struct sim_crossing c = {.number = 0x123456789Aull,
                                 .run = 77,
                                 .orbit = 0xABCDEF,
                                 .bunch_id = 0xDEC,
                                 .gps_time_us = 0x1122334455667788ull,
                                 .type = SIM_BEAM_2,
                                 .is_luminosity = 1};
  struct sim_bank_list list = {.banks = {0}};
  assert_int_equal(sim_odin_bank(&list, &c, 6), 0);
  assert_int_equal(sim_odin_bank(&list, &c, 7), 0);
  const uint32_t *v6 = list.words.at + list.banks.at[0].first_word, *v7 = list.words.at + list.banks.at[1].first_word;
  assert_int_equal(list.banks.at[0].size_bytes, 40);
  assert_int_equal(list.banks.at[1].version, 7);
  assert_true(v6[0] == 77 && v7[0] == 77 && (v6[1] & 0x0008) && v6[1] == v7[1]);
  assert_true(v6[2] == 0xABCDEF && v7[7] == 0xABCDEF);
  assert_true(v6[3] == 0x12 && v6[4] == 0x3456789A && v7[8] == 0x3456789A && v7[9] == 0x12);
  assert_true(v6[5] == 0x11223344 && v6[6] == 0x55667788 && v7[2] == 0x55667788 && v7[3] == 0x11223344);
  assert_true((v6[8] & 0xFFF) == 0xDEC && (v7[6] & 0xFFF) == 0xDEC);
  assert_true((v6[8] >> 22 & 3) == 2 && (v7[6] >> 12 & 3) == 2 && (v6[8] >> 16 & 7) == 2 && (v7[6] >> 23 & 15) == 2);
  sim_banks_free(&list);
}

/* ------------------------------------------------------------------------------------------------- collisions */

static void events_without_two_beams_or_collisions_are_empty_and_valid(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  s->settings.mu = 0;
  assert_int_equal(sim_simulate(s, 0), 0);
  assert_int_equal(s->event.particles.count, 0);
  s->settings.mu = 5.3f;
  s->settings.luminosity_fraction = 0;
  s->settings.empty_fraction = 1;
  assert_int_equal(sim_simulate(s, 0), 0);
  assert_int_equal(s->event.particles.count, 0);
  assert_int_equal(s->banks.banks.count, 1 + 2 + 2 * VELO_SENSORS);
  simulation_free(s);
}

static void beam_gas_particles_follow_the_beam(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  s->settings.luminosity_fraction = 0;
  s->settings.beam_gas_fraction = 1;
  for (uint64_t event = 0; event < 50; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    double pz = 0;
    for (uint32_t i = 0; i < s->event.particles.count; i++)
      if (s->event.particles.at[i].mother == SIM_NO_PARTICLE) pz += (double)s->event.particles.at[i].pz;
    assert_true(s->event.particles.count == 0 || (pz > 0) == (s->event.crossing.type == SIM_BEAM_1));
  }
  simulation_free(s);
}

/* The sum of the daughters equals momentum, energy and charge of the mother. */
static void decays_conserve_momentum_energy_and_charge(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  uint32_t decays = 0;
  s->settings.signal = SIM_SIGNAL_Bs_phiphi;
  s->make_flags = 0; /* no decays in flight downstream of the VELO: neutrinos would take momentum */
  for (uint64_t event = 0; event < 5; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    const struct sim_particle *p = s->event.particles.at;
    for (uint32_t i = 0; i + 1 < s->event.particles.count; i++) {
      if (!(p[i].flags & SIM_IS_DECAY) || p[i + 1].mother != p[i].mother) continue;
      const struct sim_particle *m = &p[p[i].mother];
      if (m->species->ctau_in_flight > 0.0f || may_hide_daughters(m)) continue; /* neutrinos are not listed */
      double px = 0, pz = 0, e = 0;
      int32_t charge = 0;
      uint32_t end = i;
      for (; end < s->event.particles.count && p[end].mother == p[i].mother; end++) {
        px += (double)p[end].px;
        pz += (double)p[end].pz;
        e += hypot((double)sim_momentum(&p[end]), (double)p[end].species->mass);
        charge += p[end].charge;
      }
      const double expected = hypot((double)sim_momentum(m), (double)m->species->mass);
      assert_true(fabs(px - (double)m->px) < 1e-4 * expected && fabs(pz - (double)m->pz) < 1e-4 * expected);
      assert_true(fabs(e - expected) < 1e-4 * expected);
      assert_int_equal(charge, m->charge);
      decays++;
      i = end - 1;
    }
  }
  assert_true(decays > 100);
  simulation_free(s);
}

static void signal_hadrons_have_their_lifetime(void **state) {
  (void)state;
  static const struct {
    enum sim_signal signal;
    enum sim_species_id species;
  } cases[] = {{SIM_SIGNAL_B0_Kpi, SIM_B_0}, {SIM_SIGNAL_Bs_phiphi, SIM_B_S}, {SIM_SIGNAL_D0_Kpi, SIM_D_0}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    struct sim_simulation *s = simulation_new();
    double sum = 0;
    enum { COUNT = 2000 };
    s->settings.mu = 0;
    s->settings.luminosity_fraction = 0;
    s->settings.signal = cases[k].signal;
    s->event.seed = s->settings.seed;
    for (uint64_t event = 0; event < COUNT; event++) {
      sim_event_clear(&s->event);
      sim_crossing_make(&s->settings, event, &s->event.crossing);
      assert_int_equal(sim_generate(&s->settings, &s->event), 0);
      const struct sim_particle *p = &s->event.particles.at[0];
      assert_ptr_equal(p->species, &sim_species[cases[k].species]);
      sum += (double)p->lifetime_ns * 299.792458;
    }
    const double expected = (double)sim_species[cases[k].species].ctau;
    assert_true(fabs(sum / COUNT / expected - 1) < 5 / sqrt(COUNT));
    simulation_free(s);
  }
}

/* A particle that leaves the VELO forwards has a state at its end, for the detectors downstream. */
static void forward_tracks_have_a_state_after_the_velo(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  uint32_t states = 0;
  for (uint64_t event = 0; event < 10; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    for (uint32_t i = 0; i < s->event.particles.count; i++) {
      const struct sim_particle *p = &s->event.particles.at[i];
      if (!p->reached_end || p->charge == 0 || p->velo_modules < 5) continue;
      assert_true(p->end.direction > 0 && p->end.z >= 770.0f && p->end_p > 0 && p->end_p <= 1.001f * sim_momentum(p));
      states++;
    }
  }
  assert_true(states > 500);
  simulation_free(s);
}

/* ------------------------------------------------------------------------------------------------------ truth */

static void the_truth_is_read_back(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  struct mc_event mc = {0};
  uint32_t in_ut = 0, in_scifi = 0;
  s->settings.signal = SIM_SIGNAL_Jpsi_mumu;
  for (uint64_t event = 0; event < 10; event++) {
    struct bank_fields f;
    const char *reason = "";
    assert_int_equal(sim_simulate(s, event), 0);
    bank_fields_of(s, SIM_BANK_MC_PARTICLES, &f);
    const struct mc_particle_banks_view view = {.offsets = f.offsets,
                                                .source_id = f.source_id,
                                                .version = f.version,
                                                .size_bytes = f.size_bytes,
                                                .first_word = f.first_word,
                                                .payload = s->banks.words.at};
    assert_int_equal(mc_event_decode(&mc, &view, 0, &reason), 0);
    uint32_t listed = 0, ids = s->event.velo_ids.count;
    for (uint32_t i = 0; i < s->event.particles.count; i++) {
      const struct sim_particle *p = &s->event.particles.at[i];
      const uint32_t tracker_ids = p->ids[SIM_IN_UT].count + p->ids[SIM_IN_SCIFI].count;
      listed += p->velo_count + tracker_ids > 0;
      ids += tracker_ids;
    }
    assert_int_equal(mc.particle_count, listed);
    assert_int_equal(mc.id_count, ids);
    for (uint32_t i = 0; i < mc.particle_count; i++) {
      const struct mc_particle *p = &mc.particles[i];
      const struct sim_particle *of = &s->event.particles.at[p->key];
      uint64_t modules = 0;
      for (uint32_t k = 0; k < p->velo.count; k++) modules |= 1ull << (mc.ids[p->velo.first + k] >> 20 & 0x3F);
      assert_int_equal((p->flags & MC_HAS_VELO) != 0, __builtin_popcountll(modules) >= 3);
      in_ut += (p->flags & MC_HAS_UT) != 0;
      in_scifi += (p->flags & MC_HAS_SCIFI) != 0;
      assert_int_equal((p->flags & MC_IS_LONG) != 0, (p->flags & MC_HAS_VELO) && (p->flags & MC_HAS_SCIFI));
      assert_int_equal((p->flags & MC_FROM_SIGNAL) != 0, (of->flags & SIM_FROM_SIGNAL) != 0);
      assert_true(fabsf(p->p * p->p - p->pt * p->pt - of->pz * of->pz) <= 1e-4f * p->p * p->p);
      assert_true(p->charge == (float)of->charge && p->charge != 0);
      assert_true(fabsf(sinhf(p->eta) - of->pz / p->pt) <= 0.02f * (1 + fabsf(of->pz / p->pt)));
    }
  }
  /* truth_test.c tests the rules of truth.c */
  assert_true(in_ut > 800 && in_scifi > 800);
  mc_event_free(&mc);
  simulation_free(s);
}

static void vertices_are_listed_with_their_tracks(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  uint32_t with_tracks = 0;
  for (uint64_t event = 0; event < 20; event++) {
    struct bank_fields f;
    int32_t count, tracks;
    double place[3];
    assert_int_equal(sim_simulate(s, event), 0);
    bank_fields_of(s, SIM_BANK_MC_VERTICES, &f);
    assert_int_equal(f.count, 1);
    const unsigned char *payload = (const unsigned char *)(s->banks.words.at + f.first_word[0]);
    memcpy(&count, payload, 4);
    assert_int_equal(count, s->event.vertices.count);
    assert_int_equal(f.size_bytes[0], 4 + 28 * count);
    for (int32_t i = 0; i < count; i++) {
      memcpy(&tracks, payload + 4 + 28 * i, 4);
      memcpy(place, payload + 8 + 28 * i, sizeof place);
      assert_true(fabs(place[0]) < 0.2 && fabs(place[1]) < 0.2 && fabs(place[2]) < 400);
      assert_true(tracks >= 0 && tracks < 1000);
      with_tracks += tracks >= 4;
    }
  }
  assert_in_range(with_tracks, 60, 150);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_event_does_not_depend_on_those_before_it),
      cmocka_unit_test(another_seed_makes_other_events),
      cmocka_unit_test(crossings_are_of_all_kinds_and_their_times_ascend),
      cmocka_unit_test(odin_banks_of_both_versions_agree),
      cmocka_unit_test(events_without_two_beams_or_collisions_are_empty_and_valid),
      cmocka_unit_test(beam_gas_particles_follow_the_beam),
      cmocka_unit_test(decays_conserve_momentum_energy_and_charge),
      cmocka_unit_test(signal_hadrons_have_their_lifetime),
      cmocka_unit_test(forward_tracks_have_a_state_after_the_velo),
      cmocka_unit_test(the_truth_is_read_back),
      cmocka_unit_test(vertices_are_listed_with_their_tracks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
