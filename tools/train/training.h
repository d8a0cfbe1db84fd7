/* training.h: trains a network by Adam (D. Kingma, J. Ba, arXiv:1412.6980), with a rate that falls linearly to zero. */
#ifndef TRAIN_TRAINING_H
#define TRAIN_TRAINING_H

#include "network.h"

struct training {
  const double *inputs, *targets, *weights; /* of `count` examples; inputs are scaled */
  uint32_t count, epochs, batch;
  uint64_t seed; /* of first weights and the order of examples */
  double rate;
};

/* Fills `weights`, network_size(n) numbers. Returns 0, or 1 without memory. */
int training_run(const struct training *t, const struct shape *n, double *weights);

/* Mean cross entropy of the examples. Writes the probability of each to a line of `scores`, unless it is NULL. */
double training_loss(const struct training *t, const struct shape *n, const double *weights, FILE *scores);

#endif
