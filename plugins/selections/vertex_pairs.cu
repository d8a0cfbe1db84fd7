/* selections.vertex_pairs: pairs of secondary vertices that share no particle (README.md, "Pairs of vertices").
 *   1. vertex_pairs_count, one warp per event: selects the vertices that satisfy the expressions, counts the pairs.
 *   2. A scan gives the offsets of the events.
 *   3. vertex_pairs_write, one warp per event: finds the pairs again and writes them.
 * The vertices are those of one container, with second > first, or of two containers.
 * Determinism: pairs are in order of (first, second).
 * Cost: reads the columns of the expressions per vertex, 16 bytes per tested pair, 128 per pair; writes 24 bytes per
 * pair.
 */
#include "kinematics.h"
#include "walk.h"
#include "where/where_pairs.h"

/* Names in expressions of the pairs: first.NAME, second.NAME. */
static const struct sl_link vertex_pair_links[] = {
    {"first", "vertices"}, {"second", "others"}, {"second", "vertices"} /* if `others` is not connected */};
static const struct sl_function vertex_pair_functions[] = {
    MASS_FUNCTION("mass", "mass if the vertex `first` has the mass one and `second` the mass other", "one other",
                  MASS_TEXT("first.p", "second.p", "opening"))};
static const struct sl_vocabulary vertex_pair_vocabulary = {
    vertex_pair_links, vertex_pair_functions, SL_COUNT_(vertex_pair_links), SL_COUNT_(vertex_pair_functions)};

#define SL_ARGS vertex_pairs_args
#define VERTEX_PAIRS(M)                                                                                               \
  M(IN, vertices, secondary_vertices, "", "secondary vertices, in any order")                                         \
  M(OPTIONAL_IN, others, secondary_vertices, "", "second vertices of the pairs; not connected: those of `vertices`")  \
  M(IN, particles, particles, "", "particles that the vertices are made from")                                        \
  M(IN, states, long_states, "x y z tx ty", "states of the particles")                                                \
  M(OUT, pairs, vertex_pairs, "pairs by ascending indices of their vertices",                                         \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(pairs_per_event, 65536))), SL_VOCABULARY(vertex_pair_vocabulary))                  \
  M(SCRATCH, selected, u32, "indices in the event of selected vertices", SL_ONE(SL_ITEMS_TERM(vertices)))             \
  M(SCRATCH, selected_others, u32, "indices in the event of selected second vertices", SL_ONE(SL_ITEMS_TERM(others))) \
  M(SCRATCH, selected_count, u32, "number of selected vertices per event", SL_ONE(SL_EVENTS_TERM(1, 0)))              \
  M(SCRATCH, selected_other_count, u32, "number of selected second vertices per event", SL_ONE(SL_EVENTS_TERM(1, 0))) \
  M(BUDGET, pairs_per_event, 4, 1, 65536, "pairs, on average over a slice")                                           \
  M(STRING, where, "", "condition for vertices, such as pt > 1 GeV and mass(pi, pi) < 550; empty: all vertices")      \
  M(STRING, where_others, "", "condition for the vertices of `others`; empty: all vertices of `others`")              \
  M(TABLE, program, u64, "compiled program of `where`")                                                               \
  M(TABLE, other_program, u64, "compiled program of `where_others`")                                                  \
  M(COMPUTED, size, struct where_size, "size of the program of `where`")                                              \
  M(COMPUTED, other_size, struct where_size, "size of the program of `where_others`")
SL_ARGUMENTS(vertex_pairs, VERTEX_PAIRS);

/* ------------------------------------------------------------------------------------------------ expressions */

#define SCOPE(prefix, port, collection, operand, link) \
  { prefix, &collection##_collection, (uint32_t)offsetof(struct vertex_pairs_args, port), operand, link, 0, NULL }
#define SCOPES(port)                                                                \
  {                                                                                 \
    SCOPE("", port, secondary_vertices, SL_EXPRESSION_OF_CANDIDATE, 0),             \
        SCOPE("first.", particles, particles, SL_EXPRESSION_OF_LINK, WHERE_FIRST),  \
        SCOPE("second.", particles, particles, SL_EXPRESSION_OF_LINK, WHERE_SECOND) \
  }
static const struct where_scope vertex_scopes[] = SCOPES(vertices), other_scopes[] = SCOPES(others);
#define LINKS(port) \
  { WHERE_LINKS_OF_PAIRS(struct vertex_pairs_args, port, particles) }
#define DECAY(port) \
  { WHERE_DECAY_OF_PAIR(struct vertex_pairs_args, port, particles, WHERE_FIRST + 1, WHERE_SECOND + 1, 0) }
static const struct sl_expression_link vertex_links[] = LINKS(vertices), other_links[] = LINKS(others);
static const struct where_decay vertex_decay[] = DECAY(vertices), other_decay[] = DECAY(others);
#define LANGUAGE(scopes, links, decay)                                                                                \
  {                                                                                                                   \
    scopes, SL_COUNT_(scopes), where_pair_functions, SL_COUNT_(where_pair_functions), links, SL_COUNT_(links), decay, \
        SL_COUNT_(decay)                                                                                              \
  }
static const struct where_language languages[] = {LANGUAGE(vertex_scopes, vertex_links, vertex_decay),
                                                  LANGUAGE(other_scopes, other_links, other_decay)};

static int check(const struct sl_services *s, const void *args) {
  const struct vertex_pairs_args *a = (const struct vertex_pairs_args *)args;
  const int status = where_check(s, "where+%u: %s", a->where, args, &languages[0]);
  const int of_others = where_check(s, "where_others+%u: %s", a->where_others, args, &languages[1]);
  if (*a->where_others && !a->others.offsets && a->others.bound.capacity == 0) {
    s->message(s->context, SL_ERROR,
               "where_others: no effect, because the input `others` is not connected; add in: { others: NODE }");
    return SL_EINVAL;
  }
  return status < 0 ? status : of_others;
}

static int prepare(const struct sl_services *s, void *args) {
  struct vertex_pairs_args *a = (struct vertex_pairs_args *)args;
  const int status = where_prepare(s, "program", a->where, &languages[0], &a->size);
  return status < 0 ? status : where_prepare(s, "other_program", a->where_others, &languages[1], &a->other_size);
}

/* --------------------------------------------------------------------------------------------------- selection */

/* One of the two containers, its condition, and the list of its selected vertices. */
struct side {
  const struct secondary_vertices_view *vertices;
  const uint64_t *program;
  struct where_size size;
  uint32_t *selected;
};

static SL_DEVICE struct side side_of(const struct vertex_pairs_args *a, uint32_t is_other) {
  const struct side first = {&a->vertices, a->program, a->size, a->selected};
  const struct side second = {&a->others, a->other_program, a->other_size, a->selected_others};
  return is_other ? second : first;
}

/* Lists the selected vertices of an event; returns their number. */
static SL_DEVICE uint32_t select_vertices(const struct vertex_pairs_args *a, const struct side *of, uint32_t event) {
  const uint32_t begin = of->vertices->offsets[event], count = of->vertices->offsets[event + 1] - begin;
  uint32_t selected_count = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t is_one = i < count && where_evaluate(of->program, of->size, a, event, begin + i);
    const uint32_t index = sl_warp_append(is_one, &selected_count);
    if (is_one) of->selected[begin + index] = i;
  }
  sl_warp_sync();
  return selected_count;
}

/* --------------------------------------------------------------------------------------------------- the pairs */

static SL_DEVICE uint32_t share_none(const struct secondary_vertices_view *v, uint32_t i,
                                     const struct secondary_vertices_view *w, uint32_t j) {
  return v->first[i] != w->first[j] && v->first[i] != w->second[j] && v->second[i] != w->first[j] &&
         v->second[i] != w->second[j];
}

static SL_DEVICE struct momentum momentum_at(const struct vertex_pairs_args *a, const struct secondary_vertices_view *v,
                                             uint32_t event, uint32_t i) {
  const uint32_t begin = a->particles.offsets[event], first = begin + v->first[i], second = begin + v->second[i];
  const struct line one = line_of(&a->states, first), other = line_of(&a->states, second);
  const struct momentum m1 = momentum_of(&one, a->particles.p[first]);
  const struct momentum m2 = momentum_of(&other, a->particles.p[second]);
  return sum_of(&m1, &m2);
}

static SL_DEVICE void write_pair(const struct vertex_pairs_args *a, uint32_t event,
                                 const struct secondary_vertices_view *v, uint32_t i,
                                 const struct secondary_vertices_view *w, uint32_t j, uint32_t k) {
  const struct momentum m1 = momentum_at(a, v, event, i), m2 = momentum_at(a, w, event, j), m = sum_of(&m1, &m2);
  const struct line one = {v->x[i], v->y[i], v->z[i], m1.x / m1.z, m1.y / m1.z};
  const struct line other = {w->x[j], w->y[j], w->z[j], m2.x / m2.z, m2.y / m2.z};
  struct crossing c;
  const uint32_t is_crossing = approach(&one, &other, &c);
  a->pairs.first[k] = i - v->offsets[event];
  a->pairs.second[k] = j - w->offsets[event];
  a->pairs.doca[k] = is_crossing ? c.doca : max_distance;
  a->pairs.opening[k] = opening_of(&one, &other, c.sine2);
  a->pairs.p[k] = m.p;
  a->pairs.pt[k] = sqrtf(m.x * m.x + m.y * m.y);
}

/* Tests all pairs of selected vertices of an event, by the lanes of a warp. Returns the number of accepted pairs, and
 * writes them if `is_writing`. */
static SL_DEVICE uint32_t find_pairs(const struct vertex_pairs_args *a, uint32_t event, uint32_t is_writing) {
  const uint32_t has_others = a->others.offsets != NULL, first_pair = is_writing ? a->pairs.offsets[event] : 0;
  const struct side one = side_of(a, 0), other = side_of(a, has_others);
  const uint32_t begin = one.vertices->offsets[event], other_begin = other.vertices->offsets[event];
  const uint32_t count = a->selected_count[event], other_count = a->selected_other_count[event];
  const uint32_t all = has_others ? count * other_count : walk_pairs(count);
  struct walk at = has_others ? walk_begin_all(other_count) : walk_begin(count);
  uint32_t pair_count = 0;
  SL_FOR_WARP (k, all) {
    const uint32_t i = begin + (k < all ? one.selected[begin + at.first] : 0);
    const uint32_t j = other_begin + (k < all ? other.selected[other_begin + at.second] : 0);
    const uint32_t is_one = k < all && share_none(one.vertices, i, other.vertices, j);
    const uint32_t index = first_pair + sl_warp_append(is_one, &pair_count);
    if (is_one && is_writing) write_pair(a, event, one.vertices, i, other.vertices, j, index);
    if (has_others)
      walk_on_all(&at, sl_warp_lanes());
    else
      walk_on(&at, sl_warp_lanes());
  }
  return pair_count;
}

SL_KERNEL(vertex_pairs_count, struct vertex_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n);
    const struct side one = side_of(&a, 0), other = side_of(&a, 1);
    const uint32_t count = select_vertices(&a, &one, event);
    const uint32_t other_count = a.others.offsets ? select_vertices(&a, &other, event) : 0;
    if (sl_warp_lane() == 0) {
      a.selected_count[event] = count;
      a.selected_other_count[event] = other_count;
    }
    sl_warp_sync();
    const uint32_t pair_count = find_pairs(&a, event, 0);
    if (sl_warp_lane() == 0) a.pairs.offsets[event] = pair_count;
  }
}

/* The range of an event is also empty if the pairs of the slice exceed the reserved memory. */
SL_KERNEL(vertex_pairs_write, struct vertex_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n);
    if (a.pairs.offsets[event] != a.pairs.offsets[event + 1]) (void)find_pairs(&a, event, 1);
  }
}

static int run(const struct sl_launch *l, const struct vertex_pairs_args *a) {
  return SL_COUNT_SCAN_WRITE(l, vertex_pairs_count, vertex_pairs_write, a->pairs, *a);
}

SL_ALGORITHM(vertex_pairs, "pairs of secondary vertices that share no particle", 64, run, SL_CHECK(check),
             SL_PREPARE(prepare));
