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

static const struct sl_expression_link where_cluster_pairs_links[] = {
    WHERE_LINK(struct where_cluster_pairs_args, candidates.first, clusters),
    WHERE_LINK(struct where_cluster_pairs_args, candidates.second, clusters)};

WHERE_LINE(where_cluster_pairs, "pairs of neutral clusters that satisfy an expression in the graph", cluster_pairs,
           WHERE_LINKS(where_cluster_pairs), WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_cluster_pairs)
LINES_OVER(cluster_pairs, LINES);
