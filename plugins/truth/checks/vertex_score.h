/* vertex_score.h: scores reconstructed vertices against true ones (README.md).
 * Each reconstructed vertex is compared with the true vertex that is nearest in z, and matches it if the distance is
 * below five sigma_z. If several match one true vertex, the last one is accepted, and the others are clones. A vertex
 * without a match is false. True vertices with at least `tracks_min` tracks are reconstructible.
 * `reconstructed` counts the matched vertices among the reconstructible ones; `matched` counts all matched ones, as
 * in LHCb's checker, so that its efficiency can exceed 1. */
#ifndef TRUTH_VERTEX_SCORE_H
#define TRUTH_VERTEX_SCORE_H

#include "association/mc_vertices.h"
#include "pv/event_model.h"
#include "spread.h"

/* Residuals (reconstructed - true, mm), and pulls: residuals divided by the reconstructed errors. */
enum { SCORE_X, SCORE_Y, SCORE_Z, SCORE_PULL_X, SCORE_PULL_Y, SCORE_PULL_Z, SCORE_QUANTITIES };
enum { SCORE_TRACK_BINS = 15, SCORE_DISTANCE_BINS = 14 };

/* Lower edges of bins; the last bin has no upper edge. */
extern const double score_track_edges[SCORE_TRACK_BINS];       /* tracks of a vertex */
extern const double score_distance_edges[SCORE_DISTANCE_BINS]; /* mm to the next vertex of the event */

/* Counts of true vertices. */
struct score_truth {
  uint64_t reconstructible, reconstructed, matched, clones;
};

/* A row of a table: true and reconstructed vertices, each binned in its own quantity. */
struct score_row {
  struct score_truth truth;
  uint64_t vertices, false_vertices;
  double pairs_weight; /* sum over accepted matches, the entries of the spreads */
  struct spread spreads[SCORE_QUANTITIES];
};

struct vertex_score {
  uint32_t tracks_min;
  double isolation; /* mm; a vertex without another one in this distance is isolated */
  struct score_row all, by_tracks[SCORE_TRACK_BINS], by_distance[SCORE_DISTANCE_BINS];
  struct score_truth isolated, close;
  uint32_t *match; /* per true vertex of the event: accepted reconstructed vertex, or NONE */
  uint32_t *match_count;
  uint64_t match_capacity, match_count_capacity;
};

/* Scores the reconstructed vertices of an event: 0 or SL_ENOMEM. */
int vertex_score_event(struct vertex_score *score, const struct mc_vertices *mc, const struct pv_vertices_view *found,
                       uint32_t event);
void vertex_score_free(struct vertex_score *score);

/* Half the range of the histogram of a quantity. */
double score_range(uint32_t quantity);

#endif
