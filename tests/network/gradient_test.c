/* gradient_test.c: gradients of the training against differences of the loss; the limits of group_sort networks. */
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIZE_MAX_ = 4096, ITEMS = 20 };

static double random_between(double low, double high) {
  static uint32_t state = 5;
  state = state * 1664525u + 1013904223u;
  return low + (high - low) * (double)(state >> 8) / 16777216.0;
}

static const struct shape shapes[] = {
    {.inputs = 3, .layers = 1, .activation = NETWORK_RELU, .units = {8, 1}},
    {.inputs = 5, .layers = 3, .activation = NETWORK_RELU, .units = {7, 12, 9, 1}},
    {.inputs = 4, .layers = 1, .activation = NETWORK_GROUP_SORT, .units = {6, 1}, .direction = {1, -1, 0, 1}},
    {.inputs = 2, .layers = 4, .activation = NETWORK_GROUP_SORT, .units = {12, 10, 10, 12, 1}, .direction = {-1, -1}},
};

static void fill(double *numbers, uint32_t count, double most) {
  for (uint32_t i = 0; i < count; i++) numbers[i] = random_between(-most, most);
}

/* Central differences; a step across a kink of the activation is excluded by two step sizes that must agree. */
static double difference(const struct shape *n, double *weights, uint32_t w, const double *inputs, double target,
                         double step) {
  const double kept = weights[w];
  weights[w] = kept + step;
  const double above = network_output(n, weights, inputs);
  weights[w] = kept - step;
  const double below = network_output(n, weights, inputs);
  weights[w] = kept;
  const double logit = network_output(n, weights, inputs);
  return (1 / (1 + exp(-logit)) - target) * (above - below) / (2 * step);
}

static void gradients_equal_differences(void **state) {
  (void)state;
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    struct shape n = shapes[s];
    double weights[SIZE_MAX_], gradient[SIZE_MAX_], inputs[NETWORK_INPUTS_MAX];
    const uint32_t size = network_size(&n);
    uint32_t compared = 0;
    network_set_slope(&n, 2);
    for (uint32_t item = 0; item < ITEMS; item++) {
      const double target = item % 2;
      fill(weights, size, 0.5);
      fill(inputs, n.inputs, 2);
      for (uint32_t w = 0; w < size; w++) gradient[w] = 7; /* the gradient is added */
      network_gradient(&n, weights, inputs, target, 3, gradient);
      for (uint32_t w = 0; w < size; w++) {
        const double wide = difference(&n, weights, w, inputs, target, 1e-5),
                     narrow = difference(&n, weights, w, inputs, target, 1e-6);
        if (!(fabs(wide - narrow) < 1e-6)) continue;
        assert_true(fabs(gradient[w] - 7 - 3 * narrow) < 1e-5);
        compared++;
      }
    }
    assert_true(compared > size * ITEMS * 9 / 10);
  }
}

static void the_loss_is_the_cross_entropy(void **state) {
  (void)state;
  for (int i = -60; i <= 60; i++)
    for (int target = 0; target < 2; target++) {
      const double logit = 0.5 * i;
      const double expected = log1p(exp(target ? -logit : logit));
      assert_true(fabs(network_loss(logit, target) - expected) < 1e-6 * expected + 1e-7);
    }
}

static void group_sort_is_bounded_and_monotone(void **state) {
  (void)state;
  struct shape n = shapes[3];
  double weights[SIZE_MAX_], inputs[2], steepest = 0;
  network_set_slope(&n, 3);
  assert_true(fabs(pow(n.layer_slope, n.layers + 1) - 3) < 1e-12);
  for (int trial = 0; trial < 200; trial++) {
    fill(weights, network_size(&n), 5);
    network_limit_slope(&n, weights);
    fill(inputs, 2, 3);
    for (int i = 0; i < 2; i++) {
      const double kept = inputs[i], before = network_output(&n, weights, inputs);
      inputs[i] += 1e-3;
      const double slope = (network_output(&n, weights, inputs) - before) / 1e-3;
      inputs[i] = kept;
      assert_true(slope <= 1e-9 && slope >= -6 - 1e-9); /* the linear term is -3 */
      steepest = fmax(steepest, fabs(slope + 3));
    }
  }
  assert_true(steepest > 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_equal_differences),
      cmocka_unit_test(the_loss_is_the_cross_entropy),
      cmocka_unit_test(group_sort_is_bounded_and_monotone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
