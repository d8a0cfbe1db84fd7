/* where_vertex_pairs.cu: lines without code (where.h) over pairs of secondary vertices; fields of both vertices and of
 * their particles, masses. */
#include "where_line.h"
#include "where_pairs.h"

#define SL_ARGS where_vertex_pairs_args
#define WHERE_VERTEX_PAIRS(M)                                                  \
  LINE_OVER(M, vertex_pairs)                                                   \
  M(IN, first, secondary_vertices, "", "container of the first vertices")      \
  M(IN, second, secondary_vertices, "", "container of the second vertices")    \
  M(IN, particles, particles, "", "particles that the vertices are made from") \
  WHERE_COMMON(M)
SL_ARGUMENTS(where_vertex_pairs, WHERE_VERTEX_PAIRS);

enum { LINK_FIRST_FIRST = WHERE_SECOND + 1, LINK_FIRST_SECOND, LINK_SECOND_FIRST, LINK_SECOND_SECOND };
enum { DECAY_PAIR, DECAY_FIRST, DECAY_SECOND };

#define FIELDS_OF(prefix, port, collection, link) \
  WHERE_FIELDS(prefix, struct where_vertex_pairs_args, port, collection, SL_EXPRESSION_OF_LINK, link)
static const struct where_scope where_vertex_pairs_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_vertex_pairs_args, vertex_pairs),
    FIELDS_OF("first.", first, secondary_vertices, WHERE_FIRST),
    FIELDS_OF("second.", second, secondary_vertices, WHERE_SECOND),
    FIELDS_OF("first.first.", particles, particles, LINK_FIRST_FIRST),
    FIELDS_OF("first.second.", particles, particles, LINK_FIRST_SECOND),
    FIELDS_OF("second.first.", particles, particles, LINK_SECOND_FIRST),
    FIELDS_OF("second.second.", particles, particles, LINK_SECOND_SECOND)};

static const struct where_function where_vertex_pairs_functions[] = {
    {MASS_FUNCTION("mass", "mass if the vertex `first` has the mass one and `second` the mass other", "one other",
                   NULL),
     WHERE_CALL(WHERE_MASS, DECAY_PAIR, 2), 0, 0, NULL},
    {MASS_FUNCTION("mass", "mass of four particles: one and two of `first`, three and four of `second`",
                   "one two three four", NULL),
     WHERE_CALL(WHERE_MASS_OF_BOTH, DECAY_PAIR, 4), 0, 0, NULL},
    {MASS_FUNCTION("first.mass", "mass of the vertex `first`", "one other", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_FIRST, 2), 0, 0, NULL},
    {MASS_FUNCTION("second.mass", "mass of the vertex `second`", "one other", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_SECOND, 2), 0, 0, NULL}};

#define LINK_OF_VERTEX(number, vertex, particle) \
  WHERE_LINK_THROUGH(struct where_vertex_pairs_args, number, vertex.particle, particles)
static const struct sl_expression_link where_vertex_pairs_links[] = {
    WHERE_LINK(struct where_vertex_pairs_args, candidates.first, first),
    WHERE_LINK(struct where_vertex_pairs_args, candidates.second, second),
    LINK_OF_VERTEX(WHERE_FIRST, first, first),
    LINK_OF_VERTEX(WHERE_FIRST, first, second),
    LINK_OF_VERTEX(WHERE_SECOND, second, first),
    LINK_OF_VERTEX(WHERE_SECOND, second, second)};
static const struct where_decay where_vertex_pairs_decays[] = {
    WHERE_DECAY(struct where_vertex_pairs_args, first.p, second.p, candidates.opening, WHERE_FIRST + 1,
                WHERE_SECOND + 1, 0),
    WHERE_DECAY_OF_PAIR(struct where_vertex_pairs_args, first, particles, LINK_FIRST_FIRST + 1, LINK_FIRST_SECOND + 1,
                        WHERE_FIRST + 1),
    WHERE_DECAY_OF_PAIR(struct where_vertex_pairs_args, second, particles, LINK_SECOND_FIRST + 1,
                        LINK_SECOND_SECOND + 1, WHERE_SECOND + 1)};

/* Whether the indices of a candidate are those of items of the inputs. */
static SL_DEVICE uint32_t where_vertex_pairs_are_together(const struct where_vertex_pairs_args *a, uint32_t event,
                                                          uint32_t i) {
  const uint32_t firsts = a->first.offsets[event + 1] - a->first.offsets[event];
  const uint32_t seconds = a->second.offsets[event + 1] - a->second.offsets[event];
  return a->candidates.first[i] < firsts && a->candidates.second[i] < seconds;
}

/* Refuses the event if they are not. */
static SL_DEVICE uint32_t where_vertex_pairs_is_valid(const struct where_vertex_pairs_args *a, uint32_t event,
                                                      uint32_t i) {
  if (where_vertex_pairs_are_together(a, event, i)) return 1;
  sl_event_fail(&a->events, event, LINE_OTHER_ITEMS, 0);
  return 0;
}

WHERE_LINE(where_vertex_pairs, "pairs of secondary vertices that satisfy an expression in the graph", vertex_pairs,
           WHERE_DECAYS(where_vertex_pairs), where_vertex_pairs_is_valid);

#define LINES(L) L(where_vertex_pairs)
LINES_OVER(vertex_pairs, LINES);
