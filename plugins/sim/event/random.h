/* random.h: counter-based random numbers, by sluice/philox.h. The key is the seed. The counter consists of the event
 * number, a stream (purpose and index, for example of a particle) and the position in the stream. Every number is a
 * function of these, independent of other draws. Distributions are computed with sluice/math.h, so that they have the
 * same bits on all targets. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <sluice/math.h>
#include <sluice/philox.h>

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
  SIM_FOR_MUON_NOISE,
  SIM_FOR_GAS
};

struct sim_random {
  uint32_t key[2], counter[4];
  uint32_t numbers[8];
  uint32_t left;       /* unused entries of `numbers` */
  uint32_t has_normal; /* `normal` holds the second number of a pair */
  float normal;
};

static inline struct sim_random sim_random_begin(uint64_t seed, uint64_t event, enum sim_purpose purpose,
                                                 uint32_t index) {
  return (struct sim_random){
      .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
      .counter = {0, (uint32_t)purpose << 24 | (index & 0xFFFFFF), (uint32_t)event, (uint32_t)(event >> 32)}};
}

static inline uint32_t sim_random_u32(struct sim_random *r) {
  if (r->left == 0) {
    sl_philox_4x32_10(r->key, r->counter, r->numbers + 4);
    r->counter[0]++;
    sl_philox_4x32_10(r->key, r->counter, r->numbers);
    r->counter[0]++;
    r->left = 8;
  }
  return r->numbers[--r->left];
}

/* ---------------------------------------------------------------------------- several streams at once (random.c) */

enum { SIM_RANDOM_LANES = SL_PHILOX_LANES };

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
