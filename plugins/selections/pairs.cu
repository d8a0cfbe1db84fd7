/* selections.pairs: builds pairs of particles with a small distance of closest approach, and fits their vertex
 * (README.md, "Pairs").
 *   1. pairs_count, one warp per event: selects particles, tests all pairs of them, counts the accepted pairs.
 *   2. A scan gives the offsets of the events.
 *   3. pairs_write, one warp per event: tests the pairs again and writes the indices of accepted pairs.
 *   4. pairs_fit, one thread per pair: fits the vertex, finds the primary vertex and writes all other columns.
 * Several nodes run as one family with one launch for each of steps 1, 3 and 4.
 * Determinism: pairs are in order of (first, second); the formulas are symmetric, so that a pair has identical bits in
 * either order. Only differences of slopes and positions are used, which avoids cancellation. All values are finite.
 * Cost: reads 17 bytes per particle, 48 more per selected particle, 82 per tested pair; writes 103 bytes per pair.
 */
#include "kinematics.h"
#include "muon/event_model.h"
#include "selections/masses.h"
#include "walk.h"

#include <sluice/kernel.h>

#define SL_ARGS pairs_args
#define PAIRS(M)                                                                                                       \
  M(IN, particles, particles, "offsets vertex ip ip_chi2 chi2_ndof p pt charge leptons", "particles, in any order")    \
  M(IN, states, long_states, "x y z tx ty c00 c20 c22 c11 c31 c33", "states of the particles")                         \
  M(IN, vertices, pv_vertices, "offsets x y z c_xx c_xy c_yy c_xz c_yz c_zz", "primary vertices")                      \
  M(OPTIONAL_IN, muons, muon_flags, "offsets hits", "hits of the particles that are muons, for `shared_muon_hits`")    \
  M(OUT, pairs, secondary_vertices, "pairs by ascending indices of their particles",                                   \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(pairs_per_event, 65536))), SL_VOCABULARY(pair_vocabulary))                          \
  M(SCRATCH, selected, u32, "indices in the event of particles that may form pairs", SL_ONE(SL_ITEMS_TERM(particles))) \
  M(SCRATCH, selected_count, u32, "number of selected particles per event", SL_ONE(SL_EVENTS_TERM(1, 0)))              \
  M(SCRATCH, pair_event, u32, "event of a pair", SL_ONE(SL_ITEMS_TERM(pairs)))                                         \
  M(BUDGET, pairs_per_event, 100, 1, 65536, "pairs, on average over a slice")                                          \
  M(F32, max_chi2_ndof, 10.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of both track fits")                   \
  M(F32, min_pt, 200.0, 0.0, 1e9, "MeV", "minimum pt of both particles")                                               \
  M(F32, min_pt_either, 200.0, 0.0, 1e9, "MeV", "minimum of the larger pt of the two particles")                       \
  M(F32, min_sum_pt, 400.0, 0.0, 1e9, "MeV", "minimum sum of the pt of the two particles")                             \
  M(F32, min_ip, 0.06, -1e9, 1e9, "mm", "minimum impact parameter of both particles; -1 without a primary vertex")     \
  M(F32, min_ip_either, 0.06, -1e9, 1e9, "mm", "minimum of the larger impact parameter of the two particles")          \
  M(F32, min_ip_chi2, 4.0, -1e9, 1e9, "", "minimum ip_chi2 of both particles; -1 without a primary vertex")            \
  M(F32, min_ip_chi2_either, 4.0, -1e9, 1e9, "", "minimum of the larger ip_chi2 of the two particles")                 \
  M(F32, max_doca, 1.0, 0.0, 100.0, "mm", "maximum distance of closest approach of the two tracks")                    \
  M(BOOL, opposite_charges, 0, "accept only pairs with opposite charges")                                              \
  M(BOOL, same_vertex, 1, "reject pairs of particles from different primary vertices")                                 \
  M(F32, same_vertex_ip_chi2, 16.0, 0.0, 1e9, "",                                                                      \
    "ip_chi2 from which on `same_vertex` does not reject a particle's pairs")                                          \
  M(ENUM, leptons, "any", "any: no requirement; both: both particles are muons or electrons", "any both")              \
  M(NODE_HASH, node)
SL_ARGUMENTS(pairs, PAIRS);

enum { LEPTONS_ANY, LEPTONS_BOTH };

static const float min_variance = 1e-8f; /* mm2, of a position */

/* -------------------------------------------------------------------------------------------- selection of pairs */

/* Requirements for a single particle. */
static SL_DEVICE uint32_t is_selected(const struct pairs_args *a, uint32_t i) {
  return a->particles.pt[i] > a->min_pt && a->particles.ip_chi2[i] > a->min_ip_chi2 &&
         a->particles.chi2_ndof[i] < a->max_chi2_ndof && a->particles.ip[i] > a->min_ip &&
         (a->leptons == LEPTONS_ANY || a->particles.leptons[i] != 0) && is_sound(&a->particles, &a->states, i);
}

static SL_DEVICE uint32_t are_of_one_vertex(const struct pairs_args *a, uint32_t i, uint32_t j) {
  return a->particles.vertex[i] == a->particles.vertex[j] || a->particles.ip_chi2[i] >= a->same_vertex_ip_chi2 ||
         a->particles.ip_chi2[j] >= a->same_vertex_ip_chi2;
}

/* Requirements for a pair of selected particles. */
static SL_DEVICE uint32_t is_pair(const struct pairs_args *a, uint32_t i, uint32_t j) {
  if (a->opposite_charges && a->particles.charge[i] == a->particles.charge[j]) return 0;
  if (a->same_vertex && !are_of_one_vertex(a, i, j)) return 0;
  if (sl_max_f32(a->particles.pt[i], a->particles.pt[j]) < a->min_pt_either) return 0;
  if (sl_max_f32(a->particles.ip[i], a->particles.ip[j]) < a->min_ip_either) return 0;
  if (sl_max_f32(a->particles.ip_chi2[i], a->particles.ip_chi2[j]) < a->min_ip_chi2_either) return 0;
  if (a->particles.pt[i] + a->particles.pt[j] < a->min_sum_pt) return 0;
  const struct line one = line_of(&a->states, i), other = line_of(&a->states, j);
  struct crossing c;
  return approach(&one, &other, &c) && !(c.doca > a->max_doca);
}

/* Lists the selected particles of an event; returns their number. */
static SL_DEVICE uint32_t select_particles(const struct pairs_args *a, uint32_t event) {
  const uint32_t begin = a->particles.offsets[event], count = a->particles.offsets[event + 1] - begin;
  uint32_t selected_count = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t is_one = i < count && is_selected(a, begin + i);
    const uint32_t index = sl_warp_append(is_one, &selected_count);
    if (is_one) a->selected[begin + index] = i;
  }
  sl_warp_sync();
  return selected_count;
}

static SL_DEVICE void write_pair(const struct pairs_args *a, uint32_t event, uint32_t first, uint32_t second,
                                 uint32_t k) {
  a->pairs.first[k] = first;
  a->pairs.second[k] = second;
  a->pair_event[k] = event;
}

/* Tests all pairs of selected particles of an event, by the lanes of a warp. Returns the number of accepted pairs, and
 * writes them if `is_writing`. */
static SL_DEVICE uint32_t find_pairs(const struct pairs_args *a, uint32_t event, uint32_t selected_count,
                                     uint32_t is_writing) {
  const uint32_t begin = a->particles.offsets[event], first_pair = is_writing ? a->pairs.offsets[event] : 0;
  const uint32_t all = walk_pairs(selected_count);
  struct walk at = walk_begin(selected_count);
  uint32_t pair_count = 0;
  SL_FOR_WARP (k, all) {
    const uint32_t i = k < all ? a->selected[begin + at.first] : 0, j = k < all ? a->selected[begin + at.second] : 0;
    const uint32_t is_one = k < all && is_pair(a, begin + i, begin + j);
    const uint32_t index = first_pair + sl_warp_append(is_one, &pair_count);
    if (is_one && is_writing) write_pair(a, event, i, j, index);
    walk_on(&at, sl_warp_lanes());
  }
  return pair_count;
}

static SL_DEVICE void count_event(const struct pairs_args *a, uint32_t event) {
  const uint32_t selected_count = select_particles(a, event), pair_count = find_pairs(a, event, selected_count, 0);
  if (sl_warp_lane() > 0) return;
  a->selected_count[event] = selected_count;
  a->pairs.offsets[event] = pair_count;
}

/* The range is also empty if the pairs of the slice exceed the reserved memory. */
static SL_DEVICE void write_event(const struct pairs_args *a, uint32_t event) {
  if (a->pairs.offsets[event] != a->pairs.offsets[event + 1]) (void)find_pairs(a, event, a->selected_count[event], 1);
}

/* -------------------------------------------------------------------------------------------------- the vertex */

/* Fitted vertex. The covariance is L diag(xx, yy, zz) L^T, where L adds `along` times z to x and y. */
struct pair_vertex {
  float x, y, z, chi2;
  float xx, yy, zz, along_x, along_y;
};

/* Variance of a position, extrapolated by `distance`. */
static SL_DEVICE float variance_at(float position, float covariance, float slope, float distance) {
  return sl_max_f32(position + distance * (2.0f * covariance + distance * slope), min_variance);
}

/* One projection of a particle's line: position, slope, and variance of the position at the closest approach. */
struct pair_side {
  float u, t, variance;
};
static SL_DEVICE struct pair_side side_x(const struct pairs_args *a, uint32_t i, const struct line *line,
                                         float nearest_z) {
  const struct pair_side side = {
      line->x, line->tx, variance_at(a->states.c00[i], a->states.c20[i], a->states.c22[i], nearest_z - line->z)};
  return side;
}
static SL_DEVICE struct pair_side side_y(const struct pairs_args *a, uint32_t i, const struct line *line,
                                         float nearest_z) {
  const struct pair_side side = {
      line->y, line->ty, variance_at(a->states.c11[i], a->states.c31[i], a->states.c33[i], nearest_z - line->z)};
  return side;
}

/* Vertex fit: minimizes the sum of squared distances from both lines in x and y, over their variances at the closest
 * approach. z depends only on the differences of the two lines. */
static SL_DEVICE struct pair_vertex fit(const struct pairs_args *a, uint32_t i, uint32_t j, const struct line *one,
                                        const struct line *other, const struct crossing *c) {
  const struct pair_side x1 = side_x(a, i, one, c->nearest_z), x2 = side_x(a, j, other, c->nearest_z);
  const struct pair_side y1 = side_y(a, i, one, c->nearest_z), y2 = side_y(a, j, other, c->nearest_z);
  const float sum_x = x1.variance + x2.variance, sum_y = y1.variance + y2.variance;
  const float part_x1 = x2.variance / sum_x, part_x2 = x1.variance / sum_x;
  const float part_y1 = y2.variance / sum_y, part_y2 = y1.variance / sum_y;
  const float spread = c->tx * c->tx * sum_y + c->ty * c->ty * sum_x, apart = c->x * c->ty - c->y * c->tx;
  struct pair_vertex v;
  v.z = c->z - (c->x * c->tx * sum_y + c->y * c->ty * sum_x) / spread;
  v.x = (x1.u + x1.t * (v.z - one->z)) * part_x1 + (x2.u + x2.t * (v.z - other->z)) * part_x2;
  v.y = (y1.u + y1.t * (v.z - one->z)) * part_y1 + (y2.u + y2.t * (v.z - other->z)) * part_y2;
  v.chi2 = apart * apart / spread;
  v.xx = x1.variance * x2.variance / sum_x;
  v.yy = y1.variance * y2.variance / sum_y;
  v.zz = sum_x / spread * sum_y;
  v.along_x = x1.t * part_x1 + x2.t * part_x2;
  v.along_y = y1.t * part_y1 + y2.t * part_y2;
  return v;
}

/* d^T S^-1 d with S = L diag L^T + P, P the covariance of the primary vertex. Eliminates z, then x, from L^-1 d and
 * diag + L^-1 P L^-T. The remaining variances are not less than those of the pair, because P is positive. */
static SL_DEVICE float flight_chi2(const struct pairs_args *a, uint32_t p, const struct pair_vertex *v,
                                   const struct point *d) {
  const float along_x = v->along_x, along_y = v->along_y, p_zz = a->vertices.c_zz[p];
  const float xz = a->vertices.c_xz[p] - along_x * p_zz, yz = a->vertices.c_yz[p] - along_y * p_zz;
  const float xx = a->vertices.c_xx[p] - along_x * (a->vertices.c_xz[p] + xz);
  const float yy = a->vertices.c_yy[p] - along_y * (a->vertices.c_yz[p] + yz);
  const float xy = a->vertices.c_xy[p] - along_x * a->vertices.c_yz[p] - along_y * xz;
  const float zz = sl_max_f32(v->zz + p_zz, v->zz), x_by_z = xz / zz, y_by_z = yz / zz;
  const float rest_xx = sl_max_f32(v->xx + (xx - x_by_z * xz), v->xx), y_by_x = (xy - x_by_z * yz) / rest_xx;
  const float rest_yy = sl_max_f32(v->yy + (yy - y_by_z * yz) - y_by_x * (xy - x_by_z * yz), v->yy);
  const float x = d->x - along_x * d->z - x_by_z * d->z;
  const float y = d->y - along_y * d->z - y_by_z * d->z - y_by_x * x;
  return d->z * d->z / zz + x * x / rest_xx + y * y / rest_yy;
}

static SL_DEVICE struct flight flight_of(const struct pairs_args *a, uint32_t event, const struct pair_vertex *v,
                                         const struct momentum *m, float m_pions) {
  const struct point at = {v->x, v->y, v->z};
  float ip, fd_chi2 = -1.0f;
  const uint32_t p = nearest_vertex(&a->vertices, event, &at, m, &ip);
  if (p != PARTICLE_NO_VERTEX) {
    const struct point d = flight_vector(&a->vertices, p, &at);
    fd_chi2 = flight_chi2(a, p, v, &d);
  }
  return flight_from(&a->vertices, event, p, ip, &at, m, m_pions, fd_chi2);
}

/* ------------------------------------------------------------------------------------------------- the columns */

static SL_DEVICE void write_flight(const struct secondary_vertices *to, uint32_t k, const struct flight *f) {
  to->vertex[k] = f->vertex;
  to->vertex_z[k] = f->vertex_z;
  to->ip[k] = f->ip;
  to->dz[k] = f->dz;
  to->rho[k] = f->rho;
  to->fd_chi2[k] = f->fd_chi2;
  to->dira[k] = f->dira;
  to->eta[k] = f->eta;
  to->m_corrected[k] = f->m_corrected;
}

/* Event errors. */
enum { OTHER_MUONS = 1 };
static const struct sl_event_error pairs_errors[] = {
    {OTHER_MUONS, 0, "`muons` and `particles` have different numbers of items: they do not belong together"}};

/* Number of hits in M2 to M5 that both particles of a pair have. */
static SL_DEVICE uint8_t shared_muon_hits(const struct pairs_args *a, uint32_t event, uint32_t first, uint32_t second) {
  if (!a->muons.offsets) return 0;
  const uint32_t begin = a->muons.offsets[event], count = a->muons.offsets[event + 1] - begin;
  if (count != a->particles.offsets[event + 1] - a->particles.offsets[event]) {
    sl_event_fail(&a->events, event, OTHER_MUONS, 0);
    return 0;
  }
  const uint16_t *one = a->muons.hits + MUON_STATIONS * (size_t)(begin + first);
  const uint16_t *other = a->muons.hits + MUON_STATIONS * (size_t)(begin + second);
  uint8_t shared = 0;
  for (uint32_t station = 0; station < MUON_STATIONS; station++)
    shared = (uint8_t)(shared + (one[station] == other[station] && one[station] != MUON_NO_HIT ? 1 : 0));
  return shared;
}

/* Columns that need no fit. */
static SL_DEVICE void write_both(const struct pairs_args *a, uint32_t k, uint32_t i, uint32_t j) {
  const struct particles_view *of = &a->particles;
  a->pairs.sum_pt[k] = of->pt[i] + of->pt[j];
  a->pairs.min_p[k] = sl_min_f32(of->p[i], of->p[j]);
  a->pairs.min_pt[k] = sl_min_f32(of->pt[i], of->pt[j]);
  a->pairs.min_ip[k] = sl_min_f32(of->ip[i], of->ip[j]);
  a->pairs.min_ip_chi2[k] = sl_min_f32(of->ip_chi2[i], of->ip_chi2[j]);
  a->pairs.charge[k] = (int8_t)(of->charge[i] + of->charge[j]);
  a->pairs.leptons[k] = (uint8_t)(of->leptons[i] & of->leptons[j]);
}

static SL_DEVICE void write_vertex(const struct pairs_args *a, uint32_t k) {
  const uint32_t event = a->pair_event[k], begin = a->particles.offsets[event];
  const uint32_t i = begin + a->pairs.first[k], j = begin + a->pairs.second[k];
  const float p1 = a->particles.p[i], p2 = a->particles.p[j];
  const struct line one = line_of(&a->states, i), other = line_of(&a->states, j);
  struct crossing c;
  (void)approach(&one, &other, &c);
  const struct pair_vertex v = fit(a, i, j, &one, &other, &c);
  const struct momentum m1 = momentum_of(&one, p1), m2 = momentum_of(&other, p2), m = sum_of(&m1, &m2);
  const float opening = opening_of(&one, &other, c.sine2);
  const struct flight f = flight_of(a, event, &v, &m, selections_mass(p1, PION_MASS, p2, PION_MASS, opening));
  a->pairs.x[k] = v.x;
  a->pairs.y[k] = v.y;
  a->pairs.z[k] = v.z;
  a->pairs.chi2[k] = v.chi2;
  a->pairs.doca[k] = c.doca;
  a->pairs.opening[k] = opening;
  a->pairs.p[k] = m.p;
  a->pairs.pt[k] = sqrtf(m.x * m.x + m.y * m.y);
  write_both(a, k, i, j);
  a->pairs.shared_muon_hits[k] = shared_muon_hits(a, event, i - begin, j - begin);
  write_flight(&a->pairs, k, &f);
}

/* ----------------------------------------------------------------------------------------------------- kernels */

/* Number of pairs in the slice: the end of the last event of the node. */
static SL_DEVICE uint32_t pairs_of_slice(const struct pairs_args *a) {
  const uint32_t events = *a->events.count;
  return events > 0 ? a->pairs.offsets[sl_event_at(&a->events, events - 1) + 1] : 0;
}

/* One warp per event. */
SL_KERNEL(pairs_count, struct pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  if (sl_grid_thread() == 0) *a.pairs.made_by = a.node;
  for (uint32_t i = blockIdx.x * sl_block_warps() + sl_warp_index(); i < *a.events.count; i += step)
    count_event(&a, sl_event_at(&a.events, i));
}
SL_KERNEL(pairs_write, struct pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t i = blockIdx.x * sl_block_warps() + sl_warp_index(); i < *a.events.count; i += step)
    write_event(&a, sl_event_at(&a.events, i));
}
SL_KERNEL(pairs_fit, struct pairs_args) {
  for (uint32_t k = sl_grid_thread(); k < pairs_of_slice(&a); k += sl_grid_threads()) write_vertex(&a, k);
}

static int run(const struct sl_launch *l, const struct pairs_args *a) {
  int status = SL_COUNT_SCAN(l, pairs_count, SL_PER_EVENT, a->pairs.offsets, &a->pairs.bound, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, pairs_write, SL_PER_EVENT, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, pairs_fit, SL_PER_ITEM(a->pairs), *a);
  return status;
}

/* The kernels for several nodes: one warp per event and node; pairs_fit_family takes the pairs of all nodes in a row.
 */
static SL_DEVICE const struct pairs_args *pairs_node(const struct sl_nodes *nodes, uint32_t k) {
  return (const struct pairs_args *)nodes->args + k;
}
#define FOR_NODE_EVENTS(i, nodes)                                    \
  for (uint32_t i = blockIdx.x * sl_block_warps() + sl_warp_index(); \
       i < (nodes).count * pairs_node(&(nodes), 0)->events.max; i += gridDim.x * sl_block_warps())
SL_KERNEL(pairs_count_family, struct sl_nodes) {
  for (uint32_t k = sl_grid_thread(); k < a.count; k += sl_grid_threads())
    *pairs_node(&a, k)->pairs.made_by = pairs_node(&a, k)->node;
  FOR_NODE_EVENTS (i, a) {
    const struct pairs_args *node = pairs_node(&a, i % a.count);
    if (i / a.count < *node->events.count) count_event(node, sl_event_at(&node->events, i / a.count));
  }
}
SL_KERNEL(pairs_write_family, struct sl_nodes) {
  FOR_NODE_EVENTS (i, a) {
    const struct pairs_args *node = pairs_node(&a, i % a.count);
    if (i / a.count < *node->events.count) write_event(node, sl_event_at(&node->events, i / a.count));
  }
}
SL_KERNEL(pairs_fit_family, struct sl_nodes) {
  uint32_t k = sl_grid_thread();
  for (uint32_t n = 0; n < a.count; n++) {
    const uint32_t all = pairs_of_slice(pairs_node(&a, n));
    for (; k < all; k += sl_grid_threads()) write_vertex(pairs_node(&a, n), k);
    k -= all;
  }
}

static int run_family(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {
  const struct pairs_args *host = (const struct pairs_args *)host_args;
  const struct sl_nodes nodes = sl_nodes_of(args, count);
  int status = SL_LAUNCH(l, pairs_count_family, SL_PER_EVENT, nodes);
  for (uint32_t k = 0; k < count && status == SL_OK; k++)
    status = l->scan(l, host[k].pairs.offsets, &host[k].pairs.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, pairs_write_family, SL_PER_EVENT, nodes);
  if (status == SL_OK) status = SL_LAUNCH(l, pairs_fit_family, SL_PER_ITEM(host[0].pairs), nodes);
  return status;
}

SL_ALGORITHM(pairs, "builds pairs of particles and fits their vertex", 128, run, SL_ERRORS_OF(pairs_errors),
             SL_FAMILY("pairs", run_family));
