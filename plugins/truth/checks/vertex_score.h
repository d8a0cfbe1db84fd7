/* vertex_score.h: found vertices of many events scored against the true ones (README.md).
 *
 * Each found vertex is given the true one that is nearest in z, of all true ones; it matches it if they are less than
 * five sigma_z apart. Of several that match one true vertex, the last stands and the others are clones. A found vertex
 * that matches none is false. True vertices with at least `tracks_min` tracks are reconstructible.
 *
 * Two efficiencies are kept apart: `reconstructed` counts the matched vertices among the reconstructible ones, and
 * `matched` all matched ones, as LHCb's checker does, whose efficiency can therefore exceed 1.
 */
#ifndef TRUTH_VERTEX_SCORE_H
#define TRUTH_VERTEX_SCORE_H

#include "association/mc_vertices.h"
#include "pv/event_model.h"
#include "spread.h"

/* Residuals (found - true, mm), and pulls: residuals divided by the errors that the finder gives. */
enum { SCORE_X, SCORE_Y, SCORE_Z, SCORE_PULL_X, SCORE_PULL_Y, SCORE_PULL_Z, SCORE_QUANTITIES };
enum { SCORE_TRACK_BINS = 15, SCORE_DISTANCE_BINS = 14 };

/* Where bins begin; the last one has no end. */
extern const double score_track_edges[SCORE_TRACK_BINS];       /* tracks of a vertex */
extern const double score_distance_edges[SCORE_DISTANCE_BINS]; /* mm to the next vertex of the event */

/* Counts of true vertices. */
struct score_truth {
  uint64_t reconstructible, reconstructed, matched, clones;
};

/* A row of a table: true vertices in a bin of their own number, and found ones in a bin of theirs. */
struct score_row {
  struct score_truth truth;
  uint64_t vertices, false_vertices;
  double pairs_weight; /* sum over found vertices whose match stands, which the spreads are of */
  struct spread spreads[SCORE_QUANTITIES];
};

struct vertex_score {
  uint32_t tracks_min;
  double isolation; /* mm; a vertex that has no other within it is isolated */
  struct score_row all, by_tracks[SCORE_TRACK_BINS], by_distance[SCORE_DISTANCE_BINS];
  struct score_truth isolated, close;
  uint32_t *match; /* per true vertex of the event at hand: the found one that stands, or none */
  uint32_t *match_count;
  uint64_t match_capacity, match_count_capacity;
};

/* Scores the found vertices of an event: 0 or SL_ENOMEM. */
int vertex_score_event(struct vertex_score *score, const struct mc_vertices *mc, const struct pv_vertices_view *found,
                       uint32_t event);
void vertex_score_free(struct vertex_score *score);

/* Half the range of the histogram of a quantity. */
double score_range(uint32_t quantity);

#endif
