/* selections.composites: adds a particle to a secondary vertex or to a composite (README.md, "Composites").
 *   1. composites_count, one warp per event: selects children and particles, tests all combinations, counts.
 *   2. A scan gives the offsets of the events.
 *   3. composites_write, one warp per event: tests the combinations again and writes the indices.
 *   4. composites_fit, one thread per composite: closest approach, primary vertex, and all other columns.
 * Several nodes run as one family with one launch for each of steps 1, 3 and 4.
 * Determinism: composites are in order of (child, track). All values are finite. Momenta are sums in the order of the
 * particles; slopes enter as differences.
 * Cost: reads 48 bytes per child, 77 per particle, 84 more per selected child, 40 per combination that shares no
 * particle; writes 137 bytes per composite.
 */
#include "kinematics.h"
#include "selections/masses.h"
#include "walk.h"

/* Names in expressions of composites; the masses are those of two bodies. */
static const struct sl_link composite_links[] = {{"sv", "secondary_vertices"},
                                                 {"track", "particles"},
                                                 {"first", "particles"},
                                                 {"second", "particles"},
                                                 {"third", "particles"}};
static const struct sl_function composite_functions[] = {
    MASS_FUNCTION("mass", "mass if the child has the mass one and `track` the mass other", "one other",
                  MASS_TEXT("child_p", "track.p", "opening")),
    MASS_FUNCTION("sv.mass", "mass of the secondary vertex if `first` has the mass one and `second` the mass other",
                  "one other", MASS_TEXT("first.p", "second.p", "sv.opening"))};
static const struct sl_vocabulary composite_vocabulary = {composite_links, composite_functions,
                                                          SL_COUNT_(composite_links), SL_COUNT_(composite_functions)};

#define SL_ARGS composites_args
#define COMPOSITES(M)                                                                                                  \
  M(OPTIONAL_IN, secondary_vertices, secondary_vertices,                                                               \
    "offsets first second x y z vertex ip dz rho dira m_corrected min_ip_chi2 charge",                                 \
    "children: secondary vertices; either this input or `composites` must be connected")                               \
  M(OPTIONAL_IN, composites, composites,                                                                               \
    "offsets sv first second third fourth x y z vertex ip dz rho dira m_corrected min_ip_chi2 charge",                 \
    "children: composites of a secondary vertex and a particle")                                                       \
  M(IN, particles, particles, "offsets vertex ip ip_chi2 chi2_ndof p pt charge leptons", "particles to add")           \
  M(IN, states, long_states, "x y z tx ty c00 c20 c22 c11 c31 c33", "states of the particles")                         \
  M(IN, vertices, pv_vertices, "offsets x y z", "primary vertices")                                                    \
  M(OUT, combined, composites, "composites by ascending indices of their child and their added particle",              \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(composites_per_event, 65536))), SL_VOCABULARY(composite_vocabulary))                \
  M(SCRATCH, selected, u32, "indices in the event of selected particles", SL_ONE(SL_ITEMS_TERM(particles)))            \
  M(SCRATCH, children, u32, "indices in the event of selected children",                                               \
    SL_SUM(SL_ITEMS_TERM(secondary_vertices), SL_ITEMS_TERM(composites)))                                              \
  M(SCRATCH, child_tx, f32, "slope dx/dz of the momentum of a selected child",                                         \
    SL_SUM(SL_ITEMS_TERM(secondary_vertices), SL_ITEMS_TERM(composites)))                                              \
  M(SCRATCH, child_ty, f32, "slope dy/dz of the momentum of a selected child",                                         \
    SL_SUM(SL_ITEMS_TERM(secondary_vertices), SL_ITEMS_TERM(composites)))                                              \
  M(SCRATCH, selected_count, u32, "number of selected particles per event", SL_ONE(SL_EVENTS_TERM(1, 0)))              \
  M(SCRATCH, child_count, u32, "number of selected children per event", SL_ONE(SL_EVENTS_TERM(1, 0)))                  \
  M(SCRATCH, composite_event, u32, "event of a composite", SL_ONE(SL_ITEMS_TERM(combined)))                            \
  M(BUDGET, composites_per_event, 20, 1, 65536, "composites, on average over a slice")                                 \
  M(F32, min_track_pt, 100.0, 0.0, 1e9, "MeV", "minimum pt of the added particle")                                     \
  M(F32, min_track_p, 0.0, 0.0, 1e9, "MeV", "minimum momentum of the added particle")                                  \
  M(F32, min_track_ip_chi2, 24.0, -1e9, 1e16, "", "minimum ip_chi2 of the added particle")                             \
  M(F32, max_track_ip_chi2, 1e16, -1e9, 1e16, "", "maximum ip_chi2 of the added particle")                             \
  M(F32, min_track_ip, 0.15, -1e9, 1e16, "mm", "minimum impact parameter of the added particle")                       \
  M(F32, max_track_ip, 1e16, -1e9, 1e16, "mm", "maximum impact parameter of the added particle")                       \
  M(F32, max_chi2_ndof, 10.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the added particle's track fit")    \
  M(F32, min_z, -180.0, -1e9, 1e9, "mm", "minimum z of the child")                                                     \
  M(F32, max_z, 650.0, -1e9, 1e9, "mm", "maximum z of the child")                                                      \
  M(F32, min_dz, 24.0, -1e9, 1e9, "mm", "minimum z component of the flight vector of the child")                       \
  M(F32, min_rho, 3.0, -1e9, 1e9, "mm", "minimum transverse length of the flight vector of the child")                 \
  M(F32, min_ip, 0.032, -1e9, 1e9, "mm", "minimum impact parameter of the child")                                      \
  M(F32, min_dira, 0.9999, -2.0, 1.0, "",                                                                              \
    "minimum cosine of the angle between flight vector and momentum of the child")                                     \
  M(F32, min_fd, 0.0, -1e9, 1e9, "mm", "minimum length of the flight vector of the child")                             \
  M(F32, max_fd, 1000.0, -1e9, 1e9, "mm", "maximum length of the flight vector of the child")                          \
  M(F32, min_m_corrected, 0.0, -1e9, 1e9, "MeV", "minimum corrected mass of the child")                                \
  M(F32, max_m_corrected, 200000.0, -1e9, 1e9, "MeV", "maximum corrected mass of the child")                           \
  M(F32, min_ip_chi2, 0.0, -1e9, 1e9, "", "minimum ip_chi2 of all particles of the child, inclusive")                  \
  M(BOOL, neutral, 1, "accept only children of charge 0")                                                              \
  M(BOOL, same_vertex, 0, "accept only combinations of a child and a particle with the same primary vertex")           \
  M(F32, max_doca, 0.15, 0.0, 100.0, "mm",                                                                             \
    "maximum distance of closest approach of the lines of child and added particle, inclusive")                        \
  M(F32, min_sine2, 2.5e-7, 0.0, 1.0, "",                                                                              \
    "minimum squared sine of the angle of the added particle with each particle of the child, inclusive")              \
  M(F32, min_sum_dira, -10.0, -10.0, 1.0, "",                                                                          \
    "minimum cosine of the angle between the flight vector of the child and the momentum of the composite, inclusive") \
  M(NODE_HASH, node)
SL_ARGUMENTS(composites, COMPOSITES);

enum { PARTICLES_MAX = 4, CHILD_PARTICLES_MAX = 3 };
enum { TOO_MANY_LEVELS = 1 };
static const struct sl_event_error errors[] = {
    {TOO_MANY_LEVELS, 0, "`composites` has composites of composites; connect composites of secondary vertices"}};

/* -------------------------------------------------------------------------------------------------- children */

/* The columns of the connected container of children. third, fourth: NULL for secondary vertices. */
struct child_columns {
  const uint32_t *offsets, *first, *second, *third, *fourth, *vertex;
  const float *x, *y, *z, *ip, *dz, *rho, *dira, *m_corrected, *min_ip_chi2;
  const int8_t *charge;
};

#define CHILD_COLUMNS(container, third, fourth)                                                                        \
  {                                                                                                                    \
    (container)->offsets, (container)->first, (container)->second, third, fourth, (container)->vertex, (container)->x, \
        (container)->y, (container)->z, (container)->ip, (container)->dz, (container)->rho, (container)->dira,         \
        (container)->m_corrected, (container)->min_ip_chi2, (container)->charge                                        \
  }
static SL_DEVICE struct child_columns children_of(const struct composites_args *a) {
  const struct child_columns vertices = CHILD_COLUMNS(&a->secondary_vertices, NULL, NULL);
  const struct child_columns trees = CHILD_COLUMNS(&a->composites, a->composites.third, a->composites.fourth);
  return a->composites.offsets ? trees : vertices;
}

/* Indices of the particles of a child in the slice; returns their number. */
static SL_DEVICE uint32_t particles_of(const struct child_columns *c, uint32_t i, uint32_t begin,
                                       uint32_t particles[PARTICLES_MAX]) {
  particles[0] = begin + c->first[i];
  particles[1] = begin + c->second[i];
  if (!c->third) return 2;
  particles[2] = begin + c->third[i];
  return 3;
}

static SL_DEVICE struct momentum momentum_at(const struct composites_args *a, uint32_t i) {
  const struct line line = line_of(&a->states, i);
  return momentum_of(&line, a->particles.p[i]);
}

/* Sum of the momenta of particles, in their order. */
static SL_DEVICE struct momentum momentum_of_all(const struct composites_args *a, const uint32_t *particles,
                                                 uint32_t count) {
  struct momentum sum = momentum_at(a, particles[0]);
  for (uint32_t k = 1; k < count; k++) {
    const struct momentum next = momentum_at(a, particles[k]);
    sum = sum_of(&sum, &next);
  }
  return sum;
}

static SL_DEVICE uint32_t is_selected_child(const struct composites_args *a, const struct child_columns *c,
                                            uint32_t i) {
  const float fd = sqrtf(c->dz[i] * c->dz[i] + c->rho[i] * c->rho[i]);
  return c->z[i] > a->min_z && c->z[i] < a->max_z && c->dz[i] > a->min_dz && c->rho[i] > a->min_rho &&
         c->ip[i] > a->min_ip && c->dira[i] > a->min_dira && fd > a->min_fd && fd < a->max_fd &&
         c->m_corrected[i] > a->min_m_corrected && c->m_corrected[i] < a->max_m_corrected &&
         c->min_ip_chi2[i] >= a->min_ip_chi2 && (!a->neutral || c->charge[i] == 0);
}

static SL_DEVICE uint32_t is_selected_track(const struct composites_args *a, uint32_t i) {
  const struct particles_view *of = &a->particles;
  return of->pt[i] > a->min_track_pt && of->p[i] > a->min_track_p && of->ip_chi2[i] > a->min_track_ip_chi2 &&
         of->ip_chi2[i] < a->max_track_ip_chi2 && of->ip[i] > a->min_track_ip && of->ip[i] < a->max_track_ip &&
         of->chi2_ndof[i] < a->max_chi2_ndof && is_sound(of, &a->states, i);
}

/* Lists the selected particles of an event; returns their number. */
static SL_DEVICE uint32_t select_tracks(const struct composites_args *a, uint32_t event) {
  const uint32_t begin = a->particles.offsets[event], count = a->particles.offsets[event + 1] - begin;
  uint32_t selected_count = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t is_one = i < count && is_selected_track(a, begin + i);
    const uint32_t index = sl_warp_append(is_one, &selected_count);
    if (is_one) a->selected[begin + index] = i;
  }
  sl_warp_sync();
  return selected_count;
}

/* Lists the selected children of an event, with the slopes of their momenta; returns their number. */
static SL_DEVICE uint32_t select_children(const struct composites_args *a, const struct child_columns *c,
                                          uint32_t event) {
  const uint32_t begin = c->offsets[event], count = c->offsets[event + 1] - begin;
  uint32_t child_count = 0;
  SL_FOR_WARP (i, count) {
    uint32_t is_one = i < count && is_selected_child(a, c, begin + i);
    if (is_one && c->fourth && c->fourth[begin + i] != COMPOSITE_NONE) {
      sl_event_fail(&a->events, event, TOO_MANY_LEVELS, 0);
      is_one = 0;
    }
    const uint32_t index = begin + sl_warp_append(is_one, &child_count);
    if (is_one) {
      uint32_t particles[PARTICLES_MAX];
      const uint32_t n = particles_of(c, begin + i, a->particles.offsets[event], particles);
      const struct momentum m = momentum_of_all(a, particles, n);
      a->children[index] = i;
      a->child_tx[index] = m.x / m.z;
      a->child_ty[index] = m.y / m.z;
    }
  }
  sl_warp_sync();
  return child_count;
}

/* ---------------------------------------------------------------------------------------------- combinations */

static SL_DEVICE struct line child_line(const struct child_columns *c, uint32_t i, float tx, float ty) {
  const struct line line = {c->x[i], c->y[i], c->z[i], tx, ty};
  return line;
}

/* Whether the squared sine of the angle between two lines is at least `minimum`. */
static SL_DEVICE uint32_t are_apart(const struct line *one, const struct line *other, float minimum) {
  const float tx = one->tx - other->tx, ty = one->ty - other->ty;
  const float cross = one->tx * other->ty - one->ty * other->tx;
  const float n1 = 1.0f + one->tx * one->tx + one->ty * one->ty;
  const float n2 = 1.0f + other->tx * other->tx + other->ty * other->ty;
  return (tx * tx + ty * ty + cross * cross) / (n1 * n2) >= minimum;
}

/* Cosine of the angle between the flight vector of the child and its momentum with that of the track. */
static SL_DEVICE float sum_dira(const struct composites_args *a, const struct child_columns *c, uint32_t event,
                                uint32_t i, const uint32_t *particles, uint32_t count) {
  if (c->vertex[i] == PARTICLE_NO_VERTEX) return 0.0f;
  const struct point at = {c->x[i], c->y[i], c->z[i]};
  const struct point d = flight_vector(&a->vertices, a->vertices.offsets[event] + c->vertex[i], &at);
  const struct momentum m = momentum_of_all(a, particles, count);
  const float distance = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
  return distance > 0.0f ? (m.x * d.x + m.y * d.y + m.z * d.z) / (m.p * distance) : 0.0f;
}

/* Requirements for a selected child `i`, at `index` of the list, with a selected particle `j`. */
static SL_DEVICE uint32_t is_composite(const struct composites_args *a, const struct child_columns *c, uint32_t event,
                                       uint32_t index, uint32_t i, uint32_t j) {
  uint32_t particles[PARTICLES_MAX];
  const uint32_t n = particles_of(c, i, a->particles.offsets[event], particles);
  for (uint32_t k = 0; k < n; k++)
    if (particles[k] == j) return 0;
  if (a->same_vertex && c->vertex[i] != a->particles.vertex[j]) return 0;
  const struct line child = child_line(c, i, a->child_tx[index], a->child_ty[index]);
  const struct line track = line_of(&a->states, j);
  struct crossing at;
  if (!approach(&child, &track, &at) || !(at.doca <= a->max_doca)) return 0;
  for (uint32_t k = 0; k < n; k++) {
    const struct line other = line_of(&a->states, particles[k]);
    if (!are_apart(&other, &track, a->min_sine2)) return 0;
  }
  if (a->min_sum_dira < -1.0f) return 1;
  particles[n] = j;
  return sum_dira(a, c, event, i, particles, n + 1) >= a->min_sum_dira;
}

static SL_DEVICE void write_indices(const struct composites_args *a, const struct child_columns *c, uint32_t event,
                                    uint32_t child, uint32_t track, uint32_t k) {
  const uint32_t i = c->offsets[event] + child, is_tree = a->composites.offsets != NULL;
  a->combined.sv[k] = is_tree ? a->composites.sv[i] : child;
  a->combined.composite[k] = is_tree ? child : COMPOSITE_NONE;
  a->combined.track[k] = track;
  a->combined.first[k] = c->first[i];
  a->combined.second[k] = c->second[i];
  a->combined.third[k] = is_tree ? c->third[i] : track;
  a->combined.fourth[k] = is_tree ? track : COMPOSITE_NONE;
  a->composite_event[k] = event;
}

/* Tests all combinations of selected children and particles of an event, by the lanes of a warp. Returns the number of
 * composites, and writes them if `is_writing`. */
static SL_DEVICE uint32_t combine(const struct composites_args *a, const struct child_columns *c, uint32_t event,
                                  uint32_t child_count, uint32_t track_count, uint32_t is_writing) {
  const uint32_t children = c->offsets[event], particles = a->particles.offsets[event];
  const uint32_t first = is_writing ? a->combined.offsets[event] : 0, all = child_count * track_count;
  struct walk at = walk_begin_all(track_count);
  uint32_t found = 0;
  SL_FOR_WARP (k, all) {
    const uint32_t child = children + (k < all ? at.first : 0); /* index of the list */
    const uint32_t i = k < all ? a->children[child] : 0, j = k < all ? a->selected[particles + at.second] : 0;
    const uint32_t is_one = k < all && is_composite(a, c, event, child, children + i, particles + j);
    const uint32_t index = first + sl_warp_append(is_one, &found);
    if (is_one && is_writing) write_indices(a, c, event, i, j, index);
    walk_on_all(&at, sl_warp_lanes());
  }
  return found;
}

static SL_DEVICE void count_event(const struct composites_args *a, uint32_t event) {
  const struct child_columns c = children_of(a);
  const uint32_t child_count = select_children(a, &c, event);
  const uint32_t track_count = child_count > 0 ? select_tracks(a, event) : 0;
  const uint32_t found = combine(a, &c, event, child_count, track_count, 0);
  if (sl_warp_lane() > 0) return;
  a->child_count[event] = child_count;
  a->selected_count[event] = track_count;
  a->combined.offsets[event] = found;
}

/* The range is also empty if the composites of the slice exceed the reserved memory. */
static SL_DEVICE void write_event(const struct composites_args *a, uint32_t event) {
  const struct child_columns c = children_of(a);
  if (a->combined.offsets[event] != a->combined.offsets[event + 1])
    (void)combine(a, &c, event, a->child_count[event], a->selected_count[event], 1);
}

/* -------------------------------------------------------------------------------------------------- columns */

/* Quantities of all pairs of the particles: the mass as pions, and the largest distance of closest approach. */
struct all_pairs {
  float mass, max_doca;
};

/* m^2 = sum m_i^2 + 2 sum over pairs (E_i E_j - p_i.p_j), with positive terms as in selections_mass. */
static SL_DEVICE struct all_pairs of_all_pairs(const struct composites_args *a, const uint32_t *particles,
                                               uint32_t count) {
  struct all_pairs of = {0.0f, 0.0f};
  float products = 0.0f;
  for (uint32_t k = 1; k < count; k++)
    for (uint32_t l = 0; l < k; l++) {
      const struct line one = line_of(&a->states, particles[l]), other = line_of(&a->states, particles[k]);
      const float p1 = a->particles.p[particles[l]], p2 = a->particles.p[particles[k]];
      const float e1 = selections_energy_excess(p1, PION_MASS), e2 = selections_energy_excess(p2, PION_MASS);
      struct crossing c;
      const uint32_t is_crossing = approach(&one, &other, &c);
      products += p1 * e2 + p2 * e1 + e1 * e2 + p1 * p2 * opening_of(&one, &other, c.sine2);
      of.max_doca = sl_max_f32(of.max_doca, is_crossing ? c.doca : max_distance);
    }
  of.mass = sqrtf((float)count * (PION_MASS * PION_MASS) + 2.0f * products);
  return of;
}

static SL_DEVICE void write_flight(const struct composites *to, uint32_t k, const struct flight *f) {
  to->vertex[k] = f->vertex;
  to->vertex_z[k] = f->vertex_z;
  to->ip[k] = f->ip;
  to->dz[k] = f->dz;
  to->rho[k] = f->rho;
  to->dira[k] = f->dira;
  to->eta[k] = f->eta;
  to->m_corrected[k] = f->m_corrected;
}

static SL_DEVICE void write_sums(const struct composites_args *a, uint32_t k, const uint32_t *particles,
                                 uint32_t count) {
  const struct particles_view *of = &a->particles;
  const uint32_t i = particles[0];
  float sum_pt = of->pt[i], min_p = of->p[i], min_pt = of->pt[i], min_ip = of->ip[i], min_ip_chi2 = of->ip_chi2[i];
  int8_t charge = of->charge[i];
  uint32_t leptons = of->leptons[i];
  for (uint32_t n = 1; n < count; n++) {
    const uint32_t j = particles[n];
    sum_pt += of->pt[j];
    min_p = sl_min_f32(min_p, of->p[j]);
    min_pt = sl_min_f32(min_pt, of->pt[j]);
    min_ip = sl_min_f32(min_ip, of->ip[j]);
    min_ip_chi2 = sl_min_f32(min_ip_chi2, of->ip_chi2[j]);
    charge = (int8_t)(charge + of->charge[j]);
    leptons &= of->leptons[j];
  }
  a->combined.sum_pt[k] = sum_pt;
  a->combined.min_p[k] = min_p;
  a->combined.min_pt[k] = min_pt;
  a->combined.min_ip[k] = min_ip;
  a->combined.min_ip_chi2[k] = min_ip_chi2;
  a->combined.charge[k] = charge;
  a->combined.leptons[k] = (uint8_t)leptons;
}

static SL_DEVICE void write_columns(const struct composites_args *a, uint32_t k) {
  const struct composites *to = &a->combined;
  const struct child_columns c = children_of(a);
  const uint32_t event = a->composite_event[k], begin = a->particles.offsets[event], is_tree = c.third != NULL;
  const uint32_t child = c.offsets[event] + (is_tree ? to->composite[k] : to->sv[k]), j = begin + to->track[k];
  uint32_t particles[PARTICLES_MAX];
  const uint32_t n = particles_of(&c, child, begin, particles);
  const struct momentum of_child = momentum_of_all(a, particles, n), of_track = momentum_at(a, j);
  const struct momentum m = sum_of(&of_child, &of_track);
  const struct line one = child_line(&c, child, of_child.x / of_child.z, of_child.y / of_child.z);
  const struct line other = line_of(&a->states, j);
  struct crossing at;
  (void)approach(&one, &other, &at);
  const float to_one = (at.z - one.z) + at.on_one, to_other = (at.z - other.z) + at.on_other;
  const struct point position = {0.5f * ((one.x + one.tx * to_one) + (other.x + other.tx * to_other)),
                                 0.5f * ((one.y + one.ty * to_one) + (other.y + other.ty * to_other)), at.nearest_z};
  particles[n] = j;
  const struct all_pairs pairs = of_all_pairs(a, particles, n + 1);
  float ip;
  const uint32_t p = nearest_vertex(&a->vertices, event, &position, &m, &ip);
  const struct flight f = flight_from(&a->vertices, event, p, ip, &position, &m, pairs.mass, 0.0f);
  to->x[k] = position.x;
  to->y[k] = position.y;
  to->z[k] = position.z;
  to->doca[k] = at.doca;
  to->max_doca[k] = pairs.max_doca;
  to->opening[k] = opening_of(&one, &other, at.sine2);
  to->child_p[k] = of_child.p;
  to->p[k] = m.p;
  to->pt[k] = sqrtf(m.x * m.x + m.y * m.y);
  write_sums(a, k, particles, n + 1);
  write_flight(to, k, &f);
}

/* -------------------------------------------------------------------------------------------------- kernels */

/* Number of composites in the slice: the end of the last event of the node. */
static SL_DEVICE uint32_t composites_of_slice(const struct composites_args *a) {
  const uint32_t events = *a->events.count;
  return events > 0 ? a->combined.offsets[sl_event_at(&a->events, events - 1) + 1] : 0;
}

/* One warp per event and node; composites_fit takes the composites of all nodes in a row. */
static SL_DEVICE const struct composites_args *composites_node(const struct sl_nodes *nodes, uint32_t k) {
  return (const struct composites_args *)nodes->args + k;
}
#define FOR_NODE_EVENTS(i, nodes)                                    \
  for (uint32_t i = blockIdx.x * sl_block_warps() + sl_warp_index(); \
       i < (nodes).count * composites_node(&(nodes), 0)->events.max; i += gridDim.x * sl_block_warps())
SL_KERNEL(composites_count_family, struct sl_nodes) {
  for (uint32_t k = sl_grid_thread(); k < a.count; k += sl_grid_threads())
    *composites_node(&a, k)->combined.made_by = composites_node(&a, k)->node;
  FOR_NODE_EVENTS (i, a) {
    const struct composites_args *node = composites_node(&a, i % a.count);
    if (i / a.count < *node->events.count) count_event(node, sl_event_at(&node->events, i / a.count));
  }
}
SL_KERNEL(composites_write_family, struct sl_nodes) {
  FOR_NODE_EVENTS (i, a) {
    const struct composites_args *node = composites_node(&a, i % a.count);
    if (i / a.count < *node->events.count) write_event(node, sl_event_at(&node->events, i / a.count));
  }
}
SL_KERNEL(composites_fit_family, struct sl_nodes) {
  uint32_t k = sl_grid_thread();
  for (uint32_t n = 0; n < a.count; n++) {
    const uint32_t all = composites_of_slice(composites_node(&a, n));
    for (; k < all; k += sl_grid_threads()) write_columns(composites_node(&a, n), k);
    k -= all;
  }
}

static int run_family(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {
  const struct composites_args *host = (const struct composites_args *)host_args;
  const struct sl_nodes nodes = sl_nodes_of(args, count);
  int status = SL_LAUNCH(l, composites_count_family, SL_PER_EVENT, nodes);
  for (uint32_t k = 0; k < count && status == SL_OK; k++)
    status = l->scan(l, host[k].combined.offsets, &host[k].combined.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, composites_write_family, SL_PER_EVENT, nodes);
  if (status == SL_OK) status = SL_LAUNCH(l, composites_fit_family, SL_PER_ITEM(host[0].combined), nodes);
  return status;
}

/* The kernels for one node. */
SL_KERNEL(composites_count, struct composites_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  if (sl_grid_thread() == 0) *a.combined.made_by = a.node;
  for (uint32_t i = blockIdx.x * sl_block_warps() + sl_warp_index(); i < *a.events.count; i += step)
    count_event(&a, sl_event_at(&a.events, i));
}
SL_KERNEL(composites_write, struct composites_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t i = blockIdx.x * sl_block_warps() + sl_warp_index(); i < *a.events.count; i += step)
    write_event(&a, sl_event_at(&a.events, i));
}
SL_KERNEL(composites_fit, struct composites_args) {
  for (uint32_t k = sl_grid_thread(); k < composites_of_slice(&a); k += sl_grid_threads()) write_columns(&a, k);
}

static int run(const struct sl_launch *l, const struct composites_args *a) {
  int status = SL_COUNT_SCAN(l, composites_count, SL_PER_EVENT, a->combined.offsets, &a->combined.bound, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, composites_write, SL_PER_EVENT, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, composites_fit, SL_PER_ITEM(a->combined), *a);
  return status;
}

/* In a check a connected input has a bound, or, on a slice without items, a pointer. */
static int check(const struct sl_services *s, const void *args) {
  const struct composites_args *a = (const struct composites_args *)args;
  const int has_vertices = a->secondary_vertices.offsets || a->secondary_vertices.bound.capacity > 0;
  const int has_trees = a->composites.offsets || a->composites.bound.capacity > 0;
  if (has_vertices != has_trees) return SL_OK;
  s->message(s->context, SL_ERROR,
             has_trees ? "both inputs `secondary_vertices` and `composites` are connected; connect only one of them"
                       : "neither of the inputs `secondary_vertices` and `composites` is connected; connect one of "
                         "them: `in: { secondary_vertices: NODE }`");
  return SL_EINVAL;
}

SL_ALGORITHM(composites, "adds a particle to secondary vertices or composites", 128, run, SL_ERRORS_OF(errors),
             SL_CHECK(check), SL_FAMILY("composites", run_family));
