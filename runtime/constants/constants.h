/* constants.h: constants of the graph (constants.c), and what kernel nodes compute from them (prepare.c). */
#ifndef SL_CONSTANTS_H
#define SL_CONSTANTS_H

#include "execute/setup.h"

/* Make the constants, then prepare the nodes, of those marked in `which`, or, if it is NULL, of all. After a failure
 * the others are made too, so that all errors are reported. */
int sl_constants_make(struct sl_setup *s, const uint8_t *which);
int sl_nodes_prepare(struct sl_setup *s, const uint8_t *which);

#endif
