/* event_model.h: the collection that holds the weights of a small dense network (README.md). */
#ifndef NETWORK_EVENT_MODEL_H
#define NETWORK_EVENT_MODEL_H

#include <sluice/plugin.h>

enum { NETWORK_INPUTS_MAX = 64, NETWORK_LAYERS_MAX = 8, NETWORK_WIDTH_MAX = 64 };

/* Activation of the hidden units. */
enum {
  NETWORK_NONE,       /* there is no network */
  NETWORK_RELU,       /* max(0, u) */
  NETWORK_GROUP_SORT, /* units 2 k and 2 k + 1 become the smaller and the larger of the two */
  NETWORK_ACTIVATIONS
};
/* Their names in files, in this order. */
#define NETWORK_ACTIVATION_NAMES \
  { "none", "relu", "group_sort" }

/* Indices of `shape`. */
enum { NETWORK_ACTIVATION, NETWORK_INPUTS, NETWORK_LAYERS, NETWORK_UNITS };

#define NETWORK_FIELDS(F)                                                                                            \
  F(shape, u32, ARRAY, "",                                                                                           \
    "activation (0: no network, 1: relu, 2: group_sort), number of inputs, number of hidden layers, then units of "  \
    "each")                                                                                                          \
  F(names, u8, ARRAY, "", "names of the inputs, each followed by a zero byte")                                       \
  F(numbers, f32, ARRAY, "",                                                                                         \
    "bias and weights of each unit, by hidden layer, and of the output; then one factor per input that is added to " \
    "the output")
SL_COLLECTION(network, NETWORK_FIELDS, "weights of a small dense network");

#endif
