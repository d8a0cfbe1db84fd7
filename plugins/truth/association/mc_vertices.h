/* mc_vertices.h: the true proton-proton collisions of an event, from its raw banks of type 33 (README.md).
 *
 * A struct mc_vertices is used again for event after event; its memory only grows. Zero-initialise it. The banks may
 * hold anything: what does not fit the format exactly is refused, and nothing outside the payloads is read.
 */
#ifndef TRUTH_MC_VERTICES_H
#define TRUTH_MC_VERTICES_H

#include "mc_banks.h"
#include "truth/raw_banks.h"

struct mc_vertex {
  double x, y, z;  /* mm */
  uint32_t tracks; /* charged particles of the collision that the VELO can reconstruct */
};

struct mc_vertices {
  struct mc_vertex *at; /* in the order of the banks */
  uint64_t capacity;
  uint32_t count;
  struct mc_joined joined;
};

/* Decodes event `event` of a slice: 0, SL_EFORMAT with the reason (a literal), or SL_ENOMEM. No banks: no vertices. */
int mc_vertices_decode(struct mc_vertices *mc, const struct mc_vertex_banks_view *banks, uint32_t event,
                       const char **reason);
void mc_vertices_free(struct mc_vertices *mc);

#endif
