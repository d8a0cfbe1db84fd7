/* Random numbers: published vectors of Philox, and moments of the distributions. */
#include "support.h"

#include <math.h>

enum { DRAWS = 200000 };

/* Random123's kat_vectors, philox4x32 with 10 rounds. */
static void philox_gives_the_published_vectors(void **state) {
  (void)state;
  static const struct {
    uint32_t counter[4], key[2], expected[4];
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t out[4];
    sl_philox_4x32_10(cases[i].key, cases[i].counter, out);
    assert_memory_equal(out, cases[i].expected, sizeof out);
  }
}

static void streams_of_other_seeds_events_purposes_and_indices_differ(void **state) {
  (void)state;
  struct sim_random r[] = {sim_random_begin(1, 1, SIM_FOR_DECAY, 1),
                           sim_random_begin(2, 1, SIM_FOR_DECAY, 1),
                           sim_random_begin(1ull << 32 | 1, 1, SIM_FOR_DECAY, 1),
                           sim_random_begin(1, 2, SIM_FOR_DECAY, 1),
                           sim_random_begin(1, 1ull << 32 | 1, SIM_FOR_DECAY, 1),
                           sim_random_begin(1, 1, SIM_FOR_SIGNAL, 1),
                           sim_random_begin(1, 1, SIM_FOR_DECAY, 2)};
  enum { COUNT = sizeof r / sizeof r[0] };
  uint32_t first[COUNT];
  for (int i = 0; i < COUNT; i++) {
    first[i] = sim_random_u32(&r[i]);
    for (int k = 0; k < i; k++) assert_int_not_equal(first[i], first[k]);
  }
}

static void streams_started_together_equal_single_streams(void **state) {
  (void)state;
  enum { NUMBERS = 21 };
  const struct sim_random first = sim_random_begin(1ull << 40 | 9, 1ull << 33 | 5, SIM_FOR_FLIGHT, 16);
  struct sim_random streams[SIM_RANDOM_LANES];
  uint32_t words[4][SIM_RANDOM_LANES];
  sim_random_begin_lanes(&first, streams);
  sim_random_lanes(&first, words);
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    struct sim_random alone = sim_random_begin(1ull << 40 | 9, 1ull << 33 | 5, SIM_FOR_FLIGHT, 16 + l);
    for (int i = 0; i < NUMBERS; i++) {
      const uint32_t expected = sim_random_u32(&alone);
      assert_int_equal(sim_random_u32(&streams[l]), expected);
      if (i < 4) assert_int_equal(words[3 - i][l], expected);
    }
  }
}

struct moments {
  double mean, variance, low, high;
};

static struct moments moments_of(float (*draw)(struct sim_random *), uint32_t stream) {
  struct sim_random r = sim_random_begin(7, 0, SIM_FOR_COLLISION, stream);
  struct moments m = {0, 0, 1e30, -1e30};
  double squares = 0;
  for (int i = 0; i < DRAWS; i++) {
    const double x = (double)draw(&r);
    m.mean += x / DRAWS;
    squares += x * x / DRAWS;
    if (x < m.low) m.low = x;
    if (x > m.high) m.high = x;
  }
  m.variance = squares - m.mean * m.mean;
  return m;
}

/* Within five standard errors of the mean, and 3 % of the variance. */
static void assert_moments(struct moments m, double mean, double variance) {
  const double error = 5 * sqrt(variance / DRAWS);
  if (!(fabs(m.mean - mean) < error && fabs(m.variance / variance - 1) < 0.03))
    fail_msg("mean %g, variance %g; expected %g and %g", m.mean, m.variance, mean, variance);
}

static float draw_poisson_of_5(struct sim_random *r) { return (float)sim_poisson(r, 5.3f); }
static float draw_poisson_of_30(struct sim_random *r) { return (float)sim_poisson(r, 30.0f); }
static float draw_gamma(struct sim_random *r) { return sim_gamma(r, 1.2f); }

static void distributions_have_their_moments(void **state) {
  (void)state;
  const struct moments uniform = moments_of(sim_uniform, 1);
  assert_moments(uniform, 0.5, 1.0 / 12);
  assert_true(uniform.low > 0 && uniform.high < 1);
  assert_moments(moments_of(sim_exponential, 2), 1, 1);
  assert_moments(moments_of(sim_normal, 3), 0, 1);
  assert_moments(moments_of(draw_poisson_of_5, 4), (double)5.3f, (double)5.3f);
  assert_moments(moments_of(draw_poisson_of_30, 5), 30, 30);
  assert_moments(moments_of(draw_gamma, 6), (double)1.2f, (double)1.2f);
}

static void poisson_of_mean_0_is_0(void **state) {
  (void)state;
  struct sim_random r = sim_random_begin(1, 1, SIM_FOR_CROSSING, 0);
  for (int i = 0; i < 100; i++) assert_int_equal(sim_poisson(&r, 0.0f), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_gives_the_published_vectors),
      cmocka_unit_test(streams_started_together_equal_single_streams),
      cmocka_unit_test(streams_of_other_seeds_events_purposes_and_indices_differ),
      cmocka_unit_test(distributions_have_their_moments),
      cmocka_unit_test(poisson_of_mean_0_is_0),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
