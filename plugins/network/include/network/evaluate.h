/* evaluate.h: evaluates a small dense network with one output (README.md). For kernels and host code.
 *
 * A kernel is compiled for a number of inputs, of hidden layers, for a width (units per hidden layer, a multiple of 8)
 * and for an activation. Its table of weights, made by network_take (take.h), has
 *   for each hidden layer: `width` biases, then for each input of the layer `width` weights;
 *   `width` weights of the output, its bias, and one factor per input of the network.
 * A network with fewer units has zeros in their place.
 *
 * Each product is added by one fmaf. The order of all sums is fixed, so that results have the same bits on all targets:
 * a unit adds its inputs in order; the output has eight partial sums, which a CPU adds in one vector. On a GPU an item
 * is computed by one thread.
 */
#ifndef NETWORK_EVALUATE_H
#define NETWORK_EVALUATE_H

#include "network/event_model.h"

#include <sluice/math.h>

enum { NETWORK_SUMS = 8 }; /* partial sums of the output */

#define NETWORK_FIRST_LAYER(inputs, width) ((width) * (1 + (inputs)))
#define NETWORK_OUTPUTS(inputs, layers, width) \
  (NETWORK_FIRST_LAYER(inputs, width) + ((layers)-1) * (width) * (1 + (width)))
/* Number of floats of the table. */
#define NETWORK_NUMBERS(inputs, layers, width) (NETWORK_OUTPUTS(inputs, layers, width) + (width) + 1 + (inputs))

/* Units of a layer that are computed together: all on a CPU, fewer on a GPU to save registers. */
#if defined(SL_TARGET_CUDA) || defined(SL_TARGET_HIP)
#define NETWORK_TOGETHER(width) 8
#else
#define NETWORK_TOGETHER(width) (width)
#endif

SL_MATH_FUNCTION void network_activate(uint32_t activation, uint32_t count, float *units) {
  if (activation == NETWORK_RELU) {
    for (uint32_t k = 0; k < count; k++) units[k] = sl_max_f32(units[k], 0.0f);
    return;
  }
  for (uint32_t k = 0; k < count; k += 2) {
    const float low = sl_min_f32(units[k], units[k + 1]), high = sl_max_f32(units[k + 1], units[k]);
    units[k] = low;
    units[k + 1] = high;
  }
}

/* Units [first, first + count) of a layer, before the activation. `from`: units of the layer before, or inputs. */
SL_MATH_FUNCTION void network_units(const float *layer, const float *from, uint32_t input_count, uint32_t width,
                                    uint32_t first, uint32_t count, float *sums) {
  for (uint32_t k = 0; k < count; k++) sums[k] = layer[first + k];
  for (uint32_t i = 0; i < input_count; i++) {
    for (uint32_t k = 0; k < count; k++) sums[k] = fmaf(layer[width * (1 + i) + first + k], from[i], sums[k]);
  }
}

/* Adds the terms of `count` units to the partial sums of the output. */
SL_MATH_FUNCTION void network_add(const float *weights, const float *units, uint32_t count, float *sums) {
  for (uint32_t part = 0; part < count; part += NETWORK_SUMS)
    for (uint32_t k = 0; k < NETWORK_SUMS; k++) sums[k] = fmaf(weights[part + k], units[part + k], sums[k]);
}

/* Output of a network with one hidden layer, as partial sums. */
SL_MATH_FUNCTION void network_one_layer(const float *table, const float *inputs, uint32_t input_count, uint32_t width,
                                        uint32_t activation, float *sums) {
  const float *outputs = table + NETWORK_OUTPUTS(input_count, 1, width);
  float units[NETWORK_TOGETHER(NETWORK_WIDTH_MAX)];
  for (uint32_t first = 0; first < width; first += NETWORK_TOGETHER(width)) {
    network_units(table, inputs, input_count, width, first, NETWORK_TOGETHER(width), units);
    network_activate(activation, NETWORK_TOGETHER(width), units);
    network_add(outputs + first, units, NETWORK_TOGETHER(width), sums);
  }
}

/* Output of a network with several hidden layers. Pairs of units of the first layer are computed when the second layer
 * needs them, so that it stays in registers. */
SL_MATH_FUNCTION void network_more_layers(const float *table, const float *inputs, uint32_t input_count,
                                          uint32_t layers, uint32_t width, uint32_t activation, float *sums) {
  const float *layer = table + NETWORK_FIRST_LAYER(input_count, width);
  float units[NETWORK_WIDTH_MAX], next[NETWORK_WIDTH_MAX];
  for (uint32_t k = 0; k < width; k++) units[k] = layer[k];
  for (uint32_t i = 0; i < width; i += 2) {
    const float *weights = layer + (size_t)width * (1 + i);
    float pair[2];
    network_units(table, inputs, input_count, width, i, 2, pair);
    network_activate(activation, 2, pair);
    for (uint32_t k = 0; k < width; k++) units[k] = fmaf(weights[k], pair[0], units[k]);
    for (uint32_t k = 0; k < width; k++) units[k] = fmaf(weights[width + k], pair[1], units[k]);
  }
  network_activate(activation, width, units);
  for (uint32_t l = 2; l < layers; l++) {
    layer += width * (1 + width);
    network_units(layer, units, width, width, 0, width, next);
    network_activate(activation, width, next);
    for (uint32_t k = 0; k < width; k++) units[k] = next[k];
  }
  network_add(table + NETWORK_OUTPUTS(input_count, layers, width), units, width, sums);
}

/* Output of the network for one item: log of the odds. All numbers but `table` and `inputs` are constants of the
 * kernel. `table` is aligned to 16 bytes. */
SL_MATH_FUNCTION float network_logit(const float *table, const float *inputs, uint32_t input_count, uint32_t layers,
                                     uint32_t width, uint32_t activation) {
  const float *bias = table + NETWORK_OUTPUTS(input_count, layers, width) + width;
  float sums[NETWORK_SUMS] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  if (layers == 1)
    network_one_layer(table, inputs, input_count, width, activation, sums);
  else
    network_more_layers(table, inputs, input_count, layers, width, activation, sums);
  float logit = *bias + (((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])));
  if (activation != NETWORK_GROUP_SORT) return logit;
  for (uint32_t i = 0; i < input_count; i++) logit = fmaf(bias[1 + i], inputs[i], logit);
  return logit;
}

/* Probability, from 0 to 1, that belongs to a logit. */
SL_MATH_FUNCTION float network_probability(float logit) { return 1.0f / (1.0f + sl_expf(-logit)); }

/* Probability for one item, by the table `weights` of a node. Tables are aligned; with this four weights are one load.
 */
SL_MATH_FUNCTION float network_score(const float *weights, const float *inputs, uint32_t input_count, uint32_t layers,
                                     uint32_t width, uint32_t activation) {
  const float *table = (const float *)__builtin_assume_aligned(weights, 4 * sizeof(float));
  return network_probability(network_logit(table, inputs, input_count, layers, width, activation));
}

/* 1 if all inputs are finite. */
SL_MATH_FUNCTION uint32_t network_are_finite(const float *inputs, uint32_t input_count) {
  uint32_t are_finite = 1;
  for (uint32_t i = 0; i < input_count; i++) are_finite &= (uint32_t)sl_is_finite(inputs[i]);
  return are_finite;
}

#endif
