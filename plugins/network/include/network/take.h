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

/* The networks that a kernel is compiled for. */
struct network_kind {
  const char *const *inputs; /* their names */
  uint32_t input_count, layers, width, activation;
  uint32_t is_optional; /* 1: the algorithm also works without a network */
};

static inline uint32_t network_is_present(const struct network_view *n) {
  return n->shape && n->shape[NETWORK_ACTIVATION] != NETWORK_NONE ? 1u : 0u;
}

/* Compares the inputs. Returns SL_OK, or an error after a message with the first that differs. */
static inline int network_check_inputs(const struct sl_services *s, const struct network_view *n,
                                       const struct network_kind *kind) {
  const char *name = (const char *)n->names;
  const uint32_t count = n->shape[NETWORK_INPUTS];
  for (uint32_t i = 0; i < count || i < kind->input_count; i++) {
    const char *found = i < count ? name : NULL, *expected = i < kind->input_count ? kind->inputs[i] : NULL;
    if (found && expected && strcmp(found, expected) == 0) {
      name += strlen(name) + 1;
      continue;
    }
    if (!found)
      s->message(s->context, SL_ERROR, "the network ends after input %u; input %u must be `%s`", count, i + 1,
                 expected);
    else if (!expected)
      s->message(s->context, SL_ERROR, "input %u of the network is `%s`, but there must be %u inputs", i + 1, found,
                 kind->input_count);
    else
      s->message(s->context, SL_ERROR, "input %u of the network is `%s`, but must be `%s`", i + 1, found, expected);
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

/* Copies the numbers to their offsets in the table. */
static inline void network_fill(const struct network_view *n, const struct network_kind *kind, float *table) {
  const float *from = n->numbers;
  uint32_t inputs = kind->input_count;
  float *to = table;
  for (uint32_t l = 0; l < kind->layers; l++) {
    const uint32_t units = n->shape[NETWORK_UNITS + l];
    for (uint32_t k = 0; k < units; k++)
      for (uint32_t i = 0; i <= inputs; i++) to[kind->width * i + k] = *from++;
    to += kind->width * (1 + (l == 0 ? kind->input_count : kind->width));
    inputs = units;
  }
  to[kind->width] = *from++;
  for (uint32_t k = 0; k < inputs; k++) to[k] = *from++;
  for (uint32_t i = 0; i < kind->input_count; i++) to[kind->width + 1 + i] = *from++;
}

/* Makes the table `table` of the node from the network `n`; without a network the table is zero. Returns SL_OK, or an
 * error after a message that names the first input, or the number, that differs from `kind`. */
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
  int status = network_check_inputs(s, n, kind);
  if (status == SL_OK) status = network_check_shape(s, n, kind);
  if (status == SL_OK) network_fill(n, kind, numbers);
  return status;
}

#endif
