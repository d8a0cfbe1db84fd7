/* Through the VELO: decays in flight, interactions of neutral hadrons, and charge of hits. */
#include "generator/generator.h"
#include "support.h"
#include "transport/velo.h"
#include "velo/digits.h"

#include <math.h>

enum { GUN = 4000 };

/* A simulation with an event of many particles at the origin with this momentum. */
static struct sim_simulation *gun(enum sim_species_id id, float px, float pz) {
  struct sim_simulation *s = simulation_new();
  s->event.seed = 11;
  struct sim_vertex *v = SIM_APPEND(&s->event.vertices);
  assert_non_null(v);
  *v = (struct sim_vertex){.is_collision = 1};
  for (uint32_t i = 0; i < GUN; i++) assert_non_null(sim_event_add(&s->event, &sim_species[id], 1, px, 0, pz));
  return s;
}

/* Forwards to the end of the VELO, and backwards out of it: the daughters start on the mother's line, in the
 * expected number. */
static void expect_decays(enum sim_species_id id, float px, float pz, double way) {
  struct sim_simulation *s = gun(id, px, pz);
  const struct sim_species *species = &sim_species[id];
  assert_int_equal(sim_transport(&s->velo, &s->lookup, &s->event), 0);
  uint32_t decayed = 0;
  int32_t last = SIM_NO_PARTICLE;
  for (uint32_t i = GUN; i < s->event.particles.count; i++) {
    const struct sim_particle *d = &s->event.particles.at[i];
    if (d->mother >= GUN || !(d->flags & SIM_IS_DECAY)) continue;
    assert_true(fabsf(d->z) < 770.0f && d->z * pz > 0 && fabsf(d->x - px / pz * d->z) < 3.0f);
    assert_true(!s->event.particles.at[d->mother].reached_end);
    decayed += d->mother != last;
    last = d->mother;
  }
  const double per_mm = (double)(species->mass / species->ctau_in_flight) / hypot((double)px, (double)pz);
  const double slant = hypot(1, (double)(px / pz)), expected = 1 - exp(-way * slant * per_mm);
  print_message("%d at %.0f MeV: %.4f decay, expected %.4f\n", species->pdg, (double)pz, (double)decayed / GUN,
                expected);
  assert_true(fabs((double)decayed / GUN - expected) < 4 * sqrt(expected / GUN));
  simulation_free(s);
}

static void pions_and_kaons_decay_before_the_end_of_the_velo(void **state) {
  (void)state;
  expect_decays(SIM_PION, 50, 2000, 770);
  expect_decays(SIM_KAON, 50, 4000, 770);
  expect_decays(SIM_KAON, -50, -4000, 289); /* the last module backwards, where the transport ends */
}

/* In sensors with much material nearly all Lambdas interact; their decay products are cancelled. */
static void neutral_hadrons_interact_before_they_decay(void **state) {
  (void)state;
  struct sim_simulation *s = gun(SIM_LAMBDA, 600, 12000);
  for (uint32_t i = 0; i < GUN; i++) assert_int_equal(sim_decay(&s->event, i), 0);
  const uint32_t first = s->event.particles.count;
  s->velo.sensor_interaction = 0.9f;
  s->velo.foil_interaction_length = 1e9f;
  assert_int_equal(sim_transport(&s->velo, &s->lookup, &s->event), 0);
  uint32_t interacted = 0, undone = 0, charged = 0;
  for (uint32_t i = 0; i < first; i++) {
    const struct sim_particle *p = &s->event.particles.at[i];
    if (i < GUN) {
      interacted += p->lifetime_ns == 0.0f;
      continue;
    }
    const int is_undone = (p->flags & SIM_IS_UNDONE) != 0;
    assert_int_equal(is_undone, p->mother < GUN ? s->event.particles.at[p->mother].lifetime_ns == 0.0f
                                                : (s->event.particles.at[p->mother].flags & SIM_IS_UNDONE) != 0);
    undone += (uint32_t)is_undone;
    if (is_undone) assert_int_equal(p->reached_end, 0);
  }
  for (uint32_t i = 0; i < s->event.velo_hits.count; i++) {
    const struct sim_particle *p = &s->event.particles.at[s->event.velo_hits.at[i].particle];
    assert_true(p->charge != 0 && !(p->flags & SIM_IS_UNDONE));
  }
  for (uint32_t i = first; i < s->event.particles.count; i++) charged += s->event.particles.at[i].charge != 0;
  print_message("%u of %d interact, %u daughters cancelled, %u charged hadrons made\n", interacted, GUN, undone,
                charged);
  assert_true(interacted > GUN / 2 && interacted < GUN);
  assert_true(undone > interacted && charged > interacted);
  simulation_free(s);
}

/* PDG: K_S to two neutral pions 30.69 %, Lambda to n pi0 35.8 %. */
static void a_third_of_the_neutral_hadrons_decays_into_photons(void **state) {
  (void)state;
  static const struct {
    enum sim_species_id id;
    double share;
    uint32_t photons;
  } cases[] = {{SIM_KAON_SHORT, 0.307, 4}, {SIM_LAMBDA, 0.36, 2}};
  for (int k = 0; k < 2; k++) {
    struct sim_simulation *s = gun(cases[k].id, 100, 5000);
    for (uint32_t i = 0; i < s->event.particles.count; i++) assert_int_equal(sim_decay(&s->event, i), 0);
    uint32_t charged = 0, photons = 0;
    double energy = 0;
    for (uint32_t i = GUN; i < s->event.particles.count; i++) {
      const struct sim_particle *p = &s->event.particles.at[i];
      charged += p->charge != 0 && p->mother < GUN;
      photons += p->species == &sim_species[SIM_PHOTON];
      if (p->mother < GUN) energy += hypot((double)sim_momentum(p), (double)p->species->mass) / GUN;
    }
    const double share = 1 - charged / 2.0 / GUN, of_photons = (double)photons / cases[k].photons / GUN;
    print_message("%d: %.3f neutral, %.3f by photons\n", sim_species[cases[k].id].pdg, share, of_photons);
    assert_true(fabs(share - cases[k].share) < 4 * sqrt(0.23 / GUN));
    assert_true(of_photons > 0.95 * share && of_photons < share); /* 1.2 % of the pi0 give one photon */
    assert_true(fabs(energy / hypot(hypot(100, 5000), (double)sim_species[cases[k].id].mass) - 1) < 1e-3);
    simulation_free(s);
  }
}

/* PDG: 1.17 %. Half of the pairs have a mass below sqrt(2 m(e) m(pi0)), 11.7 MeV. */
static void few_pions_make_a_photon_and_a_pair(void **state) {
  (void)state;
  struct sim_simulation *s = gun(SIM_PION_0, 300, 4000);
  for (int k = 0; k < 9; k++)
    for (uint32_t i = 0; i < GUN; i++)
      assert_non_null(sim_event_add(&s->event, &sim_species[SIM_PION_0], 1, 300, 0, 4000));
  const uint32_t pions = 10 * GUN;
  for (uint32_t i = 0; i < pions; i++) assert_int_equal(sim_decay(&s->event, i), 0);
  uint32_t pairs = 0, light = 0;
  for (uint32_t i = pions; i + 1 < s->event.particles.count; i++) {
    const struct sim_particle *a = &s->event.particles.at[i], *b = a + 1;
    if (a->charge == 0 || a->mother != b->mother || b->charge == 0) continue;
    const struct sim_particle *photon = a - 1;
    const double px = (double)a->px + (double)b->px, py = (double)a->py + (double)b->py,
                 pz = (double)a->pz + (double)b->pz;
    const double energy = hypot((double)sim_momentum(a), 0.511) + hypot((double)sim_momentum(b), 0.511);
    assert_int_equal(a->charge + b->charge, 0);
    assert_true(photon->species == &sim_species[SIM_PHOTON] && photon->mother == a->mother);
    assert_true(fabs(px + (double)photon->px - 300) < 0.1 && fabs(py + (double)photon->py) < 0.1);
    assert_true(fabs(pz + (double)photon->pz - 4000) < 0.5);
    light += energy * energy - px * px - py * py - pz * pz < 2 * 0.511 * 134.977;
    pairs++;
  }
  print_message("%.4f of the pi0; %.3f of the pairs have a small mass\n", (double)pairs / pions, (double)light / pairs);
  assert_true(fabs((double)pairs / pions - 0.0117) < 0.002);
  assert_true(fabs((double)light / pairs - 0.5) < 0.1);
  simulation_free(s);
}

/* A crossing at a small angle to the sensor leaves all of its charge, in any number of pixels. */
static void no_charge_is_lost_in_long_clusters(void **state) {
  (void)state;
  struct sim_simulation *s = gun(SIM_PION, 0, 1000);
  for (uint32_t i = 0; i < 50; i++) {
    struct sim_velo_hit *hit = SIM_APPEND(&s->event.velo_hits);
    assert_non_null(hit);
    *hit = (struct sim_velo_hit){
        .sensor = 0, .particle = i, .lx = 20.01f, .ly = 7.01f, .slope_x = 6.0f, .slope_y = 6.0f + 0.01f * (float)i};
  }
  assert_int_equal(sim_velo_charge(&s->velo, 1.0f, &s->event, &s->velo_digits.charges), 0);
  uint32_t most = 0;
  for (uint32_t i = 0; i < 50; i++) {
    double electrons = 0;
    uint32_t pixels = 0;
    for (uint32_t k = 0; k < s->velo_digits.charges.count; k++) {
      if (s->velo_digits.charges.at[k].particle != i) continue;
      electrons += s->velo_digits.charges.at[k].electrons;
      pixels++;
    }
    const double slant = sqrt(1 + 36 + pow(6 + 0.01 * i, 2)), least = 11000 * slant; /* below nearly all charges */
    assert_true(electrons > least);
    most = pixels > most ? pixels : most;
  }
  print_message("%u pixels at most\n", most);
  assert_true(most > 32);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pions_and_kaons_decay_before_the_end_of_the_velo),
      cmocka_unit_test(neutral_hadrons_interact_before_they_decay),
      cmocka_unit_test(a_third_of_the_neutral_hadrons_decays_into_photons),
      cmocka_unit_test(few_pions_make_a_photon_and_a_pair),
      cmocka_unit_test(no_charge_is_lost_in_long_clusters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
