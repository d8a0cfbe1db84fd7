/* confirm_reference.h: plain version of seeding.confirm: for a track in x layers every start hit is followed through
 * all stereo layers, one by one, and fitted in double precision. Hits are selected in floats, as in the algorithm, so
 * that no selection depends on rounding.
 */
#ifndef TEST_SEEDING_CONFIRM_REFERENCE_H
#define TEST_SEEDING_CONFIRM_REFERENCE_H

#include "seed_support.h"

#include <math.h>

enum { CONFIRM_LAYERS = SCIFI_STEREO_LAYERS, CONFIRM_NONE = UINT16_MAX };
static const uint32_t confirm_order[CONFIRM_LAYERS] = {5, 1, 10, 6, 9, 2}; /* order of the search of layers */
static double confirm_dxdy(uint32_t layer) { return layer % 2 ? 0.0874892 : -0.0874892; }

/* A track in x layers: x = a + b d + c bend(d). */
struct confirm_track {
  const struct seeding_constants_view *constants;
  const float *hit_x;         /* x of the event's hits */
  const uint16_t *zone_first; /* first hit of each zone */
  uint32_t upper, x_hits;
  float a, b, c;
};
struct confirm_found {
  uint16_t hits[CONFIRM_LAYERS]; /* in the order of the search */
  uint32_t count;
  double y, ty, chi2;
};

/* z from which the track seems to come in y, for the default focusing. */
static float confirm_focus(const struct confirm_track *t) {
  const float x0 = t->a - t->b * 8520.0f;
  return 1e-4f * (x0 * x0);
}

/* Largest mean squared residual in y. */
static double confirm_limit(uint32_t hits) { return hits == 12 ? 1000 : hits == 11 ? 100 : hits == 10 ? 24 : 2; }

static float confirm_x(const struct confirm_track *t, uint32_t layer) {
  return t->a + t->b * t->constants->d[layer] + t->c * t->constants->bend[layer];
}

/* The hit of a layer nearest to x, at most `limit` away, with y from -20 to 2700 mm on the track's side. */
static uint32_t confirm_nearest(const struct confirm_track *t, uint32_t layer, float x, float limit) {
  const float dxdy = (float)confirm_dxdy(layer), side = t->upper ? 1 : -1;
  const float end_1 = confirm_x(t, layer) + -side * dxdy * -20.0f;
  const float end_2 = confirm_x(t, layer) + -side * dxdy * 2700.0f;
  const uint16_t *zone = t->zone_first + 2 * layer + t->upper;
  uint32_t nearest = CONFIRM_NONE;
  for (uint32_t h = zone[0]; h < zone[1]; h++) {
    const float off = fabsf(t->hit_x[h] - x);
    if (off > limit || t->hit_x[h] < fminf(end_1, end_2) || t->hit_x[h] > fmaxf(end_1, end_2)) continue;
    if (nearest != CONFIRM_NONE && off == limit) continue; /* ties: the lower index */
    nearest = h;
    limit = off;
  }
  return nearest;
}

/* Follows start hit `hit` of the `first`-th layer: the mean of the slopes so far predicts the position in the next
 * layer. */
static void confirm_follow(const struct confirm_track *t, uint32_t first, uint32_t hit, struct confirm_found *f) {
  float ty = 0;
  f->count = 0;
  for (uint32_t k = 0; k < CONFIRM_LAYERS; k++) {
    const uint32_t layer = confirm_order[k];
    const float x = confirm_x(t, layer), dxdy = (float)confirm_dxdy(layer);
    const float z = t->constants->d[layer] + 8520.0f + confirm_focus(t);
    f->hits[k] = CONFIRM_NONE;
    if (k < first) continue;
    f->hits[k] = (uint16_t)(k == first ? hit : confirm_nearest(t, layer, x - ty * (dxdy * z), 1.0f));
    if (f->hits[k] == CONFIRM_NONE) continue;
    const float here = (x - t->hit_x[f->hits[k]]) / dxdy * (1.0f / z);
    ty = f->count++ == 0 ? here : 0.5f * (ty + here);
  }
}

/* Least-squares fit of y = y_0 + ty d. */
static void confirm_fit(const struct confirm_track *t, struct confirm_found *f) {
  double n = 0, d_sum = 0, y_sum = 0, dd = 0, dy = 0, d[CONFIRM_LAYERS], y[CONFIRM_LAYERS];
  for (uint32_t k = 0; k < CONFIRM_LAYERS; k++) {
    if (f->hits[k] == CONFIRM_NONE) continue;
    const uint32_t layer = confirm_order[k];
    d[k] = t->constants->d[layer];
    y[k] = ((double)confirm_x(t, layer) - t->hit_x[f->hits[k]]) / confirm_dxdy(layer);
    n++, d_sum += d[k], y_sum += y[k], dd += d[k] * d[k], dy += d[k] * y[k];
  }
  f->ty = (n * dy - d_sum * y_sum) / (n * dd - d_sum * d_sum);
  f->y = (y_sum - f->ty * d_sum) / n;
  f->chi2 = 0;
  for (uint32_t k = 0; k < CONFIRM_LAYERS; k++)
    if (f->hits[k] != CONFIRM_NONE) f->chi2 += pow(y[k] - f->y - f->ty * d[k], 2);
}

/* The candidate with the most hits (ties: smaller chi2), if it has nine hits including those in x layers, and residuals
 * within the limit. `is_close`: the chi2 of another candidate, or a limit, is equal except for rounding. */
static struct confirm_found confirm_best(const struct confirm_track *t, uint32_t *is_close) {
  struct confirm_found best = {{0}, 0, 0, 0, 0};
  int at_limit = 0;
  *is_close = 0;
  for (uint32_t first = 0; first < 2; first++) {
    const uint16_t *zone = t->zone_first + 2 * confirm_order[first] + t->upper;
    for (uint32_t hit = zone[0]; hit < zone[1]; hit++) {
      struct confirm_found f;
      if (confirm_nearest(t, confirm_order[first], t->hit_x[hit], 0) != hit) continue; /* outside */
      confirm_follow(t, first, hit, &f);
      if (t->x_hits + f.count < 9) continue;
      confirm_fit(t, &f);
      const double limit = confirm_limit(t->x_hits + f.count) * (f.count - 2);
      const int is_at_limit = fabs(f.chi2 - limit) < 1e-3 + 1e-3 * limit;
      if (f.count >= best.count) at_limit |= is_at_limit;
      if (f.chi2 > limit) continue;
      if (f.count < best.count) continue;
      const int is_same = memcmp(f.hits, best.hits, sizeof f.hits) == 0;
      const double margin = 1e-3 + 1e-3 * best.chi2;
      if (f.count > best.count) *is_close = 0;
      if (f.count == best.count && !is_same && fabs(f.chi2 - best.chi2) < margin) *is_close = 1;
      if (f.count > best.count || is_same || f.chi2 <= best.chi2) best = f;
    }
  }
  if (at_limit) *is_close = 1;
  return best;
}

#endif
