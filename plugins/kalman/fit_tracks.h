/* fit_tracks.h: tracks of kalman.fit and their fits, an array element per lane. */
#ifndef KALMAN_FIT_TRACKS_H
#define KALMAN_FIT_TRACKS_H

#include "fit_steps.h"
#include "kalman/event_model.h"

enum { REMOVED_MAX = 2, NO_HIT = 255, LAYERS = KALMAN_LEGS };

/* Detectors, as indices. */
enum { VELO, UT, SCIFI, DETECTORS };

/* Tracks to be fitted, one per lane. Hits are numbered like the bits of `removed`. */
struct fit_tracks {
  uint32_t track[SL_LANES];
  float qop[SL_LANES], velo_loss[SL_LANES];
  int32_t velo_end[SL_LANES], velo_count[SL_LANES]; /* hit n by ascending z: velo_end - 1 - n */
  int32_t removed[REMOVED_MAX][SL_LANES];           /* hits that are not used */
  int32_t hits[DETECTORS][SL_LANES];                /* numbers of hits that are used */
  uint32_t ut_begin[SL_LANES], scifi_begin[SL_LANES], scifi_offset[SL_LANES]; /* scifi_offset: of the event's hits */
  uint64_t
      by_layer[SL_LANES]; /* four bits per layer of UT and SciFi: number of its hit after ut_begin or scifi_begin */
};
enum { LAYER_BITS = 4, NO_LAYER_HIT = 15 };

/* A fit of these tracks. */
struct fit_pass {
  struct fit_state s;
  sl_f32s chi2[DETECTORS], worst;
  sl_i32s worst_hit;
};

/* The same, as numbers of lanes: q/p and its variance, position and slopes at the last plane. */
struct fit_numbers {
  float qop[SL_LANES], c44[SL_LANES], x[SL_LANES], y[SL_LANES], tx[SL_LANES], ty[SL_LANES];
  float chi2[DETECTORS][SL_LANES], worst[SL_LANES];
  int32_t worst_hit[SL_LANES];
};

static SL_DEVICE uint32_t layer_hit(const struct fit_tracks *t, uint32_t lane, uint32_t layer) {
  return (uint32_t)(t->by_layer[lane] >> LAYER_BITS * layer) & NO_LAYER_HIT;
}

/* Takes hit number n as the hit of a layer, unless there is one. */
static SL_DEVICE void take_layer_hit(struct fit_tracks *t, uint32_t lane, uint32_t layer, uint32_t n) {
  if (layer >= LAYERS || n >= NO_LAYER_HIT || layer_hit(t, lane, layer) != NO_LAYER_HIT) return;
  t->by_layer[lane] ^= (uint64_t)(NO_LAYER_HIT ^ n) << LAYER_BITS * layer;
  t->hits[layer < KALMAN_UT_LAYERS ? UT : SCIFI][lane]++;
}

static SL_DEVICE uint32_t detector_of(int32_t hit) {
  return hit < KALMAN_UT_BIT ? VELO : hit < KALMAN_SCIFI_BIT ? UT : SCIFI;
}

/* 2 per VELO hit, 1 per other hit, less five parameters. */
static SL_DEVICE int32_t ndof_of(const struct fit_tracks *t, uint32_t lane) {
  return 2 * t->hits[VELO][lane] + t->hits[UT][lane] + t->hits[SCIFI][lane] - 5;
}

static SL_DEVICE uint64_t removed_bit(int32_t hit) { return hit == NO_HIT ? 0 : (uint64_t)1 << hit; }

#endif
