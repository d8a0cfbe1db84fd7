/* Decays: products of the signals, their momenta and lifetimes, and phase space. */
#include "generator/crossing.h"
#include "generator/phase_space.h"
#include "support.h"

#include <math.h>

static struct sim_simulation *only_signal(enum sim_signal signal) {
  struct sim_simulation *s = simulation_new();
  s->settings.mu = 0;
  s->settings.luminosity_fraction = 0;
  s->settings.signal = sim_signal_species[signal];
  s->event.seed = s->settings.seed;
  return s;
}

static void generate(struct sim_simulation *s, uint64_t number) {
  sim_event_clear(&s->event);
  sim_crossing_make(&s->settings, number, &s->event.crossing);
  assert_int_equal(sim_generate(&s->settings, &s->event), 0);
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
};
enum { CHAINS = sizeof chains / sizeof chains[0] };

static int32_t other_sign(int32_t pdg) {
  return pdg == 333 || pdg == 443 || pdg == 23 || pdg == 22 || pdg == 310 ? pdg : -pdg;
}

static void signals_decay_to_their_named_products(void **state) {
  (void)state;
  assert_int_equal(CHAINS, SIM_SIGNAL_COUNT - 1);
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
        const int has_pair = p[m].species == &sim_species[SIM_PION_0] && daughters == 3;
        assert_true(has_pair || daughters == (int32_t)p[m].species->daughter_count);
        assert_int_equal(charge, p[m].charge);
        assert_true(fabs(sum[0] - (double)p[m].px) < 1e-4 * energy && fabs(sum[1] - (double)p[m].py) < 1e-4 * energy);
        assert_true(fabs(sum[2] - (double)p[m].pz) < 1e-4 * energy && fabs(sum[3] - energy) < 1e-4 * energy);
      }
    }
    simulation_free(s);
  }
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
        if (s->event.particles.at[i].species == &sim_species[SIM_LAMBDA_C])
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
      cmocka_unit_test(lifetimes_are_those_of_the_table),
      cmocka_unit_test(three_body_decays_are_uniform_in_phase_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
