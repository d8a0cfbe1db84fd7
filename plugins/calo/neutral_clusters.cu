/* calo.neutral_clusters: selects the clusters that are on no long track, and adds their areas (README.md, "Neutral
 * clusters"). Parallelism: one thread per cluster. Determinism: output in input order.
 * Cost: reads 3 bytes per cluster, twice, and 22 per selected cluster; writes 24 bytes per selected cluster.
 */
#include "cells.h"

#include <sluice/kernel.h>

#define SL_ARGS neutral_clusters_args
#define NEUTRAL_CLUSTERS(M)                                                                             \
  M(IN, clusters, calo_clusters, "", "calorimeter clusters")                                            \
  M(OPTIONAL_IN, matches, calo_cluster_matches, "",                                                     \
    "matches of the clusters with tracks; if not connected: no cluster is on a track")                  \
  M(OUT, neutral_clusters, calo_neutral_clusters, "clusters that are on no long track, in input order", \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(clusters))))
SL_ARGUMENTS(neutral_clusters, NEUTRAL_CLUSTERS);

enum { OTHER_CLUSTERS = 1 };
static const struct sl_event_error neutral_clusters_errors[] = {
    {OTHER_CLUSTERS, 0, "`matches` does not have one item per cluster; expected the matches of the node's `clusters`"}};

/* Index of the matches of a cluster. UINT32_MAX if there are none: the event is refused. */
static SL_DEVICE uint32_t match_index(const struct neutral_clusters_args *a, struct sl_item item) {
  const uint32_t *clusters = a->clusters.offsets, *matches = a->matches.offsets;
  const uint32_t count = matches[item.event + 1] - matches[item.event];
  if (count == clusters[item.event + 1] - clusters[item.event])
    return matches[item.event] + (item.input_index - clusters[item.event]);
  sl_event_fail(&a->events, item.event, OTHER_CLUSTERS, count);
  return UINT32_MAX;
}

static SL_DEVICE uint32_t is_selected(const struct neutral_clusters_args *a, struct sl_item item) {
  if (!a->matches.offsets) return 1;
  const uint32_t match = match_index(a, item);
  return match != UINT32_MAX && !a->matches.on_track[match] ? 1u : 0u;
}

static SL_DEVICE void write_cluster(const struct neutral_clusters_args *a, struct sl_item item) {
  const uint32_t i = item.input_index, to = item.output_index, cell = a->clusters.cell[i];
  a->neutral_clusters.cell[to] = (uint16_t)cell;
  a->neutral_clusters.energy[to] = a->clusters.energy[i];
  a->neutral_clusters.et[to] = a->clusters.et[i];
  a->neutral_clusters.x[to] = a->clusters.x[i];
  a->neutral_clusters.y[to] = a->clusters.y[i];
  a->neutral_clusters.highest_share[to] = a->clusters.highest_share[i];
  a->neutral_clusters.area[to] = cell < MIDDLE_FIRST ? CALO_OUTER : cell < INNER_FIRST ? CALO_MIDDLE : CALO_INNER;
  a->neutral_clusters.on_velo_line[to] = a->matches.offsets ? a->matches.on_velo_line[match_index(a, item)] : 0;
}

SL_SELECT_ITEMS(neutral_clusters, clusters, neutral_clusters, is_selected, write_cluster)

SL_ALGORITHM(neutral_clusters, "calorimeter clusters that are on no long track", 128, neutral_clusters_run,
             SL_ERRORS_OF(neutral_clusters_errors));
