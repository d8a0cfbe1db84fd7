/* where_cluster_pairs.cu: lines without code (where.h) over pairs of neutral clusters; fields of both clusters. */
#include "calo/event_model.h"
#include "where_line.h"

#define SL_ARGS where_cluster_pairs_args
#define WHERE_CLUSTER_PAIRS(M)                                                            \
  LINE_OVER(M, cluster_pairs)                                                             \
  M(IN, clusters, calo_neutral_clusters, "", "clusters that the candidates are pairs of") \
  WHERE_COMMON(M)
SL_ARGUMENTS(where_cluster_pairs, WHERE_CLUSTER_PAIRS);

static const struct where_scope where_cluster_pairs_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_cluster_pairs_args, cluster_pairs),
    WHERE_FIELDS("first.", struct where_cluster_pairs_args, clusters, calo_neutral_clusters, SL_EXPRESSION_OF_LINK,
                 WHERE_FIRST),
    WHERE_FIELDS("second.", struct where_cluster_pairs_args, clusters, calo_neutral_clusters, SL_EXPRESSION_OF_LINK,
                 WHERE_SECOND)};

WHERE_LINE(where_cluster_pairs, "pairs of neutral clusters that satisfy an expression in the graph", cluster_pairs,
           WHERE_NO_FUNCTIONS) {
  const struct where_children children = {
      {{a->clusters.offsets, a->candidates.first, 0}, {a->clusters.offsets, a->candidates.second, 0}},
      {{NULL, NULL, NULL, 0, 0, 0}}};
  return WHERE_EVALUATE(&children);
}

#define LINES(L) L(where_cluster_pairs)
LINES_OVER(cluster_pairs, LINES);
