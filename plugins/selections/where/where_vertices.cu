/* where_vertices.cu: lines without code (where.h) over secondary vertices; fields of the children, masses, responses of
 * a network. */
#include "where_line.h"
#include "where_pairs.h"

#define SL_ARGS where_vertices_args
#define WHERE_VERTICES(M)                                                                                     \
  LINE_OVER(M, secondary_vertices)                                                                            \
  M(IN, particles, particles, "", "particles that the candidates are pairs of")                               \
  M(OPTIONAL_IN, scores, vertex_scores, "", "responses of a network to the candidates, for names score.NAME") \
  WHERE_COMMON(M)
SL_ARGUMENTS(where_vertices, WHERE_VERTICES);

enum { LINK_SCORE = WHERE_SECOND + 1 };
static const struct where_scope where_vertices_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_vertices_args, secondary_vertices),
    WHERE_FIELDS("first.", struct where_vertices_args, particles, particles, SL_EXPRESSION_OF_LINK, WHERE_FIRST),
    WHERE_FIELDS("second.", struct where_vertices_args, particles, particles, SL_EXPRESSION_OF_LINK, WHERE_SECOND),
    WHERE_OPTIONAL_FIELDS("score.", struct where_vertices_args, scores, vertex_scores, LINK_SCORE)};

static const struct sl_expression_link where_vertices_links[] = {
    WHERE_LINKS_OF_PAIRS(struct where_vertices_args, candidates, particles),
    WHERE_LINK_TO_SAME(struct where_vertices_args, scores)};
static const struct where_decay where_vertices_decays[] = {
    WHERE_DECAY_OF_PAIR(struct where_vertices_args, candidates, particles, WHERE_FIRST + 1, WHERE_SECOND + 1, 0)};
#define where_vertices_functions where_pair_functions

/* Refuses the event if the responses are those of other pairs. */
static SL_DEVICE uint32_t where_vertices_is_valid(const struct where_vertices_args *a, uint32_t event, uint32_t i) {
  return !a->scores.offsets ||
         line_item_index(&a->events, a->candidates.offsets, a->scores.offsets, event, i) != LINE_NO_ITEM;
}

WHERE_LINE(where_vertices, "pairs of long tracks that satisfy an expression in the graph", secondary_vertices,
           WHERE_DECAYS(where_vertices), where_vertices_is_valid);

#define LINES(L) L(where_vertices)
LINES_OVER(secondary_vertices, LINES);
