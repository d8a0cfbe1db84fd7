/* waveform.h: parts of a simulated waveform in double precision: pulses, noise, and the conversion to ADC counts.
 * All times are in samples; `x` has one value for each sample. */
#ifndef WAVEFORMS_WAVEFORM_H
#define WAVEFORMS_WAVEFORM_H

#include "random.h"

/* Uniform random numbers of one stream, one at a time. */
struct random_numbers {
  struct random_stream stream;
  uint32_t words[4][RANDOM_LANES];
  uint32_t used; /* number of words */
};

struct random_numbers random_numbers_begin(uint64_t seed, uint64_t event, uint32_t stream);
double random_uniform(struct random_numbers *r, double low, double high);
/* Poisson distribution: the number of exponential distances that fit into `mean`. */
uint32_t random_poisson(struct random_numbers *r, double mean);

/* A pulse h(u) = exp(-u / decay) - exp(-u / rise) for u >= 0, the time after `begin`; rise < decay. */
struct pulse {
  double begin, rise, decay;
};

/* Adds scale * h(i - begin) to each sample i. `begin` may be before the first sample, or after the last one. */
void waveform_add_pulse(double *x, uint32_t samples, const struct pulse *p, double scale);
/* Height of the step that pole-zero cancellation makes of the sampled h. */
double pulse_step(const struct pulse *p);
/* Largest value of h. */
double pulse_maximum(const struct pulse *p);

/* Standard deviations in ADC; 0: none. */
struct noise {
  double white;    /* of a sample */
  double flicker;  /* of each of the six processes */
  double parallel; /* of the change from sample to sample */
  double decay;    /* of parallel noise */
};
void waveform_add_noise(double *x, uint32_t samples, const struct noise *n, uint64_t seed, uint64_t event);

/* Rounds to the nearest integer, a half upwards, and limits to [0, 65535]. */
void waveform_digitise(const double *x, uint32_t samples, uint16_t *value);
/* Mean of the first 500 samples, or of all if there are fewer, rounded to the nearest integer; 0 without samples. */
uint16_t waveform_baseline(const uint16_t *value, uint32_t samples);

#endif
