/* compass_reference.h: plain version of ut.compass for one VELO track: pairs one after the other, fitted in double
 * precision; without the second fit and its requirements on momentum and quality. */
#ifndef TEST_UT_COMPASS_REFERENCE_H
#define TEST_UT_COMPASS_REFERENCE_H

#include "ut/event_model.h"

#include <math.h>
#include <string.h>

enum { COMPASS_NONE = UINT16_MAX, COMPASS_HITS_MAX = 4000 };

/* A track, and the UT hits of its event. */
struct compass_input {
  float x, y, z, tx, ty;
  const uint16_t *first, *count; /* UT_WINDOWS */
  const float *hit_x, *hit_z;
  const float *layer_slope; /* dx/dy of the strips */
  float kick_z, pitch;      /* z of the magnet's kick; pitch of all strips */
  uint32_t max_pairs;
};
struct compass_best {
  uint32_t count, pairs;    /* number of pairs tested */
  double combined;          /* chi2 by which candidates are compared */
  uint16_t hits[UT_LAYERS]; /* by layer; COMPASS_NONE: no hit */
};

/* x of the hit's strip at the y of the track. */
static float compass_x(const struct compass_input *t, uint32_t layer, uint32_t hit) {
  return t->hit_x[hit] + (t->y + t->ty * (t->hit_z[hit] - t->z)) * t->layer_slope[layer];
}

/* Lists the hits in the windows of a layer; returns their number. */
static uint32_t compass_hits(const struct compass_input *t, uint32_t layer, uint16_t *list) {
  uint32_t length = 0;
  for (uint32_t w = UT_LAYER_WINDOWS * layer; w < UT_LAYER_WINDOWS * (layer + 1); w++)
    for (uint32_t i = 0; i < t->count[w]; i++) list[length++] = (uint16_t)(t->first[w] + i);
  return length;
}

/* The hit of a layer nearest to the line through a hit, less than 0.8 mm away. */
static uint16_t compass_nearest(const struct compass_input *t, uint32_t layer, uint32_t from_layer, uint32_t from,
                                float tx) {
  static uint16_t list[COMPASS_HITS_MAX];
  const float x = compass_x(t, from_layer, from), z = t->hit_z[from];
  const uint32_t count = compass_hits(t, layer, list);
  float least = 0.8f;
  uint16_t found = COMPASS_NONE;
  for (uint32_t i = 0; i < count; i++) {
    const float distance = fabsf(compass_x(t, layer, list[i]) - (x + tx * (t->hit_z[list[i]] - z)));
    if (distance >= least) continue;
    least = distance;
    found = list[i];
  }
  return found;
}

/* chi2 / (number of hits - 1) of the line through the hits and the position of the track at the kick. */
static double compass_chi2(const struct compass_input *t, const uint16_t *hits, uint32_t count) {
  const double lever = t->kick_z - t->z, weight = 12 / ((double)t->pitch * t->pitch);
  double z[5] = {(double)t->kick_z - UT_MIDDLE_Z}, x[5] = {t->x + t->tx * lever};
  double w[5] = {1 / (1e-4 * lever * 1e-4 * lever)}, m[3] = {0}, r[2] = {0}, chi2 = 0;
  uint32_t points = 1;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    if (hits[layer] == COMPASS_NONE) continue;
    z[points] = (double)t->hit_z[hits[layer]] - UT_MIDDLE_Z;
    x[points] = compass_x(t, layer, hits[layer]);
    w[points++] = weight;
  }
  for (uint32_t i = 0; i < points; i++) {
    m[0] += w[i];
    m[1] += w[i] * z[i];
    m[2] += w[i] * z[i] * z[i];
    r[0] += w[i] * x[i];
    r[1] += w[i] * x[i] * z[i];
  }
  const double at = (r[0] * m[2] - r[1] * m[1]) / (m[0] * m[2] - m[1] * m[1]);
  const double slope = (m[0] * r[1] - m[1] * r[0]) / (m[0] * m[2] - m[1] * m[1]);
  for (uint32_t i = 0; i < points; i++) chi2 += w[i] * (at + slope * z[i] - x[i]) * (at + slope * z[i] - x[i]);
  return chi2 / (count - 1);
}

/* chi2 of the line x = b[0] + b[1] z - b[2] dx/dy through four hits, by Gaussian elimination; 0 for three hits. b[2] is
 * an offset of the track in y. */
static double compass_hits_line_chi2(const struct compass_input *t, const uint16_t *hits, uint32_t count) {
  const double weight = 12 / ((double)t->pitch * t->pitch);
  double m[3][4] = {{0}}, b[3], chi2 = 0;
  if (count < UT_LAYERS) return 0;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const double z = ((double)t->hit_z[hits[layer]] - UT_MIDDLE_Z) / 100;
    const double row[] = {1, z, -(double)t->layer_slope[layer], compass_x(t, layer, hits[layer])};
    for (uint32_t i = 0; i < 3; i++)
      for (uint32_t j = 0; j < 4; j++) m[i][j] += row[i] * row[j];
  }
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t k = i + 1; k < 3; k++)
      for (uint32_t j = 4; j-- > i;) m[k][j] -= m[i][j] * m[k][i] / m[i][i];
  for (uint32_t i = 3; i-- > 0;) {
    b[i] = m[i][3];
    for (uint32_t j = i + 1; j < 3; j++) b[i] -= m[i][j] * b[j];
    b[i] /= m[i][i];
  }
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const double z = ((double)t->hit_z[hits[layer]] - UT_MIDDLE_Z) / 100;
    const double d = compass_x(t, layer, hits[layer]) - b[0] - b[1] * z + b[2] * t->layer_slope[layer];
    chi2 += weight * d * d;
  }
  return chi2;
}

/* For each pair of hits of two layers with a slope near that of the track: adds the nearest hits of the other two
 * layers. */
static void compass_search(const struct compass_input *t, const uint32_t *layers, struct compass_best *best) {
  static uint16_t firsts[COMPASS_HITS_MAX], seconds[COMPASS_HITS_MAX];
  const uint32_t first_count = compass_hits(t, layers[0], firsts), second_count = compass_hits(t, layers[1], seconds);
  const uint32_t between = layers[0] == 0 ? 1 : 2, behind = layers[0] == 0 ? 3 : 0;
  for (uint32_t i = 0; i < first_count; i++)
    for (uint32_t j = 0; j < second_count && best->pairs < t->max_pairs; j++) {
      const uint16_t pair[] = {firsts[i], seconds[j]};
      const float dx = compass_x(t, layers[1], pair[1]) - compass_x(t, layers[0], pair[0]);
      const float tx = dx / (t->hit_z[pair[1]] - t->hit_z[pair[0]]);
      uint16_t hits[UT_LAYERS];
      uint32_t count = 0;
      if (!(fabsf(tx - t->tx) <= 0.018f)) continue;
      best->pairs++;
      hits[layers[0]] = pair[0];
      hits[layers[1]] = pair[1];
      hits[between] = compass_nearest(t, between, layers[0], pair[0], tx);
      hits[behind] = compass_nearest(t, behind, layers[1], pair[1], tx);
      for (uint32_t layer = 0; layer < UT_LAYERS; layer++) count += hits[layer] != COMPASS_NONE;
      if (count < 3) continue;
      const double chi2 = compass_chi2(t, hits, count);
      const double combined = (count == 4 ? 1 : 64) * chi2 + compass_hits_line_chi2(t, hits, count);
      if (chi2 >= 1280 || (best->count > 0 && combined >= best->combined)) continue;
      best->count = count;
      best->combined = combined;
      memcpy(best->hits, hits, sizeof hits);
    }
}

/* The candidate with the smallest combined chi2; ties: the first pair. */
static struct compass_best compass_find(const struct compass_input *t) {
  const uint32_t forward[] = {0, 2}, backward[] = {3, 1};
  struct compass_best best = {0};
  compass_search(t, forward, &best);
  compass_search(t, backward, &best);
  return best;
}

#endif
