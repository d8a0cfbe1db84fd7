/* Decays: products of the signals, their momenta and lifetimes, and phase space. */
#include "generator/crossing.h"
#include "generator/phase_space.h"
#include "support.h"

#include <math.h>

static struct sim_simulation *only_signal(enum sim_signal signal) {
  struct sim_simulation *s = simulation_new();
  s->settings.mu = 0;
  s->settings.luminosity_fraction = 0;
  s->settings.signal = signal;
  s->event.seed = s->settings.seed;
  return s;
}

static void generate(struct sim_simulation *s, uint64_t number) {
  sim_event_clear(&s->event);
  sim_crossing_make(&s->settings, number, &s->event.crossing);
  assert_int_equal(sim_generate(&s->settings, &s->event), 0);
  /* Particles that are followed decay on the way. */
  struct sim_particle *head = s->event.particles.at;
  if (head->mode == NULL || head->species->ctau_in_flight == 0.0f) return;
  const struct sim_state at = {
      .z = 100.0f, .tx = head->px / head->pz, .ty = head->py / head->pz, .direction = head->pz > 0.0f ? 1.0f : -1.0f};
  assert_int_equal(sim_flight_decay(&s->event, 0, &at, sim_momentum(head)), 0);
}

static int32_t pdg_of(const struct sim_particle *p) {
  return p->species->is_own_antiparticle ? p->species->pdg : p->sign * p->species->pdg;
}

/* Decay products of the signal particle: daughters, then their daughters; signs are reversed for antiparticles. */
static const struct {
  enum sim_signal signal;
  int32_t pdg[8];
} chains[] = {
    {SIM_SIGNAL_B0_Kpi, {511, 321, -211}},
    {SIM_SIGNAL_Bs_phiphi, {531, 333, 333, 321, -321, 321, -321}},
    {SIM_SIGNAL_D0_Kpi, {421, -321, 211}},
    {SIM_SIGNAL_Jpsi_mumu, {443, 13, -13}},
    {SIM_SIGNAL_Bplus_JpsiK, {521, 443, 321, 13, -13}},
    {SIM_SIGNAL_Dst_D0pi, {413, 421, 211, -321, 211}},
    {SIM_SIGNAL_Bs_mumu, {531, 13, -13}},
    {SIM_SIGNAL_Z_mumu, {23, 13, -13}},
    {SIM_SIGNAL_Lambdab_Lambdac, {5122, 4122, -211, 2212, -321, 211}},
    {SIM_SIGNAL_Ks_pipi, {310, 211, -211}},
    {SIM_SIGNAL_B_KstarGamma, {511, 313, 22, 321, -211}},
    {SIM_SIGNAL_Jpsi_ee, {443, 11, -11}},
    {SIM_SIGNAL_Z_ee, {23, 11, -11}},
    {SIM_SIGNAL_Upsilon_mumu, {553, 13, -13}},
    {SIM_SIGNAL_A_ee, {9900022, 11, -11}},
    {SIM_SIGNAL_Lambda_ppi, {3122, 2212, -211}},
    {SIM_SIGNAL_Xi_LambdaPi, {3312, 3122, -211, 2212, -211}},
    {SIM_SIGNAL_Omega_LambdaK, {3334, 3122, -321, 2212, -211}},
    {SIM_SIGNAL_Kplus_3pi, {321, 211, 211, -211}},
    {SIM_SIGNAL_D0_KK, {421, 321, -321}},
    {SIM_SIGNAL_D0_pipi, {421, 211, -211}},
    {SIM_SIGNAL_D0_KsPiPi, {421, 310, 211, -211, 211, -211}},
    {SIM_SIGNAL_tau_PhiMu, {15, 333, 13, 321, -321}},
    {SIM_SIGNAL_etac_ppbar, {441, 2212, -2212}},
    {SIM_SIGNAL_pi0_GammaGamma, {111, 22, 22}},
    {SIM_SIGNAL_Bs_GammaGamma, {531, 22, 22}},
    {SIM_SIGNAL_S500_pipi, {9900054, 211, -211}},
    {SIM_SIGNAL_S500_mumu, {9900054, 13, -13}},
    {SIM_SIGNAL_S1500_KK, {9910054, 321, -321}},
    {SIM_SIGNAL_S1500_ee, {9910054, 11, -11}},
    {SIM_SIGNAL_S4000_mumu, {9920054, 13, -13}},
    {SIM_SIGNAL_S4000_KK, {9920054, 321, -321}},
};
enum { CHAINS = sizeof chains / sizeof chains[0] };

static int32_t other_sign(int32_t pdg) {
  for (uint32_t i = 0; i < SIM_SPECIES_COUNT; i++)
    if (sim_species[i].pdg == pdg && sim_species[i].is_own_antiparticle) return pdg;
  return -pdg;
}

static void signals_decay_to_their_named_products(void **state) {
  (void)state;
  assert_int_equal(CHAINS, SIM_SIGNAL_COUNT - 2); /* without `none` and `jets` */
  for (int k = 0; k < CHAINS; k++) {
    struct sim_simulation *s = only_signal(chains[k].signal);
    uint32_t length = 0, opposite = 0;
    while (length < 8 && chains[k].pdg[length] != 0) length++;
    for (uint64_t event = 0; event < 50; event++) {
      generate(s, event);
      assert_true(s->event.particles.count >= length);
      const struct sim_particle *p = s->event.particles.at;
      opposite += p->sign < 0;
      for (uint32_t i = 0, at = 0; i < length; i++, at++) {
        while (at < s->event.particles.count && !(p[at].flags & SIM_FROM_SIGNAL)) at++; /* others */
        assert_true(at < s->event.particles.count);
        const int32_t sign = i == 0 ? p->sign : p[p[at].mother].sign;
        assert_int_equal(pdg_of(&p[at]), sign < 0 ? other_sign(chains[k].pdg[i]) : chains[k].pdg[i]);
      }
    }
    assert_true(s->event.particles.at->species->is_own_antiparticle ? opposite == 0 : opposite > 10 && opposite < 40);
    simulation_free(s);
  }
}

/* The sum of the daughters' momenta, energies and charges equals the mother's. */
static void chains_conserve_momentum_energy_and_charge(void **state) {
  (void)state;
  for (int k = 0; k < CHAINS; k++) {
    struct sim_simulation *s = only_signal(chains[k].signal);
    for (uint64_t event = 0; event < 50; event++) {
      generate(s, event);
      const struct sim_particle *p = s->event.particles.at;
      for (uint32_t m = 0; m < s->event.particles.count; m++) {
        double sum[4] = {0};
        int32_t charge = 0, daughters = 0;
        for (uint32_t i = 0; i < s->event.particles.count; i++) {
          if (p[i].mother != (int32_t)m) continue;
          sum[0] += (double)p[i].px;
          sum[1] += (double)p[i].py;
          sum[2] += (double)p[i].pz;
          sum[3] += hypot((double)sim_momentum(&p[i]), (double)p[i].species->mass);
          charge += p[i].charge;
          daughters++;
        }
        if (daughters == 0) continue;
        const double energy = hypot((double)sim_momentum(&p[m]), (double)p[m].species->mass);
        assert_true(daughters > 0);
        if (may_hide_daughters(&p[m])) continue;
        assert_int_equal(charge, p[m].charge);
        assert_true(fabs(sum[0] - (double)p[m].px) < 1e-4 * energy && fabs(sum[1] - (double)p[m].py) < 1e-4 * energy);
        assert_true(fabs(sum[2] - (double)p[m].pz) < 1e-4 * energy && fabs(sum[3] - energy) < 1e-4 * energy);
      }
    }
    simulation_free(s);
  }
}

/* Charge is conserved, and the daughters are lighter together than the mother. */
static void check_mode(const struct sim_species *mother, const struct sim_mode *mode) {
  int32_t charge = 0;
  float mass = 0;
  assert_true(mode->daughters[SIM_BODIES_MAX] == SIM_NOTHING);
  assert_true(sim_daughter_count(mode) >= 2);
  for (const int8_t *d = mode->daughters; *d != SIM_NOTHING; d++) {
    const struct sim_species *species = sim_species_of(*d);
    charge += *d < 0 ? -species->charge : species->charge;
    mass += species->mass;
  }
  assert_int_equal(charge, mother->charge);
  assert_true(mass < mother->mass);
}

static void modes_are_possible(void **state) {
  (void)state;
  uint32_t modes = 0;
  for (uint32_t i = 0; i < SIM_SPECIES_COUNT; i++)
    for (uint32_t k = 0; k < sim_species[i].mode_count; k++, modes++) {
      assert_true(sim_species[i].modes[k].share > 0);
      check_mode(&sim_species[i], &sim_species[i].modes[k]);
    }
  assert_true(modes > 150);
  for (uint32_t i = 0; i < SIM_SIGNAL_COUNT; i++)
    if (sim_signal_decays[i].species != SIM_NOTHING)
      check_mode(&sim_species[sim_signal_decays[i].species], &sim_signal_decays[i].mode);
}

/* Each mode of D0 has its share of the decays. */
static void modes_have_their_shares(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  const struct sim_species *species = &sim_species[SIM_D_0];
  struct sim_simulation *s = simulation_new();
  double sum = 0, four_charged = 0, expected = 0;
  for (uint32_t k = 0; k < species->mode_count; k++) {
    int32_t charged = 0;
    for (const int8_t *d = species->modes[k].daughters; *d != SIM_NOTHING; d++)
      charged += sim_species_of(*d)->charge != 0;
    sum += (double)species->modes[k].share;
    expected += charged == 4 ? (double)species->modes[k].share : 0;
  }
  for (uint32_t n = 0; n < COUNT; n++) {
    int32_t charged = 0;
    sim_event_clear(&s->event);
    s->event.crossing.number = n;
    assert_non_null(sim_event_add(&s->event, species, 1, 1000, 0, 20000));
    assert_int_equal(sim_decay(&s->event, 0), 0);
    for (uint32_t i = 1; i < s->event.particles.count; i++) charged += s->event.particles.at[i].charge != 0;
    four_charged += charged == 4;
  }
  const double share = expected / sum;
  assert_true(fabs(four_charged / COUNT - share) < 5 * sqrt(share * (1 - share) / COUNT));
  simulation_free(s);
}

/* Particles that live long decay between the given planes, at a place that does not depend on their momentum. */
static void long_lived_signals_decay_between_their_planes(void **state) {
  (void)state;
  enum { COUNT = 500 };
  static const enum sim_signal signals[] = {SIM_SIGNAL_S500_pipi, SIM_SIGNAL_S4000_mumu, SIM_SIGNAL_Kplus_3pi};
  for (int k = 0; k < 3; k++) {
    struct sim_simulation *s = only_signal(signals[k]);
    const struct sim_signal_decay *decay = &sim_signal_decays[signals[k]];
    double mean = 0;
    for (uint64_t event = 0; event < COUNT; event++) {
      generate(s, event);
      const struct sim_particle *p = s->event.particles.at;
      const double z = (double)p->z + (double)(p->pz / p->species->mass * p->lifetime_ns * SIM_MM_PER_NS);
      assert_true(z > (double)decay->first_z - 300 && z < (double)decay->last_z + 1);
      mean += z / COUNT;
    }
    const double range = (double)(decay->last_z - decay->first_z),
                 middle = (double)(decay->first_z + decay->last_z) / 2;
    assert_true(fabs(mean - middle) < 5 * range / sqrt(12.0 * COUNT) + 15); /* collisions beyond first_z */
    simulation_free(s);
  }
}

/* Two groups of hadrons with opposite pt of at least 15 GeV, of the species of collisions: 0.015 % are Omega. */
static void jets_are_back_to_back(void **state) {
  (void)state;
  struct sim_simulation *s = only_signal(SIM_SIGNAL_jets);
  uint32_t all = 0, omegas = 0;
  for (uint64_t event = 0; event < 50; event++) {
    double x = 0, y = 0, size = 0;
    uint32_t hadrons = 0;
    generate(s, event);
    for (uint32_t i = 0; i < s->event.particles.count; i++) {
      const struct sim_particle *p = &s->event.particles.at[i];
      if (!(p->flags & SIM_FROM_SIGNAL) || p->mother != SIM_NO_PARTICLE) continue;
      x += (double)p->px;
      y += (double)p->py;
      size += hypot((double)p->px, (double)p->py);
      hadrons++;
      omegas += p->species == &sim_species[SIM_OMEGA];
    }
    all += hadrons;
    assert_true(hadrons >= 4);
    assert_true(size > 25000 && hypot(x, y) < 350 * 6 * sqrt((double)hadrons));
  }
  print_message("%u hadrons of jets, %u Omega\n", all, omegas);
  assert_true(all > 500 && omegas * 500 < all);
  simulation_free(s);
}

/* Vertices of gas collisions are in the storage cell, and a signal may be in one of them. */
static void gas_collisions_are_in_the_cell(void **state) {
  (void)state;
  struct sim_simulation *s = only_signal(SIM_SIGNAL_Lambda_ppi);
  uint32_t vertices = 0;
  s->settings.gas_mu = 2;
  s->settings.signal_in_gas = 1;
  for (uint64_t event = 0; event < 200; event++) {
    generate(s, event);
    assert_true(s->event.vertices.count >= 1);
    assert_true(s->event.particles.at[0].z < -337 && (s->event.particles.at[0].flags & SIM_FROM_SIGNAL));
    for (uint32_t i = 0; i < s->event.vertices.count; i++, vertices++)
      assert_true(s->event.vertices.at[i].z > -537 && s->event.vertices.at[i].z < -337);
  }
  assert_true(vertices > 350 && vertices < 520); /* 2 on average, and one for the signal if there is none */
  simulation_free(s);
}

/* Charm and beauty hadrons in LHCb's acceptance: 2.4 mb (x 1.05) of charm pairs and 0.144 mb (x 1.08) of beauty pairs,
 * of 72 mb. */
static void heavy_flavour_has_its_cross_section(void **state) {
  (void)state;
  enum { EVENTS = 6000 };
  struct sim_simulation *s = simulation_new();
  double charm = 0, beauty = 0, collisions = 0;
  s->settings.luminosity_fraction = 0;
  for (uint64_t event = 0; event < EVENTS; event++) {
    sim_event_clear(&s->event);
    s->event.seed = 3;
    sim_crossing_make(&s->settings, event, &s->event.crossing);
    assert_int_equal(sim_generate(&s->settings, &s->event), 0);
    collisions += s->event.vertices.count;
    for (uint32_t i = 0; i < s->event.particles.count; i++) {
      const struct sim_particle *p = &s->event.particles.at[i];
      if (p->mother != SIM_NO_PARTICLE || p->pz <= 0) continue;
      const int32_t quark = p->species->pdg > 1000 ? p->species->pdg / 1000 : p->species->pdg / 100;
      const double energy = hypot((double)sim_momentum(p), (double)p->species->mass);
      const double y = 0.5 * log((energy + (double)p->pz) / (energy - (double)p->pz));
      const double pt = hypot((double)p->px, (double)p->py), eta = asinh((double)p->pz / pt);
      charm += quark == 4 && y > 2 && y < 4.5 && pt < 8000;
      beauty += quark == 5 && eta > 2 && eta < 5;
    }
  }
  const double charm_mb = 72 * charm / 2 / collisions, beauty_mb = 72 * beauty / 2 / collisions;
  assert_true(charm_mb > 2.4 * 0.9 && charm_mb < 2.4 * 1.25);
  assert_true(beauty_mb > 0.144 * 0.8 && beauty_mb < 0.144 * 1.5);
  simulation_free(s);
}

static void lifetimes_are_those_of_the_table(void **state) {
  (void)state;
  enum { COUNT = 2000 };
  static const enum sim_signal signals[] = {SIM_SIGNAL_Bs_mumu, SIM_SIGNAL_Lambdab_Lambdac, SIM_SIGNAL_Ks_pipi,
                                            SIM_SIGNAL_B_KstarGamma};
  for (int k = 0; k < 4; k++) {
    struct sim_simulation *s = only_signal(signals[k]);
    double sum = 0, of_charm = 0;
    for (uint64_t event = 0; event < COUNT; event++) {
      generate(s, event);
      sum += (double)s->event.particles.at->lifetime_ns * 299.792458;
      for (uint32_t i = 1; i < s->event.particles.count; i++)
        if (s->event.particles.at[i].species == &sim_species[SIM_LAMBDA_C] &&
            s->event.particles.at[i].flags & SIM_FROM_SIGNAL)
          of_charm += (double)s->event.particles.at[i].lifetime_ns * 299.792458;
    }
    const double expected = (double)s->event.particles.at->species->ctau;
    assert_true(fabs(sum / COUNT / expected - 1) < 5 / sqrt(COUNT));
    if (signals[k] == SIM_SIGNAL_Lambdab_Lambdac)
      assert_true(fabs(of_charm / COUNT / (double)sim_species[SIM_LAMBDA_C].ctau - 1) < 5 / sqrt(COUNT));
    simulation_free(s);
  }
}

/* Three massless bodies fill the Dalitz triangle uniformly: x = 2 E / M of each has the density 2 x. */
static void three_body_decays_are_uniform_in_phase_space(void **state) {
  (void)state;
  enum { COUNT = 40000 };
  const float none[3] = {0, 0, 0};
  struct sim_random r = sim_random_begin(1, 0, SIM_FOR_DECAY, 0);
  double mean[3] = {0}, square[3] = {0};
  for (int n = 0; n < COUNT; n++) {
    struct sim_body bodies[3];
    double energy = 0, p[3] = {0};
    sim_phase_space(&r, 1000.0f, 3, none, bodies);
    for (int i = 0; i < 3; i++) {
      const double share = 2 * (double)bodies[i].energy / 1000;
      mean[i] += share / COUNT;
      square[i] += share * share / COUNT;
      energy += (double)bodies[i].energy;
      for (int k = 0; k < 3; k++) p[k] += (double)bodies[i].p[k];
    }
    assert_true(fabs(energy - 1000) < 0.01 && fabs(p[0]) < 0.01 && fabs(p[1]) < 0.01 && fabs(p[2]) < 0.01);
  }
  /* errors of the means: sqrt(1/18) and sqrt(1/12) over sqrt(COUNT) */
  for (int i = 0; i < 3; i++) {
    assert_true(fabs(mean[i] - 2.0 / 3) < 5 * sqrt(1.0 / 18 / COUNT));
    assert_true(fabs(square[i] - 0.5) < 5 * sqrt(1.0 / 12 / COUNT));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_decay_to_their_named_products),
      cmocka_unit_test(chains_conserve_momentum_energy_and_charge),
      cmocka_unit_test(modes_are_possible),
      cmocka_unit_test(modes_have_their_shares),
      cmocka_unit_test(long_lived_signals_decay_between_their_planes),
      cmocka_unit_test(jets_are_back_to_back),
      cmocka_unit_test(gas_collisions_are_in_the_cell),
      cmocka_unit_test(heavy_flavour_has_its_cross_section),
      cmocka_unit_test(lifetimes_are_those_of_the_table),
      cmocka_unit_test(three_body_decays_are_uniform_in_phase_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
