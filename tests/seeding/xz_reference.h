/* xz_reference.h: plain version of seeding.xz: all triplets of hits, one after the other, fitted in double precision.
 * Hits are selected in floats, as in the algorithm, so that no selection depends on rounding.
 */
#ifndef TEST_SEEDING_XZ_REFERENCE_H
#define TEST_SEEDING_XZ_REFERENCE_H

#include "seed_support.h"

#include <math.h>

enum { XZ_TRACKS_MAX = 1 << 16, XZ_PARAMETERS = 3 };
struct xz_track {
  uint16_t hits[SCIFI_X_LAYERS];
  uint32_t count, kind; /* half, and case << 1 */
  double a, b, c, score;
};
struct xz_reference {
  const struct seeding_constants_view *constants;
  const float *x;             /* x of the event's hits */
  const uint16_t *zone_first; /* first hit of each zone */
  struct xz_track *tracks;    /* XZ_TRACKS_MAX */
  uint32_t count;
};

/* Least-squares fit of x = a + b d + c bend(d) to the hits of a track, by Gaussian elimination. */
static void xz_fit(struct xz_track *t, const uint32_t *layers, const double *x) {
  double m[XZ_PARAMETERS][XZ_PARAMETERS + 1] = {{0}}, p[XZ_PARAMETERS];
  for (uint32_t n = 0; n < t->count; n++) {
    const double row[] = {1, seed_x(0, 1, 0, layers[n]), 1e-5 * seed_x(0, 0, 1, layers[n]), x[n]};
    for (uint32_t i = 0; i < XZ_PARAMETERS; i++)
      for (uint32_t k = 0; k <= XZ_PARAMETERS; k++) m[i][k] += row[i] * row[k];
  }
  for (uint32_t i = 0; i < XZ_PARAMETERS; i++)
    for (uint32_t k = i + 1; k < XZ_PARAMETERS; k++)
      for (uint32_t j = XZ_PARAMETERS + 1; j-- > i;) m[k][j] -= m[k][i] / m[i][i] * m[i][j];
  for (uint32_t i = XZ_PARAMETERS; i-- > 0;) {
    p[i] = m[i][XZ_PARAMETERS];
    for (uint32_t k = i + 1; k < XZ_PARAMETERS; k++) p[i] -= m[i][k] * p[k];
    p[i] /= m[i][i];
  }
  t->a = p[0], t->b = p[1], t->c = 1e-5 * p[2], t->score = 0;
  for (uint32_t n = 0; n < t->count; n++) t->score += pow(x[n] - seed_x(t->a, t->b, t->c, layers[n]), 2);
}

/* Part of the score for the difference between the curvature and that of the momentum, by LHCb's calibration. */
static double xz_curvature_score(const struct xz_track *t) {
  const double x0 = t->a - 8520 * t->b, inverse_p = 1.6322e-7 * fabs(x0) - 5.0217e-12 * x0 * x0;
  const double off = (t->c + (x0 < 0 ? -0.0249 : 0.0249) * inverse_p) / 2.5e-6;
  return off * off / (1 + off * off);
}

/* Adds a track with these hits, one per layer or UINT32_MAX, if there are five or six. */
static void xz_add(struct xz_reference *r, uint32_t half, uint32_t of_case, const uint32_t *by_layer) {
  struct xz_track *t = &r->tracks[r->count];
  uint32_t layers[SCIFI_X_LAYERS];
  double hit_x[SCIFI_X_LAYERS];
  assert_true(r->count < XZ_TRACKS_MAX);
  memset(t, 0, sizeof *t);
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    if (by_layer[i] == UINT32_MAX) continue;
    layers[t->count] = i;
    hit_x[t->count] = r->x[by_layer[i]];
    t->hits[t->count++] = (uint16_t)by_layer[i];
  }
  if (t->count < 5) return;
  xz_fit(t, layers, hit_x);
  t->kind = half | of_case << 1;
  t->score = t->score * (t->count == 5 ? 10 : 1) + (of_case ? 0.01 : 0) + xz_curvature_score(t);
  r->count++;
}

/* The hit of an x layer nearest to `should`, at most 0.5 mm away (ties: the lower index), or UINT32_MAX. */
static uint32_t xz_nearest(const struct xz_reference *r, uint32_t zone, float should) {
  uint32_t found = UINT32_MAX;
  float nearest = 0.5f;
  for (uint32_t h = r->zone_first[zone]; h < r->zone_first[zone + 1]; h++) {
    const float off = fabsf(r->x[h] - should);
    const int is_same = found != UINT32_MAX && r->x[h] == r->x[found];
    if (found == UINT32_MAX ? off > nearest : off >= nearest && !(is_same && r->x[h] < should)) continue;
    nearest = off;
    found = h;
  }
  return found;
}

/* The middle hit must be in the window given by the momentum, which follows from x of the line at z = 0; the curve
 * through the three hits then predicts the hits of the other three layers. */
static void xz_try_triplet(struct xz_reference *r, uint32_t half, uint32_t of_case, uint32_t first, uint32_t middle,
                           uint32_t last) {
  const float *x = r->x, *d = r->constants->d, *p = r->constants->constants + SEED_INVERSE_P;
  const float *n = r->constants->cases + (size_t)SEED_CASE_NUMBERS * of_case;
  const float slope = (x[last] - x[first]) / n[SEED_CASE_LENGTH], at = x[first] - d[x_layer(of_case)] * slope;
  const float x0 = x[first] - slope * n[SEED_CASE_Z_FIRST], size = fabsf(x0);
  const float bend = n[SEED_CASE_PER_P] * (size * (p[0] + p[1] * size)), least = n[SEED_CASE_LEAST];
  const float line = at + d[x_layer(2 + of_case)] * slope, plus = least + bend, minus = 2 * least - bend;
  const float end_1 = x0 > 0 ? line + plus : line - plus, end_2 = x0 > 0 ? line - minus : line + minus;
  if (x[middle] < fminf(end_1, end_2) || x[middle] > fmaxf(end_1, end_2)) return;
  const float c = (line - x[middle]) * n[SEED_CASE_CURVATURE], b = slope - c * n[SEED_CASE_SLOPE];
  const float a = at - c * n[SEED_CASE_X];
  uint32_t by_layer[SCIFI_X_LAYERS];
  by_layer[of_case] = first, by_layer[2 + of_case] = middle, by_layer[4 + of_case] = last;
  for (uint32_t i = 1 - of_case; i < SCIFI_X_LAYERS; i += 2)
    by_layer[i] = xz_nearest(r, x_zone(i, half), a + b * d[x_layer(i)] + c * r->constants->bend[x_layer(i)]);
  xz_add(r, half, of_case, by_layer);
}

/* All tracks of an event, in the order of half, case, first, last and middle hit. */
static void xz_find(struct xz_reference *r) {
  const uint16_t *zones = r->zone_first;
  r->count = 0;
  for (uint32_t half = 0; half < 2; half++)
    for (uint32_t of_case = 0; of_case < 2; of_case++) {
      const uint32_t f = x_zone(of_case, half), m = x_zone(2 + of_case, half), l = x_zone(4 + of_case, half);
      const float *n = r->constants->cases + (size_t)SEED_CASE_NUMBERS * of_case;
      for (uint32_t first = zones[f]; first < zones[f + 1]; first++)
        for (uint32_t last = zones[l]; last < zones[l + 1]; last++) {
          const float middle_x = r->x[first] * n[SEED_CASE_SCALE];
          if (r->x[last] < middle_x - n[SEED_CASE_RANGE] || r->x[last] > middle_x + n[SEED_CASE_RANGE]) continue;
          for (uint32_t middle = zones[m]; middle < zones[m + 1]; middle++)
            xz_try_triplet(r, half, of_case, first, middle, last);
        }
    }
}

#endif
