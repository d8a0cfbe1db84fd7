/* network.h: a dense network in double precision, its gradient, and its file (plugins/network/README.md).
 *
 * All sums have a fixed order and the program is compiled without fused operations, so that a training has the same
 * result on every machine.
 */
#ifndef TRAIN_NETWORK_H
#define TRAIN_NETWORK_H

#include "network/event_model.h" /* limits and activations */

#include <stdint.h>
#include <stdio.h>

struct shape {
  uint32_t inputs, layers, activation;
  uint32_t units[NETWORK_LAYERS_MAX + 1]; /* of the hidden layers, then 1 for the output */
  double slope, layer_slope; /* group_sort: largest slope of hidden layers and output together, and of each */
  double direction[NETWORK_INPUTS_MAX]; /* group_sort: 1 if the output must rise with the input, -1 fall, 0 either */
};

/* Number of weights. For each layer, and the output: biases, then by input the weights of all units. */
uint32_t network_size(const struct shape *n);

/* Log of the odds for one item. */
double network_output(const struct shape *n, const double *weights, const double *inputs);

/* Adds the gradient of weight * cross entropy of one item to `gradient`. */
void network_gradient(const struct shape *n, const double *weights, const double *inputs, double target, double weight,
                      double *gradient);

/* group_sort: `slope` is the largest slope of the output in an input, without the linear term. */
void network_set_slope(struct shape *n, double slope);

/* group_sort: scales the weights of each layer so that its slope does not exceed n->layer_slope. */
void network_limit_slope(const struct shape *n, double *weights);

/* Cross entropy of an item with this log of the odds. */
double network_loss(double logit, double target);
double network_probability(double logit);

/* Writes the statements of activation, linear term, layers and output. */
void network_write(FILE *file, const struct shape *n, const double *weights);

#endif
