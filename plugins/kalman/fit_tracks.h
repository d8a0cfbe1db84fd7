/* fit_tracks.h: arguments of kalman.fit and kalman.residuals; their tracks, an array element per lane. */
#ifndef KALMAN_FIT_TRACKS_H
#define KALMAN_FIT_TRACKS_H

#include "fit_steps.h"
#include "forward/event_model.h"
#include "kalman/event_model.h"
#include "magnet/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#define FIT_INPUTS(M)                                                                                               \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit hit_id", "long tracks")               \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_x hit_y hit_z", "VELO tracks with hits by descending z") \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id hit_x hit_z hit_sector",                         \
    "UT tracks to which ut_track refers; if not connected: no UT hits")                                             \
  M(IN, scifi_hits, scifi_hits, "offsets x z pseudo_size", "SciFi hits to which hit refers")                        \
  M(OPTIONAL_IN, ut_geometry, ut_geometry, "pitch", "pitch of the strips; needed for UT hits")                      \
  M(OPTIONAL_IN, ut_groups, ut_sector_groups, "layer_slope", "slopes of the strips; needed for UT hits")            \
  M(IN, scifi_geometry, scifi_geometry, "dxdy dzdy", "slopes of the fibres")                                        \
  M(IN, magnet, magnet_polarity, "sign", "polarity of the magnet")                                                  \
  M(IN, kalman, kalman_constants, "", "transport, scattering, energy loss and resolution")
#define FIT_PROPERTIES(M)                                                                                    \
  M(F32, hit_error, 0.0125, 1e-6, 10.0, "mm", "standard deviation of a VELO hit in x and in y")              \
  M(F32, slope_variance, 0.01, 1e-9, 1.0, "", "initial variance of the slopes")                              \
  M(F32, scattering, 1.48, 0.0, 1e6, "MeV2",                                                                 \
    "between VELO hits: slope variance from scattering, times p^2, at slope 0")                              \
  M(F32, scattering_foil, 0.6, 0.0, 1e6, "MeV2", "addition to `scattering` for hits near the RF foil")       \
  M(F32, lever, 0.643, 0.0, 1.0, "", "between VELO hits: position deviation / (slope deviation * distance)") \
  M(F32, lever_covariance, 0.526, 0.0, 1.0, "",                                                              \
    "between VELO hits: covariance of position and slope / (slope variance * distance)")                     \
  M(F32, foil_width, 15.0, 0.0, 1e3, "mm", "half width of the region near the RF foil, in x + y and y - x")  \
  M(F32, velo_energy_loss, 0.8, 0.0, 1e3, "MeV", "energy loss in the VELO per hit")                          \
  M(F32, prior, 0.05, 1e-6, 1.0, "", "standard deviation of q/p of the input tracks, relative")

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
  uint64_t by_layer[SL_LANES]; /* four bits per layer of UT and SciFi: its hit, after ut_begin or scifi_begin */
};
enum { LAYER_BITS = 4, NO_LAYER_HIT = 15 };

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

/* The inverse: lists the bits of a mask. */
static SL_DEVICE void list_removed(uint64_t removed, struct fit_tracks *t, uint32_t lane) {
  for (uint32_t k = 0; k < REMOVED_MAX; k++) {
    int32_t hit = 0;
    while (removed != 0 && !(removed >> hit & 1)) hit++;
    t->removed[k][lane] = removed != 0 ? hit : NO_HIT;
    removed &= removed - 1;
  }
}

/* Number of the first VELO hit that is used. */
static SL_DEVICE int32_t first_velo_hit(const struct fit_tracks *t, uint32_t lane) {
  int32_t first = 0;
  while (first == t->removed[0][lane] || first == t->removed[1][lane]) first++;
  return first;
}

#endif
