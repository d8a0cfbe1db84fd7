/* network_case.h: networks for tests, made by network.weights, and their plain evaluation in double precision. Tests
 * that include it name `network` among the OTHERS of sluice_add_plugin_test. */
#ifndef NETWORK_CASE_H
#define NETWORK_CASE_H

#include "network/evaluate.h"

#include <sluice/testing.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct network_case {
  uint32_t shape_count, name_bytes, number_count;
  uint32_t shape[NETWORK_UNITS + NETWORK_LAYERS_MAX];
  char names[1024];
  float numbers[1 << 15];
};

static inline void network_case_copy(const struct sl_test *t, const char *field, void *to, size_t size,
                                     uint32_t *count) {
  const uint64_t bytes = sl_test_output_count(t, "weights", field) * (strcmp(field, "names") == 0 ? 1 : 4);
  if (bytes > size) abort();
  memcpy(to, sl_test_output(t, "weights", field), bytes);
  *count = (uint32_t)sl_test_output_count(t, "weights", field);
}

/* Loads a built-in network, or a file. */
static inline void network_case_load(struct network_case *n, const char *network) {
  struct sl_test *t = sl_test_new(NETWORK_PLUGIN, "weights");
  sl_test_set_text(t, "network", network);
  if (sl_test_run(t) != 0) abort();
  network_case_copy(t, "shape", n->shape, sizeof n->shape, &n->shape_count);
  network_case_copy(t, "names", n->names, sizeof n->names, &n->name_bytes);
  network_case_copy(t, "numbers", n->numbers, sizeof n->numbers, &n->number_count);
  sl_test_free(t);
}

/* Connects the network to the input `network`. */
static inline void network_case_give(struct sl_test *t, const struct network_case *n) {
  sl_test_input(t, "network", "shape", n->shape, n->shape_count);
  sl_test_input(t, "network", "names", n->names, n->name_bytes);
  sl_test_input(t, "network", "numbers", n->numbers, n->number_count);
}

/* Log of the odds. `scale`: sum of the magnitudes of all terms of the output, to which rounding is proportional. */
static inline double network_case_logit(const struct network_case *n, const double *inputs, double *scale) {
  const float *number = n->numbers;
  double values[2][NETWORK_WIDTH_MAX + NETWORK_INPUTS_MAX];
  uint32_t count = n->shape[NETWORK_INPUTS];
  memcpy(values[0], inputs, count * sizeof *inputs);
  for (uint32_t l = 0; l < n->shape[NETWORK_LAYERS]; l++) {
    const double *from = values[l % 2];
    double *to = values[(l + 1) % 2];
    const uint32_t units = n->shape[NETWORK_UNITS + l];
    for (uint32_t k = 0; k < units; k++) {
      to[k] = (double)*number++;
      for (uint32_t i = 0; i < count; i++) to[k] += (double)*number++ * from[i];
    }
    for (uint32_t k = 0; k < units; k++) {
      const double low = fmin(to[k], to[k ^ 1]), high = fmax(to[k], to[k ^ 1]);
      if (n->shape[NETWORK_ACTIVATION] == NETWORK_RELU)
        to[k] = fmax(to[k], 0);
      else if (k % 2 == 0) {
        to[k] = low;
        to[k + 1] = high;
      }
    }
    count = units;
  }
  const double *units = values[n->shape[NETWORK_LAYERS] % 2];
  double logit = (double)*number++;
  *scale = 1 + fabs(logit);
  for (uint32_t k = 0; k < count; k++, number++) {
    logit += (double)*number * units[k];
    *scale += fabs((double)*number * units[k]);
  }
  for (uint32_t i = 0; i < n->shape[NETWORK_INPUTS]; i++, number++) {
    logit += (double)*number * inputs[i];
    *scale += fabs((double)*number * inputs[i]);
  }
  return logit;
}

#endif
