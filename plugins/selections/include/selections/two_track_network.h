/* two_track_network.h: evaluates the network that separates two-track vertices of heavy-hadron decays from background
 * (README.md, "Two-track network"). For kernels and host code.
 *
 * `n` is the array `numbers` of selections.two_track_network. All sums have one fixed order, so that results are equal
 * on all devices. The first layer is computed two units at a time, so that the second layer stays in registers.
 */
#ifndef SELECTIONS_TWO_TRACK_NETWORK_H
#define SELECTIONS_TWO_TRACK_NETWORK_H

#include "selections/event_model.h"

#include <sluice/math.h>
#include <sluice/plugin.h>

#define TWO_TRACK_INPUTS(I) \
  I(log_fd_chi2)            \
  I(sum_pt) /* GeV */       \
  I(chi2)                   \
  I(log_min_ip_chi2)
#define TWO_TRACK_INPUT_(name) TWO_TRACK_INPUT_##name,
enum { TWO_TRACK_INPUTS(TWO_TRACK_INPUT_) TWO_TRACK_INPUT_COUNT };

/* Offsets in `numbers`. The weights of the second layer are ordered by unit of the first layer, so that a CPU updates
 * several units of the second layer with one vector operation. */
enum {
  TWO_TRACK_UNITS = 20, /* units per layer */
  TWO_TRACK_FIRST = 0,  /* weights of the first layer: by unit, then input */
  TWO_TRACK_FIRST_BIAS = TWO_TRACK_FIRST + TWO_TRACK_UNITS * TWO_TRACK_INPUT_COUNT,
  TWO_TRACK_SECOND = TWO_TRACK_FIRST_BIAS + TWO_TRACK_UNITS, /* second layer: by unit of the first, then unit */
  TWO_TRACK_SECOND_BIAS = TWO_TRACK_SECOND + TWO_TRACK_UNITS * TWO_TRACK_UNITS,
  TWO_TRACK_OUTPUT = TWO_TRACK_SECOND_BIAS + TWO_TRACK_UNITS, /* output: by unit of the second layer */
  TWO_TRACK_OUTPUT_BIAS = TWO_TRACK_OUTPUT + TWO_TRACK_UNITS,
  TWO_TRACK_LAMBDA,
  TWO_TRACK_NUMBERS
};
#define TWO_TRACK_NETWORK_FIELDS(F) F(numbers, f32, ARRAY, "", "weights, biases and lambda, 542 values")
SL_COLLECTION(two_track_network, TWO_TRACK_NETWORK_FIELDS, "weights of the two-track network");

/* Partial sums of the output; sum s takes units s, s + 4, ... */
enum { TWO_TRACK_SUMS = 4 };

/* Sorts two units in ascending order. */
SL_MATH_FUNCTION void two_track_sort(float *unit) {
  const float low = sl_min_f32(unit[0], unit[1]), high = sl_max_f32(unit[1], unit[0]);
  unit[0] = low;
  unit[1] = high;
}

/* Value of one unit of the first layer. */
SL_MATH_FUNCTION float two_track_first(const float *n, uint32_t unit, const float *inputs) {
  const float *weights = n + TWO_TRACK_FIRST + TWO_TRACK_INPUT_COUNT * unit;
  float sum = n[TWO_TRACK_FIRST_BIAS + unit];
  for (uint32_t i = 0; i < TWO_TRACK_INPUT_COUNT; i++) sum = fmaf(weights[i], inputs[i], sum);
  return sum;
}

/* Output of the layers, without the term lambda * inputs. */
SL_MATH_FUNCTION float two_track_layers(const float *n, const float *inputs) {
  float second[TWO_TRACK_UNITS], sums[TWO_TRACK_SUMS] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (uint32_t k = 0; k < TWO_TRACK_UNITS; k++) second[k] = n[TWO_TRACK_SECOND_BIAS + k];
  for (uint32_t i = 0; i < TWO_TRACK_UNITS; i += 2) {
    const float *weights = n + TWO_TRACK_SECOND + TWO_TRACK_UNITS * i;
    float first[2] = {two_track_first(n, i, inputs), two_track_first(n, i + 1, inputs)};
    two_track_sort(first);
    for (uint32_t k = 0; k < TWO_TRACK_UNITS; k++) second[k] = fmaf(weights[k], first[0], second[k]);
    for (uint32_t k = 0; k < TWO_TRACK_UNITS; k++) second[k] = fmaf(weights[TWO_TRACK_UNITS + k], first[1], second[k]);
  }
  for (uint32_t k = 0; k < TWO_TRACK_UNITS; k += 2) two_track_sort(second + k);
  for (uint32_t k = 0; k < TWO_TRACK_UNITS; k++)
    sums[k % TWO_TRACK_SUMS] = fmaf(n[TWO_TRACK_OUTPUT + k], second[k], sums[k % TWO_TRACK_SUMS]);
  return n[TWO_TRACK_OUTPUT_BIAS] + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* Quantities of a secondary vertex that the network uses. */
struct two_track_vertex {
  float fd_chi2, sum_pt, chi2, min_ip_chi2; /* MeV */
};

/* Response of the network (log of the odds). SELECTIONS_NO_LOGIT if it is not finite, for example without a primary
 * vertex, where the chi2 values are -1. */
SL_MATH_FUNCTION float two_track_logit(const float *n, const struct two_track_vertex *v) {
  const float least_chi2 = 1e-10f, mev_per_gev = 1000.0f;
  float inputs[TWO_TRACK_INPUT_COUNT];
  inputs[TWO_TRACK_INPUT_log_fd_chi2] = sl_logf(v->fd_chi2); /* NaN below 0, minus infinity at 0 */
  inputs[TWO_TRACK_INPUT_sum_pt] = v->sum_pt / mev_per_gev;
  inputs[TWO_TRACK_INPUT_chi2] = sl_max_f32(v->chi2, least_chi2);
  inputs[TWO_TRACK_INPUT_log_min_ip_chi2] = sl_logf(v->min_ip_chi2);
  const float rising =
      inputs[TWO_TRACK_INPUT_log_fd_chi2] + inputs[TWO_TRACK_INPUT_sum_pt] + inputs[TWO_TRACK_INPUT_log_min_ip_chi2];
  const float logit = fmaf(n[TWO_TRACK_LAMBDA], rising, two_track_layers(n, inputs));
  return sl_is_finite(logit) ? logit : SELECTIONS_NO_LOGIT;
}

#endif
