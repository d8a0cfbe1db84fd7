/* selections.masses: invariant masses of pairs of particles for given hypotheses (README.md, "Pairs"), with the bits
 * that the lines compute.
 *
 * Parallelism: one block per event, one thread per pair.
 * Cost: reads 20 bytes per pair, writes 4.
 */
#include "selections/event_model.h"
#include "selections/masses.h"

#include <sluice/kernel.h>

#define SL_ARGS masses_args
#define MASSES(M)                                                                                \
  M(IN, vertices, secondary_vertices, "offsets first second opening", "pairs of particles")      \
  M(IN, particles, particles, "offsets p", "particles that the vertices are pairs of")           \
  M(OUT, masses, vertex_masses, "one mass per pair", SL_SHARES_OFFSETS(vertices))                \
  M(ENUM, faster, "pi", "hypothesis for the particle of higher momentum", MASS_HYPOTHESIS_NAMES) \
  M(ENUM, slower, "pi", "hypothesis for the particle of lower momentum", MASS_HYPOTHESIS_NAMES)  \
  M(F32, near_mass, 0.0, 0.0, 1e6, "MeV",                                                        \
    "if above 0, the hypotheses are exchanged where that gives a mass nearer to this one")       \
  M(COMPUTED, faster_mass, float, "mass of the hypothesis `faster`")                             \
  M(COMPUTED, slower_mass, float, "mass of the hypothesis `slower`")
SL_ARGUMENTS(masses, MASSES);

SL_KERNEL(masses_write, struct masses_args) {
  SL_FOR_EVENTS (event, a.events) {
    const float *p = a.particles.p + a.particles.offsets[event];
    for (uint32_t i = a.vertices.offsets[event] + threadIdx.x; i < a.vertices.offsets[event + 1]; i += blockDim.x) {
      const float first = p[a.vertices.first[i]], second = p[a.vertices.second[i]], opening = a.vertices.opening[i];
      const float faster = sl_max_f32(first, second), slower = sl_min_f32(first, second);
      const float mass = selections_mass(faster, a.faster_mass, slower, a.slower_mass, opening);
      const float other = selections_mass(faster, a.slower_mass, slower, a.faster_mass, opening);
      const uint32_t is_other = a.near_mass > 0.0f && sl_abs_f32(other - a.near_mass) < sl_abs_f32(mass - a.near_mass);
      a.masses.mass[i] = is_other ? other : mass;
    }
  }
}

static int run(const struct sl_launch *l, const struct masses_args *a) {
  return SL_LAUNCH(l, masses_write, SL_PER_EVENT, *a);
}

static int prepare(const struct sl_services *s, void *args) {
  struct masses_args *a = (struct masses_args *)args;
  (void)s;
  a->faster_mass = mass_hypotheses[a->faster].value;
  a->slower_mass = mass_hypotheses[a->slower].value;
  return SL_OK;
}

SL_ALGORITHM(masses, "invariant masses of pairs of particles", 32, run, SL_PREPARE(prepare));
