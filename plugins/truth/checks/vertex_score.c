/* vertex_score.c: see vertex_score.h. Events have few vertices, so that the nearest one is found by a linear search. */
#include "vertex_score.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };
static const double match_sigmas = 5;

const double score_track_edges[SCORE_TRACK_BINS] = {0, 2, 4, 6, 8, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100};
const double score_distance_edges[SCORE_DISTANCE_BINS] = {0, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 50, 100};

/* About twenty times the resolution for vertices with few tracks. */
static const double ranges[SCORE_QUANTITIES] = {0.5, 0.5, 2.5, 10, 10, 10};
double score_range(uint32_t quantity) { return ranges[quantity]; }

void vertex_score_free(struct vertex_score *score) {
  free(score->match);
  free(score->match_count);
  score->match = score->match_count = NULL;
}

static uint32_t bin_of(const double *edges, uint32_t bins, double value) {
  uint32_t bin = bins - 1;
  while (bin > 0 && value < edges[bin]) bin--;
  return bin;
}

/* A vertex with a finite position and positive, finite variances; others match nothing. */
static int is_sound(const struct pv_vertices_view *f, uint32_t v) {
  return isfinite(f->x[v]) && isfinite(f->y[v]) && isfinite(f->z[v]) && isfinite(f->c_xx[v]) && isfinite(f->c_yy[v]) &&
         isfinite(f->c_zz[v]) && f->c_xx[v] > 0 && f->c_yy[v] > 0 && f->c_zz[v] > 0;
}

static double distance_of(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }

/* Distance to the nearest other vertex; infinite if there is none. */
static double true_distance(const struct mc_vertices *mc, uint32_t vertex) {
  double nearest = INFINITY;
  const struct mc_vertex *v = &mc->at[vertex];
  for (uint32_t i = 0; i < mc->count; i++) {
    const double distance = distance_of(mc->at[i].x - v->x, mc->at[i].y - v->y, mc->at[i].z - v->z);
    if (i != vertex && distance < nearest) nearest = distance;
  }
  return nearest;
}

static double found_distance(const struct pv_vertices_view *f, uint32_t begin, uint32_t end, uint32_t vertex) {
  const double x = f->x[vertex], y = f->y[vertex], z = f->z[vertex];
  double nearest = INFINITY;
  for (uint32_t i = begin; i < end; i++) {
    const double distance = distance_of(f->x[i] - x, f->y[i] - y, f->z[i] - z);
    if (i != vertex && distance < nearest) nearest = distance;
  }
  return nearest;
}

/* Index of the true vertex that a reconstructed one matches, or NONE. Ties: the first of the bank. */
static uint32_t find_match(const struct mc_vertices *mc, const struct pv_vertices_view *f, uint32_t vertex) {
  uint32_t nearest = NONE;
  double smallest = INFINITY;
  if (!is_sound(f, vertex)) return NONE;
  for (uint32_t i = 0; i < mc->count; i++) {
    const double distance = fabs(mc->at[i].z - f->z[vertex]);
    if (distance < smallest) {
      smallest = distance;
      nearest = i;
    }
  }
  return smallest < match_sigmas * sqrt(f->c_zz[vertex]) ? nearest : NONE;
}

static void count_truth(struct score_truth *t, int is_reconstructible, uint32_t matches) {
  t->reconstructible += is_reconstructible;
  t->reconstructed += is_reconstructible && matches > 0;
  t->matched += matches > 0;
  t->clones += matches > 1 ? matches - 1 : 0;
}

/* Counts a reconstructed vertex in a row; `truth` is the true vertex of an accepted match, or NULL. */
static void count_found(struct score_row *row, const struct pv_vertices_view *f, uint32_t v, int is_false,
                        const struct mc_vertex *truth) {
  row->vertices++;
  row->false_vertices += is_false;
  if (!truth) return;
  const double residuals[3] = {f->x[v] - truth->x, f->y[v] - truth->y, f->z[v] - truth->z};
  const double variances[3] = {f->c_xx[v], f->c_yy[v], f->c_zz[v]};
  row->pairs_weight += f->weight[v];
  for (uint32_t k = 0; k < 3; k++) {
    spread_add(&row->spreads[SCORE_X + k], ranges[SCORE_X + k], residuals[k]);
    spread_add(&row->spreads[SCORE_PULL_X + k], ranges[SCORE_PULL_X + k], residuals[k] / sqrt(variances[k]));
  }
}

static void score_found(struct vertex_score *s, const struct mc_vertices *mc, const struct pv_vertices_view *f,
                        uint32_t begin, uint32_t end) {
  for (uint32_t v = begin; v < end; v++) {
    const uint32_t matched = find_match(mc, f, v);
    const struct mc_vertex *truth = matched != NONE && s->match[matched] == v ? &mc->at[matched] : NULL;
    const uint32_t tracks = bin_of(score_track_edges, SCORE_TRACK_BINS, f->weight[v]);
    const double distance = found_distance(f, begin, end, v);
    struct score_row *const rows[] = {&s->all, &s->by_tracks[tracks],
                                      &s->by_distance[bin_of(score_distance_edges, SCORE_DISTANCE_BINS, distance)]};
    for (uint32_t k = 0; k < 3; k++) count_found(rows[k], f, v, matched == NONE, truth);
  }
}

static void score_truth(struct vertex_score *s, const struct mc_vertices *mc) {
  for (uint32_t i = 0; i < mc->count; i++) {
    const double distance = true_distance(mc, i);
    const uint32_t tracks = bin_of(score_track_edges, SCORE_TRACK_BINS, mc->at[i].tracks);
    struct score_truth *const counts[] = {
        &s->all.truth, distance > s->isolation ? &s->isolated : &s->close, &s->by_tracks[tracks].truth,
        &s->by_distance[bin_of(score_distance_edges, SCORE_DISTANCE_BINS, distance)].truth};
    for (uint32_t k = 0; k < 4; k++) count_truth(counts[k], mc->at[i].tracks >= s->tracks_min, s->match_count[i]);
  }
}

int vertex_score_event(struct vertex_score *s, const struct mc_vertices *mc, const struct pv_vertices_view *found,
                       uint32_t event) {
  const uint32_t begin = found->offsets[event], end = found->offsets[event + 1];
  if (!mc_reserve((void **)&s->match, &s->match_capacity, mc->count, sizeof *s->match) ||
      !mc_reserve((void **)&s->match_count, &s->match_count_capacity, mc->count, sizeof *s->match_count))
    return SL_ENOMEM;
  for (uint32_t i = 0; i < mc->count; i++) {
    s->match[i] = NONE;
    s->match_count[i] = 0;
  }
  for (uint32_t v = begin; v < end; v++) {
    const uint32_t matched = find_match(mc, found, v);
    if (matched == NONE) continue;
    s->match[matched] = v;
    s->match_count[matched]++;
  }
  score_found(s, mc, found, begin, end);
  score_truth(s, mc);
  return SL_OK;
}
