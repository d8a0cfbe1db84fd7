/* cusp_filter_test.c: the cusp filters against the products of all taps. */
#include "cusp_reference.h"
#include "waveforms_support.h"

enum { EVENTS = 2, SAMPLES = 1200 };
static uint16_t value[EVENTS * SAMPLES];
static uint16_t baseline[EVENTS];

static struct sl_test *test_of_cusp(const struct cusp_case *c, uint32_t skip, uint32_t length) {
  make_traces(value, baseline, EVENTS, SAMPLES);
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "cusp_filter");
  input_traces(t, value, baseline, EVENTS, SAMPLES);
  sl_test_set(t, "flat", c->flat);
  sl_test_set(t, "sigma", c->sigma);
  sl_test_set(t, "tau", c->tau);
  sl_test_set(t, "zero_area", c->zero_area);
  sl_test_set(t, "skip", skip);
  sl_test_set(t, "length", length);
  return t;
}

static void check(struct cusp_case c, uint32_t skip) {
  const uint32_t length = SAMPLES - skip - c.taps + 1;
  struct sl_test *t = test_of_cusp(&c, skip, length);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "filtered", "value");
  long double *tap = cusp_reference(&c);
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t n = 0; n < length; n++) {
      long double expected = 0;
      for (uint32_t j = 0; j < c.taps; j++)
        expected += tap[j] * (value[e * SAMPLES + n + c.taps - 1 - j] - baseline[e]);
      assert_near((double)found[e * length + n], (double)expected, 6e-8 * fabs((double)expected) + 1e-7, "output", n);
    }
  free(tap);
  sl_test_free(t);
}

static void outputs_are_those_of_all_products(void **state) {
  (void)state;
  for (uint32_t zero_area = 0; zero_area < 2; zero_area++) {
    check((struct cusp_case){900, 50, zero_area, 300, 28125}, 100);
    check((struct cusp_case){901, 50, zero_area, 300, 5000}, 0);
    check((struct cusp_case){801, 0, zero_area, 20, 500}, 399); /* one output */
    check((struct cusp_case){800, 1, zero_area, 1000, 100}, 17);
    check((struct cusp_case){700, 690, zero_area, 2, 100}, 0); /* rise and fall are shorter than the outputs */
    check((struct cusp_case){300, 3, zero_area, 1.5, 1e9}, 1);
    check((struct cusp_case){4, 0, zero_area, 7, 300}, 1100);
    check((struct cusp_case){5, 0, zero_area, 7, 300}, 1100);
  }
}

static void kernels_without_a_rise_are_refused(void **state) {
  (void)state;
  const struct cusp_case c = {0, 188, 0, 1250, 28125};
  assert_refused(test_of_cusp(&c, 1000, 10), "length: the kernel has 191 taps; 192 to 131072 are expected");
  assert_refused(test_of_cusp(&c, 2000, 10), "length: the kernel has -809 taps");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_those_of_all_products),
                                     cmocka_unit_test(kernels_without_a_rise_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
