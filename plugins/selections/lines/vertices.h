/* lines/vertices.h: properties and functions that lines over pairs of particles share. In all these lines and in lines
 * over pairs of Ks a value v passes if minimum <= v < maximum, except where the code has another comparison. */
#ifndef SELECTIONS_LINES_VERTICES_H
#define SELECTIONS_LINES_VERTICES_H

#include "selections/line.h"
#include "selections/masses.h"

/* Requirements for the positions of a pair and its primary vertex. */
#define VERTICES_FROM_Z(M)                                        \
  M(F32, min_z, -341.0, -1e9, 1e9, "mm", "minimum z of the pair") \
  M(F32, min_vertex_z, -341.0, -1e9, 1e9, "mm", "minimum z of the primary vertex; -1e9: no primary vertex needed")
#define REQUIRE_VERTEX_FROM_Z(a, i)                                \
  SL_REQUIRE("z of the pair", (a)->candidates.z[i], >=, a->min_z); \
  SL_REQUIRE("z of the primary vertex", (a)->candidates.vertex_z[i], >=, a->min_vertex_z)

#define VERTEX_SIGN(M, default_) M(ENUM, sign, default_, "required charges of the two particles", "any opposite same")
enum { SIGN_ANY, SIGN_OPPOSITE, SIGN_SAME };

static SL_DEVICE SL_UNUSED uint32_t sign_is(uint32_t sign, int32_t charge) {
  return sign == SIGN_ANY || (charge == 0) == (sign == SIGN_OPPOSITE);
}
#define REQUIRE_SIGN(a, pairs, i)                           \
  SL_EXPLAIN_VALUE("charge of the pair", pairs->charge[i]); \
  SL_REQUIRE_THAT("charges are as sign requires", sign_is((a)->sign, pairs->charge[i]))

/* Indices in the slice of the two particles of a pair. */
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

/* Invariant mass of the pair for the given masses of its particles. */
static SL_DEVICE SL_UNUSED float mass_of(const struct secondary_vertices_view *pairs,
                                         const struct particles_view *particles, uint32_t event, uint32_t i,
                                         float first_mass, float second_mass) {
  const struct vertex_children of = children_of(pairs, particles, event, i);
  return selections_mass(particles->p[of.first], first_mass, particles->p[of.second], second_mass, pairs->opening[i]);
}

#endif
