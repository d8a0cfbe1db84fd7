/* confirm.h: arguments and line fit of confirm, shared by its versions. Private to the plugin. */
#ifndef SEEDING_CONFIRM_H
#define SEEDING_CONFIRM_H

#include "seeding/event_model.h"

#include <sluice/kernel.h>

enum {
  CHUNKS_MAX = 64,  /* chunks per event, at most */
  START_LAYERS = 2, /* layers that provide start hits */
  LINE_HITS = 2,    /* least number of hits of a line */
  ALL_HITS = SCIFI_X_LAYERS + SCIFI_STEREO_LAYERS,
  LIMITS = 4, /* limits of the residual: for 9 or fewer to 12 hits */
  NO_HIT = SCIFI_HITS_MAX,
  CHI2_BIT = 17,
  COUNT_BIT = CHI2_BIT + 32,
  HIT_MASK = 0xFFFF,
  SECOND_BIT = 16
};

static const uint64_t no_start = UINT64_MAX;

#define SL_ARGS confirm_args
#define CONFIRM(M)                                                                                                \
  M(IN, hits, scifi_hits, "offsets zone_first x", "hits of the fibre tracker")                                    \
  M(IN, tracks, seed_xz_tracks, "offsets kind hit_count a b c", "tracks in x layers")                             \
  M(IN, seeding, seeding_constants, "d bend constants", "positions of the layers")                                \
  M(OUT, stereo, seed_stereo, "stereo hits of the tracks, in the order of the tracks", SL_SHARES_OFFSETS(tracks)) \
  M(F32, max_distance, 1.0, 0.0, 1e3, "mm",                                                                       \
    "largest distance in x between a hit and the prediction from earlier hits")                                   \
  M(F32, stereo_slope, 0.0874892, 1e-3, 1.0, "", "size of dx/dy of the fibres in stereo layers")                  \
  M(F32, min_y, -20.0, -1e4, 0.0, "mm", "least y of a track, counted outwards in its half")                       \
  M(F32, max_y, 2700.0, 0.0, 1e4, "mm", "largest y of a track, counted outwards in its half")                     \
  M(F32, focusing, 1e-4, 0.0, 1.0, "1/mm",                                                                        \
    "focusing of the magnet in y: y of a track at z = 0 per dy/dz and per square of x at z = 0")                  \
  M(U32, min_hits, 9, 5, 12, "", "least number of x and stereo hits of a track")                                  \
  M(F32_ARRAY, max_residual2, LIMITS, "[2, 24, 100, 1000]", 0.0, 1e37, "mm2",                                     \
    "upper limits of the mean squared residual in y, for 9 or fewer, 10, 11 and 12 x and stereo hits")            \
  M(SHARED_SCRATCH, chunk_count, u32, "number of listed chunks", SL_ONE(SL_CONSTANT_TERM(1)))                     \
  M(SHARED_SCRATCH, chunks, u32, "listed chunks: event and number", SL_ONE(SL_EVENTS_TERM(CHUNKS_MAX, 0)))        \
  M(SHARED_SCRATCH, chunk_tracks, u32, "tracks per chunk of an event", SL_ONE(SL_EVENTS_TERM(1, 0)))              \
  M(TUNED_SCRATCH, x, f32, "x of an event's hits, with a margin", SL_ONE(SL_CONSTANT_TERM(SCIFI_HITS_MAX + 16)))
SL_ARGUMENTS(confirm, CONFIRM);

/* The k-th layer in the order of the search. */
static SL_DEVICE uint32_t layer_of(uint32_t k) {
  const uint32_t layers = 0x296A15u; /* layers 5, 1, 10, 6, 9, 2: one hexadecimal digit each, the first one lowest */
  return layers >> (4 * k) & 15;
}

/* Least number of stereo hits of a track: those missing to min_hits, and at least two, as a line needs. */
static SL_DEVICE uint32_t hits_needed(const struct confirm_args *a, uint32_t item) {
  const uint32_t x_hits = a->tracks.hit_count[item];
  return a->min_hits > x_hits + LINE_HITS ? a->min_hits - x_hits : (uint32_t)LINE_HITS;
}

/* z from which the track seems to come in y: it is at y = dy/dz (z + this), a line through the beam but for the
 * focusing of the magnet. */
static SL_DEVICE float focus_of(const struct confirm_args *a, uint32_t item) {
  const float x0 = a->tracks.a[item] - a->tracks.b[item] * a->seeding.constants[SEED_Z_REFERENCE];
  return a->focusing * (x0 * x0);
}

/* Stereo hits in the order of the search, as indices (NO_HIT: none), and the line through them. */
struct line {
  uint32_t hits[SCIFI_STEREO_LAYERS], count;
  float y, ty, chi2;
};

/* Least-squares fit with equal weights; there must be at least two hits. */
static SL_DEVICE void fit(struct line *line, const float *d, const float *y) {
  const float per_hit = 1.0f / (float)line->count;
  float sum_d = 0.0f, sum_y = 0.0f, sum_dd = 0.0f, sum_dy = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    sum_d += line->hits[k] != NO_HIT ? d[k] : 0.0f;
    sum_y += line->hits[k] != NO_HIT ? y[k] : 0.0f;
  }
  const float middle_d = sum_d * per_hit, middle_y = sum_y * per_hit;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const float from_d = line->hits[k] != NO_HIT ? d[k] - middle_d : 0.0f;
    sum_dd += from_d * from_d;
    sum_dy += from_d * (y[k] - middle_y);
  }
  line->ty = sum_dy / sum_dd;
  line->y = middle_y - line->ty * middle_d;
  line->chi2 = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const float off = line->hits[k] != NO_HIT ? y[k] - (line->y + line->ty * d[k]) : 0.0f;
    line->chi2 += off * off;
  }
}

/* 1 if the residuals of a line are small enough for the number of hits of the track. */
static SL_DEVICE uint32_t is_accepted(const struct confirm_args *a, uint32_t x_hits, const struct line *line) {
  const uint32_t missing = ALL_HITS - x_hits - line->count, last = LIMITS - 1;
  const uint32_t freedom = line->count > LINE_HITS ? line->count - LINE_HITS : 1;
  return line->chi2 <= a->max_residual2[missing < last ? last - missing : 0] * (float)freedom;
}

/* Key of a line; smaller is better: more hits, then smaller chi2, then the later start hit. */
static SL_DEVICE uint64_t key_of(const struct line *line, uint32_t first, uint32_t hit) {
  const uint64_t missing = SCIFI_STEREO_LAYERS - line->count, chi2 = sl_bits_from_f32(line->chi2);
  const uint64_t earliness = (1u << CHI2_BIT) - 1 - (first << SECOND_BIT | hit);
  return missing << COUNT_BIT | chi2 << CHI2_BIT | earliness;
}

/* Version of `run` for one CPU thread (confirm.cpu.c). */
int confirm_tuned(const struct sl_launch *l, const void *args);

#endif
