/* xz_track.h: curve of xz.cu through three hits, its fit to all hits, and the output of a track. Private to xz.cu. */
#ifndef SEEDING_XZ_TRACK_H
#define SEEDING_XZ_TRACK_H

#include "xz_unit.h"

/* Line through a first and a last hit: x at z_reference, and slope. */
struct line {
  float x, slope;
};

/* x / length, correctly rounded; `inverse` is 1 / length. Brisebarre, Muller, Raina, IEEE Transactions on Computers 53
 * (2004) 1069. */
static SL_DEVICE float divided(float x, float length, float inverse) {
  const float near = x * inverse;
  return fmaf(fmaf(-length, near, x), inverse, near);
}

static SL_DEVICE struct line line_through(float first, float last, float length, float inverse_length, float d) {
  struct line l;
  l.slope = divided(last - first, length, inverse_length);
  l.x = first - d * l.slope;
  return l;
}

/* Trajectory x = a + b d + c e(d). */
struct curve {
  float a, b, c;
};

static SL_DEVICE struct curve curve_through(float first, float middle, float last, const float *numbers,
                                            float inverse_length, float d_first, float d_middle) {
  const struct line l = line_through(first, last, numbers[SEED_CASE_LENGTH], inverse_length, d_first);
  const float x = l.x + d_middle * l.slope;
  struct curve c;
  c.c = (x - middle) * numbers[SEED_CASE_CURVATURE];
  c.b = l.slope - c.c * numbers[SEED_CASE_SLOPE];
  c.a = l.x - c.c * numbers[SEED_CASE_X];
  return c;
}

static SL_DEVICE float curve_at(const struct curve *c, float d, float bend) { return c->a + c->b * d + c->c * bend; }

/* Hits of a track by role, as indices in the event. */
struct xz_hits {
  uint32_t of[ROLES];
};

/* Corrects the curve by a least-squares fit. `off`: residuals of the further hits; the hit in further layer `missing` -
 * 1 is missing (0: none). Returns the sum of squared residuals of all hits. */
static SL_DEVICE float fit(const struct xz_args *a, uint32_t odd, struct curve *c, const float *off, uint32_t missing) {
  const float *gain = a->seeding.cases + SEED_CASE_NUMBERS * odd + SEED_CASE_FITS + SEED_FIT_NUMBERS * missing;
  const float da = gain[0] * off[0] + gain[1] * off[1] + gain[2] * off[2];
  const float db = gain[3] * off[0] + gain[4] * off[1] + gain[5] * off[2];
  const float dc = gain[6] * off[0] + gain[7] * off[1] + gain[8] * off[2];
  float sum = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < ROLES - FURTHER; k++) {
    const uint32_t layer = layer_of_role(k, odd), other = layer_of_role(FURTHER + k, odd);
    const float of_triplet = da + db * a->seeding.d[layer] + dc * a->seeding.bend[layer];
    const float rest = off[k] - (da + db * a->seeding.d[other] + dc * a->seeding.bend[other]);
    sum += of_triplet * of_triplet;
    sum += missing == k + 1 ? 0.0f : rest * rest;
  }
  c->a += da;
  c->b += db;
  c->c += dc;
  return sum;
}

static SL_DEVICE void write_hits(const struct xz_args *a, uint32_t odd, const struct xz_hits *hits, uint32_t track) {
  uint32_t *to = (uint32_t *)(void *)(a->tracks.hits + SCIFI_X_LAYERS * (size_t)track); /* two hits per word */
  uint32_t by_layer[ROLES + 1], missing = ROLES;                                        /* the layer without a hit */
  SL_UNROLL for (uint32_t k = 0; k < ROLES - FURTHER; k++) {
    by_layer[2 * k] = odd ? hits->of[FURTHER + k] : hits->of[k];
    by_layer[2 * k + 1] = odd ? hits->of[k] : hits->of[FURTHER + k];
  }
  SL_UNROLL for (uint32_t k = 0; k < ROLES; k++) missing = by_layer[k] == NO_HIT ? k : missing;
  a->tracks.hit_count[track] = (uint8_t)(missing < ROLES ? ROLES - 1 : ROLES);
  by_layer[ROLES] = 0;
  SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++) {
    const uint32_t low = 2 * k < missing ? by_layer[2 * k] : by_layer[2 * k + 1];
    const uint32_t high = 2 * k + 1 < missing ? by_layer[2 * k + 1] : by_layer[2 * k + 2];
    to[k] = low | high << HIT_BITS;
  }
}

/* Part of the score for the difference between the curvature and that expected from x at z = 0; below 1. */
static SL_DEVICE float curvature_score(const struct xz_args *a, const struct curve *c) {
  const float *constants = a->seeding.constants, *expected = constants + SEED_CURVATURE;
  const float x0 = c->a - c->b * constants[SEED_Z_REFERENCE];
  const float off = (c->c + x0 * (expected[0] + expected[1] * sl_abs_f32(x0))) / a->curvature_scale, off2 = off * off;
  return off2 / (1.0f + off2);
}

static SL_DEVICE void write_track(const struct xz_args *a, uint32_t unit, const struct xz_hits *hits, uint32_t track) {
  const float *x = a->hits.x + a->hits.offsets[unit / KINDS];
  const uint32_t kind = unit % KINDS, odd = kind % 2;
  const float *numbers = a->seeding.cases + SEED_CASE_NUMBERS * odd;
  struct curve c = curve_through(x[hits->of[FIRST]], x[hits->of[MIDDLE]], x[hits->of[LAST]], numbers,
                                 1.0f / numbers[SEED_CASE_LENGTH], a->seeding.d[layer_of_role(FIRST, odd)],
                                 a->seeding.d[layer_of_role(MIDDLE, odd)]);
  float off[ROLES - FURTHER];
  uint32_t missing = 0;
  SL_UNROLL for (uint32_t k = 0; k < ROLES - FURTHER; k++) {
    const uint32_t layer = layer_of_role(FURTHER + k, odd), hit = hits->of[FURTHER + k];
    off[k] = hit != NO_HIT ? x[hit] - curve_at(&c, a->seeding.d[layer], a->seeding.bend[layer]) : 0.0f;
    missing = hit != NO_HIT ? missing : k + 1;
  }
  const float sum = fit(a, odd, &c, off, missing);
  write_hits(a, odd, hits, track);
  a->tracks.kind[track] = (uint8_t)(kind / 2 | odd << 1);
  a->tracks.a[track] = c.a;
  a->tracks.b[track] = c.b;
  a->tracks.c[track] = c.c;
  const float of_hits = (missing ? sum * a->miss_factor : sum) + (odd ? a->case_penalty : 0.0f);
  a->tracks.score[track] = of_hits + curvature_score(a, &c);
}

#endif
