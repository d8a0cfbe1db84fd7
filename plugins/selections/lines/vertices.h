/* lines/vertices.h: what lines over pairs of particles share. Of all of them, and of those over pairs of Ks: a number
 * passes from its minimum on, and below its maximum. */
#ifndef SELECTIONS_LINES_VERTICES_H
#define SELECTIONS_LINES_VERTICES_H

#include "selections/line.h"
#include "selections/masses.h"

/* Where a pair and its primary vertex must be. */
#define VERTICES_FROM_Z(M)                              \
  M(F32, min_z, -341.0, -1e9, 1e9, "mm", "of the pair") \
  M(F32, min_vertex_z, -341.0, -1e9, 1e9, "mm", "of its primary vertex; -1e9: there need not be one")
#define VERTEX_IS_FROM_Z(a, i) ((a)->candidates.z[i] >= (a)->min_z && (a)->candidates.vertex_z[i] >= (a)->min_vertex_z)

#define VERTEX_SIGN(M, default_) M(ENUM, sign, default_, "whether both have the same charge", "any opposite same")
enum { SIGN_ANY, SIGN_OPPOSITE, SIGN_SAME };

static SL_DEVICE SL_UNUSED uint32_t sign_is(uint32_t sign, int32_t charge) {
  return sign == SIGN_ANY || (charge == 0) == (sign == SIGN_OPPOSITE);
}

/* Where a pair's two particles are in the slice. */
struct vertex_children {
  uint32_t first, second;
};

static SL_DEVICE SL_UNUSED struct vertex_children children_of(const struct secondary_vertices_view *pairs,
                                                              const struct particles_view *particles, uint32_t event,
                                                              uint32_t i) {
  struct vertex_children of;
  of.first = particles->offsets[event] + pairs->first[i];
  of.second = particles->offsets[event] + pairs->second[i];
  return of;
}

/* What the pair weighs, if these are the masses of its particles. */
static SL_DEVICE SL_UNUSED float mass_of(const struct secondary_vertices_view *pairs,
                                         const struct particles_view *particles, uint32_t event, uint32_t i,
                                         float first_mass, float second_mass) {
  const struct vertex_children of = children_of(pairs, particles, event, i);
  return selections_mass(particles->p[of.first], first_mass, particles->p[of.second], second_mass, pairs->opening[i]);
}

#endif
