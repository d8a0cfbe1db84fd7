/* random.h: random numbers of the simulation, by sluice/philox.h. The key is the seed; the counter consists of the
 * event number, a stream and a position in the stream, so that a number depends on these and the seed only. The
 * mathematics is that of sluice/math64.h, with the same bits on all machines.
 */
#ifndef WAVEFORMS_RANDOM_H
#define WAVEFORMS_RANDOM_H

#include <sluice/math64.h>
#include <sluice/philox.h>

#include <stdint.h>

/* Streams of an event. */
enum {
  RANDOM_PULSE,   /* energy, rise time, begin, baseline */
  RANDOM_PILE_UP, /* further pulses */
  RANDOM_START,   /* first values of the processes of the noise */
  RANDOM_WHITE,
  RANDOM_PARALLEL,
  RANDOM_FLICKER /* and the next five */
};

struct random_stream {
  uint64_t seed, event;
  uint32_t stream, next; /* next: position in the stream */
};

enum { RANDOM_LANES = SL_PHILOX_LANES, RANDOM_NORMALS = 4 * RANDOM_LANES };

static inline struct random_stream random_begin(uint64_t seed, uint64_t event, uint32_t stream) {
  return (struct random_stream){seed, event, stream, 0};
}

/* Writes the words of the next RANDOM_LANES positions, word w of lane l to words[w][l]. */
static inline void random_words(struct random_stream *r, uint32_t words[4][RANDOM_LANES]) {
  const uint32_t key[2] = {(uint32_t)r->seed, (uint32_t)(r->seed >> 32)};
  for (uint32_t l = 0; l < RANDOM_LANES; l++) {
    words[0][l] = r->next + l;
    words[1][l] = r->stream;
    words[2][l] = (uint32_t)r->event;
    words[3][l] = (uint32_t)(r->event >> 32);
  }
  sl_philox_lanes(key, words);
  r->next += RANDOM_LANES;
}

/* Uniform in (0, 1), neither end included. */
static inline double random_uniform_of(uint32_t word) { return ((double)word + 0.5) * 0x1p-32; }

/* The next RANDOM_NORMALS numbers with mean 0 and variance 1, by the transform of Box and Muller. */
static inline void random_normals(struct random_stream *r, double normals[RANDOM_NORMALS]) {
  uint32_t words[4][RANDOM_LANES];
  random_words(r, words);
  for (uint32_t pair = 0; pair < 2; pair++)
    for (uint32_t l = 0; l < RANDOM_LANES; l++) {
      const double size = sl_sqrt(-2.0 * sl_log(random_uniform_of(words[2 * pair][l])));
      double sine, cosine;
      sl_sincos(6.283185307179586476925286766559 * random_uniform_of(words[2 * pair + 1][l]), &sine, &cosine);
      normals[2 * pair * RANDOM_LANES + l] = size * cosine;
      normals[(2 * pair + 1) * RANDOM_LANES + l] = size * sine;
    }
}

#endif
