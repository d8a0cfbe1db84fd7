/* search_reference.h: plain version of velo.search_by_triplet (described in plugins/velo/README.md): each line is
 * compared with all hits of the next pair. Tracks are indexed by their middle hit, which belongs to one track only.
 */
#ifndef SEARCH_REFERENCE_H
#define SEARCH_REFERENCE_H

#include "velo/event_model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { REFERENCE_HITS = 16384, REFERENCE_NONE = -1 };

struct reference_track {
  uint32_t length, skips, is_live;
  uint16_t hits[VELO_MAX_HITS_PER_TRACK];
};

struct reference {
  /* The event's hits, by pair and azimuth. */
  const uint32_t *pair_first, *id;
  const int16_t *phi;
  const float *x, *y, *z, *module_z;
  /* The properties of the algorithm; half the window in units of phi. */
  int32_t phi_window;
  float max_scatter;
  uint32_t max_skipped_modules, first_seed_candidates, seed_candidates;
  uint64_t missing; /* bits: modules */
  /* Results: tracks are indexed by middle hit. */
  uint8_t used[REFERENCE_HITS];
  struct reference_track track[REFERENCE_HITS];
};

static inline int16_t reference_phi(float x, float y) {
  const float r = x > 0 ? (x - fabsf(y)) / (x + fabsf(y)) : (x + fabsf(y)) / (fabsf(y) - x);
  const float phi = (x > 0 ? 8192.0f : 24576.0f) - 8192.0f * r;
  return x == 0 && y == 0 ? 0 : (int16_t)(uint16_t)(int32_t)(y < 0 ? -phi : phi);
}

/* The hit of a pair nearest to the line through h0 and h1, if nearer than *least, which is lowered. Hits must be in the
 * azimuth window around the line at `delta_z` from h0; ties: the first in the window. */
static inline int32_t reference_nearest(const struct reference *r, uint32_t pair, uint32_t h0, uint32_t h1,
                                        float delta_z, int allow_used, float *least) {
  const float dz = r->z[h1] - r->z[h0], tx = (r->x[h1] - r->x[h0]) / dz, ty = (r->y[h1] - r->y[h0]) / dz;
  const int32_t phi = reference_phi(r->x[h0] + tx * delta_z, r->y[h0] + ty * delta_z);
  int32_t best = REFERENCE_NONE, best_place = 0;
  for (uint32_t h2 = r->pair_first[pair]; h2 < r->pair_first[pair + 1]; h2++) {
    const int32_t place = (uint16_t)(r->phi[h2] - (phi - r->phi_window)); /* offset in the window, modulo a full turn */
    const float to_h2 = r->z[h2] - r->z[h0];
    const float dx = r->x[h0] + tx * to_h2 - r->x[h2], dy = r->y[h0] + ty * to_h2 - r->y[h2];
    const float scatter = dx * dx + dy * dy;
    if (place > 2 * r->phi_window || (r->used[h2] && !allow_used)) continue;
    if (scatter < *least || (scatter == *least && best != REFERENCE_NONE && place < best_place)) {
      *least = scatter;
      best = (int32_t)h2;
      best_place = place;
    }
  }
  return best;
}

/* Seeds at most one track per middle hit h1: h0 is of pair `top`, h2 of pair `top` - 2. */
static inline void reference_seed(struct reference *r, uint32_t top) {
  const uint32_t wanted = top == VELO_MODULE_PAIRS - 1 ? r->first_seed_candidates : r->seed_candidates;
  const uint32_t first = r->pair_first[top], n = r->pair_first[top + 1] - first;
  for (uint32_t h1 = r->pair_first[top - 1]; h1 < first; h1++) {
    float least = r->max_scatter;
    uint32_t start = 0, tried = 0;
    while (start < n && r->phi[first + start] < r->phi[h1]) start++;
    for (uint32_t visit = 0; visit < n && tried < wanted && !r->used[h1]; visit++) { /* start, + 1, - 1, + 2, ... */
      const uint32_t h0 = first + (start + (visit % 2 ? (visit + 1) / 2 : n - visit / 2)) % n;
      if (r->used[h0]) continue;
      tried++;
      const float delta_z = r->module_z[2 * (top - 2)] - r->module_z[2 * top];
      const int32_t h2 = reference_nearest(r, top - 2, h0, h1, delta_z, 0, &least);
      if (h2 == REFERENCE_NONE) continue;
      r->track[h1] = (struct reference_track){3, 0, 1, {(uint16_t)h0, (uint16_t)h1, (uint16_t)h2}};
    }
  }
}

/* Adds to each live track the nearest hit of the pair, which may be used already. */
static inline void reference_forward(struct reference *r, uint32_t pair) {
  for (uint32_t h1 = 0; h1 < r->pair_first[VELO_MODULE_PAIRS]; h1++) {
    struct reference_track *t = &r->track[h1];
    if (!t->is_live) continue;
    const uint32_t older = t->hits[t->length - 2], newest = t->hits[t->length - 1];
    const float delta_z = r->module_z[2 * pair + (r->id[older] >> 20 & 1)] - r->z[older];
    float least = r->max_scatter;
    const int32_t h2 = reference_nearest(r, pair, older, newest, delta_z, 1, &least);
    if (h2 == REFERENCE_NONE && (r->missing >> (2 * pair + (r->id[older] >> 20 & 1)) & 1)) continue;
    if (h2 == REFERENCE_NONE) {
      t->is_live = t->skips++ < r->max_skipped_modules;
      continue;
    }
    t->hits[t->length++] = (uint16_t)h2;
    t->skips = 0;
    t->is_live = t->length < VELO_MAX_HITS_PER_TRACK;
    for (uint32_t i = 0; i < t->length; i++) r->used[t->hits[i]] = 1; /* the track has at least four hits */
  }
}

static inline void reference_search(struct reference *r) {
  memset(r->used, 0, sizeof r->used);
  memset(r->track, 0, sizeof r->track);
  reference_seed(r, VELO_MODULE_PAIRS - 1);
  for (uint32_t top = VELO_MODULE_PAIRS - 2; top >= 2; top--) {
    reference_forward(r, top - 2);
    reference_seed(r, top);
  }
}

#endif
