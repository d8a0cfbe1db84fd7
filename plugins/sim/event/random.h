/* random.h: counter-based random numbers.
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11) is a bijection of a
 * 128-bit counter, selected by a 64-bit key. The key is the seed. The counter consists of the event number, a stream
 * (purpose and index, for example of a particle) and the position in the stream. Every number is a function of these,
 * independent of other draws.
 * Distributions are computed with sluice/math.h, so that they have the same bits on all targets. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <sluice/math.h>

#include <stdint.h>

/* Purpose of random numbers; a stream is a purpose and an index below 2^24. */
enum sim_purpose {
  SIM_FOR_CROSSING, /* kind of crossing, bunch, number of collisions */
  SIM_FOR_COLLISION,
  SIM_FOR_SIGNAL,
  SIM_FOR_DECAY,                            /* index: particle */
  SIM_FOR_TRANSPORT,                        /* index: particle */
  SIM_FOR_VELO_HIT = SIM_FOR_TRANSPORT + 2, /* index: hit */
  SIM_FOR_VELO_NOISE,
  SIM_FOR_SCATTER,  /* index: particle downstream of the VELO; one block per plane of material */
  SIM_FOR_FLIGHT,   /* index: particle downstream of the VELO: decays, pairs, radiation, hadrons */
  SIM_FOR_ABSORBER, /* index: particle beyond the face of the ECAL */
  SIM_FOR_UT_HIT,   /* index: passage */
  SIM_FOR_UT_NOISE,
  SIM_FOR_SCIFI_HIT, /* index: passage */
  SIM_FOR_SCIFI_NOISE,
  SIM_FOR_SOFT, /* index: kind of soft particles downstream of the VELO */
  SIM_FOR_ECAL, /* index: particle with a shower */
  SIM_FOR_ECAL_NOISE,
  SIM_FOR_MUON_HIT, /* index: particle and station */
  SIM_FOR_MUON_NOISE
};

struct sim_random {
  uint32_t key[2], counter[4];
  uint32_t numbers[8];
  uint32_t left;       /* unused entries of `numbers` */
  uint32_t has_normal; /* `normal` holds the second number of a pair */
  float normal;
};

enum { SIM_PHILOX_ROUNDS = 10 };
#define SIM_PHILOX_FIRST  0xD2511F53ull
#define SIM_PHILOX_SECOND 0xCD9E8D57ull

static inline void philox_round(const uint32_t key[2], uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3) {
  const uint64_t first = SIM_PHILOX_FIRST * *c0, second = SIM_PHILOX_SECOND * *c2;
  *c0 = (uint32_t)(second >> 32) ^ *c1 ^ key[0];
  *c1 = (uint32_t)second;
  *c2 = (uint32_t)(first >> 32) ^ *c3 ^ key[1];
  *c3 = (uint32_t)first;
}

static inline void philox_next_key(uint32_t key[2]) {
  key[0] += 0x9E3779B9u;
  key[1] += 0xBB67AE85u;
}

static inline void philox_4x32_10(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k[2] = {key[0], key[1]};
  for (int round = 0; round < SIM_PHILOX_ROUNDS; round++) {
    philox_round(k, &c0, &c1, &c2, &c3);
    philox_next_key(k);
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

static inline struct sim_random sim_random_begin(uint64_t seed, uint64_t event, enum sim_purpose purpose,
                                                 uint32_t index) {
  return (struct sim_random){
      .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
      .counter = {0, (uint32_t)purpose << 24 | (index & 0xFFFFFF), (uint32_t)event, (uint32_t)(event >> 32)}};
}

static inline uint32_t sim_random_u32(struct sim_random *r) {
  if (r->left == 0) {
    philox_4x32_10(r->key, r->counter, r->numbers + 4);
    r->counter[0]++;
    philox_4x32_10(r->key, r->counter, r->numbers);
    r->counter[0]++;
    r->left = 8;
  }
  return r->numbers[--r->left];
}

/* ---------------------------------------------------------------------------- several streams at once (random.c) */

enum { SIM_RANDOM_LANES = 8 };

/* Replaces the counters of eight lanes, word i of all lanes in words[i], by their Philox blocks. */
void sim_philox_lanes(const uint32_t key[2], uint32_t words[4][SIM_RANDOM_LANES]);

/* First four words of the stream that starts with `first` and of the next seven stream indices. sim_random_u32
 * returns them in the order words[3] to words[0]. */
void sim_random_lanes(const struct sim_random *first, uint32_t words[4][SIM_RANDOM_LANES]);

/* Starts these eight streams. */
void sim_random_begin_lanes(const struct sim_random *first, struct sim_random streams[SIM_RANDOM_LANES]);

/* ------------------------------------------------------------------------------------------------ distributions */

/* Uniform in (0, 1), neither end included. */
static inline float sim_uniform_of(uint32_t word) { return ((float)(int32_t)(word >> 9) + 0.5f) * 0x1p-23f; }

static inline float sim_uniform(struct sim_random *r) { return sim_uniform_of(sim_random_u32(r)); }

static inline float sim_uniform_in(struct sim_random *r, float low, float high) {
  return low + (high - low) * sim_uniform(r);
}

/* Mean 1. */
static inline float sim_exponential(struct sim_random *r) { return -sl_logf(sim_uniform(r)); }

/* Mean 0, variance 1: Box and Muller's pairs. */
static inline float sim_normal(struct sim_random *r) {
  if (r->has_normal) {
    r->has_normal = 0;
    return r->normal;
  }
  const float size = sqrtf(-2.0f * sl_logf(sim_uniform(r)));
  float sine, cosine;
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  r->normal = size * sine;
  r->has_normal = 1;
  return size * cosine;
}

/* Poisson, in portions of a mean of at most 8, so that the product of uniforms does not underflow. */
static inline uint32_t sim_poisson(struct sim_random *r, float mean) {
  uint32_t count = 0;
  while (mean > 0.0f) {
    const float portion = mean < 8.0f ? mean : 8.0f, end = sl_expf(-portion);
    mean = mean - portion;
    float product = sim_uniform(r);
    while (product > end) {
      product = product * sim_uniform(r);
      count++;
    }
  }
  return count;
}

/* Gamma distribution of shape >= 1 and mean `shape`: Marsaglia and Tsang, ACM TOMS 26 (2000) 363. */
static inline float sim_gamma(struct sim_random *r, float shape) {
  const float d = shape - 1.0f / 3.0f, c = 1.0f / sqrtf(9.0f * d);
  for (;;) {
    const float x = sim_normal(r), root = 1.0f + c * x;
    if (root <= 0.0f) continue;
    const float v = root * root * root;
    if (sl_logf(sim_uniform(r)) < 0.5f * x * x + d - d * v + d * sl_logf(v)) return d * v;
  }
}

#endif
