/* match_ut_reference.h: plain version of seeding.match_ut: for one match a loop over all hits of each layer. */
#ifndef TEST_SEEDING_MATCH_UT_REFERENCE_H
#define TEST_SEEDING_MATCH_UT_REFERENCE_H

#include "seeding/event_model.h"
#include "ut/event_model.h"

#include <math.h>

/* A match with its state at the end of the VELO, and the hits of its event. */
struct match_ut_input {
  float x, y, z, tx, ty, qop;
  const float *hit_x, *hit_y, *hit_y_end, *hit_z;
  uint32_t layer_first[UT_LAYERS + 1]; /* first hit of each layer */
  const float *layer_slope;            /* dx/dy of its strips */
  const float *constants;              /* of seeding.matching_constants */
};
struct match_ut_found {
  uint32_t count, hits[UT_LAYERS];
  float bend, score; /* the trajectory is x + tx d + bend d^2, d = z - z0; the sum of the squares of residuals */
};

/* Half a search window: linear in |q/p|, between two limits. */
static float match_ut_window(const float *n, float qop) { return fminf(fmaxf(n[0] + n[1] * fabsf(qop), n[2]), n[3]); }

/* The residual of a hit in x, or more than any window if the trajectory misses the strip in y. */
static float match_ut_residual(const struct match_ut_input *m, uint32_t hit, uint32_t layer, float bend) {
  const float tolerance = m->constants[MATCH_UT_Y_TOLERANCE], d = m->hit_z[hit] - m->z, y = m->y + m->ty * d;
  if (y < m->hit_y[hit] - tolerance || y > m->hit_y_end[hit] + tolerance) return 1e9f;
  return m->hit_x[hit] + y * m->layer_slope[layer] - (m->x + m->tx * d + bend * (d * d));
}

/* The bend with which the trajectory passes a hit. */
static float match_ut_bend_with(const struct match_ut_input *m, float bend, uint32_t hit, float residual) {
  const float d = m->hit_z[hit] - m->z;
  return bend + residual / (d * d);
}

/* The candidate that a hit seeds: in each further layer the nearest hit in the window is added, and the bend becomes
 * the mean of its own and the hit's. */
static struct match_ut_found match_ut_follow(const struct match_ut_input *m, uint32_t layer, uint32_t hit, float bend) {
  struct match_ut_found f = {1, {hit}, 0, 0};
  f.bend = match_ut_bend_with(m, bend, hit, match_ut_residual(m, hit, layer, bend));
  for (uint32_t next = layer + 1; next < UT_LAYERS; next++) {
    const float limit = match_ut_window(m->constants + MATCH_UT_TIGHT + 4 * (next - 1), m->qop);
    uint32_t nearest = UINT32_MAX;
    float least = 2e9f;
    for (uint32_t h = m->layer_first[next]; h < m->layer_first[next + 1]; h++) {
      const float residual = match_ut_residual(m, h, next, f.bend);
      if (fabsf(residual) <= limit && fabsf(residual) < fabsf(least)) nearest = h, least = residual;
    }
    if (nearest == UINT32_MAX) continue;
    f.hits[f.count++] = nearest;
    f.score += least * least;
    f.bend = 0.5f * (f.bend + match_ut_bend_with(m, f.bend, nearest, least));
  }
  return f;
}

/* The candidate with the most hits; ties: the smaller score, then the lower first hit. */
static struct match_ut_found match_ut_find(const struct match_ut_input *m) {
  const float bend = m->constants[MATCH_UT_BEND] + m->constants[MATCH_UT_BEND + 1] * -m->qop;
  struct match_ut_found best = {0, {0}, bend, 0};
  for (uint32_t layer = 0; layer < 3; layer++)
    for (uint32_t h = m->layer_first[layer]; h < m->layer_first[layer + 1]; h++) {
      const float limit = match_ut_window(m->constants + MATCH_UT_LOOSE + 4 * layer, m->qop);
      if (fabsf(match_ut_residual(m, h, layer, bend)) > limit) continue;
      const struct match_ut_found f = match_ut_follow(m, layer, h, bend);
      if (f.count > best.count || (f.count == best.count && f.score < best.score)) best = f;
    }
  return best;
}

#endif
