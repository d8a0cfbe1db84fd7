/* mc_vertices.h: true proton-proton collisions of an event, from its raw banks of type 33 (README.md).
 * A struct mc_vertices is reused for all events; its memory only grows. Initialise it with zeros. Banks are not
 * trusted: data that do not fit the format exactly are refused, and nothing outside the payloads is read. */
#ifndef TRUTH_MC_VERTICES_H
#define TRUTH_MC_VERTICES_H

#include "mc_banks.h"
#include "truth/raw_banks.h"

struct mc_vertex {
  double x, y, z;  /* mm */
  uint32_t tracks; /* charged particles of the collision that are reconstructible in the VELO */
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
