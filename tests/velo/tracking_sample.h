/* tracking_sample.h: small constructed slices of VELO hits for tests of the tracking.
 *
 * Module m is at z = 20 m, pair p begins at z = 40 p. Hits are added in any order; sample_end_event() sorts them.
 * sample_hit() returns the identifier of a hit.
 */
#ifndef TRACKING_SAMPLE_H
#define TRACKING_SAMPLE_H

#include "velo/event_model.h"

#include <sluice/testing.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SAMPLE_EVENTS = 8, SAMPLE_HITS = 70000 };

struct sample_hit {
  uint32_t pair, id;
  int16_t phi;
  float x, y, z;
};

struct sample {
  uint32_t event_count, hit_count, first_hit;
  struct sample_hit hit[SAMPLE_HITS];
  uint32_t offsets[SAMPLE_EVENTS + 1], pair_first[SAMPLE_EVENTS][VELO_MODULE_PAIRS + 1];
  float module_z[VELO_MODULES];
  /* The columns of velo_hits. */
  uint32_t id[SAMPLE_HITS];
  int16_t phi[SAMPLE_HITS];
  float x[SAMPLE_HITS], y[SAMPLE_HITS], z[SAMPLE_HITS];
};

static inline float sample_z(uint32_t pair) { return 40.0f * (float)pair; }

/* A slice; its first event begins at item `first_hit` of the arrays. */
static inline struct sample *sample_new(uint32_t first_hit) {
  struct sample *s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->hit_count = s->first_hit = s->offsets[0] = first_hit;
  for (uint32_t m = 0; m < VELO_MODULES; m++) s->module_z[m] = 20.0f * (float)m;
  return s;
}

/* The azimuth as defined in plugins/velo/README.md, in double precision. */
static inline int16_t sample_phi(double x, double y) {
  const double r = x > 0 ? (x - fabs(y)) / (x + fabs(y)) : (x + fabs(y)) / (fabs(y) - x);
  const double t = (x > 0 ? 8192 : 24576) - 8192 * r;
  return (int16_t)(uint16_t)(int32_t)(y < 0 ? -t : t);
}

/* `side` 1: in the pair's second module. */
static inline uint32_t sample_hit_at(struct sample *s, uint32_t pair, uint32_t side, double x, double y) {
  assert_true(s->hit_count < SAMPLE_HITS);
  struct sample_hit *h = &s->hit[s->hit_count];
  h->pair = pair;
  h->id = 2u << 28 | (2 * pair + side) << 20 | (s->hit_count & 0xFFFFF);
  h->x = (float)x;
  h->y = (float)y;
  h->z = s->module_z[2 * pair + side];
  h->phi = sample_phi(h->x, h->y);
  s->hit_count++;
  return h->id;
}

static inline uint32_t sample_hit(struct sample *s, uint32_t pair, double x, double y) {
  return sample_hit_at(s, pair, 0, x, y);
}

static inline int sample_compare(const void *a, const void *b) {
  const struct sample_hit *p = a, *q = b;
  if (p->pair != q->pair) return p->pair < q->pair ? -1 : 1;
  if (p->phi != q->phi) return p->phi < q->phi ? -1 : 1;
  return p->id < q->id ? -1 : p->id > q->id;
}

static inline void sample_end_event(struct sample *s) {
  assert_true(s->event_count < SAMPLE_EVENTS);
  const uint32_t begin = s->offsets[s->event_count], count = s->hit_count - begin;
  struct sample_hit *hits = s->hit + begin;
  qsort(hits, count, sizeof *hits, sample_compare);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t pair = hits[i].pair + 1; pair <= VELO_MODULE_PAIRS; pair++) s->pair_first[s->event_count][pair]++;
    s->id[begin + i] = hits[i].id;
    s->phi[begin + i] = hits[i].phi;
    s->x[begin + i] = hits[i].x;
    s->y[begin + i] = hits[i].y;
    s->z[begin + i] = hits[i].z;
  }
  s->offsets[++s->event_count] = s->hit_count;
}

/* Connects the hits to the port `hits`. */
static inline void sample_give_hits(const struct sample *s, struct sl_test *t) {
  sl_test_events(t, s->event_count);
  sl_test_input(t, "hits", "offsets", s->offsets, s->event_count + 1);
  sl_test_input(t, "hits", "pair_first", s->pair_first, s->event_count * (VELO_MODULE_PAIRS + 1));
  sl_test_input(t, "hits", "id", s->id, s->hit_count);
  sl_test_input(t, "hits", "phi", s->phi, s->hit_count);
  sl_test_input(t, "hits", "x", s->x, s->hit_count);
  sl_test_input(t, "hits", "y", s->y, s->hit_count);
  sl_test_input(t, "hits", "z", s->z, s->hit_count);
}

/* Random numbers, equal on all machines; the seed is printed and can be set by SLUICE_SEED. */
static uint64_t sample_random_state;

static inline void sample_seed(uint64_t seed) {
  const char *given = getenv("SLUICE_SEED");
  sample_random_state = given ? strtoull(given, NULL, 0) : seed;
  print_message("seed %llu (SLUICE_SEED replays it)\n", (unsigned long long)sample_random_state);
}

static inline uint32_t sample_random(uint32_t below) {
  sample_random_state = sample_random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((sample_random_state >> 33) % below);
}

static inline double sample_uniform(double from, double to) {
  return from + (to - from) * sample_random(1u << 20) / (1u << 20);
}

#endif
