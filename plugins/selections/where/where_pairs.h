/* where_pairs.h: names in expressions over secondary vertices: fields of the pair and of both particles, and its mass.
 */
#ifndef SELECTIONS_WHERE_PAIRS_H
#define SELECTIONS_WHERE_PAIRS_H

#include "selections/event_model.h"
#include "where_machine.h"

static const struct where_function where_pair_functions[] SL_UNUSED = {
    {MASS_OF_PAIR(NULL), WHERE_CALL(WHERE_MASS, 0, 2), 0, 0, NULL}};

/* Decay of a pair of particles: `first` and `second` are its links, `own` the item of the pair. */
static SL_DEVICE SL_UNUSED struct where_decay where_decay_of_pair(const struct particles_view *particles,
                                                                  const struct secondary_vertices_view *vertices,
                                                                  uint32_t first, uint32_t second, uint32_t own) {
  const struct where_decay decay = {particles->p, particles->p, vertices->opening, first + 1, second + 1, own};
  return decay;
}

static SL_DEVICE SL_UNUSED struct where_children where_children_of_pair(
    const struct particles_view *particles, const struct secondary_vertices_view *vertices) {
  const struct where_children children = {
      {{particles->offsets, vertices->first, 0}, {particles->offsets, vertices->second, 0}},
      {where_decay_of_pair(particles, vertices, WHERE_FIRST, WHERE_SECOND, 0)}};
  return children;
}

#endif
