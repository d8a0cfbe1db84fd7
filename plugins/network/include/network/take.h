/* take.h: prepares the table of weights of a node that evaluates a network. For the `prepare` function of an algorithm
 * with an input `network` (collection network) and a TABLE `weights` of f32:
 *
 *   return network_take(s, &a->network, &score_network, "weights");
 */
#ifndef NETWORK_TAKE_H
#define NETWORK_TAKE_H

#include "network/evaluate.h"

#include <string.h>

/* An element of `inputs` below, for lists of inputs as X-macros. */
#define NETWORK_INPUT_NAME(name) #name,

enum { NETWORK_NAMES_BYTES = 1000 }; /* of a list of names in a message */

/* The networks that a kernel is compiled for. */
struct network_kind {
  const char *const *inputs; /* names of the inputs of the kernel */
  uint32_t input_count, layers, width, activation;
  uint32_t is_optional; /* 1: the algorithm also works without a network */
};

static inline uint32_t network_is_present(const struct network_view *n) {
  return n->shape && n->shape[NETWORK_ACTIVATION] != NETWORK_NONE ? 1u : 0u;
}

/* Finds the index in `kind` of each input of the network. Returns SL_OK, or an error after a message with the first
 * input that the kernel does not have. */
static inline int network_find_inputs(const struct sl_services *s, const struct network_view *n,
                                      const struct network_kind *kind, uint32_t *index) {
  const char *name = (const char *)n->names;
  for (uint32_t i = 0; i < n->shape[NETWORK_INPUTS]; i++, name += strlen(name) + 1) {
    uint32_t k = 0;
    while (k < kind->input_count && strcmp(name, kind->inputs[k]) != 0) k++;
    index[i] = k;
    if (k < kind->input_count) continue;
    char names[NETWORK_NAMES_BYTES] = "";
    for (k = 0; k < kind->input_count; k++) {
      strncat(names, k ? ", " : "", sizeof names - strlen(names) - 1);
      strncat(names, kind->inputs[k], sizeof names - strlen(names) - 1);
    }
    s->message(s->context, SL_ERROR, "input %u of the network is `%s`; inputs of this node are %s", i + 1, name, names);
    return SL_EINVAL;
  }
  return SL_OK;
}

/* Compares activation, layers and units. */
static inline int network_check_shape(const struct sl_services *s, const struct network_view *n,
                                      const struct network_kind *kind) {
  static const char *const activations[NETWORK_ACTIVATIONS] = NETWORK_ACTIVATION_NAMES;
  const uint32_t *shape = n->shape;
  if (shape[NETWORK_ACTIVATION] != kind->activation) {
    s->message(s->context, SL_ERROR, "the activation of the network is %s, but must be %s",
               activations[shape[NETWORK_ACTIVATION]], activations[kind->activation]);
    return SL_EINVAL;
  }
  if (shape[NETWORK_LAYERS] != kind->layers) {
    s->message(s->context, SL_ERROR, "the network has %u hidden layers, but must have %u", shape[NETWORK_LAYERS],
               kind->layers);
    return SL_EINVAL;
  }
  for (uint32_t l = 0; l < kind->layers; l++)
    if (shape[NETWORK_UNITS + l] > kind->width) {
      s->message(s->context, SL_ERROR, "hidden layer %u of the network has %u units, but may have %u at most", l + 1,
                 shape[NETWORK_UNITS + l], kind->width);
      return SL_EINVAL;
    }
  return SL_OK;
}

/* Copies the numbers to their offsets in the table. `index`: of the network's inputs in `kind`. */
static inline void network_fill(const struct network_view *n, const struct network_kind *kind, const uint32_t *index,
                                float *table) {
  const float *from = n->numbers;
  uint32_t inputs = n->shape[NETWORK_INPUTS];
  float *to = table;
  for (uint32_t l = 0; l < kind->layers; l++) {
    const uint32_t units = n->shape[NETWORK_UNITS + l];
    for (uint32_t k = 0; k < units; k++) {
      to[k] = *from++;
      for (uint32_t i = 0; i < inputs; i++) to[kind->width * (1 + (l == 0 ? index[i] : i)) + k] = *from++;
    }
    to += kind->width * (1 + (l == 0 ? kind->input_count : kind->width));
    inputs = units;
  }
  to[kind->width] = *from++;
  for (uint32_t k = 0; k < inputs; k++) to[k] = *from++;
  for (uint32_t i = 0; i < n->shape[NETWORK_INPUTS]; i++) to[kind->width + 1 + index[i]] = *from++;
}

/* Makes the table `table` of the node from the network `n`; without a network the table is zero. The network may have
 * any of the inputs of `kind`, in any order; weights of the others are zero. Returns SL_OK, or an error after a message
 * that names the first input, or the number, that does not suit `kind`. */
static inline int network_take(const struct sl_services *s, const struct network_view *n,
                               const struct network_kind *kind, const char *table) {
  float *numbers =
      (float *)s->make_table(s->context, table, NETWORK_NUMBERS(kind->input_count, kind->layers, kind->width));
  if (!numbers) return SL_ENOMEM;
  memset(numbers, 0, sizeof(float) * NETWORK_NUMBERS(kind->input_count, kind->layers, kind->width));
  if (!network_is_present(n)) {
    if (kind->is_optional) return SL_OK;
    s->message(s->context, SL_ERROR, "there is no network: the property `network` of its node is none");
    return SL_EINVAL;
  }
  uint32_t index[NETWORK_INPUTS_MAX];
  int status = network_find_inputs(s, n, kind, index);
  if (status == SL_OK) status = network_check_shape(s, n, kind);
  if (status == SL_OK) network_fill(n, kind, index, numbers);
  return status;
}

#endif
