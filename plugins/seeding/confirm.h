/* confirm.h: what the versions of confirm share. Private to the plugin. */
#ifndef SEEDING_CONFIRM_H
#define SEEDING_CONFIRM_H

#include "seeding/event_model.h"

#include <sluice/kernel.h>

enum {
  CHUNKS_MAX = 64, /* of an event */
  BEGINNINGS = 2,  /* layers in which a track may begin */
  LINE_HITS = 2,   /* that a line needs */
  NO_HIT = SCIFI_HITS_MAX,
  CHI2_BIT = 17,
  COUNT_BIT = CHI2_BIT + 32,
  HIT_MASK = 0xFFFF,
  SECOND_BIT = 16
};

static const uint64_t no_beginning = UINT64_MAX;

#define SL_ARGS confirm_args
#define CONFIRM(M)                                                                                     \
  M(IN, hits, scifi_hits, "offsets zone_first x", "where to search")                                   \
  M(IN, tracks, seed_xz_tracks, "offsets kind hit_count a b c", "whose stereo hits are looked for")    \
  M(IN, seeding, seeding_constants, "d bend constants", "where layers are")                            \
  M(OUT, stereo, seed_stereo, "for each track", SL_SHARES_OFFSETS(tracks))                             \
  M(F32, max_distance, 1.0, 0.0, 1e3, "mm", "of a hit, in x, from where the hits before it say")       \
  M(F32, stereo_slope, 0.0874892, 1e-3, 1.0, "", "size of dx/dy in stereo layers")                     \
  M(F32, min_y, -20.0, -1e4, 0.0, "mm", "how far a track may be in the other half")                    \
  M(F32, max_y, 2700.0, 0.0, 1e4, "mm", "the farthest from the beam")                                  \
  M(U32, min_hits, 10, 5, 12, "", "of a track, with those in x layers")                                \
  M(SHARED_SCRATCH, chunk_count, u32, "chunks on the list", SL_ONE(SL_CONSTANT_TERM(1)))               \
  M(SHARED_SCRATCH, chunks, u32, "chunks, by event and number", SL_ONE(SL_EVENTS_TERM(CHUNKS_MAX, 0))) \
  M(SHARED_SCRATCH, chunk_tracks, u32, "tracks of a chunk, by event", SL_ONE(SL_EVENTS_TERM(1, 0)))    \
  M(TUNED_SCRATCH, x, f32, "of an event's hits, and some more", SL_ONE(SL_CONSTANT_TERM(SCIFI_HITS_MAX + 16)))
SL_ARGUMENTS(confirm, CONFIRM);

/* The k-th layer that is searched. */
static SL_DEVICE uint32_t layer_of(uint32_t k) {
  const uint32_t layers = 0x296A15u; /* 5, 1, 10, 6, 9, 2: a hexadecimal digit each, the first at the end */
  return layers >> (4 * k) & 15;
}

/* How many stereo hits a track is to get: those that it lacks, but two at least, since a line is to go through them. */
static SL_DEVICE uint32_t hits_needed(const struct confirm_args *a, uint32_t item) {
  const uint32_t x_hits = a->tracks.hit_count[item];
  return a->min_hits > x_hits + LINE_HITS ? a->min_hits - x_hits : (uint32_t)LINE_HITS;
}

/* Stereo hits in the order in which they are looked for, by their places; NO_HIT: none. And the line through them. */
struct line {
  uint32_t hits[SCIFI_STEREO_LAYERS], count;
  float y, ty, chi2;
};

/* Least squares of equal weights; there are at least two hits. */
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

/* More hits first, then the smaller chi2; of equal ones the one that begins later. Ascending. */
static SL_DEVICE uint64_t key_of(const struct line *line, uint32_t first, uint32_t hit) {
  const uint64_t missing = SCIFI_STEREO_LAYERS - line->count, chi2 = sl_bits_from_f32(line->chi2);
  const uint64_t earliness = (1u << CHI2_BIT) - 1 - (first << SECOND_BIT | hit);
  return missing << COUNT_BIT | chi2 << CHI2_BIT | earliness;
}

/* As `run`, for one thread (confirm.cpu.c). */
int confirm_tuned(const struct sl_launch *l, const void *args);

#endif
