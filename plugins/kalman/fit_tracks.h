/* fit_tracks.h: tracks of kalman.fit and their fits, an array element per lane. */
#ifndef KALMAN_FIT_TRACKS_H
#define KALMAN_FIT_TRACKS_H

#include "fit_steps.h"

enum { REMOVED_MAX = 2, NO_HIT = 255, LAYERS = KALMAN_LEGS };

/* Detectors, as indices. */
enum { VELO, UT, SCIFI, DETECTORS };

/* A fit: an array element per lane. Hits are numbered like the bits of `removed`. */
struct fit_result {
  float qop[SL_LANES], c44[SL_LANES], chi2[DETECTORS][SL_LANES];
  float x[SL_LANES], y[SL_LANES], tx[SL_LANES], ty[SL_LANES]; /* at the last plane */
  int32_t hits[DETECTORS][SL_LANES], removed[REMOVED_MAX][SL_LANES];
};

/* Tracks to be fitted, one per lane. */
struct fit_tracks {
  uint32_t track[SL_LANES], rounds[SL_LANES];
  float qop[SL_LANES], velo_loss[SL_LANES];
  int32_t velo_end[SL_LANES], velo_count[SL_LANES];                       /* hit n by ascending z: velo_end - 1 - n */
  int32_t hits[DETECTORS][SL_LANES], removed[REMOVED_MAX][SL_LANES];      /* of the next fit */
  float x[LAYERS][SL_LANES], z[LAYERS][SL_LANES], dxdy[LAYERS][SL_LANES]; /* downstream of the VELO */
  float dzdy[LAYERS][SL_LANES], variance[LAYERS][SL_LANES];               /* variance 0: no hit */
  struct fit_result accepted;
};

/* The last fit. */
struct fit_pass {
  struct fit_state s;
  sl_f32s chi2[DETECTORS], worst;
  sl_i32s worst_hit;
};

/* The last fit, as numbers of lanes. */
struct fit_numbers {
  struct fit_result result;
  float worst[SL_LANES];
  int32_t worst_hit[SL_LANES];
};

static SL_DEVICE void take_hit(struct fit_tracks *t, uint32_t lane, uint32_t layer, float x, float z, float dxdy,
                               float dzdy, float variance) {
  t->x[layer][lane] = x;
  t->z[layer][lane] = z;
  t->dxdy[layer][lane] = dxdy;
  t->dzdy[layer][lane] = dzdy;
  t->variance[layer][lane] = variance;
}

static SL_DEVICE float chi2_of(const struct fit_result *r, uint32_t lane) {
  return r->chi2[VELO][lane] + r->chi2[UT][lane] + r->chi2[SCIFI][lane];
}

/* 2 per VELO hit, 1 per other hit, less five parameters. */
static SL_DEVICE int32_t ndof_of(const struct fit_result *r, uint32_t lane) {
  return 2 * r->hits[VELO][lane] + r->hits[UT][lane] + r->hits[SCIFI][lane] - 5;
}

static SL_DEVICE void copy_lane(struct fit_result *to, const struct fit_result *from, uint32_t lane) {
  to->qop[lane] = from->qop[lane];
  to->c44[lane] = from->c44[lane];
  to->x[lane] = from->x[lane];
  to->y[lane] = from->y[lane];
  to->tx[lane] = from->tx[lane];
  to->ty[lane] = from->ty[lane];
  for (uint32_t d = 0; d < DETECTORS; d++) to->chi2[d][lane] = from->chi2[d][lane];
  for (uint32_t d = 0; d < DETECTORS; d++) to->hits[d][lane] = from->hits[d][lane];
  for (uint32_t k = 0; k < REMOVED_MAX; k++) to->removed[k][lane] = from->removed[k][lane];
}

#endif
