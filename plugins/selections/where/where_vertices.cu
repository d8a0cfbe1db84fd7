/* where_vertices.cu: lines without code (where.h) over secondary vertices; fields of the children and masses. */
#include "where_line.h"
#include "where_pairs.h"

#define SL_ARGS where_vertices_args
#define WHERE_VERTICES(M)                                                       \
  LINE_OVER(M, secondary_vertices)                                              \
  M(IN, particles, particles, "", "particles that the candidates are pairs of") \
  WHERE_COMMON(M)
SL_ARGUMENTS(where_vertices, WHERE_VERTICES);

static const struct where_scope where_vertices_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_vertices_args, secondary_vertices),
    WHERE_FIELDS("first.", struct where_vertices_args, particles, particles, SL_EXPRESSION_OF_LINK, WHERE_FIRST),
    WHERE_FIELDS("second.", struct where_vertices_args, particles, particles, SL_EXPRESSION_OF_LINK, WHERE_SECOND)};

WHERE_LINE(where_vertices, "pairs of long tracks that satisfy an expression in the graph", secondary_vertices,
           WHERE_FUNCTIONS(where_pair_functions)) {
  const struct where_children children = where_children_of_pair(&a->particles, &a->candidates);
  return WHERE_EVALUATE(&children);
}

#define LINES(L) L(where_vertices)
LINES_OVER(secondary_vertices, LINES);
