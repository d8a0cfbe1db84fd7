/* where_clusters.cu: lines without code (where.h) over calorimeter clusters. */
#include "calo/event_model.h"
#include "where_line.h"

#define SL_ARGS           where_clusters_args
#define WHERE_CLUSTERS(M) LINE_OVER(M, calo_clusters) WHERE_COMMON(M)
SL_ARGUMENTS(where_clusters, WHERE_CLUSTERS);

static const struct where_scope where_clusters_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_clusters_args, calo_clusters)};

WHERE_LINE(where_clusters, "calorimeter clusters that satisfy an expression in the graph", calo_clusters,
           WHERE_NO_CHILDREN, WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_clusters)
LINES_OVER(calo_clusters, LINES);
