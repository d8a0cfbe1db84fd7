/* graph_fake.h: a registry without shared objects, for the tests of the graph's reader. */
#ifndef GRAPH_FAKE_H
#define GRAPH_FAKE_H

#include "plugin/registry.h"

/* Plugins for cpu: toy (everything), other (its toy_hits have another layout), broken (refused). For cuda: toy without
 * its tuned sort. */
struct sl_registry *fake_registry(void);

#endif
