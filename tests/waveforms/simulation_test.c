/* simulation_test.c: parts of simulated waveforms: random numbers, pulses, noise, conversion to ADC counts. */
#include <math.h>
#include <setjmp.h>
#include <simulation/waveform.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Known answers of the authors of Philox (Random123, kat_vectors). */
static void words_are_those_of_philox(void **state) {
  static const uint32_t zeros[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  static const uint32_t ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  uint32_t words[4][RANDOM_LANES], later[4][RANDOM_LANES];
  struct random_stream r = random_begin(0, 0, 0);
  (void)state;
  random_words(&r, words);
  for (int w = 0; w < 4; w++) assert_int_equal(words[w][0], zeros[w]);
  r = (struct random_stream){UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX};
  random_words(&r, words);
  for (int w = 0; w < 4; w++) assert_int_equal(words[w][0], ones[w]);

  r = random_begin(5, 6, 7); /* lanes are positions */
  random_words(&r, words);
  r.next = 3;
  random_words(&r, later);
  for (int w = 0; w < 4; w++) assert_int_equal(words[w][3], later[w][0]);
}

static void normal_numbers_have_mean_0_and_variance_1(void **state) {
  enum { ROUNDS = 10000 };
  double sum = 0, squares = 0, fourth = 0, neighbours = 0;
  struct random_stream r = random_begin(1, 2, 3);
  (void)state;
  for (int k = 0; k < ROUNDS; k++) {
    double g[RANDOM_NORMALS];
    random_normals(&r, g);
    for (int i = 0; i < RANDOM_NORMALS; i++) {
      sum += g[i];
      squares += g[i] * g[i];
      fourth += g[i] * g[i] * g[i] * g[i];
      if (i > 0) neighbours += g[i] * g[i - 1];
    }
  }
  const double n = (double)ROUNDS * RANDOM_NORMALS, error = 4 / sqrt(n);
  assert_true(fabs(sum / n) < error && fabs(neighbours / n) < error);
  assert_true(fabs(squares / n - 1) < error * sqrt(2) && fabs(fourth / n - 3) < error * sqrt(96));
}

static void numbers_of_further_pulses_are_poissonian(void **state) {
  static const double means[] = {0.2, 5, 100};
  (void)state;
  for (int k = 0; k < 3; k++) {
    enum { EVENTS = 4000 };
    double sum = 0, squares = 0;
    for (uint64_t event = 0; event < EVENTS; event++) {
      struct random_numbers r = random_numbers_begin(1, event, RANDOM_PILE_UP);
      const double count = random_poisson(&r, means[k]);
      sum += count;
      squares += count * count;
    }
    const double mean = sum / EVENTS, variance = squares / EVENTS - mean * mean;
    assert_true(fabs(mean - means[k]) < 4 * sqrt(means[k] / EVENTS));
    assert_true(fabs(variance - means[k]) < 4 * sqrt((means[k] + 2 * means[k] * means[k]) / EVENTS));
  }
  struct random_numbers r = random_numbers_begin(1, 2, RANDOM_PILE_UP);
  assert_int_equal(random_poisson(&r, 0), 0);
}

/* Pole-zero cancellation: y[n] = y[n - 1] + x[n] - a x[n - 1]. */
static void pole_zero_cancellation_makes_a_step_of_the_amplitude(void **state) {
  enum { SAMPLES = 2000 };
  static const double begins[] = {500, 500.25, 500.999, 0, 0.5, 1000};
  (void)state;
  for (size_t k = 0; k < sizeof begins / sizeof begins[0]; k++) {
    const struct pulse p = {begins[k], 7.5, 27460.5};
    double x[SAMPLES] = {0}, y = 0;
    waveform_add_pulse(x, SAMPLES, &p, 1234 / pulse_step(&p));
    for (int i = 0; i < SAMPLES; i++) {
      if (i < begins[k]) assert_true(x[i] == 0);
      y += x[i] - (i > 0 ? exp(-1 / 27460.5) * x[i - 1] : 0);
      if (i > begins[k] + 300) assert_true(fabs(y - 1234) < 1e-8);
    }
  }
}

static void pulses_are_sums_of_two_exponentials(void **state) {
  enum { SAMPLES = 64 };
  const struct pulse late = {62.5, 2, 9}, early = {-100.25, 2, 9}, after = {63.5, 2, 9};
  double x[SAMPLES] = {0};
  (void)state;
  waveform_add_pulse(x, SAMPLES, &early, 3);
  for (int i = 0; i < SAMPLES; i++)
    assert_true(fabs(x[i] - 3 * (exp(-(i + 100.25) / 9) - exp(-(i + 100.25) / 2))) < 1e-15);
  memset(x, 0, sizeof x);
  waveform_add_pulse(x, SAMPLES, &late, 1);
  assert_true(x[62] == 0 && fabs(x[63] - (exp(-0.5 / 9) - exp(-0.25))) < 1e-15);
  memset(x, 0, sizeof x);
  waveform_add_pulse(x, SAMPLES, &after, 1);
  for (int i = 0; i < SAMPLES; i++) assert_true(x[i] == 0);
  double largest = 0;
  for (int i = 0; i < 20000; i++) largest = fmax(largest, exp(-1e-3 * i / 9) - exp(-1e-3 * i / 2));
  assert_true(fabs(pulse_maximum(&late) - largest) < 1e-6);
}

/* Variances and covariances over events, at the beginning and at the end of the waveform: the noise is stationary. */
static void noise_is_stationary_with_its_covariances(void **state) {
  enum { SAMPLES = 600, EVENTS = 3000, LAG = 16 };
  static const struct noise noises[] = {{2, 0, 0, 100}, {0, 3, 0, 100}, {0, 0, 1, 100}};
  double expected[3][2] = {{4, 0}, {0, 0}, {1 / (1 - exp(-2.0 / 100)), exp(-LAG / 100.0) / (1 - exp(-2.0 / 100))}};
  static double x[SAMPLES];
  (void)state;
  for (int power = 1; power <= 6; power++) {
    expected[1][0] += 9;
    expected[1][1] += 9 * exp(-LAG / pow(4, power));
  }
  for (int k = 0; k < 3; k++) {
    double sums[2] = {0}, squares[2] = {0}, products[2] = {0};
    for (uint64_t event = 0; event < EVENTS; event++) {
      memset(x, 0, sizeof x);
      waveform_add_noise(x, SAMPLES, &noises[k], 1, event);
      for (int end = 0; end < 2; end++) {
        const double *at = end ? x + SAMPLES - 1 - LAG : x;
        sums[end] += at[0];
        squares[end] += at[0] * at[0];
        products[end] += at[0] * at[LAG];
      }
    }
    for (int end = 0; end < 2; end++) {
      const double error = 4 * expected[k][0] * sqrt(2.0 / EVENTS);
      assert_true(fabs(sums[end] / EVENTS) < 4 * sqrt(expected[k][0] / EVENTS));
      assert_true(fabs(squares[end] / EVENTS - expected[k][0]) < error);
      assert_true(fabs(products[end] / EVENTS - expected[k][1]) < error);
    }
  }
}

static void noise_of_a_sample_does_not_depend_on_the_number_of_samples(void **state) {
  const struct noise noise = {1, 2, 3, 1000};
  double whole[1000] = {0}, part[101] = {0};
  (void)state;
  waveform_add_noise(whole, 1000, &noise, 7, 8);
  waveform_add_noise(part, 101, &noise, 7, 8);
  assert_memory_equal(whole, part, sizeof part);
  waveform_add_noise(part, 101, &noise, 7, 9); /* nor are two events equal */
  assert_true(fabs(part[100] - 2 * whole[100]) > 1e-3);
}

static void samples_are_rounded_and_limited(void **state) {
  const double x[] = {-1e9, -0.6, 0.4, 0.5, 100.49, 65534.5, 65535.6, 1e30};
  const uint16_t expected[] = {0, 0, 0, 1, 100, 65535, 65535, 65535};
  uint16_t value[8], few[3] = {1, 2, 3}, many[600];
  (void)state;
  waveform_digitise(x, 8, value);
  assert_memory_equal(value, expected, sizeof expected);
  assert_int_equal(waveform_baseline(few, 3), 2);
  few[2] = 5; /* 8 / 3 */
  assert_int_equal(waveform_baseline(few, 3), 3);
  for (int i = 0; i < 600; i++) many[i] = i < 250 ? 65534 : i < 500 ? 65535 : 0;
  assert_int_equal(waveform_baseline(many, 600), 65535); /* 65534.5; the last 100 samples do not count */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_those_of_philox),
      cmocka_unit_test(normal_numbers_have_mean_0_and_variance_1),
      cmocka_unit_test(numbers_of_further_pulses_are_poissonian),
      cmocka_unit_test(pole_zero_cancellation_makes_a_step_of_the_amplitude),
      cmocka_unit_test(pulses_are_sums_of_two_exponentials),
      cmocka_unit_test(noise_is_stationary_with_its_covariances),
      cmocka_unit_test(noise_of_a_sample_does_not_depend_on_the_number_of_samples),
      cmocka_unit_test(samples_are_rounded_and_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
