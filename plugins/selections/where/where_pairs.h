/* where_pairs.h: names in expressions over secondary vertices: fields of the pair and of both particles, and its mass.
 */
#ifndef SELECTIONS_WHERE_PAIRS_H
#define SELECTIONS_WHERE_PAIRS_H

#include "selections/event_model.h"
#include "where_machine.h"

static const struct where_function where_pair_functions[] SL_UNUSED = {
    {MASS_OF_PAIR(NULL), WHERE_CALL(WHERE_MASS, 0, 2), 0, 0, NULL}};

/* Links to the particles of the pairs in `vertices`, and the decay of a pair: `first` and `second` are the numbers of
 * its links plus 1, `own` is the item of the pair. */
#define WHERE_LINKS_OF_PAIRS(type, vertices, particles) \
  WHERE_LINK(type, vertices.first, particles), WHERE_LINK(type, vertices.second, particles)
#define WHERE_DECAY_OF_PAIR(type, vertices, particles, first, second, own) \
  WHERE_DECAY(type, particles.p, particles.p, vertices.opening, first, second, own)

#endif
