/* training.c: see training.h. */
#include "training.h"

#include <sluice/philox.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Purposes of random numbers. */
enum { FOR_WEIGHTS, FOR_ORDER };

/* The random number `i` of a purpose, from 0 up to 1. */
static double uniform(const struct training *t, uint32_t purpose, uint32_t round, uint32_t i) {
  const uint32_t key[2] = {(uint32_t)t->seed, (uint32_t)(t->seed >> 32)}, counter[4] = {i, round, purpose, 0};
  uint32_t words[4];
  sl_philox_4x32_10(key, counter, words);
  return words[0] / 4294967296.0;
}

/* Uniform weights with the variance 2 / inputs of a layer (K. He et al., arXiv:1502.01852); 1 / inputs for the output
 * and for group_sort, which keeps all values. Biases are zero. */
static void draw_weights(const struct training *t, const struct shape *n, double *weights) {
  uint32_t inputs = n->inputs;
  for (uint32_t l = 0, drawn = 0; l <= n->layers; l++) {
    const double variance = (n->activation == NETWORK_RELU && l < n->layers ? 2.0 : 1.0) / inputs;
    memset(weights, 0, n->units[l] * sizeof *weights);
    weights += n->units[l];
    for (uint32_t k = 0; k < n->units[l] * inputs; k++)
      *weights++ = sqrt(3 * variance) * (2 * uniform(t, FOR_WEIGHTS, 0, drawn++) - 1);
    inputs = n->units[l];
  }
}

static void shuffle(const struct training *t, uint32_t epoch, uint32_t *order) {
  for (uint32_t i = t->count; i-- > 1;) {
    const uint32_t k = (uint32_t)(uniform(t, FOR_ORDER, epoch, i) * (i + 1)), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
}

struct adam {
  double *gradient, *means, *squares;
  double mean_share, square_share; /* powers of the decay rates */
};

static void step(struct adam *a, uint32_t size, double rate, double *weights) {
  const double mean_decay = 0.9, square_decay = 0.999, least = 1e-8;
  a->mean_share *= mean_decay;
  a->square_share *= square_decay;
  for (uint32_t w = 0; w < size; w++) {
    a->means[w] += (1 - mean_decay) * (a->gradient[w] - a->means[w]);
    a->squares[w] += (1 - square_decay) * (a->gradient[w] * a->gradient[w] - a->squares[w]);
    weights[w] -= rate * (a->means[w] / (1 - a->mean_share)) / (sqrt(a->squares[w] / (1 - a->square_share)) + least);
  }
}

int training_run(const struct training *t, const struct shape *n, double *weights) {
  const uint32_t size = network_size(n), batches = t->count / t->batch;
  double *numbers = calloc(3 * (size_t)size, sizeof *numbers);
  uint32_t *order = calloc(t->count, sizeof *order);
  const int failed = !numbers || !order;
  struct adam a = {numbers, numbers + size, numbers + 2 * (size_t)size, 1, 1};
  for (uint32_t i = 0; !failed && i < t->count; i++) order[i] = i;
  draw_weights(t, n, weights);
  network_limit_slope(n, weights);
  for (uint64_t done = 0; !failed && done < (uint64_t)t->epochs * batches; done++) {
    const uint32_t b = (uint32_t)(done % batches);
    if (b == 0) shuffle(t, (uint32_t)(done / batches), order);
    memset(a.gradient, 0, size * sizeof *a.gradient);
    for (uint32_t k = 0; k < t->batch; k++) {
      const uint32_t i = order[b * t->batch + k];
      network_gradient(n, weights, t->inputs + (size_t)i * n->inputs, t->targets[i], t->weights[i] / t->batch,
                       a.gradient);
    }
    step(&a, size, t->rate * (1 - (double)done / ((double)t->epochs * batches)), weights);
    network_limit_slope(n, weights);
  }
  free(numbers);
  free(order);
  return failed;
}

double training_loss(const struct training *t, const struct shape *n, const double *weights, FILE *scores) {
  double sum = 0, total = 0;
  for (uint32_t i = 0; i < t->count; i++) {
    const double logit = network_output(n, weights, t->inputs + (size_t)i * n->inputs);
    if (scores) fprintf(scores, "%.9g\n", network_probability(logit));
    sum += network_loss(logit, t->targets[i]) * t->weights[i];
    total += t->weights[i];
  }
  return sum / total;
}
