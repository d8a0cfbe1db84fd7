/* network.c: see network.h. */
#include "network.h"

#include <sluice/math.h>

#include <math.h>
#include <string.h>

enum { LANES = 8 }; /* partial sums; a constant, so that vectors of any machine give the same sum */

static uint32_t inputs_of(const struct shape *n, uint32_t layer) {
  return layer == 0 ? n->inputs : n->units[layer - 1];
}

static uint32_t size_of(const struct shape *n, uint32_t layer) { return n->units[layer] * (1 + inputs_of(n, layer)); }

uint32_t network_size(const struct shape *n) {
  uint32_t size = 0;
  for (uint32_t l = 0; l <= n->layers; l++) size += size_of(n, l);
  return size;
}

static double dot(const double *a, const double *b, uint32_t count) {
  double sums[LANES] = {0};
  for (uint32_t k = 0; k < count; k++) sums[k % LANES] += a[k] * b[k];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void add_layer(const double *restrict weights, const double *restrict inputs, uint32_t input_count,
                      uint32_t units, double *restrict sums) {
  memcpy(sums, weights, units * sizeof *sums);
  for (uint32_t i = 0; i < input_count; i++) {
    const double *restrict w = weights + units * (1 + i);
    for (uint32_t k = 0; k < units; k++) sums[k] += w[k] * inputs[i];
  }
}

static void activate(uint32_t activation, const double *sums, uint32_t units, double *values) {
  if (activation == NETWORK_RELU) {
    for (uint32_t k = 0; k < units; k++) values[k] = sums[k] > 0 ? sums[k] : 0;
    return;
  }
  for (uint32_t k = 0; k < units; k += 2) {
    values[k] = sums[k] < sums[k + 1] ? sums[k] : sums[k + 1];
    values[k + 1] = sums[k] < sums[k + 1] ? sums[k + 1] : sums[k];
  }
}

/* Derivatives with respect to the values become derivatives with respect to the sums. */
static void activate_back(uint32_t activation, const double *sums, uint32_t units, double *back) {
  if (activation == NETWORK_RELU) {
    for (uint32_t k = 0; k < units; k++) back[k] = sums[k] > 0 ? back[k] : 0;
    return;
  }
  for (uint32_t k = 0; k < units; k += 2) {
    if (sums[k] < sums[k + 1]) continue;
    const double low = back[k];
    back[k] = back[k + 1];
    back[k + 1] = low;
  }
}

struct layers {
  double sums[NETWORK_LAYERS_MAX + 1][NETWORK_WIDTH_MAX], values[NETWORK_LAYERS_MAX + 1][NETWORK_WIDTH_MAX];
};

static double forward(const struct shape *n, const double *weights, const double *inputs, struct layers *of) {
  const double *from = inputs;
  for (uint32_t l = 0; l <= n->layers; l++) {
    add_layer(weights, from, inputs_of(n, l), n->units[l], of->sums[l]);
    weights += size_of(n, l);
    if (l < n->layers) activate(n->activation, of->sums[l], n->units[l], of->values[l]);
    from = of->values[l];
  }
  double logit = of->sums[n->layers][0];
  if (n->activation == NETWORK_GROUP_SORT)
    for (uint32_t i = 0; i < n->inputs; i++) logit += n->slope * n->direction[i] * inputs[i];
  return logit;
}

double network_output(const struct shape *n, const double *weights, const double *inputs) {
  struct layers of;
  return forward(n, weights, inputs, &of);
}

double network_probability(double logit) { return 1 / (1 + (double)sl_expf((float)-logit)); }

double network_loss(double logit, double target) {
  const double magnitude = fabs(logit);
  return (double)sl_logf(1 + sl_expf((float)-magnitude)) + magnitude * (logit > 0 ? 1 - target : target);
}

void network_gradient(const struct shape *n, const double *weights, const double *inputs, double target, double weight,
                      double *gradient) {
  struct layers of;
  double back[2][NETWORK_WIDTH_MAX] = {{0}};
  const uint32_t size = network_size(n);
  const double logit = forward(n, weights, inputs, &of);
  weights += size;
  gradient += size;
  back[n->layers % 2][0] = (network_probability(logit) - target) * weight;
  for (uint32_t l = n->layers + 1; l-- > 0;) {
    const uint32_t input_count = inputs_of(n, l), units = n->units[l];
    const double *restrict from = l == 0 ? inputs : of.values[l - 1];
    double *restrict slopes = back[l % 2];
    weights -= size_of(n, l);
    gradient -= size_of(n, l);
    if (l < n->layers) activate_back(n->activation, of.sums[l], units, slopes);
    for (uint32_t k = 0; k < units; k++) gradient[k] += slopes[k];
    for (uint32_t i = 0; i < input_count; i++) {
      double *restrict g = gradient + units * (1 + i);
      for (uint32_t k = 0; k < units; k++) g[k] += from[i] * slopes[k];
      if (l > 0) back[(l + 1) % 2][i] = dot(weights + units * (1 + i), slopes, units);
    }
  }
}

/* Newton's method: the result of pow differs between libraries. */
void network_set_slope(struct shape *n, double slope) {
  double root = slope > 1 ? slope : 1;
  for (int step = 0; step < 100; step++) {
    double power = 1;
    for (uint32_t l = 0; l < n->layers; l++) power *= root;
    root -= (power * root - slope) / ((n->layers + 1) * power);
  }
  n->slope = slope;
  n->layer_slope = root;
}

/* The slope of a layer is at most the largest sum of magnitudes of the weights of one input. */
void network_limit_slope(const struct shape *n, double *weights) {
  if (n->activation != NETWORK_GROUP_SORT) return;
  for (uint32_t l = 0; l <= n->layers; l++) {
    const uint32_t units = n->units[l];
    double most = 0;
    for (uint32_t i = 0; i < inputs_of(n, l); i++) {
      double sum = 0;
      for (uint32_t k = 0; k < units; k++) sum += fabs(weights[units * (1 + i) + k]);
      most = sum > most ? sum : most;
    }
    const double divisor = most / n->layer_slope;
    for (uint32_t k = units; divisor > 1 && k < size_of(n, l); k++) weights[k] /= divisor;
    weights += size_of(n, l);
  }
}

void network_write(FILE *file, const struct shape *n, const double *weights) {
  static const char *const activations[] = NETWORK_ACTIVATION_NAMES;
  fprintf(file, "activation %s\n", activations[n->activation]);
  if (n->activation == NETWORK_GROUP_SORT) {
    fprintf(file, "linear");
    for (uint32_t i = 0; i < n->inputs; i++) fprintf(file, " %.9f", n->slope * n->direction[i]);
    fprintf(file, "\n");
  }
  for (uint32_t l = 0; l <= n->layers; l++) {
    const uint32_t units = n->units[l];
    if (l < n->layers) fprintf(file, "layer\n");
    for (uint32_t k = 0; k < units; k++) {
      fprintf(file, "%s %.9f", l < n->layers ? "unit" : "output", weights[k]);
      for (uint32_t i = 0; i < inputs_of(n, l); i++) fprintf(file, " %.9f", weights[units * (1 + i) + k]);
      fprintf(file, "\n");
    }
    weights += size_of(n, l);
  }
}
