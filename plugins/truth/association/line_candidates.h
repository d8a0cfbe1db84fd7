/* line_candidates.h: the collection from which a line accepts candidates, found by `made_by`. */
#ifndef TRUTH_LINE_CANDIDATES_H
#define TRUTH_LINE_CANDIDATES_H

#include "selections/event_model.h"

#include <stddef.h>

/* Candidates of a line in a slice: one of the two collections, or none (both NULL). */
struct line_candidates {
  const struct secondary_vertices_view *vertices;
  const struct particles_view *particles;
};

static inline struct line_candidates line_candidates_of(const struct secondary_vertices_views *vertices,
                                                        const struct particles_views *particles, uint64_t made_by) {
  struct line_candidates found = {NULL, NULL};
  for (uint32_t v = 0; v < vertices->count; v++)
    if (*vertices->at[v].made_by == made_by) found.vertices = &vertices->at[v];
  for (uint32_t p = 0; p < particles->count; p++)
    if (*particles->at[p].made_by == made_by) found.particles = &particles->at[p];
  return found;
}

#endif
