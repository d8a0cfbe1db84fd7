/* candidates_case.c: see candidates_case.h. */
#include "candidates_case.h"

#include <math.h>

const uint32_t case_x_layers[SCIFI_X_LAYERS] = {0, 3, 4, 7, 8, 11};
const uint32_t case_stereo_layers[SCIFI_X_LAYERS] = {1, 2, 5, 6, 9, 10};
const double case_z[SCIFI_LAYERS] = {7826, 7896, 7966, 8036, 8508, 8578, 8648, 8718, 9193, 9263, 9333, 9403};
static const double z_ut = 2642, z_reference = 8520;

double case_dxdy(uint32_t layer) {
  static const double of_station[] = {0, 0.0874892, -0.0874892, 0};
  return of_station[layer % 4];
}

uint32_t random_below(struct case_random *r, uint32_t limit) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(r->state >> 33) % limit;
}

float random_in(struct case_random *r, float low, float high) {
  return low + (high - low) * (float)random_below(r, 1 << 24) / (float)(1 << 24);
}

/* ------------------------------------------------------------------------------------------------------- cases */

void candidates_next_event(struct candidates_case *c) {
  assert_true(c->events < CASE_EVENTS_MAX);
  const uint32_t event = ++c->events;
  c->track_offsets[event] = c->track_offsets[event - 1];
  c->hit_offsets[event] = c->hit_offsets[event - 1];
}

uint16_t candidates_add_hit(struct candidates_case *c, uint32_t layer, double x) {
  const uint32_t hit = c->hit_offsets[c->events]++;
  assert_true(hit < CASE_HITS_MAX);
  c->hit_id[hit] = (uint32_t)SCIFI_LHCB_ID | (layer + 4) << SCIFI_LAYER_BIT | hit;
  c->hit_x[hit] = (float)x;
  c->hit_z[hit] = (float)(case_z[layer] + 0.1);
  return (uint16_t)(hit - c->hit_offsets[c->events - 1]);
}

uint32_t candidates_add_track(struct candidates_case *c, float x, float y, float tx, float ty) {
  const uint32_t track = c->track_offsets[c->events]++;
  assert_true(track < CASE_TRACKS_MAX);
  c->x[track] = x;
  c->y[track] = y;
  c->tx[track] = tx;
  c->ty[track] = ty;
  return track;
}

uint32_t case_triplet(uint32_t first, uint32_t middle, uint32_t last, uint32_t seed, uint32_t right) {
  return last | middle << 6 | first << 12 | seed << 18 | right << 19;
}

static int compare_floats(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

/* x in a layer of a track with this bend. */
static double bent_x(const struct candidates_case *c, uint32_t track, double bend, uint32_t layer) {
  const double dz = case_z[layer] - z_ut, y = c->y[track] + c->ty[track] * dz;
  const double x =
      c->x[track] + c->tx[track] * dz + bend * (case_z[layer] - 5200) * (1 + 1e-5 * (case_z[layer] - 5200));
  return x - y * case_dxdy(layer);
}

/* Adds the hits of all tracks of the event in a layer, and as many noise hits. */
static void fill_layer(struct candidates_case *c, struct case_random *r, const float *bends, uint32_t layer) {
  float x[2 * CASE_TRACKS_MAX];
  uint32_t count = 0;
  for (uint32_t i = c->track_offsets[c->events - 1]; i < c->track_offsets[c->events]; i++) {
    if (random_below(r, 8) > 0) x[count++] = (float)bent_x(c, i, bends[i], layer) + random_in(r, -0.3f, 0.3f);
    if (random_below(r, 2) > 0) x[count++] = (float)bent_x(c, i, bends[i], layer) + random_in(r, -20, 20);
  }
  qsort(x, count, sizeof x[0], compare_floats);
  for (uint32_t i = 0; i < count; i++) candidates_add_hit(c, layer, x[i]);
}

/* A window: a part of the hits of a layer, which begin at `begin`, around the position of the track. */
static void fill_window(struct candidates_case *c, struct case_random *r, uint32_t track, uint32_t w, double x,
                        uint32_t begin, uint32_t end) {
  const uint32_t event_first = c->hit_offsets[c->events - 1];
  const double left = random_in(r, 1, 60), right = random_in(r, 1, 60);
  uint32_t first = begin;
  while (first < end && c->hit_x[event_first + first] < x - left) first++;
  uint32_t last = first;
  while (last < end && last - first < 60 && c->hit_x[event_first + last] < x + right) last++;
  c->first[track * FORWARD_WINDOWS + w] = (uint16_t)first;
  c->count[track * FORWARD_WINDOWS + w] = (uint16_t)(last - first);
}

/* Index in a window: random, or mostly that of the hit nearest to the track. */
static uint32_t some_place(const struct candidates_case *c, struct case_random *r, uint32_t track, uint32_t w,
                           double x) {
  const uint32_t count = c->count[track * FORWARD_WINDOWS + w];
  const float *hits = c->hit_x + c->hit_offsets[c->events - 1] + c->first[track * FORWARD_WINDOWS + w];
  const uint32_t is_next = random_below(r, 4) > 0;
  uint32_t place = random_below(r, count);
  for (uint32_t i = 0; i < count; i++)
    if (is_next && fabs(hits[i] - x) < fabs(hits[place] - x)) place = i;
  return place;
}

static void fill_triplets(struct candidates_case *c, struct case_random *r, uint32_t track, double bend) {
  const uint16_t *count = c->count + (size_t)track * FORWARD_WINDOWS;
  const uint32_t tries = random_below(r, FORWARD_TRIPLETS_MAX + 1);
  for (uint32_t k = 0; k < tries; k++) {
    const uint32_t seed = random_below(r, 2), right = random_below(r, 2);
    uint32_t places[3], is_whole = 1;
    for (uint32_t s = 0; s < 3; s++) {
      const uint32_t i = 2 * s + seed, w = FORWARD_LAYER_WINDOWS * i + right;
      places[s] = count[w] > 0 ? some_place(c, r, track, w, bent_x(c, track, bend, case_x_layers[i])) : 0;
      is_whole &= count[w] > 0;
    }
    if (is_whole)
      c->triplet[track * FORWARD_TRIPLETS_MAX + c->triplet_count[track]++] =
          case_triplet(places[0], places[1], places[2], seed, right);
  }
}

static void fill_event(struct candidates_case *c, struct case_random *r, uint32_t tracks) {
  float bends[CASE_TRACKS_MAX];
  uint32_t layer_first[SCIFI_LAYERS + 1];
  candidates_next_event(c);
  for (uint32_t i = 0; i < tracks; i++) {
    const float tx = random_in(r, -0.2f, 0.2f), ty = random_in(r, 0.01f, 0.15f);
    bends[candidates_add_track(c, 2642 * tx, 2642 * ty, tx, ty)] = random_in(r, -0.05f, 0.05f);
  }
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) {
    layer_first[layer] = c->hit_offsets[c->events] - c->hit_offsets[c->events - 1];
    fill_layer(c, r, bends, layer);
    layer_first[layer + 1] = c->hit_offsets[c->events] - c->hit_offsets[c->events - 1];
  }
  for (uint32_t i = c->track_offsets[c->events - 1]; i < c->track_offsets[c->events]; i++) {
    for (uint32_t w = 0; w < FORWARD_WINDOWS; w++) {
      const uint32_t k = w / FORWARD_LAYER_WINDOWS;
      const uint32_t layer = w % FORWARD_LAYER_WINDOWS < 2 ? case_x_layers[k] : case_stereo_layers[k];
      fill_window(c, r, i, w, bent_x(c, i, bends[i], layer), layer_first[layer], layer_first[layer + 1]);
    }
    fill_triplets(c, r, i, bends[i]);
  }
}

void candidates_fill(struct candidates_case *c, uint64_t seed, uint32_t events, uint32_t tracks_max) {
  struct case_random r = {seed};
  memset(c, 0, sizeof *c);
  for (uint32_t event = 0; event < events; event++) fill_event(c, &r, random_below(&r, tracks_max + 1));
}

/* ------------------------------------------------------------------------------------------------------- plain */

double plain_x(const struct plain_curve *curve, double z) {
  const double d = z - z_reference;
  return curve->c + curve->b * d + curve->a * d * d * (1 + curve->r * d);
}

/* Cramer's rule. */
static double determinant(double m[3][3]) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static struct plain_curve curve_through(const double *z, const double *x, double r) {
  double results[3], m[3][3];
  for (int column = -1; column < 3; column++) {
    for (int row = 0; row < 3; row++) {
      const double d = z[row] - z_reference, powers[3] = {d * d * (1 + r * d), d, 1};
      for (int k = 0; k < 3; k++) m[row][k] = k == column ? x[row] : powers[k];
    }
    const double value = determinant(m);
    if (column < 0)
      results[0] = results[1] = results[2] = 1 / value;
    else
      results[column] *= value;
  }
  return (struct plain_curve){results[0], results[1], results[2], r};
}

static double power(double x, int n) { return n > 0 ? x * power(x, n - 1) : 1; }

static double plain_y(const struct candidates_case *c, const struct forward_constant *forward, uint32_t track,
                      uint32_t layer, double x) {
  /* powers of the shift in x, tx and ty */
  static const int powers[FORWARD_Y_TERMS][3] = {{1, 1, 1}, {1, 3, 1}, {1, 1, 3}, {1, 5, 1}, {1, 3, 3}, {1, 1, 5},
                                                 {2, 0, 1}, {2, 2, 1}, {2, 0, 3}, {2, 4, 1}, {2, 2, 3}, {2, 0, 5},
                                                 {3, 1, 1}, {3, 3, 1}, {3, 1, 3}, {3, 5, 1}, {3, 3, 3}, {3, 1, 5}};
  const float *coefficients = forward->view.y_shift + (size_t)FORWARD_Y_TERMS * layer;
  const double tx = c->tx[track], ty = c->ty[track], dz = case_z[layer] - z_ut, shift = x - (c->x[track] + tx * dz);
  double y = c->y[track] + ty * dz;
  for (uint32_t i = 0; i < FORWARD_Y_TERMS; i++)
    y += (double)coefficients[i] * power(shift, powers[i][0]) * power(tx, powers[i][1]) * power(ty, powers[i][2]);
  return y;
}

struct plain_added {
  uint32_t is_there, hit;
  double chi2;
};

static struct plain_added nearest(const struct candidates_case *c, uint32_t event, uint32_t track, uint32_t w, double x,
                                  double max_chi2) {
  struct plain_added best = {0, 0, max_chi2};
  const uint16_t first = c->first[track * FORWARD_WINDOWS + w], count = c->count[track * FORWARD_WINDOWS + w];
  for (uint32_t hit = first; hit < (uint32_t)first + count; hit++) {
    const double off = c->hit_x[c->hit_offsets[event] + hit] - x;
    if (off * off < best.chi2) best = (struct plain_added){1, hit, off * off};
  }
  return best;
}

static void plain_grow(const struct candidates_case *c, const struct forward_constant *forward, uint32_t event,
                       uint32_t word, double max_chi2_x, double max_chi2_stereo, struct plain_candidate *found) {
  const uint32_t track = c->track_offsets[event] + found->track, seed = word >> 18 & 1, right = word >> 19 & 1;
  const uint32_t places[3] = {word >> 12 & 63, word >> 6 & 63, word & 63};
  const float *hit_x = c->hit_x + c->hit_offsets[event], *ratio = forward->view.constants + FORWARD_D_RATIO;
  int chosen[SCIFI_LAYERS];
  double z[3], x[3];
  for (uint32_t k = 0; k < SCIFI_LAYERS; k++) chosen[k] = -1;
  for (uint32_t k = 0; k < 3; k++) {
    const uint32_t i = 2 * k + seed, layer = case_x_layers[i];
    chosen[layer] = (int)(c->first[track * FORWARD_WINDOWS + FORWARD_LAYER_WINDOWS * i + right] + places[k]);
    z[k] = case_z[layer];
    x[k] = hit_x[chosen[layer]];
  }
  const double y = c->y[track] + c->ty[track] * (z[1] - z_ut), radius = sqrt(25e-8 * x[1] * x[1] + 1e-6 * y * y);
  found->curve = curve_through(z, x, -(ratio[0] + ratio[1] * radius + ratio[2] * radius * radius));
  found->quality = 0;
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t layer = case_x_layers[i];
    if (i % 2 == seed) continue;
    const struct plain_added a =
        nearest(c, event, track, FORWARD_LAYER_WINDOWS * i + right, plain_x(&found->curve, case_z[layer]), max_chi2_x);
    if (!a.is_there) continue;
    chosen[layer] = (int)a.hit;
    found->quality += a.chi2 / max_chi2_x;
  }
  const double limit = max_chi2_stereo * ((double)fabsf(c->tx[track]) + (double)fabsf(c->ty[track]));
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t layer = case_stereo_layers[i];
    const double at = plain_x(&found->curve, case_z[layer]);
    const struct plain_added a = nearest(c, event, track, FORWARD_LAYER_WINDOWS * i + 2 + right,
                                         at - case_dxdy(layer) * plain_y(c, forward, track, layer, at), limit);
    if (!a.is_there) continue;
    chosen[layer] = (int)a.hit;
    found->quality += a.chi2 / limit;
  }
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++)
    if (chosen[layer] >= 0) found->hits[found->hit_count++] = (uint16_t)chosen[layer];
  const struct plain_candidate none = {.track = found->track};
  if (found->hit_count < 9) *found = none;
}

uint32_t plain_candidates(const struct candidates_case *c, const struct forward_constant *forward, uint32_t event,
                          double max_chi2_x, double max_chi2_stereo, struct plain_candidate *candidates) {
  uint32_t count = 0;
  for (uint32_t track = c->track_offsets[event]; track < c->track_offsets[event + 1]; track++)
    for (uint32_t k = 0; k < c->triplet_count[track]; k++) {
      struct plain_candidate *found = &candidates[count++];
      memset(found, 0, sizeof *found);
      found->track = track - c->track_offsets[event];
      plain_grow(c, forward, event, c->triplet[track * FORWARD_TRIPLETS_MAX + k], max_chi2_x, max_chi2_stereo, found);
    }
  return count;
}
